// SPDX-License-Identifier: GPL-3.0-or-later
//! The beginning and the end of a program whose command line is read by clap.

use crate::terminal::Shown;
use crate::{last_resort, output, status};
use clap::Parser;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

/// The options of the command line. Help, the version and messages about mistakes are printed here;
/// a message repeats words of the command line, so a terminal is shown its control characters.
///
/// # Errors
/// The status to end with: success after help and the version, `usage` after a mistake.
pub fn read<O: Parser>(usage: u8) -> Result<O, ExitCode> {
    O::try_parse().map_err(|error| {
        let text = error.render().to_string();
        // A closed pipe ends the output of help quietly.
        if error.use_stderr() {
            let _ = Shown::new(io::stderr()).write_all(text.as_bytes());
            ExitCode::from(usage)
        } else {
            let _ = Shown::new(io::stdout()).write_all(text.as_bytes());
            ExitCode::SUCCESS
        }
    })
}

/// Reads the options and runs `work` with them. A failure of `work` is a status ([`status`]) and a
/// text, which is printed in one line on standard error behind the program's name. Without memory
/// the program ends with a line, too, and with the status [`status::LATER`].
pub fn run<O: Parser>(
    program: &'static str,
    work: impl FnOnce(O) -> Result<(), (u8, String)>,
) -> ExitCode {
    last_resort::install(program);
    last_resort::set_status(status::LATER);
    let options = match read(status::USAGE) {
        Ok(options) => options,
        Err(status) => return status,
    };
    match catch_unwind(AssertUnwindSafe(|| work(options))) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err((status, text))) => {
            say(program, &text);
            ExitCode::from(status)
        }
        // The message of a panic has been printed.
        Err(_) => ExitCode::from(status::SOFTWARE),
    }
}

/// Prints `text` in one line on standard error behind the program's name.
pub fn say(program: &str, text: &str) {
    output::raw(format!("{program}: {text}").as_bytes());
}
