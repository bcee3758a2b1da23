#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Debian's miltertest: what a mail server is asked to change.
. "$(dirname "$0")/lib.sh"
unpacked miltertest
filter "$work/var/lib/dbacl/default"
socket=$work/run/dbacl/milter
configure() {
  cat >"$work/etc/dbacl/server.toml" <<END2
default = "$work/var/lib/dbacl/default"
models = "$work/var/lib/dbacl/{user}"
headers = ["dbacl", "spamassassin"]
reasons = true
$1
[listen]
milter = "$socket"
END2
  serve --config "$work/etc/dbacl/server.toml"
}
stop() {
  kill "$server"
  wait "$server" || fail "the server ends with $?"
  children=
}
miltertest_script <<'END2'
-- Shows the milter a mail; leaves what it answers in the connection.
function show(subject, text)
  conn = mt.connect("unix:" .. socket)
  check("a connection", conn ~= nil, true)
  mt.mailfrom(conn, "<a@example.org>")
  mt.rcptto(conn, "<me@example.net>")
  mt.header(conn, "Subject", subject)
  mt.header(conn, "X-DBACL", "ham 100.00%")
  mt.header(conn, "X-Spam-Flag", "NO")
  mt.header(conn, "x-dbacl", "forged")
  mt.eoh(conn)
  mt.bodystring(conn, text)
  mt.eom(conn)
end
spam = "click here, cheap pills, win\r\nbest price without prescription, order today and save money\r\n"
ham = "please send the budget report before the meeting\r\nthe minutes of last week and the agenda for friday\r\n"
if wanted == "mark" then
  show("limited offer", spam)
  check("spam", mt.getreply(conn), SMFIR_CONTINUE)
  check("X-DBACL", mt.eom_check(conn, MT_HDRINSERT, "X-DBACL"), true)
  check("X-Spam-Flag", mt.eom_check(conn, MT_HDRINSERT, "X-Spam-Flag", " YES"), true)
  check("X-DBACL-Reasons", mt.eom_check(conn, MT_HDRINSERT, "X-DBACL-Reasons"), true)
  check("the second forged line", mt.eom_check(conn, MT_HDRDELETE, "X-DBACL", 2), true)
  check("the first forged line", mt.eom_check(conn, MT_HDRDELETE, "X-DBACL", 1), true)
  check("the forged flag", mt.eom_check(conn, MT_HDRDELETE, "X-Spam-Flag", 1), true)
  check("quarantine", mt.eom_check(conn, MT_QUARANTINE), false)
  mt.disconnect(conn)
  show("meeting", ham)
  check("ham", mt.getreply(conn), SMFIR_CONTINUE)
  check("X-DBACL", mt.eom_check(conn, MT_HDRINSERT, "X-DBACL"), true)
  check("X-Spam-Flag", mt.eom_check(conn, MT_HDRINSERT, "X-Spam-Flag"), false)
elseif wanted == "reject" then
  show("limited offer", spam)
  check("spam", mt.getreply(conn), SMFIR_REPLYCODE)
  mt.disconnect(conn)
  show("meeting", ham)
  check("ham", mt.getreply(conn), SMFIR_CONTINUE)
elseif wanted == "quarantine" then
  show("limited offer", spam)
  check("spam", mt.getreply(conn), SMFIR_CONTINUE)
  check("quarantine", mt.eom_check(conn, MT_QUARANTINE), true)
  mt.disconnect(conn)
  show("meeting", ham)
  check("quarantine", mt.eom_check(conn, MT_QUARANTINE), false)
elseif wanted == "error" then
  show("limited offer", spam)
  check("without a filter", mt.getreply(conn), SMFIR_CONTINUE)
  check("X-DBACL", mt.eom_check(conn, MT_HDRINSERT, "X-DBACL"), true)
  check("X-Spam-Flag", mt.eom_check(conn, MT_HDRINSERT, "X-Spam-Flag"), false)
end
mt.disconnect(conn)
END2
look() { miltertest "$1" "wanted=$1"; }
configure ''
look mark
mv "$work/var/lib/dbacl/default" "$work/aside"
look error
mv "$work/aside" "$work/var/lib/dbacl/default"
stop
configure '[milter]
reject-above = 90'
look reject
stop
configure '[milter]
quarantine-above = 90'
look quarantine
stop
echo PASSED
