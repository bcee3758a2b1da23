// SPDX-License-Identifier: GPL-3.0-or-later
//! Mailboxes → messages, by the rule of the original programs ([`dbacl::mail::mailbox`]).
//!
//! Lines of body text that begin with `From ` get a `>` in front, and each message ends with an
//! empty line. So the messages one after the other form a mailbox again.

use dbacl::mail::from_line::FROM;
use dbacl::mail::mailbox::{Boundaries, is_empty};
use std::io::{self, BufRead};

/// Cuts an input into messages. One message at a time is in memory.
#[derive(Debug)]
pub(crate) struct Messages<R> {
    input: R,
    boundaries: Boundaries,
    /// A line that has been read and belongs to the next message.
    pending: Vec<u8>,
}

impl<R: BufRead> Messages<R> {
    /// The messages of `input`. A mailbox of another form is brought into this one first
    /// ([`dbacl::mail::reader::Canonical`]).
    pub(crate) fn new(input: R) -> Self {
        Self { input, boundaries: Boundaries::default(), pending: Vec::new() }
    }

    /// Reads the next message, its `From ` line first. Text without such a line is a message as
    /// well, and gets one from its header.
    fn read(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut message = std::mem::take(&mut self.pending);
        let mut line = Vec::new();
        loop {
            line.clear();
            if self.input.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            let begins = self.boundaries.begins(&line);
            if message.is_empty() && is_empty(&line) {
                continue;
            }
            if line.starts_with(FROM) && !message.is_empty() {
                if begins {
                    self.pending = line;
                    break;
                }
                message.push(b'>');
            }
            message.extend_from_slice(&line);
        }
        if message.is_empty() {
            return Ok(None);
        }
        if !message.ends_with(b"\n") {
            message.push(b'\n');
        }
        if !message.ends_with(b"\n\n") && !message.ends_with(b"\n\r\n") {
            message.push(b'\n');
        }
        if !message.starts_with(FROM) {
            let line = from_line(&message);
            message.splice(..0, line);
        }
        Ok(Some(message))
    }
}

impl<R: BufRead> Iterator for Messages<R> {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// The rest of a message's `From ` line: sender and date.
pub(crate) fn sender_and_date(message: &[u8]) -> &[u8] {
    let line = message.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    line.strip_prefix(FROM).unwrap_or_default()
}

/// A `From ` line for a message that lacks one: the first address of its `From:` field, and 1
/// January 1970.
fn from_line(message: &[u8]) -> Vec<u8> {
    let header = message.split(|&byte| byte == b'\n').take_while(|line| !line.is_empty());
    let field = header
        .into_iter()
        .find(|line| line.get(..5).is_some_and(|name| name.eq_ignore_ascii_case(b"from:")));
    let is_delimiter = |byte: &u8| byte.is_ascii_whitespace() || b"<>,;\"()".contains(byte);
    let sender = field
        .unwrap_or_default()
        .split(is_delimiter)
        .find(|word| word.contains(&b'@'))
        .unwrap_or(b"nobody@localhost");
    [FROM, sender, b" Thu Jan  1 00:00:00 1970\n"].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<String> {
        let text_of = |message: io::Result<Vec<u8>>| String::from_utf8(message.unwrap()).unwrap();
        Messages::new(text.as_bytes()).map(text_of).collect()
    }

    #[test]
    fn messages_start_after_empty_lines() {
        for (text, expected) in [
            ("", &[][..]),
            ("\n\n", &[]),
            ("From a\n\nx\n\nFrom b\n\ny\n\n", &["From a\n\nx\n\n", "From b\n\ny\n\n"]),
            ("From a\n\nx\nFrom b\ny", &["From a\n\nx\n>From b\ny\n\n"]),
            ("From a\r\n\r\nx\r\n\r\nFrom b\r\n", &["From a\r\n\r\nx\r\n\r\n", "From b\r\n\n"]),
            ("\n\nFrom a\n", &["From a\n\n"]),
            (
                "Subject: x\nFrom: A <a@b.c>\n\nhi\n",
                &["From a@b.c Thu Jan  1 00:00:00 1970\nSubject: x\nFrom: A <a@b.c>\n\nhi\n\n"],
            ),
            ("hi\n", &["From nobody@localhost Thu Jan  1 00:00:00 1970\nhi\n\n"]),
        ] {
            assert_eq!(split(text), expected, "{text:?}");
        }
    }

    #[test]
    fn splitting_what_was_split_changes_nothing() {
        let first = split("From a\n\nx\nFrom b\n\nFrom c\n\n\n\nz");
        assert_eq!(split(&first.concat()), first);
    }

    #[test]
    fn sender_and_date_are_the_rest_of_the_first_line() {
        assert_eq!(sender_and_date(b"From a@b Mon  5\nFrom: x\n"), b"a@b Mon  5");
        assert_eq!(sender_and_date(b"x\n"), b"");
    }
}
