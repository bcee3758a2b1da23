#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Debian's Postfix, with the recipe: mail over SMTP gets its verdict, here with reasons, before it is
# delivered, also while the server is away.
. "$(dirname "$0")/lib.sh"
postfix_unpacked
filter "$work/var/lib/dbacl/default"
serve --default "$work/var/lib/dbacl/default" --models "$work/var/lib/dbacl/{user}" --milter 127.0.0.1:0 --reasons
port=$(served milter)
recipe postfix | sed "s/8893/$port/" >"$work/recipe.sh"
grep -q smtpd_milters "$work/recipe.sh" || fail 'docs/server.md has no recipe postfix'
. "$work/recipe.sh"
postfix_begins
mkdir -p "$work/out"
for kind in ham spam; do
  forged $kind 'X-DBACL-Reasons: forged,\n forged\n' >"$work/out/$kind"
  posted $kind "marker-$kind"
  holds "$file" "^X-DBACL: $kind [0-9.]*%$"
  lacks "$file" forged
  # The verdict and its reasons are those of the filter on the mail as it was sent.
  dbacl --mail-filter "$work/var/lib/dbacl/default" --reasons <"$work/out/$kind" >"$work/wanted"
  verdict_lines "$work/wanted" >"$work/wanted.lines"
  verdict_lines "$file" >"$work/got.lines"
  [ "$(wc -l <"$work/got.lines")" -gt 2 ] || fail "no reasons: $(cat "$work/got.lines")"
  cmp "$work/wanted.lines" "$work/got.lines" || fail 'another verdict than --mail-filter'
done
# Some message takes less than the 40 ms that a delayed acknowledgement takes; without an answer of
# the milter to DATA none does.
perl -MIO::Socket::INET -MTime::HiRes=time -e '
  my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => shift, Timeout => 20) or exit 1;
  sub answer { while (my $line = <$s>) { return $line if $line =~ /^\d\d\d / } exit 1 }
  sub command { print $s "$_[0]\r\n"; answer() }
  answer();
  command("EHLO client");
  for (1 .. 100) {
    command("MAIL FROM:<a\@example.org>");
    command("RCPT TO:<me\@example.net>");
    my $begun = time;
    command("DATA");
    command("Subject: quick\r\n\r\ntext\r\n.") =~ /^250/ or exit 2;
    exit 0 if time - $begun < 0.035;
  }
  exit 3' "$smtp" || fail "each message waits: $?"
posted_without "$work/var/lib/dbacl/default"
echo PASSED
