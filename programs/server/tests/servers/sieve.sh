#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Pigeonhole's spamtest over the headers that the server writes.
. "$(dirname "$0")/lib.sh"
unpacked spamc
command -v sieve-test >/dev/null || skip 'sieve-test is not installed'
filter "$work/var/lib/dbacl/default"
serve_spamassassin
mkdir -p "$work/mail"
{
  printf 'base_dir = %s\nmail_location = maildir:%s\nlog_path = %s\n' "$work/run/dovecot" "$work/mail" "$work/dovecot.log"
  recipe spamtest text
} >"$work/dovecot.conf"
recipe sieve sieve >"$work/script.sieve"
[ -s "$work/script.sieve" ] || fail 'docs/server.md has no Sieve script'
as_user=
[ "$(id -u)" != 0 ] || as_user='setpriv --reuid nobody --regid nogroup --clear-groups'
for kind in ham spam; do
  message $kind new | packaged usr/bin/spamc -U "$work/run/dbacl/spamc" -F /dev/null >"$work/$kind"
done
[ -z "$as_user" ] || chown -R nobody "$work/mail" "$work/script.sieve"
chmod 777 "$work"
for kind in ham spam; do
  $as_user sieve-test -c "$work/dovecot.conf" "$work/script.sieve" "$work/$kind" >"$work/got" 2>&1 ||
    fail "sieve-test: $(cat "$work/got")"
  case $kind in
    spam) holds "$work/got" 'store message in folder: Junk' ;;
    ham) lacks "$work/got" 'Junk' ;;
  esac
done
echo PASSED
