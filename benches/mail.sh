#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Speed and memory on mail, as ratios of CPU time to `LC_ALL=C wc -w` over the same bytes, run in turn.
#
#   mail.sh BIN [FOLDER]   BIN: folder with dbacl
#                          FOLDER: holds good/ and spam/ (or ham/ and spam/), one message a file
#
# Without FOLDER the training part of a corpus beside the repository is taken, if there is one, else
# mail made from the demonstration's texts. Medians of nine runs. Needs GNU time.
set -eu
. "$(dirname "$0")/begin.sh"
export LC_ALL=C
unset DBACL_PATH DBACL_STRICT

# Prose in messages of about 4 kB: plain text, quoted-printable, HTML and base64 by turns.
make_up() {  # KIND COUNT
  mkdir -p "$folder/made/$1"
  find "$here/testdata/demo" -name '*.txt' | sort | xargs cat | grep . |
    awk -v kind="$1" -v count="$2" -v folder="$folder/made/$1" '
      { line[NR] = $0 }
      END {
        at = kind == "ham" ? 1 : int(NR / 2)
        for (m = 1; m <= count; m++) {
          file = sprintf("%s/%05d", folder, m)
          turn = m % 4
          printf "From %s%d@example.org Mon Jan  1 10:00:00 2024\n", kind, m % 97 > file
          printf "Received: from host%d.example.org (host%d.example.org [192.0.2.%d])\n", m, m, m % 250 > file
          printf "\tby mail.example.net with ESMTP id %08x; Mon, 1 Jan 2024 10:00:00 +0000\n", m * 7919 > file
          printf "From: Person %d <%s%d@example.org>\nTo: me@example.net\n", m % 97, kind, m % 97 > file
          printf "Subject: %s\nMessage-ID: <%d.%08x@example.org>\nMIME-Version: 1.0\n", line[at], m, m * 104729 > file
          if (turn == 1) printf "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n" > file
          else if (turn == 2) printf "Content-Type: text/html\n" > file
          else printf "Content-Type: text/plain\n" > file
          printf "\n" > file
          for (k = 0; k < 50; k++) {
            at = at % NR + 1
            text = line[at]
            if ((at + m) % 7 == 0) gsub(/e /, "e" sprintf("%c", 97 + m % 26) " ", text)
            if (turn == 1) { gsub(/=/, "=3D", text); if (length(text) > 70) text = substr(text, 1, 70) "=\n" substr(text, 71) }
            else if (turn == 2) text = "<p class=\"a\">" text "<br>"
            print text > file
          }
          close(file)
        }
      }'
}

corpus=${2:-}
archive=$here/../shared/data/spamassassin/spamassassin.tar.xz
if test -z "$corpus" && test -f "$archive"; then
  tar -xJf "$archive" -C "$folder"
  corpus=$folder/spamassassin/train
fi
if test -z "$corpus"; then
  make_up ham 2500
  make_up spam 1200
  corpus=$folder/made
fi
good=$corpus/good
test -d "$good" || good=$corpus/ham
if ! test -d "$good" || ! test -d "$corpus/spam"; then
  echo "mail.sh: $corpus needs folders good (or ham) and spam, one message a file" >&2
  exit 2
fi
find "$good" ! -type d | sort >"$folder/files"
messages=$(wc -l <"$folder/files")
# One message follows another behind an empty line and a line "From ".
while read -r file; do
  case $(head -c 5 "$file" | tr -d '\0') in 'From ') ;; *) echo 'From - Mon Jan  1 10:00:00 2024' ;; esac
  cat "$file"
  echo
done <"$folder/files" >"$folder/mbox"
size=$(wc -c <"$folder/mbox")
echo "mail: $messages messages, $size bytes"

# CPU seconds and memory of a command.
once() {
  $time -f '%U %S %M' -o "$folder/times" "$@" >/dev/null 2>&1 || true
  tail -n 1 "$folder/times" | awk '{ print $1 + $2, $3 }'
}
# LABEL COMMAND...: medians of the time of the command, which goes through all mail, and of wc.
row() {
  label=$1
  shift
  for run in 1 2 3 4 5 6 7 8 9; do
    # Five times the file, because the clock counts hundredths of a second.
    echo "$(once "$@") $(once wc -w "$folder/mbox" "$folder/mbox" "$folder/mbox" "$folder/mbox" "$folder/mbox")"
  done >"$folder/runs"
  mine=$(cut -d ' ' -f 1 "$folder/runs" | sort -n | sed -n 5p)
  wc=$(cut -d ' ' -f 3 "$folder/runs" | sort -n | sed -n 5p)
  memory=$(cut -d ' ' -f 2 "$folder/runs" | sort -n | sed -n 5p)
  echo "$mine $wc $memory" | awk -v label="$label" -v size="$size" -v messages="$messages" '{
    printf "%-40s %6.2f s %8d messages/s %7.1f MB/s %6.1f x wc %6.1f MB\n",
      label, $1, messages / $1, size / 1e6 / $1, 5 * $1 / $2, $3 / 1024 }'
}

row 'learn an mbox' "$bin/dbacl" -T email -H 20 -l "$folder/good" "$folder/mbox"
row 'learn an mbox, -e cef' "$bin/dbacl" -T email -e cef -H 20 -l "$folder/other" "$folder/mbox"
row 'learn an mbox, -w 2 -H 22' "$bin/dbacl" -T email -w 2 -H 22 -l "$folder/other" "$folder/mbox"
"$bin/dbacl" -T email -H 20 -l "$folder/spam" "$corpus/spam"
row 'classify each message, one process' xargs -n 1000000 -a "$folder/files" \
  "$bin/dbacl" -nF -c "$folder/good" -c "$folder/spam"
row 'classify an mbox as one document' "$bin/dbacl" -n -c "$folder/good" -c "$folder/spam" "$folder/mbox"

# One process a message, with two categories of 2^18 slots: what procmail waits for.
"$bin/dbacl" -T email -h 18 -l "$folder/good18" "$folder/mbox"
"$bin/dbacl" -T email -h 18 -l "$folder/spam18" "$corpus/spam"
head -n 1000 "$folder/files" >"$folder/some"
some=$(wc -l <"$folder/some")
loop='while read -r file; do "$@" "$file" || :; done'
for run in 1 2 3; do
  dbacl=$($time -f '%e %U %S' sh -c "$loop" - "$bin/dbacl" -v -c "$folder/good18" -c "$folder/spam18" \
    <"$folder/some" 2>&1 >/dev/null | tail -n 1)
  true=$($time -f '%e %U %S' sh -c "$loop" - /bin/true <"$folder/some" 2>&1 >/dev/null | tail -n 1)
  echo "$dbacl $true"
done | sort -n | sed -n 2p | awk -v some="$some" '{
  printf "%-40s %6.2f ms a message, CPU %.2f ms; /bin/true %.2f ms, CPU %.2f ms\n",
    "one process a message, two of 2^18 slots", $1 * 1000 / some, ($2 + $3) * 1000 / some,
    $4 * 1000 / some, ($5 + $6) * 1000 / some }'

# A filter, and bogofilter where it is installed.
filters() {
  label=$1
  shift
  for run in 1 2 3; do
    rm -rf "$folder/made-filter" "$folder/bogo"
    mkdir "$folder/bogo"
    once "$@"
  done | sort -n | sed -n 2p | awk -v label="$label" '{ printf "%-40s %6.2f s %40.1f MB\n", label, $1, $2 / 1024 }'
}
count=$(find "$good" "$corpus/spam" ! -type d | wc -l)
filters "a mail filter of $count messages" "$bin/dbacl" --quiet --mail-learn "$folder/made-filter" \
  "ham=$good" "spam=$corpus/spam"
if command -v bogofilter >/dev/null; then
  filters "the same by bogofilter" sh -c 'bogofilter -d "$1" -n -B "$2" && bogofilter -d "$1" -s -B "$3"' \
    - "$folder/bogo" "$good" "$corpus/spam"
fi

# A correction is one process, too: a mail that the filter does not know, 100 times. Beside it, as often,
# a process that writes 4 kB and forces them to the disk, as a correction does.
"$bin/dbacl" --quiet --mail-learn "$folder/filter" "ham=$good" "spam=$corpus/spam" 2>/dev/null
known=$(ls "$good" "$corpus/spam" | wc -l)
mkdir "$folder/new"
sed -n '1~9p' "$folder/files" | head -n 100 | while read -r file; do
  { cat "$file"; echo "quite another one than $file"; } >"$folder/new/$(basename "$file")"
done
find "$folder/new" -type f >"$folder/some"
some=$(wc -l <"$folder/some")
correct='while read -r file; do "$1" --mail-correct "$2" ham <"$file"; done'
force='while read -r file; do dd if=/dev/zero of="$1" bs=4k count=1 conv=fsync; done'
for run in 1 2 3 4 5; do
  while read -r file; do echo "and once more, $run" >>"$file"; done <"$folder/some"
  dbacl=$($time -f '%e %U %S' sh -c "$correct" - "$bin/dbacl" "$folder/filter" \
    <"$folder/some" 2>&1 >/dev/null | tail -n 1)
  dd=$($time -f '%e %U %S' sh -c "$force" - "$folder/forced" <"$folder/some" 2>&1 >/dev/null |
    tail -n 1)
  echo "$dbacl $dd"
done | sort -n | sed -n 3p | awk -v some="$some" -v known="$known" '{
  printf "%-40s %6.2f ms each, CPU %.2f ms; %.1f x writing 4 kB: %.2f ms, CPU %.2f ms\n",
    "correct a filter of " known " mails", $1 * 1000 / some, ($2 + $3) * 1000 / some,
    $1 / $4, $4 * 1000 / some, ($5 + $6) * 1000 / some }'
