// SPDX-License-Identifier: GPL-3.0-or-later
//! Messages and progress of the program.

use super::failure::{Failure, output_failure};
use crate::error::Warning;
use dbacl_cli::output::{Messages, Output};
use dbacl_cli::progress;

/// The program's messages on standard error.
pub(super) static MESSAGES: Messages = Messages::of("dbacl");

/// Prints a warning.
#[allow(clippy::needless_pass_by_value)] // as sinks take them
pub(super) fn warn(warning: Warning) {
    MESSAGES.warning(&warning.0);
}

/// Prints why a run failed.
pub(super) fn tell(failure: &Failure) {
    failure.lines.iter().for_each(|line| MESSAGES.error(line));
}

/// Prints a text on standard output, with what is waiting there.
pub(super) fn print(output: &mut Output, text: &str) -> Result<u8, Failure> {
    output.buffer().extend_from_slice(text.as_bytes());
    output.flush().map_err(|error| output_failure(&error))?;
    Ok(0)
}

/// Runs `work` and shows its progress on the terminal if `is_wanted`. Progress is not wanted while
/// the user types the text, or while the work prints.
pub(super) fn watched<T>(what: &'static str, is_wanted: bool, work: impl FnOnce() -> T) -> T {
    if is_wanted && !MESSAGES.is_quiet() { progress::watch(what, || None, work) } else { work() }
}
