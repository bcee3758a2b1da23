#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# notmuch: the mail filter learns queries and tags what is new, whatever ids senders choose.
. "$(dirname "$0")/lib.sh"
need notmuch
filtered
cp "$root"/integrations/notmuch/* "$HOME/bin/"
store="$HOME/Mail"
mkdir -p "$store/cur" "$store/new" "$store/tmp"
export NOTMUCH_CONFIG="$HOME/.notmuch-config"
printf '[database]\npath=%s\n[user]\nname=Tester\nprimary_email=me@example.net\n[new]\ntags=new\n' "$store" >"$NOTMUCH_CONFIG"
add() {  # KIND NAME ID
  { printf 'Message-ID: <%s>\nDate: Mon, 1 Jan 2024 10:00:00 +0000\n' "$3"; new "$1" "$2"; } >"$store/cur/$2:2,"
}
tagged() { notmuch count --exclude=false "$1"; }
for number in $(seq 30); do add spam "spam$number" "spam$number"; add ham "ham$number" "ham$number"; done
notmuch new --quiet 2>/dev/null
tag-new || fail "tag-new ends with $?"
[ "$(tagged tag:spam)" = 30 ] && [ "$(tagged tag:inbox)" = 30 ] || fail "tagged: $(notmuch dump)"
rm -r ~/.dbacl-mail
said=$(learn-tags 2>&1) || fail "learn-tags: $said"
[ -z "$said" ] || fail "learn-tags says: $said"

mkdir -p "$store/.notmuch/hooks"
ln -s "$HOME/bin/tag-new" "$store/.notmuch/hooks/post-new"
# Senders choose these ids: queries in disguise, quotes, what a shell would run.
hostile() {  # ADD
  number=0
  while IFS= read -r id; do
    number=$((number + 1))
    "$1" "hostile$number" "$id"
  done <<'END'
zz  or  tag:inbox
yy  tag:spam
a" or tag:inbox or id:"b
q"uote""s
ends with"
$(touch pwned) `touch pwned`
percent%20 id:x (y) {z}
w@x; +inbox -- *
END
}
add_spam() { add spam "$1" "$2"; }
hostile add_spam
notmuch new --quiet 2>/dev/null || fail "notmuch new ends with $?"
[ "$(tagged tag:spam)" = $((30 + number)) ] || fail "of $number hostile ids: $(notmuch dump)"
[ "$(tagged tag:inbox)" = 30 ] && [ "$(tagged tag:new)" = 0 ] || fail "of $number hostile ids: $(notmuch dump)"
[ ! -e pwned ] || fail "an id was run as a command"
cp ~/.local/bin/dbacl ~/dbacl-itself
doubtful
add spam doubt doubt
notmuch new --quiet 2>/dev/null
[ "$(tagged 'id:doubt and tag:maybe')" = 1 ] || fail "in doubt: $(notmuch dump)"
mv ~/dbacl-itself ~/.local/bin/dbacl
mv ~/.dbacl-mail ~/elsewhere
add spam missing missing
notmuch new --quiet 2>/dev/null
[ "$(tagged 'id:missing and tag:inbox')" = 1 ] || fail "without a filter: $(notmuch dump)"
echo PASSED
