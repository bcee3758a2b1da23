#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The script of a Postfix pipe, and the commands of mutt's keys, which filter-mutt.sh presses.
. "$(dirname "$0")/lib.sh"
filtered
recipe postfix
new spam marker | dbacl-pipe >"$work/out" || fail "status $?"
holds "$work/out" '^X-DBACL: spam '
holds "$work/out" 'prize marker'
# What cannot be judged is delivered, and with --strict tried again later.
mv ~/.dbacl-mail ~/elsewhere
new spam marker | dbacl-pipe >"$work/out" 2>/dev/null || fail "status $? without a filter"
holds "$work/out" '^X-DBACL: error'
sed -i 's/--mail-filter/--strict &/' ~/bin/dbacl-pipe
new spam marker | dbacl-pipe >/dev/null 2>&1
[ $? = 75 ] || fail "an error does not mean: try later"
mv ~/elsewhere ~/.dbacl-mail

recipe mutt
command_of() { sed -n "s/^macro [a-z,]* $1 \"<pipe-message>\([^<]*\)<enter>.*/\1/p" ~/.muttrc | sed 's/\\\\/\\/g'; }
new spam asked | sh -c "$(command_of '.cd')" >"$work/out"
holds "$work/out" '^spam .*because of +'
new spam taught | sh -c "$(command_of H)" || fail "H ends with $?"
new spam taught | dbacl --mail-forget ~/.dbacl-mail ham ||
  fail "what H has learned cannot be forgotten"
if command -v mutt >/dev/null; then
  mutt -F ~/.muttrc -D >"$work/mutt.out" 2>&1 </dev/null || { cat "$work/mutt.out"; fail "mutt refuses the bindings"; }
fi
echo PASSED
