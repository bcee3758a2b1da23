// SPDX-License-Identifier: GPL-3.0-or-later
//! The distinct features of a document, as far as a set knows them, with their weights. Features
//! without weights change no sum: of them only the number and the place matter.

use super::documents::Term;
use crate::token::id::FeatureId;

/// A feature of a document that a category has learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownFeature {
    /// How many distinct features of the document came before it.
    pub place: u32,
    /// The feature.
    pub id: FeatureId,
    /// Occurrences in the document.
    pub count: u32,
    /// Whether it comes from text, and not from the header of a message.
    pub is_text: bool,
}

/// What a set knows of the features of a document, which come in the order of their first
/// appearance.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KnownFeatures {
    /// The known features.
    pub features: Vec<KnownFeature>,
    /// Their weights by category, in the order of the set, and then feature.
    pub weights: Vec<Vec<f32>>,
    /// How many different features the document has, known and unknown.
    pub distinct: u32,
    texts: u32,
    known_texts: u32,
}

impl KnownFeatures {
    /// Nothing yet, for a set of `width` categories.
    pub fn new(width: usize) -> Self {
        Self { weights: vec![Vec::new(); width], ..Self::default() }
    }

    /// The distinct features `terms`, with their weights by category and then feature.
    pub fn of(terms: &[Term], weights: &[Vec<f32>]) -> Self {
        let mut known = Self::new(weights.len());
        for (at, term) in terms.iter().enumerate() {
            known.add((term.id, term.count), term.kind.is_text(), (weights, at));
        }
        known
    }

    /// Adds the next distinct feature with its occurrences. `is_text` says whether it comes from
    /// text, and not from the header of a message. Its weights are those at a place of lists by
    /// category. Returns whether a category knows it.
    pub fn add(
        &mut self,
        (id, count): (FeatureId, u32),
        is_text: bool,
        (weights, at): (&[Vec<f32>], usize),
    ) -> bool {
        let place = self.distinct;
        self.distinct = place.saturating_add(1);
        self.texts += u32::from(is_text);
        if !weights.iter().any(|own| own[at] > 0.0) {
            return false;
        }
        self.known_texts += u32::from(is_text);
        self.features.push(KnownFeature { place, id, count, is_text });
        for (own, all) in self.weights.iter_mut().zip(weights) {
            own.push(all[at]);
        }
        true
    }

    /// The known feature number `at` has occurred `count` times more.
    pub fn add_occurrences(&mut self, at: usize, count: u32) {
        let own = &mut self.features[at].count;
        *own = own.saturating_add(count);
    }

    /// How many of them come from text, and how many of these a category knows.
    pub const fn texts(&self) -> (u32, u32) {
        (self.texts, self.known_texts)
    }

    /// How many features a category knows of text, and of what else there is.
    pub const fn by_block(&self) -> [usize; 2] {
        let texts = self.known_texts as usize;
        [texts, self.features.len() - texts]
    }
}
