#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Instructions that fixed tasks take, beside the recorded ones: unlike time they repeat on a busy
# machine.
#
#   instructions.sh BIN            exit status 1 if a task takes a twentieth more than recorded
#   instructions.sh BIN --record   writes benches/instructions.txt anew
#
# Needs valgrind. Programs start with an empty environment, since the loader looks at each variable.
# The figures are those of a release build on x86-64; a new compiler may move them.
set -eu
bin=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")/.." && pwd)
record=$here/benches/instructions.txt
if ! valgrind=$(command -v valgrind); then
  echo 'SKIPPED: valgrind is not installed'
  exit 0
fi
. "$here/benches/about.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
find "$here/testdata/demo" -name '*.txt' | sort | xargs cat >"$folder/text"
cp "$record" "$folder/recorded" 2>/dev/null || : >"$folder/recorded"
test "${2:-}" != --record || : >"$record"
cd "$folder"
worse=0

task() {
  name=$1
  shift
  env -i LC_ALL=C "$valgrind" --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$@" >/dev/null 2>log || :
  now=$(sed -n 's/.*I *refs: *//p' log | tr -d ,)
  if test "${record_now:-}" = yes; then
    echo "$name $now" >>"$record"
  fi
  before=$(sed -n "s/^$name //p" recorded)
  if ! echo "$now ${before:-0}" | awk -v name="$name" \
    '{ printf "%-22s %12d instructions, recorded %12d\n", name, $1, $2; exit $2 > 0 && $1 > 1.05 * $2 }'; then
    worse=1
  fi
}

test "${2:-}" != --record || record_now=yes
task learn-1 "$bin/dbacl" --threads 1 -w 1 -H 18 -l one text
task learn-2 "$bin/dbacl" --threads 1 -w 2 -H 20 -l two text
task learn-3 "$bin/dbacl" --threads 1 -w 3 -H 20 -l three text
task learn-mail "$bin/dbacl" --threads 1 -T email -H 18 -l mail text
task classify-1 "$bin/dbacl" --threads 1 -n -c ./one -c ./one text
task classify-2 "$bin/dbacl" --threads 1 -n -c ./two -c ./two text
LC_ALL=C.UTF-8 sed 'y/abcdefghijklmnopqrstuvwyzABCDEFGHIJKLMNOPQRSTUVWYZ/абцдефгхийклмнопярстувшызАБЦДЕФГХИЙКЛМНОПЯРСТУВШЫЗ/' text >cyrillic
task learn-alnum "$bin/dbacl" --threads 1 -e alnum -H 18 -l alnum text
task learn-word "$bin/dbacl" --threads 1 -e word -H 18 -l word text
task learn-word-cyrillic "$bin/dbacl" --threads 1 -e word -H 18 -l cyrillic-word cyrillic
task start "$bin/dbacl" -V
exit $worse
