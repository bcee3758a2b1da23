// SPDX-License-Identifier: GPL-3.0-or-later
//! Learning one document at a time: the state of a fit of two categories, kept beside the ledger.
//!
//! Weights, document frequencies and dual variables live in one block of bytes that is read and
//! written as it is, so that an update costs no more than reading, changing and writing it. All of it
//! can be made anew from the ledger; a state that is damaged or does not fit the ledger is thrown away.
//!
//! ```text
//! "# dbacl state 1\n", head of 112 bytes
//! 2^bits slots of 16 bytes       id u32, documents u32, weight f32, ordinary part f32
//! 2^bits ids of 4 bytes          features that only one document has, or had
//! documents x 16 bytes           offset in the ledger's body u64, dual variables f32, f32
//! checksum u64                   of the three parts, one after the other
//! ```

use super::blend::stored;
use super::checksum::Checksum;
use super::dataset::{Dataset, Row, scale};
use super::ledger::{self, Record};
use super::solver::{Duals, Fit, Shuffle};
use crate::numeric::elementary::narrow;
use crate::numeric::quantize::QuantWeight;
use crate::token::id::FeatureId;
use byteorder::{ByteOrder, LittleEndian};
use std::io::{self, Write};

/// How a state begins.
pub const MAGIC: &[u8] = b"# dbacl state 1\n";

/// Bytes before the slots.
const HEAD: usize = 128;

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
    bits: u32,
    /// Room for the head, then the slots: read and written in one piece.
    slots: Vec<u8>,
    rare_bits: u32,
    rare: Vec<u8>,
    documents: Vec<u8>,
    /// Features whose weights may have changed, with repeats.
    touched: Vec<u32>,
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
        let mut state = Self {
            numbers: Numbers { documents: 0, features: 0, rare: 0, ..numbers },
            bits: 12,
            slots: vec![0; HEAD + (ENTRY << 12)],
            rare_bits: 12,
            rare: vec![0; RARE_ENTRY << 12],
            documents: Vec::with_capacity(offsets.len() * ENTRY),
            touched: Vec::new(),
        };
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

    fn slot(&self, at: usize) -> Slot {
        Slot::read(&self.slots[HEAD + at * ENTRY..])
    }

    fn slot_mut(&mut self, at: usize) -> &mut [u8] {
        &mut self.slots[HEAD + at * ENTRY..][..ENTRY]
    }

    /// Where `id` stands, or the empty slot where it would.
    fn find(&self, id: u32) -> usize {
        let mask = (1usize << self.bits) - 1;
        let mut at = (id.wrapping_mul(0x9e37_79b1) >> 7) as usize & mask;
        loop {
            let found = LittleEndian::read_u32(&self.slots[HEAD + at * ENTRY..]);
            if found == id || found == 0 {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds a feature that is not there. The table never fills to more than three quarters.
    fn insert(&mut self, slot: Slot) {
        if (self.numbers.features as usize + 1) * 4 > 3 << self.bits {
            self.bits += 1;
            let old = std::mem::replace(&mut self.slots, vec![0; HEAD + (ENTRY << self.bits)]);
            for bytes in old[HEAD..].chunks_exact(ENTRY) {
                let slot = Slot::read(bytes);
                if slot.id != 0 {
                    let at = self.find(slot.id);
                    slot.write(self.slot_mut(at));
                }
            }
        }
        let at = self.find(slot.id);
        slot.write(self.slot_mut(at));
        self.numbers.features += 1;
    }

    /// Where `id` stands among the rare features, or the empty place where it would.
    fn find_rare(&self, id: u32) -> usize {
        let mask = (1usize << self.rare_bits) - 1;
        let mut at = (id.wrapping_mul(0x9e37_79b1) >> 7) as usize & mask;
        loop {
            let found = LittleEndian::read_u32(&self.rare[at * RARE_ENTRY..]);
            if found == id || found == 0 {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    /// Takes note that a document has a feature which is not in the table; returns whether it is the
    /// second one. Features that become frequent stay where they are; the table is looked at first.
    fn is_second(&mut self, id: u32) -> bool {
        let mut at = self.find_rare(id);
        if LittleEndian::read_u32(&self.rare[at * RARE_ENTRY..]) == id {
            return true;
        }
        if (self.numbers.rare as usize + 1) * 4 > 3 << self.rare_bits {
            self.rare_bits += 1;
            let old = std::mem::replace(&mut self.rare, vec![0; RARE_ENTRY << self.rare_bits]);
            for bytes in old.chunks_exact(RARE_ENTRY) {
                let id = LittleEndian::read_u32(bytes);
                if id != 0 {
                    let at = self.find_rare(id);
                    LittleEndian::write_u32(&mut self.rare[at * RARE_ENTRY..], id);
                }
            }
            at = self.find_rare(id);
        }
        LittleEndian::write_u32(&mut self.rare[at * RARE_ENTRY..], id);
        self.numbers.rare += 1;
        false
    }

    fn push_document(&mut self, offset: u64, duals: Duals) {
        let mut bytes = [0; ENTRY];
        LittleEndian::write_u64(&mut bytes, offset);
        LittleEndian::write_f32(&mut bytes[8..], duals[0]);
        LittleEndian::write_f32(&mut bytes[12..], duals[1]);
        self.documents.extend_from_slice(&bytes);
        self.numbers.documents += 1;
    }

    /// Offset in the ledger's body of document `number`.
    pub fn offset(&self, number: usize) -> u64 {
        LittleEndian::read_u64(&self.documents[number * ENTRY..])
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
                Slot { documents, ..slot }.write(self.slot_mut(at));
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
        let Numbers { max_order, length, .. } = self.numbers;
        let mut row = Row::new(distinct, record.occurrences, max_order, length);
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
            let (wide, count) = (f64::from(scale), f64::from(term.count()));
            ones += wide;
            counts += wide * count;
            squares += wide * count * count;
            let feature = u32::try_from(places.len()).unwrap_or(u32::MAX);
            cells.push(super::dataset::Cell { feature, count: term.count() });
            fit.weights.push(super::solver::Weight { value: slot.weight, scale });
            places.push(at);
        }
        row.set_squares(ones, counts, squares);
        let entry = &self.documents[number * ENTRY..];
        fit.duals =
            vec![[LittleEndian::read_f32(&entry[8..]), LittleEndian::read_f32(&entry[12..])]];
        let side = if record.label == 1 { 1.0 } else { -1.0 };
        fit.step(0, &cells, &row, side, self.numbers.cost);
        for (at, weight) in places.into_iter().zip(&fit.weights) {
            let slot = self.slot_mut(at);
            if LittleEndian::read_f32(&slot[8..]) != weight.value {
                LittleEndian::write_f32(&mut slot[8..], weight.value);
                let id = LittleEndian::read_u32(slot);
                self.touched.push(id);
            }
        }
        self.numbers.bias = fit.bias;
        let entry = &mut self.documents[number * ENTRY..];
        LittleEndian::write_f32(&mut entry[8..], fit.duals[0][0]);
        LittleEndian::write_f32(&mut entry[12..], fit.duals[0][1]);
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

    /// Writes the file.
    ///
    /// # Errors
    /// Those of `out`.
    #[allow(clippy::cast_possible_truncation)] // at most 30 bits
    pub fn write(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let bytes = &mut self.slots;
        bytes[..HEAD].fill(0);
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
        LittleEndian::write_u32(&mut bytes[80..], self.numbers.documents);
        LittleEndian::write_u32(&mut bytes[84..], self.numbers.features);
        LittleEndian::write_u32(&mut bytes[88..], self.numbers.rare);
        bytes[92] = self.numbers.max_order;
        bytes[93] = self.bits as u8;
        bytes[94] = self.rare_bits as u8;
        LittleEndian::write_u64(&mut bytes[96..], set);
        LittleEndian::write_u32(&mut bytes[104..], self.numbers.fitted);
        let mut sum = Checksum::default();
        for part in [&self.slots, &self.rare, &self.documents] {
            sum.bytes(part);
            out.write_all(part)?;
        }
        out.write_all(&sum.value().to_le_bytes())
    }

    /// Reads a state; `None` when it is damaged.
    pub fn parse(mut bytes: Vec<u8>) -> Option<Self> {
        if !bytes.starts_with(MAGIC) || bytes.len() < HEAD + 8 {
            return None;
        }
        let real = |place: usize| LittleEndian::read_f64(&bytes[32 + 8 * place..]);
        let numbers = Numbers {
            set: LittleEndian::read_u64(&bytes[96..]),
            ledger: Checksum::from_state(LittleEndian::read_u64(&bytes[16..])),
            ledger_length: LittleEndian::read_u64(&bytes[24..]),
            cost: real(0),
            blend: real(1),
            length: real(2),
            bias: real(3),
            log_partitions: [real(4), real(5)],
            documents: LittleEndian::read_u32(&bytes[80..]),
            features: LittleEndian::read_u32(&bytes[84..]),
            fitted: LittleEndian::read_u32(&bytes[104..]),
            rare: LittleEndian::read_u32(&bytes[88..]),
            max_order: bytes[92],
        };
        let (bits, rare_bits) = (u32::from(bytes[93]), u32::from(bytes[94]));
        if !(1..=30).contains(&bits)
            || !(1..=30).contains(&rare_bits)
            || !(1..8).contains(&numbers.max_order)
        {
            return None;
        }
        let sum = LittleEndian::read_u64(&bytes.split_off(bytes.len() - 8));
        let (rare_at, documents_at) = (HEAD + (ENTRY << bits), RARE_ENTRY << rare_bits);
        if bytes.len() < rare_at + documents_at {
            return None;
        }
        let documents = bytes.split_off(rare_at + documents_at);
        let rare = bytes.split_off(rare_at);
        let slots = bytes;
        let mut found = Checksum::default();
        for part in [&slots, &rare, &documents] {
            found.bytes(part);
        }
        // The search for a feature ends at an empty slot.
        let has_room = |table: &[u8], size: usize| {
            table.chunks_exact(size).any(|entry| LittleEndian::read_u32(entry) == 0)
        };
        if found.value() != sum
            || !has_room(&slots[HEAD..], ENTRY)
            || !has_room(&rare, RARE_ENTRY)
            || documents.len() != numbers.documents as usize * ENTRY
        {
            return None;
        }
        Some(Self { numbers, bits, slots, rare_bits, rare, documents, touched: Vec::new() })
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
