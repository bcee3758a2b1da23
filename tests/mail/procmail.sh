#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# procmail: from an empty home folder by docs/mail-recipes.md alone; three categories; a missing model.
. "$(dirname "$0")/lib.sh"
need formail
own_procmail
mailbox=/var/mail/$(id -un)
had_mailbox=
[ ! -e "$mailbox" ] || had_mailbox=1

# The recipe of the document, literally. Its `dbacl -v` ends with the number of the verdict: see
# below.
learned
recipe procmail-categories
holds "$HOME/procmail.log" 'Folder: spam'
holds "$HOME/mail/spam" 'Subject: a limited offer'

for kind in private work spam; do
  message $kind "marker-$kind" | procmail || fail "procmail ends with $?"
  holds "$HOME/mail/$kind" "marker-$kind"
done
[ ! -s "$HOME/mail/inbox" ] || fail "mail with a verdict went to the inbox"

# CRLF mail gets the same verdict.
message work marker-crlf | sed 's/$/\r/' | procmail || fail "procmail ends with $?"
holds "$HOME/mail/work" marker-crlf

# Without a category, and with a damaged one, mail goes to the inbox: nothing is lost, nothing misfiled.
mv "$HOME/.dbacl/work" "$HOME/.dbacl/gone"
message spam marker-missing | procmail || fail "procmail ends with $?"
holds "$HOME/mail/inbox" marker-missing
lacks "$HOME/mail/spam" marker-missing
head -c 5000 "$HOME/.dbacl/gone" >"$HOME/.dbacl/work"
message spam marker-damaged | procmail || fail "procmail ends with $?"
holds "$HOME/mail/inbox" marker-damaged
mv "$HOME/.dbacl/gone" "$HOME/.dbacl/work"

# An empty message is a tie: the harmless category, which is the first.
printf '\n' | procmail || fail "procmail ends with $?"
tail -1 "$HOME/procmail.log" | grep -q 'Folder: private' || fail "a tie went to another than the first"

# The header recipe.
recipe header
message spam marker-header | procmail || fail "procmail ends with $?"
holds "$HOME/mail/inbox" '^X-DBACL-Says: spam$'
message spam marker-strict | procmail DBACL_STRICT=1 || fail "procmail ends with $?"
[ "$(grep -c '^X-DBACL-Says: spam$' "$HOME/mail/inbox")" = 2 ] || fail "strict mode changes the verdict"
# procmail looks for the system mailbox all the same, and leaves an empty one.
[ -n "$had_mailbox" ] || [ -s "$mailbox" ] || rm -f "$mailbox"
[ ! -e "$HOME/lost" ] || fail "mail went to the system mailbox"
echo PASSED
