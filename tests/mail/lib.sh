# SPDX-License-Identifier: GPL-3.0-or-later
# For the tests of mail systems: a home folder of their own, and the recipes of docs/mail.md
# and docs/mail-recipes.md.
# Sourced, not run. Ends: 0 passed, 77 skipped, anything else failed.
#
# DBACL_BIN   folder with the programs; else the newest build below the target folder
# KEEP=1      keep the home folder

set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
export LC_ALL=C
unset DBACL_PATH DBACL_STRICT 2>/dev/null || :

skip() { echo "SKIPPED: $*"; exit 77; }
fail() { echo "FAILED: $*"; exit 1; }

need() {  # PROGRAM: skip without it; leaves its path in $found
  found=$(PATH=$PATH:/usr/sbin:/usr/lib/dovecot command -v "$1") || skip "$1 is not installed"
}

find_dbacl() {
  target=${CARGO_TARGET_DIR:-$root/target}
  for folder in "${DBACL_BIN:-}" "$target/release" "$target/quick" "$target/debug"; do
    if [ -n "$folder" ] && [ -x "$folder/dbacl" ]; then
      echo "$folder/dbacl"
      return
    fi
  done
  return 1
}

dbacl_program=$(find_dbacl) || skip "dbacl has not been built"
work=$(mktemp -d) || exit 1
[ -n "${KEEP:-}" ] && echo "kept: $work" || trap 'rm -rf "$work"' EXIT
umask 077
chmod 755 "$work"
export HOME="$work/home"
mkdir -p "$HOME/bin" "$HOME/.local/bin"
# As `make install PREFIX=$HOME/.local` installs it.
cp "$dbacl_program" "$HOME/.local/bin/dbacl"
export PATH="$HOME/bin:$HOME/.local/bin:/usr/local/bin:/usr/bin:/bin"
export USER=tester LOGNAME=tester MAIL="$work/mail"
cd "$HOME" || exit 1

# Mail programs take the home folder from the password file: show them one with ours. A program with
# special rights ignores that, so a copy of it runs, which has none.
wrap() {  # PROGRAM...: copies below $HOME/bin that see our home folder
  library=$(find /usr/lib /lib -name libnss_wrapper.so 2>/dev/null | head -1)
  [ -n "$library" ] || skip "libnss-wrapper is not installed"
  uid=$(id -u) gid=$(id -g)
  { grep -v "^[^:]*:[^:]*:$uid:" /etc/passwd; echo "tester:x:$uid:$gid:tester:$HOME:/bin/sh"; } >"$work/passwd"
  { cat /etc/group; echo "tester:x:$gid:"; } >"$work/group"
  mkdir -p "$work/real"
  for name; do
    need "$name"
    cp "$found" "$work/real/$name"
    cat >"$HOME/bin/$name" <<END
#!/bin/sh
LD_PRELOAD=$library NSS_WRAPPER_PASSWD=$work/passwd NSS_WRAPPER_GROUP=$work/group exec $work/real/$name "\$@"
END
    chmod +x "$HOME/bin/$name"
  done
}

# procmail takes the home folder from the password file and forgets the environment. Arguments set both.
own_procmail() {
  need procmail
  cp "$found" "$HOME/bin/procmail-itself"
  cat >"$HOME/bin/procmail" <<END
#!/bin/sh
exec $HOME/bin/procmail-itself "\$@" HOME=$HOME ORGMAIL=$HOME/lost $HOME/.procmailrc
END
  chmod +x "$HOME/bin/procmail"
}

recipe() {  # NAME...: runs the command blocks of a section of the page, as a reader would
  for name; do
    awk -v name="$name" '
      /^<!-- recipe: / { inside = ($3 == name); next }
      inside && /^```sh$/ { code = 1; next }
      /^```$/ { code = 0 }
      code { print }
    ' "$root/docs/mail.md" "$root/docs/mail-recipes.md" >"$work/recipe.sh"
    [ -s "$work/recipe.sh" ] || fail "there is no recipe $name"
    # Without -e, as at a prompt: a verdict is an exit status. What goes wrong speaks on stderr.
    sh "$work/recipe.sh" >"$work/recipe.out" 2>"$work/recipe.err"
    [ -n "${may_say:-}" ] && sed -i "/$may_say/d" "$work/recipe.err"
    [ ! -s "$work/recipe.err" ] || { cat "$work/recipe.err"; fail "recipe $name complains"; }
  done
}

# Three categories as the page has them.
learned() {
  recipe categories
  [ "$(tail -1 "$work/recipe.out")" = spam ] || fail "the recipe categories does not print spam"
}

message() {  # KIND: a new message of a kind, which the made-up mail teaches
  case $1 in
    spam) printf 'From: a@example.biz\nTo: me@example.net\nSubject: limited offer\n\nclick here, cheap pills, win %s\n' "${2:-}" ;;
    work) printf 'From: b@example.com\nTo: me@example.net\nSubject: meeting\n\nthe budget report before the meeting %s\n' "${2:-}" ;;
    private) printf 'From: c@example.org\nTo: me@example.net\nSubject: dinner\n\nbring the children over on sunday %s\n' "${2:-}" ;;
  esac
}

# A mail filter as the first recipe of docs/mail.md makes it, and new messages that it knows.
filtered() {
  recipe start
  holds "$work/recipe.out" '^X-DBACL: spam '
  cp -a ~/dbacl-trial/filter ~/.dbacl-mail
}

doubtful() {  # from now on every message may be spam
  printf '#!/bin/sh\necho "X-DBACL: unsure 81.20%% spam"\ncat\n' >"$HOME/.local/bin/dbacl"
}

new() {  # KIND: a new message of a kind that this filter knows
  case $1 in
    spam) printf 'From: win@example.biz\nTo: me@example.net\nSubject: prize %s\n\nClick here, claim it.\n' "$2" ;;
    ham) printf 'From: ann@example.org\nTo: me@example.net\nSubject: lunch %s\n\nSee you at table %s.\n' "$2" "$2" ;;
  esac
}

holds() {  # FILE TEXT
  grep -q -- "$2" "$1" 2>/dev/null || fail "$1 does not hold: $2"
}

lacks() {  # FILE TEXT
  ! grep -q -- "$2" "$1" 2>/dev/null || fail "$1 holds: $2"
}
