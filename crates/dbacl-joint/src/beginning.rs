// SPDX-License-Identifier: GPL-3.0-or-later
//! The beginning of a message, which is classified and learned. The limit bounds memory and time.

/// The most bytes of a message that are classified and learned.
pub const LIMIT: usize = 8 << 20;

/// Says which lines belong to the beginning of a message.
#[derive(Debug, Clone, Copy)]
pub struct Beginning {
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
    /// limit: readers of mail leave out the rest ([`dbacl_engine::document::FeatureReader`]).
    pub fn holds(&mut self, line: &mut Vec<u8>) -> bool {
        if std::mem::replace(&mut self.is_first, false) && line.starts_with(b"From ") {
            return true;
        }
        let was_empty = line.is_empty();
        line.truncate(self.left);
        self.left -= line.len();
        was_empty || !line.is_empty()
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
}
