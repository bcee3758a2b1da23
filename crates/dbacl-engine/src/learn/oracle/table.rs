// SPDX-License-Identifier: GPL-3.0-or-later
//! The count table as the specification describes it, slot by slot.
//!
//! The order of slots is part of the result: sums of the fit run over it and the file holds it.

use crate::token::id::FeatureId;

/// The data of one feature.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Slot {
    /// The feature's id; 0 in an empty slot.
    pub id: FeatureId,
    /// Occurrences. An empty slot counts the features that found no room there.
    pub count: u32,
    /// Sum over documents of the feature's share of the document.
    pub share: f32,
    /// The weight λ, stored form, nats.
    pub lambda: u16,
    /// Two uses one after the other, as in dbacl 1.14.1: occurrences in the document being read;
    /// later the suffix sum (low half) and the reference weight (high half).
    pub shared: u32,
    /// Number of words, three bits.
    pub order: u8,
    /// Medium, four bits.
    pub medium: u8,
}

impl Slot {
    /// Whether the slot holds no feature.
    pub const fn is_empty(&self) -> bool {
        self.id.0 == 0
    }

    /// Suffix sum: the stored weights of the feature's proper suffixes, u16 wrapping.
    pub const fn suffix_sum(&self) -> u16 {
        (self.shared & 0xffff) as u16
    }

    /// The digitised reference weight, `-log` of the reference probability.
    pub const fn reference(&self) -> u16 {
        (self.shared >> 16) as u16
    }

    /// Sets reference weight and suffix sum.
    pub fn set_fit_fields(&mut self, reference: u16, suffix_sum: u16) {
        self.shared = u32::from(reference) << 16 | u32::from(suffix_sum);
    }
}

/// Where the search for an id ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The slot that holds the id. Id 0 is "found" in the first empty slot.
    Found(usize),
    /// The empty slot where the id would go.
    Vacant(usize),
    /// Every slot holds another id.
    None,
}

/// A table of 2^bits slots.
#[derive(Debug, Clone)]
pub struct Table {
    bits: u8,
    slots: Vec<Slot>,
}

impl Table {
    /// An empty table of 2^`bits` slots.
    pub fn new(bits: u8) -> Self {
        Self { bits, slots: vec![Slot::default(); 1 << bits] }
    }

    /// Bits of the table's size.
    pub const fn bits(&self) -> u8 {
        self.bits
    }

    /// The slots in order.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The slots in order, to change.
    pub fn slots_mut(&mut self) -> &mut [Slot] {
        &mut self.slots
    }

    /// Used slots in hash order.
    pub fn used(&self) -> impl DoubleEndedIterator<Item = &Slot> {
        self.slots.iter().filter(|slot| !slot.is_empty())
    }

    /// Whether a new feature may be inserted while `used` slots are taken. The products wrap at
    /// 2^32, as in dbacl 1.14.1: a table of 2^26 slots takes 20,803,748 features.
    pub fn has_room(&self, used: u32) -> bool {
        let size = 1u32 << self.bits;
        100u32.wrapping_mul(used) < 95u32.wrapping_mul(size)
    }

    /// Searches `id` from its home slot on.
    pub fn place(&self, id: FeatureId) -> Place {
        let mask = self.slots.len() - 1;
        let home = id.0 as usize & mask;
        let mut at = home;
        loop {
            let slot = &self.slots[at];
            if slot.id == id {
                return Place::Found(at);
            }
            if slot.is_empty() {
                return Place::Vacant(at);
            }
            at = (at + 1) & mask;
            if at == home {
                return Place::None;
            }
        }
    }

    /// The slot where the search for `id` ends, whether it holds `id` or is empty.
    pub fn find(&self, id: FeatureId) -> Option<usize> {
        match self.place(id) {
            Place::Found(at) | Place::Vacant(at) => Some(at),
            Place::None => None,
        }
    }

    /// Doubles the table. Slots move as dbacl 1.14.1 moves them (spec model 3, "Growing").
    pub fn grow(&mut self) {
        let old_size = self.slots.len();
        let mut marked: Vec<bool> = self.slots.iter().map(|slot| !slot.is_empty()).collect();
        self.bits += 1;
        self.slots.resize(old_size * 2, Slot::default());
        marked.resize(old_size * 2, false);
        let mask = self.slots.len() - 1;
        for c in 0..old_size {
            while !self.slots[c].is_empty() && marked[c] {
                let mut i = self.slots[c].id.0 as usize & mask;
                while !self.slots[i].is_empty() && !marked[i] {
                    i = (i + 1) & mask;
                }
                marked[c] = false;
                if i != c {
                    if marked[i] {
                        self.slots.swap(i, c);
                        marked[c] = true;
                        marked[i] = false;
                    } else {
                        self.slots[i] = self.slots[c];
                        self.slots[c] = Slot::default();
                    }
                }
            }
        }
    }
}
