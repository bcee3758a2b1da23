#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Retraining on error: by moving a message, and at once through kept counts.
. "$(dirname "$0")/lib.sh"
learned
cp "$root"/integrations/categories/* "$HOME/bin/"
learn-mail private work spam || fail "learn-mail ends with $?"
odd() { printf 'From: list@example.com\nTo: me@example.net\nSubject: report\n\nthe budget of your lottery prize, claim your lottery prize\n'; }
verdict() { dbacl --strict -v -c ~/.dbacl/private -c ~/.dbacl/work -c ~/.dbacl/spam; }
[ "$(odd | verdict)" = work ] || fail "the message is not misjudged to begin with"

# At once: the same as learning everything with the message after it.
cp -r "$HOME/.dbacl" "$work/first"
times=0
until [ "$(odd | verdict)" = spam ]; do
  said=$(odd | retrain spam 2>&1) || fail "retrain ends with $?"
  [ -z "$said" ] || fail "retrain says: $said"
  times=$((times + 1))
  [ $times -lt 10 ] || fail "ten retrainings do not help"
done
[ "$(message work | verdict)" = work ] || fail "retraining broke another verdict"
[ "$(message private | verdict)" = private ] || fail "retraining broke another verdict"
retrain spam </dev/null 2>/dev/null && [ ! -s "$HOME/.dbacl/spam.counts" ] && fail "an empty message emptied the counts"
retrain nothing </dev/null 2>/dev/null && fail "retraining an unknown category is a success"

# By moving the message and learning anew.
rm -rf "$HOME/.dbacl"
cp -r "$work/first" "$HOME/.dbacl"
[ "$(odd | verdict)" = work ] || fail "the old categories judge differently"
turn=0
while [ $turn -lt $times ]; do
  { echo 'From x Mon Jan  1 11:00:00 2024'; odd; echo; } >>"$HOME/mail/spam"
  turn=$((turn + 1))
done
learn-mail private work spam || fail "learn-mail ends with $?"
[ "$(odd | verdict)" = spam ] || fail "learning anew does not correct the verdict"
echo PASSED
