#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The short way of docs/mail.md and docs/mail-recipes.md: learned and filtered with two commands, delivered by procmail.
. "$(dirname "$0")/lib.sh"
own_procmail
filtered
recipe procmail
holds ~/mail/spam '^X-DBACL: spam '

new ham today | procmail
holds ~/mail/inbox '^X-DBACL: ham '
lacks ~/mail/inbox 'X-DBACL: spam'

new ham wrong >~/wrong
dbacl --mail-correct ~/.dbacl-mail spam <~/wrong || fail 'a verdict cannot be put right'

# Without the filter's folder mail comes through.
mv ~/.dbacl-mail ~/elsewhere
new ham lost | procmail
holds ~/mail/inbox '^X-DBACL: error'

# Where the filter only suspects.
doubtful
new spam marker-doubt | procmail
holds ~/mail/maybe marker-doubt
echo PASSED
