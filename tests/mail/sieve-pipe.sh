#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Dovecot Sieve: the calling convention (CRLF on standard input, ten seconds, status 0), and, where
# Dovecot is installed, a delivery through Pigeonhole.
. "$(dirname "$0")/lib.sh"
learned
recipe sieve
verdict="$HOME/sieve-bin/dbacl-verdict"

# The limit is ten seconds of processor time, so that the test does not fail on a busy machine; a
# program that hangs fails it.
in_time() { (ulimit -t 10; exec env -i HOME="$HOME" timeout 120 "$@"); }
# By convention: an almost empty environment, CRLF, one line out, status 0.
for kind in private work spam; do
  message $kind | sed 's/$/\r/' |
    in_time "$verdict" >"$work/out" 2>"$work/err" || fail "status $? for $kind"
  [ "$(cat "$work/out")" = $kind ] && [ "$(wc -l <"$work/out")" = 1 ] || fail "not one line $kind"
  [ ! -s "$work/err" ] || fail "chatter on stderr"
done
# A large message is no matter for ten seconds.
{ message spam; yes 'click here and win cheap pills' | head -c 20000000; } |
  in_time "$verdict" >"$work/out" || fail "status $? for 20 MB"
# CRLF and LF score alike.
message work >"$work/lf"
sed 's/$/\r/' "$work/lf" >"$work/crlf"
for file in lf crlf; do
  dbacl --strict -n -c ~/.dbacl/private -c ~/.dbacl/work -c ~/.dbacl/spam "$work/$file" >"$work/$file.scores"
done
cmp "$work/lf.scores" "$work/crlf.scores" || fail "CRLF changes the scores"

lda=/usr/lib/dovecot/dovecot-lda
if [ ! -x $lda ] || ! command -v sievec >/dev/null; then
  mv "$HOME/.dbacl/spam" "$HOME/.dbacl/gone"
  message spam | "$verdict" >"$work/out" 2>/dev/null && fail "a missing category counts as success"
  [ ! -s "$work/out" ] || fail "a missing category gives a verdict"
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
  sieve_extensions = +vnd.dovecot.execute
  sieve_execute_bin_dir = $HOME/sieve-bin
  sieve_execute_exec_timeout = 60s
}
END
[ -z "$as_user" ] || chown -R nobody "$work"
deliver() {
  USER=nobody $as_user $lda -c "$HOME/dovecot.conf" || { cat "$HOME/dovecot.log"; fail "dovecot-lda ends with $?"; }
}
$as_user sievec -c "$HOME/dovecot.conf" "$HOME/.dovecot.sieve" || fail "the Sieve script does not compile"
message spam marker-spam | deliver
grep -rq marker-spam "$HOME/Maildir/.Spam/new" || { cat "$HOME/dovecot.log"; fail "spam is not in its folder"; }
message work marker-work | deliver
grep -rq marker-work "$HOME/Maildir/new" || fail "work is not in the inbox"
mv "$HOME/.dbacl/spam" "$HOME/.dbacl/gone"
message spam marker-missing | deliver
grep -rq marker-missing "$HOME/Maildir/new" || fail "without a category the message is not in the inbox"
echo PASSED
