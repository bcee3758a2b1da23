// SPDX-License-Identifier: GPL-3.0-or-later
//! How a program whose command line clap reads begins and ends.

use crate::{output, status};
use clap::Parser;
use std::process::ExitCode;

/// The options of the command line. Help, the version, and what is wrong with it are printed.
///
/// # Errors
/// The status to end with: success after help and the version, `usage` after a mistake.
pub fn read<O: Parser>(usage: u8) -> Result<O, ExitCode> {
    O::try_parse().map_err(|error| {
        let is_wanted = !error.use_stderr();
        // Help that nobody reads any more is no error.
        let _ = error.print();
        if is_wanted { ExitCode::SUCCESS } else { ExitCode::from(usage) }
    })
}

/// Reads the options and does what they ask for. What ends it early is one line on standard error,
/// behind the program's name, and the status of that failure ([`status`]).
pub fn run<O: Parser>(program: &str, work: impl FnOnce(O) -> Result<(), (u8, String)>) -> ExitCode {
    let options = match read(status::USAGE) {
        Ok(options) => options,
        Err(status) => return status,
    };
    match work(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err((status, text)) => {
            say(program, &text);
            ExitCode::from(status)
        }
    }
}

/// Tells the user something, in one line on standard error behind the program's name.
pub fn say(program: &str, text: &str) {
    output::raw(format!("{program}: {text}").as_bytes());
}
