// SPDX-License-Identifier: GPL-3.0-or-later
//! Weighs a document while it is read, with little memory.
//!
//! ```text
//! occurrences ─→ batch ─→ distinct features ─→ not seen before ─→ weights ─→ those that are known
//!                                                └→ seen, in two bytes each
//! ```
//!
//! What is looked up in the categories is known or not; of what is not known only its number
//! counts. So a document needs memory for the features of the model that it has, two bytes for each
//! other one, and one batch. Most messages end within the first batch.

use crate::fit::documents::FeatureKind;
use crate::fit::known::KnownFeatures;
use crate::fit::seen::SeenFeatures;
use crate::token::Feature;
use crate::token::id::FeatureId;
use hashbrown::HashMap;

/// Occurrences that are looked up at once.
const BATCH: usize = 1 << 16;

/// Gathers what a set knows of the features of a document.
pub struct Gathering<W, E> {
    /// The weights of features by category, in the order of the set, and then feature.
    weights: W,
    batch: Vec<u64>,
    occurrences: u32,
    seen: SeenFeatures,
    known: KnownFeatures,
    /// The places of known features among them, if occurrences count.
    places: Option<HashMap<FeatureId, usize>>,
    /// What keeps weights from being read.
    error: Option<E>,
}

/// An occurrence as a number: the feature's id; where in the batch it is; whether it comes from
/// text. Sorted, the occurrences of a feature follow each other, the first of them first.
const fn packed(id: FeatureId, at: usize, is_text: bool) -> u64 {
    (id.0 as u64) << 32 | (at as u64) << 1 | is_text as u64
}

/// A feature that the batches before did not have: the lower half of [`packed`], its id and its
/// occurrences.
type New = (u32, FeatureId, u32);

impl<W: Fn(&[FeatureId]) -> Result<Vec<Vec<f32>>, E>, E> Gathering<W, E> {
    /// Nothing yet, for a set of `width` categories that give these weights. `counts` says whether
    /// verdicts depend on how often a feature occurs.
    pub fn new(weights: W, width: usize, counts: bool) -> Self {
        Self {
            weights,
            batch: Vec::new(),
            occurrences: 0,
            seen: SeenFeatures::default(),
            known: KnownFeatures::new(width),
            places: counts.then(HashMap::new),
            error: None,
        }
    }

    /// Takes an occurrence of a feature.
    pub fn add(&mut self, feature: &Feature<'_>) {
        if self.error.is_some() {
            return;
        }
        if self.batch.len() == BATCH {
            self.end_batch(false);
        }
        let id = FeatureId::of(feature.body, feature.medium);
        self.occurrences = self.occurrences.saturating_add(1);
        self.batch.push(packed(id, self.batch.len(), FeatureKind::of(feature).is_text()));
    }

    /// Ends the document: its occurrences, and what is known of its features.
    pub fn finish(mut self) -> Result<(u32, KnownFeatures), E> {
        self.end_batch(true);
        self.error.map_or(Ok((self.occurrences, self.known)), Err)
    }

    #[allow(clippy::cast_possible_truncation)] // both halves were put there as 32 bits
    fn end_batch(&mut self, is_last: bool) {
        self.batch.sort_unstable();
        let mut new = Vec::new();
        for run in self.batch.chunk_by(|a, b| a >> 32 == b >> 32) {
            let id = FeatureId((run[0] >> 32) as u32);
            let count = u32::try_from(run.len()).unwrap_or(u32::MAX);
            if self.seen.has(id) {
                let place = self.places.as_ref().and_then(|places| places.get(&id));
                if let Some(&place) = place {
                    self.known.add_occurrences(place, count);
                }
            } else if id.0 != 0 {
                new.push((run[0] as u32, id, count));
            }
        }
        self.batch.clear();
        let ids_of = |new: &[New]| -> Vec<FeatureId> { new.iter().map(|&(_, id, _)| id).collect() };
        if !is_last {
            self.seen.add(&ids_of(&new));
        }
        new.sort_unstable_by_key(|&(first, ..)| first);
        let weights = match (self.weights)(&ids_of(&new)) {
            Ok(weights) => weights,
            Err(error) => {
                self.error = Some(error);
                return;
            }
        };
        for (at, &(first, id, count)) in new.iter().enumerate() {
            let place = self.known.features.len();
            let is_known = self.known.add((id, count), first & 1 == 1, (&weights, at));
            if is_known && let Some(places) = &mut self.places {
                places.insert(id, place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::documents::Collector;
    use crate::model::medium::Medium;

    /// Every third feature is known.
    fn weight(id: FeatureId, category: u32) -> f32 {
        let weight = u8::try_from(id.0 % 7 + category).map_or(0.0, f32::from);
        if id.0.is_multiple_of(3) { weight } else { 0.0 }
    }

    fn weights(ids: &[FeatureId]) -> Vec<Vec<f32>> {
        [0, 1].map(|category| ids.iter().map(|&id| weight(id, category)).collect()).to_vec()
    }

    #[test]
    fn batches_give_what_a_whole_document_gives() {
        let look_up = |ids: &[FeatureId]| Ok::<_, ()>(weights(ids));
        for (occurrences, words) in [(0, 1), (1000, 300), (2 * BATCH + 7, 90_000), (3 * BATCH, 50)]
        {
            let mut gathering = Gathering::new(look_up, 2, true);
            let mut once = Gathering::new(look_up, 2, false);
            let mut collector = Collector::default();
            for number in 0..occurrences {
                let word = number.wrapping_mul(0x9e37_79b1) % words;
                let body = format!("\x03{word}\x03");
                let medium = Medium::new([3, 12][word % 2]);
                let feature = Feature { body: body.as_bytes(), medium, order: 1, pattern: None };
                gathering.add(&feature);
                once.add(&feature);
                let id = FeatureId::of(feature.body, medium);
                collector.add(id, FeatureKind::whole(&feature));
            }
            let (all, terms) = collector.finish();
            let ids: Vec<FeatureId> = terms.iter().map(|term| term.id).collect();
            let expected = KnownFeatures::of(terms, &weights(&ids));
            assert_eq!(gathering.finish(), Ok((all, expected.clone())));
            let (_, found) = once.finish().unwrap();
            assert_eq!((found.distinct, found.texts()), (expected.distinct, expected.texts()));
            assert_eq!(found.weights[1], expected.weights[1]);
        }
    }
}
