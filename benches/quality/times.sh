#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# How well a reading of mail carries over from one time to another: learns one half of MAIL/train by date
# with OPTIONs, fits it as the mail filter does, and judges the other half.
#
#   times.sh DBACL MAIL OPTION...
#
# Prints for each split how many mails are judged, errors at even odds, errors in %, and (1-AUC) %. "inside"
# is the 4-fold cross-validation of all that the fit prints itself. The date of a mail is that of its
# newest Received field; mail without one counts as the newest. Options behind "--" are those of --refit.
set -eu
export LC_ALL=C
dbacl=$1 mail=$2
shift 2
options='' refit=''
while [ $# -gt 0 ]; do
    case $1 in
    --) shift; refit=$*; break ;;
    *) options="$options $1"; shift ;;
    esac
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for label in ham spam; do
    awk '
        function month(name) { return (index("JanFebMarAprMayJunJulAugSepOctNovDec", name) + 2) / 3 }
        FNR == 1 { if (name != "") print date, name; date = "9"; name = FILENAME; in_header = 1 }
        /^\r?$/ { in_header = 0 }
        in_header && /^[^ \t]/ { is_trace = tolower($0) ~ /^received:/ }
        in_header && is_trace && date == "9" &&
            match($0, /[0-9]+ (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [0-9][0-9][0-9][0-9] [0-9:]+/) {
            split(substr($0, RSTART, RLENGTH), part, " ")
            date = sprintf("%04d-%02d-%02dT%s", part[3], month(part[2]), part[1], part[4])
        }
        END { print date, name }' "$mail/train/$label"/* | sort >"$work/dates.$label"
    half=$(($(wc -l <"$work/dates.$label") / 2))
    awk -v half=$half -v to="$work" -v label=$label '
        { print $2 >(to "/" (NR <= half ? "older" : "newer") "." label)
          print $2 >(to "/" ($1 < "2002-09" ? "before" : "autumn") "." label) }' "$work/dates.$label"
done

# learn NAME: the mails in NAME.ham and NAME.spam
learn() {
    rm -rf "$work/set"
    mkdir "$work/set"
    for label in ham spam; do
        # shellcheck disable=SC2086
        xargs "$dbacl" --quiet $options -l "$work/set/$label" --keep "$work/set/ledger" <"$work/$1.$label"
    done
    # shellcheck disable=SC2086
    "$dbacl" --refit --once --always $refit -c "$work/set/ham" -c "$work/set/spam" --keep "$work/set/ledger" \
        2>/dev/null >"$work/log"
}

# judge NAME: a row of figures
judge() {
    for label in ham spam; do
        xargs "$dbacl" --verdict --format tsv -F -c "$work/set/ham" -c "$work/set/spam" <"$work/$1.$label" |
            awk -F '\t' -v label=$label '$8 + 0 == $8 { print $8, label == "spam" }' || true
    done | sort -k1,1gr -k2,2n | awk -v name="$1" '
        { if ($2) { spam++; misses += ($1 <= 0) } else { ham++; alarms += ($1 > 0); above += spam } }
        END { printf "%-8s %5d  %4d (%d alarms, %d misses)  %5.2f %%  %6.3f\n", name, NR, alarms + misses, alarms,
              misses, 100 * (alarms + misses) / NR, 100 * (1 - above / ham / spam) }'
}

for pair in older:newer newer:older before:autumn autumn:before; do
    learn "${pair%:*}"
    judge "${pair#*:}"
done
for label in ham spam; do
    cut -d ' ' -f 2 "$work/dates.$label" >"$work/all.$label"
done
learn all
grep . "$work/log"
