// SPDX-License-Identifier: GPL-3.0-or-later
//! The beginning and the end of a program whose command line is read by clap.

use crate::{output, status};
use clap::Parser;
use std::process::ExitCode;

/// The options of the command line. Help, the version and messages about mistakes are printed here.
///
/// # Errors
/// The status to end with: success after help and the version, `usage` after a mistake.
pub fn read<O: Parser>(usage: u8) -> Result<O, ExitCode> {
    O::try_parse().map_err(|error| {
        let is_wanted = !error.use_stderr();
        // A closed pipe ends the output of help quietly.
        let _ = error.print();
        if is_wanted { ExitCode::SUCCESS } else { ExitCode::from(usage) }
    })
}

/// Reads the options and runs `work` with them. A failure of `work` is a status ([`status`]) and a
/// text, which is printed in one line on standard error behind the program's name.
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

/// Prints `text` in one line on standard error behind the program's name.
pub fn say(program: &str, text: &str) {
    output::raw(format!("{program}: {text}").as_bytes());
}
