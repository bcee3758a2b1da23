// SPDX-License-Identifier: GPL-3.0-or-later
//! What the program is called, and its messages on standard error.

use dbacl_cli::output::Messages;

/// What the program is called in its messages, whatever it is called on disk.
pub const NAME: &str = "bayesol";

/// Warnings of the classifier.
pub static MESSAGES: Messages = Messages::of(NAME);
