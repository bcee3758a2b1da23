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
# Ids that senders have written to reach other messages, each of a spam.
number=0
for id in 'zz or tag:inbox' 'a" or tag:inbox or id:"b' '*' 'x) or (tag:inbox' '%20'; do
  number=$((number + 1))
  { printf 'Message-ID: <%s>\nDate: Mon, 1 Jan 2024 11:%02d:00 +0000\n' "$id" $number; message spam "hostile $number"; } >"$store/cur/hostile$number:2,"
done
# The same mail in another file is judged once.
cp "$store/cur/spam1:2," "$store/cur/again:2,"
notmuch new --quiet 2>"$work/notmuch.log" || fail 'notmuch new fails'
mkdir -p "$HOME/bin"
ln -s "$folder/dbacl-server" "$HOME/bin/"
"$root/integrations/notmuch/tag-many" || fail "tag-many ends with $?"
[ -z "$(notmuch search tag:new)" ] || fail 'something is still new'
for kind in ham spam; do
  case $kind in ham) tag=inbox ;; spam) tag=spam ;; esac
  case $kind in ham) wanted=20 ;; spam) wanted=25 ;; esac
  [ "$(notmuch count --exclude=false tag:$tag)" = $wanted ] || fail "$(notmuch count --exclude=false tag:$tag) are tagged $tag"
  [ -z "$(notmuch search --exclude=false --output=files tag:$tag | grep -Ev "/($kind|hostile)[0-9]|/again")" ] || fail "not all of $tag are $kind"
done
echo PASSED
