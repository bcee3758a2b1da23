// SPDX-License-Identifier: GPL-3.0-or-later
//! The recipes of `docs/server.md`, with the real mail programs. Each is a script in
//! `tests/servers`; without its programs it is skipped.

dbacl_testing::scripts! {
    "programs/server/tests/servers":
    the_first_steps_work_as_they_are_written = "begin";
    dovecot_tells_of_moves = "dovecot";
    dovecot_asks_when_mail_is_delivered = "dovecot-lmtp";
    exim_asks_as_it_asks_spamassassin = "exim";
    a_full_disk_stops_learning_only = "full-disk";
    miltertest_sees_headers_and_refusals = "milter";
    notmuch_tags_with_one_process = "notmuch";
    one_person_has_one_filter = "one-person";
    opensmtpd_runs_the_filter = "opensmtpd";
    opensmtpd_asks_as_it_asks_rspamd = "opensmtpd-rspamd";
    postfix_asks_the_milter = "postfix";
    postfix_gives_mail_to_a_content_filter = "postfix-filter";
    everybody_teaches_their_own_filter = "rights";
    rspamc_reads_the_verdict = "rspamc";
    sieve_sorts_by_the_score = "sieve";
    spamass_milter_asks_spamc = "spamass-milter";
    spamc_speaks_with_the_server = "spamc";
    the_status_page_fits_any_window = "status";
}
