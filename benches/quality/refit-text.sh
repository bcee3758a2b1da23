#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Accuracy on text corpora, ordinary and refit: learns from the training part, judges the test part.
#
#   refit-text.sh DBACL DATA CORPUS [LEARNING OPTION]...
#
# DATA holds the unpacked corpora: CORPUS/train.tsv and test.tsv (label, tab, text) or folders
# CORPUS/train/LABEL/ and test/LABEL/. REFIT may hold options of the refit, such as --exact.
set -eu
dbacl=$1 data=$2 corpus=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/categories" "$work/train" "$work/test"

if [ -f "$data/$corpus/train.tsv" ]; then
    for part in train test; do
        awk -F '\t' -v folder="$work/$part" '{ print substr($0, length($1) + 2) > (folder "/" $1) }' \
            "$data/$corpus/$part.tsv"
    done
    documents="$data/$corpus/train.tsv"
    lines=yes
else
    rmdir "$work/train" "$work/test"
    ln -s "$(realpath "$data/$corpus/train")" "$work/train"
    ln -s "$(realpath "$data/$corpus/test")" "$work/test"
    documents=
    lines=
fi

names=$(ls "$work/train/")
categories=
for name in $names; do
    "$dbacl" -H 22 "$@" -l "$work/categories/$name" "$work/train/$name"
    categories="$categories -c $work/categories/$name"
done

# Prints the accuracy on the test part: the lowest score wins.
judge() {
    for name in $names; do
        if [ "$lines" ]; then
            "$dbacl" $categories -n -f 1 "$work/test/$name" |
                awk -v own="$name" -v categories="$(echo "$names" | wc -l)" '
                    { best = 1; for (k = 2; k <= categories; k++) if ($(2 * k) < $(2 * best)) best = k
                      print own, $(2 * best - 1) }'
        else
            "$dbacl" $categories -n -F "$work/test/$name" |
                awk -v own="$name" '
                    { best = 3; for (k = 5; k <= NF; k += 2) if ($k < $best) best = k
                      print own, $(best - 1) }'
        fi
    done | awk -v what="$1" '
        { all[$1]++; called[$2]++; n++; if ($1 == $2) { right[$1]++; r++ } }
        END { for (name in all) f += 2 * right[name] / (all[name] + called[name])
              for (name in all) k++
              printf "%-9s accuracy %.2f  macro-F1 %.2f  (%d documents)\n", what, 100 * r / n, 100 * f / k, n }'
}

judge ordinary
if [ "$lines" ]; then
    "$dbacl" --refit ${REFIT:-} $categories "$documents"
else
    sources=
    for name in $names; do
        sources="$sources -c $work/categories/$name=$work/train/$name"
    done
    "$dbacl" --refit ${REFIT:-} $sources
fi
judge refit
find "$work/categories" -type f ! -name '*.ordinary' -exec du -ck {} + | tail -1 | awk '{ printf "files     %.1f MB\n", $1 / 1024 }'
