// SPDX-License-Identifier: GPL-3.0-or-later
//! Features → what belongs to them, by one look-up in a table of open addressing.

use dbacl_numeric::keyed::HashKey;
use std::num::NonZeroU32;

/// Finds what belongs to a feature: a number.
#[derive(Debug, Clone)]
pub(super) struct Index {
    /// Features and what belongs to them. At least a third is free.
    slots: Vec<(u32, Option<NonZeroU32>)>,
    length: u32,
    hashing: HashKey,
}

/// Features that are looked up together, so that the waits for memory overlap.
pub(super) const TOGETHER: usize = 64;

impl Default for Index {
    fn default() -> Self {
        Self::with_room(0)
    }
}

impl Index {
    /// An index without features, with room for so many.
    pub(super) fn with_room(length: usize) -> Self {
        let slots = vec![(0, None); length + length / 2 + 16];
        Self { slots, length: 0, hashing: HashKey::of_process() }
    }

    #[allow(clippy::cast_possible_truncation)] // below the number of slots
    const fn home(&self, feature: u32) -> usize {
        let hash = self.hashing.of_number(feature as u64) >> 32;
        ((hash * self.slots.len() as u64) >> 32) as usize
    }

    fn place(&self, feature: u32) -> usize {
        let mut at = self.home(feature);
        while self.slots[at].1.is_some() && self.slots[at].0 != feature {
            at = if at + 1 == self.slots.len() { 0 } else { at + 1 };
        }
        at
    }

    /// What belongs to a feature.
    pub(super) fn find(&self, feature: u32) -> Option<NonZeroU32> {
        self.slots[self.place(feature)].1
    }

    /// Calls `take` with what belongs to each of `features`, which are [`TOGETHER`] at most;
    /// features without anything are passed over.
    pub(super) fn find_all(&self, features: &[u32], mut take: impl FnMut(NonZeroU32)) {
        let mut first = [(0, None); TOGETHER];
        for (slot, &feature) in first.iter_mut().zip(features) {
            *slot = self.slots[self.home(feature)];
        }
        for (&(own, value), &feature) in first.iter().zip(features) {
            let Some(value) = value else { continue };
            if let Some(value) = if own == feature { Some(value) } else { self.find(feature) } {
                take(value);
            }
        }
    }

    /// What belongs to a feature, which is `value` if nothing did.
    pub(super) fn find_or_insert(&mut self, feature: u32, value: NonZeroU32) -> NonZeroU32 {
        if (self.length as usize + 1) * 3 > self.slots.len() * 2 {
            let room = self.slots.len() * 2;
            let old = std::mem::replace(&mut self.slots, vec![(0, None); room]);
            for slot in old.into_iter().filter(|slot| slot.1.is_some()) {
                let at = self.place(slot.0);
                self.slots[at] = slot;
            }
        }
        let at = self.place(feature);
        let slot = &mut self.slots[at];
        if slot.1.is_none() {
            self.length += 1;
            *slot = (feature, Some(value));
        }
        slot.1.unwrap_or(value)
    }

    /// Number of features.
    pub(super) const fn len(&self) -> usize {
        self.length as usize
    }
}

/// Columns are numbered from 0 in the order in which their features were inserted; what is kept is
/// the number after.
impl Index {
    /// The index of these features; a feature's column is its position in the list.
    pub(super) fn of(features: &[u32]) -> Self {
        let mut index = Self::with_room(features.len());
        for &feature in features {
            index.insert(feature);
        }
        index
    }

    /// The column of a feature.
    pub(super) fn get(&self, feature: u32) -> Option<u32> {
        self.find(feature).map(|number| number.get() - 1)
    }

    /// The column of a feature, a new one if it has none.
    pub(super) fn insert(&mut self, feature: u32) -> u32 {
        let next = NonZeroU32::MIN.saturating_add(self.length);
        self.find_or_insert(feature, next).get() - 1
    }

    /// The features by column.
    pub(super) fn features(&self) -> Vec<u32> {
        let mut features = vec![0; self.len()];
        for &(feature, number) in &self.slots {
            if let Some(number) = number {
                features[number.get() as usize - 1] = feature;
            }
        }
        features
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_keep_their_columns() {
        let mut index = Index::default();
        let features: Vec<u32> = (0..1000u32).map(|at| at.wrapping_mul(1 << 20)).collect();
        for (at, &feature) in features.iter().enumerate() {
            assert_eq!((index.insert(feature) as usize, index.insert(feature) as usize), (at, at));
        }
        assert_eq!((index.len(), index.features() == features), (1000, true));
        assert_eq!((index.get(5), Index::default().get(0)), (None, None));
        let again = Index::of(&features);
        assert!(features.iter().all(|&feature| again.get(feature) == index.get(feature)));
    }
    #[test]
    fn features_that_somebody_chose_are_found_as_soon_as_others() {
        // What multiplying by 9e3779b1 made neighbours.
        let chosen: Vec<u32> = (0..16000u32).map(|at| at.wrapping_mul(0x0e8b_2f51)).collect();
        assert_eq!(chosen[7].wrapping_mul(0x9e37_79b1), 7);
        for number in [8000, 16000] {
            let index = Index::of(&chosen[..number]);
            let places = index.slots.len();
            let used = index.slots.iter().enumerate().filter(|(_, slot)| slot.1.is_some());
            let steps: usize =
                used.map(|(at, slot)| (at + places - index.home(slot.0)) % places).sum();
            // About one each on average.
            assert!(steps < 50 * number, "{steps} steps for {number} features");
        }
    }
}
