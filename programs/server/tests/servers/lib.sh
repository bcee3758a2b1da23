# SPDX-License-Identifier: GPL-3.0-or-later
# For the tests of mail servers: a machine's folders below one of their own, made-up mail, filters,
# the server, and the recipes of docs/server.md. Sourced, not run. Ends: 0 passed, 77 skipped,
# anything else failed.
#
# DBACL_BIN   folder with the programs; else the newest build below the target folder
# KEEP=1      keep the folder

set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
export LC_ALL=C
unset DBACL_PATH DBACL_STRICT 2>/dev/null || :

skip() { echo "SKIPPED: $*"; exit 77; }

# With OWN_VIEW=1 the script starts again with mounts of its own, which no other process sees. This
# is for programs with fixed accounts and folders.
if [ -n "${OWN_VIEW:-}" ] && [ "${IN_OWN_VIEW:-}" != 1 ]; then
  [ "$(id -u)" = 0 ] || skip 'only root has accounts and mounts of its own'
  unshare -m true 2>/dev/null || skip 'mounts of its own are not allowed here'
  IN_OWN_VIEW=1 exec unshare -m sh "$0" "$@"
fi

# accounts NAME...: system accounts, each with a group, that only this test sees; their home is
# $work/mail.
accounts() {
  cp /etc/passwd "$work/passwd"
  cp /etc/group "$work/group"
  number=7700
  for name; do
    number=$((number + 1))
    echo "$name:x:$number:$number::$work/mail:/usr/sbin/nologin" >>"$work/passwd"
    echo "$name:x:$number:" >>"$work/group"
  done
  mount --bind "$work/passwd" /etc/passwd && mount --bind "$work/group" /etc/group || skip 'no account can be mounted'
}
fail() {
  echo "FAILED: $*"
  for log in "$work"/*.log; do [ ! -s "$log" ] || { echo "-- $log"; tail -n 40 "$log"; }; done
  exit 1
}

work=$(mktemp -d /tmp/dbacl-server.XXXXXX) || exit 1
children=
finish() {
  status=$?
  for child in $children; do kill "$child" 2>/dev/null; done
  for child in $children; do wait "$child" 2>/dev/null; done
  [ -z "${mounted:-}" ] || umount -l "$mounted"
  [ -n "${KEEP:-}" ] && echo "kept: $work" || rm -rf "$work"
  exit $status
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

for folder in "${DBACL_BIN:-}" "$target/release" "$target/checked" "$target/debug"; do
  [ -z "$folder" ] || [ ! -x "$folder/dbacl-server" ] || break
done
[ -x "$folder/dbacl-server" ] && [ -x "$folder/dbacl" ] || skip 'dbacl-server has not been built'
PATH=$folder:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
export PATH
umask 022
chmod 755 "$work"
export HOME="$work/home"
mkdir -p "$HOME" "$work/etc/dbacl" "$work/var/lib/dbacl" "$work/run/dbacl"
cd "$HOME" || exit 1

# unpacked PACKAGE: leaves the folder of a package that .ci/unpack has fetched in $package.
unpacked() {
  package=$target/unpacked/$1
  [ -e "$package/.whole" ] || skip "the package $1 was not fetched"
  machine=$(cd "$package/usr/lib" 2>/dev/null && ls -d ./*-linux-gnu* 2>/dev/null | head -n 1)
  libraries=$package/usr/lib:$package/usr/lib/${machine:-none}:$package/lib/${machine:-none}:$package/usr/lib/$1
}

# A program of the package, with the libraries that came with it.
packaged() {
  program=$1
  shift
  LD_LIBRARY_PATH=$libraries "$package/$program" "$@"
}

# The libraries of a package for programs with special rights, which take no path from anybody.
own_libraries() {
  { echo "$libraries" | tr : '\n'; echo 'include /etc/ld.so.conf'; } >"$work/ld.so.conf"
  ldconfig -X -f "$work/ld.so.conf" -C "$work/ld.so.cache" 2>/dev/null
  mount --bind "$work/ld.so.cache" /etc/ld.so.cache || skip 'libraries cannot be mounted'
}

# port: one that nobody listens at, below those that the system gives to whoever asks for any, so
# that nobody is given it before it is used.
port() {
  perl -MIO::Socket::INET -e '
    for (1 .. 1000) {
      my $port = 10000 + int rand 20000;
      IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1", LocalPort => $port) or next;
      print "$port\n";
      exit;
    }
    exit 1'
}

# wait_for SECONDS COMMAND...: tries until it succeeds.
wait_for() {
  end=$(($(date +%s) + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$(date +%s)" -lt "$end" ] || return 1
    sleep 0.1
  done
}

# smtp_send PORT FILE RECIPIENT [SENDER]: a mail over SMTP, or LMTP with GREETING=LHLO; succeeds if it
# is taken.
smtp_send() {
  perl -MIO::Socket::INET -e '
    my ($port, $file, $to, $from) = (@ARGV, "a\@example.org");
    my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $port, Timeout => 20) or exit 1;
    sub answer { while (my $line = <$s>) { return $line if $line =~ /^\d\d\d / } exit 1 }
    sub command { print $s "$_[0]\r\n"; answer() }
    answer();
    command(($ENV{GREETING} // "EHLO") . " client");
    command("MAIL FROM:<$from>") =~ /^250/ or exit 2;
    command("RCPT TO:<$to>") =~ /^250/ or exit 2;
    command("DATA") =~ /^354/ or exit 3;
    open my $mail, "<", $file or exit 4;
    while (<$mail>) { chomp; s/^\./../; print $s "$_\r\n" }
    command(".") =~ /^250/ or exit 5;
    command("QUIT")' "$@"
}

# imap_client PORT PASSWORD COMMAND...: one connection of alice's mail program; each command is answered
# before the next one. APPENDMAIL FOLDER FILE adds a mail.
imap_client() {
  perl -MIO::Socket::INET -e '
    my ($port, $password) = (shift, shift);
    my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $port, Timeout => 20) or exit 1;
    my $n = 0;
    sub answer { while (my $line = <$s>) { print $line; return if $line =~ /^a$n OK/; exit 2 if $line =~ /^a$n /; return if $_[0] && $line =~ /^\+/ } exit 3 }
    <$s>;
    for my $command ("LOGIN alice $password", @ARGV, "LOGOUT") {
      $n++;
      if ($command =~ /^APPENDMAIL (\S+) (\S+)/) {
        open my $file, "<", $2 or exit 4;
        my $mail = join "", map { s/\r?\n/\r\n/r } <$file>;
        print $s "a$n APPEND $1 {" . length($mail) . "}\r\n";
        answer(1);
        print $s "$mail\r\n";
      } else { print $s "a$n $command\r\n" }
      answer(0);
    }' "$@"
}

# A number in letters: a filter has no use for digits.
word() { echo "$1" | tr 0-9 k-t; }

# Made-up mail of two kinds; it has so many words of its kind that a few others leave it sure.
message() {  # KIND [MARK]
  case $1 in
    spam) printf 'From: a@example.biz\nTo: me@example.net\nSubject: limited offer\n\nclick here, cheap pills, win %s\nbest price without prescription, order today and save money, free delivery worldwide\nexclusive discount on luxury watches, no credit check, unsubscribe below\n' "${2:-}" ;;
    ham) printf 'From: b@example.com\nTo: me@example.net\nSubject: meeting\n\nplease send the budget report before the meeting %s\nthe minutes of last week and the agenda for friday are on the server of our team\nkindly confirm the room, the slides and the figures by thursday, regards from the office\n' "${2:-}" ;;
  esac
}

# forged KIND [MORE]: a mail with a verdict of somebody else, which says `marker-KIND`; MORE is lines of
# its header.
forged() {
  printf 'X-DBACL: forged\nDate: Thu, 1 Jan 2026 10:00:00 +0000\n%bMessage-Id: <%s@example.org>\n' "${2:-}" "$1"
  message "$1" "marker-$1"
}

mailbox() {  # KIND: 120 mails, so many that verdicts on mails like them are sure
  number=0
  while [ $number -lt 120 ]; do
    number=$((number + 1))
    printf 'From a@example.biz Mon Jan  1 10:00:00 2024\n'
    message "$1" "number $number"
    printf '\n'
  done
}

# filter FOLDER: a filter in this folder.
filter() {
  [ -e "$work/ham.mbox" ] || { mailbox ham >"$work/ham.mbox"; mailbox spam >"$work/spam.mbox"; }
  mkdir -p "$(dirname "$1")"
  dbacl --mail-learn "$1" ham="$work/ham.mbox" spam="$work/spam.mbox" >"$work/learn.log" 2>&1 ||
    fail "dbacl --mail-learn ends with $?"
}

# The text of docs/server.md between marks, with the machine's folders below $work.
recipe() {  # NAME [LANGUAGE]
  awk -v name="$1" -v language="${2:-sh}" '
    /^<!-- recipe: / { inside = ($3 == name); next }
    inside && $0 == "```" language { code = 1; next }
    /^```$/ { code = 0 }
    code { print }
  ' "$root/docs/server.md" | sed -e "s|/etc/|$work/etc/|g; s|/var/|$work/var/|g; s|/run/|$work/run/|g"
}

# follow NAME: runs a recipe as a reader would. What goes wrong speaks on standard error.
follow() {
  recipe "$1" >"$work/recipe.sh"
  [ -s "$work/recipe.sh" ] || fail "docs/server.md has no recipe $1"
  sh "$work/recipe.sh" >"$work/recipe.out" 2>"$work/recipe.err"
  [ ! -s "$work/recipe.err" ] || { cat "$work/recipe.err"; fail "recipe $1 complains"; }
}

# serve ARGUMENT...: the server in the background; returns when it listens.
serve() {
  # What a server before this one wrote there would be taken for the new one's.
  rm -f "$work/server.log"
  dbacl-server "$@" 2>"$work/server.log" &
  server=$!
  children="$children $server"
  wait_for 20 grep -q 'event=listens' "$work/server.log" || fail 'the server does not begin'
}

# served WIRE: the port that the server has, where it was told to take any.
served() {
  line="event=listens wire=$1 address=127.0.0.1:"
  wait_for 20 grep -q "$line" "$work/server.log" || fail "the server does not serve $1"
  sed -n "s/.*$line//p" "$work/server.log" | head -n 1
}

holds() {  # FILE TEXT
  # The server's log is written a moment later than an answer.
  case $1 in */server.log) wait_for 20 grep -q -- "$2" "$1" ;; esac
  grep -q -- "$2" "$1" 2>/dev/null || { cat "$1"; fail "$1 does not hold: $2"; }
}

# caught_up: waits until the server's log has all that has happened. Its lines come in order, so a
# request that is none comes last.
caught_up() {
  before=$(grep -c event=malformed "$work/server.log")
  perl -MIO::Socket::UNIX -e '
    my $s = IO::Socket::UNIX->new(Peer => shift) or exit 1;
    print $s "no command of the protocol\r\n\r\n";
    <$s>' "$work/run/dbacl/spamc" || return 1
  wait_for 20 sh -c "[ \$(grep -c event=malformed '$work/server.log') -gt $before ]"
}

lacks() {  # FILE TEXT
  ! grep -q -- "$2" "$1" 2>/dev/null || { cat "$1"; fail "$1 holds: $2"; }
}

# postfix_unpacked: a Postfix of the test's own, without the recipe; it will listen at $smtp and puts
# mail for me@example.net into a folder. It is told to use accounts that every system has, where
# it wants two and a group that nothing else uses.
postfix_unpacked() {
  [ "$(id -u)" = 0 ] || skip 'Postfix begins as root'
  unpacked postfix
  smtp=$(port)
  postfix_package=$package
  postfix=$package/usr/lib/postfix
  etc=$work/etc/postfix
  mkdir -p "$etc" "$work/spool" "$work/data" "$work/mail"
  cat >"$etc/main.cf" <<END2
compatibility_level = 3.6
queue_directory = $work/spool
command_directory = $package/usr/sbin
daemon_directory = $postfix/sbin
data_directory = $work/data
meta_directory = $package/etc/postfix
shlib_directory = $postfix
mail_owner = news
setgid_group = uucp
default_privs = games
myhostname = mail.example.net
mydestination = example.net
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
alias_maps =
local_recipient_maps =
virtual_mailbox_domains = example.net
virtual_mailbox_base = $work/mail
virtual_mailbox_maps = inline:{me@example.net=me/}
virtual_uid_maps = static:9
virtual_gid_maps = static:9
virtual_minimum_uid = 1
maillog_file = $work/postfix.log
maillog_file_prefixes = /tmp
import_environment = MAIL_CONFIG LD_LIBRARY_PATH TZ
export_environment = MAIL_CONFIG LD_LIBRARY_PATH TZ
END2
  sed -i '/^mydestination/d' "$etc/main.cf"
  echo 'mydestination =' >>"$etc/main.cf"
  sed -e 's/^\([a-z]*  *[a-z]*  *[-yn]*  *[-yn]*  *\)y/\1n/' "$package/usr/share/postfix/master.cf.dist" |
    sed -e "s/^smtp      inet  n/127.0.0.1:$smtp inet n/" -e '/^#/d' >"$etc/master.cf"
  grep -q '^postlog' "$etc/master.cf" || echo 'postlog unix-dgram n - n - 1 postlogd' >>"$etc/master.cf"
  export LD_LIBRARY_PATH="$libraries"
}

postconf() { "$postfix_package/usr/sbin/postconf" "$@"; }

postfix_begins() {
  chown -R news "$work/data" "$work/mail"
  for folder in active bounce corrupt defer deferred flush hold incoming maildrop pid private public saved trace; do
    mkdir -p "$work/spool/$folder"
    case $folder in
      pid) ;;
      maildrop) chown news:uucp "$work/spool/$folder" && chmod 730 "$work/spool/$folder" ;;
      public) chown news:uucp "$work/spool/$folder" && chmod 710 "$work/spool/$folder" ;;
      *) chown news "$work/spool/$folder" && chmod 700 "$work/spool/$folder" ;;
    esac
  done
  "$postfix/sbin/master" -c "$etc" -d >"$work/master.log" 2>&1 &
  children="$children $!"
}

# The file of a mail with this text that Postfix has delivered.
delivered() { grep -rl "$1" "$work/mail/me/new" 2>/dev/null | head -n 1 | grep .; }

# posted NAME MARK: sends the file $work/out/NAME, and leaves what is delivered in $file.
posted() {
  wait_for 30 smtp_send "$smtp" "$work/out/$1" me@example.net || fail "Postfix does not take $1"
  wait_for 30 delivered "$2" || fail "$1 is not delivered"
  file=$(delivered "$2")
}

# posted_without FILTER...: without its filters, and without the server, mail goes on.
posted_without() {
  for filter; do mv "$filter" "$filter.aside"; done
  message spam marker-filter >"$work/out/mail"
  posted mail marker-filter
  holds "$file" '^X-DBACL: error$'
  kill -9 "$server"
  message spam marker-server >"$work/out/mail"
  posted mail marker-server
  lacks "$file" '^X-DBACL'
}

# spamc_unpacked: a program spamc in $work/bin, whatever libraries its caller has.
spamc_unpacked() {
  unpacked spamc
  mkdir -p "$work/bin"
  cat >"$work/bin/spamc" <<END2
#!/bin/sh
LD_LIBRARY_PATH=$libraries exec $package/usr/bin/spamc -F /dev/null "\$@"
END2
  chmod 755 "$work/bin/spamc"
}

# dovecot_basis PROTOCOL: what every configuration of a Dovecot of the test's own begins with.
dovecot_basis() {
  cat <<END2
base_dir = $work/run/dovecot
state_dir = $work/run/dovecot
log_path = $work/dovecot.log
protocols = $1
listen = 127.0.0.1
ssl = no
first_valid_uid = 1
mail_location = maildir:~/Maildir
default_internal_user = dovecot
passdb {
  driver = static
  args = nopassword=y
}
userdb {
  driver = static
  args = uid=mail gid=mail home=$work/mail/%u
}
END2
}

# dovecot_imap PORT: a Dovecot's IMAP with passwords in the clear; unpacked in $package.
dovecot_imap() {
  cat <<END2
disable_plaintext_auth = no
service imap-login {
  inet_listener imap {
    port = $1
  }
  inet_listener imaps {
    port = 0
  }
  executable = $package/usr/lib/dovecot/imap-login
}
service imap {
  executable = $package/usr/lib/dovecot/imap
}
$(for name in imap-urlauth imap-urlauth-login imap-urlauth-worker imap-hibernate; do
  printf 'service %s {\n  executable = %s\n}\n' $name "$package/usr/lib/dovecot/$name"
done)
namespace inbox {
  inbox = yes
  separator = /
}
END2
}

# serve_spamassassin: the server with SpamAssassin's headers, for spamc at a socket.
serve_spamassassin() {
  cat >"$work/etc/dbacl/server.toml" <<END2
default = "$work/var/lib/dbacl/default"
models = "$work/var/lib/dbacl/{user}"
headers = ["spamassassin"]
[listen]
spamc = "$work/run/dbacl/spamc"
END2
  serve --config "$work/etc/dbacl/server.toml"
}

# miltertest_script: a script of miltertest from standard input, which may call check().
miltertest_script() {
  {
    cat <<'END2'
function check(what, got, wanted)
  if got ~= wanted then
    print(what .. ": " .. tostring(got) .. " and not " .. tostring(wanted))
    os.exit(1)
  end
end
END2
    cat
  } >"$work/test.lua"
}

# miltertest WHAT VARIABLE=VALUE...: runs the script on the milter at $socket.
miltertest() {
  what=$1
  shift
  set -- $(for variable; do echo "-D $variable"; done)
  packaged usr/bin/miltertest -D "socket=$socket" "$@" -s "$work/test.lua" >"$work/test.log" 2>&1 ||
    fail "miltertest: $what: $(cat "$work/test.log")"
}

# The lines of a mail's header that tell the verdict and its reasons.
verdict_lines() {
  awk '/^\r?$/ { exit } /^[ \t]/ { if (inside) print; next } { inside = /^X-DBACL/ } inside { print }' "$1"
}

# smtpd_unpacked: OpenSMTPD where it looks for its folders; it will listen at $port and put mail for
# tester@example.net into a folder. For scripts with OWN_VIEW.
smtpd_unpacked() {
  unpacked opensmtpd
  accounts opensmtpd opensmtpq tester
  own_libraries
  # smtpd has fixed folders.
  mkdir -p "$work/mail" "$work/libexec"
  chown tester "$work/mail"
  [ ! -d /usr/libexec ] || cp -a /usr/libexec/. "$work/libexec/"
  cp -a "$package/usr/libexec/opensmtpd" "$work/libexec/"
  [ -d /usr/libexec ] || skip '/usr/libexec is missing'
  mount --bind "$work/libexec" /usr/libexec
  mount -t tmpfs none /var/spool
  mount -t tmpfs none /var/lib
  mount -t tmpfs none /run
  mkdir -p /var/lib/opensmtpd/empty /var/spool/smtpd
  chmod 711 /var/spool/smtpd
  port=$(port)
}

# With the configuration $work/smtpd.conf.
smtpd_begins() {
  "$package/usr/sbin/smtpd" -n -f "$work/smtpd.conf" >"$work/check.log" 2>&1 || fail "smtpd.conf: $(cat "$work/check.log")"
  "$package/usr/sbin/smtpd" -d -f "$work/smtpd.conf" >"$work/smtpd.log" 2>&1 &
  children="$children $!"
}

# The file of a mail with this text that smtpd has delivered.
in_the_box() { grep -rl "$1" "$work/mail/box/new" 2>/dev/null | head -n 1 | grep .; }

# delivered_by_smtpd KIND: a mail with a forged verdict comes out of smtpd with that of its kind, and with
# folded reasons; its file is $file.
delivered_by_smtpd() {
  { forged "$1"; echo '.dot'; } >"$work/$1"
  wait_for 30 smtp_send "$port" "$work/$1" tester@example.net || fail "smtpd does not take $1"
  wait_for 30 in_the_box "marker-$1" || fail "$1 is not delivered"
  file=$(in_the_box "marker-$1")
  holds "$file" "^X-DBACL: $1 [0-9.]*%"
  holds "$file" '^\.dot'
  lacks "$file" forged
  holds "$file" "^X-DBACL-Reasons: $1 +"
  [ "$(verdict_lines "$file" | wc -l)" -gt 2 ] || fail 'the reasons are not folded'
}
