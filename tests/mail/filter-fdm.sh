#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# fdm lets the filter rewrite mail.
. "$(dirname "$0")/lib.sh"
wrap fdm
# fdm of the superuser ends if another one is running: other runs of this test are waited for.
exec 9<"$found"
flock 9
filtered
fetch() { fdm -a stdin fetch 2>"$work/fdm.err" || { cat "$work/fdm.err"; fail "fdm ends with $?"; }; }
# fdm says on stderr how many messages it has processed.
may_say='1 messages processed'
recipe fdm
holds ~/mail/spam 'Subject: prize 123'
new spam marker-spam | fetch
holds ~/mail/spam marker-spam
new ham marker-ham | fetch
holds ~/mail/inbox marker-ham

# Where the filter only suspects.
doubtful
new spam marker-doubt | fetch
holds ~/mail/maybe marker-doubt
echo PASSED
