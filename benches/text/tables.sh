#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# usage: benches/text/tables.sh DIR [PROGRAM]
# For each folder in DIR with train.tsv and test.tsv: trains with what dbacl-text chooses, and prints
# a row for docs/lab/text.md: accuracy, macro-F1, log loss; seconds, kilobytes; bytes of the model.
# Then the same test texts cut to their first words: right, claimed, log loss.
set -eu
program=${2:-dbacl-text}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for folder in "$1"/*/; do
    [ -f "$folder/train.tsv" ] && [ -f "$folder/test.tsv" ] || continue
    cost=$(/usr/bin/time -f '%U s %M KB' "$program" train "$folder/train.tsv" -o "$work/model" -q 2>&1)
    echo "$(basename "$folder"): $cost, $(wc -c < "$work/model") bytes"
    for words in 0 1 2 3 5 10; do
        awk -F '\t' -v words="$words" '{
            n = split($2, all, " "); text = $2
            if (words) { text = ""; for (i = 1; i <= n && i <= words; i++) text = text all[i] " " }
            print $1 "\t" text
        }' "$folder/test.tsv" > "$work/test.tsv"
        "$program" test "$work/model" "$work/test.tsv" --json |
            python3 -c '
import json, sys
found = json.load(sys.stdin)
claimed = sum(one["claimed"] * one["documents"] for one in found["lengths"]) / found["documents"]
print("  %s words: right %.2f claimed %.2f macro-F1 %.2f log loss %.4f" % (
    sys.argv[1], 100 * found["accuracy"]["value"], 100 * claimed, 100 * found["macro_f1"],
    found["log_loss_bits"]))' "$words"
    done
done
