// SPDX-License-Identifier: GPL-3.0-or-later
//! The lines of a message that are classified and learned: its beginning, without verdicts of a
//! mail filter in its header. The limit bounds memory and time.

use crate::mail::mailbox::Separators;
use crate::mail::verdict_header::VerdictHeaders;

/// The most bytes of a message that are classified and learned.
pub(crate) const LIMIT: usize = 8 << 20;

/// Says which lines belong to the beginning of a message.
#[derive(Debug, Clone, Copy)]
struct Beginning {
    /// Bytes that are still to come.
    left: usize,
    is_first: bool,
}

impl Default for Beginning {
    fn default() -> Self {
        Self { left: LIMIT, is_first: true }
    }
}

impl Beginning {
    /// Whether a line of the mail, given as it was read, belongs to the beginning. A line across
    /// the limit is cut there. The line `From ` that stands before a message in a mailbox does not
    /// count, so that a message has the same beginning wherever it is. No line is longer than the
    /// limit: readers of mail leave out the rest ([`crate::document::FeatureReader`]).
    fn holds(&mut self, line: &mut Vec<u8>) -> bool {
        if std::mem::replace(&mut self.is_first, false) && line.starts_with(b"From ") {
            return true;
        }
        let was_empty = line.is_empty();
        line.truncate(self.left);
        self.left -= line.len();
        was_empty || !line.is_empty()
    }
}

/// Chooses the lines that are read of one message after the other.
#[derive(Debug, Default)]
pub(crate) struct MailLines {
    separators: Separators,
    /// The verdicts in the header, which are left out.
    pub verdicts: VerdictHeaders,
    beginning: Beginning,
}

impl MailLines {
    /// Whether a message begins with this line of a source that may be a mailbox. A line that only
    /// looks so is changed.
    pub(crate) fn begins(&mut self, line: &mut Vec<u8>, may_be_mailbox: bool) -> bool {
        let begins = self.separators.line(line, may_be_mailbox) && may_be_mailbox;
        if begins {
            self.restart_message();
        }
        begins
    }

    /// Whether a line of the message is read.
    pub(crate) fn hold(&mut self, line: &mut Vec<u8>) -> bool {
        !self.verdicts.contain(line) && self.beginning.holds(line)
    }

    /// The next line is the first one of a message.
    pub(crate) fn restart_message(&mut self) {
        (self.verdicts, self.beginning) = Default::default();
    }

    /// The next line is the first one of a source.
    pub(crate) fn restart(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_across_the_limit_is_cut_and_those_behind_it_are_left_out() {
        let mut beginning = Beginning::default();
        assert!(beginning.holds(&mut b"From a Mon Jan  1 00:00:00 2024\n".to_vec()));
        let mut line = vec![b'x'; LIMIT - 10];
        assert!(beginning.holds(&mut line) && line.len() == LIMIT - 10);
        let mut line = b"a line across the limit\n".to_vec();
        assert!(beginning.holds(&mut line));
        assert_eq!(line, b"a line acr");
        assert!(!beginning.holds(&mut b"\n".to_vec()));
        // The end of a source may be an empty line.
        assert!(beginning.holds(&mut Vec::new()));
    }

    #[test]
    fn verdicts_in_the_header_of_each_message_are_not_read() {
        let mut mail = MailLines::default();
        for (line, expected) in [
            ("From a@example.org Mon Jan  1 00:00:00 2024\n", (true, true)),
            ("X-DBACL: spam 99.00%\n", (false, false)),
            (" folded\n", (false, false)),
            ("Subject: x\n", (false, true)),
            ("\n", (false, true)),
            ("X-DBACL: in the text\n", (false, true)),
            ("\n", (false, true)),
            ("From b@example.org Mon Jan  1 00:00:00 2024\n", (true, true)),
            ("X-DBACL: ham 99.00%\n", (false, false)),
        ] {
            let mut bytes = line.as_bytes().to_vec();
            let begins = mail.begins(&mut bytes, true);
            assert_eq!((begins, mail.hold(&mut bytes)), expected, "{line}");
        }
        // A source that is not a mailbox is one message.
        mail.restart();
        for line in ["Subject: x\n", "\n", "From b@example.org Mon Jan  1 00:00:00 2024\n"] {
            let mut bytes = line.as_bytes().to_vec();
            assert!(!mail.begins(&mut bytes, false) && mail.hold(&mut bytes), "{line}");
        }
    }
}
