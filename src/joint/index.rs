// SPDX-License-Identifier: GPL-3.0-or-later
//! Feature ids → dense numbers in order of first appearance, so that weights are plain arrays and
//! frequent features stand close together.

use crate::token::id::FeatureId;

/// Marks a slot without a number.
const NONE: u32 = u32::MAX;

/// A growing table of ids.
#[derive(Debug, Clone)]
pub struct FeatureIndex {
    /// Number in `ids`, or [`NONE`]; a power of two of slots.
    slots: Vec<u32>,
    ids: Vec<FeatureId>,
}

impl Default for FeatureIndex {
    fn default() -> Self {
        Self { slots: vec![NONE; 1 << 12], ids: Vec::new() }
    }
}

impl FeatureIndex {
    /// The table of `ids`, which are distinct, numbered in their order.
    pub fn of(ids: Vec<FeatureId>) -> Self {
        let size = (ids.len() * 2).next_power_of_two().max(1 << 12);
        let mut index = Self { slots: vec![NONE; size], ids };
        index.fill();
        index
    }

    /// The ids, by number.
    pub fn ids(&self) -> &[FeatureId] {
        &self.ids
    }

    /// The ids, by number.
    pub fn into_ids(self) -> Vec<FeatureId> {
        self.ids
    }

    /// How many ids there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The slot of `id`, or the empty one where it would go.
    fn slot(&self, id: FeatureId) -> usize {
        let mask = self.slots.len() - 1;
        // Ids are hashes; spreading them once more undoes what an adversary may have chosen.
        let mut at = (id.0.wrapping_mul(0x9e37_79b1) >> 7) as usize & mask;
        while self.slots[at] != NONE && self.ids[self.slots[at] as usize] != id {
            at = (at + 1) & mask;
        }
        at
    }

    /// The number of `id`, if it is known.
    pub fn get(&self, id: FeatureId) -> Option<usize> {
        let number = self.slots[self.slot(id)];
        (number != NONE).then_some(number as usize)
    }

    /// The number of `id`, which is a new one if it was not known.
    #[allow(clippy::cast_possible_truncation)] // distinct 32-bit ids, without 0
    pub fn insert(&mut self, id: FeatureId) -> u32 {
        let mut at = self.slot(id);
        if self.slots[at] == NONE {
            if self.ids.len() * 2 >= self.slots.len() {
                self.slots = vec![NONE; self.slots.len() * 4];
                self.fill();
                at = self.slot(id);
            }
            self.slots[at] = self.ids.len() as u32;
            self.ids.push(id);
        }
        self.slots[at]
    }

    #[allow(clippy::cast_possible_truncation)] // as above
    fn fill(&mut self) {
        for number in 0..self.ids.len() {
            let at = self.slot(self.ids[number]);
            self.slots[at] = number as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_first_appearance_and_stay() {
        let mut index = FeatureIndex::default();
        let id = |k: u32| FeatureId(k.wrapping_mul(2654435761) | 1);
        for k in 0..20_000 {
            assert_eq!(index.insert(id(k)), index.insert(id(k)));
        }
        let again = FeatureIndex::of(index.ids().to_vec());
        for (number, &id) in index.ids().iter().enumerate() {
            assert_eq!(index.get(id), Some(number));
            assert_eq!(again.get(id), Some(number));
        }
        assert_eq!(index.get(FeatureId(2)), None);
    }
}
