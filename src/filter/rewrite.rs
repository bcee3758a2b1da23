// SPDX-License-Identifier: GPL-3.0-or-later
//! Rewriting a line in place, from left to right.
//!
//! Filters only ever shorten what they read, so the output can take the place of the input:
//! `written <= read <= len` holds between steps.

/// A line with a read position and, at or before it, a write position.
pub(super) struct Rewrite<'a> {
    line: &'a mut Vec<u8>,
    read: usize,
    written: usize,
    /// A NUL was written: it will end the line (spec text 1.4).
    has_nul: bool,
    /// What followed the line and a NUL.
    hidden: &'a [u8],
}

impl<'a> Rewrite<'a> {
    /// Starts at byte `at` of `line`; what is before it stays as it is.
    pub(super) fn starting_at(line: &'a mut Vec<u8>, at: usize) -> Self {
        debug_assert!(at <= line.len());
        Self { line, read: at, written: at, has_nul: false, hidden: &[] }
    }

    /// Starts at the beginning of `line`, which a NUL and then `hidden` followed.
    pub(super) fn before_nul(line: &'a mut Vec<u8>, hidden: &'a [u8]) -> Self {
        Self { hidden, ..Self::starting_at(line, 0) }
    }

    /// Takes the NUL after the line, and what follows it up to the next NUL, into the line.
    pub(super) fn reveal(&mut self) {
        if self.hidden.is_empty() {
            return;
        }
        let end = memchr::memchr(0, self.hidden).unwrap_or(self.hidden.len());
        self.line.push(0);
        self.line.extend_from_slice(&self.hidden[..end]);
        self.hidden = self.hidden.get(end + 1..).unwrap_or_default();
    }

    /// Whether all was read.
    pub(super) fn is_at_end(&self) -> bool {
        self.read >= self.line.len()
    }

    /// Index of the next byte to read.
    pub(super) fn position(&self) -> usize {
        self.read
    }

    /// Number of bytes written so far, those before the start included.
    pub(super) fn written(&self) -> usize {
        self.written
    }

    /// The whole line; from the read position on it is unchanged.
    pub(super) fn line(&self) -> &[u8] {
        self.line
    }

    /// What is left to read.
    pub(super) fn rest(&self) -> &[u8] {
        &self.line[self.read..]
    }

    /// The next byte to read; 0 at the end.
    pub(super) fn byte(&self) -> u8 {
        self.peek(0)
    }

    /// The byte `ahead` places after the next one; 0 after the end.
    pub(super) fn peek(&self, ahead: usize) -> u8 {
        self.line.get(self.read + ahead).copied().unwrap_or(0)
    }

    /// Writes `byte`. At least as many bytes must have been read, or be read by the same step.
    pub(super) fn put(&mut self, byte: u8) {
        self.line[self.written] = byte;
        self.written += 1;
        self.has_nul |= byte == 0;
    }

    /// Drops the next `count` bytes, or all if there are fewer.
    pub(super) fn skip(&mut self, count: usize) {
        self.read = self.line.len().min(self.read + count);
        debug_assert!(self.written <= self.read);
    }

    /// Goes on reading at `position`, which is not after the end.
    pub(super) fn jump(&mut self, position: usize) {
        debug_assert!(position <= self.line.len() && self.written <= position);
        self.read = position;
    }

    /// Copies the next `count` bytes, or all if there are fewer.
    pub(super) fn copy(&mut self, count: usize) {
        let end = self.line.len().min(self.read + count);
        if self.written == self.read {
            self.written = end;
        } else {
            self.line.copy_within(self.read..end, self.written);
            self.written += end - self.read;
        }
        self.read = end;
    }

    /// Copies one byte.
    pub(super) fn keep(&mut self) {
        let byte = self.line[self.read];
        self.line[self.written] = byte;
        self.written += 1;
        self.read += 1;
    }

    /// Copies or drops the next `count` bytes.
    pub(super) fn pass(&mut self, count: usize, shown: bool) {
        if shown {
            self.copy(count);
        } else {
            self.skip(count);
        }
    }

    /// Ends the line after what was written, or at the first NUL in it.
    pub(super) fn finish(self) {
        self.line.truncate(self.written);
        if self.has_nul
            && let Some(nul) = memchr::memchr(0, self.line)
        {
            self.line.truncate(nul);
        }
    }
}
