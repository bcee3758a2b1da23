#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# One and two threads, elapsed seconds and their ratio; merging counts files, MB/s and peak memory.
#
#   scale.sh BIN [TEXT]     BIN: folder with dbacl; TEXT: a file to use instead of the generated one
#
# 200 MB of text, 100,000 lines of it, 24 parts. Medians of three runs in turn. Needs GNU time and two
# processors that have nothing else to do.
set -eu
. "$(dirname "$0")/begin.sh"
if test $# -gt 1; then
  cp "$2" "$folder/piece"
else
  find "$here/testdata/demo" -name '*.txt' | sort | xargs cat >"$folder/piece"
fi
cd "$folder"
# Words get endings by turns, so that n-grams differ from copy to copy.
copies=$((200000000 / $(wc -c <piece) + 1))
awk -v copies="$copies" '{ line[NR] = $0 }
  END { for (c = 0; c < copies; c++) for (n = 1; n <= NR; n++) {
    l = line[n]; if ((n + c) % 7 == 0) gsub(/e /, "e" sprintf("%c%c", 97 + c % 26, 97 + c / 26 % 26) " ", l); print l } }' piece |
  head -c 200000000 >text
fold -s -w 400 text | awk 'NF' | head -n 100000 >lines

# Elapsed seconds of one run.
elapsed() {
  $time -f %e -o seconds "$@" >/dev/null 2>&1 || true
  tail -n 1 seconds
}

threads() {
  label=$1
  shift
  for run in 1 2 3; do
    echo "$(elapsed "$bin/dbacl" --threads 1 "$@") $(elapsed "$bin/dbacl" --threads 2 "$@")"
  done >runs
  one=$(cut -d' ' -f1 runs | sort -n | sed -n 2p)
  two=$(cut -d' ' -f2 runs | sort -n | sed -n 2p)
  echo "$one $two" | awk -v label="$label" \
    '{ printf "%-34s %6.2f s, two threads %6.2f s  %4.2f times as fast\n", label, $1, $2, $1 / $2 }'
}

echo "text: $(wc -c <text) bytes, processors: $(nproc)"
threads 'learn -w 1 -H 20' -w 1 -H 20 -l one text
threads 'learn -w 2 -H 22' -w 2 -H 22 -l two text
"$bin/dbacl" -w 1 -H 20 -L uniform -l other piece
threads '100,000 lines, two -w 1' --input lines --format tsv -c one -c other lines

split -n l/24 text part.
place=0
for part in part.*; do
  "$bin/dbacl" -w 2 --count "$part.counts" --place $place "$part"
  place=$((place + 1))
done
size=$(cat part.*.counts | wc -c)
for run in 1 2 3; do
  $time -f '%U %S %M' -o times "$bin/dbacl" --merge all.counts part.*.counts 2>log
  tail -n 1 times
done | awk '{ print $1 + $2, $3 }' | sort -n | sed -n 2p |
  awk -v size="$size" '{ printf "%-34s %6.2f s  %7.1f MB/s in  %6.1f MB\n", "merge 24 counts files, -w 2", $1, size / 1e6 / $1, $2 / 1024 }'
