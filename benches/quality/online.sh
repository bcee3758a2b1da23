#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The mail filter learning one mail at a time: judges each mail, then learns it, in a fixed random order.
#
#   online.sh DBACL MAIL [OPTION]...        MAIL holds folders ham and spam; OPTIONs of learning
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
"$dbacl" --refit --always -c "$work/ham" -c "$work/spam" --keep "$work/ledger" >/dev/null 2>&1
while read -r label file; do
    grep -qx "$file" "$work/first" && continue
    "$dbacl" -c "$work/ham" -c "$work/spam" -n -v "$file" |
        awk -v label=$label '{ print (label == "spam"), $2 - $6 }' || true
    "$dbacl" --update $label --keep "$work/ledger" -c "$work/ham" -c "$work/spam" "$file"
done <"$work/order"
