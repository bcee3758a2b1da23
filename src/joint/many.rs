// SPDX-License-Identifier: GPL-3.0-or-later
//! Learning one document at a time: the state of a fit of more than two categories, kept beside the
//! ledger. What is said of that of two categories ([`super::incremental`]) holds here as well, but
//! each category has a fit of its own against the rest, and most features are known to few
//! categories.
//!
//! ```text
//! head, which begins with "# dbacl state 5\n"; in the blocks:
//! documents x 16 bytes    offset in the ledger's body u64, name u64
//! duals x 8 K bytes       dual variables f32, f32 of each of the K fits, by document
//! places of 4 bytes       number of a slot, plus 1, where the search for its id ends; 0 if empty
//! slots x 20 bytes        id u32, documents u32, pairs of characters u32, row u32, entry u32
//! rows x 4 K bytes        weights f32 of a feature in the K fits
//! entries x 12 bytes      next entry u32, category u8 and documents u24, occurrences u32
//! ```
//!
//! Rows and entries are numbered from 1; 0 is none. A feature has a row once two documents contain
//! it, and an entry for each category whose documents do, in a chain. Where ordinary weights stay
//! what they are, an entry has the ordinary weight times the blend, f32, in place of the
//! occurrences.

use super::blend::{learned, stored};
use super::checksum::Checksum;
use super::dataset::{BIAS_INPUT, Cell, MIN_DOCUMENTS, Row, contrast, scale};
use super::incremental::{REPLAYED, ordinary_weight};
use super::ledger::Record;
use super::pages::{BLOCK, Pages, ReadAt, blocks_at};
use super::real;
use super::scoring::Scoring;
use super::select::level_of_unseen;
use super::solver::{Fit, Weight};
use crate::numeric::quantize::QuantWeight;
use crate::numeric::random::SplitMix64;
use crate::token::id::FeatureId;
use byteorder::{ByteOrder, LittleEndian};
use std::io::{self, Write};

/// How a state begins.
pub const MAGIC: &[u8] = b"# dbacl state 5\n";

/// Bytes of the head before what it has of each category.
const FIXED: usize = 112;

/// Bytes of the head for each category.
const EACH: usize = 40;

/// Bytes of a document.
const DOCUMENT: usize = 16;

/// Bytes of a place.
const PLACE: usize = 4;

/// Bytes of a slot.
const SLOT: usize = 20;

/// Bytes of an entry.
const ENTRY: usize = 12;

/// Categories of a state at most.
pub const MOST: usize = 64;

/// Documents of an entry at most.
const DOCUMENTS: u32 = (1 << 24) - 1;

/// What is known of a category and its fit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Side {
    /// log Z as far as it does not depend on the biases, nats.
    pub log_partition: f64,
    /// Occurrences of all features in its documents.
    pub total: f64,
    /// What its ordinary weights are above the logarithm of their features' shares and reference
    /// costs, nats.
    pub rise: f64,
    /// Weight of the bias input.
    pub bias: f64,
    /// Its documents.
    pub documents: u32,
}

/// The numbers of the head.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbers {
    /// Name of the set of category files that the state belongs to.
    pub set: u64,
    /// Checksum state of the ledger's body that the state belongs to.
    pub ledger: Checksum,
    /// Bytes of that body.
    pub ledger_length: u64,
    /// The cost C.
    pub cost: f64,
    /// The blend.
    pub blend: f64,
    /// The length a of count vectors.
    pub length: f64,
    /// Whether ordinary weights follow the counts; else they stay what they were at the last fit.
    pub counts_ordinary: bool,
    /// Highest order of the categories.
    pub max_order: u8,
    /// What documents are fitted for.
    pub scoring: Scoring,
    /// Whether features that tell the sides apart move more easily.
    pub contrast: bool,
    /// Documents.
    pub documents: u32,
    /// Documents of the last full fit.
    pub fitted: u32,
    /// The categories.
    pub sides: Vec<Side>,
}

/// What documents of a category tell of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evidence {
    /// Number of the category.
    pub category: u8,
    /// Its documents that contain the feature.
    pub documents: u32,
    /// Occurrences there, where ordinary weights follow the counts.
    pub count: u32,
    /// The ordinary weight times the blend, where it stays what it is.
    pub ordinary: f32,
}

/// A feature of a full fit.
#[derive(Debug, Clone, Default)]
pub struct FeatureOfFit {
    /// The feature.
    pub id: FeatureId,
    /// Pairs of neighbouring characters in its text.
    pub pairs: u8,
    /// Its weights in all fits; none if it took no part.
    pub weights: Vec<f32>,
    /// What the documents of each category tell of it, in order of the categories.
    pub evidence: Vec<Evidence>,
}

/// A document of a full fit.
#[derive(Debug, Clone)]
pub struct DocumentOfFit {
    /// Where it stands in the ledger's body.
    pub offset: u64,
    /// Its name.
    pub name: u64,
    /// Its dual variables in all fits.
    pub duals: Vec<[f32; 2]>,
}

/// How many entries of each table there are, or there is room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Sizes {
    documents: usize,
    slots: usize,
    rows: usize,
    entries: usize,
}

impl Sizes {
    /// Room for so many and a quarter more.
    fn room(self) -> Self {
        let room = |entries: usize| (entries + entries / 4).max(256);
        let Self { documents, slots, rows, entries } = self;
        let (documents, slots) = (room(documents), room(slots));
        Self { documents, slots, rows: room(rows), entries: room(entries) }
    }

    /// Places for the search of the slots.
    const fn places(self) -> usize {
        self.slots + self.slots / 2
    }

    /// Where the tables begin, one behind the other, and where the last one ends.
    fn starts(self, categories: usize) -> Option<[usize; 7]> {
        let lengths = [
            self.documents.checked_mul(DOCUMENT)?,
            self.documents.checked_mul(8 * categories)?,
            self.places().checked_mul(PLACE)?,
            self.slots.checked_mul(SLOT)?,
            self.rows.checked_mul(4 * categories)?,
            self.entries.checked_mul(ENTRY)?,
        ];
        let mut starts = [0usize; 7];
        for (at, length) in lengths.into_iter().enumerate() {
            starts[at + 1] = starts[at].checked_add(length)?;
        }
        Some(starts)
    }

    /// Whether there is room for so many.
    const fn holds(self, used: Self) -> bool {
        used.documents <= self.documents
            && used.slots <= self.slots
            && used.rows <= self.rows
            && used.entries <= self.entries
    }

    fn words(self) -> [usize; 4] {
        [self.documents, self.slots, self.rows, self.entries]
    }
}

/// A slot, read.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Slot {
    id: u32,
    documents: u32,
    pairs: u32,
    row: u32,
    entry: u32,
}

/// The state of a fit.
#[derive(Debug)]
pub struct State {
    /// The numbers.
    pub numbers: Numbers,
    pages: Pages,
    room: Sizes,
    used: Sizes,
    starts: [usize; 7],
    /// Features whose weights may have changed, with repeats.
    touched: Vec<u32>,
}

/// Where the search for `id` begins among so many places.
#[allow(clippy::cast_possible_truncation)] // below the number of places
const fn first_place(id: u32, places: usize) -> usize {
    ((id.wrapping_mul(0x9e37_79b1) as u64 * places as u64) >> 32) as usize
}

impl State {
    /// The state of a full fit. Features come in the order in which they are to lie in the file.
    pub fn new(numbers: Numbers, features: &[FeatureOfFit], documents: &[DocumentOfFit]) -> Self {
        let sizes = Sizes {
            documents: documents.len(),
            slots: features.len(),
            rows: features.iter().filter(|feature| !feature.weights.is_empty()).count(),
            entries: features.iter().map(|feature| feature.evidence.len()).sum(),
        };
        let mut state = Self::empty(Numbers { documents: 0, ..numbers }, sizes.room());
        for feature in features {
            let at = state.insert(feature.id.0, feature.pairs);
            let documents = feature.evidence.iter().map(|own| own.documents).sum();
            let slot = state.slot(at);
            state.put_slot(at, Slot { documents, ..slot });
            if !feature.weights.is_empty() {
                let row = state.new_row(at);
                state.put_weights(row, &feature.weights);
            }
            for own in &feature.evidence {
                state.add_entry(at, *own);
            }
        }
        for DocumentOfFit { offset, name, duals } in documents {
            let number = state.push_document(*offset, *name);
            for (category, duals) in duals.iter().enumerate() {
                state.put_duals(number, category, *duals);
            }
        }
        state
    }

    fn empty(numbers: Numbers, room: Sizes) -> Self {
        let starts = room.starts(numbers.sides.len()).unwrap_or_default();
        let pages = Pages::new(starts[6].div_ceil(BLOCK));
        let used = Sizes::default();
        Self { numbers, pages, room, used, starts, touched: Vec::new() }
    }

    /// Number of categories.
    fn width(&self) -> usize {
        self.numbers.sides.len()
    }

    /// Makes room for one more entry of each table, and for entries of all categories.
    fn make_room(&mut self) {
        let mut wanted = self.used;
        wanted.documents += 1;
        wanted.slots += 1;
        wanted.rows += 1;
        wanted.entries += 1;
        if self.room.holds(wanted) {
            return;
        }
        self.pages.read_all();
        let room = wanted.room();
        let mut larger = Self::empty(
            self.numbers.clone(),
            Sizes {
                documents: room.documents.max(self.room.documents),
                slots: room.slots.max(self.room.slots),
                rows: room.rows.max(self.room.rows),
                entries: room.entries.max(self.room.entries),
            },
        );
        larger.used = self.used;
        let width = self.width();
        let Sizes { documents, slots, rows, entries } = self.used;
        for (table, length) in [
            (0, documents * DOCUMENT),
            (1, documents * 8 * width),
            (3, slots * SLOT),
            (4, rows * 4 * width),
            (5, entries * ENTRY),
        ] {
            let (from, to) = (self.starts[table], larger.starts[table]);
            larger.pages.get_mut(to, length).copy_from_slice(self.pages.get(from, length));
        }
        for number in 0..slots {
            let id = larger.slot(number).id;
            larger.put_place(id, number);
        }
        larger.touched = std::mem::take(&mut self.touched);
        *self = larger;
    }

    fn slot(&mut self, at: usize) -> Slot {
        let bytes = self.pages.get(self.starts[3] + at * SLOT, SLOT);
        let word = |place: usize| LittleEndian::read_u32(&bytes[4 * place..]);
        Slot { id: word(0), documents: word(1), pairs: word(2), row: word(3), entry: word(4) }
    }

    fn put_slot(&mut self, at: usize, slot: Slot) {
        let bytes = self.pages.get_mut(self.starts[3] + at * SLOT, SLOT);
        let Slot { id, documents, pairs, row, entry } = slot;
        for (place, word) in [id, documents, pairs, row, entry].into_iter().enumerate() {
            LittleEndian::write_u32(&mut bytes[4 * place..], word);
        }
    }

    /// The number of the slot of `id`, or the empty place where it would be told.
    fn find(&mut self, id: u32) -> Result<usize, usize> {
        let places = self.room.places();
        let mut at = first_place(id, places);
        // There is always an empty place, unless somebody has filled it.
        for _ in 0..places {
            let place = self.pages.get(self.starts[2] + at * PLACE, PLACE);
            let number = LittleEndian::read_u32(place) as usize;
            if number == 0 || number > self.used.slots {
                break;
            }
            let slot = self.pages.get(self.starts[3] + (number - 1) * SLOT, PLACE);
            if LittleEndian::read_u32(slot) == id {
                return Ok(number - 1);
            }
            at = if at + 1 == places { 0 } else { at + 1 };
        }
        Err(at)
    }

    #[allow(clippy::cast_possible_truncation)] // numbers of features with 32-bit ids
    fn put_place(&mut self, id: u32, number: usize) {
        if let Err(place) = self.find_place(id, number) {
            let bytes = self.pages.get_mut(self.starts[2] + place * PLACE, PLACE);
            LittleEndian::write_u32(bytes, number as u32 + 1);
        }
    }

    /// What [`Self::find`] tells, while the places of the slots from `end` on are not written yet.
    fn find_place(&mut self, id: u32, end: usize) -> Result<usize, usize> {
        let slots = std::mem::replace(&mut self.used.slots, end);
        let found = self.find(id);
        self.used.slots = slots;
        found
    }

    /// The number of the slot of `id`, which is a new one if it was not known.
    fn insert(&mut self, id: u32, pairs: u8) -> usize {
        if let Ok(known) = self.find(id) {
            return known;
        }
        self.make_room();
        let number = self.used.slots;
        self.put_place(id, number);
        self.used.slots += 1;
        self.put_slot(number, Slot { id, pairs: u32::from(pairs), ..Slot::default() });
        number
    }

    /// Gives the feature in slot `at` a row of weights; returns its number.
    #[allow(clippy::cast_possible_truncation)] // no more rows than features
    fn new_row(&mut self, at: usize) -> u32 {
        self.make_room();
        self.used.rows += 1;
        let row = self.used.rows as u32;
        let slot = self.slot(at);
        self.put_slot(at, Slot { row, ..slot });
        row
    }

    /// Adds the weights of a row to `weights`.
    fn weights(&mut self, row: u32, weights: &mut Vec<f32>) {
        let width = self.width();
        if row == 0 || row as usize > self.used.rows {
            weights.extend(std::iter::repeat_n(0.0, width));
            return;
        }
        let at = self.starts[4] + (row as usize - 1) * 4 * width;
        let bytes = self.pages.get(at, 4 * width);
        weights.extend(bytes.chunks_exact(4).map(LittleEndian::read_f32));
    }

    fn put_weights(&mut self, row: u32, weights: &[f32]) {
        let width = self.width();
        if row == 0 || row as usize > self.used.rows {
            return;
        }
        let at = self.starts[4] + (row as usize - 1) * 4 * width;
        let bytes: Vec<u8> = weights.iter().flat_map(|weight| weight.to_le_bytes()).collect();
        if self.pages.get(at, 4 * width) != bytes {
            self.pages.get_mut(at, 4 * width).copy_from_slice(&bytes);
        }
    }

    /// Entry number `entry`, from 1, and the number of the next.
    fn entry(&mut self, entry: u32) -> Option<(Evidence, u32)> {
        if entry == 0 || entry as usize > self.used.entries {
            return None;
        }
        let bytes = self.pages.get(self.starts[5] + (entry as usize - 1) * ENTRY, ENTRY);
        let word = |place: usize| LittleEndian::read_u32(&bytes[4 * place..]);
        let counts = self.numbers.counts_ordinary;
        let own = Evidence {
            category: bytes[7],
            documents: word(1) & DOCUMENTS,
            count: if counts { word(2) } else { 0 },
            ordinary: if counts { 0.0 } else { f32::from_bits(word(2)) },
        };
        Some((own, word(0)))
    }

    fn put_entry(&mut self, entry: u32, own: Evidence, next: u32) {
        let Evidence { category, documents, count, ordinary } = own;
        let last = if self.numbers.counts_ordinary { count } else { ordinary.to_bits() };
        let bytes = self.pages.get_mut(self.starts[5] + (entry as usize - 1) * ENTRY, ENTRY);
        let documents = documents.min(DOCUMENTS) | u32::from(category) << 24;
        for (place, word) in [next, documents, last].into_iter().enumerate() {
            LittleEndian::write_u32(&mut bytes[4 * place..], word);
        }
    }

    /// What is known of the feature in slot `at`, with the numbers of the entries; as many at most
    /// as there are categories.
    fn evidence(&mut self, at: usize) -> Vec<(u32, Evidence, u32)> {
        let mut all = Vec::new();
        let mut entry = self.slot(at).entry;
        while let Some((own, next)) = self.entry(entry)
            && all.len() < self.width()
        {
            all.push((entry, own, next));
            entry = next;
        }
        all
    }

    /// Adds an entry for a category that has none at the end of the chain of the feature in slot
    /// `at`.
    #[allow(clippy::cast_possible_truncation)] // tables of 32-bit numbers
    fn add_entry(&mut self, at: usize, own: Evidence) {
        self.make_room();
        self.used.entries += 1;
        let entry = self.used.entries as u32;
        self.put_entry(entry, own, 0);
        if let Some(&(last, evidence, _)) = self.evidence(at).last() {
            self.put_entry(last, evidence, entry);
        } else {
            let slot = self.slot(at);
            self.put_slot(at, Slot { entry, ..slot });
        }
    }

    /// Counts a document of category `label`, in which the feature in slot `at` occurs so many
    /// times, or takes it back.
    fn count(&mut self, at: usize, label: u32, count: u32, is_back: bool) {
        let change = |value: u32, by: u32| {
            if is_back { value.saturating_sub(by) } else { value.saturating_add(by) }
        };
        let slot = self.slot(at);
        self.put_slot(at, Slot { documents: change(slot.documents, 1), ..slot });
        let category = u8::try_from(label).unwrap_or(u8::MAX);
        let known = self.evidence(at).into_iter().find(|(_, own, _)| own.category == category);
        match known {
            Some((entry, own, next)) => {
                let documents = change(own.documents, 1);
                let own = Evidence { documents, count: change(own.count, count), ..own };
                self.put_entry(entry, own, next);
            }
            None if is_back => {}
            None => self.add_entry(at, Evidence { category, documents: 1, count, ordinary: 0.0 }),
        }
    }

    fn push_document(&mut self, offset: u64, name: u64) -> usize {
        self.make_room();
        let number = self.used.documents;
        self.used.documents += 1;
        self.numbers.documents = self.numbers.documents.saturating_add(1);
        self.put_document(number, offset, name);
        number
    }

    fn put_document(&mut self, number: usize, offset: u64, name: u64) {
        let bytes = self.pages.get_mut(number * DOCUMENT, DOCUMENT);
        LittleEndian::write_u64(bytes, offset);
        LittleEndian::write_u64(&mut bytes[8..], name);
    }

    fn duals_at(&self, document: usize, category: usize) -> usize {
        self.starts[1] + (document * self.width() + category) * 8
    }

    fn duals(&mut self, document: usize, category: usize) -> [f32; 2] {
        let bytes = self.pages.get(self.duals_at(document, category), 8);
        [0, 4].map(|place: usize| LittleEndian::read_f32(&bytes[place..]))
    }

    fn put_duals(&mut self, document: usize, category: usize, duals: [f32; 2]) {
        let bytes = self.pages.get_mut(self.duals_at(document, category), 8);
        LittleEndian::write_f32(bytes, duals[0]);
        LittleEndian::write_f32(&mut bytes[4..], duals[1]);
    }

    /// Offset in the ledger's body of document `number`.
    pub fn offset(&mut self, number: usize) -> u64 {
        LittleEndian::read_u64(self.pages.get(number * DOCUMENT, DOCUMENT))
    }

    /// Names of the documents, in their order in the ledger.
    pub fn names(&mut self) -> Vec<u64> {
        let documents = self.pages.get(0, self.used.documents * DOCUMENT);
        let documents = documents.chunks_exact(DOCUMENT);
        documents.map(|document| LittleEndian::read_u64(&document[8..])).collect()
    }

    /// Learns a document of the ledger that is new at `offset`, then looks again at some old ones,
    /// which `old` finds. Counts are those of this moment.
    pub fn learn(&mut self, record: &Record, offset: u64, old: impl FnMut(u64) -> Option<Record>) {
        self.count_document(record, record.label, false);
        let number = self.push_document(offset, record.fingerprint);
        self.settle(number, record, old);
    }

    /// Makes document `number`, which was learned as `from`, one of the category of `record`, which
    /// is the same document at `offset` of the ledger.
    pub fn relabel(
        &mut self,
        number: usize,
        from: u32,
        record: &Record,
        offset: u64,
        old: impl FnMut(u64) -> Option<Record>,
    ) {
        self.undo(number, from, record);
        self.count_document(record, from, true);
        self.count_document(record, record.label, false);
        self.put_document(number, offset, record.fingerprint);
        self.settle(number, record, old);
    }

    /// Counts the features of a document of category `label`, or takes that back.
    fn count_document(&mut self, record: &Record, label: u32, is_back: bool) {
        // All of them are looked at sooner or later: one read is less than many.
        self.pages.get(self.starts[2], self.room.places() * PLACE);
        if let Some(side) = self.numbers.sides.get_mut(label as usize) {
            if is_back {
                side.total -= f64::from(record.occurrences);
                side.documents = side.documents.saturating_sub(1);
            } else {
                side.total += f64::from(record.occurrences);
                side.documents = side.documents.saturating_add(1);
            }
        }
        for term in &record.terms {
            let at = self.insert(term.id.0, term.makeup.pairs);
            self.count(at, label, term.count, is_back);
            let Slot { documents, row, .. } = self.slot(at);
            if documents >= MIN_DOCUMENTS && row == 0 {
                self.new_row(at);
            }
            self.touched.push(term.id.0);
        }
    }

    /// Steps for document `number` and some others.
    fn settle(
        &mut self,
        number: usize,
        record: &Record,
        mut old: impl FnMut(u64) -> Option<Record>,
    ) {
        self.step(number, record);
        let mut shuffle = SplitMix64::new(u64::from(self.numbers.documents));
        let others = self.used.documents.saturating_sub(1);
        for _ in 0..REPLAYED.min(others) {
            let other = shuffle.below(others.max(1));
            if other == number {
                continue;
            }
            let offset = self.offset(other);
            if let Some(record) = old(offset) {
                self.step(other, &record);
            }
        }
        self.step(number, record);
    }

    /// The features of a document that take part in the fits, and their weights in all fits.
    fn gather(&mut self, record: &Record) -> Gathered {
        let mut found = Gathered::default();
        for term in &record.terms {
            let Ok(at) = self.find(term.id.0) else { continue };
            let slot = self.slot(at);
            let scale = scale(self.used.documents, slot.documents);
            if scale == 0.0 || slot.row == 0 {
                continue;
            }
            found.slots.push(at);
            found.rows.push(slot.row);
            found.documents.push(slot.documents);
            found.scales.push(scale);
            let feature = u32::try_from(found.cells.len()).unwrap_or(u32::MAX);
            found.cells.push(Cell { feature, count: term.count });
            self.weights(slot.row, &mut found.weights);
        }
        if self.numbers.contrast {
            let width = self.width();
            found.with = vec![0; found.slots.len() * width];
            for feature in 0..found.slots.len() {
                for (_, own, _) in self.evidence(found.slots[feature]) {
                    if let Some(with) =
                        found.with[feature * width..][..width].get_mut(usize::from(own.category))
                    {
                        *with = own.documents;
                    }
                }
            }
        }
        found
    }

    /// The fit of `category` of a document alone, and the factors of its views.
    fn fit_of(&self, found: &Gathered, category: usize, record: &Record) -> (Fit, Row) {
        let width = self.width();
        let documents = self.used.documents;
        let distinct = u32::try_from(record.terms.len()).unwrap_or(u32::MAX);
        let Numbers { max_order, length, scoring, .. } = self.numbers;
        let mut row = Row::new(scoring, distinct, record.occurrences, max_order, length);
        let (mut ones, mut counts, mut squares) = (0.0, 0.0, 0.0);
        let mut weights = Vec::with_capacity(found.cells.len());
        let own = self.numbers.sides[category].documents;
        for (feature, cell) in found.cells.iter().enumerate() {
            let mut scale = found.scales[feature];
            if self.numbers.contrast {
                let with = found.with[feature * width + category];
                let rest = found.documents[feature].saturating_sub(with);
                let others = documents.saturating_sub(own as usize);
                scale *= contrast([(with, own as usize), (rest, others)]);
            }
            let (wide, count) = (f64::from(scale), f64::from(cell.count));
            ones += wide;
            counts += wide * count;
            squares += wide * count * count;
            weights.push(Weight { value: found.weights[feature * width + category], scale });
        }
        row.set_squares(ones, counts, squares);
        (Fit { weights, bias: self.numbers.sides[category].bias, duals: Vec::new() }, row)
    }

    /// One step of all fits for document `number`.
    fn step(&mut self, number: usize, record: &Record) {
        let width = self.width();
        let mut found = self.gather(record);
        let mut is_changed = false;
        for category in 0..width {
            let duals = self.duals(number, category);
            let y = if record.label as usize == category { 1.0 } else { -1.0 };
            if duals == [0.0; 2] && self.is_beyond(&found, category, record, y) {
                continue;
            }
            let (mut fit, row) = self.fit_of(&found, category, record);
            fit.duals.push(duals);
            fit.step(0, &found.cells, &row, y, self.numbers.cost);
            if fit.duals[0] == duals {
                continue;
            }
            self.put_duals(number, category, fit.duals[0]);
            self.numbers.sides[category].bias = fit.bias;
            for (feature, weight) in fit.weights.iter().enumerate() {
                found.weights[feature * width + category] = weight.value;
            }
            is_changed = true;
        }
        if is_changed {
            self.put_gathered(&found, record);
        }
    }

    /// Whether a document lies beyond the margin in both views of a fit.
    fn is_beyond(&self, found: &Gathered, category: usize, record: &Record, y: f64) -> bool {
        let width = self.width();
        let distinct = u32::try_from(record.terms.len()).unwrap_or(u32::MAX);
        let Numbers { max_order, length, scoring, .. } = self.numbers;
        let row = Row::new(scoring, distinct, record.occurrences, max_order, length);
        let (mut ones, mut counts) = (0.0, 0.0);
        for (feature, cell) in found.cells.iter().enumerate() {
            let weight = f64::from(found.weights[feature * width + category]);
            ones += weight;
            counts += weight * f64::from(cell.count);
        }
        let bias = self.numbers.sides[category].bias;
        y * (ones * row.presence + bias * row.presence_bias) >= 1.0
            && y * (counts * row.counts + bias * row.counts_bias) >= 1.0
    }

    /// Takes back what document `number`, learned as `label`, has done to the weights.
    fn undo(&mut self, number: usize, label: u32, record: &Record) {
        let width = self.width();
        let mut found = self.gather(record);
        for category in 0..width {
            let duals = self.duals(number, category);
            if duals == [0.0; 2] {
                continue;
            }
            let y = if label as usize == category { 1.0 } else { -1.0 };
            let (mut fit, row) = self.fit_of(&found, category, record);
            let [presence, counts] = duals.map(|dual| -y * f64::from(dual));
            fit.add(&found.cells, &row, presence, counts);
            self.put_duals(number, category, [0.0; 2]);
            self.numbers.sides[category].bias = fit.bias;
            for (feature, weight) in fit.weights.iter().enumerate() {
                found.weights[feature * width + category] = weight.value;
            }
        }
        self.put_gathered(&found, record);
    }

    fn put_gathered(&mut self, found: &Gathered, record: &Record) {
        let width = self.width();
        for (feature, &row) in found.rows.iter().enumerate() {
            self.put_weights(row, &found.weights[feature * width..][..width]);
        }
        self.touched.extend(record.terms.iter().map(|term| term.id.0));
    }

    /// New weights of all features that may have changed, by category, sorted by id. Categories
    /// whose documents do not contain a feature do not have it.
    pub fn changes(&mut self) -> Vec<Vec<(FeatureId, QuantWeight)>> {
        self.touched.sort_unstable();
        self.touched.dedup();
        let touched = std::mem::take(&mut self.touched);
        let width = self.width();
        let per_weight = self.numbers.length / f64::from(self.numbers.max_order);
        let mut changes = vec![Vec::new(); width];
        let (mut weights, mut is_seen) = (Vec::new(), vec![false; width]);
        for id in touched {
            let Ok(at) = self.find(id) else { continue };
            let Slot { pairs, row, .. } = self.slot(at);
            weights.clear();
            self.weights(row, &mut weights);
            let evidence = self.evidence(at);
            is_seen.fill(false);
            for (_, own, _) in &evidence {
                if let Some(is_seen) = is_seen.get_mut(usize::from(own.category)) {
                    *is_seen = own.documents > 0;
                }
            }
            let each = weights.iter().zip(&is_seen);
            let level = level_of_unseen(each.map(|(&weight, &seen)| (f64::from(weight), seen)));
            for (_, own, _) in evidence {
                let category = usize::from(own.category);
                let Some(side) = self.numbers.sides.get(category) else { continue };
                let ordinary = if self.numbers.counts_ordinary {
                    let (count, pairs) = (own.count, u8::try_from(pairs).unwrap_or(u8::MAX));
                    self.numbers.blend * ordinary_weight(count, side.total, pairs, side.rise)
                } else {
                    f64::from(own.ordinary)
                };
                let fitted = per_weight * (f64::from(weights[category]) - level);
                let weight = match own.documents {
                    0 => QuantWeight(0),
                    _ if self.numbers.scoring == Scoring::Once => {
                        learned(stored(ordinary + fitted))
                    }
                    _ => stored(ordinary + fitted),
                };
                changes[category].push((FeatureId(id), weight));
            }
        }
        changes
    }

    /// Lets [`Self::changes`] tell of all features.
    #[cfg(test)]
    pub fn touch_all(&mut self) {
        let ids = (0..self.used.slots).map(|at| self.slot(at).id);
        self.touched = ids.collect();
    }

    /// log Z of the categories, nats.
    pub fn log_partitions(&self) -> Vec<f64> {
        let per_weight = self.numbers.length / f64::from(self.numbers.max_order);
        let of_bias = BIAS_INPUT * per_weight;
        let sides = &self.numbers.sides;
        let mean = sides.iter().map(|side| side.bias).sum::<f64>() / real(sides.len().max(1));
        sides.iter().map(|side| side.log_partition - of_bias * (side.bias - mean)).collect()
    }

    /// Bytes of the head for so many categories.
    const fn head_length(categories: usize) -> usize {
        FIXED + EACH * categories + 8
    }

    /// The head, without its checksum.
    #[allow(clippy::cast_possible_truncation)] // tables of 32-bit numbers
    fn head(&self) -> Vec<u8> {
        let mut bytes = vec![0; Self::head_length(self.width())];
        bytes[..MAGIC.len()].copy_from_slice(MAGIC);
        let numbers = &self.numbers;
        for (place, word) in
            [numbers.set, numbers.ledger.state(), numbers.ledger_length].into_iter().enumerate()
        {
            LittleEndian::write_u64(&mut bytes[16 + 8 * place..], word);
        }
        let sizes = [self.used.words(), self.room.words()].concat();
        let words = sizes.into_iter().chain([numbers.fitted as usize, self.width()]);
        for (place, word) in words.enumerate() {
            LittleEndian::write_u32(&mut bytes[40 + 4 * place..], word as u32);
        }
        bytes[80] = numbers.max_order;
        bytes[81] = u8::from(numbers.scoring == Scoring::Once) | u8::from(numbers.contrast) << 1;
        bytes[82] = u8::from(numbers.counts_ordinary);
        let reals = [numbers.cost, numbers.blend, numbers.length];
        for (place, value) in reals.into_iter().enumerate() {
            LittleEndian::write_f64(&mut bytes[88 + 8 * place..], value);
        }
        for (side, bytes) in numbers.sides.iter().zip(bytes[FIXED..].chunks_exact_mut(EACH)) {
            let reals = [side.log_partition, side.total, side.rise, side.bias];
            for (place, value) in reals.into_iter().enumerate() {
                LittleEndian::write_f64(&mut bytes[8 * place..], value);
            }
            LittleEndian::write_u32(&mut bytes[32..], side.documents);
        }
        bytes
    }

    /// The numbers of a head, with the sizes of the tables and the room for them; `None` when they
    /// are impossible.
    fn numbers(head: &[u8]) -> Option<(Numbers, [Sizes; 2])> {
        if !head.starts_with(MAGIC) || head.len() < FIXED {
            return None;
        }
        let word = |place: usize| LittleEndian::read_u32(&head[40 + 4 * place..]);
        let sizes = [0, 4].map(|first| {
            let [documents, slots, rows, entries] =
                [0, 1, 2, 3].map(|place| word(first + place) as usize);
            Sizes { documents, slots, rows, entries }
        });
        let width = word(9) as usize;
        let is_possible = (3..=MOST).contains(&width)
            && (1..8).contains(&head[80])
            && head.len() >= Self::head_length(width)
            && sizes[1].holds(sizes[0]);
        let real = |place: usize| LittleEndian::read_f64(&head[88 + 8 * place..]);
        let side = |bytes: &[u8]| {
            let [log_partition, total, rise, bias] =
                [0, 8, 16, 24].map(|place: usize| LittleEndian::read_f64(&bytes[place..]));
            let documents = LittleEndian::read_u32(&bytes[32..]);
            Side { log_partition, total, rise, bias, documents }
        };
        let sides = head[FIXED..].chunks_exact(EACH).take(width);
        is_possible.then(|| {
            let numbers = Numbers {
                set: LittleEndian::read_u64(&head[16..]),
                ledger: Checksum::from_state(LittleEndian::read_u64(&head[24..])),
                ledger_length: LittleEndian::read_u64(&head[32..]),
                cost: real(0),
                blend: real(1),
                length: real(2),
                counts_ordinary: head[82] == 1,
                max_order: head[80],
                scoring: if head[81] & 1 == 1 { Scoring::Once } else { Scoring::Counts },
                contrast: head[81] & 2 == 2,
                documents: word(0),
                fitted: word(8),
                sides: sides.map(side).collect(),
            };
            (numbers, sizes)
        })
    }

    /// Opens a state, see [`super::incremental::State::open`].
    pub fn open(file: Box<dyn ReadAt>, length: usize, changes: Vec<u8>) -> Option<Self> {
        let mut head = vec![0; FIXED];
        file.read_at(&mut head, 0).ok()?;
        let width = LittleEndian::read_u32(&head[76..]) as usize;
        head.resize(Self::head_length(width.min(MOST)), 0);
        file.read_at(&mut head, 0).ok()?;
        let (numbers, [used, room]) = Self::numbers(&head)?;
        let starts = room.starts(width)?;
        let blocks = starts[6].div_ceil(BLOCK);
        if starts[6] > length || blocks_at(head.len(), blocks) + blocks * BLOCK != length {
            return None;
        }
        let pages = Pages::open(file, &head, blocks)?;
        let mut state = Self { numbers, pages, room, used, starts, touched: Vec::new() };
        if let Some(head) = state.pages.take_changes(changes, head.len()) {
            let (numbers, [used, new_room]) = Self::numbers(&head)?;
            if new_room != room || numbers.sides.len() != width {
                return None;
            }
            (state.numbers, state.used) = (numbers, used);
        }
        Some(state)
    }

    /// Whether the file is to be written as a whole, not only what has changed in it.
    pub fn is_due(&self) -> bool {
        self.pages.is_due()
    }

    /// Whether something that was read is damaged; all of it is read if it is to be written.
    pub fn is_damaged(&mut self) -> bool {
        self.pages.is_damaged_to_write()
    }

    /// Writes the file.
    ///
    /// # Errors
    /// Those of `out`; [`io::ErrorKind::InvalidData`] if it is damaged.
    pub fn write(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let head = self.head();
        self.pages.write(&head, out)
    }

    /// Writes what has changed since the file was written.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_changes(&self, out: &mut dyn Write) -> io::Result<()> {
        self.pages.write_changes(&self.head(), out)
    }
}

/// The features of a document that take part in the fits.
#[derive(Debug, Default)]
struct Gathered {
    slots: Vec<usize>,
    rows: Vec<u32>,
    /// Documents that contain each.
    documents: Vec<u32>,
    scales: Vec<f32>,
    cells: Vec<Cell>,
    /// Weights by feature and category.
    weights: Vec<f32>,
    /// Documents by feature and category, where contrast asks for them.
    with: Vec<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::joint::documents::Term;

    const WIDTH: u32 = 5;

    fn empty() -> State {
        let side = Side { log_partition: 1.0, rise: 3.0, ..Side::default() };
        let numbers = Numbers {
            set: 7,
            ledger: Checksum::default(),
            ledger_length: 0,
            cost: 1.0,
            blend: 0.0,
            length: 2.0,
            counts_ordinary: true,
            max_order: 1,
            scoring: Scoring::Counts,
            contrast: true,
            documents: 0,
            fitted: 0,
            sides: vec![side; WIDTH as usize],
        };
        State::new(numbers, &[], &[])
    }

    /// Document k of one of the categories: a word of the category, one of two neighbours, a common
    /// word and a word of its own.
    fn record(k: u32) -> Record {
        let label = k % WIDTH;
        let term = |id| Term::new(FeatureId(id), 1, 1 + k % 2);
        let near = 100 + (label + k / WIDTH % 2) % WIDTH;
        let terms = vec![term(10 + label), term(near), term(20), term(1000 + k)];
        let occurrences = 4 * (1 + k % 2);
        Record { label, occurrences, terms, fingerprint: u64::from(k) }
    }

    fn learn(state: &mut State, documents: std::ops::Range<u32>) {
        for k in documents {
            state.learn(&record(k), u64::from(k), |offset| u32::try_from(offset).ok().map(record));
        }
    }

    fn bytes_of(state: &mut State) -> Vec<u8> {
        let mut bytes = Vec::new();
        state.write(&mut bytes).unwrap();
        bytes
    }

    fn open(file: &[u8], changes: &[u8]) -> Option<State> {
        State::open(Box::new(file.to_vec()), file.len(), changes.to_vec())
    }

    #[test]
    fn categories_are_told_apart_one_document_at_a_time() {
        let mut state = empty();
        learn(&mut state, 0..200);
        let changes = state.changes();
        assert!(state.changes().iter().all(Vec::is_empty));
        let weight = |category: usize, id: u32| {
            let found = changes[category].iter().find(|(own, _)| own.0 == id);
            found.map(|(_, weight)| weight.weight())
        };
        for category in 0..WIDTH {
            let own = weight(category as usize, 10 + category).unwrap();
            assert!(own > 0.2, "{category} {own}");
            // Only its documents have the word.
            let other = ((category + 1) % WIDTH) as usize;
            assert_eq!(weight(other, 10 + category), None);
            assert!(weight(category as usize, 20).unwrap() < own);
        }
        assert_eq!(weight(3, 1003), Some(0.0), "rare features have no weight");
        let partitions = state.log_partitions();
        let mean = partitions.iter().sum::<f64>() / f64::from(WIDTH);
        assert!((mean - 1.0).abs() < 1e-9, "{partitions:?}");
    }

    #[test]
    fn what_was_written_reads_the_same_and_damage_is_found() {
        let mut state = empty();
        learn(&mut state, 0..40);
        let file = bytes_of(&mut state);
        let mut read = open(&file, &[]).unwrap();
        assert_eq!(read.names(), state.names());
        assert_eq!(read.numbers, state.numbers);
        assert_eq!((read.offset(39), bytes_of(&mut read)), (39, file.clone()));
        for at in (0..file.len()).step_by(97) {
            assert!(open(&file[..at], &[]).is_none());
            let mut damaged = file.clone();
            damaged[at] ^= 4;
            let is_found = open(&damaged, &[]).is_none_or(|mut state| {
                state.pages.read_all();
                state.is_damaged()
            });
            assert!(is_found, "{at}");
        }
    }

    #[test]
    fn changes_and_the_file_make_the_file_that_is_written_as_a_whole() {
        let mut state = empty();
        learn(&mut state, 0..300);
        let (mut file, mut changes, mut folds) = (bytes_of(&mut state), Vec::new(), 0);
        for k in 300..420 {
            let mut read = open(&file, &changes).unwrap();
            for state in [&mut state, &mut read] {
                learn(state, k..k + 1);
                assert!(!state.is_damaged());
            }
            changes.clear();
            if read.is_due() {
                file = bytes_of(&mut read);
                folds += 1;
            } else {
                read.write_changes(&mut changes).unwrap();
            }
            let mut read = open(&file, &changes).unwrap();
            assert_eq!(read.numbers, state.numbers);
            assert_eq!(read.used, state.used);
            assert_eq!(read.changes().len(), WIDTH as usize);
        }
        assert!(folds > 1, "{folds}");
        let [mut one, mut other] = [open(&file, &changes).unwrap(), state];
        for k in 0..420 {
            for term in record(k).terms {
                one.touched.push(term.id.0);
                other.touched.push(term.id.0);
            }
        }
        assert_eq!(one.changes(), other.changes());
        assert_eq!((one.used.documents, one.used.slots), (420, 2 * WIDTH as usize + 421));
    }

    #[test]
    fn a_document_can_change_its_category() {
        let mut state = empty();
        learn(&mut state, 0..60);
        let before = state.numbers.sides.clone();
        let moved = Record { label: 4, ..record(7) };
        state.relabel(7, 2, &moved, 777, |_| None);
        let sides = &state.numbers.sides;
        assert_eq!((sides[2].documents, sides[4].documents), (11, 13));
        assert_eq!(sides[2].total + 8.0, before[2].total);
        assert_eq!((state.offset(7), state.used.documents), (777, 60));
        let at = state.find(12).unwrap();
        let documents = |state: &mut State, category: u8| {
            let evidence = state.evidence(at);
            evidence.iter().find(|(_, own, _)| own.category == category).unwrap().1.documents
        };
        assert_eq!((documents(&mut state, 2), documents(&mut state, 4)), (11, 1));
        // And back: its category has all of its documents again, the other none of it.
        state.relabel(7, 4, &record(7), 778, |_| None);
        assert_eq!((documents(&mut state, 2), documents(&mut state, 4)), (12, 0));
        let changes = state.changes();
        let weight = changes[4].iter().find(|(id, _)| id.0 == 12).unwrap().1;
        assert_eq!(weight.0, 0, "what no document of a category has it does not know");
    }

    #[test]
    fn heads_that_say_impossible_things_are_refused() {
        let mut state = empty();
        let good = state.head();
        assert!(State::numbers(&good).is_some());
        for (at, value) in [(0, 1u32), (40, 1 << 30), (56, 0), (76, 2), (76, 65), (80, 0)] {
            let mut head = good.clone();
            LittleEndian::write_u32(&mut head[at..], value);
            let is_refused = State::numbers(&head).is_none();
            assert!(is_refused || at == 56, "{at} {value}");
        }
        assert!(open(b"# dbacl state 5\n", &[]).is_none());
        state.numbers.sides.truncate(2);
        assert!(open(&bytes_of(&mut state), &[]).is_none());
    }
}
