// SPDX-License-Identifier: GPL-3.0-or-later
//! Weights by feature id: a hash table with open addressing that grows up to a limit.

use dbacl::FeatureId;
use dbacl::alloc_hints;
use dbacl_numeric::keyed::HashKey;

/// A feature's weight, and the sum on which the length of its steps depends. 12 bytes; id 0 marks
/// an empty slot.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Slot {
    /// The feature.
    pub id: FeatureId,
    /// Its weight, nats.
    pub weight: f32,
    /// Sum of its squared gradients.
    pub squares: f32,
}

/// Place of a feature that is not in the table.
pub(super) const NOWHERE: u32 = u32::MAX;

/// The table. Slots of a power of two, filled to seven tenths at most.
#[derive(Debug, Clone)]
pub(super) struct Table {
    /// The slots, the empty ones included.
    pub slots: Vec<Slot>,
    /// Features in the table.
    pub features: usize,
    /// Features that the table may hold.
    limit: usize,
    hashing: HashKey,
}

/// Slots of a new table.
const FIRST_SIZE: usize = 1 << 16;

impl Table {
    /// An empty table for at most `limit` features. Growing to `limit` takes 12 bytes a slot for
    /// the old and the new table together: up to 52 bytes a feature for a moment, 17 to 35
    /// afterwards.
    pub(super) fn new(limit: usize) -> Self {
        let slots = vec![Slot::default(); FIRST_SIZE];
        Self { slots, features: 0, limit, hashing: HashKey::of_process() }
    }

    /// The slot at `place`, which [`Self::find`] or [`Self::insert`] has returned.
    pub(super) fn at(&mut self, place: u32) -> &mut Slot {
        &mut self.slots[place as usize]
    }

    #[allow(clippy::cast_possible_truncation)] // below the number of slots
    const fn home(&self, id: FeatureId) -> usize {
        (self.hashing.of_number(id.0 as u64) >> 32) as usize & (self.slots.len() - 1)
    }

    /// Prefetches the slot where [`Self::find`] begins for `id`.
    #[inline]
    pub(super) fn prefetch(&self, id: FeatureId) {
        alloc_hints::prefetch(&self.slots, self.home(id));
    }

    /// The slot of `id`, or the empty one where it would be inserted.
    #[inline]
    fn slot_of(&self, id: FeatureId) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = self.home(id);
        while self.slots[at & mask].id != id && self.slots[at & mask].id.0 != 0 {
            at = (at + 1) & mask;
        }
        at
    }

    /// Where `id` is, and its weight; [`NOWHERE`] and 0 if it is not in the table.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // at most 2^29 slots
    pub(super) fn find(&self, id: FeatureId) -> (u32, f32) {
        let at = self.slot_of(id);
        let slot = &self.slots[at];
        if slot.id.0 == 0 { (NOWHERE, 0.0) } else { (at as u32, slot.weight) }
    }

    /// Makes room so that the next `count` insertions do not move slots.
    pub(super) fn reserve(&mut self, count: usize) {
        let wanted = (self.features + count).min(self.limit);
        let mut size = self.slots.len();
        while wanted * 10 > size * 7 {
            size *= 2;
        }
        if size > self.slots.len() {
            let mut larger = alloc_hints::with_memory(size);
            larger.resize(size, Slot::default());
            let old = std::mem::replace(&mut self.slots, larger);
            for slot in old.into_iter().filter(|slot| slot.id.0 != 0) {
                let at = self.slot_of(slot.id);
                self.slots[at] = slot;
            }
        }
    }

    /// The place of `id`, which is inserted with weight 0 if it is new; [`NOWHERE`] if the table is
    /// full or `id` is 0. [`Self::reserve`] must have been called before.
    #[allow(clippy::cast_possible_truncation)] // at most 2^29 slots
    pub(super) fn insert(&mut self, id: FeatureId) -> u32 {
        if id.0 == 0 {
            return NOWHERE;
        }
        let at = self.slot_of(id);
        if self.slots[at].id == id {
            return at as u32;
        }
        if self.features >= self.limit {
            return NOWHERE;
        }
        self.features += 1;
        self.slots[at].id = id;
        at as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_found_after_growth_until_the_limit() {
        let mut table = Table::new(100_000);
        let id = |k: u32| FeatureId(k.wrapping_mul(2654435761) | 1);
        let mut known = 0;
        for k in 0..150_000u32 {
            table.reserve(1);
            let place = table.insert(id(k));
            if place == NOWHERE {
                continue;
            }
            if table.at(place).weight == 0.0 {
                table.at(place).weight = f32::from(u16::try_from(k % 1000 + 1).unwrap());
                known = k + 1;
            }
        }
        assert_eq!((table.features, table.slots.len()), (100_000, 1 << 18));
        for k in (0..known).step_by(97) {
            assert_ne!(table.find(id(k)).0, NOWHERE, "{k}");
        }
        assert_eq!(table.find(FeatureId(2)), (NOWHERE, 0.0));
        assert_eq!((table.find(FeatureId(0)).0, table.insert(FeatureId(0))), (NOWHERE, NOWHERE));
    }
}
