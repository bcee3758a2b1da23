#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Debian's spamass-milter, which asks spamc, as Debian's miltertest sees it.
OWN_VIEW=1
. "$(dirname "$0")/lib.sh"
unpacked spamass-milter
filter "$work/var/lib/dbacl/default"
serve_spamassassin
# It looks for spamc in a fixed folder.
mkdir -p "$work/over" "$work/new"
own_libraries
if [ ! -x /usr/bin/spamc ]; then
  mount -t tmpfs none "$work/over" && mkdir "$work/over/up" "$work/over/work" "$work/over/all" &&
    cp -a "$package/usr/bin/spamc" "$work/over/up/" &&
    mount -t overlay -o "lowerdir=/usr/bin,upperdir=$work/over/up,workdir=$work/over/work" none /usr/bin || skip 'no file system can be laid over another'
fi
socket=$work/run/milter
"$package/usr/sbin/spamass-milter" -p "$socket" -- -U "$work/run/dbacl/spamc" -F /dev/null >"$work/milter.log" 2>&1 &
children="$children $!"
mounted=$work/over
wait_for 20 test -S "$socket" || fail 'spamass-milter does not begin'
unpacked miltertest
miltertest_script <<'END2'
texts = {
  spam = "click here, cheap pills, win\r\nbest price without prescription, order today and save money\r\n" ..
    "exclusive discount on luxury watches, no credit check, unsubscribe below, free delivery worldwide\r\n",
  ham = "please send the budget report before the meeting\r\nthe minutes of last week and the agenda for friday\r\n",
}
conn = mt.connect("unix:" .. socket)
check("a connection", conn ~= nil, true)
mt.conninfo(conn, "client.example.org", "192.0.2.1")
mt.helo(conn, "client.example.org")
mt.mailfrom(conn, "<a@example.org>")
mt.rcptto(conn, "<me@example.net>")
mt.header(conn, "From", "a@example.biz")
mt.header(conn, "Subject", kind == "spam" and "limited offer" or "meeting")
mt.eoh(conn)
mt.bodystring(conn, texts[kind])
mt.eom(conn)
check("flag", mt.eom_check(conn, MT_HDRADD, "X-Spam-Flag") or mt.eom_check(conn, MT_HDRINSERT, "X-Spam-Flag"), kind == "spam")
check("status", mt.eom_check(conn, MT_HDRADD, "X-Spam-Status") or mt.eom_check(conn, MT_HDRINSERT, "X-Spam-Status"), is_served == "yes")
mt.disconnect(conn)
END2
look() { miltertest "$1" "kind=$1" "is_served=$2"; }
look spam yes
look ham yes
holds "$work/server.log" 'event=classified wire=spamc .*verdict="spam '
echo PASSED
