// SPDX-License-Identifier: GPL-3.0-or-later
//! The completions say what the option tables say. After a change of a table,
//! `BLESS=1 cargo test --test main interface` writes them again.

use dbacl_cli::getopt::without_keys;
use dbacl_testing::completions::{Program, check};
use mailinspect::options::TABLE;

#[test]
fn completions_list_the_option_table() {
    check(&Program { name: "mailinspect", options: without_keys(TABLE), commands: &[] });
}
