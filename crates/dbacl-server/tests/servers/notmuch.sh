#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# notmuch tags all new mail with one process.
. "$(dirname "$0")/lib.sh"
command -v notmuch >/dev/null || skip 'notmuch is not installed'
filter "$HOME/.dbacl-mail"
store="$HOME/mail"
mkdir -p "$store/cur" "$store/new" "$store/tmp"
export NOTMUCH_CONFIG="$HOME/.notmuch-config"
printf '[database]\npath=%s\n[user]\nname=Tester\nprimary_email=me@example.net\n[new]\ntags=new\n' "$store" >"$NOTMUCH_CONFIG"
number=0
while [ $number -lt 20 ]; do
  number=$((number + 1))
  for kind in ham spam; do
    {
      printf 'Message-ID: <%s%s@example.net>\n' $kind $number
      printf 'Date: Mon, 1 Jan 2024 10:%02d:00 +0000\n' $number
      message $kind "number $number"
    } >"$store/cur/$kind$number:2,"
  done
done
# The same mail in another file is judged once.
cp "$store/cur/spam1:2," "$store/cur/again:2,"
notmuch new --quiet 2>"$work/notmuch.log" || fail 'notmuch new fails'
follow notmuch
[ -z "$(notmuch search tag:new)" ] || fail 'something is still new'
for kind in ham spam; do
  case $kind in ham) tag=inbox ;; spam) tag=spam ;; esac
  [ "$(notmuch count --exclude=false tag:$tag)" = 20 ] || fail "$(notmuch count --exclude=false tag:$tag) are tagged $tag"
  [ -z "$(notmuch search --exclude=false --output=messages tag:$tag | grep -v "^id:$kind")" ] || fail "not all of $tag are $kind"
done
echo PASSED
