#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Time and memory of dbacl-server: 200 mails a second of 8 kB, for one filter and for 100 users.
#
#   benches/server.sh [BIN]     folder with dbacl, dbacl-server and examples/load; target/release
#   MAILS=1000000 benches/server.sh     so many mails for 100 users beside that, as fast as RATE says;
#                               the memory after each tenth, and whether it grows after the first one
#
# RATE     mails a second with MAILS; 1000
# CORPUS   folder with ham.mbox and spam.mbox to learn from; made-up mail without it
# SECONDS_EACH   how long each load lasts; 20
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
bin=$(cd "${1:-${CARGO_TARGET_DIR:-$root/target}/release}" && pwd)
seconds=${SECONDS_EACH:-20}
for program in dbacl dbacl-server examples/load; do
  [ -x "$bin/$program" ] || { echo "$bin/$program is missing: cargo build --release -p dbacl-server --bins --examples"; exit 1; }
done
here=$root
. "$here/benches/about.sh"
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
words() {  # KIND NUMBER: a mail of 8 kB of words that its kind has more often
  awk -v kind="$1" -v seed="$2" 'BEGIN {
    srand(seed); print "From: a@example.org\nTo: b@example.net\nSubject: " kind " " seed "\n"
    for (i = 0; i < 1150; i++) {
      word = int(exp(rand() * 9))
      printf "%s%s", (rand() < 0.1 ? kind : "word") word, (i % 10 == 9 ? "\n" : " ")
    }
    print ""
  }'
}
if [ -z "${CORPUS:-}" ]; then
  for kind in ham spam; do
    for number in $(seq 1 300); do
      printf 'From a@example.org Mon Jan  1 10:00:00 2024\n'
      words $kind "$number"
    done >"$work/$kind.mbox"
  done
  CORPUS=$work
fi
mkdir -p "$work/users"
"$bin/dbacl" --mail-learn "$work/default" ham="$CORPUS/ham.mbox" spam="$CORPUS/spam.mbox" >/dev/null
for number in $(seq 0 99); do cp -a "$work/default" "$work/users/user$number"; done
for number in $(seq 1 50); do words ham "9$number" >"$work/ham.$number"; words spam "9$number" >"$work/spam.$number"; done
"$bin/dbacl-server" --default "$work/default" --models "$work/users/{user}" --spamc "$work/socket" 2>/dev/null &
server=$!
while [ ! -S "$work/socket" ]; do sleep 0.1; done
resident() { awk '/^VmRSS/ { print $2 }' "/proc/$server/status"; }
memory() { awk -v what="$1" '/^VmHWM|^VmRSS/ { at[$1] = $2 } END { printf "%s: %.1f MB now, %.1f MB at most\n", what, at["VmRSS:"] / 1024, at["VmHWM:"] / 1024 }' "/proc/$server/status"; }
memory 'memory, idle'
"$bin/examples/load" "$work/socket" 200 "$seconds" 0 "$work"/*.[0-9]*
memory 'memory, one filter'
"$bin/examples/load" "$work/socket" 200 "$seconds" 100 "$work"/*.[0-9]*
memory 'memory, 100 users'
if [ -n "${MAILS:-}" ]; then
  rate=${RATE:-1000}
  early=
  for tenth in 1 2 3 4 5 6 7 8 9 10; do
    "$bin/examples/load" "$work/socket" "$rate" $((MAILS / 10 / rate)) 100 "$work"/*.[0-9]*
    memory "memory after $((tenth * (MAILS / 10 / rate) * rate)) mails"
    early=${early:-$(resident)}
  done
  grown=$(($(resident) - early))
  ticks=$(awk '{ print $14 + $15 }' "/proc/$server/stat")
  echo "memory grown from the first tenth to the last: $grown kB; the server's processor time: $((ticks / $(getconf CLK_TCK))) s"
  [ "$grown" -lt 2048 ] || { echo 'FAILED: the memory grows'; exit 1; }
fi
