#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# maildrop passes mail through the filter.
. "$(dirname "$0")/lib.sh"
wrap maildrop
filtered
recipe maildrop
holds ~/mail/spam 'Subject: prize 123'
for kind in ham spam; do new $kind "marker-$kind" | maildrop || fail "maildrop ends with $?"; done
holds ~/mail/spam marker-spam
holds ~/mail/inbox marker-ham
mv ~/.dbacl-mail ~/elsewhere
new spam marker-missing | maildrop 2>/dev/null || fail "maildrop ends with $?"
holds ~/mail/inbox marker-missing

# Where the filter only suspects.
doubtful
new spam marker-doubt | maildrop || fail "maildrop ends with $?"
holds ~/mail/maybe marker-doubt
echo PASSED
