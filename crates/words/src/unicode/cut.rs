// SPDX-License-Identifier: GPL-3.0-or-later
//! Cuts folded characters into words, or into single characters for n-grams.

use super::cell::{Cell, Class};
use super::table::undisguised;
use crate::word::{MAX_WORD, WORD_WINDOW, Word, WordSink};

/// A word of at least so many letters that all look like ASCII is taken for a disguise. Shorter
/// words of Russian and Greek look so by chance.
const WHOLE_DISGUISE: usize = 4;

/// Puts words together.
#[derive(Debug, Clone)]
pub(super) struct Words {
    /// The word that is being built.
    window: [u8; WORD_WINDOW + 4],
    length: usize,
}

impl Default for Words {
    fn default() -> Self {
        Self { window: [0; WORD_WINDOW + 4], length: 0 }
    }
}

impl Words {
    /// Hands the words of a line on. With `straddle` inner line ends do not end n-grams.
    pub(super) fn words(&mut self, cells: &[Cell], straddle: bool, sink: &mut impl WordSink) {
        let mut at = 0;
        while let Some(cell) = cells.get(at) {
            at = match cell.class() {
                Class::Letter | Class::Hangul | Class::Digit | Class::Connector => {
                    self.word(cells, at, sink)
                }
                Class::Currency if class(cells, at + 1) == Class::Digit => {
                    self.word(cells, at, sink)
                }
                Class::Unspaced => self.pairs(cells, at, sink),
                Class::Symbol => self.several(cells, at..behind_marks(cells, at + 1), sink),
                Class::Flag => {
                    let is_pair = class(cells, at + 1) == Class::Flag;
                    self.several(cells, at..at + 1 + usize::from(is_pair), sink)
                }
                Class::Newline if at + 1 < cells.len() && !straddle => {
                    sink.end_of_line();
                    at + 1
                }
                _ => at + 1,
            };
        }
    }

    /// Passes on the word that begins at `start`, and what it looks like if it is disguised.
    /// Returns where it ends.
    fn word(&mut self, cells: &[Cell], start: usize, sink: &mut impl WordSink) -> usize {
        let mut at = start;
        let mut before = Class::Cut;
        // The bits of all letters together, and those that all letters have.
        let (mut any, mut all) = (0, u32::MAX);
        let mut syllables = 0;
        while let Some(&cell) = cells.get(at) {
            // Most characters are letters.
            if cell.is_letter() {
                any |= cell.number();
                all &= cell.number();
                self.take(cell.code(), sink);
                before = Class::Letter;
                at += 1;
                continue;
            }
            let here = cell.class();
            match here {
                Class::Hangul => {
                    syllables += 1;
                    all = 0;
                }
                _ if here.is_in_words() || here.joins(before, class(cells, at + 1)) => {}
                _ => break,
            }
            self.take(cell.code(), sink);
            if here != Class::Mark {
                before = here;
            }
            at += 1;
        }
        self.end(sink);
        let word = &cells[start..at];
        if syllables > 1 {
            for syllable in word.iter().filter(|cell| cell.class() == Class::Hangul) {
                self.take(syllable.code(), sink);
                self.end(sink);
            }
        }
        let is_mixed = any & Cell::LATIN != 0 && any & Cell::FOREIGN != 0;
        let looks = any & (Cell::LOOKS | Cell::LOOKS_LARGE) != 0;
        let is_all = all & Cell::LOOKS != 0 && any & Cell::FOREIGN != 0;
        let is_latin = any & Cell::FOREIGN == 0 && any & Cell::LOOKS != 0;
        if looks && (is_mixed || is_all || is_latin) {
            self.skeleton(word, is_all && !is_mixed, sink);
        }
        at
    }

    /// Passes on the ASCII word that a word looks like, if all of its letters look like ASCII.
    fn skeleton(&mut self, word: &[Cell], is_all: bool, sink: &mut impl WordSink) {
        let letters = word.iter().filter(|cell| cell.class() == Class::Letter);
        let looks = Cell::LOOKS | Cell::LOOKS_LARGE;
        if letters.clone().any(|cell| cell.has(Cell::FOREIGN) && !cell.has(looks))
            || is_all && letters.count() < WHOLE_DISGUISE
        {
            return;
        }
        for cell in word {
            let plain = if cell.has(looks) { undisguised(cell.character()) } else { None };
            match plain {
                Some(plain) => plain.bytes().for_each(|byte| self.take(u32::from(byte), sink)),
                None => self.take(cell.code(), sink),
            }
        }
        self.end(sink);
    }

    /// The pairs of neighbours in a run of characters without blanks; one character alone is a
    /// word.
    fn pairs(&mut self, cells: &[Cell], start: usize, sink: &mut impl WordSink) -> usize {
        let mut first = start..behind_marks(cells, start + 1);
        if class(cells, first.end) != Class::Unspaced {
            return self.several(cells, first, sink);
        }
        while class(cells, first.end) == Class::Unspaced {
            let second = first.end..behind_marks(cells, first.end + 1);
            self.several(cells, first.start..second.end, sink);
            first = second;
        }
        first.end
    }

    /// Passes on several characters as one word. Returns where they end.
    fn several(
        &mut self,
        cells: &[Cell],
        range: std::ops::Range<usize>,
        sink: &mut impl WordSink,
    ) -> usize {
        let end = range.end;
        for cell in &cells[range] {
            self.take(cell.code(), sink);
        }
        self.end(sink);
        end
    }

    /// Hands on each character that can be seen as a word, and an empty word for what lies between:
    /// blanks, and the line's beginning and end.
    pub(super) fn glyphs(&mut self, cells: &[Cell], straddle: bool, sink: &mut impl WordSink) {
        let mut is_apart = true;
        self.end_always(sink);
        for (at, cell) in cells.iter().enumerate() {
            let class = cell.class();
            let character = cell.character();
            let is_blank = character.is_whitespace() || character.is_control();
            if class == Class::Newline || class == Class::Cut && is_blank {
                if !is_apart {
                    self.end_always(sink);
                }
                if class == Class::Newline && at + 1 < cells.len() && !straddle {
                    sink.end_of_line();
                    self.end_always(sink);
                }
                is_apart = true;
                continue;
            }
            self.take(cell.code(), sink);
            self.end_always(sink);
            is_apart = false;
        }
        if !is_apart {
            self.end_always(sink);
        }
    }

    /// Adds a character to the word; one that is full is handed on first.
    #[inline]
    fn take(&mut self, code: u32, sink: &mut impl WordSink) {
        let (bytes, length) = encoded(code);
        if self.length + length > MAX_WORD {
            self.end(sink);
        }
        // A copy of fixed length is much faster.
        self.window[self.length..self.length + 4].copy_from_slice(&bytes);
        self.length += length;
    }

    /// Hands the word on, unless it is empty.
    #[inline]
    fn end(&mut self, sink: &mut impl WordSink) {
        if self.length > 0 {
            self.end_always(sink);
        }
    }

    fn end_always(&mut self, sink: &mut impl WordSink) {
        let (window, _) = self.window.split_first_chunk().expect("it is longer");
        sink.word(Word::new(window, self.length));
        self.length = 0;
    }
}

/// A character in UTF-8, given by its code point, and the number of its bytes. The bytes after
/// them have no meaning.
#[inline]
pub(super) fn encoded(code: u32) -> ([u8; 4], usize) {
    let low = |shift: u32| 0x80 | code >> shift & 0x3f;
    let (bytes, length) = match code {
        0..0x80 => (code, 1),
        0x80..0x800 => (0xc0 | code >> 6 | low(0) << 8, 2),
        0x800..0x1_0000 => (0xe0 | code >> 12 | low(6) << 8 | low(0) << 16, 3),
        _ => (0xf0 | code >> 18 | low(12) << 8 | low(6) << 16 | low(0) << 24, 4),
    };
    (bytes.to_le_bytes(), length)
}

/// The class of the character at `at`; after the end, that of a blank.
fn class(cells: &[Cell], at: usize) -> Class {
    cells.get(at).map_or(Class::Cut, |cell| cell.class())
}

/// Where the marks that begin at `at` end.
fn behind_marks(cells: &[Cell], at: usize) -> usize {
    let marks = cells[at.min(cells.len())..].iter().take_while(|cell| cell.class() == Class::Mark);
    at + marks.count()
}
