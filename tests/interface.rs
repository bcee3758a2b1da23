// SPDX-License-Identifier: GPL-3.0-or-later
//! The completions say what the option tables say. After a change of a table,
//! `BLESS=1 cargo test --test main interface` writes them anew.

use dbacl::cli::dbacl::options::TABLE;
use dbacl::cli::{bayesol, hypex};
use dbacl_cli::getopt::without_keys;
use dbacl_testing::completions::{Program, check};

#[test]
fn completions_list_the_option_tables() {
    check(&Program { name: "dbacl", options: without_keys(TABLE), commands: &[] });
    check(&Program { name: "bayesol", options: bayesol::options(), commands: &[] });
    check(&Program { name: "hypex", options: hypex::options(), commands: &[] });
}
