#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The first steps of docs/server.md, to the letter: with the folders and ports that stand there, on a
# machine whose accounts, folders and network nobody else sees.
OWN_VIEW=1
. "$(dirname "$0")/lib.sh"
for program in useradd curl ip; do command -v $program >/dev/null || skip "$program is not installed"; done
if [ "${IN_OWN_NET:-}" != 1 ]; then
  unshare -n true 2>/dev/null || skip 'a network of its own is not allowed here'
  cd / && rm -rf "$work"
  IN_OWN_NET=1 exec unshare -n sh "$here/begin.sh"
fi
ip link set lo up || skip 'the network cannot be begun'
cp -a /etc "$work/machine"
mount --bind "$work/machine" /etc
mount -t tmpfs none /var/lib
mount -t tmpfs none /run
userdel dbacl 2>/dev/null
mailbox ham >good.mbox
mailbox spam >spam.mbox
message spam new >message
# as_written NAME LANGUAGE: a recipe, with the folders that it names.
as_written() { recipe "$@" | sed "s|$work/|/|g"; }
as_written begin >"$work/begin.sh"
grep -q useradd "$work/begin.sh" || fail 'docs/server.md has no recipe begin'
sh -e "$work/begin.sh" >"$work/begin.log" 2>&1 || fail "the first step: $(cat "$work/begin.log")"
as_written configuration toml >/etc/dbacl/server.toml
as_written start >"$work/start.sh"
sh -e "$work/start.sh" 2>"$work/server.log" &
server=$!
wait_for 30 test -S /run/dbacl/spamc || fail 'the server does not begin'
wait_for 30 grep -q 'event=listens wire=metrics' "$work/server.log" || fail 'the server does not begin'
process=$(pgrep -P "$server" dbacl-server)
children=$process
as_written try >"$work/try.sh"
sh "$work/try.sh" >"$work/got" 2>"$work/try.log" || fail "curl: $(cat "$work/try.log")"
holds "$work/got" '"X-DBACL":"spam '
curl -s http://127.0.0.1:9783/metrics >"$work/got" || fail 'no measures'
holds "$work/got" 'dbacl_mails_total{wire="rspamd",verdict="spam"} 1'
lacks "$work/server.log" 'runs-as-root'
# The server runs as another user now, who owns the filters and may change them.
[ "$(stat -c %U "/proc/$process")" = dbacl ] || fail 'the server has not become the user dbacl'
dbacl-server --teach spam <message 2>"$work/teach.log"
[ $? = 77 ] || fail "the default filter is taught: $(cat "$work/teach.log")"
holds "$work/teach.log" 'learn-default is off'
dbacl-server --teach spam --user bob <message 2>"$work/teach.log" || fail "--teach: $(cat "$work/teach.log")"
[ "$(stat -c %U /var/lib/dbacl/bob)" = dbacl ] || fail 'the first lesson begins no filter'
# A user with a filter of their own.
dbacl --mail-learn /var/lib/dbacl/alice ham=spam.mbox spam=good.mbox >"$work/learn.log" 2>&1
chown -R dbacl:dbacl /var/lib/dbacl/alice
curl -s -H 'User: alice' --data-binary @message http://127.0.0.1:11333/checkv2 >"$work/got"
holds "$work/got" '"X-DBACL":"ham '
kill -TERM "$process"
wait "$server" || fail "the server ends with $?"
[ ! -e /run/dbacl/spamc ] || fail 'the socket is left behind'
echo PASSED
