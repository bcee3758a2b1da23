#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Debian's Cyrus IMAP.
OWN_VIEW=1
. "$(dirname "$0")/lib.sh"
unpacked cyrus-imapd
accounts cyrus
programs=$package/usr/lib/cyrus/bin
mkdir -p "$work/lib/socket" "$work/spool" "$work/run" "$work/sieve"
port=$(port)
junk=Junk trash=Trash archive=Archive
cat >"$work/imapd.conf" <<END2
configdirectory: $work/lib
defaultpartition: default
partition-default: $work/spool
sievedir: $work/sieve
proc_path: $work/run/proc
lmtpsocket: $work/run/lmtp
idlesocket: $work/run/idle
notifysocket: $work/run/notify
cyrus_user: cyrus
altnamespace: yes
unixhierarchysep: no
allowplaintext: yes
sasl_mech_list: PLAIN
sasl_pwcheck_method: saslauthd
sasl_saslauthd_path: $work/run/mux
autocreate_quota: 0
autocreate_inbox_folders: Junk | Trash | Archive
xlist-junk: Junk
xlist-trash: Trash
END2
cat >"$work/cyrus.conf" <<END2
START {
  recover cmd="$programs/ctl_cyrusdb -C $work/imapd.conf -r"
  idled cmd="$programs/idled -C $work/imapd.conf"
}
SERVICES {
  imap cmd="$programs/imapd -C $work/imapd.conf" listen="127.0.0.1:$port" prefork=0
}
EVENTS {
}
END2
# A stand-in for saslauthd, which says whether a password is right.
perl -MIO::Socket::UNIX -e '
  my $door = IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 20) or die;
  chmod 0777, $ARGV[0];
  while (my $client = $door->accept) {
    my @fields;
    for (1 .. 4) { read $client, my $length, 2; read $client, my $field, unpack("n", $length); push @fields, $field }
    my $answer = $fields[1] eq "secret" ? "OK" : "NO";
    print $client pack("n", length $answer), $answer;
    close $client;
  }' "$work/run/mux" 2>"$work/mux.log" &
children="$children $!"
chown -R cyrus:cyrus "$work/lib" "$work/spool" "$work/run" "$work/sieve"
LD_LIBRARY_PATH=$libraries "$programs/master" -C "$work/imapd.conf" -M "$work/cyrus.conf" -p "$work/run/master.pid" \
  -L "$work/run/cyrus.out" >"$work/cyrus.log" 2>&1 &
children="$children $!"
wait_for 60 imap NOOP
children="$children $(pgrep -f "idled -C $work/imapd.conf")"
imap NOOP || fail "Cyrus does not begin: $(cat "$work/imap.log")"
rules_hold
echo PASSED
