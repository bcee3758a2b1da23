// SPDX-License-Identifier: GPL-3.0-or-later
//! The tables of a state: what is known of each document and of each feature.
//!
//! ```text
//! documents x 16 bytes    offset in the ledger's body u64, name u64
//! near places of 4 bytes  number of a slot, plus 1, where the search for its id ends; 0 if empty
//! duals x 8 F bytes       dual variables f32, f32 of each of the F fits, by document
//! far places of 4 bytes   the same as near places, for the slots that are not the first ones
//! slots x 24 bytes        id u32, documents u24, pairs of characters u8, weight, first entry
//! rows x 4 F bytes        weights f32 of a feature in the F fits
//! entries x 12 bytes      next entry u32, documents u24, category u8, occurrences u32
//! ```
//!
//! An entry has the counts of a feature in the documents of one category. A feature's first entry
//! is in its slot, the others follow in a chain. With one fit, a slot has the weight itself (f32).
//! With more, it has the number of a row (u32), from the moment when two documents contain the
//! feature. Entries and rows are numbered from 1, and 0 is none. A table begins with a block, and
//! nothing in it lies in two.
//!
//! The first slots are of features that most documents contain. They are searched first, in places
//! of their own, so that what most searches need is little and close together.

use crate::fit::dataset::MIN_DOCUMENTS;
use crate::fit::solver::Duals;
use crate::store::pages::{BLOCK, Pages};
use byteorder::{ByteOrder, LittleEndian};

/// Bytes of a document, a place, a slot and an entry.
const DOCUMENT: usize = 16;
const PLACE: usize = 4;
const SLOT: usize = 24;
const ENTRY: usize = 12;

/// Where a slot has its weight or the number of its row, and its first entry.
const WEIGHT: usize = 8;
const FIRST: usize = SLOT - ENTRY;

/// Documents of an entry or a slot at most.
const DOCUMENTS: u32 = (1 << 24) - 1;

/// The category of a first entry that is empty.
const NO_CATEGORY: u8 = u8::MAX;

/// How many fits tell so many categories apart: one is enough for two, else each category has a fit
/// against the rest.
pub const fn fits_of(categories: usize) -> usize {
    if categories == 2 { 1 } else { categories }
}

/// How many entries of each table there are, or there is room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sizes {
    /// Documents.
    pub documents: usize,
    /// Features.
    pub slots: usize,
    /// Features with weights in several fits.
    pub rows: usize,
    /// Entries behind the first ones.
    pub entries: usize,
}

impl Sizes {
    /// The four numbers, as the head has them.
    pub const fn words(self) -> [usize; 4] {
        [self.documents, self.slots, self.rows, self.entries]
    }

    /// The sizes that the head has as these numbers.
    pub const fn of_words([documents, slots, rows, entries]: [usize; 4]) -> Self {
        Self { documents, slots, rows, entries }
    }

    /// Room for so many and a quarter more.
    fn room(self) -> Self {
        Self::of_words(self.words().map(|entries| (entries + entries / 4).max(256)))
    }

    /// As much of each as one of the two has.
    fn max(self, other: Self) -> Self {
        let (own, other) = (self.words(), other.words());
        Self::of_words([0, 1, 2, 3].map(|at| own[at].max(other[at])))
    }

    /// The slots that are searched first.
    fn near(self) -> usize {
        (self.slots / NEAR).max(LEAST_NEAR).min(self.slots / 2)
    }

    /// Places for the search of the first slots, or of the others.
    fn places(self, is_near: bool) -> usize {
        let slots = if is_near { self.near() } else { self.slots - self.near() };
        slots + slots / 2
    }

    /// Where the tables of a set with so many fits begin, one behind the other, and where the last
    /// one ends; `None` if no memory could hold them.
    pub fn starts(self, fits: usize) -> Option<Starts> {
        let lengths = [
            (self.documents, DOCUMENT),
            (self.places(true), PLACE),
            (self.documents, 8 * fits),
            (self.places(false), PLACE),
            (self.slots, SLOT),
            (self.rows, 4 * fits),
            (self.entries, ENTRY),
        ];
        let mut starts = [0usize; 8];
        for (at, (number, bytes)) in lengths.into_iter().enumerate() {
            let length = number.div_ceil(BLOCK / bytes).checked_mul(BLOCK)?;
            starts[at + 1] = starts[at].checked_add(length)?;
        }
        let [documents, near, duals, far, slots, rows, entries, end] = starts;
        Some(Starts { documents, near, duals, far, slots, rows, entries, end })
    }

    /// Whether there is room for so many.
    pub const fn holds(self, used: Self) -> bool {
        used.documents <= self.documents
            && used.slots <= self.slots
            && used.rows <= self.rows
            && used.entries <= self.entries
    }
}

/// Bytes that a change reads at most, of most sets, in addition to what is read at once.
const OTHERS: usize = 1 << 20;

/// One slot of so many is searched first, but at least so many slots, or half of them.
const NEAR: usize = 16;
const LEAST_NEAR: usize = 1 << 16;

/// Where the tables begin.
#[derive(Debug, Clone, Copy, Default)]
pub struct Starts {
    documents: usize,
    near: usize,
    duals: usize,
    far: usize,
    slots: usize,
    rows: usize,
    entries: usize,
    /// Where the last one ends.
    pub end: usize,
}

/// Where number `number` of a table is that begins at `start` and has so many bytes for each.
#[inline]
const fn spot(start: usize, number: usize, bytes: usize) -> usize {
    let each = BLOCK / bytes;
    start + number / each * BLOCK + number % each * bytes
}

/// The counts of a feature in the documents of one category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Entry {
    /// Number of the category.
    pub category: u8,
    /// Its documents that contain the feature.
    pub documents: u32,
    /// Occurrences there, where ordinary weights follow the counts; else the ordinary weight, in
    /// the steps of files.
    pub tally: u32,
}

/// What is known of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The feature.
    pub id: u32,
    /// Documents that contain it.
    pub documents: u32,
    /// Pairs of neighbouring characters in its text.
    pub pairs: u8,
    /// With one fit the bits of its weight, else the number of its row.
    weight: u32,
    first: Entry,
    /// Number of the entry behind the first one.
    next: u32,
}

/// The tables.
#[derive(Debug)]
pub struct Tables {
    /// The bytes.
    pub pages: Pages,
    /// Number of categories.
    pub categories: usize,
    /// Number of fits: one tells two categories apart, else each category has its own.
    pub fits: usize,
    /// How many documents, slots, rows and entries there is room for.
    pub room: Sizes,
    /// How many there are.
    pub used: Sizes,
    starts: Starts,
    /// Decides where searches begin.
    key: u32,
}

/// Where the search for `id` begins among so many places. Without the key nobody can choose words
/// whose searches begin at one place and so take the longer the more there are.
#[allow(clippy::cast_possible_truncation)] // below the number of places
const fn first_place(id: u32, key: u32, places: usize) -> usize {
    let factor = (0x9e37_79b1 ^ key) | 1;
    ((id.wrapping_mul(factor) as u64 * places as u64) >> 32) as usize
}

fn word(bytes: &[u8], place: usize) -> u32 {
    LittleEndian::read_u32(&bytes[4 * place..])
}

fn put_words(bytes: &mut [u8], words: &[u32]) {
    for (bytes, word) in bytes.chunks_exact_mut(4).zip(words) {
        LittleEndian::write_u32(bytes, *word);
    }
}

/// An entry, and the number of the next one.
fn read_entry(bytes: &[u8]) -> (Entry, u32) {
    let (documents, category) = (word(bytes, 1) & DOCUMENTS, bytes[7]);
    (Entry { category, documents, tally: word(bytes, 2) }, word(bytes, 0))
}

fn write_entry(bytes: &mut [u8], Entry { category, documents, tally }: Entry, next: u32) {
    let documents = documents.min(DOCUMENTS) | u32::from(category) << 24;
    put_words(bytes, &[next, documents, tally]);
}

impl Tables {
    /// Empty tables for so many categories, with room for `wanted` and a quarter more. `key`
    /// decides where searches begin.
    pub fn new(categories: usize, wanted: Sizes, key: u32) -> Self {
        Self::with_room(categories, wanted.room(), key)
    }

    fn with_room(categories: usize, room: Sizes, key: u32) -> Self {
        let fits = fits_of(categories);
        // Somewhat more than what was in memory.
        let starts = room.starts(fits).unwrap_or_default();
        let pages = Pages::new(starts.end / BLOCK);
        Self { pages, categories, fits, room, used: Sizes::default(), starts, key }
    }

    /// Tables that were written: so much of so much room is used.
    pub fn of_pages(
        pages: Pages,
        categories: usize,
        used: Sizes,
        room: Sizes,
        key: u32,
    ) -> Option<Self> {
        let fits = fits_of(categories);
        let starts = room.starts(fits)?;
        pages.take_memory(starts.duals + spot(0, room.near(), SLOT) + OTHERS.min(starts.end / 4));
        Some(Self { pages, categories, fits, room, used, starts, key })
    }

    /// Makes room for one more entry of each table.
    fn make_room(&mut self) {
        let Sizes { slots, rows, entries, .. } = self.used;
        let wanted = Sizes::of_words(self.used.words().map(|number| number + 1));
        if self.room.holds(wanted) {
            return;
        }
        self.pages.read_all();
        let mut larger = Self::with_room(self.categories, wanted.room().max(self.room), self.key);
        self.copy_documents(&mut larger);
        let (from, to) = (self.starts, larger.starts);
        self.copy(&mut larger, (from.slots, to.slots), (slots, SLOT));
        self.copy(&mut larger, (from.rows, to.rows), (rows, 4 * self.fits));
        self.copy(&mut larger, (from.entries, to.entries), (entries, ENTRY));
        for number in 0..slots {
            // Places of later slots are not written yet.
            larger.used.slots = number;
            let id = larger.slot(number).id;
            larger.put_place(id, number);
        }
        larger.used = self.used;
        *self = larger;
    }

    fn copy_documents(&mut self, to: &mut Self) {
        let (documents, start) = (self.used.documents, self.starts);
        self.copy(to, (start.documents, to.starts.documents), (documents, DOCUMENT));
        self.copy(to, (start.duals, to.starts.duals), (documents, 8 * self.fits));
        to.used.documents = documents;
    }

    /// Copies the blocks of a table, which has so many entries of so many bytes.
    fn copy(&mut self, other: &mut Self, (from, to): (usize, usize), of: (usize, usize)) {
        let (number, bytes) = of;
        for block in 0..number.div_ceil(BLOCK / bytes) {
            let own = self.pages.get(from + block * BLOCK, BLOCK);
            other.pages.get_mut(to + block * BLOCK, BLOCK).copy_from_slice(own);
        }
    }

    /// The same tables, with the features that many documents contain first: what an update changes
    /// is then close together.
    #[must_use]
    pub fn by_frequency(mut self) -> Self {
        let numbered = (0..self.used.slots).map(|number| (self.slot(number).documents, number));
        let mut order: Vec<(u32, usize)> = numbered.collect();
        order.sort_by_key(|&(documents, _)| std::cmp::Reverse(documents));
        let mut ordered = Self::new(self.categories, self.used, self.key);
        self.copy_documents(&mut ordered);
        let mut weights = Vec::new();
        for (_, old) in order {
            let slot = self.slot(old);
            let new = ordered.insert(slot.id, slot.pairs);
            ordered.count_documents(new, slot.documents);
            weights.clear();
            self.weights(&slot, &mut weights);
            ordered.put_weights(new, &weights);
            self.entries(&slot, |own| {
                ordered.change_entry(new, own.category, true, |entry| *entry = own);
            });
        }
        ordered
    }

    // Documents.

    /// Adds a document; returns its number.
    pub fn push_document(&mut self, offset: u64, name: u64) -> usize {
        self.make_room();
        let number = self.used.documents;
        self.used.documents += 1;
        let at = spot(self.starts.documents, number, DOCUMENT);
        LittleEndian::write_u64(self.pages.get_mut(at + 8, 8), name);
        self.put_offset(number, offset);
        number
    }

    /// Offset in the ledger's body of document `number`.
    pub fn offset(&mut self, number: usize) -> u64 {
        LittleEndian::read_u64(self.pages.get(spot(self.starts.documents, number, DOCUMENT), 8))
    }

    /// Sets where document `number` stands in the ledger's body.
    pub fn put_offset(&mut self, number: usize, offset: u64) {
        let at = spot(self.starts.documents, number, DOCUMENT);
        LittleEndian::write_u64(self.pages.get_mut(at, 8), offset);
    }

    /// Names of the documents, in their order in the ledger.
    pub fn names(&mut self) -> Vec<u64> {
        let start = self.starts.documents;
        self.pages.fetch(start, self.used.documents * DOCUMENT);
        let at = |number| spot(start, number, DOCUMENT) + 8;
        let pages = &mut self.pages;
        (0..self.used.documents).map(|own| LittleEndian::read_u64(pages.get(at(own), 8))).collect()
    }

    const fn duals_at(&self, document: usize, fit: usize) -> usize {
        spot(self.starts.duals, document, 8 * self.fits) + 8 * fit
    }

    /// Dual variables of a document in a fit.
    pub fn duals(&mut self, document: usize, fit: usize) -> Duals {
        let bytes = self.pages.get(self.duals_at(document, fit), 8);
        [0, 1].map(|place| f32::from_bits(word(bytes, place)))
    }

    /// Sets the dual variables of a document in a fit.
    pub fn put_duals(&mut self, document: usize, fit: usize, duals: Duals) {
        let at = self.duals_at(document, fit);
        put_words(self.pages.get_mut(at, 8), &duals.map(f32::to_bits));
    }

    // Features.

    /// Reads at once what most searches for features need, where many are going to be looked for.
    pub fn read_near(&mut self) {
        let Sizes { entries, rows, .. } = self.used;
        let Starts { near, duals, slots, rows: first_row, entries: first, .. } = self.starts;
        self.pages.fetch(near, duals - near);
        for (start, number, bytes) in [
            (slots, self.room.near(), SLOT),
            (first_row, rows / NEAR, 4 * self.fits),
            (first, entries / NEAR, ENTRY),
        ] {
            self.pages.fetch(start, spot(0, number, bytes));
        }
    }

    /// The number of the slot of `id`.
    pub fn find(&mut self, id: u32) -> Option<usize> {
        let near = self.search(id, true);
        near.or_else(|_| self.search(id, false)).ok()
    }

    /// The number of the slot of `id`, if it is one of the first slots, or of the others.
    ///
    /// # Errors
    /// The position of the empty place where the search ends.
    fn search(&mut self, id: u32, is_near: bool) -> Result<usize, usize> {
        let places = self.room.places(is_near);
        let start = if is_near { self.starts.near } else { self.starts.far };
        let mut at = first_place(id, self.key, places);
        // There is always an empty place, unless somebody has filled it.
        for _ in 0..places {
            let number = word(self.pages.get(start + at * PLACE, PLACE), 0) as usize;
            if number == 0 || number > self.used.slots {
                break;
            }
            let slot = self.pages.get(spot(self.starts.slots, number - 1, SLOT), PLACE);
            if word(slot, 0) == id {
                return Ok(number - 1);
            }
            at = if at + 1 == places { 0 } else { at + 1 };
        }
        Err(start + at * PLACE)
    }

    /// Notes where the slot of `id` is, which no search finds yet.
    #[allow(clippy::cast_possible_truncation)] // numbers of features with 32-bit ids
    fn put_place(&mut self, id: u32, number: usize) {
        if let Err(place) = self.search(id, number < self.room.near()) {
            put_words(self.pages.get_mut(place, PLACE), &[number as u32 + 1]);
        }
    }

    /// The number of the slot of `id`, which is a new one if it was not known.
    pub fn insert(&mut self, id: u32, pairs: u8) -> usize {
        self.make_room();
        if let Some(known) = self.find(id) {
            return known;
        }
        let number = self.used.slots;
        self.put_place(id, number);
        self.used.slots += 1;
        let first = Entry { category: NO_CATEGORY, ..Entry::default() };
        self.put_slot(number, Slot { id, documents: 0, pairs, weight: 0, first, next: 0 });
        number
    }

    /// Slot number `at`.
    pub fn slot(&mut self, at: usize) -> Slot {
        let bytes = self.pages.get(spot(self.starts.slots, at, SLOT), SLOT);
        let (documents, pairs) = (word(bytes, 1) & DOCUMENTS, bytes[7]);
        let (first, next) = read_entry(&bytes[FIRST..]);
        Slot { id: word(bytes, 0), documents, pairs, weight: word(bytes, 2), first, next }
    }

    fn put_slot(&mut self, at: usize, slot: Slot) {
        let bytes = self.pages.get_mut(spot(self.starts.slots, at, SLOT), SLOT);
        let documents = slot.documents.min(DOCUMENTS) | u32::from(slot.pairs) << 24;
        put_words(bytes, &[slot.id, documents, slot.weight]);
        write_entry(&mut bytes[FIRST..], slot.first, slot.next);
    }

    /// Sets how many documents contain the feature in slot `at`. It has a row of weights from two
    /// on, with several fits.
    #[allow(clippy::cast_possible_truncation)] // no more rows than features
    pub fn count_documents(&mut self, at: usize, documents: u32) {
        let mut slot = self.slot(at);
        slot.documents = documents;
        if self.fits > 1 && slot.weight == 0 && documents >= MIN_DOCUMENTS {
            self.make_room();
            self.used.rows += 1;
            slot.weight = self.used.rows as u32;
        }
        self.put_slot(at, slot);
    }

    /// Where the row of a feature is, if it has one.
    const fn row(&self, slot: &Slot) -> Option<usize> {
        if slot.weight == 0 || slot.weight as usize > self.used.rows {
            return None;
        }
        Some(spot(self.starts.rows, slot.weight as usize - 1, 4 * self.fits))
    }

    /// Appends the weights of a feature in all fits.
    pub fn weights(&mut self, slot: &Slot, weights: &mut Vec<f32>) {
        if self.fits == 1 {
            weights.push(f32::from_bits(slot.weight));
        } else if let Some(row) = self.row(slot) {
            let bytes = self.pages.get(row, 4 * self.fits);
            weights.extend(bytes.chunks_exact(4).map(LittleEndian::read_f32));
        } else {
            weights.extend(std::iter::repeat_n(0.0, self.fits));
        }
    }

    /// Sets the weights of the feature in slot `at`, which has a row if there are several fits.
    /// Returns whether they were others.
    pub fn put_weights(&mut self, at: usize, weights: &[f32]) -> bool {
        let own = spot(self.starts.slots, at, SLOT) + WEIGHT;
        let place = if self.fits == 1 {
            own
        } else {
            let slot = self.slot(at);
            let Some(row) = self.row(&slot) else { return false };
            row
        };
        let length = 4 * weights.len();
        let old = self.pages.get(place, length).chunks_exact(4);
        if old.zip(weights).all(|(old, new)| word(old, 0) == new.to_bits()) {
            return false;
        }
        LittleEndian::write_f32_into(weights, self.pages.get_mut(place, length));
        true
    }

    // Entries.

    /// Entry number `number`, from 1, and the number of the next.
    fn entry(&mut self, number: u32) -> Option<(Entry, u32)> {
        if number == 0 || number as usize > self.used.entries {
            return None;
        }
        let at = spot(self.starts.entries, number as usize - 1, ENTRY);
        Some(read_entry(self.pages.get(at, ENTRY)))
    }

    fn put_entry(&mut self, number: u32, entry: Entry, next: u32) {
        let at = spot(self.starts.entries, number as usize - 1, ENTRY);
        write_entry(self.pages.get_mut(at, ENTRY), entry, next);
    }

    /// Calls `look` with each entry of a feature; at most once for each category.
    pub fn entries(&mut self, slot: &Slot, mut look: impl FnMut(Entry)) {
        let (mut own, mut next) = (slot.first, slot.next);
        for _ in 0..self.categories {
            if usize::from(own.category) < self.categories {
                look(own);
            }
            let Some(following) = self.entry(next) else { break };
            (own, next) = following;
        }
    }

    /// Changes the entry that the feature in slot `at` has for a category. With `adds`, a feature
    /// without such an entry gets one.
    #[allow(clippy::cast_possible_truncation)] // tables of 32-bit numbers
    pub fn change_entry(
        &mut self,
        at: usize,
        category: u8,
        adds: bool,
        change: impl FnOnce(&mut Entry),
    ) {
        let mut slot = self.slot(at);
        if slot.first.category == category || slot.first.category == NO_CATEGORY && adds {
            slot.first.category = category;
            change(&mut slot.first);
            self.put_slot(at, slot);
            return;
        }
        let mut number = slot.next;
        for _ in 0..self.categories {
            let Some((mut own, next)) = self.entry(number) else { break };
            if own.category == category {
                change(&mut own);
                self.put_entry(number, own, next);
                return;
            }
            number = next;
        }
        if adds {
            self.make_room();
            self.used.entries += 1;
            let mut own = Entry { category, ..Entry::default() };
            change(&mut own);
            let number = self.used.entries as u32;
            self.put_entry(number, own, slot.next);
            self.put_slot(at, Slot { next: number, ..slot });
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn weights_at(tables: &mut Tables, at: usize) -> Vec<f32> {
        let (slot, mut weights) = (tables.slot(at), Vec::new());
        tables.weights(&slot, &mut weights);
        weights
    }

    #[test]
    fn what_is_known_of_a_feature_is_kept_as_far_as_there_are_bytes() {
        for categories in [2, 3] {
            let mut tables = Tables::new(categories, Sizes::default(), 9);
            let at = tables.insert(7, 255);
            assert_eq!((tables.insert(7, 1), tables.find(7)), (at, Some(at)));
            tables.count_documents(at, u32::MAX);
            for category in [1, 0] {
                tables.change_entry(at, category, false, |_| panic!("there is none"));
                tables.change_entry(at, category, true, |own| {
                    (own.documents, own.tally) = (u32::MAX - u32::from(category), u32::MAX);
                });
            }
            tables.change_entry(at, 0, true, |own| own.documents = 3);
            let slot = tables.slot(at);
            assert_eq!((slot.id, slot.documents, slot.pairs), (7, DOCUMENTS, 255));
            let mut entries = Vec::new();
            tables.entries(&slot, |own| entries.push(own));
            let all = |category, documents| Entry { category, documents, tally: u32::MAX };
            assert_eq!(entries, [all(1, DOCUMENTS), all(0, 3)]);
            let fits = tables.fits;
            let weights: Vec<f32> = [-0.5, 1.5, 2.5].into_iter().take(fits).collect();
            assert!(tables.put_weights(at, &weights) && !tables.put_weights(at, &weights));
            assert_eq!(weights_at(&mut tables, at), weights);
        }
    }

    #[test]
    fn rare_features_have_no_row() {
        let mut tables = Tables::new(3, Sizes::default(), 9);
        let at = tables.insert(7, 2);
        tables.count_documents(at, 1);
        assert!(!tables.put_weights(at, &[1.0; 3]));
        assert_eq!((weights_at(&mut tables, at), tables.used.rows), (vec![0.0; 3], 0));
    }

    #[test]
    fn ids_that_somebody_chose_do_not_make_searches_long() {
        // Ids whose products with the number that every key changes follow each other: without a
        // key all their searches would begin at one place, and the mean search would pass a quarter
        // of them.
        let inverse = (0..5).fold(1u32, |found, _| {
            found.wrapping_mul(2u32.wrapping_sub(0x9e37_79b1u32.wrapping_mul(found)))
        });
        assert_eq!(inverse.wrapping_mul(0x9e37_79b1), 1);
        let chosen: Vec<u32> = (1..=4000u32).map(|number| number.wrapping_mul(inverse)).collect();
        let places = 6000;
        let steps = |key: u32| {
            let mut taken = vec![false; places];
            let mut steps = 0;
            for &id in &chosen {
                let mut at = first_place(id, key, places);
                while std::mem::replace(&mut taken[at], true) {
                    at = (at + 1) % places;
                    steps += 1;
                }
            }
            steps / chosen.len()
        };
        assert!(steps(0) > 500);
        for key in [0x1234_5678, 0x9abc_def1, 0x0f1e_2d3c] {
            assert!(steps(key) < 20, "{}", steps(key));
        }
    }
}
