#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# usage: benches/text/shares.sh FOLDER LABEL [PROGRAM]
# What `predict --adapt` brings where labels have other shares than in training: FOLDER has train.tsv
# and test.tsv. Prints the accuracy in % with and without it, for all test texts and where 3 of 20
# with LABEL are left, whole and cut to five words.
set -eu
program=${3:-dbacl-text}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$program" train "$1/train.tsv" -o "$work/model" -q
printf 'texts\twords\twithout\t--adapt\n'
for left in all some; do
    for words in all 5; do
        awk -F '\t' -v OFS='\t' -v label="$2" -v left=$left -v words=$words '{
            if (left == "some" && $1 == label && seen++ % 20 >= 3) next
            if (words != "all") {
                n = split($2, all, " "); $2 = ""
                for (i = 1; i <= n && i <= words; i++) $2 = $2 all[i] " "
            }
            print
        }' "$1/test.tsv" >"$work/test"
        cut -f 1 "$work/test" >"$work/labels"
        printf '%s\t%s' $left $words
        for option in '' --adapt; do
            # shellcheck disable=SC2086
            cut -f 2 "$work/test" | "$program" predict "$work/model" $option | cut -f 1 |
                paste - "$work/labels" | awk -F '\t' '$1 == $2 { right++ }
                    END { printf "\t%.2f", 100 * right / NR }'
        done
        echo
    done
done
