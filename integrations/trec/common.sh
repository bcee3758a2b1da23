# SPDX-License-Identifier: GPL-3.0-or-later
# What the four commands share; sourced by them, in the filter's own folder.
#
# TREC_OPTIONS   options of dbacl for learning; they say how mail is read
# TREC_DB        folder of the memory (./db)

DBACL=${DBACL:-dbacl}
TREC_DB=${TREC_DB:-./db}
TREC_OPTIONS=${TREC_OPTIONS--H 25 -1 -T email -T email:headers -T email:theaders -T email:xheaders -T html:links -T html:alt -L uniform -e cef2}
LOG=$TREC_DB/errors.log

# learn ham|spam: the message on stdin
learn() {
    # shellcheck disable=SC2086 # options are words
    "$DBACL" $TREC_OPTIONS -m -l "$TREC_DB/$1" -o "$TREC_DB/$1.onl" 2>>"$LOG"
}
