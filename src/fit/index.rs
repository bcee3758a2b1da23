// SPDX-License-Identifier: GPL-3.0-or-later
//! Numbers feature ids in order of first appearance, so that weights are plain arrays and frequent
//! features stand close together.

use crate::token::id::FeatureId;
use dbacl_numeric::keyed::HashKey;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// A growing table of ids.
#[derive(Debug, Clone, Default)]
pub struct FeatureIndex {
    /// Numbers by their ids. Its order affects no result.
    numbers: HashTable<u32>,
    hashing: HashKey,
    /// The ids, by number.
    pub ids: Vec<FeatureId>,
}

impl FeatureIndex {
    /// The table of `ids`, which are distinct, numbered in their order.
    ///
    /// # Panics
    /// If there are 2^32 of them, more than there are ids.
    pub fn of(ids: Vec<FeatureId>) -> Self {
        let (mut numbers, hashing) = (HashTable::with_capacity(ids.len()), HashKey::of_process());
        let hash_of = |id: FeatureId| hashing.of_number(id.0.into());
        for (number, &id) in (0..).zip(&ids) {
            numbers.insert_unique(hash_of(id), number, |&n: &u32| hash_of(ids[n as usize]));
        }
        Self { numbers, hashing, ids }
    }

    /// The number of `id`, if it is in the table.
    pub fn get(&self, id: FeatureId) -> Option<usize> {
        let is_it = |&number: &u32| self.ids[number as usize] == id;
        self.numbers.find(self.hashing.of_number(id.0.into()), is_it).map(|&number| number as usize)
    }

    /// The number of `id`, which gets a new one if it is not in the table.
    #[allow(clippy::cast_possible_truncation)] // distinct 32-bit ids, without 0
    pub fn insert(&mut self, id: FeatureId) -> u32 {
        let ids = &self.ids;
        let is_it = |&number: &u32| ids[number as usize] == id;
        let hash = |&number: &u32| self.hashing.of_number(ids[number as usize].0.into());
        match self.numbers.entry(self.hashing.of_number(id.0.into()), is_it, hash) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(room) => {
                let number = self.ids.len() as u32;
                room.insert(number);
                self.ids.push(id);
                number
            }
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
        let again = FeatureIndex::of(index.ids.clone());
        for (number, &id) in index.ids.iter().enumerate() {
            assert_eq!(index.get(id), Some(number));
            assert_eq!(again.get(id), Some(number));
        }
        assert_eq!(index.get(FeatureId(2)), None);
    }
}
