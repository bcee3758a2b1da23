#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Speed and memory of whole programs, as ratios to `LC_ALL=C wc -w` on the same file, run in turn.
#
#   run.sh BIN [TEXT]     BIN: folder with dbacl; TEXT: a file to use instead of the generated one
#   STORE=1 run.sh BIN    also stores the ratios in results/run.tsv
#
# Rows that have a stored ratio show it; SLOWER marks those that have grown by more than a tenth and
# 0.02 s, which is as exact as the clock. The text is made from the demonstration's, about 20 MB of
# prose with varied endings; medians of five runs. Needs GNU time.
set -eu
. "$(dirname "$0")/begin.sh"
cd "$folder"
if test $# -gt 1; then
  cp "$2" text
else
  find "$here/testdata/demo" -name '*.txt' | sort | xargs cat >piece
  copies=$((20000000 / $(wc -c <piece)))
  # Words get endings by turns, so that n-grams differ from copy to copy.
  awk -v copies="$copies" '{ line[NR] = $0 }
    END { for (c = 0; c < copies; c++) for (n = 1; n <= NR; n++) {
      l = line[n]; if ((n + c) % 7 == 0) gsub(/e /, "e" sprintf("%c", 97 + c % 26) " ", l); print l } }' piece >text
fi
size=$(wc -c <text)
echo "text: $size bytes"

# Median CPU seconds and largest memory of five runs: SECONDS KB.
measure() {
  for run in 1 2 3 4 5; do
    LC_ALL=C $time -f '%U %S %M' -o times "$@" >/dev/null 2>&1 || true
    tail -n 1 times
  done | awk '{ print $1 + $2, $3 }' | sort -n | sed -n 3p
}

# The ratios of the generated text, by label.
stored=$here/benches/results/run.tsv
test $# -eq 1 || stored=/dev/null
if test -n "${STORE:-}"; then
  {
    echo "# Processor time as a ratio to LC_ALL=C wc -w; $processor; $(date -u +'%d %B %Y');" \
      "$("$bin/dbacl" --version | sed 's/ (.*//; q'); benches/run.sh BIN"
    printf 'task\tratio\n'
  } >new.tsv
fi

row() {
  label=$1
  shift
  # shellcheck disable=SC2046
  set -- "$label" "$(measure "$@")" "$(measure wc -w text)"
  before=$(awk -F '\t' -v label="$label" '$1 == label { print $2 }' "$stored")
  echo "$2 $3" | awk -v label="$label" -v size="$size" -v before="$before" \
    '{ printf "%-34s %6.2f s  %7.1f MB/s  %6.1f x wc  %6.1f MB", label, $1, size / 1e6 / $1, $1 / $3, $2 / 1024
       if (before) printf "  stored %.1f%s", before, ($1 > 1.1 * before * $3 + 0.02) ? "  SLOWER" : ""
       print "" }'
  test -z "${STORE:-}" || echo "$2 $3" |
    awk -v label="$label" '{ printf "%s\t%.2f\n", label, $1 / $3 }' >>new.tsv
}

row 'learn -w 1 -H 20' "$bin/dbacl" -w 1 -H 20 -l one text
row 'learn -w 2 -H 22' "$bin/dbacl" -w 2 -H 22 -l two text
row 'learn -w 3 -H 22' "$bin/dbacl" -w 3 -H 22 -l three text
row 'learn -w 7 -H 24' "$bin/dbacl" -w 7 -H 24 -l seven text
"$bin/dbacl" -w 2 --count counts text
row 'fit from counts, -w 2 -H 22' "$bin/dbacl" -H 22 -l fitted --fit counts
rm -f seven counts fitted
row 'learn -e alnum -H 20' "$bin/dbacl" -e alnum -H 20 -l alnum text
row 'learn -e word -H 20' "$bin/dbacl" -e word -H 20 -l word text
# The same words in Cyrillic letters: about twice the bytes.
LC_ALL=C.UTF-8 sed 'y/abcdefghijklmnopqrstuvwyzABCDEFGHIJKLMNOPQRSTUVWYZ/абцдефгхийклмнопярстувшызАБЦДЕФГХИЙКЛМНОПЯРСТУВШЫЗ/' text >cyrillic
mv text ascii
mv cyrillic text
size=$(wc -c <text)
row 'learn -e word -H 20, Cyrillic' "$bin/dbacl" -e word -H 20 -l word text
mv ascii text
size=$(wc -c <text)
"$bin/dbacl" -w 1 -H 20 -L uniform -l other text
"$bin/dbacl" -w 2 -H 22 -L uniform -l pair text
row 'classify, two -w 1' "$bin/dbacl" -n -c one -c other text
row 'classify, eight -w 1' "$bin/dbacl" -n -c one -c other -c one -c other -c one -c other -c one -c other text
row 'classify, two -w 2' "$bin/dbacl" -n -c two -c pair text
head -c 2000 text >short
row 'one short text, two -w 2' "$bin/dbacl" -n -c two -c pair short
test -z "${STORE:-}" || cp new.tsv "$here/benches/results/run.tsv"
