#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Debian's OpenSMTPD with its filter for rspamd, which asks the server over HTTP.
OWN_VIEW=1
. "$(dirname "$0")/lib.sh"
unpacked opensmtpd-filter-rspamd
asks=$package/usr/libexec/opensmtpd/filter-rspamd
filter "$work/var/lib/dbacl/default"
rspamd=$(port)
cat >"$work/etc/dbacl/server.toml" <<END2
default = "$work/var/lib/dbacl/default"
models = "$work/var/lib/dbacl/{user}"
headers = ["dbacl"]
reasons = true
[listen]
rspamd = "127.0.0.1:$rspamd"
END2
serve --config "$work/etc/dbacl/server.toml"
smtpd_unpacked
cat >"$work/smtpd.conf" <<END2
filter dbacl proc-exec "$asks -url http://127.0.0.1:$rspamd"
listen on 127.0.0.1 port $port filter dbacl
action "local" maildir "$work/mail/box"
match from any for domain "example.net" action "local"
END2
smtpd_begins
for kind in ham spam; do delivered_by_smtpd $kind; done
holds "$file" '^X-Spam: yes'
holds "$work/server.log" 'wire=rspamd user=.*tester@example.net'
# Without its filter mail goes on. Without the server this filter puts it off, and the sender tries again.
mv "$work/var/lib/dbacl/default" "$work/aside"
message spam marker-filter >"$work/mail.txt"
smtp_send "$port" "$work/mail.txt" tester@example.net || fail 'smtpd takes no mail without the filter'
wait_for 30 in_the_box marker-filter || fail 'mail is lost without the filter'
lacks "$(in_the_box marker-filter)" '^X-DBACL'
mv "$work/aside" "$work/var/lib/dbacl/default"
kill -9 "$server"
message spam marker-server >"$work/mail.txt"
smtp_send "$port" "$work/mail.txt" tester@example.net && fail 'mail is taken without the server: docs/server.md says otherwise'
serve --config "$work/etc/dbacl/server.toml"
smtp_send "$port" "$work/mail.txt" tester@example.net || fail 'smtpd takes no mail with the server again'
wait_for 30 in_the_box marker-server || fail 'mail is lost'
holds "$(in_the_box marker-server)" '^X-DBACL: spam '
echo PASSED
