#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Quality on mail, ordinary and refit: learns MAIL/train/{ham,spam}, judges MAIL/test/{ham,spam}.
#
#   refit-mail.sh DBACL MAIL [tables|filter|noise|unlearn]
#
# Prints (1-AUC) %, recall at 0.1 % and 1 % false positives, false positives, misses and errors in %, with
# 95 % intervals (see measure.awk). "counts" are verdicts of -n -v, as any dbacl gives them with the files;
# "once" are those of --verdict with files fitted with --once, "contrast" with --contrast yes as well. With bogofilter installed it is run beside.
set -eu
export LC_ALL=C
dbacl=$1 mail=$2 what=${3:-tables}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
headers='-H 25 -T email -T email:headers -T email:theaders -T html:links -T html:alt -L uniform'
trec1="$headers -e cef -j"

row() {
    sort -k1,1gr -k2,2n | awk -v name="$1" -f "$here/measure.awk"
}

# measure NAME FOLDER: the files FOLDER/ham and FOLDER/spam on the test part
measure() {
    for label in ham spam; do
        "$dbacl" -n -v -F -c "$2/ham" -c "$2/spam" "$mail/test/$label" |
            awk -v label=$label '{ print $(NF - 6) - $(NF - 2), label == "spam" }' || true
    done | row "$1"
}

# The same by verdicts.
measure_verdicts() {
    for label in ham spam; do
        "$dbacl" --verdict --format tsv -F -c "$2/ham" -c "$2/spam" "$mail/test/$label" |
            awk -F '\t' -v label=$label 'NR > 1 { print $8, label == "spam" }' || true
    done | row "$1"
}

# bogofilter's scores with this threshold
bogofilter_row() {
    for label in ham spam; do
        bogofilter -d "$work/bogofilter" -TT -B "$mail/test/$label" |
            awk -v label=$label -v threshold="$2" '{ printf "%.17g %d\n", $NF - threshold, label == "spam" }' || true
    done | row "$1"
}

# learn FOLDER OPTION...: ordinary categories and their ledger from $train
learn() {
    folder=$1
    shift
    mkdir -p "$folder"
    for label in ham spam; do
        "$dbacl" "$@" -l "$folder/$label" --keep "$folder/ledger" "$train/$label"
    done
}

refit() {
    "$dbacl" --refit --always "$@" 2>/dev/null | sed -n 's/^refit .*\(C .*\), chosen.*/\1/p'
}

train=$mail/train
printf '%-34s %7s %13s %6s %6s %5s %5s %5s\n' '' 1-AUC '' @0.1% @1% FP% FN% err%
case $what in
tables)
    for options in '-T email -L uniform -H 25' "$trec1" "$headers -T email:xheaders -e cef2" "$headers -e adp -w 2" \
        "$headers -T email:xheaders -e adp -w 2"; do
        name=${options#"$headers"}
        rm -rf "$work/set"
        learn "$work/set" $options
        echo "$name"
        measure "  ordinary" "$work/set"
        set -- -c "$work/set/ham" -c "$work/set/spam" --keep "$work/set/ledger"
        chosen=$(refit "$@")
        measure "  refit, counts, $chosen" "$work/set"
        chosen=$(refit --once "$@")
        measure_verdicts "  refit, once, $chosen" "$work/set"
        chosen=$(refit --once --contrast yes "$@")
        measure_verdicts "  once, contrast, $chosen" "$work/set"
    done
    if command -v bogofilter >/dev/null; then
        mkdir "$work/bogofilter"
        bogofilter -d "$work/bogofilter" -n -B "$mail/train/ham"
        bogofilter -d "$work/bogofilter" -s -B "$mail/train/spam"
        bogofilter_row "bogofilter, spam above 0.99" 0.99
        bogofilter_row "bogofilter, spam above 0.5" 0.5
    fi
    ;;
filter)
    # The two commands, with their band of unsure verdicts.
    "$dbacl" --mail-learn "$work/filter" "ham=$mail/train/ham" "spam=$mail/train/spam"
    for label in ham spam; do
        "$dbacl" --verdict --format tsv -F -c "$work/filter/ham" -c "$work/filter/spam" "$mail/test/$label" |
            awk -F '\t' -v label=$label 'NR > 1 { n[$3 == "true" ? "unsure" : $2]++ }
                END { printf "%s: %d ham, %d unsure, %d spam\n", label, n["ham"], n["unsure"], n["spam"] }' || true
    done
    measure_verdicts "  verdicts without the band" "$work/filter"
    ;;
noise)
    for share in 0 2 5; do
        rm -rf "$work/train" "$work/set"
        mkdir -p "$work/train/ham" "$work/train/spam"
        for label in ham spam; do
            other=$([ $label = ham ] && echo spam || echo ham)
            for file in "$mail/train/$label"/*; do
                if [ $(($(echo "$label/${file##*/}" | cksum | cut -d ' ' -f 1) % 1000)) -lt $((10 * share)) ]; then
                    ln -s "$file" "$work/train/$other/$label-${file##*/}"
                else
                    ln -s "$file" "$work/train/$label/$label-${file##*/}"
                fi
            done
        done
        train=$work/train
        learn "$work/set" $trec1
        measure "$share % wrong, ordinary" "$work/set"
        chosen=$(refit -c "$work/set/ham" -c "$work/set/spam" --keep "$work/set/ledger")
        measure "$share % wrong, refit $chosen" "$work/set"
        chosen=$(refit --once -c "$work/set/ham" -c "$work/set/spam" --keep "$work/set/ledger")
        measure_verdicts "$share % wrong, once, $chosen" "$work/set"
    done
    ;;
unlearn)
    mkdir -p "$work/rest/ham" "$work/rest/spam" "$work/gone/ham" "$work/gone/spam"
    for label in ham spam; do
        n=0
        for file in "$mail/train/$label"/*; do
            n=$((n + 1))
            part=$([ $((n % 12)) = 0 ] && echo gone || echo rest)
            ln -s "$file" "$work/$part/$label/${file##*/}"
        done
    done
    settings='--cost 1 --blend 0.05'
    train=$work/rest
    learn "$work/never" $trec1
    "$dbacl" --refit --always $settings -c "$work/never/ham" -c "$work/never/spam" --keep "$work/never/ledger" >"$work/log"
    measure 'never learned' "$work/never"
    train=$mail/train
    learn "$work/set" $trec1
    "$dbacl" --refit --always $settings -c "$work/set/ham" -c "$work/set/spam" --keep "$work/set/ledger" >"$work/log"
    measure 'learned' "$work/set"
    for label in ham spam; do
        "$dbacl" --unlearn $label --keep "$work/set/ledger" -c "$work/set/ham" -c "$work/set/spam" "$work/gone/$label"
    done
    measure "unlearned $(ls "$work/gone/ham" "$work/gone/spam" | grep -c .) files" "$work/set"
    for set in never set; do
        for label in ham spam; do
            "$dbacl" -v -F -c "$work/$set/ham" -c "$work/$set/spam" "$mail/test/$label" || true
        done >"$work/$set.verdicts"
    done
    echo "verdicts that differ: $(diff "$work/never.verdicts" "$work/set.verdicts" | grep -c '^<' || true)"
    for file in ham spam ham.ordinary spam.ordinary ledger; do
        # The path of the category stands in the first line.
        for set in never set; do
            sed '1s,[^ ]*/,,' "$work/$set/$file" >"$work/$set.file"
        done
        cmp -s "$work/never.file" "$work/set.file" && echo "$file: the same bytes" || echo "$file: differs"
    done
    ;;
esac
