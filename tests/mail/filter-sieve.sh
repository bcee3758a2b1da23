#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Dovecot Sieve: the calling convention of a filter, and, where Dovecot is installed, a delivery.
. "$(dirname "$0")/lib.sh"
filtered
recipe sieve
filter="$HOME/sieve-bin/dbacl-filter"
# By convention: an almost empty environment, CRLF, the whole message, status 0.
for kind in ham spam; do
  new $kind marker | sed 's/$/\r/' >"$work/in"
  env -i HOME="$HOME" "$filter" <"$work/in" >"$work/out" 2>"$work/err" || fail "status $? for $kind"
  grep -q "^X-DBACL: $kind " "$work/out" || fail "no verdict $kind"
  grep -v '^X-DBACL' "$work/out" | cmp - "$work/in" || fail "the message is changed"
  [ ! -s "$work/err" ] || fail "chatter on stderr"
done
lda=/usr/lib/dovecot/dovecot-lda
if [ ! -x $lda ] || ! command -v sievec >/dev/null; then
  echo "PASSED (by convention; dovecot-sieve is not installed)"
  exit 0
fi
# Dovecot refuses to deliver as root.
as_user=
[ "$(id -u)" != 0 ] || as_user="setpriv --reuid nobody --regid nogroup --clear-groups"
cat >"$HOME/dovecot.conf" <<END
base_dir = $HOME/run
mail_home = $HOME
mail_location = maildir:$HOME/Maildir
log_path = $HOME/dovecot.log
protocol lda {
  mail_plugins = sieve
}
postmaster_address = postmaster@example.net
plugin {
  sieve = $HOME/.dovecot.sieve
  sieve_plugins = sieve_extprograms
  sieve_extensions = +vnd.dovecot.filter
  sieve_filter_bin_dir = $HOME/sieve-bin
  sieve_filter_exec_timeout = 60s
}
END
[ -z "$as_user" ] || chown -R nobody "$work"
deliver() {
  USER=nobody $as_user $lda -c "$HOME/dovecot.conf" || { cat "$HOME/dovecot.log"; fail "dovecot-lda ends with $?"; }
}
$as_user sievec -c "$HOME/dovecot.conf" "$HOME/.dovecot.sieve" || fail "the Sieve script does not compile"
new spam marker-spam | deliver
grep -rq marker-spam "$HOME/Maildir/.Spam/new" || { cat "$HOME/dovecot.log"; fail "spam is not in its folder"; }
new ham marker-ham | deliver
grep -rq marker-ham "$HOME/Maildir/new" || fail "good mail is not in the inbox"
doubtful
new spam marker-doubt | deliver
grep -rq marker-doubt "$HOME/Maildir/.Maybe/new" || fail "suspected mail is not in its folder"
echo PASSED
