#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# fdm: the name and the number of the verdict.
. "$(dirname "$0")/lib.sh"
wrap fdm
# fdm of the superuser ends if another one is running: other runs of this test are waited for.
exec 9<"$found"
flock 9
learned
fetch() { fdm -a stdin fetch 2>"$work/fdm.err" || { cat "$work/fdm.err"; fail "fdm ends with $?"; }; }
# fdm says on stderr how many messages it has processed.
may_say='1 messages processed'
recipe fdm-categories
holds "$HOME/mail/spam" 'Subject: a limited offer'
message spam marker-spam | fetch
holds "$HOME/mail/spam" marker-spam
message work marker-work | fetch
holds "$HOME/mail/work" marker-work
message private marker-private | fetch
holds "$HOME/mail/inbox" marker-private

# The recipe by the number of the verdict, which does without strict mode.
sed -i 's/--strict //; s/returns (0, "^spam\$")/returns (3, )/; s/returns (0, "^work\$")/returns (2, )/' "$HOME/.fdm.conf"
grep -q 'returns (3, )' "$HOME/.fdm.conf" || fail "the recipe has changed"
message spam marker-number | fetch
holds "$HOME/mail/spam" marker-number
message work marker-second | fetch
holds "$HOME/mail/work" marker-second

# An error has the same status as the verdict for the first category, so that one must be harmless.
rm "$HOME/.dbacl/work"
message spam marker-missing | fetch
holds "$HOME/mail/inbox" marker-missing
echo PASSED
