#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Debian's OpenSMTPD with the recipe: smtpd starts the filter, and mail over SMTP gets its verdict.
OWN_VIEW=1
. "$(dirname "$0")/lib.sh"
filter "$work/var/lib/dbacl/default"
filter "$work/var/lib/dbacl/tester@example.net"
chmod -R a+rX "$work/var"
smtpd_unpacked
program=$(command -v dbacl-server)
cat >"$work/smtpd.conf" <<END2
$(recipe opensmtpd opensmtpd | sed -e "s|/usr/local/bin/dbacl-server|$program --config $work/etc/dbacl/server.toml|" -e "s|listen on lo |listen on 127.0.0.1 port $port |")
action "local" maildir "$work/mail/box"
match from any for domain "example.net" action "local"
END2
cat >"$work/etc/dbacl/server.toml" <<END2
default = "$work/var/lib/dbacl/default"
models = "$work/var/lib/dbacl/{user}"
headers = ["dbacl", "spamassassin"]
reasons = true
END2
grep -q 'filter dbacl proc-exec' "$work/smtpd.conf" || fail 'docs/server.md has no recipe opensmtpd'
smtpd_begins
for kind in ham spam; do delivered_by_smtpd $kind; done
holds "$work/smtpd.log" 'wire=opensmtpd user=tester@example.net '
rm -r "$work/var/lib/dbacl/tester@example.net" "$work/var/lib/dbacl/default"
message spam marker-filter >"$work/mail.txt"
smtp_send "$port" "$work/mail.txt" tester@example.net || fail 'smtpd takes no mail without the filter'
wait_for 30 in_the_box marker-filter || fail 'mail is lost without the filter'
holds "$(in_the_box marker-filter)" '^X-DBACL: error'
echo PASSED
