#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The status page in a browser: narrow and wide, light and dark, nothing sticks out.
. "$(dirname "$0")/lib.sh"
command -v chromium >/dev/null || skip 'chromium is not installed'
command -v curl >/dev/null || skip 'curl is not installed'
filter "$work/var/lib/dbacl/default"
filter "$work/var/lib/dbacl/somebody.with.a.long.name@mail.example.org"
cat >"$work/etc/dbacl/server.toml" <<END2
default = "$work/var/lib/dbacl/default"
models = "$work/var/lib/dbacl/{user}"
[listen]
rspamd = "$work/run/dbacl/rspamd"
status = "$work/run/dbacl/status"
END2
serve --config "$work/etc/dbacl/server.toml"
wait_for 20 test -S "$work/run/dbacl/status" || fail 'there is no status page'
long=$(printf '%0300d' 0)
{ echo "Message-ID: <$long@example.org>"; message spam new; } >"$work/message"
curl -s --unix-socket "$work/run/dbacl/rspamd" --data-binary "@$work/message" http://localhost/checkv2 >"$work/got"
curl -s --unix-socket "$work/run/dbacl/status" http://localhost/ >"$work/page.html" || fail 'no page'
holds "$work/page.html" '</html>'
cat >>"$work/page.html" <<'END2'
<script>
const sticksOut = part => part.scrollWidth > part.clientWidth + 1;
const parts = [...document.querySelectorAll(innerWidth < 600 ? "html, .wide, td" : "html")];
const found = parts.filter(sticksOut).map(part => part.outerHTML.slice(0, 100));
const curve = getComputedStyle(document.documentElement).getPropertyValue("--curve");
parent.postMessage(`${innerWidth} ${curve} ${found.join() || "fits"}`, "*");
</script>
END2
for width in 400 1200; do
  # A window of its own cannot be as narrow as that of a telephone.
  cat >"$work/window.html" <<END2
<meta name="color-scheme" content="light dark"><title>nothing</title>
<script>onmessage = message => document.title = message.data</script>
<iframe src="page.html" width="$width" height="1000" style="border: 0"></iframe>
END2
  for scheme in '0 #7db0ff' '1 #2563c4'; do
    timeout 120 chromium --headless=new --no-sandbox --user-data-dir="$work/browser" \
      --blink-settings=preferredColorScheme="${scheme% *}" --window-size=1300,1000 \
      --virtual-time-budget=5000 --dump-dom "file://$work/window.html" >"$work/dom" \
      2>"$work/browser.log" || skip 'chromium does not start'
    title=$(sed -n 's/.*<title>\([^<]*\).*/\1/p' "$work/dom")
    [ "$title" = "$width ${scheme#* } fits" ] || fail "at $width points, scheme ${scheme% *}: $title"
  done
done
echo PASSED
