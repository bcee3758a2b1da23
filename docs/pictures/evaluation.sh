#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes docs/pictures/evaluation.png, the top of a report of dbacl-eval on two authors' lines.
#
#   docs/pictures/evaluation.sh BIN       BIN: folder with dbacl-eval; needs chromium
set -eu
cd "$(dirname "$0")/../.."
bin=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for author in melville lincoln; do cat testdata/demo/learn/$author/* >"$work/$author.txt"; done
"$bin/dbacl-eval" -q -s 'letters: -H 20 -e alpha' -s 'words: -H 20 -e word' \
  -s 'characters: -H 20 -e glyph -w 3' --html "$work/report.html" \
  melville="$work/melville.txt" lincoln="$work/lincoln.txt" >"$work/report.txt"
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/chromium" \
  --window-size=900,960 --screenshot="$work/report.png" "file://$work/report.html" 2>"$work/log"
mv "$work/report.png" docs/pictures/evaluation.png
