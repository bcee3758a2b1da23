#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Debian's rspamc.
. "$(dirname "$0")/lib.sh"
unpacked rspamd
filter "$work/var/lib/dbacl/default"
cat >"$work/etc/dbacl/server.toml" <<END2
default = "$work/var/lib/dbacl/default"
models = "$work/var/lib/dbacl/{user}"
headers = ["dbacl", "rspamd"]
learn-default = true
[listen]
rspamd = ["127.0.0.1:0", "$work/run/dbacl/rspamd"]
END2
serve --config "$work/etc/dbacl/server.toml"
port=$(served rspamd)
rspamc() { packaged usr/bin/rspamc -h "127.0.0.1:$port" "$@"; }
for kind in ham spam; do message $kind new >"$work/$kind"; done
rspamc symbols "$work/spam" >"$work/got" 2>&1 || fail "symbols: status $?"
holds "$work/got" 'Spam: true'
holds "$work/got" 'Symbol: DBACL_SPAM'
holds "$work/got" 'Action: add header'
rspamc symbols "$work/ham" >"$work/got" 2>&1
holds "$work/got" 'Spam: false'
holds "$work/got" 'Symbol: DBACL_HAM'
rspamc --mime "$work/spam" >"$work/got" 2>&1 || fail "--mime: status $?"
holds "$work/got" '^X-Spam: yes'
rspamc --compressed symbols "$work/spam" >"$work/got" 2>&1 || fail "--compressed: status $?"
holds "$work/got" 'Symbol: DBACL_SPAM'
rspamc -d alice symbols "$work/spam" >"$work/got" 2>&1
holds "$work/server.log" 'user=alice '
rspamc stat >"$work/got" 2>&1 || fail "stat: status $?"
holds "$work/got" 'Messages scanned: [1-9]'
# asked HEADER FILE: the status of the answer to a message that curl posts, which is in got.
asked() { curl -s -o "$work/got" -w '%{http_code}' -H "$1" --data-binary "@$2" "http://127.0.0.1:$port/checkv2"; }
if command -v curl >/dev/null; then
  gzip -k "$work/spam"
  [ "$(asked 'Content-Encoding: gzip' "$work/spam.gz")" = 200 ] || fail "gzip: $(cat "$work/got")"
  holds "$work/got" '"X-DBACL":"spam '
  [ "$(asked 'Content-Encoding: br' "$work/spam")" = 415 ] || fail "br: $(cat "$work/got")"
  [ "$(asked "File: $work/spam" /dev/null)" = 400 ] || fail "File: $(cat "$work/got")"
  [ "$(asked 'Compression: zstd' "$work/spam")" = 400 ] || fail "no zstd: $(cat "$work/got")"
fi
message spam 'learned by rspamc' >"$work/lesson"
packaged usr/bin/rspamc -h "$work/run/dbacl/rspamd" learn_ham "$work/lesson" >"$work/got" 2>&1
holds "$work/got" 'success = true'
holds "$work/server.log" 'event=learned wire=rspamd user="" as=ham .*outcome=learned'
packaged usr/bin/rspamc --compressed -h "$work/run/dbacl/rspamd" learn_ham "$work/lesson" >"$work/got" 2>&1
holds "$work/got" 'already learned'
rspamc learn_spam "$work/lesson" >"$work/got" 2>&1
lacks "$work/got" 'success = true'
holds "$work/server.log" 'event=refused wire=rspamd user="" as=spam .*error="learning is not allowed here"'
mv "$work/var/lib/dbacl/default" "$work/aside"
rspamc symbols "$work/spam" >"$work/got" 2>&1
lacks "$work/got" 'Symbol: DBACL'
holds "$work/got" 'HTTP error: 503'
echo PASSED
