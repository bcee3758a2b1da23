#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The short way of docs/mail.md: learned and filtered with two commands, delivered by procmail.
. "$(dirname "$0")/lib.sh"
own_procmail

mkdir -p ~/mail
for number in $(seq 1 40); do
  printf 'From a@example.org Mon Jan  1 10:00:00 2024\n'
  message private "child $number is hungry"
  printf '\n'
done >~/mail/good
for number in $(seq 1 40); do
  printf 'From a@example.biz Mon Jan  1 10:00:00 2024\n'
  message spam "prize number $number"
  printf '\n'
done >~/mail/spam
message spam >~/message
# Forty messages are few, and it says so.
may_say='too few to promise' recipe two-commands
holds "$work/recipe.out" '^X-DBACL: spam '
holds ~/mail/spam '^X-DBACL: spam '

message private | procmail
holds ~/mail/inbox '^X-DBACL: ham '
lacks ~/mail/inbox 'X-DBACL: spam'

message private new >~/wrong
dbacl --mail-correct ~/.dbacl-mail spam <~/wrong || fail 'a verdict cannot be put right'

# Without the filter's folder mail comes through.
mv ~/.dbacl-mail ~/elsewhere
message private lost | procmail
holds ~/mail/inbox '^X-DBACL: error'
echo PASSED
