// SPDX-License-Identifier: GPL-3.0-or-later
//! Learning one document at a time: the state of a fit of two categories, kept beside the ledger.
//!
//! Weights, document frequencies and dual variables live in one block of bytes, which is the file as it
//! is. An update reads and checks it whole, and writes the blocks that it has changed, behind a checksum
//! that it has made invalid before: a stop in between is found out. All of it can be made anew from the
//! ledger; a state that is damaged or does not fit the ledger is thrown away.
//!
//! ```text
//! "# dbacl state 2\n", head of 112 bytes, its last 8 a checksum of all
//! slots of 16 bytes       id u32, documents u32, weight f32, ordinary part f32
//! ids of 4 bytes          features that only one document has, or had
//! documents x 16 bytes    offset in the ledger's body u64, dual variables f32, f32
//! ```
//!
//! The checksum adds up a mix of each entry and its place, so that changing an entry changes it in no
//! more time.

use super::blend::stored;
use super::checksum::Checksum;
use super::dataset::{Dataset, Row, scale};
use super::ledger::{self, Record};
use super::scoring::Scoring;
use super::solver::{Duals, Fit, Shuffle};
use crate::numeric::elementary::narrow;
use crate::numeric::quantize::QuantWeight;
use crate::token::id::FeatureId;
use byteorder::{ByteOrder, LittleEndian};
use std::io::{self, Write};

/// How a state begins.
pub const MAGIC: &[u8] = b"# dbacl state 2\n";

/// How states of any version begin.
pub const KIND: &[u8] = b"# dbacl state ";

/// Bytes before the slots.
pub const HEAD: usize = 128;

/// Where the checksum stands in the head.
pub const SUM: usize = HEAD - 8;

/// Bytes that are written at a time.
const BLOCK: usize = 4096;

/// Bytes of a slot, and of a document.
const ENTRY: usize = 16;

/// Bytes of a rare feature.
const RARE_ENTRY: usize = 4;

/// Old documents that are looked at again with every new one.
pub const REPLAYED: usize = 10;

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
    /// Highest order of the categories.
    pub max_order: u8,
    /// What documents are fitted for.
    pub scoring: Scoring,
    /// Documents.
    pub documents: u32,
    /// Documents of the last full fit.
    pub fitted: u32,
    /// Features that two or more documents have.
    pub features: u32,
    /// Features that were rare at some time.
    pub rare: u32,
}

/// The state of a fit.
#[derive(Debug, Clone)]
pub struct State {
    /// The numbers.
    pub numbers: Numbers,
    /// The file; the head is filled in when it is written.
    bytes: Vec<u8>,
    /// Slots, and places for rare features.
    capacity: usize,
    rare_capacity: usize,
    /// Checksum of all entries.
    sum: u64,
    /// Which blocks have changed; all of them if the tables were made anew.
    changed: Vec<bool>,
    is_new: bool,
    /// Features whose weights may have changed, with repeats.
    touched: Vec<u32>,
}

/// Room for `entries` of a table, and half as many more.
fn room(entries: usize) -> usize {
    (entries + entries / 2).next_multiple_of(4).max(4096)
}

/// Whether one more entry makes a table too full.
const fn is_full(entries: u32, capacity: usize) -> bool {
    (entries as usize + 1) * 5 > capacity * 4
}

/// Where the search for `id` begins in a table.
#[allow(clippy::cast_possible_truncation)] // below the capacity
const fn first_place(id: u32, capacity: usize) -> usize {
    ((id.wrapping_mul(0x9e37_79b1) as u64 * capacity as u64) >> 32) as usize
}

/// What an entry at byte `at` adds to the checksum; empty ones add nothing.
#[allow(clippy::cast_possible_truncation)] // both halves are used
const fn mixed(at: usize, first: u64, second: u64) -> u64 {
    if first | second == 0 {
        return 0;
    }
    let first = first ^ (at as u64) << 32 ^ 0x9e37_79b9_7f4a_7c15;
    let product = first as u128 * (second ^ 0xbf58_476d_1ce4_e5b9) as u128;
    product as u64 ^ (product >> 64) as u64
}

fn mixed_entry(at: usize, entry: &[u8]) -> u64 {
    mixed(at, LittleEndian::read_u64(entry), LittleEndian::read_u64(&entry[8..]))
}

/// A slot, read.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Slot {
    id: u32,
    documents: u32,
    weight: f32,
    ordinary: f32,
}

impl Slot {
    fn read(bytes: &[u8]) -> Self {
        Self {
            id: LittleEndian::read_u32(bytes),
            documents: LittleEndian::read_u32(&bytes[4..]),
            weight: LittleEndian::read_f32(&bytes[8..]),
            ordinary: LittleEndian::read_f32(&bytes[12..]),
        }
    }

    fn write(self, bytes: &mut [u8]) {
        LittleEndian::write_u32(bytes, self.id);
        LittleEndian::write_u32(&mut bytes[4..], self.documents);
        LittleEndian::write_f32(&mut bytes[8..], self.weight);
        LittleEndian::write_f32(&mut bytes[12..], self.ordinary);
    }
}

impl State {
    /// The state of a full fit. `rare` are the features that only one document has, `ordinary` gives
    /// the ordinary part of a feature; `offsets` tell where the documents stand in the ledger's body.
    pub fn new(
        numbers: Numbers,
        data: &Dataset,
        fit: &Fit,
        rare: &[FeatureId],
        ordinary: impl Fn(FeatureId) -> f32,
        offsets: &[u64],
    ) -> Self {
        let numbers = Numbers { documents: 0, features: 0, rare: 0, ..numbers };
        let mut state = Self::empty(numbers, room(data.ids.len()), room(rare.len()));
        state.bytes.reserve(offsets.len() * ENTRY);
        for (feature, &id) in data.ids.iter().enumerate() {
            let slot = Slot {
                id: id.0,
                documents: data.document_frequencies[feature],
                weight: fit.weights[feature].value,
                ordinary: ordinary(id),
            };
            state.insert(slot);
        }
        for id in rare {
            state.is_second(id.0);
        }
        for (offset, duals) in offsets.iter().zip(&fit.duals) {
            state.push_document(*offset, *duals);
        }
        state
    }

    fn empty(numbers: Numbers, capacity: usize, rare_capacity: usize) -> Self {
        let length = HEAD + capacity * ENTRY + rare_capacity * RARE_ENTRY;
        Self {
            numbers,
            bytes: vec![0; length],
            capacity,
            rare_capacity,
            sum: 0,
            changed: Vec::new(),
            is_new: true,
            touched: Vec::new(),
        }
    }

    /// Where the rare features begin.
    const fn rare_at(&self) -> usize {
        HEAD + self.capacity * ENTRY
    }

    /// Where the documents begin.
    const fn documents_at(&self) -> usize {
        self.rare_at() + self.rare_capacity * RARE_ENTRY
    }

    /// Writes an entry at byte `at`.
    fn put(&mut self, at: usize, entry: &[u8; ENTRY]) {
        let place = &mut self.bytes[at..at + ENTRY];
        let gone = mixed_entry(at, place);
        place.copy_from_slice(entry);
        self.sum = self.sum.wrapping_sub(gone).wrapping_add(mixed_entry(at, entry));
        self.mark(at);
    }

    /// No entry lies in two blocks.
    fn mark(&mut self, at: usize) {
        let block = at / BLOCK;
        if block >= self.changed.len() {
            self.changed.resize(block + 1, false);
        }
        self.changed[block] = true;
    }

    fn slot(&self, at: usize) -> Slot {
        Slot::read(&self.bytes[HEAD + at * ENTRY..])
    }

    fn put_slot(&mut self, at: usize, slot: Slot) {
        let mut entry = [0; ENTRY];
        slot.write(&mut entry);
        self.put(HEAD + at * ENTRY, &entry);
    }

    /// Moves everything into larger tables.
    fn grow(&mut self) {
        let capacity = room(self.numbers.features as usize).max(self.capacity);
        let rare_capacity = room(self.numbers.rare as usize).max(self.rare_capacity);
        let mut larger = Self::empty(self.numbers, capacity, rare_capacity);
        for at in 0..self.capacity {
            let slot = self.slot(at);
            if slot.id != 0 {
                let at = larger.find(slot.id);
                larger.put_slot(at, slot);
            }
        }
        for at in 0..self.rare_capacity {
            let id = self.rare(at);
            if id != 0 {
                let at = larger.find_rare(id);
                larger.put_rare(at, id);
            }
        }
        for entry in self.bytes[self.documents_at()..].chunks_exact(ENTRY) {
            larger.push_entry(entry);
        }
        larger.touched = std::mem::take(&mut self.touched);
        *self = larger;
    }

    /// Where `id` stands, or the empty slot where it would.
    fn find(&self, id: u32) -> usize {
        let mut at = first_place(id, self.capacity);
        loop {
            let found = LittleEndian::read_u32(&self.bytes[HEAD + at * ENTRY..]);
            if found == id || found == 0 {
                return at;
            }
            at = if at + 1 == self.capacity { 0 } else { at + 1 };
        }
    }

    /// Adds a feature that is not there.
    fn insert(&mut self, slot: Slot) {
        if is_full(self.numbers.features, self.capacity) {
            self.grow();
        }
        let at = self.find(slot.id);
        self.put_slot(at, slot);
        self.numbers.features += 1;
    }

    fn rare(&self, at: usize) -> u32 {
        LittleEndian::read_u32(&self.bytes[self.rare_at() + at * RARE_ENTRY..])
    }

    /// Writes an id into an empty place.
    fn put_rare(&mut self, at: usize, id: u32) {
        let at = self.rare_at() + at * RARE_ENTRY;
        LittleEndian::write_u32(&mut self.bytes[at..], id);
        self.sum = self.sum.wrapping_add(mixed(at, u64::from(id), 0));
        self.mark(at);
    }

    /// Where `id` stands among the rare features, or the empty place where it would.
    fn find_rare(&self, id: u32) -> usize {
        let mut at = first_place(id, self.rare_capacity);
        loop {
            let found = self.rare(at);
            if found == id || found == 0 {
                return at;
            }
            at = if at + 1 == self.rare_capacity { 0 } else { at + 1 };
        }
    }

    /// Takes note that a document has a feature which is not in the table; returns whether it is the
    /// second one. Features that become frequent stay where they are; the table is looked at first.
    fn is_second(&mut self, id: u32) -> bool {
        if self.rare(self.find_rare(id)) == id {
            return true;
        }
        if is_full(self.numbers.rare, self.rare_capacity) {
            self.grow();
        }
        let at = self.find_rare(id);
        self.put_rare(at, id);
        self.numbers.rare += 1;
        false
    }

    fn push_document(&mut self, offset: u64, duals: Duals) {
        let mut bytes = [0; ENTRY];
        LittleEndian::write_u64(&mut bytes, offset);
        LittleEndian::write_f32(&mut bytes[8..], duals[0]);
        LittleEndian::write_f32(&mut bytes[12..], duals[1]);
        self.push_entry(&bytes);
        self.numbers.documents += 1;
    }

    fn push_entry(&mut self, entry: &[u8]) {
        let at = self.bytes.len();
        self.bytes.extend_from_slice(entry);
        self.sum = self.sum.wrapping_add(mixed_entry(at, entry));
        self.mark(at);
    }

    /// Offset in the ledger's body of document `number`.
    pub fn offset(&self, number: usize) -> u64 {
        LittleEndian::read_u64(&self.bytes[self.documents_at() + number * ENTRY..])
    }

    /// Learns a document of the ledger that is new at `offset`, then looks again at some old ones,
    /// which `old` finds. Numbers of features' documents are those of this moment. `ordinary` gives the
    /// ordinary part of a feature that was rare until now.
    pub fn learn(
        &mut self,
        record: &Record,
        offset: u64,
        ordinary: impl Fn(FeatureId) -> f32,
        mut old: impl FnMut(u64) -> Option<Record>,
    ) {
        for term in &record.terms {
            let at = self.find(term.id.0);
            let slot = self.slot(at);
            if slot.id != 0 {
                let documents = slot.documents.saturating_add(1);
                self.put_slot(at, Slot { documents, ..slot });
            } else if self.is_second(term.id.0) {
                let ordinary = ordinary(term.id);
                self.insert(Slot { id: term.id.0, documents: 2, weight: 0.0, ordinary });
            }
        }
        let number = self.numbers.documents as usize;
        self.push_document(offset, [0.0; 2]);
        self.step(number, record);
        let mut shuffle = Shuffle(u64::from(self.numbers.documents));
        for _ in 0..REPLAYED.min(number) {
            let other = shuffle.below(number);
            if let Some(record) = old(self.offset(other)) {
                self.step(other, &record);
            }
        }
        self.step(number, record);
    }

    /// One step for document `number`.
    fn step(&mut self, number: usize, record: &Record) {
        let documents = self.numbers.documents as usize;
        let distinct = u32::try_from(record.terms.len()).unwrap_or(u32::MAX);
        let Numbers { max_order, length, scoring, .. } = self.numbers;
        let mut row = Row::new(scoring, distinct, record.occurrences, max_order, length);
        let mut places = Vec::with_capacity(record.terms.len());
        let mut fit = Fit { weights: Vec::new(), bias: self.numbers.bias, duals: Vec::new() };
        let mut cells = Vec::with_capacity(record.terms.len());
        let (mut ones, mut counts, mut squares) = (0.0, 0.0, 0.0);
        for term in &record.terms {
            let at = self.find(term.id.0);
            let slot = self.slot(at);
            let scale = scale(documents, slot.documents);
            if slot.id == 0 || scale == 0.0 {
                continue;
            }
            let (wide, count) = (f64::from(scale), f64::from(term.count));
            ones += wide;
            counts += wide * count;
            squares += wide * count * count;
            let feature = u32::try_from(places.len()).unwrap_or(u32::MAX);
            cells.push(super::dataset::Cell { feature, count: term.count });
            fit.weights.push(super::solver::Weight { value: slot.weight, scale });
            places.push(at);
        }
        row.set_squares(ones, counts, squares);
        let document_at = self.documents_at() + number * ENTRY;
        let entry = &self.bytes[document_at..];
        fit.duals =
            vec![[LittleEndian::read_f32(&entry[8..]), LittleEndian::read_f32(&entry[12..])]];
        let side = if record.label == 1 { 1.0 } else { -1.0 };
        fit.step(0, &cells, &row, side, self.numbers.cost);
        for (at, weight) in places.into_iter().zip(&fit.weights) {
            let slot = self.slot(at);
            if slot.weight != weight.value {
                self.put_slot(at, Slot { weight: weight.value, ..slot });
                self.touched.push(slot.id);
            }
        }
        self.numbers.bias = fit.bias;
        let mut entry = [0; ENTRY];
        entry.copy_from_slice(&self.bytes[document_at..][..ENTRY]);
        LittleEndian::write_f32(&mut entry[8..], fit.duals[0][0]);
        LittleEndian::write_f32(&mut entry[12..], fit.duals[0][1]);
        if entry != self.bytes[document_at..][..ENTRY] {
            self.put(document_at, &entry);
        }
    }

    /// New weights in the two categories of all features whose weights may have changed, sorted by
    /// id; none of a feature's weights is below 0, one of them is 0.
    pub fn changes(&mut self) -> Vec<(FeatureId, [QuantWeight; 2])> {
        self.touched.sort_unstable();
        self.touched.dedup();
        let per_weight = self.numbers.length / f64::from(self.numbers.max_order);
        let touched = std::mem::take(&mut self.touched);
        let change = |id: u32| {
            let slot = self.slot(self.find(id));
            let difference = f64::from(slot.ordinary) + f64::from(slot.weight) * per_weight;
            (FeatureId(id), [stored(-difference), stored(difference)])
        };
        touched.into_iter().map(change).collect()
    }

    /// log Z of the two categories, nats.
    pub fn log_partitions(&self) -> [f64; 2] {
        let per_weight = self.numbers.length / f64::from(self.numbers.max_order);
        let half = super::dataset::BIAS_INPUT * per_weight * self.numbers.bias / 2.0;
        let [first, second] = self.numbers.log_partitions;
        [first + half, second - half]
    }

    /// Fills in the head.
    #[allow(clippy::cast_possible_truncation)] // tables of 32-bit ids
    fn seal(&mut self) {
        let sum = self.sum;
        let sizes = [self.capacity, self.rare_capacity];
        let bytes = &mut self.bytes[..HEAD];
        bytes.fill(0);
        bytes[..MAGIC.len()].copy_from_slice(MAGIC);
        let Numbers {
            set, ledger, ledger_length, cost, blend, length, bias, log_partitions, ..
        } = self.numbers;
        LittleEndian::write_u64(&mut bytes[16..], ledger.state());
        LittleEndian::write_u64(&mut bytes[24..], ledger_length);
        let [first, second] = log_partitions;
        for (place, value) in [cost, blend, length, bias, first, second].into_iter().enumerate() {
            LittleEndian::write_f64(&mut bytes[32 + 8 * place..], value);
        }
        let Numbers { documents, features, rare, fitted, .. } = self.numbers;
        let [capacity, rare_capacity] = sizes.map(|size| size as u32);
        let words = [documents, features, rare, fitted, capacity, rare_capacity];
        for (place, word) in words.into_iter().enumerate() {
            LittleEndian::write_u32(&mut bytes[80 + 4 * place..], word);
        }
        bytes[104] = self.numbers.max_order;
        bytes[105] = u8::from(self.numbers.scoring == Scoring::Once);
        LittleEndian::write_u64(&mut bytes[112..], set);
        let sum = sum.wrapping_add(Checksum::of(&bytes[..SUM]));
        LittleEndian::write_u64(&mut bytes[SUM..], sum);
    }

    /// Writes the file.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.seal();
        out.write_all(&self.bytes)
    }

    /// What has changed since the file was read: offsets and bytes, the head last. `None` if that is
    /// all of it.
    pub fn changed_parts(&mut self) -> Option<Vec<(usize, &[u8])>> {
        if self.is_new {
            return None;
        }
        self.seal();
        let mut ranges: Vec<std::ops::Range<usize>> = Vec::new();
        for block in (0..self.changed.len()).filter(|&block| self.changed[block]) {
            let start = (block * BLOCK).max(HEAD);
            let end = ((block + 1) * BLOCK).min(self.bytes.len());
            match ranges.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => ranges.push(start..end),
            }
        }
        ranges.push(0..HEAD);
        Some(ranges.into_iter().map(|range| (range.start, &self.bytes[range])).collect())
    }

    /// Reads a state; `None` when it is damaged.
    pub fn parse(bytes: Vec<u8>) -> Option<Self> {
        if !bytes.starts_with(MAGIC) || bytes.len() < HEAD {
            return None;
        }
        let real = |place: usize| LittleEndian::read_f64(&bytes[32 + 8 * place..]);
        let word = |place: usize| LittleEndian::read_u32(&bytes[80 + 4 * place..]);
        let numbers = Numbers {
            set: LittleEndian::read_u64(&bytes[112..]),
            ledger: Checksum::from_state(LittleEndian::read_u64(&bytes[16..])),
            ledger_length: LittleEndian::read_u64(&bytes[24..]),
            cost: real(0),
            blend: real(1),
            length: real(2),
            bias: real(3),
            log_partitions: [real(4), real(5)],
            documents: word(0),
            features: word(1),
            rare: word(2),
            fitted: word(3),
            max_order: bytes[104],
            scoring: if bytes[105] == 1 { Scoring::Once } else { Scoring::Counts },
        };
        let [capacity, rare_capacity] = [4, 5].map(|place| word(place) as usize);
        let rest = [(capacity, ENTRY), (rare_capacity, RARE_ENTRY), (word(0) as usize, ENTRY)];
        let mut length = HEAD;
        for (entries, size) in rest {
            length = length.checked_add(entries.checked_mul(size)?)?;
        }
        // The search for a feature ends at an empty slot.
        if length != bytes.len()
            || !(1..8).contains(&numbers.max_order)
            || rare_capacity % 4 != 0
            || numbers.features as usize >= capacity
            || numbers.rare as usize >= rare_capacity
        {
            return None;
        }
        let found = LittleEndian::read_u64(&bytes[SUM..]);
        let mut state = Self {
            numbers,
            bytes,
            capacity,
            rare_capacity,
            sum: 0,
            changed: Vec::new(),
            is_new: false,
            touched: Vec::new(),
        };
        let (features, rare) = state.add_up();
        let sum = state.sum.wrapping_add(Checksum::of(&state.bytes[..SUM]));
        let is_whole = sum == found && features == numbers.features && rare == numbers.rare;
        is_whole.then_some(state)
    }

    /// Adds up the checksum of all entries; returns how many features and rare features there are.
    fn add_up(&mut self) -> (u32, u32) {
        let (mut sum, mut features, mut rare) = (0u64, 0, 0);
        let (rare_at, documents_at) = (self.rare_at(), self.documents_at());
        for (place, entry) in self.bytes[HEAD..rare_at].chunks_exact(ENTRY).enumerate() {
            sum = sum.wrapping_add(mixed_entry(HEAD + place * ENTRY, entry));
            features += u32::from(LittleEndian::read_u32(entry) != 0);
        }
        let ids = self.bytes[rare_at..documents_at].chunks_exact(RARE_ENTRY);
        for (place, entry) in ids.enumerate() {
            let id = LittleEndian::read_u32(entry);
            sum = sum.wrapping_add(mixed(rare_at + place * RARE_ENTRY, u64::from(id), 0));
            rare += u32::from(id != 0);
        }
        for (place, entry) in self.bytes[documents_at..].chunks_exact(ENTRY).enumerate() {
            sum = sum.wrapping_add(mixed_entry(documents_at + place * ENTRY, entry));
        }
        self.sum = sum;
        (features, rare)
    }
}

/// Offsets of the records in a ledger's body.
///
/// # Errors
/// A damaged record.
pub fn offsets(ledger: &ledger::Ledger) -> Result<Vec<u64>, ledger::Fault> {
    let mut offsets = Vec::new();
    let mut at = 0;
    ledger.each(|_, bytes| {
        offsets.push(at);
        at += bytes.len() as u64;
        true
    })?;
    Ok(offsets)
}

/// By how much the ordinary weights of a feature differ, times `blend`.
pub fn ordinary_part(first: QuantWeight, second: QuantWeight, blend: f64) -> f32 {
    narrow(blend * (f64::from(second.weight()) - f64::from(first.weight())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refit::documents::Term;
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
            max_order: 1,
            scoring: Scoring::Counts,
            documents: 0,
            fitted: 0,
            features: 0,
            rare: 0,
        }
    }

    fn empty() -> State {
        let data = Dataset::new(crate::refit::documents::Corpus::default(), 2, 1);
        let fit = Fit { weights: Vec::new(), bias: 0.0, duals: Vec::new() };
        State::new(numbers(), &data, &fit, &[], |_| 0.0, &[])
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
            state.learn(
                &record(k),
                u64::from(k),
                |_| 0.0,
                |offset| Some(record(u32::try_from(offset).unwrap())),
            );
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
    fn what_was_written_reads_the_same_and_damage_is_found() {
        let mut state = empty();
        for k in 0..5 {
            state.learn(&record(k), u64::from(k), |_| 0.5, |_| None);
        }
        let bytes = bytes_of(&mut state);
        assert!(state.changed_parts().is_none(), "it is not in a file yet");
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

    #[test]
    fn changed_parts_make_the_file_that_is_written_as_a_whole() {
        let mut state = empty();
        for k in 0..500 {
            state.learn(&record(k), u64::from(k), |_| 0.5, |_| None);
        }
        let mut file = bytes_of(&mut state);
        let mut read = State::parse(file.clone()).unwrap();
        for k in 500..510 {
            read.learn(&record(k), u64::from(k), |_| 0.5, |_| Some(record(k - 100)));
        }
        let whole = bytes_of(&mut read);
        let parts = read.changed_parts().unwrap();
        let (last, before) = parts.split_last().unwrap();
        assert_eq!((last.0, last.1.len()), (0, HEAD), "the checksum comes last");
        let written: usize = parts.iter().map(|(_, part)| part.len()).sum();
        assert!(written < whole.len() / 2, "{written} of {}", whole.len());
        for (offset, part) in before {
            file.resize(file.len().max(offset + part.len()), 0);
            file[*offset..offset + part.len()].copy_from_slice(part);
            assert!(State::parse(file.clone()).is_none(), "half of the change is damage");
        }
        file[..HEAD].copy_from_slice(last.1);
        assert_eq!(file, whole);
    }

    fn bytes_of(state: &mut State) -> Vec<u8> {
        let mut bytes = Vec::new();
        state.write(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn both_tables_grow() {
        let mut state = empty();
        for k in 0..10_000 {
            state.learn(&record(k % 5000), u64::from(k), |_| 0.0, |_| None);
        }
        assert_eq!((state.numbers.features, state.numbers.rare), (5003, 5003));
        assert!(State::parse(bytes_of(&mut state)).is_some());
    }
}
