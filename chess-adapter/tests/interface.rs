// SPDX-License-Identifier: GPL-3.0-or-later
//! Completions and manual page say what the options say. After a change of the options,
//! `BLESS=1 cargo test -p chess-adapter interface` writes them anew.

use chess_adapter::cli::command;
use dbacl_testing::verbs::{check_completions, check_manual};

#[test]
fn completions_list_the_options() {
    check_completions("chess-adapter", &command());
}

#[test]
fn the_manual_page_lists_the_options() {
    check_manual("chess-adapter", &command());
}
