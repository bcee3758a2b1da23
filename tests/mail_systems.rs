// SPDX-License-Identifier: GPL-3.0-or-later
//! The recipes of `docs/mail.md`, followed in an empty home folder with the real mail programs.
//! Each is a script in `tests/mail/`; without its programs it is skipped.

dbacl_testing::scripts! {
    "tests/mail":
    folders_are_learned_by_cron = "cron-learning";
    fdm_delivers_by_verdict = "fdm";
    maildrop_delivers_by_verdict = "maildrop";
    notmuch_tags_by_verdict = "notmuch";
    postfix_gets_status_75_for_errors = "postfix-pipe";
    procmail_delivers_by_verdict = "procmail";
    a_message_is_retrained = "retrain";
    sieve_asks_a_program = "sieve-pipe";
    two_commands_make_a_filter = "two-commands";
}
