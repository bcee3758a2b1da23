// SPDX-License-Identifier: GPL-3.0-or-later
//! Words seen so far, each known by a small number.
//!
//! A text repeats its words: what is worked out once for a word - its hash, its digrams, its weight in
//! a category - is kept by its number and found again by one look-up of eight or 32 bytes.

use super::tokenizer::{WORD_WINDOW, Word};
use crate::memory::prefetch;
use crate::model::medium::Medium;

/// Number of a term - a word in a medium - in order of first appearance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TermId(pub u32);

impl TermId {
    /// The number as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// All terms of a run.
#[derive(Debug, Clone)]
pub struct Lexicon {
    short: Index,
    long: Index,
    terms: Vec<Term>,
    /// Bit set of the media seen.
    media: u16,
}

/// A word in a medium: its bytes, padded with zeros, and their number.
#[derive(Debug, Clone, Copy)]
struct Term {
    bytes: [u8; WORD_WINDOW],
    length: u8,
    medium: Medium,
}

impl Term {
    fn has_key(&self, key: &[u64; 4]) -> bool {
        let parts = self.bytes.as_chunks::<8>().0.iter().zip(key);
        parts.fold(0, |unlike, (part, key)| unlike | (u64::from_le_bytes(*part) ^ key)) == 0
    }
}

impl Default for Lexicon {
    fn default() -> Self {
        Self { short: Index::new(), long: Index::new(), terms: Vec::new(), media: 0 }
    }
}

impl Lexicon {
    /// Number of terms.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The number of `word` in `medium`, new if it has not been seen before.
    #[inline]
    pub fn intern(&mut self, word: Word<'_>, medium: Medium) -> TermId {
        self.intern_hashed(word, medium, hash_of(&word))
    }

    #[inline]
    fn intern_hashed(&mut self, word: Word<'_>, medium: Medium, hash: u64) -> TermId {
        let tag = u32::from(medium.number());
        if word.len() <= SHORT {
            if let Some(term) = self.short.find(hash, tag, |_| true) {
                return TermId(term);
            }
            return self.insert(true, hash, word, medium);
        }
        let terms = &self.terms;
        let same = |term: u32| terms[term as usize].has_key(&word.key());
        if let Some(term) = self.long.find(hash, tag, same) {
            return TermId(term);
        }
        self.insert(false, hash, word, medium)
    }

    /// Asks for the memory where `words` will be looked up.
    #[inline]
    fn prefetch(&self, words: &[WaitingWord]) {
        for word in words {
            let index = if usize::from(word.length) <= SHORT { &self.short } else { &self.long };
            let home = index.home(word.hash, u32::from(word.medium.number()));
            prefetch(&index.entries, home & (index.entries.len() - 1));
        }
    }

    #[cold]
    fn insert(&mut self, short: bool, hash: u64, word: Word<'_>, medium: Medium) -> TermId {
        let term = u32::try_from(self.terms.len()).expect("fewer than 2^32 words fit in memory");
        let mut bytes = [0; WORD_WINDOW];
        bytes[..word.len()].copy_from_slice(word.bytes());
        #[allow(clippy::cast_possible_truncation)] // below the window's 32
        let length = word.len() as u8;
        self.terms.push(Term { bytes, length, medium });
        self.media |= 1 << medium.number();
        let index = if short { &mut self.short } else { &mut self.long };
        index.insert(hash, u32::from(medium.number()), term);
        TermId(term)
    }

    /// The bytes of a term's word, in a window padded with zeros, and their number.
    pub fn word(&self, term: TermId) -> (&[u8; WORD_WINDOW], usize) {
        let term = &self.terms[term.index()];
        (&term.bytes, usize::from(term.length))
    }

    /// Appends the bytes of a term's word.
    #[inline]
    pub fn append_word(&self, term: TermId, out: &mut Vec<u8>) {
        let (bytes, length) = self.word(term);
        // A copy of fixed length is much faster.
        out.extend_from_slice(bytes);
        out.truncate(out.len() - WORD_WINDOW + length);
    }

    /// The medium of all terms, if there is but one.
    pub fn only_medium(&self) -> Option<Medium> {
        let is_one = self.media.is_power_of_two();
        is_one.then(|| self.terms[0].medium)
    }

    /// A term's medium.
    pub fn medium(&self, term: TermId) -> Medium {
        self.terms[term.index()].medium
    }
}

/// The longest words whose bytes are all of their key.
const SHORT: usize = 8;

/// The number that a word is looked up by: all there is to know of a short one.
#[inline]
fn hash_of(word: &Word<'_>) -> u64 {
    if word.len() <= SHORT {
        return word.first_key();
    }
    word.key().iter().fold(0, |hash: u64, &part| {
        (hash.rotate_left(23) ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

/// Words that wait, so that the look-ups of many can wait for memory together.
#[derive(Debug, Clone)]
pub struct WaitingWords {
    words: [WaitingWord; WAITING],
    used: usize,
}

/// Words that wait at most.
const WAITING: usize = 32;

#[derive(Debug, Clone, Copy)]
struct WaitingWord {
    window: [u8; WORD_WINDOW],
    hash: u64,
    length: u8,
    medium: Medium,
}

impl Default for WaitingWords {
    fn default() -> Self {
        let none =
            WaitingWord { window: [0; WORD_WINDOW], hash: 0, length: 0, medium: Medium::TEXT };
        Self { words: [none; WAITING], used: 0 }
    }
}

impl WaitingWords {
    /// Lets a word wait. Returns whether there is room for more.
    ///
    /// # Panics
    /// If there was no room left.
    #[inline]
    pub fn push(&mut self, word: Word<'_>, medium: Medium) -> bool {
        let waiting = &mut self.words[self.used];
        waiting.window = *word.window();
        waiting.hash = hash_of(&word);
        #[allow(clippy::cast_possible_truncation)] // below the window's 32
        let length = word.len() as u8;
        waiting.length = length;
        waiting.medium = medium;
        self.used += 1;
        self.used < WAITING
    }

    /// Whether no word waits.
    pub const fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Numbers the words that wait: `take` gets each with its number, in order, and whether it is
    /// new.
    #[inline]
    pub fn number(
        &mut self,
        lexicon: &mut Lexicon,
        mut take: impl FnMut(TermId, bool, Word<'_>, Medium),
    ) {
        let words = &self.words[..std::mem::take(&mut self.used)];
        lexicon.prefetch(words);
        for waiting in words {
            let word = Word::new(&waiting.window, usize::from(waiting.length));
            let known = lexicon.len();
            let term = lexicon.intern_hashed(word, waiting.medium, waiting.hash);
            take(term, term.index() == known, word, waiting.medium);
        }
    }
}

/// Open addressing by 64-bit keys; at most three quarters full, so that more of it stays near.
#[derive(Debug, Clone)]
struct Index {
    entries: Vec<Entry>,
    used: usize,
    /// 64 less the bits of the size.
    shift: u32,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    key: u64,
    tag: u32,
    term: u32,
}

const NO_TERM: u32 = u32::MAX;
const VACANT: Entry = Entry { key: 0, tag: 0, term: NO_TERM };

impl Index {
    fn new() -> Self {
        Self { entries: vec![VACANT; 1 << 10], used: 0, shift: 64 - 10 }
    }

    #[inline]
    fn home(&self, key: u64, tag: u32) -> usize {
        let mixed = (key ^ u64::from(tag) << 56 ^ key >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        #[allow(clippy::cast_possible_truncation)] // an index below the table's size
        let home = (mixed >> self.shift) as usize;
        home
    }

    #[inline]
    fn find(&self, key: u64, tag: u32, same: impl Fn(u32) -> bool) -> Option<u32> {
        let mask = self.entries.len() - 1;
        let mut at = self.home(key, tag);
        loop {
            let entry = self.entries[at & mask];
            if entry.key == key && entry.tag == tag && entry.term != NO_TERM && same(entry.term) {
                return Some(entry.term);
            }
            if entry.term == NO_TERM {
                return None;
            }
            at += 1;
        }
    }

    fn insert(&mut self, key: u64, tag: u32, term: u32) {
        if self.used * 4 >= self.entries.len() * 3 {
            let larger = vec![VACANT; self.entries.len() * 2];
            let old = std::mem::replace(&mut self.entries, larger);
            self.shift -= 1;
            for entry in old {
                if entry.term != NO_TERM {
                    self.place(entry);
                }
            }
        }
        self.used += 1;
        self.place(Entry { key, tag, term });
    }

    fn place(&mut self, entry: Entry) {
        let mask = self.entries.len() - 1;
        let mut at = self.home(entry.key, entry.tag);
        while self.entries[at & mask].term != NO_TERM {
            at += 1;
        }
        self.entries[at & mask] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_again_and_media_kept_apart() {
        let mut lexicon = Lexicon::default();
        let mut window = [0u8; WORD_WINDOW];
        let mut expected = Vec::new();
        for round in 0..2 {
            for number in 0..5000u32 {
                let text = format!("{}{number}", "word".repeat(number as usize % 6));
                window[..text.len()].copy_from_slice(text.as_bytes());
                let word = Word::new(&window, text.len());
                for medium in [Medium::TEXT, Medium::new(3)] {
                    let term = lexicon.intern(word, medium);
                    if round == 0 {
                        expected.push(term);
                        assert_eq!(term.index() + 1, lexicon.len());
                        let (bytes, length) = lexicon.word(term);
                        assert_eq!(&bytes[..length], text.as_bytes());
                        assert_eq!(lexicon.medium(term), medium);
                    } else {
                        let at = number as usize * 2 + usize::from(medium != Medium::TEXT);
                        assert_eq!(term, expected[at]);
                    }
                }
            }
        }
    }

    #[test]
    fn words_that_wait_get_the_numbers_they_would_have_got() {
        let (mut now, mut later) = (Lexicon::default(), Lexicon::default());
        let mut waiting = WaitingWords::default();
        let mut window = [0u8; WORD_WINDOW];
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        for number in 0..4000u32 {
            let text = format!("{}{}", "word".repeat(number as usize % 6), number % 700);
            window[..text.len()].copy_from_slice(text.as_bytes());
            let word = Word::new(&window, text.len());
            let medium = Medium::new((number % 3) as u8);
            let known = now.len();
            let term = now.intern(word, medium);
            expected.push((term, term.index() == known));
            if !waiting.push(word, medium) || number == 3999 {
                waiting.number(&mut later, |term, new, _, _| found.push((term, new)));
                assert!(waiting.is_empty());
            }
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn the_empty_word_is_a_word() {
        let mut lexicon = Lexicon::default();
        let term = lexicon.intern(Word::new(&[0; WORD_WINDOW], 0), Medium::TEXT);
        assert_eq!(lexicon.intern(Word::new(&[7; WORD_WINDOW], 0), Medium::TEXT), term);
        assert_eq!(lexicon.word(term).1, 0);
    }
}
