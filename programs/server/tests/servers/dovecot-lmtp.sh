#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Debian's Dovecot, with the recipe: mail that comes over LMTP, or to dovecot-lda, is judged by a
# program that Sieve asks, and spam goes into the folder Junk.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip 'Dovecot begins as root'
for program in dovecot sievec doveadm; do command -v $program >/dev/null || skip "$program is not installed"; done
spamc_unpacked
unpacked dovecot-lmtpd
filter "$work/var/lib/dbacl/default"
filter "$work/var/lib/dbacl/alice"
mkdir -p "$work/mail" "$work/etc/dovecot/conf.d" "$work/run/dovecot"
chown mail:mail "$work/mail"
serve --default "$work/var/lib/dbacl/default" --models "$work/var/lib/dbacl/{user}" --spamc 127.0.0.1:0
lmtp=$(port)
cat >"$work/etc/dovecot/dovecot.conf" <<END2
$(dovecot_basis lmtp)
service lmtp {
  inet_listener lmtp {
    port = $lmtp
  }
  executable = $package/usr/lib/dovecot/lmtp
}
plugin {
  sieve = file:~/.dovecot.sieve
}
postmaster_address = postmaster@example.net
!include conf.d/*.conf
END2
# The recipe and its files, with the machine's folders below $work.
mkdir "$work/filter"
for file in "$root"/integrations/dovecot-filter/*; do
  sed -e "s|/etc/|$work/etc/|g; s|-p 783|-p $(served spamc)|; s|/usr/bin/spamc|$work/bin/spamc|" "$file" \
    >"$work/filter/${file##*/}"
done
chmod 755 "$work/filter/dbacl"
recipe dovecot-filter |
  sed -e "s|integrations/dovecot-filter|$work/filter|" -e 's|^doveadm reload$||' >"$work/recipe.sh"
grep -q conf.d/ "$work/recipe.sh" || fail 'docs/server.md has no recipe dovecot-filter'
sh "$work/recipe.sh" >"$work/recipe.log" 2>&1 && [ ! -s "$work/recipe.log" ] || fail "the recipe: $(cat "$work/recipe.log")"
# The configuration that learns from moves may be installed as well; the two share no settings.
DOVECOT="$work/etc/dovecot" PROGRAMS="$work/lib/sieve" "$root/integrations/dovecot/install" >"$work/install.log" 2>&1 ||
  fail "install: $(cat "$work/install.log")"
chmod -R a+rX "$work/etc" "$work/lib"
dovecot -F -c "$work/etc/dovecot/dovecot.conf" &
children="$children $!"
GREETING=LHLO
export GREETING
mkdir -p "$work/out"
# found USER MARK FOLDER: the mail with this text is in this folder, and its file in $file.
found() {
  file=$(grep -rl "$2" "$work/mail/$1/Maildir" 2>/dev/null | head -n 1)
  case $file in "$work/mail/$1/Maildir/$3new/"*) ;; *) return 1 ;; esac
}
for user in alice bob; do
  for kind in ham spam; do
    forged $kind >"$work/out/$kind"
    wait_for 30 smtp_send "$lmtp" "$work/out/$kind" $user || fail "Dovecot does not take $kind"
    case $kind in spam) folder=.Junk/ ;; ham) folder= ;; esac
    wait_for 30 found $user "marker-$kind" "$folder" || fail "$kind is in ${file:-no folder}"
    holds "$file" "^X-DBACL: $kind [0-9.]*%"
    lacks "$file" forged
  done
  holds "$work/server.log" " user=$user "
done
# To dovecot-lda, which another mail server calls.
message spam marker-lda >"$work/out/lda"
/usr/lib/dovecot/dovecot-lda -c "$work/etc/dovecot/dovecot.conf" -d bob <"$work/out/lda" >"$work/lda.log" 2>&1 ||
  fail "dovecot-lda: $(cat "$work/lda.log")"
found bob marker-lda .Junk/ || fail "what comes to dovecot-lda is in ${file:-no folder}"
# Without the server, mail is delivered as it is.
kill -9 "$server"
message spam marker-server >"$work/out/mail"
smtp_send "$lmtp" "$work/out/mail" bob || fail 'Dovecot takes no mail without the server'
wait_for 30 found bob marker-server '' || fail "without the server mail is in ${file:-no folder}"
lacks "$file" '^X-DBACL'
echo PASSED
