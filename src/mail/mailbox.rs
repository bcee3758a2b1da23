// SPDX-License-Identifier: GPL-3.0-or-later
//! The rule of the original programs for where messages of a mailbox begin, and mailboxes of one
//! form.
//!
//! The one reader of mail is [`crate::mail::scanner`]. The programs whose bytes are those of dbacl
//! 1.14.1 keep its rule, [`Boundaries`]: `dbacl -T email`, `mailinspect` with a category of such
//! words, and `mailcross`, `mailtoe` and `mailfoot` take any line `From ` after an empty line for
//! the beginning of a message.

use crate::mail::from_line::{FROM, FromLine};

/// Says where messages begin by the rule of the original. The beginning of a source counts as an
/// empty line.
#[derive(Debug, Clone, Copy)]
pub struct Boundaries {
    is_after_empty: bool,
}

impl Default for Boundaries {
    fn default() -> Self {
        Self { is_after_empty: true }
    }
}

impl Boundaries {
    /// Whether a message begins with the next line. Nothing at all, as after the last line, is no
    /// line.
    pub fn begins(&mut self, line: &[u8]) -> bool {
        let begins = self.is_after_empty && line.starts_with(FROM);
        if !line.is_empty() {
            self.is_after_empty = is_empty(line);
        }
        begins
    }
}

/// Whether a line, with its end, is an empty one.
pub fn is_empty(line: &[u8]) -> bool {
    matches!(line, b"\n" | b"\r\n")
}

/// Looks at the lines of a mailbox of one form ([`crate::mail::reader::Canonical`]), or of a
/// message, one after the other.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "all are claims")]
pub(crate) struct Separators {
    is_first: bool,
    /// Whether the source is a mailbox; `None` as long as all of its lines were empty.
    is_mailbox: Option<bool>,
    is_after_empty: bool,
    /// The last line goes on: it was longer than a line may be.
    is_within: bool,
}

impl Default for Separators {
    fn default() -> Self {
        Self { is_first: true, is_mailbox: None, is_after_empty: true, is_within: false }
    }
}

impl Separators {
    /// Puts `>` before a line that only looks like the beginning of a message, so that readers of
    /// mail by the rule of the original are not misled. The first line may be any; further messages
    /// begin after lines with a sender and a date, in a source that may hold several and whose
    /// first line is such a line or looks like one. Returns whether a message begins.
    pub(crate) fn line(&mut self, line: &mut Vec<u8>, may_be_mailbox: bool) -> bool {
        if line.is_empty() {
            return std::mem::replace(&mut self.is_first, false);
        }
        let is_empty = is_empty(line);
        let looks_alike = self.is_after_empty && !self.is_within && line.starts_with(FROM);
        self.is_after_empty = !self.is_within && is_empty;
        self.is_within = !line.ends_with(b"\n");
        if self.is_mailbox.is_none() && !is_empty {
            self.is_mailbox = Some(line.starts_with(FROM));
        }
        if std::mem::replace(&mut self.is_first, false) {
            return true;
        }
        let is_mailbox = may_be_mailbox && self.is_mailbox == Some(true);
        let begins = looks_alike && is_mailbox && begins_message(line);
        if looks_alike && !begins {
            line.insert(0, b'>');
        }
        begins
    }
}

/// Whether a line is `From SENDER DATE`, with the date as `ctime` writes it, or as in the header of
/// a message; a zone and more may follow.
pub fn begins_message(line: &[u8]) -> bool {
    FromLine::of(line) == Some(FromLine::Exact)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_would_be_misread_is_quoted() {
        let strict = "From a@b.c Mon Jan  1 00:00:00 2024\n";
        for (lines, may_be_mailbox, quoted, messages) in [
            (vec!["From x\n"], true, vec![], vec![0]),
            (vec!["\n", "From x\n"], true, vec![1], vec![0]),
            (vec!["\r\n", "From x\r\n"], true, vec![1], vec![0]),
            (vec!["a\n", "From x\n"], true, vec![], vec![0]),
            (vec![strict, "\n", strict], true, vec![], vec![0, 2]),
            (vec!["From x\n", "\n", strict], true, vec![], vec![0, 2]),
            (vec!["\r\n", "\n", strict, "\n", strict], true, vec![], vec![0, 2, 4]),
            (vec![strict, "\n", strict], false, vec![2], vec![0]),
            // A message that quotes a mailbox is one message.
            (vec!["a\n", "\n", strict], true, vec![2], vec![0]),
            (vec!["\n", "a\n", "\n", strict], true, vec![3], vec![0]),
            (vec![">From x\n", "\n", strict], true, vec![2], vec![0]),
            (vec!["a\n", "\n", strict], false, vec![2], vec![0]),
            (vec!["a", "\n", "From x\n"], true, vec![], vec![0]),
            (vec!["\n", "\n", "From x\n", "\n", "From y\n"], true, vec![2, 4], vec![0]),
        ] {
            let mut separators = Separators::default();
            for (number, line) in lines.iter().enumerate() {
                let mut seen = line.as_bytes().to_vec();
                let begins = separators.line(&mut seen, may_be_mailbox);
                let was_quoted = seen.len() > line.len();
                assert_eq!(begins, messages.contains(&number), "{lines:?}");
                assert_eq!(was_quoted, quoted.contains(&number), "{lines:?}");
                if !was_quoted {
                    assert_eq!(seen, line.as_bytes());
                    continue;
                }
                assert_eq!(seen, [b">", line.as_bytes()].concat());
            }
        }
    }
}
