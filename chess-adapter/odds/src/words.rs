// SPDX-License-Identifier: GPL-3.0-or-later
//! The words of a description as feature ids.

use crate::choices::{FeatureId, Groups, ShortWord};

/// How many times as long as usual the steps of a weight are in the fit, by the kind of its word:
/// rare combinations need longer steps. The numbers were found with positions kept back from the
/// training games.
const fn strength(kind: u8) -> u8 {
    match kind {
        b'A' => 8,
        b'B' | b'C' | b'D' | b'E' | b'F' | b'W' => 5,
        b'H' | b'I' | b'J' | b'K' | b'L' | b'M' | b'N' | b'O' | b'T' => 3,
        _ => 1,
    }
}

/// The feature ids of an alternative's words, as `dbacl -T text -e graph -j` has them for the text.
#[derive(Default)]
pub(crate) struct Words {
    /// The words themselves, if they are wanted; writing them takes time.
    pub spelt: Option<Vec<String>>,
    pushed: Vec<ShortWord>,
    hashed: Vec<FeatureId>,
}

impl Words {
    /// Moves the words to the groups as one alternative.
    pub(crate) fn end_alternative(&mut self, groups: &mut Groups) {
        self.hashed.clear();
        ShortWord::ids(&self.pushed, &mut self.hashed);
        for (&id, word) in self.hashed.iter().zip(&self.pushed) {
            groups.push_strong(id, strength(word.first()));
        }
        groups.end_alternative();
        if let Some(spelt) = &mut self.spelt {
            let text = |(bytes, length): ([u8; 16], usize)| {
                bytes[..length].iter().map(|&b| char::from(b)).collect()
            };
            spelt.extend(self.pushed.iter().map(|word| -> String { text(word.bytes()) }));
        }
        self.pushed.clear();
    }

    /// Takes a word.
    #[inline]
    pub(crate) fn push(&mut self, word: ShortWord) {
        self.pushed.push(word);
    }

    /// Takes the word of a kind of two letters and the characters after it.
    #[inline]
    #[allow(clippy::trivially_copy_pass_by_ref)] // a literal of bytes
    pub(crate) fn word<const N: usize>(&mut self, kind: &[u8; 2], parts: [u8; N]) {
        let mut bytes = [0; 16];
        bytes[..2].copy_from_slice(kind);
        bytes[2..2 + N].copy_from_slice(&parts);
        self.push(ShortWord::new(&bytes[..2 + N]));
    }
}
