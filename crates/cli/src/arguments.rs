// SPDX-License-Identifier: GPL-3.0-or-later
//! The beginning and the end of a program whose command line is read by clap.

use crate::output::Messages;
use crate::terminal::Shown;
use crate::{last_resort, output, status};
use clap::Parser;
use clap::error::ErrorKind;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

/// The options of the command line. Help, the version and messages about mistakes are printed here;
/// a message repeats words of the command line, so a terminal is shown its control characters.
///
/// # Errors
/// The status to end with: success after help and the version, `usage` after a mistake.
pub fn read<O: Parser>(program: &'static str, usage: u8) -> Result<O, ExitCode> {
    O::try_parse().map_err(|error| {
        let text = error.render().to_string();
        if error.use_stderr() && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        {
            say(program, &in_one_line(program, &text));
            ExitCode::from(usage)
        } else if error.use_stderr() {
            let _ = Shown::new(io::stderr()).write_all(text.as_bytes());
            ExitCode::from(usage)
        } else {
            print(&text).map_or_else(
                |(status, text)| {
                    say(program, &text);
                    ExitCode::from(status)
                },
                |()| ExitCode::SUCCESS,
            )
        }
    })
}

/// What clap says of a mistake, in the form of all messages: what is wrong; what helps.
fn in_one_line(program: &str, text: &str) -> String {
    let mut line = String::new();
    for part in text.lines().map(str::trim).filter(|part| !part.is_empty()) {
        if part.starts_with("Usage:") || part.starts_with("For more information") {
            break;
        }
        let part = part.trim_start_matches("error: ");
        let (between, part) = match part.strip_prefix("tip: ") {
            Some(tip) => ("; ", tip),
            None if line.is_empty() => ("", part),
            // Lists of values and of missing arguments.
            None => (" ", part),
        };
        line.push_str(between);
        line.push_str(part);
    }
    format!("{line}; try {program} --help")
}

/// Reads the options and runs `work` with them. A failure of `work` is a status ([`status`]) and a
/// text, which is printed in one line on standard error after the program's name. Without memory
/// the program ends with a line, too, and with the status [`status::LATER`].
pub fn run<O: Parser>(
    program: &'static str,
    work: impl FnOnce(O) -> Result<(), (u8, String)>,
) -> ExitCode {
    last_resort::install(program, ": ");
    last_resort::set_status(status::LATER);
    last_resort::grow_stack();
    let options = match read(program, status::USAGE) {
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

/// Prints `text` in one line on standard error after the program's name.
pub fn say(program: &'static str, text: &str) {
    Messages::plain(program).error(text);
}

/// Writes `text` to standard output. A reader that has gone away is not a failure.
///
/// # Errors
///
/// The status to end with and what is wrong, as [`run`] takes them.
pub fn print(text: &str) -> Result<(), (u8, String)> {
    let printed = output::print(text.as_bytes());
    let complaint = printed.err().as_ref().and_then(output::complaint);
    complaint.map_or(Ok(()), |text| Err((status::IO, text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, Command};

    #[test]
    fn a_mistake_is_one_line_that_says_what_helps() {
        let command = || {
            let train = Command::new("train").arg(Arg::new("file").required(true));
            let kind = Arg::new("kind").long("kind").value_parser(["ham", "spam"]);
            Command::new("x").arg(kind).subcommand(train)
        };
        for (words, expected) in [
            (
                &["x", "tarin"][..],
                "unrecognized subcommand 'tarin'; a similar subcommand exists: 'train'; \
                 try x --help",
            ),
            (
                &["x", "--kidn"],
                "unexpected argument '--kidn' found; a similar argument exists: '--kind'; \
                 try x --help",
            ),
            (
                &["x", "--kind", "good"],
                "invalid value 'good' for '--kind <kind>' [possible values: ham, spam]; \
                 try x --help",
            ),
            (
                &["x", "train"],
                "the following required arguments were not provided: <file>; try x --help",
            ),
        ] {
            let error = command().try_get_matches_from(words).expect_err("a mistake");
            assert_eq!(in_one_line("x", &error.render().to_string()), expected);
        }
    }
}
