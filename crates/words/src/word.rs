// SPDX-License-Identifier: GPL-3.0-or-later
//! A word as tokenizers pass it on, and the trait of those who receive words.

/// Longest word, bytes. On a line on which the window of the last n words has been full once, a
/// word may have one byte more.
pub const MAX_WORD: usize = 30;

/// Bytes that can be read from the start of any word: the longest word, padded.
pub const WORD_WINDOW: usize = 32;

/// A borrowed word. At least [`WORD_WINDOW`] bytes can be read from its start, so that it can be
/// read in whole machine words.
#[derive(Debug, Clone, Copy)]
pub struct Word<'a> {
    window: &'a [u8; WORD_WINDOW],
    length: usize,
}

impl<'a> Word<'a> {
    /// The word of `length` bytes at the start of `window`.
    ///
    /// # Panics
    /// If it is longer than [`MAX_WORD`] + 1, which the tokenizer's limits rule out.
    pub fn new(window: &'a [u8; WORD_WINDOW], length: usize) -> Self {
        assert!(length < WORD_WINDOW, "words are cut at their limit");
        Self { window, length }
    }

    /// Its bytes, and what is after them.
    pub const fn window(&self) -> &'a [u8; WORD_WINDOW] {
        self.window
    }

    /// Its bytes.
    pub fn bytes(&self) -> &'a [u8] {
        &self.window[..self.length]
    }

    /// Appends its bytes.
    #[inline]
    pub fn append_to(&self, out: &mut Vec<u8>) {
        // A copy of fixed length is much faster.
        out.extend_from_slice(self.window);
        out.truncate(out.len() - WORD_WINDOW + self.length);
    }

    /// Number of its bytes.
    pub const fn len(&self) -> usize {
        self.length
    }

    /// Whether it has none.
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Its bytes, and zero bytes after them, as little-endian numbers.
    #[inline]
    pub fn padded(&self) -> [u64; WORD_WINDOW / 8] {
        /// A mask of the first bytes, for each number of them.
        const MASKS: [[u64; WORD_WINDOW / 8]; WORD_WINDOW] = {
            let mut masks = [[0; WORD_WINDOW / 8]; WORD_WINDOW];
            let mut length = 0;
            while length < WORD_WINDOW {
                let mut at = 0;
                while at < length {
                    masks[length][at / 8] |= 0xff << (8 * (at % 8));
                    at += 1;
                }
                length += 1;
            }
            masks
        };
        let mut parts = MASKS[self.length];
        for (part, bytes) in parts.iter_mut().zip(self.window.as_chunks().0) {
            *part &= u64::from_le_bytes(*bytes);
        }
        parts
    }
}

/// Receives the words of a line.
pub trait WordSink {
    /// A word ended. It is empty where a line ends after a byte that belongs to no word; such
    /// words take their place in n-grams.
    fn word(&mut self, word: Word<'_>);

    /// The line ended; no n-gram continues after it.
    fn end_of_line(&mut self);
}
