#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# maildrop: a command in backquotes, in strict mode.
. "$(dirname "$0")/lib.sh"
wrap maildrop
learned
recipe maildrop-categories
holds "$HOME/mail/spam" 'Subject: a limited offer'
for kind in private work spam; do
  message $kind "marker-$kind" | maildrop || fail "maildrop ends with $?"
  holds "$HOME/mail/$kind" "marker-$kind"
done
# Without strict mode a verdict's status empties the variable: why the recipe has --strict.
sed -i 's/--strict//' "$HOME/.mailfilter"
message spam marker-bare | maildrop || fail "maildrop ends with $?"
holds "$HOME/mail/inbox" marker-bare
sed -i '1i DBACL_STRICT=1' "$HOME/.mailfilter"
message spam marker-variable | maildrop || fail "maildrop ends with $?"
holds "$HOME/mail/spam" marker-variable
rm "$HOME/.dbacl/private"
message spam marker-missing | maildrop 2>/dev/null || fail "maildrop ends with $?"
holds "$HOME/mail/inbox" marker-missing
echo PASSED
