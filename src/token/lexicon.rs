// SPDX-License-Identifier: GPL-3.0-or-later
//! Numbers the distinct words of a text.
//!
//! A text repeats its words, so what is computed for a word once (its hash, its digrams, its weight
//! in a category) is stored under its number and found again by one look-up of 32 bytes.

use super::word::{WORD_WINDOW, Word};
use crate::alloc_hints::{make_room, prefetch};
use crate::model::medium::Medium;
use dbacl_numeric::keyed::HashKey;

/// Number of a term - a word in a medium - in order of first appearance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TermId(pub u32);

impl TermId {
    /// The number as an index.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// All terms of a run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lexicon {
    hashing: HashKey,
    index: Index,
    /// By term.
    keys: Vec<Key>,
    /// The terms' media and lengths, stored again so that reading them touches less memory.
    kinds: Vec<(Medium, u8)>,
    /// Bit set of the media seen.
    seen: u16,
}

impl Lexicon {
    /// Number of terms.
    pub(crate) fn size(&self) -> usize {
        self.keys.len()
    }

    /// The number of `word` in `medium`, new if it has not been seen before.
    #[inline]
    pub(crate) fn intern(&mut self, word: Word<'_>, medium: Medium) -> TermId {
        let (key, hash) = Key::of(word, medium, &self.hashing);
        self.intern_key(&key, hash)
    }

    #[inline]
    fn intern_key(&mut self, key: &Key, hash: u32) -> TermId {
        let keys = &self.keys;
        match self.index.find(hash, |term| keys[term as usize] == *key) {
            Some(term) => TermId(term),
            None => self.insert(key, hash),
        }
    }

    #[cold]
    fn insert(&mut self, key: &Key, hash: u32) -> TermId {
        let term = u32::try_from(self.keys.len()).ok().filter(|&term| term < u32::MAX);
        let term = term.expect("fewer than 2^32 words fit in memory");
        if self.keys.len() == self.keys.capacity() {
            make_room(&mut self.keys);
        }
        self.keys.push(*key);
        self.kinds.push((key.medium(), key.length()));
        self.seen |= 1 << key.medium().number();
        self.index.insert(hash, term);
        TermId(term)
    }

    /// Prefetches a term's word and medium.
    #[inline]
    pub(crate) fn prefetch(&self, term: TermId) {
        prefetch(&self.keys, term.index());
        prefetch(&self.kinds, term.index());
    }

    /// A term's word.
    pub(crate) fn word(&self, term: TermId) -> Word<'_> {
        Word::new(&self.keys[term.index()].0, usize::from(self.kinds[term.index()].1))
    }

    /// The medium of all terms, if it is the same for all.
    pub(crate) fn only_medium(&self) -> Option<Medium> {
        let is_one = self.seen.is_power_of_two();
        is_one.then(|| self.kinds[0].0)
    }

    /// A term's medium.
    pub(crate) fn medium(&self, term: TermId) -> Medium {
        self.kinds[term.index()].0
    }
}

/// A word in a medium: its bytes, padded with zeros, and the medium's number in the last byte,
/// which no word reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(32))]
struct Key([u8; WORD_WINDOW]);

impl Key {
    const EMPTY: Self = Self([0; WORD_WINDOW]);

    /// The key of a word in a medium, and a hash of which all bits depend on all of the key.
    #[inline]
    fn of(word: Word<'_>, medium: Medium, hashing: &HashKey) -> (Self, u32) {
        let mut parts = word.padded();
        parts[3] |= u64::from(medium.number()) << 56;
        let mut key = Self::EMPTY;
        for (bytes, part) in key.0.as_chunks_mut().0.iter_mut().zip(parts) {
            *bytes = part.to_le_bytes();
        }
        let hash = hashing.of_words(&parts);
        (key, hash)
    }

    fn medium(&self) -> Medium {
        Medium::new(self.0[WORD_WINDOW - 1])
    }

    /// Length of the word, which holds no zero bytes.
    #[allow(clippy::cast_possible_truncation)] // below the window's 32
    fn length(&self) -> u8 {
        let bytes = &self.0[..WORD_WINDOW - 1];
        memchr::memchr(0, bytes).unwrap_or(bytes.len()) as u8
    }
}

/// A buffer of words, so that the look-ups of many words overlap in their accesses to memory.
#[derive(Debug, Clone)]
pub(crate) struct WaitingWords {
    keys: [Key; WAITING],
    hashes: [u32; WAITING],
    lengths: [u8; WAITING],
    used: usize,
}

/// The most words in the buffer.
const WAITING: usize = 32;

impl Default for WaitingWords {
    fn default() -> Self {
        Self { keys: [Key::EMPTY; WAITING], hashes: [0; WAITING], lengths: [0; WAITING], used: 0 }
    }
}

impl WaitingWords {
    /// Adds a word that `lexicon` will number later. Returns whether there is room for another.
    ///
    /// # Panics
    /// If there was no room left.
    #[inline]
    pub(crate) fn push(&mut self, word: Word<'_>, medium: Medium, lexicon: &Lexicon) -> bool {
        let (key, hash) = Key::of(word, medium, &lexicon.hashing);
        (self.keys[self.used], self.hashes[self.used]) = (key, hash);
        #[allow(clippy::cast_possible_truncation)] // below the window's 32
        let length = word.len() as u8;
        self.lengths[self.used] = length;
        lexicon.index.prefetch(hash);
        self.used += 1;
        self.used < WAITING
    }

    /// Whether no word waits.
    pub(crate) const fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Numbers the words that wait: `user` gets them.
    #[inline]
    pub(crate) fn number(&mut self, lexicon: &mut Lexicon, user: &mut impl TermUser) {
        let used = std::mem::take(&mut self.used);
        let mut likely = [NO_TERM; WAITING];
        for (&hash, likely) in self.hashes[..used].iter().zip(&mut likely) {
            if let Some(term) = lexicon.index.likely(hash) {
                *likely = term;
                prefetch(&lexicon.keys, term as usize);
                user.expect(TermId(term));
            }
        }
        let waiting = self.keys[..used].iter().zip(&self.lengths).zip(&self.hashes);
        for (((key, &length), &hash), &likely) in waiting.zip(&likely) {
            let word = Word::new(&key.0, usize::from(length));
            if lexicon.keys.get(likely as usize) == Some(key) {
                user.take(TermId(likely), word);
                continue;
            }
            let known = lexicon.size();
            let term = lexicon.intern_key(key, hash);
            if term.index() == known {
                user.add(word, key.medium());
            }
            user.take(term, word);
        }
    }
}

/// Who has words numbered.
pub(crate) trait TermUser {
    /// A word will most likely have this number, so its memory can be prefetched.
    fn expect(&self, term: TermId);

    /// The next word is new, and has the next number.
    fn add(&mut self, word: Word<'_>, medium: Medium);

    /// The next word has this number.
    fn take(&mut self, term: TermId, word: Word<'_>);
}

/// No term has this number.
const NO_TERM: u32 = u32::MAX;

/// Open addressing by 32-bit hashes; at most three quarters full, so that more of it stays near.
#[derive(Debug, Clone)]
struct Index {
    /// A hash in the high half, a term's number and one more in the low half; 0 if vacant.
    entries: Vec<u64>,
    used: usize,
    /// 32 minus the binary logarithm of the size.
    shift: u32,
}

impl Default for Index {
    fn default() -> Self {
        const BITS: u32 = 10;
        Self { entries: vec![0; 1 << BITS], used: 0, shift: 32 - BITS }
    }
}

impl Index {
    #[inline]
    fn home(&self, hash: u32) -> usize {
        (hash >> self.shift) as usize
    }

    /// Prefetches the memory where the search for `hash` begins.
    #[inline]
    fn prefetch(&self, hash: u32) {
        prefetch(&self.entries, self.home(hash));
    }

    /// The first term with this hash that is `same`.
    #[inline]
    fn find(&self, hash: u32, same: impl Fn(u32) -> bool) -> Option<u32> {
        let mask = self.entries.len() - 1;
        let mut at = self.home(hash);
        loop {
            let entry = self.entries[at & mask];
            if entry == 0 {
                return None;
            }
            #[allow(clippy::cast_possible_truncation)] // halves
            let (found, term) = ((entry >> 32) as u32, (entry as u32).wrapping_sub(1));
            if found == hash && same(term) {
                return Some(term);
            }
            at += 1;
        }
    }

    /// The first term with this hash.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // halves
    fn likely(&self, hash: u32) -> Option<u32> {
        // Most are in one of the first two places; which of them cannot be foretold.
        let (mask, home) = (self.entries.len() - 1, self.home(hash));
        let (first, second) = (self.entries[home & mask], self.entries[(home + 1) & mask]);
        let entry = if (first >> 32) as u32 == hash { first } else { second };
        if (entry >> 32) as u32 == hash && entry != 0 {
            return Some((entry as u32).wrapping_sub(1));
        }
        self.find(hash, |_| true)
    }

    fn insert(&mut self, hash: u32, term: u32) {
        // There is one home for each hash at most.
        if self.used * 4 >= self.entries.len() * 3 && self.shift > 0 {
            let larger = vec![0; self.entries.len() * 2];
            let old = std::mem::replace(&mut self.entries, larger);
            self.shift -= 1;
            old.into_iter().filter(|&entry| entry != 0).for_each(|entry| self.place(entry));
        }
        self.used += 1;
        self.place((u64::from(hash) << 32) | (u64::from(term) + 1));
    }

    fn place(&mut self, entry: u64) {
        let mask = self.entries.len() - 1;
        #[allow(clippy::cast_possible_truncation)] // the high half
        let mut at = self.home((entry >> 32) as u32);
        while self.entries[at & mask] != 0 {
            at += 1;
        }
        self.entries[at & mask] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of seven letters whose hash under a public key began with eight certain bits.
    fn colliding(number: usize) -> Vec<[u8; 7]> {
        let folded = |a: u64, b: u64| {
            let product = u128::from(a) * u128::from(b);
            (product ^ product >> 64) & u128::from(u64::MAX)
        };
        let last = folded(0xb7e1_5162_8aed_2a6a, 1 << 56 ^ 0xbf71_5880_9cf4_f3c7);
        let words = (0u32..).map(|at| {
            let mut word = *b"aaaaaaa";
            let mut rest = at;
            for letter in &mut word {
                *letter += u8::try_from(rest % 26).unwrap();
                rest /= 26;
            }
            word
        });
        let collides = |word: &[u8; 7]| {
            let mut bytes = [0; 8];
            bytes[..7].copy_from_slice(word);
            let part = u64::from_le_bytes(bytes) ^ 0x243f_6a88_85a3_08d3;
            (folded(part, 0x1319_8a2e_0370_7344) ^ last) >> 56 == 9
        };
        words.filter(collides).take(number).collect()
    }

    #[test]
    fn words_that_somebody_chose_are_found_as_soon_as_others() {
        let words = colliding(8000);
        for number in [4000, 8000] {
            let mut lexicon = Lexicon::default();
            for word in &words[..number] {
                let mut window = [0; WORD_WINDOW];
                window[..7].copy_from_slice(word);
                lexicon.intern(Word::new(&window, 7), Medium::TEXT);
            }
            assert_eq!(lexicon.size(), number);
            // How far the entries are from their homes: one or two places on average, and a
            // quarter of all words for those that share a home.
            let index = &lexicon.index;
            let mask = index.entries.len() - 1;
            let used = index.entries.iter().enumerate().filter(|(_, entry)| **entry != 0);
            let steps: usize = used
                .map(|(at, entry)| {
                    let home = index.home(u32::try_from(entry >> 32).unwrap());
                    at.wrapping_sub(home) & mask
                })
                .sum();
            assert!(steps < 50 * number, "{steps} steps for {number} words");
        }
    }

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
                        assert_eq!(term.index() + 1, lexicon.size());
                        assert_eq!(lexicon.word(term).bytes(), text.as_bytes());
                        assert_eq!(lexicon.medium(term), medium);
                    } else {
                        let at = number as usize * 2 + usize::from(medium != Medium::TEXT);
                        assert_eq!(term, expected[at]);
                    }
                }
            }
        }
    }

    /// New words, and the numbers that words get.
    #[derive(Debug, Default, PartialEq)]
    struct Found(Vec<(String, Medium)>, Vec<TermId>);

    impl TermUser for Found {
        fn expect(&self, _: TermId) {}

        fn add(&mut self, word: Word<'_>, medium: Medium) {
            self.0.push((String::from_utf8_lossy(word.bytes()).into_owned(), medium));
        }

        fn take(&mut self, term: TermId, _: Word<'_>) {
            self.1.push(term);
        }
    }

    #[test]
    fn words_that_wait_get_the_numbers_they_would_have_got() {
        let (mut now, mut later) = (Lexicon::default(), Lexicon::default());
        let mut waiting = WaitingWords::default();
        let mut window = [0u8; WORD_WINDOW];
        let (mut expected, mut found) = (Found::default(), Found::default());
        for number in 0..4000u32 {
            let text = format!("{}{}", "word".repeat(number as usize % 6), number % 700);
            window[..text.len()].copy_from_slice(text.as_bytes());
            let word = Word::new(&window, text.len());
            let medium = Medium::new((number % 3) as u8);
            let known = now.size();
            let term = now.intern(word, medium);
            if term.index() == known {
                expected.add(word, medium);
            }
            expected.take(term, word);
            if !waiting.push(word, medium, &later) || number == 3999 {
                waiting.number(&mut later, &mut found);
                assert!(waiting.is_empty());
            }
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn words_with_one_hash_are_kept_apart() {
        let mut index = Index::default();
        for term in 0..3000 {
            assert_eq!(index.find(7 << 20, |found| found == term), None);
            index.insert(7 << 20, term);
        }
        for term in 0..3000 {
            assert_eq!(index.find(7 << 20, |found| found == term), Some(term));
        }
    }

    #[test]
    fn the_empty_word_is_a_word() {
        let mut lexicon = Lexicon::default();
        let term = lexicon.intern(Word::new(&[0; WORD_WINDOW], 0), Medium::TEXT);
        assert_eq!(lexicon.intern(Word::new(&[7; WORD_WINDOW], 0), Medium::TEXT), term);
        assert!(lexicon.word(term).is_empty());
    }
}
