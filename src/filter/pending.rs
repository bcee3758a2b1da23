// SPDX-License-Identifier: GPL-3.0-or-later
//! Decoded text that waits for a good place to be cut (spec email 9.4).
//!
//! Decoders join lines; what they deliver is cut before white space near the end, so that few
//! words are cut in two. What is left waits here for the next line, or for the end of the part.
//! Usually it is 70 bytes or less. Only lines of 4096 bytes or more that are as long as the longest
//! so far and decode to themselves may each leave 70 bytes.

use dbacl_words::class::is_space;
use std::ops::Range;

/// The text is cut within so many bytes before its end.
const REACH: usize = 70;
/// The room of a decoder at program start.
const FIRST_ROOM: usize = 4096;

/// A decoder of [`crate::filter::decode`]: buffer, place of the encoded text, place of the output;
/// returns the end of the output.
type Decode = fn(&mut [u8], Range<usize>, usize) -> usize;

/// The decoded text of one encoding that was not delivered yet. It outlives parts and files.
#[derive(Debug)]
pub(super) struct Pending {
    bytes: Vec<u8>,
    /// Bytes before this index were delivered.
    start: usize,
    /// The most that is delivered at once: the length of the longest line seen.
    room: usize,
}

impl Default for Pending {
    fn default() -> Self {
        Self { bytes: Vec::new(), start: 0, room: FIRST_ROOM }
    }
}

impl Pending {
    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.start == self.bytes.len()
    }

    /// Decodes an encoded line, and puts what can be delivered in its place. Returns whether there
    /// is something.
    pub(super) fn line(&mut self, line: &mut Vec<u8>, decode: Decode) -> bool {
        self.room = self.room.max(line.len());
        let start = self.bytes.len();
        self.bytes.extend_from_slice(line);
        let payload = start..self.bytes.len();
        let end = decode(&mut self.bytes, payload, start);
        self.bytes.truncate(end);
        let waiting = self.waiting();
        let end = waiting.len().min(self.room);
        let is_cut =
            |at: usize| waiting.get(at).is_some_and(|&byte| is_space(byte) || byte == b'&');
        let nearest = end.saturating_sub(REACH);
        let count = (nearest..=end).rev().find(|&at| is_cut(at)).unwrap_or(nearest);
        if count == 0 {
            return false;
        }
        line.clear();
        line.extend_from_slice(&waiting[..count]);
        self.start += count;
        // The delivered bytes' place is given back once they are the greater part, so that moving
        // the others costs no more than delivering these did.
        if self.start * 2 >= self.bytes.len() {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        true
    }

    /// Replaces `line` by all that waits, as far as there is room; the rest is lost.
    /// Returns whether there was something.
    pub(super) fn deliver_all(&mut self, line: &mut Vec<u8>) -> bool {
        if self.is_empty() {
            return false;
        }
        let count = self.waiting().len().min(self.room);
        line.clear();
        line.extend_from_slice(&self.waiting()[..count]);
        self.bytes.clear();
        self.start = 0;
        true
    }

    fn waiting(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::decode::quoted_printable;
    use proptest::prelude::*;

    #[test]
    fn chunks_end_before_white_space_near_the_end() {
        let long = "x".repeat(100);
        let mut pending = Pending::default();
        for (text, expected) in [
            ("one two\n", Some("one two")),
            ("three", None),
            ("", None),
            (&*long, Some(&*format!("\nthree{}", "x".repeat(30)))),
            ("&y=\n", Some(&*"x".repeat(70))),
            ("z =\n", Some("&yz")),
        ] {
            let mut line = text.as_bytes().to_vec();
            let is_kept = pending.line(&mut line, quoted_printable);
            assert_eq!(is_kept, expected.is_some(), "{text}");
            assert_eq!(String::from_utf8_lossy(&line), expected.unwrap_or(text));
        }
        let mut line = b"lost".to_vec();
        assert!(pending.deliver_all(&mut line));
        assert_eq!(line, b" ");
        assert!(!pending.deliver_all(&mut line));
        assert_eq!(line, b" ");
    }

    #[test]
    fn a_flush_loses_what_exceeds_the_room() {
        let mut pending = Pending::default();
        let mut line = Vec::new();
        for _ in 0..3 {
            line = vec![b'x'; FIRST_ROOM];
            assert!(pending.line(&mut line, quoted_printable));
            assert_eq!(line.len(), FIRST_ROOM - REACH);
        }
        pending.room = 100;
        assert!(pending.deliver_all(&mut line));
        assert_eq!(line.len(), 100);
        assert!(pending.is_empty());
    }

    proptest! {
        #[test]
        fn nothing_is_lost_or_invented_but_at_a_flush(
            lines in proptest::collection::vec("[a-z &]{0,120}", 0..40)
        ) {
            let mut pending = Pending::default();
            let mut output = Vec::new();
            for text in &lines {
                let mut line = text.clone().into_bytes();
                if pending.line(&mut line, quoted_printable) {
                    output.extend(line);
                }
            }
            let mut line = Vec::new();
            pending.deliver_all(&mut line);
            output.extend(line);
            prop_assert_eq!(output, lines.concat().into_bytes());
        }
    }
}
