#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes docs/pictures/explained.png and chess-report.png: the tops of pages that dbacl and
# chess-adapter write.
#
#   docs/pictures/pages.sh BIN       BIN: folder with dbacl and chess-adapter; needs chromium
set -eu
cd "$(dirname "$0")/../.."
bin=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
games=chess-adapter/testdata/masters.pgn

# A picture of a page in `work`, of a width and height.
picture() {
  chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/chromium" \
    --window-size="$2" --screenshot="$work/$1.png" "file://$work/$1.html" 2>"$work/log"
  mv "$work/$1.png" "docs/pictures/$1.png"
}

for author in melville lincoln; do "$bin/dbacl" -l "$work/$author" "testdata/demo/learn/$author"; done
head -n 12 testdata/demo/unseen/lincoln-gettysburg.txt |
  "$bin/dbacl" -c "$work/melville" -c "$work/lincoln" --explain-html >"$work/explained.html" || true
picture explained 640,820

"$bin/chess-adapter" learn "$games" -o "$work/models" --positions 20000 --search-words 0 2>"$work/log"
"$bin/chess-adapter" report "$work/models" --pgn "$games" --game 3 -o "$work/chess-report.html"
picture chess-report 900,640
