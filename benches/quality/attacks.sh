#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What becomes of spam that the mail filter caught when it is disguised: for each disguise how many of
# 100 are still spam, how many unsure, and how many pass for good mail.
#
#   attacks.sh DBACL MAIL [FILTER]
#
# Learns MAIL/train/{ham,spam} with --mail-learn, unless FILTER is the folder of a filter, and takes mails
# of one part without transfer encoding from MAIL/test/spam.
set -eu
export LC_ALL=C
dbacl=$1 mail=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
filter=${3:-$work/filter}
[ -d "$filter" ] || "$dbacl" --mail-learn "$filter" "ham=$mail/train/ham" "spam=$mail/train/spam" >"$work/log"

# Words of good mail that spam has seldom: the 1,000 that are in most good mails.
awk 'FNR == 1 { split("", seen); ham = FILENAME ~ /\/ham\// }
    { n = split(tolower($0), words, /[^a-z]+/)
      for (i = 1; i <= n; i++) { w = words[i]
          if (length(w) > 3 && length(w) < 12 && !(w in seen)) { seen[w]; if (ham) good[w]++; else bad[w]++ } } }
    END { for (w in good) if (good[w] > 12 * bad[w]) print good[w], w }' "$mail"/train/ham/* "$mail"/train/spam/* |
    sort -k1,1nr -k2 | head -n 1000 | cut -d ' ' -f 2 >"$work/words"

verdict() {
    "$dbacl" --mail-filter "$filter" <"$1" | sed -n '/^$/q; s/^X-DBACL: \([a-z]*\).*/\1/p' | head -n 1
}

for file in "$mail"/test/spam/*; do
    if sed '/^\r*$/q' "$file" | grep -qiE '^content-transfer-encoding: *(base64|quoted)|multipart/'; then continue; fi
    awk -v kind=none -v words="$work/words" -f "$here/attacks.awk" "$file" >"$work/mail"
    [ "$(verdict "$work/mail")" = spam ] && echo "$file"
done | head -n 100 >"$work/caught"

printf '%-14s %5s %6s %5s\n' "of $(grep -c . "$work/caught")" spam unsure ham
for kind in none preamble epilogue alternative display class tiny white title comment attachment message tags comments \
    zero-width random-1000 random-5000 repeated visible; do
    while read -r file; do
        awk -v kind=$kind -v words="$work/words" -f "$here/attacks.awk" "$file" >"$work/mail"
        verdict "$work/mail"
    done <"$work/caught" |
        awk -v kind=$kind '{ n[$1]++ } END { printf "%-14s %5d %6d %5d\n", kind, n["spam"], n["unsure"], n["ham"] }'
done
