#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What becomes of spam that the mail filter caught when it is disguised: for each disguise how many of
# 100 are still spam, how many unsure, and how many pass for good mail.
#
#   attacks.sh DBACL MAIL [FILTER [SPAMS]]
#
# Learns MAIL/train/{ham,spam} with --mail-learn, unless FILTER is the folder of a filter, and takes mails
# of one part without transfer encoding from MAIL/test/spam, 100 or SPAMS of them. tests/disguises.rs
# watches the same disguises with made-up mail.
set -eu
export LC_ALL=C
dbacl=$1 mail=$2 most=${4:-100}
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

# The disguise KIND of each of the files on standard input, in the folder mails.
disguise() {
    rm -rf "$work/mails"
    mkdir "$work/mails"
    number=0
    while read -r file; do
        number=$((number + 1))
        awk -v kind="$1" -v words="$work/words" -v good="$(sed -n "$((number % 50 + 1))p" "$work/good")" \
            -f "$here/attacks.awk" "$file" >"$work/mails/$(printf %04d $number)"
    done
}

# The verdicts on these mails, in their order: spam, unsure, ham.
verdicts() {
    for message in "$work"/mails/*; do
        "$dbacl" --mail-filter "$filter" "$message" | sed -n 's/^X-DBACL: \([a-z]*\).*/\1/p' | head -n 1
    done
}

ls "$mail"/train/ham/* | head -n 50 >"$work/good"
for file in "$mail"/test/spam/*; do
    sed '/^\r*$/q' "$file" | grep -qiE '^content-transfer-encoding: *(base64|quoted)|multipart/' || echo "$file"
done >"$work/plain"
disguise none <"$work/plain"
verdicts | paste - "$work/plain" | sed -n 's/^spam\t//p' | head -n "$most" >"$work/caught"

printf '%-14s %5s %6s %5s\n' "of $(grep -c . "$work/caught")" spam unsure ham
for kind in none preamble epilogue alternative display class tiny white rgba font left clip escape media deep \
    title comment attachment message tags comments zero-width homoglyphs capitals digits split base64 image headers \
    references forged forged-thread random-1000 random-5000 repeated visible before; do
    disguise $kind <"$work/caught"
    verdicts | awk -v kind=$kind '{ n[$1]++ } END { printf "%-14s %5d %6d %5d\n", kind, n["spam"], n["unsure"], n["ham"] }'
done
