// SPDX-License-Identifier: GPL-3.0-or-later
//! Made-up messages of two kinds, for a filter to learn.

use crate::Scratch;

/// The text of mail of one kind.
pub const SPAM: &str = "cheap pills, limited offer, order today and save money";

/// The text of mail of the other kind.
pub const HAM: &str = "the budget report before the meeting with our team on friday";

/// A mailbox of eighty messages, so many that verdicts on messages like them are sure.
fn mailbox(text: &str) -> String {
    (0..80)
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

/// A message of about `bytes` bytes in this character set, whose lines have so many words.
pub fn large(
    charset: &str,
    bytes: usize,
    words: usize,
    mut word: impl FnMut() -> Vec<u8>,
) -> Vec<u8> {
    let head = format!("Subject: x\nContent-Type: text/plain; charset={charset}\n\n");
    let mut mail = head.into_bytes();
    for number in 1.. {
        mail.extend(word());
        if number % words == 0 {
            mail.push(b'\n');
        }
        if mail.len() >= bytes {
            break;
        }
    }
    mail
}
