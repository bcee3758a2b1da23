#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Debian's Exim with the recipe: mail over SMTP gets its score while it is received, also while the
# server is away; and rspamd's variant of the question.
OWN_VIEW=1
. "$(dirname "$0")/lib.sh"
unpacked exim4-daemon-heavy
accounts Debian-exim
filter "$work/var/lib/dbacl/default"
serve --default "$work/var/lib/dbacl/default" --models "$work/var/lib/dbacl/{user}" --spamc 127.0.0.1:0 --rspamd 127.0.0.1:0
port=$(served spamc)
rspamd=$(served rspamd)
mkdir -p "$work/mail" "$work/spool" "$work/log"
chmod 777 "$work/mail" "$work/spool" "$work/log"

configure() {  # sed expression for the recipe
  {
    cat <<END2
exim_path = $package/usr/sbin/exim4
exim_user = mail
exim_group = mail
never_users =
keep_environment =
log_file_path = $work/log/%s
spool_directory = $work/spool
primary_hostname = mail.example.net
acl_smtp_rcpt = accept
queue_run_max = 1
END2
    recipe exim exim | sed -e "s/127.0.0.1 783/127.0.0.1 $port/" -e "$1"
    cat <<END2
begin routers
all:
  driver = accept
  transport = folder
begin transports
folder:
  driver = appendfile
  file = $work/mail/box
  user = mail
  group = mail
END2
  } >"$work/exim.conf"
  chmod 644 "$work/exim.conf"
}
own_libraries
exim() { "$package/usr/sbin/exim4" -C "$work/exim.conf" "$@"; }
send() {  # FILE RECIPIENT: over SMTP on standard input and output; the mail is in mail/RECIPIENT then
  {
    printf 'EHLO client\r\nMAIL FROM:<a@example.org>\r\nRCPT TO:<%s@example.net>\r\nDATA\r\n' "$2"
    sed -e 's/^\./../' -e 's/$/\r/' "$1"
    printf '.\r\nQUIT\r\n'
  } | exim -odf -bs >"$work/smtp.log" 2>&1
  grep -q '^250 OK id' "$work/smtp.log" || { cat "$work/log"/*; cat "$work/smtp.log"; fail 'Exim takes no mail'; }
  mv "$work/mail/box" "$work/mail/$2" || fail 'Exim does not deliver'
}
configure ''
exim -bV >"$work/exim.log" 2>&1 || fail "Exim: $(tail -n 3 "$work/exim.log")"
for kind in ham spam; do
  message $kind "marker-$kind" >"$work/$kind"
  send "$work/$kind" "$kind"
  holds "$work/mail/$kind" "marker-$kind"
done
holds "$work/mail/spam" '^X-Spam-Flag: YES'
holds "$work/mail/spam" '^X-Spam-Score: [5-9]'
lacks "$work/mail/ham" '^X-Spam-Flag'
holds "$work/mail/ham" '^X-Spam-Score: -'
# The recipient's own filter is asked; for several recipients the default one.
holds "$work/server.log" 'wire=spamc user=spam .*verdict="spam'
# The older protocol of rspamd says who receives the mail.
for own in "$port" "$rspamd"; do
  configure "s/^spamd_address.*/spamd_address = 127.0.0.1 $own variant=rspamd/"
  send "$work/spam" "rspamd$own"
  holds "$work/mail/rspamd$own" '^X-Spam-Flag: YES'
  holds "$work/server.log" "wire=rspamd user=<rspamd$own@example.net> .*verdict=.* queue=[0-9A-Za-z-]* from=example.org"
done
# Without its filter, and without the server, mail goes on.
configure ''
mv "$work/var/lib/dbacl/default" "$work/aside"
send "$work/spam" nofilter
holds "$work/mail/nofilter" marker-spam
lacks "$work/mail/nofilter" '^X-Spam-Flag'
kill -9 "$server"
wait "$server" 2>/dev/null
send "$work/spam" noserver
holds "$work/mail/noserver" marker-spam
echo PASSED
