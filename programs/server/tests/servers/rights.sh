#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Who may teach whom: everybody their own filter, which the first lesson begins, and root all.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip 'only root becomes another user'
command -v setpriv >/dev/null || skip 'setpriv is not installed'
filter "$work/var/lib/dbacl/default"
filter "$work/var/lib/dbacl/alice"
cat >"$work/etc/dbacl/server.toml" <<END2
default = "$work/var/lib/dbacl/default"
models = "$work/var/lib/dbacl/{user}"
[listen]
spamc = "$work/run/dbacl/spamc"
mode = "666"
END2
chmod -R a+rX "$work"
serve --config "$work/etc/dbacl/server.toml"
message spam lesson >"$work/lesson"
# teach USER ARGUMENT...: the lesson, given by this user of the system.
teach() {
  own=$1
  shift
  setpriv --reuid "$own" --clear-groups dbacl-server --config "$work/etc/dbacl/server.toml" --teach spam "$@" \
    <"$work/lesson" >"$work/said" 2>&1
}
teach root --user alice || fail "root may not teach: $(cat "$work/said")"
teach nobody --user alice
[ $? = 77 ] || fail "nobody teaches alice: $(cat "$work/said")"
holds "$work/said" "nobody may teach only nobody's filter"
holds "$work/server.log" 'event=refused wire=spamc user=alice as=spam'
[ ! -e "$work/var/lib/dbacl/nobody" ] || fail 'a refused lesson begins a filter'
teach nobody || fail "nobody may not teach nobody: $(cat "$work/said")"
[ -e "$work/var/lib/dbacl/nobody/table" ] || fail 'the first lesson begins no filter'
teach nobody --user nobody+list || fail "by another name: $(cat "$work/said")"
dbacl-server --config "$work/etc/dbacl/server.toml" --check >"$work/said" || fail '--check fails'
holds "$work/said" 'filters of users: 2'
echo PASSED
