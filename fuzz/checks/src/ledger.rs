// SPDX-License-Identifier: GPL-3.0-or-later
//! A ledger and the state beside it, as documents come and go, power fails and files are read
//! again.

use dbacl::joint::checksum::Checksum;
use dbacl::joint::dataset::Dataset;
use dbacl::joint::documents::{Corpus, Term, fingerprint};
use dbacl::joint::incremental::{Numbers, State, documents};
use dbacl::joint::ledger::{Ledger, Name, Record, Settings};
use dbacl::joint::scoring::Scoring;
use dbacl::joint::solver::Fit;
use dbacl::model::settings::{ModelOptions, Scheme};
use dbacl::token::id::FeatureId;

/// Documents of a run at most.
const DOCUMENTS: u32 = 64;

fn ledger() -> Ledger {
    let settings =
        Settings { options: ModelOptions::default(), scheme: Scheme::Alpha, order: 1, patterns: 0 };
    Ledger::new(settings, vec![Name::new(b"ham"), Name::new(b"spam")])
}

/// A state without documents; the bits of `flags` choose what documents are fitted for.
fn state(flags: u8) -> State {
    let numbers = Numbers {
        set: 7,
        ledger: Checksum::default(),
        ledger_length: 0,
        cost: 0.5,
        blend: if flags & 1 == 0 { 0.0 } else { 0.4 },
        length: 2.0,
        bias: 0.0,
        log_partitions: [1.0, 1.5],
        totals: [1.0, 1.0],
        rises: [3.0, 2.0],
        counts_ordinary: flags & 2 != 0,
        max_order: 1,
        scoring: if flags & 4 == 0 { Scoring::Counts } else { Scoring::Once },
        contrast: flags & 8 != 0,
        documents: 0,
        sides: [0, 0],
        fitted: 0,
        features: 0,
    };
    let fit = Fit { weights: Vec::new(), bias: 0.0, duals: Vec::new() };
    State::new(numbers, &Dataset::new(Corpus::default(), 2, 1), &fit, &[], &[])
}

/// The file of a state without documents.
pub fn empty_state() -> Vec<u8> {
    bytes_of(&mut state(0))
}

/// Takes a document's record off the front of `data`: a byte of label and number of terms, then for
/// each an id and how often it occurs.
fn document(data: &mut &[u8]) -> Option<Record> {
    let (&head, rest) = data.split_first()?;
    *data = rest;
    let mut record = Record { label: u32::from(head & 1), ..Record::default() };
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
    let documents = documents(ledger).expect("whole records");
    assert_eq!(documents.len(), state.numbers.documents as usize);
    for (number, (&(offset, name), kept)) in documents.iter().zip(state.names()).enumerate() {
        assert_eq!((state.offset(number), kept), (offset, name));
    }
    let bytes = bytes_of(state);
    let mut read = State::parse(bytes.clone()).expect("what was written can be read");
    assert_eq!(read.numbers.documents, state.numbers.documents);
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
    let (mut ledger, mut state) = (ledger(), state(flags));
    let mut written: Option<Written> = None;
    while ledger.head.documents < DOCUMENTS {
        let Some((&step, rest)) = data.split_first() else { break };
        data = rest;
        if step & 3 == 3 {
            state = State::parse(bytes_of(&mut state)).expect("what was written can be read");
            written = None;
            continue;
        }
        let Some(record) = document(&mut data) else { break };
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
        for (id, weights) in state.changes() {
            // It speaks for one of the two, or for neither and was learned.
            assert!(id.0 > 0 && weights.iter().any(|weight| weight.0 <= 1));
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
    let kept = kept.expect("whole records");
    assert!(kept.head.documents <= ledger.head.documents);
    assert!(Ledger::parse(&kept.bytes()).is_ok());
}
