// SPDX-License-Identifier: GPL-3.0-or-later
//! The recipes of `docs/server.md`, with the real mail programs. Each is a script in
//! `tests/servers`; without its programs it is skipped.

dbacl_testing::scripts! {
    "crates/dbacl-server/tests/servers":
    dovecot_tells_of_moves = "dovecot";
    exim_asks_as_it_asks_spamassassin = "exim";
    miltertest_sees_headers_and_refusals = "milter";
    notmuch_tags_with_one_process = "notmuch";
    opensmtpd_runs_the_filter = "opensmtpd";
    postfix_asks_the_milter = "postfix";
    rspamc_reads_the_verdict = "rspamc";
    sieve_sorts_by_the_score = "sieve";
    spamc_speaks_with_the_server = "spamc";
}
