// SPDX-License-Identifier: GPL-3.0-or-later
//! The recipes of `docs/mail.md` and `docs/mail-recipes.md`, followed in an empty home folder
//! with the real mail programs. Each is a script in `tests/mail/`; without its programs it is
//! skipped.

dbacl_testing::scripts! {
    "tests/mail":
    folders_are_learned_by_cron = "cron-learning";
    fdm_delivers_by_verdict = "fdm";
    fdm_marks_mail = "filter-fdm";
    maildrop_marks_mail = "filter-maildrop";
    mutt_shows_why_when_its_key_is_pressed = "filter-mutt";
    notmuch_tags_mail_whatever_its_ids = "filter-notmuch";
    scripts_mark_and_correct_mail = "filter-scripts";
    sieve_marks_mail = "filter-sieve";
    maildrop_delivers_by_verdict = "maildrop";
    procmail_delivers_by_verdict = "procmail";
    a_message_is_retrained = "retrain";
    two_commands_make_a_filter = "two-commands";
}
