// SPDX-License-Identifier: GPL-3.0-or-later
//! The manual page says what the options say. After a change of the options,
//! `BLESS=1 cargo test -p dbacl-text interface` writes it again.

use dbacl_testing::terminal::shows_escapes;
use dbacl_testing::verbs::check_manual;
use dbacl_text::command;

#[test]
fn words_of_the_command_line_do_not_control_the_terminal() {
    let mut program = dbacl_testing::command(env!("CARGO_BIN_EXE_dbacl-text"));
    shows_escapes(program.arg("no\x1b[2J"), "no\x1b[2J");
}

#[test]
fn the_manual_page_lists_the_options() {
    check_manual("dbacl-text", &command());
}

#[test]
fn every_verb_has_an_example() {
    for verb in command().get_subcommands().filter(|verb| verb.get_name() != "help") {
        let help = verb.clone().render_help().to_string();
        let example = format!("Example: dbacl-text {} ", verb.get_name());
        assert!(help.contains(&example), "{help}");
    }
}
