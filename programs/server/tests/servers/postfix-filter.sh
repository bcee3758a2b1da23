#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Debian's Postfix, with the recipe of a content filter: spamc marks the mail, and sendmail gives it
# back to Postfix.
. "$(dirname "$0")/lib.sh"
spamc_unpacked
postfix_unpacked
filter "$work/var/lib/dbacl/default"
filter "$work/var/lib/dbacl/me@example.net"
serve --default "$work/var/lib/dbacl/default" --models "$work/var/lib/dbacl/{user}" --spamc 127.0.0.1:0
port=$(served spamc)
# The other program of the recipe, where it is here.
cat >"$work/bin/sendmail" <<END2
#!/bin/sh
MAIL_CONFIG=$etc LD_LIBRARY_PATH=$LD_LIBRARY_PATH exec $postfix_package/usr/sbin/sendmail "\$@"
END2
chmod 755 "$work/bin/sendmail"
recipe postfix-filter |
  sed -e "s|-p 783|-p $port|; s|/usr/bin/spamc|$work/bin/spamc|; s|/usr/sbin/sendmail|$work/bin/sendmail|" \
    -e "s|smtp/inet/|127.0.0.1:$smtp/inet/|" >"$work/recipe.sh"
grep -q content_filter "$work/recipe.sh" || fail 'docs/server.md has no recipe postfix-filter'
. "$work/recipe.sh"
postfix_begins
# postdrop has no rights of a group of its own here.
chmod 1777 "$work/spool/maildrop"
chmod 755 "$work/spool/public"
mkdir -p "$work/out"
for kind in ham spam; do
  { forged $kind; echo '.dot'; echo .; echo last; } >"$work/out/$kind"
  posted $kind "marker-$kind"
  holds "$file" "^X-DBACL: $kind [0-9.]*%$"
  holds "$file" '^\.dot$'
  holds "$file" '^last$'
  lacks "$file" forged
  [ "$(grep -c '^X-DBACL' "$file")" = 1 ] || fail 'more than one verdict'
done
wait_for 20 sh -c "[ \$(grep -c 'event=classified.* user=me@example.net ' '$work/server.log') = 2 ]" || fail 'not judged once each, for its user'
# A mail without a sender, as those are that tell of mail that could not be delivered.
message ham marker-bounce >"$work/out/mail"
smtp_send "$smtp" "$work/out/mail" me@example.net '' || fail 'Postfix takes no mail without a sender'
wait_for 30 delivered marker-bounce || fail 'a mail without a sender is lost'
holds "$(delivered marker-bounce)" '^Return-Path: <>'
posted_without "$work/var/lib/dbacl/default" "$work/var/lib/dbacl/me@example.net"
[ "$(ls "$work/mail/me/new" | wc -l)" = 5 ] || fail 'mail is delivered twice'
echo PASSED
