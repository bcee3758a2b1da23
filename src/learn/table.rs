// SPDX-License-Identifier: GPL-3.0-or-later
//! The count table: open addressing by feature id, in the slot order of the reference.
//!
//! The order of slots is part of the result: sums of the fit run over it and the file holds it.

use crate::token::id::FeatureId;

/// Largest number of bits of a table's size.
pub const MAX_BITS: u8 = 30;

/// What a feature is made of, in 32 bits: its order (three bits), whether its suffix is known to be
/// the feature that the table holds under the suffix's id, and a payload: the feature's first term,
/// or its medium where features are kept as texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Head(u32);

impl Head {
    const LINKED: u32 = 1 << 28;

    /// A head with this order and payload, not linked.
    ///
    /// # Panics
    /// If the payload exceeds 28 bits: more words than fit in memory.
    pub fn new(order: u8, payload: u32) -> Self {
        assert!(payload < Self::LINKED, "fewer than 2^28 words fit in memory");
        Self(u32::from(order & 7) << 29 | payload)
    }

    /// Number of words, three bits.
    pub const fn order(self) -> u8 {
        (self.0 >> 29) as u8
    }

    /// The first term, or the medium.
    pub const fn payload(self) -> u32 {
        self.0 & (Self::LINKED - 1)
    }

    /// Whether the slot of the suffix's id holds the suffix itself.
    pub const fn is_linked(self) -> bool {
        self.0 & Self::LINKED != 0
    }

    /// The same, linked.
    #[must_use]
    pub const fn linked(self) -> Self {
        Self(self.0 | Self::LINKED)
    }

    /// The same with another order.
    #[must_use]
    pub const fn with_order(self, order: u8) -> Self {
        Self(self.0 & !(7 << 29) | ((order & 7) as u32) << 29)
    }
}

/// One slot: 16 bytes, so that four share a cache line and none crosses one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cell {
    /// The feature's id; 0 in an empty slot.
    pub id: FeatureId,
    /// Occurrences. An empty slot counts the features that found no room there.
    pub count: u32,
    /// What the feature is.
    pub head: Head,
    /// The id of its longest proper suffix; 0 for single words.
    pub suffix: FeatureId,
}

impl Cell {
    /// Whether the slot holds no feature.
    pub const fn is_empty(&self) -> bool {
        self.id.0 == 0
    }
}

/// Where the search for an id ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The slot that holds the id.
    Found(usize),
    /// The empty slot where the id would go.
    Vacant(usize),
    /// Every slot holds another id.
    None,
}

impl Place {
    /// The slot that holds the id, if one does.
    pub const fn found(self) -> Option<usize> {
        match self {
            Self::Found(at) => Some(at),
            Self::Vacant(_) | Self::None => None,
        }
    }
}

/// Statistics of a slot over documents; kept only where the entropy of documents is measured.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spread {
    /// Occurrences in the document being read.
    pub occurrences: u32,
    /// Sum over documents of the feature's share of the document.
    pub share: f32,
}

/// A table of 2^bits slots.
#[derive(Debug, Clone)]
pub struct Table {
    bits: u8,
    cells: Vec<Cell>,
    /// As long as `cells`, or empty.
    spreads: Vec<Spread>,
}

impl Table {
    /// An empty table of 2^`bits` slots; with `spreads` it has room for statistics over documents.
    ///
    /// # Panics
    /// If `bits` exceeds [`MAX_BITS`]; options and files are checked before.
    pub fn new(bits: u8, spreads: bool) -> Self {
        assert!(bits <= MAX_BITS, "table sizes are checked where they are read");
        let cells = vec![Cell::default(); 1 << bits];
        let spreads = if spreads { vec![Spread::default(); 1 << bits] } else { Vec::new() };
        Self { bits, cells, spreads }
    }

    /// The table with these slots, a power of two of them; `spreads` is as long or empty.
    pub fn from_parts(cells: Vec<Cell>, spreads: Vec<Spread>) -> Option<Self> {
        let bits = u8::try_from(cells.len().checked_ilog2()?).ok()?;
        let fits = spreads.is_empty() || spreads.len() == cells.len();
        let possible = cells.len().is_power_of_two() && bits <= MAX_BITS && fits;
        possible.then_some(Self { bits, cells, spreads })
    }

    /// Bits of the table's size.
    pub const fn bits(&self) -> u8 {
        self.bits
    }

    /// The slots in order.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The slots in order, to change.
    pub fn cells_mut(&mut self) -> &mut [Cell] {
        &mut self.cells
    }

    /// Statistics over documents of the slot at `at`; zeros where none are kept.
    pub fn spread(&self, at: usize) -> Spread {
        self.spreads.get(at).copied().unwrap_or_default()
    }

    /// The same, to change; `None` where none are kept.
    pub fn spread_mut(&mut self, at: usize) -> Option<&mut Spread> {
        self.spreads.get_mut(at)
    }

    /// Used slots in hash order.
    pub fn used(&self) -> impl DoubleEndedIterator<Item = &Cell> {
        self.cells.iter().filter(|cell| !cell.is_empty())
    }

    /// Whether a new feature may be inserted while `used` slots are taken. The products wrap at
    /// 2^32, as in the reference: a table of 2^26 slots takes 20,803,748 features.
    pub const fn has_room(&self, used: u32) -> bool {
        let size = 1u32 << self.bits;
        100u32.wrapping_mul(used) < 95u32.wrapping_mul(size)
    }

    /// Searches `id` from its home slot on. Id 0 marks empty slots and is never found.
    #[inline]
    pub fn place(&self, id: FeatureId) -> Place {
        let mask = self.cells.len() - 1;
        let home = id.0 as usize & mask;
        let mut at = home;
        loop {
            let found = self.cells[at & mask].id;
            if found.0 == 0 {
                return Place::Vacant(at);
            }
            if found == id {
                return Place::Found(at);
            }
            at = (at + 1) & mask;
            if at == home {
                return Place::None;
            }
        }
    }

    /// Counts one more occurrence of `id`, if the table holds it and the count has room; returns the
    /// order of the feature that holds the slot.
    #[inline]
    pub fn count_known(&mut self, id: FeatureId) -> Option<u8> {
        let mask = self.cells.len() - 1;
        let mut at = id.0 as usize & mask;
        loop {
            let cell = &mut self.cells[at & mask];
            if cell.id == id && id.0 != 0 {
                cell.count = cell.count.checked_add(1)?;
                return Some(cell.head.order());
            }
            if cell.id.0 == 0 {
                return None;
            }
            at += 1;
            if at > mask + (id.0 as usize & mask) {
                return None;
            }
        }
    }

    /// The largest count of all slots.
    pub fn max_count(&self) -> u32 {
        self.cells.iter().map(|cell| cell.count).max().unwrap_or(0)
    }

    /// The slot where the search for `id` ends, whether it holds `id` or is empty.
    pub fn find(&self, id: FeatureId) -> Option<usize> {
        match self.place(id) {
            Place::Found(at) | Place::Vacant(at) => Some(at),
            Place::None => None,
        }
    }

    /// Brings the home slots of `ids` near the processor; the result means nothing.
    #[inline]
    pub fn touch(&self, ids: &[FeatureId]) -> u32 {
        let mask = self.cells.len() - 1;
        ids.iter().fold(0, |sum, id| sum ^ self.cells[id.0 as usize & mask].count)
    }

    /// Doubles the table. Slots move as the reference moves them (spec model 3, "Growing").
    pub fn grow(&mut self) {
        let old_size = self.cells.len();
        // Marked slots are used ones that have not found their new place yet.
        let mut marked: Vec<bool> = self.cells.iter().map(|cell| !cell.is_empty()).collect();
        self.bits += 1;
        self.cells.resize(old_size * 2, Cell::default());
        marked.resize(old_size * 2, false);
        let has_spreads = !self.spreads.is_empty();
        if has_spreads {
            self.spreads.resize(old_size * 2, Spread::default());
        }
        let mask = self.cells.len() - 1;
        for c in 0..old_size {
            while marked[c] {
                let mut i = self.cells[c].id.0 as usize & mask;
                while !self.cells[i].is_empty() && !marked[i] {
                    i = (i + 1) & mask;
                }
                marked[c] = false;
                if i != c {
                    // An empty or a marked slot: either way what is there comes here.
                    self.cells.swap(i, c);
                    marked.swap(i, c);
                    if has_spreads {
                        self.spreads.swap(i, c);
                    }
                    if self.cells[c].is_empty() {
                        self.cells[c] = Cell::default();
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_tables_fill_completely() {
        let table = Table::new(4, false);
        assert!(table.has_room(15));
        assert!(!Table::new(15, false).has_room(31130));
        assert!(Table::new(15, false).has_room(31129));
    }

    #[test]
    fn every_feature_is_found_after_growing() {
        let mut table = Table::new(4, true);
        let ids: Vec<FeatureId> =
            (1..=15u32).map(|k| FeatureId(k.wrapping_mul(0x9e3779b1))).collect();
        for &id in &ids {
            let Place::Vacant(at) = table.place(id) else { panic!("no room") };
            table.cells_mut()[at].id = id;
            table.spread_mut(at).unwrap().occurrences = id.0;
        }
        table.grow();
        assert_eq!(table.bits(), 5);
        for &id in &ids {
            let Place::Found(at) = table.place(id) else { panic!("lost {id:?}") };
            assert_eq!(table.spread(at).occurrences, id.0);
        }
    }

    #[test]
    fn heads_keep_their_parts() {
        let head = Head::new(7, (1 << 28) - 1);
        assert_eq!((head.order(), head.payload(), head.is_linked()), (7, (1 << 28) - 1, false));
        let head = head.linked().with_order(1);
        assert_eq!((head.order(), head.payload(), head.is_linked()), (1, (1 << 28) - 1, true));
    }
}
