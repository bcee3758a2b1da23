// SPDX-License-Identifier: GPL-3.0-or-later
//! Lines of text that wait to be passed on, and a builder that makes lines of pieces of text.

use super::blob::Blob;
use crate::model::medium::Medium;

/// No line is longer, in bytes. Longer ones are cut after a blank, or between characters.
pub(super) const LONGEST: usize = 8192;

#[derive(Debug, Clone, Copy)]
struct Line {
    end: usize,
    medium: Medium,
    in_header: bool,
}

/// Lines of valid UTF-8 with their media, first in, first out.
#[derive(Debug, Default)]
pub(super) struct Lines {
    bytes: Vec<u8>,
    waiting: Vec<Line>,
    next: usize,
    start: usize,
}

impl Lines {
    /// Adds a line, given without its end. Blank ones are passed over, and byte order marks and
    /// zero bytes are left out.
    pub(super) fn push(&mut self, mut text: &[u8], medium: Medium, in_header: bool) {
        if text.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        while let Some(at) = memchr::memchr2(0, 0xEF, text) {
            let (before, rest) = text.split_at(at);
            self.bytes.extend_from_slice(before);
            text = match rest {
                [0, rest @ ..] | [0xEF, 0xBB, 0xBF, rest @ ..] => rest,
                // Another character that begins like the mark.
                _ => {
                    self.bytes.push(0xEF);
                    &rest[1..]
                }
            };
        }
        self.bytes.extend_from_slice(text);
        self.bytes.push(b'\n');
        self.waiting.push(Line { end: self.bytes.len(), medium, in_header });
    }

    /// Adds a text of any length. A line end in it is a blank.
    pub(super) fn push_long(&mut self, mut text: &[u8], medium: Medium, in_header: bool) {
        while text.len() > LONGEST {
            let (line, rest) = text.split_at(cut(text));
            self.push(line, medium, in_header);
            text = rest;
        }
        self.push(text, medium, in_header);
    }

    /// Puts the next line in the place of `line`; returns its medium and whether it belongs to a
    /// header. Returns `None`, with `line` as it was, when there is none.
    pub(super) fn pop(&mut self, line: &mut Vec<u8>) -> Option<(Medium, bool)> {
        let &Line { end, medium, in_header } = self.waiting.get(self.next)?;
        line.clear();
        line.extend_from_slice(&self.bytes[self.start..end]);
        self.next += 1;
        self.start = end;
        if self.next == self.waiting.len() {
            self.clear();
        }
        Some((medium, in_header))
    }

    /// Moves the lines of `other` to the end of these.
    pub(super) fn append(&mut self, other: &mut Self) {
        let before = self.bytes.len();
        self.bytes.extend_from_slice(&other.bytes);
        let moved = other.waiting.iter().map(|line| Line { end: line.end + before, ..*line });
        self.waiting.extend(moved);
        other.clear();
    }

    /// Forgets all lines.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.waiting.clear();
        self.next = 0;
        self.start = 0;
    }

    /// Bytes of the lines that wait.
    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }
}

/// Where a text of more than [`LONGEST`] bytes is cut.
fn cut(text: &[u8]) -> usize {
    let window = &text[..LONGEST];
    if let Some(blank) = memchr::memrchr(b' ', window) {
        return blank + 1;
    }
    let is_inside = |&byte: &u8| byte & 0xC0 == 0x80;
    (1..LONGEST).rev().find(|&at| !is_inside(&text[at])).unwrap_or(LONGEST)
}

/// Puts lines together from pieces of text.
#[derive(Debug)]
pub(super) struct Builder {
    line: Vec<u8>,
    /// The medium of the lines.
    medium: Medium,
    /// Finds lines that are data, where these are left out.
    blob: Option<Blob>,
}

impl Builder {
    /// Nothing yet.
    pub(super) const fn new(medium: Medium) -> Self {
        Self { line: Vec::new(), medium, blob: None }
    }

    /// For plain text, without data that is written as text.
    pub(super) fn plain(medium: Medium) -> Self {
        Self { blob: Some(Blob::default()), ..Self::new(medium) }
    }

    /// Hands on a line, unless it is data.
    fn push(&mut self, line: &[u8], output: &mut Lines) {
        if !self.blob.as_mut().is_some_and(|blob| blob.holds(line)) {
            output.push_long(line, self.medium, false);
        }
    }

    /// Adds text; its line ends are those of lines.
    pub(super) fn lines(&mut self, mut text: &[u8], output: &mut Lines) {
        while let Some(end) = memchr::memchr(b'\n', text) {
            if self.line.is_empty() {
                self.push(&text[..end], output);
            } else {
                self.line.extend_from_slice(&text[..end]);
                self.end_line(output);
            }
            text = &text[end + 1..];
        }
        self.line.extend_from_slice(text);
        self.spill(output);
    }

    /// Adds text whose line ends are blanks.
    pub(super) fn run(&mut self, mut text: &[u8], output: &mut Lines) {
        while let Some(end) = memchr::memchr(b'\n', text) {
            self.line.extend_from_slice(&text[..end]);
            self.line.push(b' ');
            text = &text[end + 1..];
        }
        self.line.extend_from_slice(text);
        self.spill(output);
    }

    /// Ends the line.
    pub(super) fn end_line(&mut self, output: &mut Lines) {
        if !self.line.is_empty() {
            let line = std::mem::take(&mut self.line);
            self.push(&line, output);
            self.line = line;
            self.line.clear();
        }
    }

    /// Passes on the beginning of a text that is too long for one line.
    fn spill(&mut self, output: &mut Lines) {
        let mut start = 0;
        while self.line.len() - start > LONGEST {
            let length = cut(&self.line[start..]);
            output.push(&self.line[start..start + length], self.medium, false);
            start += length;
        }
        self.line.drain(..start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(lines: &mut Lines) -> Vec<String> {
        let mut found = Vec::new();
        let mut line = Vec::new();
        while lines.pop(&mut line).is_some() {
            found.push(String::from_utf8(line.clone()).expect("valid UTF-8"));
        }
        found
    }

    #[test]
    fn marks_and_zeros_are_left_out() {
        let mut lines = Lines::default();
        for text in ["\u{feff}a\u{feff}b\0c", "\u{ff21}\u{fffd}x", " \t\r", "\u{feff}"] {
            lines.push(text.as_bytes(), Medium::TEXT, false);
        }
        assert_eq!(all(&mut lines), ["abc\n", "\u{ff21}\u{fffd}x\n", "\n"]);
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_the_pieces(
            text in "([a-z]{1,9} |\u{4e2d}|\n){0,40}", size in 1_usize..5000, times in 1_usize..120,
        ) {
            let text = text.repeat(times);
            let mut lines = Lines::default();
            let mut builder = Builder::new(Medium::TEXT);
            builder.lines(text.as_bytes(), &mut lines);
            builder.end_line(&mut lines);
            let whole = all(&mut lines);
            let mut rest = text.as_str();
            while !rest.is_empty() {
                let cut = (size.min(rest.len())..=rest.len()).find(|&at| rest.is_char_boundary(at));
                let (piece, behind) = rest.split_at(cut.expect("the end is a border"));
                builder.lines(piece.as_bytes(), &mut lines);
                rest = behind;
            }
            builder.end_line(&mut lines);
            prop_assert_eq!(&all(&mut lines), &whole);
            let squeezed = |text: &str| text.replace(['\n', ' '], "");
            prop_assert_eq!(squeezed(&whole.concat()), squeezed(&text));
            prop_assert!(whole.iter().all(|line| line.len() <= LONGEST + 1));
        }
    }
}
