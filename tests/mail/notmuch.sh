#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# notmuch: learning queries, tagging what is new.
. "$(dirname "$0")/lib.sh"
need notmuch
recipe notmuch
store="$HOME/mail"
mkdir -p "$store/cur" "$store/new" "$store/tmp" "$HOME/.dbacl"
export NOTMUCH_CONFIG="$HOME/.notmuch-config"
printf '[database]\npath=%s\n[user]\nname=Tester\nprimary_email=me@example.net\n[new]\ntags=new\n' "$store" >"$NOTMUCH_CONFIG"
add() {  # KIND NAME
  { echo "Message-ID: <$2@example.net>"; echo 'Date: Mon, 1 Jan 2024 10:00:00 +0000'; message "$1" "$2"; } >"$store/cur/$2:2,"
}
for number in 1 2 3 4 5 6 7 8; do
  add spam "spam$number"; add work "work$number"
done
notmuch new --quiet 2>/dev/null
for number in 1 2 3 4 5 6 7 8; do notmuch tag +spam -new -- "id:spam$number@example.net"; done
notmuch tag -new -- tag:new
said=$(learn-tags 2>&1) || fail "learn-tags: $said"
[ -z "$said" ] || fail "learn-tags says: $said"
for category in spam ham; do
  head -3 "$HOME/.dbacl/$category" | grep -a -q 'documents 8$' || fail "$category is not learned from eight messages"
done
mkdir -p "$store/.notmuch/hooks"
ln -s "$HOME/bin/tag-new" "$store/.notmuch/hooks/post-new"
add spam fresh-spam; add work fresh-work
notmuch new --quiet 2>/dev/null || fail "notmuch new ends with $?"
tags() { notmuch search --exclude=false --output=tags "id:$1@example.net" | grep -v unread | tr '\n' ' '; }
[ "$(tags fresh-spam)" = "spam " ] || fail "spam is tagged: $(tags fresh-spam)"
[ "$(tags fresh-work)" = "inbox " ] || fail "work is tagged: $(tags fresh-work)"
rm "$HOME/.dbacl/ham"
add spam fresh-missing
notmuch new --quiet 2>/dev/null
[ "$(tags fresh-missing)" = "inbox " ] || fail "without a category: $(tags fresh-missing)"
echo PASSED
