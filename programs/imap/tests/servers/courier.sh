#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Debian's Courier IMAP, which has neither MOVE nor CONDSTORE, and keeps all folders below the inbox.
OWN_VIEW=1
. "$(dirname "$0")/lib.sh"
unpacked courier-imap
libraries=$libraries:$package/usr/lib/${machine:-none}/courier-authlib:/usr/lib/${machine:-none}/courier-authlib
# Courier looks for the socket of the password server in a fixed folder.
mount -t tmpfs none /run
mkdir -p /run/courier/authdaemon "$work/mail"
port=$(port)
junk=INBOX.Junk trash=INBOX.Trash archive=INBOX.Archive
chown mail:mail "$work/mail"
as_mail() { setpriv --reuid mail --regid mail --clear-groups env LD_LIBRARY_PATH="$libraries" "$@"; }
as_mail "$package/usr/bin/maildirmake.courier" "$work/mail/Maildir" || fail 'no folder can be made'
for name in Junk Trash Archive; do
  as_mail "$package/usr/bin/maildirmake.courier" -f $name "$work/mail/Maildir" || fail 'no folder can be made'
done
# A stand-in for authdaemond, which says whether a password is right.
perl -MIO::Socket::UNIX -e '
  my ($path, $home, $uid, $gid) = @ARGV;
  my $door = IO::Socket::UNIX->new(Local => $path, Listen => 20) or die;
  chmod 0777, $path;
  while (my $client = $door->accept) {
    while (my $line = <$client>) {
      next unless $line =~ /^AUTH (\d+)/;
      read $client, my $data, $1;
      my (undef, undef, $user, $password) = split /\n/, $data;
      print $client $user eq "alice" && $password eq "secret"
        ? "UID=$uid\nGID=$gid\nADDRESS=alice\nHOME=$home\nMAILDIR=$home/Maildir\nOPTIONS=\n.\n" : "FAIL\n";
      last;
    }
    close $client;
  }' /run/courier/authdaemon/socket "$work/mail" "$(id -u mail)" "$(id -g mail)" 2>"$work/auth.log" &
children="$children $!"
set -a
. "$package/etc/courier/imapd"
set +a
export IMAP_STARTTLS=NO IMAP_TLS_REQUIRED=0
# IDLE and locks need a daemon that watches files, and wait seconds for it when there is none; so
# they are off, and clients have to ask for news.
export IMAP_USELOCKS=0
asks=1
IMAP_CAPABILITY=$(echo "$IMAP_CAPABILITY" | sed 's/ IDLE//')
export IMAP_CAPABILITY PROTOCOL=IMAP
LD_LIBRARY_PATH=$libraries "$package/usr/sbin/couriertcpd" -address=127.0.0.1 -maxprocs=40 -maxperip=40 -nodnslookup \
  -noidentlookup "-stderr=$work/courier.log" "$port" "$package/usr/lib/courier/courier/imaplogin" \
  "$package/usr/bin/imapd" Maildir &
children="$children $!"
wait_for 60 imap NOOP || fail "Courier does not begin: $(cat "$work/imap.log")"
rules_hold
echo PASSED
