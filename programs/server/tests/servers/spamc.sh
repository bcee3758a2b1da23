#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Debian's spamc: every command, fail-open, and the verdicts of `dbacl --mail-filter`.
. "$(dirname "$0")/lib.sh"
unpacked spamc
filter "$work/var/lib/dbacl/default"
filter "$work/var/lib/dbacl/alice"
serve --default "$work/var/lib/dbacl/default" --models "$work/var/lib/dbacl/{user}" \
  --spamc "$work/run/dbacl/spamc" --spamc 127.0.0.1:0
port=$(served spamc)
spamc() { packaged usr/bin/spamc -U "$work/run/dbacl/spamc" -F /dev/null "$@"; }

[ "$(spamc -K)" = 'SPAMD/1.5 0' ] || fail 'PING is not answered'
for kind in ham spam; do
  message $kind new >"$work/$kind"
  dbacl --mail-filter "$work/var/lib/dbacl/default" <"$work/$kind" >"$work/wanted"
  # PROCESS
  spamc <"$work/$kind" >"$work/got" || fail "PROCESS: status $?"
  cmp "$work/wanted" "$work/got" || fail "PROCESS of $kind differs from dbacl --mail-filter"
  packaged usr/bin/spamc -d 127.0.0.1 -p "$port" -F /dev/null -u alice <"$work/$kind" >"$work/got"
  cmp "$work/wanted" "$work/got" || fail "PROCESS of $kind over a port differs"
  # HEADERS
  spamc --headers <"$work/$kind" >"$work/got" || fail "HEADERS: status $?"
  cmp "$work/wanted" "$work/got" || fail "HEADERS of $kind differs"
done
# The page's command.
cp "$work/spam" ~/message
recipe spamc >"$work/recipe.sh"
grep -q 'spamc -U' "$work/recipe.sh" || fail 'docs/server.md has no recipe spamc'
. "$work/recipe.sh" >"$work/got" || fail "the recipe spamc: status $?"
dbacl --mail-filter "$work/var/lib/dbacl/default" <"$work/spam" | cmp - "$work/got" || fail 'the recipe spamc differs'
# CHECK
spamc -c <"$work/spam" >"$work/got"
[ $? = 1 ] || fail 'CHECK does not call spam by its status'
grep -Eq '^[0-9.]+/5.0$' "$work/got" || fail "CHECK prints $(cat "$work/got")"
spamc -c <"$work/ham" >"$work/got" || fail 'CHECK calls ham spam'
grep -Eq '^-?[0-9.]+/5.0$' "$work/got" || fail "CHECK prints $(cat "$work/got")"
# SYMBOLS, REPORT, REPORT_IFSPAM
[ "$(spamc -y <"$work/spam" | tail -n 1 | tr -d '\r')" = DBACL_SPAM ] || fail "SYMBOLS: $(spamc -y <"$work/spam")"
spamc -R <"$work/ham" >"$work/got"
holds "$work/got" 'says of this mail: ham '
spamc -r <"$work/spam" >"$work/got"
holds "$work/got" 'says of this mail: spam '
spamc -r <"$work/ham" >"$work/got"
lacks "$work/got" 'says of this mail'

# Without its filter, mail comes through: the header and the log say so, and CHECK has no verdict.
mv "$work/var/lib/dbacl/alice/table" "$work/aside.table"
echo damaged >"$work/var/lib/dbacl/alice/table"
spamc -u alice <"$work/spam" >"$work/got" || fail "without a filter: status $?"
holds "$work/got" '^X-DBACL: error$'
sed 1d "$work/got" | cmp - "$work/spam" || fail 'without a filter the mail is changed'
[ "$(spamc -u alice -c <"$work/spam")" = 0/0 ] || fail 'CHECK without a filter has a verdict'
holds "$work/server.log" 'level=error event=classified wire=spamc user=alice '
mv "$work/aside.table" "$work/var/lib/dbacl/alice/table"
spamc -u alice <"$work/spam" >"$work/got"
holds "$work/got" '^X-DBACL: spam '

# A correction by another program counts from the next mail on.
for number in 1 2 3 4 5 6 7 8; do
  message spam "corrected $number" | dbacl --mail-correct "$work/var/lib/dbacl/alice" ham || fail 'a correction fails'
done
dbacl --mail-filter "$work/var/lib/dbacl/alice" <"$work/spam" >"$work/wanted"
spamc -u alice <"$work/spam" >"$work/got"
cmp "$work/wanted" "$work/got" || fail 'a correction is not taken up'
lacks "$work/got" 'spam 99'

# TELL: over the socket, and not over the port.
message spam 'learned by spamc' >"$work/lesson"
spamc -u alice -L ham <"$work/lesson" | grep -q 'Message successfully un/learned' || fail 'TELL does not learn'
holds "$work/server.log" 'event=learned wire=spamc user=alice as=ham .*outcome=learned'
spamc -u alice -L ham <"$work/lesson" | grep -q 'already un/learned' || fail 'TELL learns twice'
spamc -u alice -L spam <"$work/lesson" | grep -q 'successfully' || fail 'TELL does not correct'
holds "$work/server.log" 'outcome="moved from ham"'
spamc -u alice -L forget <"$work/lesson" | grep -q 'successfully' || fail 'TELL does not forget'
holds "$work/server.log" 'outcome="forgotten from spam"'
packaged usr/bin/spamc -d 127.0.0.1 -p "$port" -F /dev/null -u alice -L spam <"$work/lesson" >"$work/got" 2>&1
status=$?
[ $status = 74 ] || fail "a refused lesson ends with $status: $(cat "$work/got")"
lacks "$work/got" un/learned
holds "$work/server.log" 'event=refused wire=spamc user=alice as=spam .*error="learning is not allowed here"'
spamc -u alice -C report <"$work/lesson" >"$work/got" || fail "a report ends with $?"
holds "$work/got" 'successfully reported'
holds "$work/server.log" 'user=alice as=spam .*outcome=learned'
spamc -u alice -C revoke <"$work/lesson" >"$work/got" || fail "what is taken back ends with $?"
holds "$work/got" 'successfully'
holds "$work/server.log" 'user=alice as=ham .*outcome="moved from spam"'
spamc -u alice -L forget <"$work/lesson" | grep -q 'successfully' || fail 'a report cannot be forgotten'
# The same by our own client.
dbacl-server --models "$work/var/lib/dbacl/{user}" --spamc "$work/run/dbacl/spamc" --teach spam --user alice <"$work/lesson" ||
  fail '--teach fails'
holds "$work/server.log" 'as=spam .*outcome=learned'

# When the server is stopped, its socket is removed, and mail comes through unchanged.
kill -TERM "$server"
wait "$server" || fail "the server ends with $?"
children=
[ ! -e "$work/run/dbacl/spamc" ] || fail 'the socket is left'
spamc <"$work/spam" 2>/dev/null | cmp - "$work/spam" || fail 'without a server the mail is changed'
dbacl-server --spamc "$work/run/dbacl/spamc" --teach spam <"$work/lesson" 2>"$work/got"
[ $? = 75 ] || fail '--teach without a server: not "try later"'
echo PASSED
