// SPDX-License-Identifier: GPL-3.0-or-later
//! Receivers of a description's words: a text, or the feature ids that the classifier's library
//! learns. The words are the same; for ids no text is written.

use dbacl_choices::FeatureId;
use dbacl_choices::{Groups, ShortWord};

/// Receives the words of a description, one after the other.
pub trait Words {
    /// Takes a word.
    fn push(&mut self, word: ShortWord);

    /// Takes a common word. Its `number`, below [`COMMON`], belongs to no other word.
    fn push_common(&mut self, number: usize, word: impl FnOnce() -> ShortWord);

    /// Takes the word of a kind of two letters and the characters after it.
    #[inline]
    #[allow(clippy::trivially_copy_pass_by_ref)] // a literal of bytes
    fn word<const N: usize>(&mut self, kind: &[u8; 2], parts: [u8; N]) {
        let mut bytes = [0; 16];
        bytes[..2].copy_from_slice(kind);
        bytes[2..2 + N].copy_from_slice(&parts);
        self.push(ShortWord::new(&bytes[..2 + N]));
    }
}

/// Numbers of [`Words::push_common`] are below this.
pub const COMMON: usize = 1 << 16;

/// Text: words with spaces between them.
impl Words for String {
    fn push(&mut self, word: ShortWord) {
        if !self.is_empty() {
            self.push(' ');
        }
        let (bytes, length) = word.bytes();
        self.extend(bytes[..length].iter().map(|&byte| char::from(byte)));
    }

    fn push_common(&mut self, _: usize, word: impl FnOnce() -> ShortWord) {
        Words::push(self, word());
    }
}

/// The feature ids of an alternative's words, as `dbacl -T text -e graph -j` has them for the text.
pub struct Ids {
    /// How many times as long as usual the steps of a word's weight are, by its first byte.
    strength: [u8; 256],
    found: Vec<FeatureId>,
    strengths: Vec<u8>,
    /// Words whose ids are not known yet, and their places in `found`.
    words: Vec<ShortWord>,
    places: Vec<usize>,
    /// The ids of common words that occurred; 0 for others.
    common: Vec<FeatureId>,
    hashed: Vec<FeatureId>,
}

impl Ids {
    /// No words yet; `strength` gives the length of the steps of a word's weight by its first byte.
    pub fn new(strength: impl Fn(u8) -> u8) -> Self {
        let mut strengths = [1; 256];
        for (slot, byte) in strengths.iter_mut().zip(0..=u8::MAX) {
            *slot = strength(byte);
        }
        Self {
            strength: strengths,
            found: Vec::new(),
            strengths: Vec::new(),
            words: Vec::new(),
            places: Vec::new(),
            common: vec![FeatureId(0); COMMON],
            hashed: Vec::new(),
        }
    }

    /// Moves the words to the groups as one alternative.
    pub fn end_alternative(&mut self, groups: &mut Groups) {
        self.hashed.clear();
        ShortWord::ids(&self.words, &mut self.hashed);
        for (&place, &id) in self.places.iter().zip(&self.hashed) {
            self.found[place] = id;
        }
        groups.push_all(&self.found, &self.strengths);
        groups.end_alternative();
        self.found.clear();
        self.strengths.clear();
        self.words.clear();
        self.places.clear();
    }

    #[cold]
    fn find_common(&mut self, number: usize, word: ShortWord) -> FeatureId {
        self.hashed.clear();
        ShortWord::ids(&[word], &mut self.hashed);
        self.common[number] = self.hashed[0];
        self.hashed[0]
    }
}

impl Words for Ids {
    #[inline]
    fn push(&mut self, word: ShortWord) {
        self.words.push(word);
        self.places.push(self.found.len());
        self.found.push(FeatureId(0));
        self.strengths.push(self.strength[usize::from(word.first())]);
    }

    /// Steps of the weights of common words have the usual length, whatever their first byte is.
    #[inline]
    fn push_common(&mut self, number: usize, word: impl FnOnce() -> ShortWord) {
        let mut id = self.common[number];
        if id.0 == 0 {
            id = self.find_common(number, word());
        }
        self.found.push(id);
        self.strengths.push(1);
    }
}
