// SPDX-License-Identifier: GPL-3.0-or-later
//! Words and characters of text in any language (`-e word`, `-e glyph`; spec text 4.5).
//!
//! ```text
//! a line of ASCII ───────────────────────────→ words, by bit masks          (ascii)
//! any other line ─→ folded characters ───────→ words, by their classes      (cut)
//!                   (table, fold, cell)
//! ```
//!
//! A character's folded form and class are looked up once (`table`); nothing is allocated for a
//! word. The words of a line depend on no other line.

mod ascii;
mod cell;
#[cfg(test)]
mod conformance;
mod cut;
mod fold;
mod gram;
mod table;
#[cfg(test)]
mod tests;

pub use table::UNICODE_VERSION;

use crate::scheme::Scheme;
use crate::word::{MAX_WORD, WORD_WINDOW, Word, WordSink};
use cut::Words;
use fold::Folder;

/// Cuts lines into words, characters or runs of bytes of Unicode.
#[derive(Debug, Clone)]
pub struct UnicodeTokenizer {
    scheme: Scheme,
    keep_case: bool,
    /// N-grams go on after the end of a line.
    straddle: bool,
    folder: Folder,
    words: Words,
    /// A line of ASCII in small letters, and what is after it.
    padded: Vec<u8>,
}

impl UnicodeTokenizer {
    /// A tokenizer for `scheme`, which is one of Unicode.
    pub fn new(scheme: Scheme, keep_case: bool, straddle: bool) -> Self {
        debug_assert!(scheme.is_unicode());
        let (folder, words) = (Folder::new(keep_case), Words::default());
        Self { scheme, keep_case, straddle, folder, words, padded: Vec::new() }
    }

    /// Cuts a line, which stays as it is.
    pub fn line(&mut self, line: &[u8], sink: &mut impl WordSink) {
        let is_plain = line.is_ascii() && !fold::is_iso_2022_jp(line);
        // Of a line of tags the words stand there already.
        let is_made = self.scheme == Scheme::Word && line.first() == Some(&gram::MADE);
        let is_gram = self.scheme == Scheme::Gram || is_made;
        match self.scheme {
            _ if is_gram && is_plain => {
                self.padded.clear();
                self.padded.extend_from_slice(line);
                if !self.keep_case {
                    self.padded.make_ascii_lowercase();
                }
                gram::words(&mut self.padded, sink);
            }
            _ if is_gram => gram::words(&mut self.folded(line), sink),
            Scheme::Glyph => self.words.glyphs(self.folder.fold(line), self.straddle, sink),
            _ if is_plain => self.ascii(line, sink),
            _ => self.words.words(self.folder.fold(line), self.straddle, sink),
        }
        if !self.straddle {
            sink.end_of_line();
        }
    }

    /// A line as its words were found in it: small letters, and all else that folding does.
    pub fn folded(&mut self, line: &[u8]) -> Vec<u8> {
        let cells = self.folder.fold(line).iter();
        cells.map(|cell| cell.character()).collect::<String>().into_bytes()
    }

    fn ascii(&mut self, line: &[u8], sink: &mut impl WordSink) {
        let mut padded = std::mem::take(&mut self.padded);
        padded.clear();
        padded.reserve(line.len() + WORD_WINDOW);
        padded.extend_from_slice(line);
        if !self.keep_case {
            padded.make_ascii_lowercase();
        }
        padded.extend_from_slice(&[0; WORD_WINDOW]);
        let mut from = 0;
        // Only a line that was joined to the next has a newline within it.
        while let Some(inner) = memchr::memchr(b'\n', &line[from..line.len().max(1) - 1]) {
            ascii_part(&padded, from..from + inner, sink);
            if !self.straddle {
                sink.end_of_line();
            }
            from += inner + 1;
        }
        ascii_part(&padded, from..line.len(), sink);
        self.padded = padded;
    }
}

/// The words of a part of a line, which is padded by a window.
fn ascii_part(padded: &[u8], part: std::ops::Range<usize>, sink: &mut impl WordSink) {
    let base = part.start;
    ascii::words(&padded[part], |start, end| {
        let (mut start, end) = (base + start, base + end);
        while start < end {
            let window = padded[start..start + WORD_WINDOW].try_into();
            let window = window.expect("lines are padded by a window");
            let piece = (end - start).min(MAX_WORD);
            sink.word(Word::new(window, piece));
            start += piece;
        }
    });
}
