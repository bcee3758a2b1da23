// SPDX-License-Identifier: GPL-3.0-or-later
//! Made-up mails of two kinds, for a filter to learn.

use crate::Scratch;

/// The text of mail of one kind.
pub const SPAM: &str = "cheap pills, limited offer";

/// The text of mail of the other kind.
pub const HAM: &str = "the budget report before the meeting";

/// A mailbox of forty mails.
fn mailbox(text: &str) -> String {
    (0..40)
        .map(|number| {
            format!(
                "From a@example.org Mon Jan  1 10:00:00 2024\nFrom: a@example.org\n\
                 Subject: {text}\n\n{text} {number}\n\n"
            )
        })
        .collect()
}

/// Writes the mailboxes `ham.mbox` and `spam.mbox`.
pub fn write_mailboxes(scratch: &Scratch) {
    scratch.write("ham.mbox", mailbox(HAM));
    scratch.write("spam.mbox", mailbox(SPAM));
}
