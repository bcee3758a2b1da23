// SPDX-License-Identifier: GPL-3.0-or-later
//! The completions say what the option tables say. After a change of a table,
//! `BLESS=1 cargo test --test main interface` writes them again.

use dbacl_cli::getopt::without_keys;
use dbacl_eval::{mailcross, options};
use dbacl_testing::completions::{Program, check};

/// Commands of mailcross, mailtoe and mailfoot.
const COMMANDS: &[&str] = &[
    "prepare",
    "add",
    "learn",
    "run",
    "summarize",
    "plot",
    "review",
    "truth",
    "clean",
    "testsuite",
];

#[test]
fn completions_list_the_option_tables() {
    check(&Program { name: "dbacl-eval", options: without_keys(options::TABLE), commands: &[] });
    for name in ["mailcross", "mailtoe", "mailfoot"] {
        check(&Program { name, options: mailcross::options(), commands: COMMANDS });
    }
}
