#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A full disk: mail is judged and passes, learning fails and says why, users whose filters are on
# another disk learn, and nothing that was confirmed is lost.
OWN_VIEW=1
. "$(dirname "$0")/lib.sh"
unpacked spamc
full=$work/var/lib/dbacl/full
mkdir -p "$full"
mount -t tmpfs -o size=12m,mode=755 none "$full" || skip 'no file system can be mounted'
mounted=$full
filter "$full/alice"
filter "$work/var/lib/dbacl/free/bob"
cat >"$work/etc/dbacl/server.toml" <<END2
models = "$work/var/lib/dbacl/{domain}/{local}"
default = "$work/var/lib/dbacl/none"
[listen]
spamc = "$work/run/dbacl/spamc"
END2
serve --config "$work/etc/dbacl/server.toml"
# A number in letters: a filter has no use for digits.
word() { echo "$1" | tr 0-9 k-t; }
# teach USER NUMBER: that mail is spam.
teach() {
  message spam "lesson $(word "$2")" |
    dbacl-server --config "$work/etc/dbacl/server.toml" --teach spam --user "$1" >"$work/taught" 2>&1
}
last() { caught_up; grep 'event=learned' "$work/server.log" | tail -n 1; }
judged() {  # USER
  message spam new | packaged usr/bin/spamc -F /dev/null -U "$work/run/dbacl/spamc" -u "$1" >"$work/got"
  holds "$work/got" '^X-DBACL: spam '
  holds "$work/got" 'cheap pills'
}
round=0 failed= kept=
# A lesson of 2 kB may find room in the last page of the journal, but not each time.
for left in 0 0 0 0 0 0 4 64 512 1024 2048 3072; do
  round=$((round + 1))
  dd if=/dev/zero of="$full/fill" bs=1k 2>/dev/null && fail 'the disk is not full'
  truncate -s "-${left}k" "$full/fill"
  if teach alice@full $round; then
    kept="$kept $round"
  else
    status=$?
    failed="$failed $round"
    [ $status = 75 ] || fail "a lesson on a full disk ends with $status"
    holds "$work/taught" 'EX_TEMPFAIL: .*No space left'
    last | grep -q 'level=error .*user=alice@full .*No space left' || fail "the log says: $(last)"
  fi
  judged alice@full
  teach bob@free $round || fail "with a full disk elsewhere: $(cat "$work/taught")"
  last | grep -q 'user=bob@free .*outcome=learned' || fail "the log says: $(last)"
  judged bob@free
  rm "$full/fill"
done
[ "$failed" ] && [ "$kept" ] || fail "the disk was never full, or always; failed:$failed, kept:$kept"
# What failed was not learned, and can be; what was confirmed is there.
for number in $kept; do
  teach alice@full "$number" || fail "with room again: $(cat "$work/taught")"
  last | grep -q 'outcome=learned$' && fail "lesson $number was lost"
done
for number in $failed; do
  teach alice@full "$number" || fail "with room again: $(cat "$work/taught")"
  last | grep -q 'outcome=learned$' || fail "lesson $number was half learned: $(last)"
done
judged alice@full
# The server goes on when its log cannot be written.
kill "$server"
wait "$server"
dbacl-server --config "$work/etc/dbacl/server.toml" 2>/dev/full &
server=$!
children="$children $server"
wait_for 20 test -S "$work/run/dbacl/spamc" || fail 'the server does not begin without a log'
judged alice@full
teach alice@full 9999 || fail "without a log: $(cat "$work/taught")"
kill "$server"
wait "$server" || fail "without a log the server ends with $?"
echo PASSED
