// SPDX-License-Identifier: GPL-3.0-or-later
use super::head::{Numbers, Side};
use super::*;
use crate::fit::checksum::Checksum;
use crate::fit::documents::Term;
use crate::fit::scoring::Scoring;
use crate::store::state::weights::Changes;
use crate::token::id::FeatureId;

/// Numbers of categories that stand for all: two, which have one fit, and more.
const WIDTHS: [u32; 2] = [2, 5];

fn empty(width: u32) -> State {
    let side = Side { log_partition: 1.0, rise: 3.0, ..Side::default() };
    let numbers = Numbers { set: 7, cost: 1.0, length: 2.0, max_order: 1, ..Numbers::default() };
    let sides = vec![side; width as usize];
    let numbers = Numbers { counts_ordinary: true, contrast: true, sides, ..numbers };
    State::new(numbers, Sizes::default())
}

/// Document k of one of the categories: a word of the category, one of two neighbours, a common
/// word and a word of its own.
fn record(width: u32, k: u32) -> Record {
    let label = k % width;
    let term = |id| Term::new(FeatureId(id), 1, 1 + k % 2);
    let near = 100 + (label + k / width % 2) % width;
    let terms = vec![term(10 + label), term(near), term(20), term(1000 + k)];
    let occurrences = 4 * (1 + k % 2);
    Record { label, occurrences, terms, fingerprint: u64::from(k) }
}

fn learn(state: &mut State, documents: std::ops::Range<u32>) {
    let width = u32::try_from(state.tables.categories).unwrap();
    for k in documents {
        let old = |offset| u32::try_from(offset).ok().map(|k| record(width, k));
        state.learn(&record(width, k), u64::from(k), old);
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

/// The new weight of a feature, if it is told.
fn weight(changes: &Changes, id: u32) -> Option<f32> {
    let found = changes.iter().find(|(own, _)| own.0 == id);
    found.map(|(_, weight)| weight.weight())
}

/// The weights of a feature in all fits.
fn weights_of(state: &mut State, id: u32) -> Vec<f32> {
    let at = state.tables.find(id).unwrap();
    super::tables::tests::weights_at(&mut state.tables, at)
}

/// What the documents of a category tell of a feature.
fn entry(state: &mut State, id: u32, category: u8) -> Option<(u32, u32)> {
    let at = state.tables.find(id)?;
    let slot = state.tables.slot(at);
    let mut found = None;
    state.tables.entries(&slot, |own| {
        if own.category == category {
            found = Some((own.documents, own.tally));
        }
    });
    found
}

#[test]
fn categories_are_told_apart_one_document_at_a_time() {
    for width in WIDTHS {
        let mut state = empty(width);
        learn(&mut state, 0..40 * width);
        let changes = state.changes(|_| None);
        assert!(state.changes(|_| None).iter().all(Vec::is_empty));
        for category in 0..width {
            let own = &changes[category as usize];
            let other = &changes[((category + 1) % width) as usize];
            let of_own = weight(own, 10 + category).unwrap();
            assert!(of_own > 0.2, "{width} {category} {of_own}");
            // The documents of other categories do not have the word.
            let none = (width == 2).then_some(0.0);
            assert_eq!(weight(other, 10 + category), none);
            assert!(weight(own, 20).unwrap() < of_own);
        }
        // Of two categories, only those features are told whose weights change.
        let rare = 1000 + 3 % width;
        let expected = (width > 2).then_some(0.0);
        assert_eq!(weight(&changes[rare as usize % 1000], rare), expected, "rare: no weight");
        let partitions = state.log_partitions();
        let mean = partitions.iter().sum::<f64>() / f64::from(width);
        assert!((mean - 1.0).abs() < 1e-9, "{partitions:?}");
    }
}

#[test]
fn what_was_written_reads_the_same_and_damage_is_found() {
    for width in WIDTHS {
        let mut state = empty(width);
        learn(&mut state, 0..40);
        let file = bytes_of(&mut state);
        assert!(state.is_due(), "it is not in a file yet");
        let mut read = State::parse(file.clone()).unwrap();
        assert_eq!(read.tables.names(), state.tables.names());
        assert_eq!(read.numbers, state.numbers);
        assert_eq!(read.tables.offset(39), 39);
        assert_eq!(bytes_of(&mut read), file);
        for at in (0..file.len()).step_by(97) {
            assert!(State::parse(file[..at].to_vec()).is_none());
            let mut damaged = file.clone();
            damaged[at] ^= 4;
            assert!(State::parse(damaged).is_none(), "{at}");
        }
    }
}

#[test]
fn states_of_other_versions_are_none() {
    let file = bytes_of(&mut empty(2));
    for version in [b'2', b'4', b'7', b'8'] {
        let mut other = file.clone();
        other[head::KIND.len()] = version;
        assert!(State::parse(other.clone()).is_none());
        assert!(State::parse(other[..16].to_vec()).is_none());
    }
}

#[test]
fn changes_and_the_file_make_the_file_that_is_written_as_a_whole() {
    for width in WIDTHS {
        let mut state = empty(width);
        learn(&mut state, 0..400);
        let (mut file, mut changes, mut folds) = (bytes_of(&mut state), Vec::new(), 0);
        for k in 400..600 {
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
                assert!(changes.len() < file.len() / 2, "{} of {}", changes.len(), file.len());
            }
            let mut read = open(&file, &changes).unwrap();
            assert_eq!(read.numbers, state.numbers);
            assert_eq!(read.tables.used, state.tables.used);
            if k % 20 == 0 {
                let mut whole = open(&bytes_of(&mut state), &[]).unwrap();
                read.touch_all();
                whole.touch_all();
                assert_eq!(read.changes(|_| None), whole.changes(|_| None));
                assert_eq!(read.tables.names(), whole.tables.names());
            }
        }
        assert!(folds > 0 && !changes.is_empty(), "{folds}");
        // Of changes that are damaged nothing is taken.
        changes[100] ^= 1;
        let mut read = open(&file, &changes).unwrap();
        assert!(read.documents() < 600);
        assert_eq!(bytes_of(&mut read), file);
    }
}

#[test]
fn a_document_can_change_its_category() {
    for width in WIDTHS {
        let mut state = empty(width);
        learn(&mut state, 0..60);
        let (own, other) = (1u8, 0u8);
        let number = width as usize + 1;
        let learned = record(width, width + 1);
        assert_eq!(learned.label, 1);
        let before = state.numbers.sides.clone();
        let of_each = 60 / width;
        let moved = Record { label: 0, ..learned.clone() };
        state.relabel(number, 1, &moved, 777, |_| None);
        let sides = &state.numbers.sides;
        assert_eq!((sides[1].documents, sides[0].documents), (of_each - 1, of_each + 1));
        let occurrences = f64::from(learned.occurrences);
        assert_eq!(sides[1].total + occurrences, before[1].total);
        assert_eq!(sides[0].total - occurrences, before[0].total);
        assert_eq!((state.tables.offset(number), state.documents()), (777, 60));
        let documents = |state: &mut State, category: u8| entry(state, 11, category).unwrap().0;
        assert_eq!((documents(&mut state, own), documents(&mut state, other)), (of_each - 1, 1));
        // And back: its category has all of its documents again, the other none of it.
        state.relabel(number, 0, &learned, 778, |_| None);
        assert_eq!((documents(&mut state, own), documents(&mut state, other)), (of_each, 0));
        let weight = weight(&state.changes(|_| None)[0], 11);
        assert_eq!(weight, Some(0.0), "what no document of a category has it does not know");
    }
}

#[test]
fn what_a_document_did_is_taken_back() {
    for width in WIDTHS {
        let mut state = empty(width);
        learn(&mut state, 0..9);
        let document = record(width, 8);
        let weights =
            |state: &mut State| [10 + document.label, 20].map(|id| weights_of(state, id)).concat();
        let duals = |state: &mut State| -> Vec<[f32; 2]> {
            (0..state.tables.fits).map(|fit| state.tables.duals(8, fit)).collect()
        };
        let (before, learned) = (weights(&mut state), duals(&mut state));
        state.undo(8, document.label, &document);
        assert!(learned.iter().any(|duals| *duals != [0.0; 2]));
        assert!(duals(&mut state).iter().all(|duals| *duals == [0.0; 2]));
        assert_ne!(weights(&mut state), before);
        // What it did under the other label is the opposite.
        for (fit, [presence, counts]) in learned.into_iter().enumerate() {
            state.tables.put_duals(8, fit, [-presence, -counts]);
        }
        state.undo(8, document.label, &document);
        for (one, other) in weights(&mut state).iter().zip(before) {
            assert!((one - other).abs() < 1e-6, "{one} {other}");
        }
    }
}

#[test]
fn all_tables_grow() {
    for width in WIDTHS {
        let mut state = empty(width);
        learn(&mut state, 0..3000);
        let sizes = state.tables.used;
        assert_eq!((sizes.documents, sizes.slots), (3000, 3001 + 2 * width as usize));
        let rows = 1 + 2 * width as usize;
        assert_eq!(sizes.rows, if width == 2 { 0 } else { rows });
        // A word of the neighbours is in two categories, the common one in all.
        let chained = 2 * width as usize - 1;
        assert_eq!(sizes.entries, chained);
        assert_eq!((state.tables.names()[2999], state.tables.offset(2999)), (2999, 2999));
        let occurrences = (0..3000).filter(|k| k % width == 1).map(|k| 1 + k % 2).sum();
        assert_eq!(entry(&mut state, 20, 1), Some((3000 / width, occurrences)));
        assert!(State::parse(bytes_of(&mut state)).is_some());
    }
}

#[test]
fn features_of_many_documents_come_first_and_are_the_same() {
    for width in WIDTHS {
        let mut state = empty(width);
        learn(&mut state, 0..50);
        state.touch_all();
        let changes = state.changes(|_| None);
        state.tables = state.tables.by_frequency();
        state.touch_all();
        assert_eq!(state.changes(|_| None), changes);
        let documents: Vec<u32> = (0..50).map(|at| state.tables.slot(at).documents).collect();
        assert!(documents.is_sorted_by(|one, next| one >= next) && documents[0] == 50);
        assert_eq!(state.documents(), 50);
    }
}

#[test]
fn a_document_with_another_label_keeps_nothing_of_the_old_one() {
    let document = record(2, 8);
    let moved = Record { label: 1, ..document.clone() };
    let weights = |mut state: State| -> Vec<f32> {
        document.terms.iter().flat_map(|term| weights_of(&mut state, term.id.0)).collect()
    };
    let learned = || {
        let mut state = empty(2);
        learn(&mut state, 0..9);
        state
    };
    let (mut without, mut with) = (learned(), learned());
    without.undo(8, 0, &document);
    with.relabel(8, 0, &moved, 777, |_| None);
    with.undo(8, 1, &moved);
    let (without, with) = (weights(without), weights(with));
    assert_ne!(without, weights(learned()));
    for (one, other) in without.iter().zip(&with) {
        assert!((one - other).abs() < 1e-6, "{without:?} {with:?}");
    }
}

#[test]
fn a_document_that_changes_its_category_is_not_looked_at_again_beside_itself() {
    let mut state = empty(2);
    learn(&mut state, 0..3);
    let record_of = |number: u64| record(2, u32::try_from(number % 100).unwrap());
    let (mut own, mut seen) = (record_of(0), Vec::new());
    own.label = 1;
    // Its place in the ledger is now 100; old documents are drawn from the first two.
    state.relabel(0, 0, &own, 100, |offset| {
        seen.push(offset);
        Some(record_of(offset))
    });
    assert_eq!(seen, [1], "it was drawn, and left out");
}

/// Every kind of fit of two or five categories, with documents of text and tags.
#[test]
fn states_of_every_kind_come_out_as_recorded() {
    let mut found = Vec::new();
    for width in WIDTHS {
        for scoring in [Scoring::Counts, Scoring::Once, Scoring::Blocks] {
            for (contrast, counts_ordinary, blend) in [(false, true, 0.1), (true, false, 0.0)] {
                let mut state = empty(width);
                let numbers = &mut state.numbers;
                (numbers.scoring, numbers.contrast, numbers.blend) = (scoring, contrast, blend);
                numbers.counts_ordinary = counts_ordinary;
                let record = |k: u32| {
                    let mut record = record(width, k);
                    for (at, term) in (0u8..).zip(&mut record.terms) {
                        (term.kind.pairs, term.kind.medium) =
                            (6 + at, if at == 1 { 12 } else { 3 });
                    }
                    record
                };
                let mut sum = Checksum::default();
                let mut note = |state: &mut State| {
                    let general = |id: FeatureId| (id.0 == 20).then(|| vec![0.5; width as usize]);
                    let changes = format!("{:?}", state.changes(general));
                    sum.bytes(changes.as_bytes());
                    state.log_partitions().iter().for_each(|own| sum.word(own.to_bits()));
                    sum.bytes(&bytes_of(state));
                };
                for k in 0..30 * width {
                    state.learn(&record(k), u64::from(k), |at| u32::try_from(at).ok().map(record));
                }
                note(&mut state);
                let moved = Record { label: (record(7).label + 1) % width, ..record(7) };
                state.relabel(7, record(7).label, &moved, 999, |_| Some(record(3)));
                state.undo(9, record(9).label, &record(9));
                note(&mut state);
                let weight = weights_of(&mut state, 20)[0];
                let bias = state.numbers.sides[1].bias;
                found.push(format!(
                    "{width} {scoring:?} {contrast}: {weight:.4} {bias:.4} {:016x}",
                    sum.value()
                ));
            }
        }
    }
    let found = found.join("\n");
    assert_eq!(found, include_str!("recorded.txt").trim_end(), "\n{found}");
}
