// SPDX-License-Identifier: GPL-3.0-or-later
//! A ledger and the state beside it, as documents come and go, power fails and files are read
//! again.

use dbacl::joint::checksum::Checksum;
use dbacl::joint::dataset::Dataset;
use dbacl::joint::documents::{Corpus, Term};
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

/// A byte of flags, then steps: learn a document in memory, or in a file of which only some blocks
/// arrive, or read the state again.
pub fn ledger_state(data: &[u8]) {
    let Some((&flags, mut data)) = data.split_first() else { return };
    let (mut ledger, mut state) = (ledger(), state(flags));
    while ledger.head.documents < DOCUMENTS {
        let Some((&step, rest)) = data.split_first() else { break };
        data = rest;
        if step & 3 == 3 {
            let bytes = bytes_of(&mut state);
            state = State::parse(bytes).expect("what was written can be read");
            continue;
        }
        let Some(record) = document(&mut data) else { break };
        let mut file = (step & 3 == 2).then(|| {
            let bytes = bytes_of(&mut state);
            state = State::parse(bytes.clone()).expect("what was written can be read");
            bytes
        });
        let offset = ledger.head.length;
        ledger.push(record.label, record.occurrences, &record.terms);
        state.learn(&record, offset, |offset| old(&ledger, offset));
        state.numbers.ledger = ledger.head.sum;
        state.numbers.ledger_length = ledger.head.length;
        for (id, weights) in state.changes() {
            assert!(id.0 > 0 && weights.iter().any(|weight| weight.0 == 0));
        }
        assert!(state.log_partitions().iter().all(|partition| partition.is_finite()));
        if let Some(file) = &mut file {
            let whole = bytes_of(&mut state);
            if let Some(parts) = state.changed_parts() {
                // Power fails between two writes; the head comes last.
                let arrived = usize::from(step >> 2) % parts.len();
                for (at, part) in &parts[..arrived] {
                    file[*at..at + part.len()].copy_from_slice(part);
                }
                let is_half = *file != whole && arrived > 0;
                assert!(!is_half || State::parse(file.clone()).is_none(), "half of it is damage");
                for (at, part) in &parts[arrived..] {
                    file[*at..at + part.len()].copy_from_slice(part);
                }
                assert!(*file == whole, "the parts make the whole");
            }
        }
    }
    agree(&ledger, &mut state);
    // Documents go in any order; what stays is a ledger, too.
    let wanted = flags >> 4;
    let kept = ledger.filter(|record| record.terms.len() != usize::from(wanted));
    let kept = kept.expect("whole records");
    assert!(kept.head.documents <= ledger.head.documents);
    assert!(Ledger::parse(&kept.bytes()).is_ok());
}
