#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Learning by cron: it prints nothing, replaces the category whole or not at all, and deliveries go
# on meanwhile.
. "$(dirname "$0")/lib.sh"
learned
recipe maildir
cp "$root"/integrations/categories/learn-mail "$HOME/bin/"
said=$(env -i HOME="$HOME" PATH=/usr/bin:/bin "$HOME/bin/learn-mail" private work spam 2>&1) || fail "learning ends with $?"
[ -z "$said" ] || fail "learning says: $said"

learn() { dbacl --strict -T email -H 20 -l "$@"; }
verdict() { message spam | dbacl --strict -v -c ~/.dbacl/private -c ~/.dbacl/work -c ~/.dbacl/spam; }

# An mbox and a Maildir of the same messages are the same category, but for the name inside.
md="$HOME/Maildir/.work"
mkdir -p "$md/cur" "$md/new" "$md/tmp"
awk -v folder="$md" '/^From / { number++; file = sprintf("%s/%s/%02d.host:2,S", folder, number > 5 ? "new" : "cur", number) } { print > file }' \
  "$HOME/mail/work"
[ "$(ls "$md/cur" "$md/new" | grep -c host)" = 10 ] || fail "the Maildir is not as it should be"
mkdir "$work/one" "$work/two"
(cd "$work/one" && learn ./work "$HOME/mail/work") || fail "mbox: $?"
(cd "$work/two" && learn ./work "$md/cur" "$md/new") || fail "Maildir: $?"
cmp "$work/one/work" "$work/two/work" || fail "mbox and Maildir differ"

# While a learner reads, the old category answers; killed, it leaves the old one whole.
cp "$HOME/.dbacl/spam" "$work/before"
mkfifo "$work/slow"
# This runs the program and not the shell function `dbacl`, so that the signal kills the program.
dbacl --strict -T email -H 20 -l ~/.dbacl/spam "$work/slow" &
learner=$!
exec 9>"$work/slow"
cat "$HOME/mail/work" >&9
sleep 0.3
kill -0 $learner || fail "the learner has gone"
cmp "$work/before" "$HOME/.dbacl/spam" || fail "the category changed while learning"
[ "$(verdict)" = spam ] || fail "no verdict while learning"
kill -9 $learner
wait $learner 2>/dev/null
exec 9>&-
cmp "$work/before" "$HOME/.dbacl/spam" || fail "a killed learner changed the category"

: >"$work/learned"
# Verdicts are valid at every moment while the category is replaced again and again.
(while [ ! -e "$work/enough" ]; do
  learn ~/.dbacl/spam "$HOME/mail/spam" || exit 1
  echo >>"$work/learned"
done) &
learner=$!
asked=0
while [ $asked -lt 10 ] || [ "$(wc -l <"$work/learned")" -lt 10 ]; do
  kill -0 $learner 2>/dev/null || fail "learning in a loop failed"
  said=$(verdict 2>&1)
  [ "$said" = spam ] || fail "a verdict failed while the category was replaced: $said"
  asked=$((asked + 1))
done
: >"$work/enough"
wait $learner || fail "learning in a loop failed"
[ -z "$(find "$HOME/.dbacl" -name '*.tmp.*')" ] || fail "temporary files are left"

# Failures: non-zero, one line, the old category stays.
cp "$HOME/.dbacl/spam" "$work/before"
expect_failure() {  # STATUS COMMAND...
  expected=$1; shift
  "$@" >"$work/out" 2>"$work/err"; status=$?
  [ $status = "$expected" ] || fail "status $status instead of $expected: $*"
  [ -s "$work/err" ] || fail "no message: $*"
  cmp "$work/before" "$HOME/.dbacl/spam" || fail "the category changed: $*"
}
expect_failure 66 learn ~/.dbacl/spam "$HOME/mail/missing"
: >"$HOME/mail/empty"
expect_failure 65 learn ~/.dbacl/spam "$HOME/mail/empty"
expect_failure 73 learn "$HOME/nowhere/spam" "$HOME/mail/spam"
expect_failure 74 sh -c 'ulimit -f 20; dbacl --strict -T email -H 20 -l ~/.dbacl/spam ~/mail/spam'
mv "$HOME/mail/private" "$HOME/mail/elsewhere"
expect_failure 1 learn-mail private work spam
dbacl -T email -l ~/.dbacl/spam "$HOME/mail/missing" 2>/dev/null && fail "success without input"
echo PASSED
