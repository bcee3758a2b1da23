#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Debian's Dovecot: moves between folders teach the server, and nothing else does.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip 'Dovecot begins as root'
for program in dovecot sievec doveadm; do command -v $program >/dev/null || skip "$program is not installed"; done
unpacked dovecot-imapd
filter "$work/var/lib/dbacl/alice"
mkdir -p "$work/mail" "$work/etc/dovecot" "$work/run/dovecot"
cat >"$work/etc/dbacl/server.toml" <<END2
models = "$work/var/lib/dbacl/{user}"
default = "$work/var/lib/dbacl/none"
teachers = ["mail"]
[listen]
spamc = "$work/run/dbacl/spamc"
mode = "666"
END2
chmod -R a+rX "$work"
serve --config "$work/etc/dbacl/server.toml"
imap=$(port)
cat >"$work/etc/dovecot/dovecot.conf" <<END2
$(dovecot_basis imap)
$(dovecot_imap "$imap")
protocol lda {
  mail_plugins = sieve
}
plugin {
  sieve = file:~/.dovecot.sieve
}
postmaster_address = postmaster@example.net
!include_try conf.d/*.conf
END2
# A copy of the configuration, to compare with when the recipe has been undone.
doveconf -c "$work/etc/dovecot/dovecot.conf" -n >"$work/before" 2>/dev/null || fail 'the configuration is wrong'
recipe imapsieve | grep -q '^integrations/dovecot/install$' || fail 'docs/server.md has no recipe imapsieve'
learning() {
  DOVECOT="$work/etc/dovecot" PROGRAMS="$work/lib/sieve" CONFIG="$work/etc/dbacl/server.toml" \
    "$root/integrations/dovecot/install" "$@" >"$work/install.log" 2>&1 || fail "install $*: $(cat "$work/install.log")"
}
learning
mkdir -p "$work/mail/alice"
cat >"$work/mail/alice/.dovecot.sieve" <<'END2'
require ["fileinto", "mailbox"];
if header :contains "Subject" "by rule" { fileinto :create "Junk"; }
END2
chown -R mail:mail "$work/mail"
chmod -R a+rX "$work/lib" "$work/etc"
dovecot -F -c "$work/etc/dovecot/dovecot.conf" &
children="$children $!"
dovecot=$!

imap() { imap_client "$imap" x "$@"; }
wait_for 20 imap NOOP || fail 'Dovecot does not begin'
imap 'CREATE Junk' 'CREATE Trash' 'CREATE Archive' >"$work/imap.log" || fail "folders: $(cat "$work/imap.log")"
count() { caught_up; grep -c "event=learned" "$work/server.log"; }
# does WHAT LESSONS COMMAND...: these commands give so many more lessons, within two seconds.
does() {
  what=$1 more=$2 had=$(count)
  shift 2
  imap "$@" >"$work/imap.log" || fail "$what: $(cat "$work/imap.log")"
  [ "$(count)" = $((had + more)) ] || fail "$what: $(($(count) - had)) lessons and not $more"
}
last() { caught_up; grep 'event=learned' "$work/server.log" | tail -n 1 | grep -q -- "$1" || fail "the last lesson is not: $1"; }
for number in 1 2 3 4; do
  message ham "mail $(word $number)" >"$work/$number"
  does 'mail is added' 0 "APPENDMAIL INBOX $work/$number"
done
does 'INBOX to Junk' 1 'SELECT INBOX' 'MOVE 1 Junk'
last 'user=alice as=spam .*outcome=learned'
does 'Junk to Trash' 0 'SELECT Junk' 'MOVE 1 Trash'
does 'INBOX to Trash' 0 'SELECT INBOX' 'MOVE 1 Trash'
does 'INBOX to Archive' 0 'SELECT INBOX' 'MOVE 1 Archive'
does 'Trash to INBOX' 0 'SELECT Trash' 'MOVE 2 INBOX'
does 'INBOX to Junk, by a client without MOVE' 1 'SELECT INBOX' 'COPY 1 Junk' 'STORE 1 +FLAGS (\Deleted)' EXPUNGE
last 'as=spam .*outcome=learned'
does 'Junk to INBOX' 1 'SELECT Junk' 'MOVE 1 INBOX'
last 'as=ham .*outcome="moved from spam"'
does 'the same again' 2 'SELECT INBOX' 'COPY 1:* Archive' 'SELECT Archive' 'MOVE 1:2 Junk'
does 'Junk is emptied' 0 'SELECT Junk' 'STORE 1:* +FLAGS (\Deleted)' EXPUNGE
does 'flags change' 0 'SELECT INBOX' 'STORE 1:* +FLAGS (\Flagged $Junk)'
# Mail that a rule files teaches nothing.
had=$(count)
{ printf 'Subject: by rule\n\ntext\n'; } | doveadm -c "$work/etc/dovecot/dovecot.conf" exec dovecot-lda -d alice >"$work/lda.log" 2>&1 ||
  /usr/lib/dovecot/dovecot-lda -c "$work/etc/dovecot/dovecot.conf" -d alice <"$work/1" >"$work/lda.log" 2>&1
[ "$(count)" = "$had" ] || fail 'a rule gives a lesson'
# Many mails are moved at a time.
number=0
while [ $number -lt 30 ]; do
  number=$((number + 1))
  message spam "burst $(word $number)" >"$work/burst"
  set -- "$@" "APPENDMAIL INBOX $work/burst.$number"
  cp "$work/burst" "$work/burst.$number"
done
imap 'SELECT INBOX' 'STORE 1:* +FLAGS (\Deleted)' EXPUNGE "$@" >"$work/imap.log" || fail 'mail cannot be added'
does 'thirty at a time' 30 'SELECT INBOX' 'MOVE 1:* Junk'
# Without the server, mail is moved all the same.
kill "$server"
wait "$server"
imap 'SELECT Junk' 'MOVE 1 INBOX' >"$work/imap.log" || fail "without the server: $(cat "$work/imap.log")"
imap 'STATUS INBOX (MESSAGES)' >"$work/imap.log"
holds "$work/imap.log" 'MESSAGES 1)'
# When the recipe is undone, the configuration is what it was before.
learning --undo
doveconf -c "$work/etc/dovecot/dovecot.conf" -n >"$work/after" 2>/dev/null
cmp "$work/before" "$work/after" || fail 'something is left in the configuration'
[ ! -e "$work/lib/sieve" ] || fail 'something is left of the scripts'
kill "$dovecot"
echo PASSED
