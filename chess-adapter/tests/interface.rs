// SPDX-License-Identifier: GPL-3.0-or-later
//! The manual page says what the options say. After a change of the options,
//! `BLESS=1 cargo test -p chess-adapter interface` writes it again.

use chess_adapter::cli::command;
use dbacl_testing::Scratch;
use dbacl_testing::terminal::shows_escapes;
use dbacl_testing::verbs::check_manual;

#[test]
fn words_of_the_command_line_do_not_control_the_terminal() {
    let place = Scratch::new();
    shows_escapes(&mut place.program("chess-adapter", ["no\x1b[2J"]), "no\x1b[2J");
}

#[test]
fn the_manual_page_lists_the_options() {
    check_manual("chess-adapter", &command());
}
