// SPDX-License-Identifier: GPL-3.0-or-later
//! The words of a description as feature ids.

use dbacl_choices::{FeatureId, Groups, ShortWord};

/// Numbers of [`Words::push_common`] are below this.
pub const COMMON: usize = 1 << 16;

/// The feature ids of an alternative's words, as `dbacl -T text -e graph -j` has them for the text.
pub struct Words {
    /// The words themselves, if they are wanted; writing them takes time.
    pub spelt: Option<Vec<String>>,
    /// How many times as long as usual the steps of a word's weight are, by its first byte.
    strength: [u8; 256],
    found: Vec<FeatureId>,
    strengths: Vec<u8>,
    /// Words whose ids are not known yet, and their places in `found`.
    unhashed: Vec<ShortWord>,
    places: Vec<usize>,
    /// The ids of common words that occurred; 0 for others.
    common: Vec<FeatureId>,
    hashed: Vec<FeatureId>,
}

impl Words {
    /// No words yet; `strength` gives the length of the steps of a word's weight by its first byte.
    pub fn new(strength: impl Fn(u8) -> u8) -> Self {
        let mut strengths = [1; 256];
        for (slot, byte) in strengths.iter_mut().zip(0..=u8::MAX) {
            *slot = strength(byte);
        }
        Self {
            spelt: None,
            strength: strengths,
            found: Vec::new(),
            strengths: Vec::new(),
            unhashed: Vec::new(),
            places: Vec::new(),
            common: vec![FeatureId(0); COMMON],
            hashed: Vec::new(),
        }
    }

    /// Moves the words to the groups as one alternative.
    pub fn end_alternative(&mut self, groups: &mut Groups) {
        self.hashed.clear();
        ShortWord::ids(&self.unhashed, &mut self.hashed);
        for (&place, &id) in self.places.iter().zip(&self.hashed) {
            self.found[place] = id;
        }
        groups.push_all(&self.found, &self.strengths);
        groups.end_alternative();
        self.found.clear();
        self.strengths.clear();
        self.unhashed.clear();
        self.places.clear();
    }

    #[cold]
    fn find_common(&mut self, number: usize, word: ShortWord) -> FeatureId {
        self.hashed.clear();
        ShortWord::ids(&[word], &mut self.hashed);
        self.common[number] = self.hashed[0];
        self.hashed[0]
    }

    #[cold]
    fn spell(&mut self, word: ShortWord) {
        let (bytes, length) = word.bytes();
        let word = bytes[..length].iter().map(|&byte| char::from(byte)).collect();
        self.spelt.get_or_insert_default().push(word);
    }

    /// Takes a word.
    #[inline]
    pub fn push(&mut self, word: ShortWord) {
        self.unhashed.push(word);
        self.places.push(self.found.len());
        self.found.push(FeatureId(0));
        self.strengths.push(self.strength[usize::from(word.first())]);
        if self.spelt.is_some() {
            self.spell(word);
        }
    }

    /// Takes a common word. Its `number`, below [`COMMON`], belongs to no other word. Steps of the
    /// weights of common words have the usual length, whatever their first byte is.
    #[inline]
    pub fn push_common(&mut self, number: usize, word: impl Fn() -> ShortWord) {
        let mut id = self.common[number];
        if id.0 == 0 {
            id = self.find_common(number, word());
        }
        self.found.push(id);
        self.strengths.push(1);
        if self.spelt.is_some() {
            self.spell(word());
        }
    }

    /// Takes the word of a kind of two letters and the characters after it.
    #[inline]
    #[allow(clippy::trivially_copy_pass_by_ref)] // a literal of bytes
    pub fn word<const N: usize>(&mut self, kind: &[u8; 2], parts: [u8; N]) {
        let mut bytes = [0; 16];
        bytes[..2].copy_from_slice(kind);
        bytes[2..2 + N].copy_from_slice(&parts);
        self.push(ShortWord::new(&bytes[..2 + N]));
    }
}
