#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The mail filter learning one mail at a time: judges each mail, then learns it, in a fixed random order.
#
#   online.sh DBACL MAIL [OPTION]...        MAIL holds folders ham and spam; OPTIONs of learning
#
# REFIT may hold options of the fit; --once without it. Prints (1-AUC) % and errors in % of all verdicts and
# of the second half.
set -eu
dbacl=$1 mail=$2
shift 2
set -- ${@:--T email -T email:headers -T email:theaders -T html:links -T html:alt -L uniform -e cef -j}
work=$(mktemp -d "${TMPDIR:-/tmp}/online.XXXXXX")
trap 'rm -rf "$work"' EXIT
for label in ham spam; do
    for file in "$mail/$label"/*; do
        echo "$(echo "$label/${file##*/}" | cksum | cut -d ' ' -f 1) $label $file"
    done
done | sort -n | cut -d ' ' -f 2- >"$work/order"
for label in ham spam; do
    first=$(awk -v label=$label '$1 == label { print $2; exit }' "$work/order")
    "$dbacl" "$@" -H 25 -l "$work/$label" --keep "$work/ledger" "$first"
    echo "$first" >>"$work/first"
done
"$dbacl" --refit --always ${REFIT---once} -c "$work/ham" -c "$work/spam" --keep "$work/ledger" >/dev/null 2>&1
while read -r label file; do
    grep -qx "$file" "$work/first" && continue
    "$dbacl" -c "$work/ham" -c "$work/spam" --verdict --format tsv "$file" |
        awk -F '\t' -v label=$label 'NR == 2 { print (label == "spam"), $8 }' || true
    "$dbacl" --update $label --keep "$work/ledger" -c "$work/ham" -c "$work/spam" "$file"
done <"$work/order" >"$work/scores"
if [ "${SCORES:-}" ]; then cp "$work/scores" "$SCORES"; fi
mails=$(grep -c . "$work/scores")
for from in 1 $((mails / 2 + 1)); do
    tail -n "+$from" "$work/scores" | sort -k2,2gr | awk -v from="$from" '
        { score[NR] = $2; spam[NR] = $1; s += $1; h += !$1; if (($2 > 0) != $1) e++ }
        END { i = 1
              while (i <= NR) {
                  here = others = 0
                  for (j = i; j <= NR && score[j] == score[i]; j++) if (spam[j]) here++; else others++
                  wrong += here * (above + others / 2)
                  above += others; i = j
              }
              printf "%5d mails, %s  1-AUC %.4f  error %.2f %%\n", NR,
                  from == 1 ? "all        " : "second half", 100 * wrong / s / h, 100 * e / NR }'
done
