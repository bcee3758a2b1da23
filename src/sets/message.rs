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

/// Gathers the features of one message after the other.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    /// An occurrence as a number: id of the feature; place; whether it comes from text.
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
        let place = u64::from(self.next.min(u32::MAX >> 1));
        self.next = self.next.saturating_add(1);
        self.keys.push(u64::from(id.0) << 32 | place << 1 | u64::from(is_text(feature.medium)));
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

/// Whether a feature of this medium comes from text, and not from tags.
pub(super) const fn is_text(medium: Medium) -> bool {
    !medium.is_header()
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
        let block = |block: usize, is_text: u64| {
            document.features[block].iter().map(move |&id| u64::from(id) << 32 | is_text)
        };
        let mut keys: Vec<u64> = block(0, 1).chain(block(1, 0)).collect();
        keys.sort_unstable();
        Self { keys }
    }

    /// The ids, rising.
    pub(crate) fn ids(&self) -> Vec<u32> {
        self.keys.iter().map(|key| (key >> 32) as u32).collect()
    }

    /// Whether the feature number `at` comes from text.
    pub(crate) fn is_text(&self, at: usize) -> bool {
        self.keys[at] & 1 == 1
    }

    /// When the feature number `at` came first.
    pub(crate) fn place(&self, at: usize) -> u32 {
        self.keys[at] as u32 >> 1
    }

    /// How many features there are.
    pub(crate) const fn len(&self) -> usize {
        self.keys.len()
    }

    /// The message as a filter learns it.
    pub(crate) fn document(&self, label: u8) -> Document {
        let of = |is_text: bool| -> Vec<u32> {
            let own = (0..self.len()).filter(|&at| self.is_text(at) == is_text);
            own.map(|at| (self.keys[at] >> 32) as u32).collect()
        };
        Document::new(label, [of(true), of(false)])
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
                let medium = Medium::new([3, 4][word % 2]);
                let feature = Feature { body: body.as_bytes(), medium, order: 1, pattern: None };
                gathering.add(&feature);
                let id = FeatureId::of(feature.body, medium).0;
                firsts.entry(id).or_insert((u32::try_from(number).unwrap(), word % 2 == 0));
            }
            let found = gathering.finish();
            assert_eq!(gathering.finish(), None);
            let Some(found) = found else {
                assert!(firsts.is_empty());
                continue;
            };
            assert_eq!(found.ids(), firsts.keys().copied().collect::<Vec<u32>>());
            let places = (0..found.len()).map(|at| (found.place(at), found.is_text(at)));
            assert_eq!(places.collect::<Vec<_>>(), firsts.into_values().collect::<Vec<_>>());
            let document = found.document(1);
            assert_eq!(document.features.concat().len(), found.len());
            assert_eq!(Message::of(&document).ids(), found.ids());
            assert_eq!(found.id().0, document.name());
        }
    }
}
