#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The convention of a Postfix pipe: the message comes back, or status 75.
. "$(dirname "$0")/lib.sh"
need formail
learned
recipe postfix
message spam marker | dbacl-pipe >"$work/out" || fail "status $?"
holds "$work/out" '^X-DBACL-Says: spam$'
holds "$work/out" 'click here, cheap pills, win marker'
rm "$HOME/.dbacl/work"
message spam | dbacl-pipe >"$work/out" 2>/dev/null
[ $? = 75 ] || fail "a missing category does not mean: try later"
[ ! -s "$work/out" ] || fail "half an answer"
echo PASSED
