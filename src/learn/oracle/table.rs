// SPDX-License-Identifier: GPL-3.0-or-later
//! The count table as the specification describes it, slot by slot.
//!
//! The order of slots is part of the result: sums of the fit run over it and the file holds it.

use crate::learn::table::Place;
use crate::token::id::FeatureId;

/// The data of one feature.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Slot {
    /// The feature's id; 0 in an empty slot.
    pub id: FeatureId,
    /// Occurrences. An empty slot counts the features that found no room there.
    pub count: u32,
    /// Sum over documents of the feature's share of the document.
    pub share: f32,
    /// The weight λ, stored form, nats.
    pub lambda: u16,
    /// Two uses one after the other, as in dbacl 1.14.1: occurrences in the document being read;
    /// later the suffix sum (low half, wrapping) and the reference weight (high half).
    pub shared: u32,
    /// Number of words, three bits.
    pub order: u8,
    /// Medium, four bits.
    pub medium: u8,
}

impl Slot {
    /// Whether the slot holds no feature.
    pub(super) const fn is_empty(&self) -> bool {
        self.id.0 == 0
    }
}

/// A table whose number of slots is a power of two.
#[derive(Debug, Clone)]
pub(super) struct Table {
    /// The slots in order.
    pub slots: Vec<Slot>,
}

impl Table {
    /// An empty table of 2^`bits` slots.
    pub(super) fn new(bits: u8) -> Self {
        Self { slots: vec![Slot::default(); 1 << bits] }
    }

    /// Used slots in hash order.
    pub(super) fn used(&self) -> impl DoubleEndedIterator<Item = &Slot> {
        self.slots.iter().filter(|slot| !slot.is_empty())
    }

    /// Whether a new feature may be inserted while `used` slots are taken.
    pub(super) fn has_room(&self, used: u32) -> bool {
        100 * (used as usize) < 95 * self.slots.len()
    }

    /// Searches `id` from its home slot on.
    pub(super) fn place(&self, id: FeatureId) -> Place {
        let home = id.0 as usize % self.slots.len();
        for at in (home..self.slots.len()).chain(0..home) {
            let found = self.slots[at].id;
            if found.0 == 0 {
                return Place::Vacant(at);
            }
            if found == id {
                return Place::Found(at);
            }
        }
        Place::None
    }

    /// The slot where the search for `id` ends, whether it holds `id` or is empty.
    pub(super) fn find(&mut self, id: FeatureId) -> Option<&mut Slot> {
        match self.place(id) {
            Place::Found(at) | Place::Vacant(at) => Some(&mut self.slots[at]),
            Place::None => None,
        }
    }

    /// Doubles the table. Slots move as dbacl 1.14.1 moves them (spec model 3, "Growing").
    pub(super) fn grow(&mut self) {
        let old_size = self.slots.len();
        let mut marked: Vec<bool> = self.slots.iter().map(|slot| !slot.is_empty()).collect();
        self.slots.resize(old_size * 2, Slot::default());
        marked.resize(old_size * 2, false);
        for c in 0..old_size {
            while marked[c] {
                let mut i = self.slots[c].id.0 as usize % self.slots.len();
                while !self.slots[i].is_empty() && !marked[i] {
                    i = (i + 1) % self.slots.len();
                }
                // The feature there waits as well, or there is none.
                marked[c] = i != c && marked[i];
                marked[i] = false;
                self.slots.swap(i, c);
                if self.slots[c].is_empty() {
                    self.slots[c] = Slot::default();
                }
            }
        }
    }
}
