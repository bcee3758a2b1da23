#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Debian's Postfix, with the recipe: mail over SMTP gets its verdict before it is delivered, also
# while the server is away.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip 'Postfix begins as root'
unpacked postfix
filter "$work/var/lib/dbacl/default"
smtp=$(port)
serve --default "$work/var/lib/dbacl/default" --models "$work/var/lib/dbacl/{user}" --milter 127.0.0.1:0
port=$(served milter)

# Postfix wants two accounts and a group that nothing else uses; these are in no program's way here.
postfix=$package/usr/lib/postfix
etc=$work/etc/postfix
mkdir -p "$etc" "$work/spool" "$work/data" "$work/mail"
cat >"$etc/main.cf" <<END2
compatibility_level = 3.6
queue_directory = $work/spool
command_directory = $package/usr/sbin
daemon_directory = $postfix/sbin
data_directory = $work/data
meta_directory = $package/etc/postfix
shlib_directory = $postfix
mail_owner = news
setgid_group = uucp
default_privs = games
myhostname = mail.example.net
mydestination = example.net
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
alias_maps =
local_recipient_maps =
virtual_mailbox_domains = example.net
virtual_mailbox_base = $work/mail
virtual_mailbox_maps = inline:{me@example.net=me/}
virtual_uid_maps = static:9
virtual_gid_maps = static:9
virtual_minimum_uid = 1
maillog_file = $work/postfix.log
maillog_file_prefixes = /tmp
import_environment = MAIL_CONFIG LD_LIBRARY_PATH TZ
export_environment = MAIL_CONFIG LD_LIBRARY_PATH TZ
END2
sed -i '/^mydestination/d' "$etc/main.cf"
echo 'mydestination =' >>"$etc/main.cf"
sed -e 's/^\([a-z]*  *[a-z]*  *[-yn]*  *[-yn]*  *\)y/\1n/' "$package/usr/share/postfix/master.cf.dist" |
  sed -e "s/^smtp      inet  n/127.0.0.1:$smtp inet n/" -e '/^#/d' >"$etc/master.cf"
grep -q '^postlog' "$etc/master.cf" || echo 'postlog unix-dgram n - n - 1 postlogd' >>"$etc/master.cf"
export LD_LIBRARY_PATH="$libraries"
postconf() { "$package/usr/sbin/postconf" "$@"; }
recipe postfix | sed "s/8893/$port/" >"$work/recipe.sh"
grep -q smtpd_milters "$work/recipe.sh" || fail 'docs/server.md has no recipe postfix'
. "$work/recipe.sh"
chown -R news "$work/data" "$work/mail"
for folder in active bounce corrupt defer deferred flush hold incoming maildrop pid private public saved trace; do
  mkdir -p "$work/spool/$folder"
  case $folder in
    pid) ;;
    maildrop) chown news:uucp "$work/spool/$folder" && chmod 730 "$work/spool/$folder" ;;
    public) chown news:uucp "$work/spool/$folder" && chmod 710 "$work/spool/$folder" ;;
    *) chown news "$work/spool/$folder" && chmod 700 "$work/spool/$folder" ;;
  esac
done
"$postfix/sbin/master" -c "$etc" -d >"$work/master.log" 2>&1 &
children="$children $!"
send() { smtp_send "$smtp" "$1" me@example.net; }
delivered() { grep -rl "$1" "$work/mail/me/new" 2>/dev/null | head -n 1 | grep .; }
mkdir -p "$work/out"
for kind in ham spam; do
  { printf 'X-DBACL: forged\nDate: Thu, 1 Jan 2026 10:00:00 +0000\nMessage-Id: <%s@example.org>\n' "$kind"; message $kind "marker-$kind"; } >"$work/out/$kind"
  wait_for 30 send "$work/out/$kind" || fail "Postfix does not take $kind"
  wait_for 30 delivered "marker-$kind" || fail "$kind is not delivered"
  file=$(delivered "marker-$kind")
  holds "$file" "^X-DBACL: $kind [0-9.]*%$"
  lacks "$file" forged
  [ "$(grep -c '^X-DBACL' "$file")" = 1 ] || fail 'more than one verdict'
  # The verdict is that of the filter on the mail as it was sent.
  dbacl --mail-filter "$work/var/lib/dbacl/default" <"$work/out/$kind" >"$work/wanted"
  [ "$(grep '^X-DBACL' "$work/wanted")" = "$(grep '^X-DBACL' "$file")" ] || fail 'another verdict than --mail-filter'
done
# Without its filter, and without the server, mail goes on.
mv "$work/var/lib/dbacl/default" "$work/aside"
message spam marker-filter >"$work/out/mail"
send "$work/out/mail" || fail 'Postfix takes no mail without the filter'
wait_for 30 delivered marker-filter || fail 'mail is lost without the filter'
holds "$(delivered marker-filter)" '^X-DBACL: error$'
kill -9 "$server"
message spam marker-server >"$work/out/mail"
send "$work/out/mail" || fail 'Postfix takes no mail without the server'
wait_for 30 delivered marker-server || fail 'mail is lost without the server'
lacks "$(delivered marker-server)" '^X-DBACL'
echo PASSED
