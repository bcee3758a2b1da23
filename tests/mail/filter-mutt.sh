#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The keys that docs/mail.md gives mutt, pressed on a terminal.
. "$(dirname "$0")/lib.sh"
need mutt
need tmux
filtered
recipe mutt
mkdir -p ~/mail
for kind in ham spam; do
  printf 'From a@example.org Mon Jan  1 10:00:00 2024\n' && new $kind pressed && echo
done >~/mail/inbox
export TERM=screen
# A terminal of its own, which no other one sees.
terminal() { tmux -S "$work/socket" -f /dev/null "$@"; }
trap 'terminal kill-server 2>/dev/null; rm -rf "$work"' EXIT
shows() {  # TEXT: within some seconds
  tries=0
  until terminal capture-pane -p | tee "$work/screen" | grep -q -- "$1"; do
    tries=$((tries + 1))
    [ $tries -lt 100 ] || { cat "$work/screen"; fail "the screen does not show: $1"; }
    sleep 0.1
  done
}
terminal new-session -d -x 120 -y 30 "mutt -F $HOME/.muttrc -f $HOME/mail/inbox"
shows 'prize pressed'
terminal send-keys '*' C-d
shows 'because of +'
holds "$work/screen" '^spam .*prize pressed, from win@example.biz'
terminal send-keys Space
# The same message is learned as spam, and goes to the folder for spam.
terminal send-keys S
shows 'spam'
tries=0
until grep -q 'prize pressed' ~/mail/spam 2>/dev/null; do
  terminal send-keys y
  tries=$((tries + 1))
  [ $tries -lt 50 ] || { terminal capture-pane -p; fail "S does not file the message"; }
  sleep 0.2
done
new spam pressed | dbacl --mail-forget ~/.dbacl-mail spam || fail "S has learned nothing"
echo PASSED
