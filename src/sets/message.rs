// SPDX-License-Identifier: GPL-3.0-or-later
//! The different features of a message, in order of their ids, each with the place where it came
//! first.
//!
//! A message may be long, so occurrences are gathered, and now and then all but the first of each
//! feature are dropped.

use super::report::DocumentId;
use crate::model::medium::Medium;
use crate::store::Document;
use crate::token::Feature;
use crate::token::id::FeatureId;

/// Occurrences that are gathered at least before copies are dropped.
const BATCH: usize = 1 << 16;

/// Bits for the number of a block.
const BLOCK_BITS: u32 = 2;

/// Gathers the features of one message after the other.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    /// An occurrence as a number: id of the feature; place; block.
    keys: Vec<u64>,
    next: u32,
    /// Different features when copies were dropped.
    different: usize,
}

impl Gathering {
    /// Takes an occurrence of a feature.
    pub(super) fn add(&mut self, feature: &Feature<'_>) {
        let id = FeatureId::of(feature.body, feature.medium);
        if id.0 == 0 {
            return;
        }
        let place = u64::from(self.next.min(u32::MAX >> BLOCK_BITS));
        self.next = self.next.saturating_add(1);
        let block = block(feature.medium) as u64;
        self.keys.push(u64::from(id.0) << 32 | place << BLOCK_BITS | block);
        if self.keys.len() >= 2 * self.different + BATCH {
            self.drop_copies();
        }
    }

    fn drop_copies(&mut self) {
        self.keys.sort_unstable();
        self.keys.dedup_by_key(|key| *key >> 32);
        self.different = self.keys.len();
    }

    /// Ends the message; `None` if it has no features.
    pub(super) fn finish(&mut self) -> Option<Message> {
        self.drop_copies();
        let keys = self.keys.as_slice().to_vec();
        self.keys.clear();
        (self.next, self.different) = (0, 0);
        (!keys.is_empty()).then_some(Message { keys })
    }
}

/// The block of features of this medium.
pub(super) const fn block(medium: Medium) -> usize {
    match medium.number() {
        ..=3 => 0,
        4 => 1,
        _ => 2,
    }
}

/// The different features of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    keys: Vec<u64>,
}

#[allow(clippy::cast_possible_truncation)] // both halves were put there as 32 bits
impl Message {
    /// The features of a learned document; in its text all come at once.
    pub(crate) fn of(document: &Document) -> Self {
        let block = |(block, ids)| {
            let ids: &Vec<u32> = ids;
            ids.iter().map(move |&id| u64::from(id) << 32 | block)
        };
        let mut keys: Vec<u64> = (0..).zip(&document.features).flat_map(block).collect();
        keys.sort_unstable();
        Self { keys }
    }

    /// The ids, rising.
    pub(crate) fn ids(&self) -> Vec<u32> {
        self.keys.iter().map(|key| (key >> 32) as u32).collect()
    }

    /// The block of the feature number `at`.
    pub(crate) fn block(&self, at: usize) -> usize {
        self.keys[at] as usize & ((1 << BLOCK_BITS) - 1)
    }

    /// When the feature number `at` came first.
    pub(crate) fn place(&self, at: usize) -> u32 {
        self.keys[at] as u32 >> BLOCK_BITS
    }

    /// How many features there are.
    pub(crate) const fn len(&self) -> usize {
        self.keys.len()
    }

    /// The message as a filter learns it.
    pub(crate) fn document(&self, label: u8) -> Document {
        let of = |block: usize| -> Vec<u32> {
            let own = (0..self.len()).filter(|&at| self.block(at) == block);
            let mut ids = Vec::with_capacity(own.clone().count());
            ids.extend(own.map(|at| (self.keys[at] >> 32) as u32));
            ids
        };
        Document::new(label, std::array::from_fn(of))
    }

    /// What the message is known by.
    pub(crate) fn id(&self) -> DocumentId {
        DocumentId(self.document(0).name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_dropped_and_the_first_places_stay() {
        for (occurrences, words) in [(0, 1), (1000, 300), (2 * BATCH + 7, 90_000), (3 * BATCH, 50)]
        {
            let mut gathering = Gathering::default();
            let mut firsts = std::collections::BTreeMap::new();
            for number in 0..occurrences {
                let word = number.wrapping_mul(0x9e37_79b1) % words;
                let body = format!("\x03{word}\x03");
                let medium = Medium::new([3, 4, 5][word % 3]);
                let feature = Feature { body: body.as_bytes(), medium, order: 1, pattern: None };
                gathering.add(&feature);
                let id = FeatureId::of(feature.body, medium).0;
                firsts.entry(id).or_insert((u32::try_from(number).unwrap(), word % 3));
            }
            let found = gathering.finish();
            assert_eq!(gathering.finish(), None);
            let Some(found) = found else {
                assert!(firsts.is_empty());
                continue;
            };
            assert_eq!(found.ids(), firsts.keys().copied().collect::<Vec<u32>>());
            let places = (0..found.len()).map(|at| (found.place(at), found.block(at)));
            assert_eq!(places.collect::<Vec<_>>(), firsts.into_values().collect::<Vec<_>>());
            let document = found.document(1);
            assert_eq!(document.features.concat().len(), found.len());
            assert_eq!(Message::of(&document).ids(), found.ids());
            assert_eq!(found.id().0, document.name());
        }
    }
}
