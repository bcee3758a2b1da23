// SPDX-License-Identifier: GPL-3.0-or-later
//! The count table: open addressing by feature id, in the slot order of dbacl 1.14.1.
//!
//! The order of slots is part of the result: sums of the fit run over it and the file holds it.

use super::weights::SlotWeights;
use crate::alloc_hints::{has_addresses_to_spare, is_available, prefetch, take_memory, try_room};
use crate::model::medium::Medium;
use crate::token::id::FeatureId;

/// Look-ups whose memory is prefetched together.
pub(crate) const AHEAD: usize = 64;

/// How many slots ahead memory is prefetched where slots are visited in order, but not all.
pub(crate) const FAR_AHEAD: usize = 512;

/// Largest number of bits of a table's size.
pub(crate) const MAX_BITS: u8 = 30;

/// The make-up of a feature in 32 bits: its order (three bits), how its words are found (two bits),
/// and a payload: the feature's first term, or its medium where features are kept as texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Head(u32);

impl Head {
    const LINKED: u32 = 1 << 28;
    const SPELLED: u32 = 1 << 27;

    /// Payloads are below this.
    pub(crate) const END_OF_PAYLOADS: u32 = Self::SPELLED;

    /// A head with this order and payload, neither linked nor spelled.
    ///
    /// # Panics
    /// If the payload is not below [`Self::END_OF_PAYLOADS`].
    pub(crate) fn new(order: u8, payload: u32) -> Self {
        assert!(payload < Self::END_OF_PAYLOADS, "words are numbered below 2^27");
        Self(u32::from(order & 7) << 29 | payload)
    }

    /// Number of words, three bits.
    pub(crate) const fn order(self) -> u8 {
        (self.0 >> 29) as u8
    }

    /// The first term, or the medium.
    pub(crate) const fn payload(self) -> u32 {
        self.0 & (Self::SPELLED - 1)
    }

    /// Whether the slot of the suffix's id holds the suffix itself.
    pub(crate) const fn is_linked(self) -> bool {
        self.0 & Self::LINKED != 0
    }

    /// Whether the feature's words are kept elsewhere, because its suffix cannot be linked.
    pub(crate) const fn is_spelled(self) -> bool {
        self.0 & Self::SPELLED != 0
    }

    /// The same, linked.
    #[must_use]
    pub(crate) const fn linked(self) -> Self {
        Self(self.0 | Self::LINKED)
    }

    /// The same, spelled.
    #[must_use]
    pub(crate) const fn spelled(self) -> Self {
        Self(self.0 | Self::SPELLED)
    }

    /// The same with another order.
    #[must_use]
    pub(crate) const fn with_order(self, order: u8) -> Self {
        Self(self.0 & !(7 << 29) | ((order & 7) as u32) << 29)
    }
}

/// What one slot holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Cell {
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
    #[inline]
    const fn of([id, count, head, suffix]: [u32; 4]) -> Self {
        Self { id: FeatureId(id), count, head: Head(head), suffix: FeatureId(suffix) }
    }

    /// Whether the slot holds no feature.
    pub(crate) const fn is_empty(&self) -> bool {
        self.id.0 == 0
    }
}

/// Where the search for an id ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The slot that holds the id.
    Found(usize),
    /// The empty slot where the id would go.
    Vacant(usize),
    /// Every slot holds another id.
    None,
}

impl Place {
    /// The slot that holds the id, if one does.
    pub(crate) const fn found(self) -> Option<usize> {
        match self {
            Self::Found(at) => Some(at),
            Self::Vacant(_) | Self::None => None,
        }
    }
}

/// Statistics of a slot over documents; kept only where the entropy of documents is measured.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Spread {
    /// Occurrences in the document being read.
    pub occurrences: u32,
    /// Sum over documents of the feature's share of the document.
    pub share: f32,
}

/// A table of 2^bits slots. Searches run over tags, one byte for each slot, and read only the slots
/// with the right tag.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    bits: u8,
    /// The upper bits of the ids, never 0; 0 where a slot is empty.
    tags: Vec<u8>,
    /// Id, 0 in an empty slot; count; head; id of the suffix. The fit needs the last two no longer,
    /// and replaces them: the head by order (three bits), medium (four bits) and reference weight,
    /// the suffix's id by suffix sum and weight.
    slots: Vec<[u32; 4]>,
    /// As long as the others, or empty.
    spreads: Vec<Spread>,
}

/// Memory for a slot, bytes, including that of the fit.
const BYTES_A_SLOT: usize = 24;

/// The tag of an id: bits that do not say where its search begins, unless the table is very large.
#[allow(clippy::cast_possible_truncation)] // eight bits are left
#[inline]
const fn tag_of(id: u32) -> u8 {
    let tag = (id >> 24) as u8;
    if tag == 0 { 1 } else { tag }
}

/// Place of the first of `tags` that equals `tag` or 0.
#[inline]
fn first_of(tags: &[u8], tag: u8) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    // The lowest bit of these marks the first byte that is 0.
    let zeros = |bytes: u64| bytes.wrapping_sub(ONES) & !bytes & (ONES << 7);
    if let Some(first) = tags.first_chunk() {
        let first = u64::from_le_bytes(*first);
        let ends = zeros(first) | zeros(first ^ (ONES * u64::from(tag)));
        if ends != 0 {
            return Some(ends.trailing_zeros() as usize / 8);
        }
    }
    memchr::memchr2(tag, 0, tags)
}

impl Table {
    /// An empty table of 2^`bits` slots; with `spreads` it has room for statistics over documents.
    ///
    /// # Panics
    /// If `bits` exceeds [`MAX_BITS`]; options and files are checked before.
    pub(crate) fn new(bits: u8, spreads: bool) -> Self {
        assert!(bits <= MAX_BITS, "table sizes are checked where they are read");
        let size = 1 << bits;
        let spreads = if spreads { vec![Spread::default(); size] } else { Vec::new() };
        // Zeros come from the system as they are needed.
        Self { bits, tags: vec![0; size], slots: vec![[0; 4]; size], spreads }
    }

    /// Whether there is memory for a table of 2^`bits` slots, and for its fit.
    pub(crate) fn fits_in_memory(bits: u8) -> bool {
        bits <= MAX_BITS
            && is_available((BYTES_A_SLOT as u64) << bits)
            && try_room(&mut Vec::<Cell>::new(), 1 << bits)
    }

    /// The table with these slots, a power of two of them; `spreads` is as long or empty.
    pub(crate) fn from_parts(cells: &[Cell], spreads: Vec<Spread>) -> Option<Self> {
        let bits = u8::try_from(cells.len().checked_ilog2()?).ok()?;
        let fits = spreads.is_empty() || spreads.len() == cells.len();
        if !(cells.len().is_power_of_two() && bits <= MAX_BITS && fits) {
            return None;
        }
        let mut table = Self { spreads, ..Self::new(bits, false) };
        for (at, cell) in cells.iter().enumerate() {
            table.set(at, *cell);
        }
        Some(table)
    }

    /// Bits of the table's size.
    pub(crate) const fn bits(&self) -> u8 {
        self.bits
    }

    /// Number of slots.
    pub(crate) fn size(&self) -> usize {
        self.slots.len()
    }

    /// What the slot at `at` holds.
    #[inline]
    pub(crate) fn cell(&self, at: usize) -> Cell {
        Cell::of(self.slots[at])
    }

    /// Sets what the slot at `at` holds.
    #[inline]
    pub(crate) fn set(&mut self, at: usize, cell: Cell) {
        self.tags[at] = if cell.is_empty() { 0 } else { tag_of(cell.id.0) };
        self.slots[at] = [cell.id.0, cell.count, cell.head.0, cell.suffix.0];
    }

    /// The slots in order.
    pub(crate) fn cells(&self) -> impl DoubleEndedIterator<Item = Cell> + ExactSizeIterator {
        self.slots.iter().copied().map(Cell::of)
    }

    /// Count of the slot at `at`, to change.
    #[inline]
    pub(crate) fn count_mut(&mut self, at: usize) -> &mut u32 {
        &mut self.slots[at][1]
    }

    /// Changes the head of the slot at `at`.
    #[inline]
    pub(crate) fn set_head(&mut self, at: usize, head: Head) {
        self.slots[at][2] = head.0;
    }

    /// Prefetches the slot at `at`, if there is one.
    #[inline]
    pub(crate) fn prefetch_slot(&self, at: usize) {
        prefetch(&self.slots, at);
    }

    /// Prefetches the tag, the slot and the statistics at the home slot of a feature.
    #[inline]
    pub(crate) fn prefetch_whole(&self, id: FeatureId) {
        let home = self.home(id);
        prefetch(&self.tags, home);
        prefetch(&self.slots, home);
        prefetch(&self.spreads, home);
    }

    /// Gives the slot at `at` the weights from before the fit, in the place of what its feature is
    /// made of. They are 0, but suffix sum and reference weight hold traces of the occurrence
    /// counter, with which they share memory in dbacl 1.14.1; the traces remain where the fit sets
    /// neither (spec model 7.4).
    #[allow(clippy::cast_possible_truncation)] // halves
    pub(crate) fn start_weights(&mut self, at: usize, medium: Medium) {
        let medium = u32::from(medium.number()) << 16;
        self.set_head(at, Head::new(self.cell(at).head.order(), medium));
        let occurrences = self.spread(at).occurrences;
        let (suffix, reference) = (occurrences as u16, (occurrences >> 16) as u16);
        self.set_weights(at, SlotWeights { lambda: 0, suffix, reference });
    }

    /// The weights in the slot at `at`; zeros if it is empty.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // halves
    pub(crate) fn weights(&self, at: usize) -> SlotWeights {
        let [_, _, head, pair] = self.slots[at];
        SlotWeights { lambda: pair as u16, suffix: (pair >> 16) as u16, reference: head as u16 }
    }

    /// Changes them.
    #[inline]
    pub(crate) fn set_weights(&mut self, at: usize, weights: SlotWeights) {
        let [_, _, head, pair] = &mut self.slots[at];
        *head = *head & !0xffff | u32::from(weights.reference);
        *pair = u32::from(weights.suffix) << 16 | u32::from(weights.lambda);
    }

    /// The medium of the feature in the slot at `at`, which holds weights.
    #[allow(clippy::cast_possible_truncation)] // four bits
    pub(crate) fn medium(&self, at: usize) -> Medium {
        Medium::new((self.slots[at][2] >> 16 & 15) as u8)
    }

    /// Statistics over documents of the slot at `at`; zeros where none are kept.
    pub(crate) fn spread(&self, at: usize) -> Spread {
        self.spreads.get(at).copied().unwrap_or_default()
    }

    /// The same, to change; `None` where none are kept.
    pub(crate) fn spread_mut(&mut self, at: usize) -> Option<&mut Spread> {
        self.spreads.get_mut(at)
    }

    /// Used slots in hash order.
    pub(crate) fn used(&self) -> impl DoubleEndedIterator<Item = Cell> {
        self.cells().filter(|cell| !cell.is_empty())
    }

    /// Whether a new feature may be inserted while `used` slots are taken. The products wrap at
    /// 2^32, as in dbacl 1.14.1.
    pub(crate) const fn has_room(&self, used: u32) -> bool {
        let size = 1u32 << self.bits;
        100u32.wrapping_mul(used) < 95u32.wrapping_mul(size)
    }

    /// How many features a table of 2^`bits` slots takes: of 2^26 slots 20,803,748, since
    /// [`Self::has_room`] wraps, and of 2^27 slots most, 41,607,496.
    pub(crate) const fn room(bits: u8) -> u32 {
        95u32.wrapping_mul(1 << bits).div_ceil(100)
    }

    /// The fewest bits of a larger table that takes more than `features`; `None` if there is none.
    pub(crate) fn bits_for_more(&self, features: u64) -> Option<u8> {
        let features = features.max(Self::room(self.bits).into());
        (self.bits + 1..=MAX_BITS).find(|&bits| u64::from(Self::room(bits)) > features)
    }

    /// Where the search for `id` begins.
    #[inline]
    pub(crate) fn home(&self, id: FeatureId) -> usize {
        id.0 as usize & (self.slots.len() - 1)
    }

    /// Searches `id` from its home slot on. Id 0 marks empty slots and is never found.
    #[inline]
    pub(crate) fn place(&self, id: FeatureId) -> Place {
        self.search(self.home(id), id)
    }

    /// Searches `id` from slot `at` on: its home, or where an earlier search ended. Features leave
    /// their slots only when the table grows, so the result is the same as from the home slot.
    #[inline]
    pub(crate) fn place_from(&self, at: usize, id: FeatureId) -> Place {
        match self.slots.get(at) {
            Some([0, ..]) => Place::Vacant(at),
            Some(&[found, ..]) if found == id.0 => Place::Found(at),
            _ => self.search(at, id),
        }
    }

    fn search(&self, from: usize, id: FeatureId) -> Place {
        let tag = tag_of(id.0);
        for part in [from..self.tags.len(), 0..from] {
            let mut at = part.start;
            while let Some(next) = self.tags.get(at..part.end).and_then(|tags| first_of(tags, tag))
            {
                at += next;
                if self.tags[at] == 0 {
                    return Place::Vacant(at);
                }
                if self.slots[at][0] == id.0 {
                    return Place::Found(at);
                }
                at += 1;
            }
        }
        Place::None
    }

    /// The first slot whose tag is that of `id`, or the empty one where the search for it ends;
    /// [`Self::place_from`] continues there. Prefetches the slot.
    #[inline]
    pub(crate) fn candidate(&self, id: FeatureId) -> usize {
        let home = self.home(id);
        let at = home + first_of(&self.tags[home..], tag_of(id.0)).unwrap_or(0);
        prefetch(&self.slots, at);
        at
    }

    /// Counts one more occurrence of `id` in slot `at`, if that holds it and the count has room;
    /// returns the order of the feature there if it did.
    #[inline]
    pub(crate) fn count_at(&mut self, at: usize, id: FeatureId) -> Option<u8> {
        match self.slots.get_mut(at) {
            Some([found, count, head, _]) if *found == id.0 && id.0 != 0 && *count != u32::MAX => {
                *count += 1;
                Some(Head(*head).order())
            }
            _ => None,
        }
    }

    /// The slot where the search for `id` ends, whether it holds `id` or is empty.
    pub(crate) fn find(&self, id: FeatureId) -> Option<usize> {
        match self.place(id) {
            Place::Found(at) | Place::Vacant(at) => Some(at),
            Place::None => None,
        }
    }

    /// Prefetches the tag where the search for `id` begins.
    #[inline]
    pub(crate) fn prefetch(&self, id: FeatureId) {
        prefetch(&self.tags, self.home(id));
    }

    /// Doubles the table. Slots move as dbacl 1.14.1 moves them (spec model 3, "Growing").
    /// Returns whether there was enough memory; if not, the table is as before.
    #[must_use]
    pub(crate) fn grow(&mut self) -> bool {
        // During the move, tags show which features have reached their new places.
        const WAITING: u8 = 1;
        const PLACED: u8 = 2;
        let old_size = self.slots.len();
        let new_size = old_size * 2;
        let has_spreads = !self.spreads.is_empty();
        let has_memory = is_available((old_size * BYTES_A_SLOT) as u64)
            && self.reserve(new_size)
            && (!has_spreads || try_room(&mut self.spreads, old_size));
        if !has_memory {
            return false;
        }
        for tag in &mut self.tags {
            *tag = if *tag == 0 { 0 } else { WAITING };
        }
        self.bits += 1;
        take_memory(&self.tags, new_size);
        take_memory(&self.slots, new_size);
        self.tags.resize(new_size, 0);
        self.slots.resize(new_size, [0; 4]);
        if has_spreads {
            self.spreads.resize(new_size, Spread::default());
        }
        let mask = new_size - 1;
        for c in 0..old_size {
            while self.tags[c] == WAITING {
                let mut i = self.slots[c][0] as usize & mask;
                while self.tags[i] == PLACED {
                    i = (i + 1) & mask;
                }
                // The slot is empty, or its feature is not placed yet: the contents are swapped.
                let there = std::mem::replace(&mut self.tags[i], PLACED);
                if i == c {
                    break;
                }
                self.tags[c] = there;
                self.slots.swap(i, c);
                if has_spreads {
                    self.spreads.swap(i, c);
                }
                if there == 0 {
                    self.set(c, Cell::default());
                }
            }
        }
        for (tag, &[id, ..]) in self.tags.iter_mut().zip(&self.slots) {
            *tag = if id == 0 { 0 } else { tag_of(id) };
        }
        true
    }

    /// Reserves capacity for 2^`bits` slots, if the system allows, so that growing copies less. The
    /// system provides the memory as it is filled.
    pub(crate) fn expect(&mut self, bits: u8) {
        let _ = bits <= MAX_BITS && has_addresses_to_spare() && self.reserve(1 << bits);
    }

    /// Makes room for `size` slots; returns whether there is memory for them.
    fn reserve(&mut self, size: usize) -> bool {
        let more = size.saturating_sub(self.slots.len());
        try_room(&mut self.tags, more) && try_room(&mut self.slots, more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_tables_fill_completely() {
        let table = Table::new(4, false);
        assert!(table.has_room(15));
        // Tables of all sizes, without memory.
        let of = |bits| Table { bits, tags: vec![], slots: vec![], spreads: vec![] };
        for bits in 4..=MAX_BITS {
            let (table, room) = (of(bits), Table::room(bits));
            assert!(table.has_room(room - 1) && !table.has_room(room));
        }
        let larger = |bits, features| of(bits).bits_for_more(features);
        assert_eq!(
            [4, 24, 25, 26, 27, 30].map(|bits| larger(bits, 0)),
            [Some(5), Some(25), Some(27), Some(27), None, None]
        );
        assert_eq!([15, 16, 31_000_000].map(|features| larger(4, features)), [5, 5, 25].map(Some));
        assert_eq!(larger(4, 31_900_000), Some(27));
        assert_eq!(larger(4, 41_607_496), None);
        assert!(!Table::new(15, false).has_room(31130));
        assert!(Table::new(15, false).has_room(31129));
    }

    #[test]
    fn heads_keep_their_parts() {
        let parts =
            |head: Head| (head.order(), head.payload(), head.is_linked(), head.is_spelled());
        let head = Head::new(7, (1 << 27) - 1);
        assert_eq!(parts(head), (7, (1 << 27) - 1, false, false));
        assert_eq!(parts(head.linked().with_order(1)), (1, (1 << 27) - 1, true, false));
        assert_eq!(parts(head.spelled().with_order(2)), (2, (1 << 27) - 1, false, true));
    }
}
