#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Debian's Postfix and Dovecot with users of the system, and the page's configuration: what Dovecot's
# alice moves to Junk is learned for Postfix's alice@example.net.
OWN_VIEW=1
. "$(dirname "$0")/lib.sh"
for program in dovecot sievec doveadm; do command -v $program >/dev/null || skip "$program is not installed"; done
unpacked dovecot-lmtpd
lmtpd=$package/usr/lib/dovecot/lmtp
unpacked dovecot-imapd
accounts alice bob dbacl
# Each user has a home of their own.
sed -E "s,^(alice|bob):(.*):$work/mail:,\1:\2:$work/home/\1:," "$work/passwd" >"$work/passwd.new"
cat "$work/passwd.new" >"$work/passwd"
filter "$work/var/lib/dbacl/default"
chown -R dbacl:dbacl "$work/var/lib/dbacl" "$work/run/dbacl"
recipe configuration toml | sed 's/:[0-9]*"/:0"/g' >"$work/etc/dbacl/server.toml"
grep -q '^users = "local"' "$work/etc/dbacl/server.toml" || fail 'the configuration says nothing of users'
serve --config "$work/etc/dbacl/server.toml"

# Dovecot: LMTP for Postfix, IMAP for alice, and the recipe by which moves teach.
imap=$(port)
lmtp=$(port)
mkdir -p "$work/etc/dovecot" "$work/run/dovecot" "$work/out"
cat >"$work/etc/dovecot/dovecot.conf" <<END2
$(dovecot_basis 'imap lmtp' | sed '/^userdb/,$d')
userdb {
  driver = passwd
}
auth_username_format = %Ln
$(dovecot_imap "$imap")
service lmtp {
  inet_listener lmtp {
    port = $lmtp
  }
  executable = $lmtpd
}
protocol lmtp {
  mail_plugins = sieve
}
plugin {
  sieve = file:~/.dovecot.sieve
}
postmaster_address = postmaster@example.net
!include_try conf.d/*.conf
END2
DOVECOT="$work/etc/dovecot" PROGRAMS="$work/lib/sieve" CONFIG="$work/etc/dbacl/server.toml" \
  "$root/integrations/dovecot/install" >"$work/install.log" 2>&1 || fail "install: $(cat "$work/install.log")"
for user in alice bob; do
  mkdir -p "$work/home/$user"
  cat >"$work/home/$user/.dovecot.sieve" <<'END2'
require ["fileinto", "mailbox"];
if header :matches "X-DBACL" "spam*" { fileinto :create "Junk"; }
END2
  chown -R $user:$user "$work/home/$user"
done
chmod -R a+rX "$work/lib" "$work/etc"
dovecot -F -c "$work/etc/dovecot/dovecot.conf" &
children="$children $!"

# Postfix, which asks the milter and gives the mail of users of the system to Dovecot.
postfix_unpacked
postconf -c "$etc" -e mydestination=example.net virtual_mailbox_domains= virtual_mailbox_maps= \
  local_recipient_maps= "mailbox_transport=lmtp:inet:127.0.0.1:$lmtp"
recipe postfix | sed "s/8893/$(served milter)/" >"$work/recipe.sh"
. "$work/recipe.sh"
postfix_begins

newsletter() {  # MARK
  printf 'From: list@zebra.example\nTo: me@example.net\nSubject: zebra weekly %s\n\nthe zebra herd of the savanna %s grazes beside the giraffes\nrangers of the reserve count stripes, hooves and manes\n' "$1" "$1"
}
# sent USER FILE...: all over one connection.
sent() {
  perl -MIO::Socket::INET -e '
    my ($port, $to) = (shift, shift);
    my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $port, Timeout => 20) or exit 1;
    sub answer { while (my $line = <$s>) { return $line if $line =~ /^\d\d\d / } exit 1 }
    sub command { print $s "$_[0]\r\n"; answer() }
    answer();
    command("EHLO client");
    for my $file (@ARGV) {
      command("MAIL FROM:<a\@example.org>") =~ /^250/ or exit 2;
      command("RCPT TO:<$to>") =~ /^250/ or exit 3;
      command("DATA") =~ /^354/ or exit 4;
      open my $mail, "<", $file or exit 5;
      while (<$mail>) { chomp; print $s "$_\r\n" }
      command(".") =~ /^250/ or exit 6;
    }' "$smtp" "$1@example.net" $2
}
# has USER FOLDER NUMBER: so many messages are in this folder.
has() {
  [ "$(find "$work/home/$1/Maildir/$2new" "$work/home/$1/Maildir/$2cur" -type f 2>/dev/null | wc -l)" = "$3" ]
}
number=0
while [ $number -lt 142 ]; do
  number=$((number + 1))
  for kind in ham spam; do message $kind "marker $(word $number)" >"$work/out/$kind.$number"; done
  [ $number -gt 17 ] || newsletter "$(word $number)" >"$work/out/list.$number"
done
rm "$work/out/spam.142"
mv "$work/out/list.17" "$work/out/last"
wait_for 60 smtp_send "$smtp" "$work/out/ham.1" alice@example.net || fail 'Postfix takes no mail'
wait_for 60 has alice '' 1 || fail 'no mail is delivered'
rm "$work/out/ham.1"
imap_client "$imap" x 'SELECT INBOX' 'STORE 1:* +FLAGS (\Deleted)' EXPUNGE 'CREATE Junk' >"$work/imap.log" ||
  fail "IMAP: $(cat "$work/imap.log")"
sent alice "$work/out/list.*" || fail "Postfix takes no newsletters: $?"
wait_for 60 has alice '' 16 || fail 'the newsletters are not in the inbox'
set --
while [ $# -lt 16 ]; do set -- "$@" 'MOVE 1 Junk'; done
imap_client "$imap" x 'SELECT INBOX' "$@" >"$work/imap.log" || fail "the moves: $(cat "$work/imap.log")"
caught_up
[ "$(grep -c 'event=learned wire=spamc user=alice as=spam .*outcome=learned' "$work/server.log")" = 16 ] ||
  fail "lessons: $(grep event=learned "$work/server.log")"
lacks "$work/server.log" event=never-asked
# The other 283 messages, and the seventeenth newsletter among them.
sent alice "$work/out/ham.* $work/out/last $work/out/spam.*" || fail "Postfix takes no mail: $?"
wait_for 60 has alice '' 141 || fail "in the inbox: $(ls "$work/home/alice/Maildir/new" | wc -l)"
wait_for 60 has alice .Junk/ 158 || fail "in Junk: $(ls "$work/home/alice/Maildir/.Junk/new" | wc -l)"
grep -rlq "zebra weekly $(word 17)" "$work/home/alice/Maildir/.Junk" || fail 'the seventeenth is not in Junk'
holds "$work/server.log" 'user=<alice@example.net> .*verdict="spam'
# Nothing has changed for bob.
sent bob "$work/out/last" || fail 'Postfix takes no mail for bob'
wait_for 60 has bob '' 1 || fail "bob's newsletter is not in the inbox"
dbacl-server --config "$work/etc/dbacl/server.toml" --check >"$work/check" || fail '--check fails'
holds "$work/check" 'filters of users: 1'
lacks "$work/check" 'never asked'
echo PASSED
