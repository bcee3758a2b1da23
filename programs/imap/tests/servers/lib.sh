# SPDX-License-Identifier: GPL-3.0-or-later
# For the tests with other IMAP servers than Dovecot: a client, and what must hold with each of them.
# Sourced, not run.
. "$(dirname "$0")/../../../server/tests/servers/lib.sh"
[ -x "$folder/dbacl-imap" ] || skip 'dbacl-imap has not been built'

mail() {  # KIND NUMBER
  printf 'Message-ID: <%s@example.org>\nDate: Thu, 1 Jan 2026 10:00:00 +0000\n' "$2"
  message "$1" "mark$(word "$2")"
}

# imap COMMAND...: gives these commands to the server, as a user's mail program does.
imap() { imap_client "$port" secret "$@" >"$work/imap.log" 2>&1; }

# did COMMAND...: the same, and it must succeed.
did() { imap "$@" || fail "$*: $(cat "$work/imap.log")"; }

# moved NUMBER FROM TO: moves a mail as clients do that do not use MOVE: by copying and deleting.
moved() {
  did "SELECT $2" "UID SEARCH UNDELETED HEADER Message-ID \"<$1@example.org>\""
  uid=$(sed -n 's/^\* SEARCH \([0-9]*\).*/\1/p' "$work/imap.log")
  [ "$uid" ] || fail "mail $1 is not in $2"
  did "SELECT $2" "UID COPY $uid $3" "UID STORE $uid +FLAGS (\\Deleted)" EXPUNGE
}

# program OPTION...: with `exec` in $how it takes the place of the shell, so that signals reach it.
program() {
  ${how:-} dbacl-imap --server 127.0.0.1 --port "$port" --plain --user alice --password-command 'echo secret' \
    --filter "$work/filter" --state "$work/state" --folder "$archive" "$@"
}

# says WHAT TEXT OPTION...: the program looks once and must print TEXT, or nothing if TEXT is empty.
says() {
  what=$1 text=$2
  shift 2
  program --once "$@" >"$work/said" 2>&1 || fail "$what: $(cat "$work/said")"
  if [ "$text" ]; then holds "$work/said" "$text"; else [ ! -s "$work/said" ] || fail "$what: $(cat "$work/said")"; fi
}

# Whether the running program prints this. If the server sends no news, a signal makes it look.
seen() {
  [ -z "${asks:-}" ] || kill -HUP "$watcher"
  grep -q "$1" "$work/program.log"
}

# The rules of docs/imap.md, as far as servers differ in what they rest on; $port is the server's,
# and $junk, $trash and $archive are its folders.
rules_hold() {
  filter "$work/filter"
  for number in 1 2 3 4 5 6; do
    mail ham $number >"$work/$number"
    did "APPENDMAIL INBOX $work/$number"
  done
  program --check >"$work/said" 2>&1 || fail "--check: $(cat "$work/said")"
  holds "$work/said" "$junk (spam), INBOX, $archive, $trash (thrown away)"
  says 'the first look' 'INBOX (6 messages)'
  says 'nothing happens' ''
  moved 1 INBOX "$junk"
  says 'INBOX to Junk' 'learned 1 message as spam, 0 as ham'
  moved 1 "$junk" INBOX
  says 'Junk to INBOX' 'learned 0 messages as spam, 1 as ham'
  moved 2 INBOX "$trash"
  moved 3 INBOX "$archive"
  says 'INBOX to Trash and Archive' ''
  moved 4 INBOX "$junk"
  says 'INBOX to Junk' 'learned 1 message as spam, 0 as ham'
  moved 4 "$junk" "$trash"
  says 'Junk to Trash' ''
  did 'SELECT INBOX' "UID COPY 1:* $junk"
  says 'a copy' ''
  # A rule of the server files mail into Junk, which teaches nothing.
  mail spam 90 >"$work/90"
  did "APPENDMAIL $junk $work/90"
  says 'a rule' ''
  did "SELECT $junk" 'STORE 1:* +FLAGS (\Deleted)' EXPUNGE
  says 'Junk is emptied' ''
  # New spam is moved by the program, and that teaches nothing.
  mail spam 91 >"$work/91"
  mail ham 92 >"$work/92"
  did "APPENDMAIL INBOX $work/91" "APPENDMAIL INBOX $work/92"
  says 'new mail' 'moved 1 message to' --move-spam
  says 'its own move' '' --move-spam
  did "SELECT $junk" 'SEARCH HEADER Message-ID "<91@example.org>"'
  holds "$work/imap.log" '^\* SEARCH [0-9]'
  did 'SELECT INBOX' 'SEARCH HEADER Message-ID "<91@example.org>"'
  lacks "$work/imap.log" '^\* SEARCH [0-9]'
  # While the program runs.
  (how=exec && program) >"$work/program.log" 2>&1 &
  watcher=$!
  children="$children $watcher"
  wait_for 60 grep -q '^dbacl-imap: .*Z watches ' "$work/program.log" || fail "it watches nothing: $(cat "$work/program.log")"
  moved 5 INBOX "$junk"
  wait_for 60 seen 'learned 1 message as spam, 0 as ham' || fail "a move is not seen: $(cat "$work/program.log")"
  kill "$watcher"
  wait "$watcher" || fail "the program ends with $?"
  says 'what was seen before' ''
}
