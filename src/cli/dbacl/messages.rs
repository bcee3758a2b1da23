// SPDX-License-Identifier: GPL-3.0-or-later
//! What the program says beside its output: messages, and that work goes on.

use crate::cli::output::Messages;
use dbacl_cli::progress;

/// The program's messages on standard error.
pub static MESSAGES: Messages = Messages::of("dbacl");

/// Does `work`, and shows on the terminal that it goes on if that `is_wanted`: not while the user
/// types the text, and not while the work prints.
pub fn watched<T>(what: &'static str, is_wanted: bool, work: impl FnOnce() -> T) -> T {
    if is_wanted && !MESSAGES.is_quiet() { progress::watch(what, || None, work) } else { work() }
}
