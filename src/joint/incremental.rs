// SPDX-License-Identifier: GPL-3.0-or-later
//! Learning one document at a time: the state of a fit of two categories, kept beside the ledger.
//!
//! Weights, counts and dual variables lie in blocks of a file ([`Pages`]), of which an update reads
//! those that it needs. What it has changed is written beside the file, until that has become an
//! eighth of it. All of it can be made anew from the ledger; a state that is damaged or does not
//! fit the ledger is thrown away.
//!
//! ```text
//! head of 256 bytes, which begins with "# dbacl state 4\n"; in the blocks:
//! documents x 24 bytes    offset in the ledger's body u64, name u64, dual variables f32, f32
//! places of 4 bytes       number of a slot, plus 1, where the search for its id ends; 0 if empty
//! slots of 20 bytes       id u32, weight f32, what else is known of the feature
//! ```
//!
//! Features that many documents have come first: what an update changes lies close together.
//!
//! The ordinary weights of single words under the uniform measure are worked out from the counts
//! when they are needed, so that they keep up with what is learned (see
//! [`Numbers::ordinary_weight`]).

use super::blend::stored_pair;
use super::checksum::Checksum;
use super::dataset::{Cell, Dataset, Row, contrast, scale};
use super::index::FeatureIndex;
use super::ledger::{self, Record};
use super::pages::{BLOCK, Pages, ReadAt, blocks_at};
use super::scoring::Scoring;
use super::solver::{Duals, Fit, Weight};
use crate::numeric::elementary::{log, narrow};
use crate::numeric::quantize::QuantWeight;
use crate::numeric::random::SplitMix64;
use crate::token::id::FeatureId;
use byteorder::{ByteOrder, LittleEndian};
use std::io::{self, Write};

/// How a state begins.
pub const MAGIC: &[u8] = b"# dbacl state 4\n";

/// How states of any version begin.
pub const KIND: &[u8] = b"# dbacl state ";

/// Bytes of the head.
pub const HEAD: usize = 256;

/// Bytes of a document.
const DOCUMENT: usize = 24;

/// Bytes of a place.
const PLACE: usize = 4;

/// Bytes of a slot.
const SLOT: usize = 20;

/// Old documents that are looked at again with every new one.
pub const REPLAYED: usize = 10;

/// What the uniform measure asks for a pair of characters, nats.
const PAIR: f64 = 177.0 / 32.0;

/// The numbers of the head.
#[derive(Debug, Clone, Copy, PartialEq)]
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
    /// Weight of the bias input.
    pub bias: f64,
    /// log Z of the two categories as far as they do not depend on the bias, nats.
    pub log_partitions: [f64; 2],
    /// Occurrences of all features in the documents of either category.
    pub totals: [f64; 2],
    /// What the ordinary weights of either category are above the logarithm of their features'
    /// shares and reference costs, nats: log Z as the last round of learning saw it.
    pub rises: [f64; 2],
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
    /// Documents of either category.
    pub sides: [u32; 2],
    /// Documents of the last full fit.
    pub fitted: u32,
    /// Features.
    pub features: u32,
}

impl Numbers {
    /// The ordinary weight in category `at` of a feature with these counts, see
    /// [`ordinary_weight`].
    pub fn ordinary_weight(&self, at: usize, evidence: &FeatureStatistics) -> f64 {
        ordinary_weight(evidence.counts[at], self.totals[at], evidence.pairs, self.rises[at])
    }

    /// The rise of category `at`, from the weights that learning has ended with.
    pub fn rise<'a>(
        &self,
        at: usize,
        learned: impl Iterator<Item = (&'a FeatureStatistics, QuantWeight)>,
    ) -> f64 {
        let each = learned.map(|(own, weight)| (own.counts[at], own.pairs, weight));
        rise(self.totals[at], each)
    }
}

/// The ordinary weight of a feature that occurs so many times among the features of a category's
/// documents, nats: what the fit of single words under the uniform measure ends with (spec model
/// 7.3), on the grid of files.
pub fn ordinary_weight(count: u32, total: f64, pairs: u8, rise: f64) -> f64 {
    if count == 0 {
        return 0.0;
    }
    let weight = base(count, total, pairs) + rise;
    (weight * 32.0).floor().max(0.0) / 32.0
}

/// The ordinary weight of a feature, without the rise of its category.
fn base(count: u32, total: f64, pairs: u8) -> f64 {
    log(f64::from(count) / total) + f64::from(pairs) * PAIR
}

/// The rise of a category whose documents have so many features in all, from the weights that
/// learning has ended with: occurrences, pairs of characters and weight of each feature.
pub fn rise(total: f64, learned: impl Iterator<Item = (u32, u8, QuantWeight)>) -> f64 {
    let mut rises: Vec<f64> = learned
        .filter(|(count, _, weight)| weight.0 > 0 && *count > 0)
        .map(|(count, pairs, weight)| f64::from(weight.weight()) - base(count, total, pairs))
        .collect();
    if rises.is_empty() {
        return 0.0;
    }
    // Weights were cut to the grid: the highest of the differences is nearest. Those of features
    // that share their id with others tell nothing.
    let middle = rises.len() / 2;
    let limit = *rises.select_nth_unstable_by(middle, f64::total_cmp).1 + 1.0 / 32.0;
    rises.into_iter().filter(|&rise| rise <= limit).fold(0.0, f64::max)
}

/// What documents tell of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FeatureStatistics {
    /// Documents of either category that contain it; below 2^20 where ordinary weights follow
    /// counts.
    pub documents: [u32; 2],
    /// Occurrences in the documents of either category, below 2^24; 0 where ordinary weights stay.
    pub counts: [u32; 2],
    /// Pairs of neighbouring characters in its text.
    pub pairs: u8,
    /// By how much the ordinary weights differ, times the blend, where they stay what they are.
    pub ordinary: f32,
}

const DOCUMENTS: u32 = (1 << 20) - 1;
const COUNTS: u32 = (1 << 24) - 1;

impl FeatureStatistics {
    /// Writes twelve bytes.
    fn write(self, bytes: &mut [u8], counts_ordinary: bool) {
        if !counts_ordinary {
            LittleEndian::write_u32(bytes, self.documents[0]);
            LittleEndian::write_u32(&mut bytes[4..], self.documents[1]);
            LittleEndian::write_f32(&mut bytes[8..], self.ordinary);
            return;
        }
        let [d1, d2] = self.documents.map(|documents| u64::from(documents.min(DOCUMENTS)));
        let [c1, c2] = self.counts.map(|count| count.min(COUNTS));
        LittleEndian::write_u64(bytes, d1 << 44 | d2 << 24 | u64::from(c1));
        LittleEndian::write_u32(&mut bytes[8..], c2 << 8 | u32::from(self.pairs));
    }

    #[allow(clippy::cast_possible_truncation)] // masked, or shifted down
    fn read(bytes: &[u8], counts_ordinary: bool) -> Self {
        if !counts_ordinary {
            let documents = [0, 4].map(|at: usize| LittleEndian::read_u32(&bytes[at..]));
            let ordinary = LittleEndian::read_f32(&bytes[8..]);
            return Self { documents, ordinary, ..Self::default() };
        }
        let first = LittleEndian::read_u64(bytes);
        let second = LittleEndian::read_u32(&bytes[8..]);
        Self {
            documents: [(first >> 44) as u32, (first >> 24) as u32 & DOCUMENTS],
            counts: [first as u32 & COUNTS, second >> 8],
            pairs: second as u8,
            ordinary: 0.0,
        }
    }

    /// Documents that contain the feature.
    pub const fn all_documents(&self) -> u32 {
        self.documents[0].saturating_add(self.documents[1])
    }

    /// Adds a document of category `label` in which the feature occurs so many times.
    fn add(&mut self, label: u32, count: u32) {
        let side = usize::from(label == 1);
        self.documents[side] = self.documents[side].saturating_add(1);
        self.counts[side] = self.counts[side].saturating_add(count);
    }

    /// Takes such a document back.
    fn take_back(&mut self, label: u32, count: u32) {
        let side = usize::from(label == 1);
        self.documents[side] = self.documents[side].saturating_sub(1);
        self.counts[side] = self.counts[side].saturating_sub(count);
    }
}

/// What the documents of `data` tell of each of its features.
pub fn evidence(data: &Dataset) -> Vec<(FeatureId, FeatureStatistics)> {
    let mut all: Vec<_> = data
        .ids
        .iter()
        .zip(&data.pairs)
        .map(|(&id, &pairs)| (id, FeatureStatistics { pairs, ..FeatureStatistics::default() }))
        .collect();
    for document in 0..data.len() {
        for cell in data.row(document) {
            all[cell.feature as usize].1.add(data.labels[document], cell.count);
        }
    }
    all
}

/// The state of a fit.
#[derive(Debug)]
pub struct State {
    /// The numbers.
    pub numbers: Numbers,
    /// Documents, places and slots.
    pages: Pages,
    /// Slots, and places for documents.
    capacity: usize,
    document_capacity: usize,
    /// Features whose weights may have changed, with repeats.
    touched: Vec<u32>,
}

/// Room for `entries` of a table, and a quarter as many more.
fn room(entries: usize) -> usize {
    (entries + entries / 4).next_multiple_of(BLOCK / DOCUMENT).max(1024)
}

/// Places for the search of so many slots.
const fn places(slots: usize) -> usize {
    slots + slots / 2
}

/// Where the search for `id` begins among so many places.
#[allow(clippy::cast_possible_truncation)] // below the number of places
const fn first_place(id: u32, places: usize) -> usize {
    ((id.wrapping_mul(0x9e37_79b1) as u64 * places as u64) >> 32) as usize
}

/// Where a category stands in the fit.
const fn side_of(label: u32) -> f64 {
    if label == 1 { 1.0 } else { -1.0 }
}

/// How many blocks so many documents and slots take.
const fn blocks(documents: usize, slots: usize) -> usize {
    (documents * DOCUMENT + places(slots) * PLACE + slots * SLOT).div_ceil(BLOCK)
}

/// A slot, read.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Slot {
    id: u32,
    weight: f32,
    evidence: FeatureStatistics,
}

impl State {
    /// The state of a full fit of `data`. `evidence` tells of all features, those that only one
    /// document has included, which `data` no longer holds; `documents` tell where the documents
    /// stand in the ledger's body, and their names.
    pub fn new(
        numbers: Numbers,
        data: &Dataset,
        fit: &Fit,
        evidence: &[(FeatureId, FeatureStatistics)],
        documents: &[(u64, u64)],
    ) -> Self {
        let numbers = Numbers { documents: 0, features: 0, ..numbers };
        let mut state = Self::empty(numbers, room(evidence.len()), room(documents.len()));
        let index = FeatureIndex::of(data.ids.clone());
        let mut evidence = evidence.to_vec();
        evidence.sort_by_key(|(_, evidence)| std::cmp::Reverse(evidence.all_documents()));
        for (id, evidence) in evidence {
            let weight = index.get(id).map_or(0.0, |feature| fit.weights[feature].value);
            state.insert(Slot { id: id.0, weight, evidence });
        }
        for (&(offset, name), duals) in documents.iter().zip(&fit.duals) {
            state.push_document(offset, name, *duals);
        }
        state
    }

    fn empty(numbers: Numbers, capacity: usize, document_capacity: usize) -> Self {
        let pages = Pages::new(blocks(document_capacity, capacity));
        Self { numbers, pages, capacity, document_capacity, touched: Vec::new() }
    }

    /// Where the places begin.
    const fn places_at(&self) -> usize {
        self.document_capacity * DOCUMENT
    }

    /// Where the slots begin.
    const fn slots_at(&self) -> usize {
        self.places_at() + places(self.capacity) * PLACE
    }

    fn slot(&mut self, at: usize) -> Slot {
        let bytes = self.pages.get(self.slots_at() + at * SLOT, SLOT);
        Slot {
            id: LittleEndian::read_u32(bytes),
            weight: LittleEndian::read_f32(&bytes[4..]),
            evidence: FeatureStatistics::read(&bytes[8..], self.numbers.counts_ordinary),
        }
    }

    fn put_slot(&mut self, at: usize, slot: Slot) {
        let bytes = self.pages.get_mut(self.slots_at() + at * SLOT, SLOT);
        LittleEndian::write_u32(bytes, slot.id);
        LittleEndian::write_f32(&mut bytes[4..], slot.weight);
        slot.evidence.write(&mut bytes[8..], self.numbers.counts_ordinary);
    }

    /// Moves everything into larger tables.
    fn grow(&mut self) {
        let capacity = room(self.numbers.features as usize).max(self.capacity);
        let documents = room(self.numbers.documents as usize).max(self.document_capacity);
        let mut larger = Self::empty(self.numbers, capacity, documents);
        larger.numbers.features = 0;
        self.pages.read_all();
        for at in 0..self.numbers.features as usize {
            larger.insert(self.slot(at));
        }
        let length = self.numbers.documents as usize * DOCUMENT;
        larger.pages.get_mut(0, length).copy_from_slice(self.pages.get(0, length));
        larger.touched = std::mem::take(&mut self.touched);
        *self = larger;
    }

    /// The number of the slot of `id`, or the empty place where it would be told.
    fn find(&mut self, id: u32) -> Result<usize, usize> {
        let places = places(self.capacity);
        let (places_at, slots_at) = (self.places_at(), self.slots_at());
        let mut at = first_place(id, places);
        // There is always an empty place, unless somebody has filled it.
        for _ in 0..places {
            let place = self.pages.get(places_at + at * PLACE, PLACE);
            let number = LittleEndian::read_u32(place) as usize;
            if number == 0 || number > self.numbers.features as usize {
                break;
            }
            let slot = self.pages.get(slots_at + (number - 1) * SLOT, PLACE);
            if LittleEndian::read_u32(slot) == id {
                return Ok(number - 1);
            }
            at = if at + 1 == places { 0 } else { at + 1 };
        }
        Err(at)
    }

    /// Adds a feature that is not there.
    fn insert(&mut self, slot: Slot) {
        if self.numbers.features as usize >= self.capacity {
            self.grow();
        }
        if let Err(place) = self.find(slot.id) {
            let number = self.numbers.features;
            let at = self.places_at() + place * PLACE;
            LittleEndian::write_u32(self.pages.get_mut(at, PLACE), number + 1);
            self.put_slot(number as usize, slot);
            self.numbers.features += 1;
        }
    }

    fn push_document(&mut self, offset: u64, name: u64, duals: Duals) {
        if self.numbers.documents as usize >= self.document_capacity {
            self.grow();
        }
        let at = self.numbers.documents as usize * DOCUMENT;
        let bytes = self.pages.get_mut(at, DOCUMENT);
        LittleEndian::write_u64(bytes, offset);
        LittleEndian::write_u64(&mut bytes[8..], name);
        self.put_duals(self.numbers.documents as usize, duals);
        self.numbers.documents += 1;
    }

    fn duals(&mut self, document: usize) -> Duals {
        let bytes = self.pages.get(document * DOCUMENT, DOCUMENT);
        [16, 20].map(|place: usize| LittleEndian::read_f32(&bytes[place..]))
    }

    fn put_duals(&mut self, document: usize, duals: Duals) {
        let bytes = self.pages.get_mut(document * DOCUMENT, DOCUMENT);
        LittleEndian::write_f32(&mut bytes[16..], duals[0]);
        LittleEndian::write_f32(&mut bytes[20..], duals[1]);
    }

    /// Offset in the ledger's body of document `number`.
    pub fn offset(&mut self, number: usize) -> u64 {
        LittleEndian::read_u64(self.pages.get(number * DOCUMENT, DOCUMENT))
    }

    /// Names of the documents, in their order in the ledger.
    pub fn names(&mut self) -> Vec<u64> {
        let documents = self.pages.get(0, self.numbers.documents as usize * DOCUMENT);
        let documents = documents.chunks_exact(DOCUMENT);
        documents.map(|document| LittleEndian::read_u64(&document[8..])).collect()
    }

    /// Learns a document of the ledger that is new at `offset`, then looks again at some old ones,
    /// which `old` finds. Counts are those of this moment.
    pub fn learn(&mut self, record: &Record, offset: u64, old: impl FnMut(u64) -> Option<Record>) {
        self.count(record);
        let number = self.numbers.documents as usize;
        self.push_document(offset, record.fingerprint, [0.0; 2]);
        self.settle(number, record, old);
    }

    /// Makes document `number`, which was learned as the other category, one of the category of
    /// `record`, which is the same document at `offset` of the ledger.
    pub fn relabel(
        &mut self,
        number: usize,
        record: &Record,
        offset: u64,
        old: impl FnMut(u64) -> Option<Record>,
    ) {
        let from = u32::from(record.label != 1);
        self.undo(number, from, record);
        let side = usize::from(from == 1);
        self.numbers.totals[side] -= f64::from(record.occurrences);
        self.numbers.sides[side] = self.numbers.sides[side].saturating_sub(1);
        for term in &record.terms {
            if let Ok(at) = self.find(term.id.0) {
                let mut slot = self.slot(at);
                slot.evidence.take_back(from, term.count);
                self.put_slot(at, slot);
            }
        }
        self.count(record);
        LittleEndian::write_u64(self.pages.get_mut(number * DOCUMENT, DOCUMENT), offset);
        self.settle(number, record, old);
    }

    /// Counts the features of a document.
    fn count(&mut self, record: &Record) {
        // All of them are looked at sooner or later: one read is less than many.
        self.pages.get(self.places_at(), places(self.capacity) * PLACE);
        let side = usize::from(record.label == 1);
        self.numbers.totals[side] += f64::from(record.occurrences);
        self.numbers.sides[side] = self.numbers.sides[side].saturating_add(1);
        for term in &record.terms {
            if let Ok(at) = self.find(term.id.0) {
                let mut slot = self.slot(at);
                slot.evidence.add(record.label, term.count);
                self.put_slot(at, slot);
            } else {
                let mut evidence =
                    FeatureStatistics { pairs: term.makeup.pairs, ..FeatureStatistics::default() };
                evidence.add(record.label, term.count);
                self.insert(Slot { id: term.id.0, weight: 0.0, evidence });
            }
            if self.numbers.counts_ordinary && self.numbers.blend > 0.0 {
                self.touched.push(term.id.0);
            }
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
        let documents = self.numbers.documents;
        let mut shuffle = SplitMix64::new(u64::from(documents));
        let others = (documents as usize).saturating_sub(1);
        for _ in 0..REPLAYED.min(others) {
            let other = shuffle.below(others);
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

    /// One step for document `number`.
    fn step(&mut self, number: usize, record: &Record) {
        let (places, mut fit, cells, row) = self.fit_of(record);
        let duals = self.duals(number);
        fit.duals.push(duals);
        fit.step(0, &cells, &row, side_of(record.label), self.numbers.cost);
        self.put_weights(&places, &fit);
        if fit.duals[0] != duals {
            self.put_duals(number, fit.duals[0]);
        }
    }

    /// Takes back what document `number`, learned as `label`, has done to the weights.
    fn undo(&mut self, number: usize, label: u32, record: &Record) {
        let (places, mut fit, cells, row) = self.fit_of(record);
        let [presence, counts] = self.duals(number).map(|dual| -side_of(label) * f64::from(dual));
        fit.add(&cells, &row, presence, counts);
        self.put_weights(&places, &fit);
        self.put_duals(number, [0.0; 2]);
    }

    /// The fit as far as a document's features have a part in it: their slots, the fit, the cells
    /// of the document, and the factors of its views.
    fn fit_of(&mut self, record: &Record) -> (Vec<usize>, Fit, Vec<Cell>, Row) {
        let documents = self.numbers.documents as usize;
        let sides = self.numbers.sides.map(|side| side as usize);
        let distinct = u32::try_from(record.terms.len()).unwrap_or(u32::MAX);
        let Numbers { max_order, length, scoring, .. } = self.numbers;
        let mut row = Row::new(scoring, distinct, record.occurrences, max_order, length);
        let mut places = Vec::with_capacity(record.terms.len());
        let weights = Vec::with_capacity(record.terms.len());
        let mut fit = Fit { weights, bias: self.numbers.bias, duals: Vec::new() };
        let mut cells = Vec::with_capacity(record.terms.len());
        let (mut ones, mut counts, mut squares) = (0.0, 0.0, 0.0);
        for term in &record.terms {
            let Ok(at) = self.find(term.id.0) else { continue };
            let slot = self.slot(at);
            let mut scale = scale(documents, slot.evidence.all_documents());
            if scale == 0.0 {
                continue;
            }
            if self.numbers.contrast {
                let [first, second] = slot.evidence.documents;
                scale *= contrast([(second, sides[1]), (first, sides[0])]);
            }
            let (wide, count) = (f64::from(scale), f64::from(term.count));
            ones += wide;
            counts += wide * count;
            squares += wide * count * count;
            let feature = u32::try_from(places.len()).unwrap_or(u32::MAX);
            cells.push(Cell { feature, count: term.count });
            fit.weights.push(Weight { value: slot.weight, scale });
            places.push(at);
        }
        row.set_squares(ones, counts, squares);
        (places, fit, cells, row)
    }

    /// Takes over the weights of a fit of the features in the slots `places`, and its bias.
    fn put_weights(&mut self, places: &[usize], fit: &Fit) {
        for (&at, weight) in places.iter().zip(&fit.weights) {
            let slot = self.slot(at);
            if slot.weight.to_bits() != weight.value.to_bits() {
                self.put_slot(at, Slot { weight: weight.value, ..slot });
                self.touched.push(slot.id);
            }
        }
        self.numbers.bias = fit.bias;
    }

    /// New weights in the two categories of all features whose weights may have changed, sorted by
    /// id; none of a feature's weights is below 0, one of them is 0.
    pub fn changes(&mut self) -> Vec<(FeatureId, [QuantWeight; 2])> {
        self.touched.sort_unstable();
        self.touched.dedup();
        let per_weight = self.numbers.length / f64::from(self.numbers.max_order);
        let touched = std::mem::take(&mut self.touched);
        let numbers = self.numbers;
        let mut changes = Vec::with_capacity(touched.len());
        for id in touched {
            let Ok(at) = self.find(id) else { continue };
            let Slot { weight, evidence, .. } = self.slot(at);
            let ordinary = if numbers.counts_ordinary {
                let [first, second] = [0, 1].map(|at| numbers.ordinary_weight(at, &evidence));
                numbers.blend * (second - first)
            } else {
                f64::from(evidence.ordinary)
            };
            let difference = ordinary + f64::from(weight) * per_weight;
            let weights = stored_pair(difference, numbers.scoring == Scoring::Once);
            changes.push((FeatureId(id), weights));
        }
        changes
    }

    /// log Z of the two categories, nats.
    pub fn log_partitions(&self) -> [f64; 2] {
        let per_weight = self.numbers.length / f64::from(self.numbers.max_order);
        let half = super::dataset::BIAS_INPUT * per_weight * self.numbers.bias / 2.0;
        let [first, second] = self.numbers.log_partitions;
        [first + half, second - half]
    }

    /// The head, without its checksum.
    #[allow(clippy::cast_possible_truncation)] // tables of 32-bit ids
    fn head(&self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        bytes[..MAGIC.len()].copy_from_slice(MAGIC);
        let numbers = &self.numbers;
        for (place, word) in
            [numbers.set, numbers.ledger.state(), numbers.ledger_length].into_iter().enumerate()
        {
            LittleEndian::write_u64(&mut bytes[16 + 8 * place..], word);
        }
        let Numbers { documents, features, fitted, .. } = *numbers;
        let [capacity, document_capacity] =
            [self.capacity, self.document_capacity].map(|size| size as u32);
        let [first, second] = numbers.sides;
        let words = [documents, features, fitted, capacity, document_capacity, first, second];
        for (place, word) in words.into_iter().enumerate() {
            LittleEndian::write_u32(&mut bytes[40 + 4 * place..], word);
        }
        bytes[68] = numbers.max_order;
        bytes[69] = u8::from(numbers.scoring == Scoring::Once) | u8::from(numbers.contrast) << 1;
        bytes[70] = u8::from(numbers.counts_ordinary);
        let Numbers { cost, blend, length, bias, .. } = *numbers;
        let [z1, z2] = numbers.log_partitions;
        let [n1, n2] = numbers.totals;
        let [r1, r2] = numbers.rises;
        let reals = [cost, blend, length, bias, z1, z2, n1, n2, r1, r2];
        for (place, value) in reals.into_iter().enumerate() {
            LittleEndian::write_f64(&mut bytes[72 + 8 * place..], value);
        }
        bytes
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

    /// Opens a state, with what has changed since `file` was written, if that is told; `None` when
    /// its head is damaged. Changes that are damaged, or of another file, are passed over.
    pub fn open(file: Box<dyn ReadAt>, length: usize, changes: Vec<u8>) -> Option<Self> {
        let mut head = [0; HEAD];
        file.read_at(&mut head, 0).ok()?;
        let (numbers, [capacity, document_capacity]) = Self::numbers(&head)?;
        let fits = capacity.max(document_capacity) <= length;
        let blocks = fits.then(|| blocks(document_capacity, capacity))?;
        if blocks_at(HEAD, blocks) + blocks * BLOCK != length {
            return None;
        }
        let pages = Pages::open(file, &head, blocks)?;
        let touched = Vec::new();
        let mut state = Self { numbers, pages, capacity, document_capacity, touched };
        if let Some(head) = state.pages.take_changes(changes, HEAD) {
            let (numbers, capacities) = Self::numbers(&head)?;
            if capacities != [capacity, document_capacity] {
                return None;
            }
            state.numbers = numbers;
        }
        Some(state)
    }

    /// Reads a state and checks all of it; `None` when it is damaged.
    pub fn parse(bytes: Vec<u8>) -> Option<Self> {
        let length = bytes.len();
        let mut state = Self::open(Box::new(bytes), length, Vec::new())?;
        state.pages.read_all();
        (!state.pages.is_damaged()).then_some(state)
    }

    /// The numbers of a head, and how many slots and documents there is room for; `None` when they
    /// are impossible.
    fn numbers(head: &[u8]) -> Option<(Numbers, [usize; 2])> {
        if !head.starts_with(MAGIC) {
            return None;
        }
        let real = |place: usize| LittleEndian::read_f64(&head[72 + 8 * place..]);
        let word = |place: usize| LittleEndian::read_u32(&head[40 + 4 * place..]);
        let numbers = Numbers {
            set: LittleEndian::read_u64(&head[16..]),
            ledger: Checksum::from_state(LittleEndian::read_u64(&head[24..])),
            ledger_length: LittleEndian::read_u64(&head[32..]),
            cost: real(0),
            blend: real(1),
            length: real(2),
            bias: real(3),
            log_partitions: [real(4), real(5)],
            totals: [real(6), real(7)],
            rises: [real(8), real(9)],
            counts_ordinary: head[70] == 1,
            documents: word(0),
            features: word(1),
            fitted: word(2),
            sides: [word(5), word(6)],
            max_order: head[68],
            scoring: if head[69] & 1 == 1 { Scoring::Once } else { Scoring::Counts },
            contrast: head[69] & 2 == 2,
        };
        let [capacity, document_capacity] = [3, 4].map(|place| word(place) as usize);
        let is_possible = (1..8).contains(&numbers.max_order)
            && numbers.features as usize <= capacity
            && numbers.documents as usize <= document_capacity;
        is_possible.then_some((numbers, [capacity, document_capacity]))
    }
}

/// Where each record stands in a ledger's body, and its name.
///
/// # Errors
/// A damaged record.
pub fn documents(ledger: &ledger::Ledger) -> Result<Vec<(u64, u64)>, ledger::Fault> {
    let mut documents = Vec::new();
    let mut at = 0;
    ledger.each(|record, bytes| {
        documents.push((at, record.fingerprint));
        at += bytes.len() as u64;
        true
    })?;
    Ok(documents)
}

/// By how much the ordinary weights of a feature differ, times `blend`.
pub fn ordinary_part(first: QuantWeight, second: QuantWeight, blend: f64) -> f32 {
    narrow(blend * (f64::from(second.weight()) - f64::from(first.weight())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::joint::blend::stored;
    use crate::joint::documents::Term;
    use std::collections::BTreeMap;

    fn numbers() -> Numbers {
        Numbers {
            set: 0,
            ledger: Checksum::default(),
            ledger_length: 0,
            cost: 1.0,
            blend: 0.0,
            length: 2.0,
            bias: 0.0,
            log_partitions: [1.0, 1.0],
            totals: [1.0, 1.0],
            rises: [3.0, 3.0],
            counts_ordinary: true,
            max_order: 1,
            scoring: Scoring::Counts,
            contrast: false,
            documents: 0,
            sides: [0, 0],
            fitted: 0,
            features: 0,
        }
    }

    fn empty() -> State {
        let data = Dataset::new(crate::joint::documents::Corpus::default(), 2, 1);
        let fit = Fit { weights: Vec::new(), bias: 0.0, duals: Vec::new() };
        State::new(numbers(), &data, &fit, &[], &[])
    }

    /// Document k of either side: a word of the side, a common word and a word of its own.
    fn record(k: u32) -> Record {
        let label = k % 2;
        let term = |id| Term::new(FeatureId(id), 1, 1);
        let terms = vec![term(10 + label), term(20), term(1000 + k)];
        Record { label, occurrences: 3, terms, fingerprint: 0 }
    }

    #[test]
    fn sides_are_told_apart_one_document_at_a_time() {
        let mut state = empty();
        let mut written = BTreeMap::new();
        for k in 0..40 {
            state.learn(&record(k), u64::from(k), |offset| {
                Some(record(u32::try_from(offset).unwrap()))
            });
            written.extend(state.changes());
        }
        let [first, second] = written[&FeatureId(11)].map(QuantWeight::weight);
        assert!(first == 0.0 && second > 0.2, "{second}");
        let [first, second] = written[&FeatureId(10)].map(QuantWeight::weight);
        assert!(first > 0.2 && second == 0.0, "{first}");
        assert!(!written.contains_key(&FeatureId(1000)), "rare features have no weight");
        assert!(state.changes().is_empty());
    }

    #[test]
    fn a_document_can_change_sides() {
        let mut state = empty();
        for k in 0..40 {
            state.learn(&record(k), u64::from(k), |_| None);
        }
        // Document 3 was on the second side; its words are on the first one now.
        let moved = Record { label: 0, ..record(3) };
        let before = state.numbers;
        state.relabel(3, &moved, 99, |_| None);
        let Numbers { documents, sides, totals, .. } = state.numbers;
        assert_eq!((documents, sides, state.offset(3)), (40, [21, 19], 99));
        assert_eq!(totals, [before.totals[0] + 3.0, before.totals[1] - 3.0]);
        let own = state.find(11).unwrap();
        assert_eq!(state.slot(own).evidence.documents, [1, 19]);
        // Taken back, it is as if it had never been there, but for rounding.
        let (mut one, mut other) = (empty(), empty());
        for k in 0..9 {
            one.learn(&record(k), u64::from(k), |_| None);
            other.learn(&record(k), u64::from(k), |_| None);
        }
        let weights = |state: &mut State| -> Vec<f32> {
            let ids = [10, 11, 20].map(|id| state.find(id).unwrap());
            ids.map(|at| state.slot(at).weight).to_vec()
        };
        let last = one.fit_of(&record(8)).1;
        one.step(8, &record(8));
        assert_ne!(one.fit_of(&record(8)).1, last);
        let before = weights(&mut other);
        let duals = other.duals(8);
        other.undo(8, 0, &record(8));
        assert!(duals != [0.0; 2] && other.duals(8) == [0.0; 2]);
        assert_ne!(weights(&mut other), before);
        let (places, mut fit, cells, row) = other.fit_of(&record(8));
        fit.add(&cells, &row, -f64::from(duals[0]), -f64::from(duals[1]));
        other.put_weights(&places, &fit);
        for (one, other) in weights(&mut other).iter().zip(before) {
            assert!((one - other).abs() < 1e-6, "{one} {other}");
        }
    }

    #[test]
    fn what_was_written_reads_the_same_and_damage_is_found() {
        let mut state = empty();
        state.numbers.contrast = true;
        for k in 0..5 {
            state.learn(&record(k), u64::from(k), |_| None);
        }
        let bytes = bytes_of(&mut state);
        assert!(state.is_due(), "it is not in a file yet");
        let mut read = State::parse(bytes.clone()).unwrap();
        assert_eq!(read.numbers, state.numbers);
        assert_eq!(bytes_of(&mut read), bytes);
        for at in (0..bytes.len()).step_by(97) {
            assert!(State::parse(bytes[..at].to_vec()).is_none());
            let mut damaged = bytes.clone();
            damaged[at] ^= 4;
            assert!(State::parse(damaged).is_none(), "{at}");
        }
    }

    fn open(file: &[u8], changes: &[u8]) -> State {
        State::open(Box::new(file.to_vec()), file.len(), changes.to_vec()).unwrap()
    }

    #[test]
    fn changes_and_the_file_make_the_file_that_is_written_as_a_whole() {
        let mut state = empty();
        for k in 0..500 {
            state.learn(&record(k), u64::from(k), |_| None);
        }
        let mut file = bytes_of(&mut state);
        let (mut changes, mut folds) = (Vec::new(), 0);
        for k in 500..530 {
            let mut read = open(&file, &changes);
            for state in [&mut state, &mut read] {
                state.learn(&record(k), u64::from(k), |_| Some(record(k - 100)));
                assert!(!state.is_damaged());
            }
            changes.clear();
            if read.is_due() {
                file = bytes_of(&mut read);
                folds += 1;
            } else {
                read.write_changes(&mut changes).unwrap();
                assert!(changes.len() < file.len() / 3, "{} of {}", changes.len(), file.len());
            }
            let mut read = open(&file, &changes);
            assert_eq!(read.numbers, state.numbers);
            assert_eq!(bytes_of(&mut read), bytes_of(&mut state));
        }
        assert!(folds > 0 && !changes.is_empty(), "{folds}");
        // Of changes that are damaged nothing is taken.
        changes[100] ^= 1;
        let mut read = open(&file, &changes);
        assert!(read.numbers.documents < 530);
        assert_eq!(bytes_of(&mut read), file);
    }

    fn bytes_of(state: &mut State) -> Vec<u8> {
        let mut bytes = Vec::new();
        state.write(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn ordinary_weights_keep_up_with_the_counts() {
        let mut state = empty();
        state.numbers.blend = 0.5;
        let term = |id, count, pairs| {
            let makeup = crate::joint::documents::Makeup {
                order: 1,
                medium: 1,
                pairs,
                second: FeatureId(0),
            };
            Term { id: FeatureId(id), count, makeup }
        };
        for (label, terms) in [(0, vec![term(1, 2, 3), term(2, 6, 2)]), (1, vec![term(1, 4, 3)])] {
            let occurrences = terms.iter().map(|term| term.count).sum();
            let record = Record { label, occurrences, terms, fingerprint: 0 };
            state.numbers.cost = 1e-9; // the fit stays out of it
            state.learn(&record, 0, |_| None);
        }
        // Totals start from 1 here: the logarithms of counts and shares differ by 2/9 and 4/5.
        let grid = |x: f64| (x * 32.0).floor() / 32.0;
        let weight = |share: f64, pairs: f64| grid(share.ln() + 177.0 / 32.0 * pairs + 3.0);
        let seen = weight(4.0 / 5.0, 3.0) - weight(2.0 / 9.0, 3.0);
        let alone = weight(6.0 / 9.0, 2.0);
        let changes = state.changes();
        assert_eq!(
            changes,
            [
                (FeatureId(1), [stored(0.0), stored(0.5 * seen)]),
                (FeatureId(2), [stored(0.5 * alone), stored(0.0)]),
            ]
        );
    }

    #[test]
    fn the_rise_is_that_of_most_features() {
        let numbers = Numbers { totals: [1000.0, 1.0], rises: [3.3125, 0.0], ..numbers() };
        let evidence = |count, pairs| FeatureStatistics {
            counts: [count, 0],
            pairs,
            ..FeatureStatistics::default()
        };
        let mut learned: Vec<(FeatureStatistics, QuantWeight)> = (1..60)
            .map(|count| evidence(count, 2 + (count % 5) as u8))
            .map(|evidence| (evidence, stored(numbers.ordinary_weight(0, &evidence))))
            .collect();
        let pairs = |learned: &[(FeatureStatistics, QuantWeight)]| {
            numbers.rise(0, learned.iter().map(|(evidence, weight)| (evidence, *weight)))
        };
        let rise = pairs(&learned);
        assert!(rise <= 3.3125 && rise > 3.3125 - 1.0 / 64.0, "{rise}");
        // Its weight was learned from another text.
        learned.push((evidence(3, 4), stored(100.0)));
        assert_eq!(pairs(&learned).to_bits(), rise.to_bits());
        assert_eq!(pairs(&[]).to_bits(), 0.0f64.to_bits());
        let again = Numbers { rises: [rise, 0.0], ..numbers };
        for (evidence, weight) in &learned[..59] {
            assert_eq!(stored(again.ordinary_weight(0, evidence)), *weight);
        }
    }

    #[test]
    fn what_is_known_of_a_feature_fits_into_twelve_bytes() {
        let round_trip = |evidence: FeatureStatistics, counts_ordinary| {
            let mut bytes = [0; 12];
            evidence.write(&mut bytes, counts_ordinary);
            FeatureStatistics::read(&bytes, counts_ordinary)
        };
        for (documents, counts, pairs) in [
            ([0, 0], [0, 0], 0),
            ([1, 0], [1, 0], 9),
            ([DOCUMENTS, 3], [COUNTS, 7], 255),
            ([5, DOCUMENTS], [3, COUNTS], 1),
        ] {
            let evidence = FeatureStatistics { documents, counts, pairs, ordinary: 0.0 };
            assert_eq!(round_trip(evidence, true), evidence);
            let fixed = FeatureStatistics { documents, counts: [0; 2], pairs: 0, ordinary: -1.5 };
            assert_eq!(round_trip(fixed, false), fixed);
        }
        let large = FeatureStatistics {
            documents: [u32::MAX; 2],
            counts: [u32::MAX; 2],
            ..FeatureStatistics::default()
        };
        let read = round_trip(large, true);
        assert_eq!((read.documents, read.counts), ([DOCUMENTS; 2], [COUNTS; 2]));
    }

    #[test]
    fn both_tables_grow() {
        let mut state = empty();
        for k in 0..10_000 {
            state.learn(&record(k % 5000), u64::from(k), |_| None);
        }
        assert_eq!((state.numbers.features, state.numbers.documents), (5003, 10_000));
        let named = Record { fingerprint: 7, ..record(3) };
        state.learn(&named, 12, |_| None);
        let last = state.names().split_off(9_999);
        assert_eq!((last, state.offset(10_000)), (vec![0, 7], 12));
        assert!(State::parse(bytes_of(&mut state)).is_some());
    }
}
