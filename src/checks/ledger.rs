// SPDX-License-Identifier: GPL-3.0-or-later
//! A ledger and the state beside it, as documents come and go, power fails and files are read
//! again.

use crate::FeatureId;
use crate::fit::checksum::Checksum;
use crate::fit::documents::{Term, fingerprint};
use crate::fit::scoring::Scoring;
use crate::model::settings::{ModelOptions, Scheme};
use crate::store::ledger::{Ledger, Name, Record, Settings};
use crate::store::state::State;
use crate::store::state::head::{Numbers, Side};
use crate::store::state::tables::Sizes;
use dbacl_numeric::quantize::QuantWeight;

/// A feature and its new weight.
type Weight = (FeatureId, QuantWeight);

/// Documents of a run at most.
const DOCUMENTS: u32 = 64;

/// The categories.
const NAMES: [&[u8]; 5] = [b"ham", b"spam", b"work", b"lists", b"family"];

fn ledger(categories: usize) -> Ledger {
    let settings =
        Settings { options: ModelOptions::default(), scheme: Scheme::Alpha, order: 1, patterns: 0 };
    Ledger::new(settings, NAMES[..categories].iter().map(|name| Name::new(name)).collect())
}

/// How many categories a run has that begins with these flags.
const fn categories_of(flags: u8) -> usize {
    if flags & 16 == 0 { 2 } else { NAMES.len() }
}

/// A state without documents; the bits of `flags` choose what documents are fitted for.
fn state(flags: u8) -> State {
    let side = Side { log_partition: 1.5, total: 1.0, rise: 3.0, bias: 0.0, documents: 0 };
    let numbers = Numbers {
        set: 7,
        ledger: Checksum::default(),
        ledger_length: 0,
        cost: 0.5,
        blend: if flags & 1 == 0 { 0.0 } else { 0.4 },
        length: 2.0,
        counts_ordinary: flags & 2 != 0,
        max_order: 1,
        scoring: if flags & 4 == 0 { Scoring::Counts } else { Scoring::Once },
        contrast: flags & 8 != 0,
        fitted: 0,
        key: 0,
        sides: vec![side; categories_of(flags)],
    };
    State::new(numbers, Sizes::default())
}

/// The file of a state without documents.
pub fn empty_state() -> Vec<u8> {
    bytes_of(&mut state(0))
}

/// Takes a document's record off the front of `data`: a byte of label and number of terms, then for
/// each an id and how often it occurs.
fn document(data: &mut &[u8], categories: usize) -> Option<Record> {
    let (&head, rest) = data.split_first()?;
    *data = rest;
    let label = (head & 1 | head >> 5 << 1) % u8::try_from(categories).unwrap_or(1);
    let mut record = Record { label: u32::from(label), ..Record::default() };
    for _ in 0..head >> 1 & 15 {
        let Some((&[id, count], rest)) = data.split_first_chunk::<2>() else { break };
        *data = rest;
        let id = FeatureId(u32::from(id) + 1);
        if record.terms.iter().any(|term| term.id == id) {
            continue;
        }
        let count = 1 << (count % 32) | u32::from(count >> 5);
        record.occurrences = record.occurrences.saturating_add(count);
        record.terms.push(Term::new(id, 1, count));
    }
    record.fingerprint = fingerprint(&record.terms);
    Some(record)
}

fn bytes_of(state: &mut State) -> Vec<u8> {
    let mut bytes = Vec::new();
    state.write(&mut bytes).expect("memory takes all");
    bytes
}

/// The record at `offset` of the ledger's body, as an update finds it.
fn old(ledger: &Ledger, offset: u64) -> Option<Record> {
    let mut rest = ledger.body.get(usize::try_from(offset).ok()?..)?;
    let mut record = Record::default();
    record.take(&mut rest)?;
    Some(record)
}

/// Both files tell of the same documents, and read as they were written.
fn agree(ledger: &Ledger, state: &mut State) {
    let read = Ledger::parse(&ledger.bytes()).expect("what was written can be read");
    assert_eq!((&read.head, &read.body), (&ledger.head, &ledger.body));
    assert_eq!(ledger.head.documents, state.documents());
    let mut names = state.tables.names().into_iter().enumerate();
    let mut at = 0;
    ledger.each(|record, bytes| {
        let (number, name) = names.next().expect("all documents");
        assert_eq!((state.tables.offset(number), name), (at, record.fingerprint));
        at += bytes.len() as u64;
    });
    assert_eq!(at, ledger.body.len() as u64, "whole records");
    let bytes = bytes_of(state);
    let mut read = State::parse(bytes.clone()).expect("what was written can be read");
    assert_eq!(read.documents(), state.documents());
    assert_eq!(bytes_of(&mut read), bytes);
}

/// A state that was written: the file, and what has changed since.
struct Written {
    file: Vec<u8>,
    changes: Vec<u8>,
}

impl Written {
    fn new(state: &mut State) -> Self {
        Self { file: bytes_of(state), changes: Vec::new() }
    }

    fn open(&self, changes: &[u8]) -> Option<State> {
        State::open(Box::new(self.file.clone()), self.file.len(), changes.to_vec())
    }

    /// Writes a state that was opened from this, as an update does; first damages what was written
    /// at the byte that `place` chooses.
    fn update(&mut self, state: &mut State, place: u8) {
        let before = state.numbers.ledger_length;
        if state.is_due() {
            *self = Self::new(state);
            return;
        }
        self.changes.clear();
        state.write_changes(&mut self.changes).expect("memory takes all");
        let mut damaged = self.changes.clone();
        let at = usize::from(place) * 31 % damaged.len();
        damaged[at] ^= 1;
        for changes in [&damaged[..], &self.changes[..at]] {
            let other = self.open(changes).expect("the file is whole");
            assert!(other.numbers.ledger_length < before, "damaged changes are not taken");
        }
    }
}

/// A byte of flags, then steps: learn a document in memory, or in a file and its changes, or read
/// the state again.
pub fn ledger_state(data: &[u8]) {
    let Some((&flags, mut data)) = data.split_first() else { return };
    let categories = categories_of(flags);
    let (mut ledger, mut state) = (ledger(categories), state(flags));
    let mut written: Option<Written> = None;
    while ledger.head.documents < DOCUMENTS {
        let Some((&step, rest)) = data.split_first() else { break };
        data = rest;
        if step & 3 == 3 {
            state = State::parse(bytes_of(&mut state)).expect("what was written can be read");
            written = None;
            continue;
        }
        let Some(record) = document(&mut data, categories) else { break };
        if step & 3 == 2 {
            let known = written.get_or_insert_with(|| Written::new(&mut state));
            state = known.open(&known.changes).expect("what was written can be read");
        } else {
            written = None;
        }
        let offset = ledger.head.length;
        ledger.push(record.label, record.occurrences, &record.terms);
        state.learn(&record, offset, |offset| old(&ledger, offset));
        state.numbers.ledger = ledger.head.sum;
        state.numbers.ledger_length = ledger.head.length;
        let changes = state.changes(|_| None);
        assert!(changes.iter().flatten().all(|(id, _)| id.0 > 0));
        if let [first, second] = changes.as_slice() {
            // A feature speaks for one of the two, or for neither and was learned.
            let is_one = |(one, other): (&Weight, &Weight)| {
                one.0 == other.0 && (one.1.0 <= 1 || other.1.0 <= 1)
            };
            assert!(first.len() == second.len() && first.iter().zip(second).all(is_one));
        }
        assert!(state.log_partitions().iter().all(|partition| partition.is_finite()));
        if let Some(written) = &mut written {
            written.update(&mut state, step >> 2);
        }
    }
    agree(&ledger, &mut state);
    // Documents go in any order; what stays is a ledger, too.
    let wanted = flags >> 4;
    let kept = ledger.filter(|record, _| record.fingerprint % 16 != u64::from(wanted));
    assert!(kept.head.documents <= ledger.head.documents);
    assert!(Ledger::parse(&kept.bytes()).is_ok());
}
