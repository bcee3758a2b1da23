// SPDX-License-Identifier: GPL-3.0-or-later
//! What is read of a filter's folder is what its documents say, whatever happened to it.

use super::folder::{BEFORE, JOURNAL, TABLE};
use super::head::{Head, Reading};
use super::journal::Lesson;
use super::open::Rows;
use super::table::Sections;
use super::*;
use crate::fit::blocks::problems;
use crate::linear::Exact;
use dbacl_files::lock::Patience;
use dbacl_numeric::random::SplitMix64;
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

/// A document with its effect.
type Learned = (Document, Effect);

fn draw(random: &mut SplitMix64, labels: u8) -> Learned {
    let mut below = |bound: usize| u32::try_from(random.below(bound)).unwrap();
    let label = u8::try_from(below(usize::from(labels))).unwrap();
    let mut ids = |most: usize, all: usize, first: u32| {
        (0..below(most)).map(|_| first + below(all).pow(2)).collect::<Vec<u32>>()
    };
    let features = [ids(40, 60, 1), ids(9, 20, 100_000), ids(3, 5, 200_000)];
    let number = |value: u32| f32::from(u16::try_from(value).unwrap()) / 64.0;
    let is_left_out = below(9) == 0;
    let mut dual = || if is_left_out { 0.0 } else { number(below(200)) };
    let duals = (0..problems(usize::from(labels))).map(|_| dual()).collect();
    let document = Document { is_left_out, ..Document::new(label, features) };
    let inputs = [0.25, 0.375, 0.5];
    (document, Effect { label, is_left_out, inputs, duals })
}

fn build(labels: u8, documents: &[Learned]) -> (Head<String>, Sections) {
    let labels = (0..labels).map(|label| format!("label {label}")).collect();
    let reading = Reading { labels, options: 7, scheme: 10, order: 1 };
    let mut builder = Builder::new(Head::new(reading, "a rule".into()));
    for (document, effect) in documents {
        builder.add(document, effect.clone());
    }
    builder.finish()
}

/// Nobody else has the lock.
fn change(folder: &FilterFolder) -> Changing {
    let stop = AtomicBool::new(false);
    let patience = Patience { limit: Duration::from_secs(9), stop: &stop };
    folder.change(patience, &mut || {}).unwrap()
}

fn replace(folder: &FilterFolder, labels: u8, documents: &[Learned], forgets: bool) {
    let (head, sections) = build(labels, documents);
    let documents: Vec<Document> = documents.iter().map(|(own, _)| own.clone()).collect();
    let before = if forgets { Before::Forgotten } else { Before::Kept };
    change(folder).replace(head, &sections, &documents, before).unwrap();
}

fn open(folder: &FilterFolder) -> OpenTables<String> {
    folder.open().unwrap()
}

/// Learns a document; if the filter knows it, its label changes.
fn learn(folder: &FilterFolder, (document, effect): &Learned) {
    let mut tables = open(folder);
    let withdrawn = tables.find(document.name()).unwrap().pop();
    let (document, effect) = (document.clone(), effect.clone());
    tables.add(Lesson { document, effect, withdrawn });
    change(folder).learn(&tables, 1).unwrap();
}

/// What the filter knows of all features that documents of [`draw`] can have.
fn known(tables: &OpenTables<String>) -> (Vec<u32>, Vec<Exact>, Rows) {
    let mut ids: Vec<u32> = (0..60u32).map(|n| 1 + n * n).collect();
    ids.extend((0..20u32).map(|n| 100_000 + n * n));
    ids.extend((0..5u32).map(|n| 200_000 + n * n));
    let rows = tables.look_up(&ids, true).unwrap();
    let head = &tables.table.head;
    (head.documents.clone(), head.intercepts.clone(), rows)
}

/// A filter with these documents, made at once.
fn at_once(labels: u8, documents: &[Learned]) -> (tempfile::TempDir, FilterFolder) {
    let room = tempfile::tempdir().unwrap();
    let folder = FilterFolder::new(&room.path().join("f"));
    replace(&folder, labels, documents, false);
    (room, folder)
}

/// The documents that are left when each one replaces an equal one before it.
fn left(documents: &[Learned]) -> Vec<Learned> {
    let mut left: Vec<Learned> = Vec::new();
    for (document, effect) in documents {
        let name = document.name();
        if let Some(at) = left.iter().rposition(|(own, _)| own.name() == name) {
            left.remove(at);
        }
        left.push((document.clone(), effect.clone()));
    }
    left
}

proptest! {
    #[test]
    fn lessons_and_folds_give_what_all_documents_at_once_give(
        seed in any::<u64>(), labels in 2u8..5, first in 0usize..40, later in 1usize..20,
    ) {
        let mut random = SplitMix64::new(seed);
        let first: Vec<Learned> = (0..first).map(|_| draw(&mut random, labels)).collect();
        let first = left(&first);
        let (_room, folder) = at_once(labels, &first);
        let mut all = first;
        for number in 0..later {
            // Every third lesson corrects a document.
            let (mut document, mut effect) = draw(&mut random, labels);
            if number % 3 == 2 && !all.is_empty() {
                document.features = all[random.below(all.len())].0.features.clone();
            }
            (document.is_left_out, effect.is_left_out) = (false, false);
            learn(&folder, &(document.clone(), effect.clone()));
            all.push((document, effect));
            if number % 7 == 5 {
                change(&folder).fold(&open(&folder)).unwrap();
                prop_assert_eq!(open(&folder).journal.lessons.len(), 0);
            }
        }
        let (_other_room, other) = at_once(labels, &left(&all));
        prop_assert_eq!(known(&open(&folder)), known(&open(&other)));
        let documents = |folder: &FilterFolder| folder.documents(&open(folder)).unwrap();
        prop_assert_eq!(documents(&folder), documents(&other));
    }
}

#[test]
fn a_fold_gives_the_bytes_of_writing_all_documents_at_once() {
    let mut random = SplitMix64::new(8);
    let all: Vec<Learned> = (0..150).map(|_| draw(&mut random, 2)).collect();
    let all = left(&all);
    let (_room, folder) = at_once(2, &all[..90]);
    all[90..].iter().for_each(|own| learn(&folder, own));
    change(&folder).fold(&open(&folder)).unwrap();
    let folded = open(&folder).table;
    assert_eq!(folded.sections().unwrap(), build(2, &all).1);
    let names: Vec<u64> = all.iter().map(|(document, _)| document.name()).collect();
    let found: Vec<u64> = folded.names().unwrap().iter().map(|&(name, _)| name).collect();
    assert_eq!(found, names);
    assert!(!folder.path().join(BEFORE).exists() || folder.open_before::<String>().is_some());
}

#[test]
fn what_was_forgotten_leaves_no_trace() {
    let mut random = SplitMix64::new(9);
    let all = left(&(0..40).map(|_| draw(&mut random, 2)).collect::<Vec<_>>());
    let (_room, folder) = at_once(2, &all);
    learn(&folder, &draw(&mut random, 2));
    replace(&folder, 2, &all[1..], true);
    let (_other_room, other) = at_once(2, &all[1..]);
    let contents = |folder: &FilterFolder| {
        let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap());
        let mut all: Vec<_> =
            entries.map(|entry| (entry.file_name(), fs::read(entry.path()).unwrap())).collect();
        all.sort();
        all
    };
    assert_eq!(contents(&folder), contents(&other));
    // Forgetting what was learned last gives the very same table again.
    learn(&folder, &draw(&mut random, 2));
    replace(&folder, 2, &all[1..], true);
    assert_eq!(open(&folder).journal.lessons, []);
    assert_eq!(contents(&folder), contents(&other));
    // Even if its record is in the ledger already.
    learn(&folder, &draw(&mut random, 2));
    change(&folder).fold(&open(&folder)).unwrap();
    replace(&folder, 2, &all[1..], true);
    assert_eq!(contents(&folder), contents(&other));
}

/// What a killed process has left at the end of a file: a record that is cut short, and so long
/// that the next one does not cover it.
fn cut_short(folder: &FilterFolder, name: &str) {
    let mut bytes = fs::read(folder.file(name)).unwrap();
    bytes.extend_from_slice(&1_000_000u32.to_le_bytes());
    bytes.extend_from_slice(&[1; 2000]);
    fs::write(folder.file(name), bytes).unwrap();
}

#[test]
fn what_is_written_after_a_record_that_was_cut_short_is_read() {
    let mut random = SplitMix64::new(13);
    let all = left(&(0..30).map(|_| draw(&mut random, 2)).collect::<Vec<_>>());
    let (_room, folder) = at_once(2, &all[..20]);
    let (_other_room, other) = at_once(2, &all);
    for own in &all[20..] {
        cut_short(&folder, JOURNAL);
        learn(&folder, own);
    }
    assert_eq!(known(&open(&folder)), known(&open(&other)));
    let tables = open(&folder);
    cut_short(&folder, JOURNAL);
    cut_short(&folder, &tables.table.head.ledger);
    change(&folder).fold(&tables).unwrap();
    assert_eq!(known(&open(&folder)), known(&open(&other)));
    let documents = |folder: &FilterFolder| folder.documents(&open(folder)).unwrap();
    assert_eq!(documents(&folder), documents(&other));
    // A table with the name of the one that is there voids its lessons, too.
    learn(&folder, &draw(&mut random, 2));
    cut_short(&folder, JOURNAL);
    change(&folder).announce(open(&folder).table.id).unwrap();
    assert_eq!(open(&folder).journal.lessons, []);
}

#[test]
fn filters_with_one_ledger_do_not_change_it_for_each_other() {
    let mut random = SplitMix64::new(14);
    let all = left(&(0..30).map(|_| draw(&mut random, 2)).collect::<Vec<_>>());
    let (room, folder) = at_once(2, &all[..20]);
    let copied = FilterFolder::new(&room.path().join("copy"));
    change(&copied).copy_from(&folder).unwrap();
    for (own, more) in [(&folder, &all[20..24]), (&copied, &all[24..])] {
        for one in more {
            learn(own, one);
        }
        change(own).fold(&open(own)).unwrap();
    }
    for (own, more) in [(&folder, &all[20..24]), (&copied, &all[24..])] {
        let wanted = [&all[..20], more].concat();
        let documents: Vec<Document> = wanted.iter().map(|(own, _)| own.clone()).collect();
        assert_eq!(own.documents(&open(own)).unwrap(), documents);
        assert_eq!(known(&open(own)), known(&open(&at_once(2, &wanted).1)));
    }
}

#[test]
fn each_document_of_the_newest_ledger_is_salvaged_once() {
    let mut random = SplitMix64::new(15);
    let all = left(&(0..20).map(|_| draw(&mut random, 2)).collect::<Vec<_>>());
    let (_room, folder) = at_once(2, &all);
    let (document, effect) = &all[3];
    let label = 1 - document.label;
    let moved = (
        Document { label, is_left_out: false, ..document.clone() },
        Effect { label, is_left_out: false, ..effect.clone() },
    );
    learn(&folder, &moved);
    let (_other_room, other) = at_once(2, &all[..5]);
    for name in other.ledgers() {
        fs::copy(other.file(&name), folder.file(&name)).unwrap();
        let file = fs::File::options().write(true).open(folder.file(&name)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    }
    let wanted = left(&[all, vec![moved]].concat());
    let wanted: Vec<Document> = wanted.into_iter().map(|(own, _)| own).collect();
    let (_, documents, is_cut) = folder.salvage().unwrap();
    assert_eq!((documents, is_cut), (wanted, false));
}

#[test]
fn what_a_killed_process_left_is_removed_by_the_next_change() {
    let mut random = SplitMix64::new(3);
    let all = left(&(0..9).map(|_| draw(&mut random, 2)).collect::<Vec<_>>());
    let (_room, folder) = at_once(2, &all);
    let write = |name: &str, text: &str| fs::write(folder.file(name), text).unwrap();
    let is_there = |name: &str| folder.file(name).exists();
    write("review.txt.tmp.0", "# dbacl: messages\n");
    write("review.txt.tmp.1", "# dbacl: messages\n");
    write("table.tmp.0", "");
    write("ledger.tmp.0", "of somebody else");
    let written = fs::File::open(folder.file("review.txt.tmp.1")).unwrap();
    written.lock().unwrap();
    drop(change(&folder));
    assert!(["review.txt.tmp.1", "ledger.tmp.0"].into_iter().all(is_there));
    assert!(!["review.txt.tmp.0", "table.tmp.0"].into_iter().any(is_there));
}

/// Copies the files of a folder into a new one.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn every_prefix_of_a_change_is_the_state_before_or_after_it() {
    let mut random = SplitMix64::new(10);
    let all = left(&(0..30).map(|_| draw(&mut random, 2)).collect::<Vec<_>>());
    let (room, folder) = at_once(2, &all[..20]);
    all[20..].iter().for_each(|own| learn(&folder, own));
    let before = room.path().join("before");
    copy(folder.path(), &before);
    change(&folder).fold(&open(&folder)).unwrap();
    let wanted = known(&open(&folder));
    let ledger = open(&folder).table.head.ledger;
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    let (new_table, new_journal, new_ledger) = (read(TABLE), read(JOURNAL), read(&ledger));
    let announced = {
        let mut bytes = fs::read(before.join(JOURNAL)).unwrap();
        bytes.extend(journal::announcement(open(&folder).table.id));
        bytes
    };
    // The ledger is longer; the journal announces the table; the table is there; the journal is
    // new.
    let steps: [(&str, &Vec<u8>); 4] = [
        (&ledger, &new_ledger),
        (JOURNAL, &announced),
        (TABLE, &new_table),
        (JOURNAL, &new_journal),
    ];
    for done in 0..=steps.len() {
        let place = room.path().join(format!("cut {done}"));
        copy(&before, &place);
        for (name, bytes) in &steps[..done] {
            fs::write(place.join(name), bytes).unwrap();
        }
        let cut = FilterFolder::new(&place);
        assert_eq!(known(&open(&cut)), wanted, "after step {done}");
        // The next lesson and the next fold go on from there.
        let more = draw(&mut SplitMix64::new(11), 2);
        learn(&cut, &more);
        change(&cut).fold(&open(&cut)).unwrap();
        let everything: Vec<Learned> = all.iter().cloned().chain([more]).collect();
        let (_other_room, other) = at_once(2, &left(&everything));
        assert_eq!(known(&open(&cut)), known(&open(&other)), "after step {done}");
    }
}

#[test]
fn a_flipped_bit_is_noticed_where_it_is_read() {
    let mut random = SplitMix64::new(12);
    let all = left(&(0..60).map(|_| draw(&mut random, 3)).collect::<Vec<_>>());
    let (_room, folder) = at_once(3, &all);
    let path = folder.path().join(TABLE);
    let (whole, wanted) = (fs::read(&path).unwrap(), known(&open(&folder)));
    for at in (0..whole.len()).step_by(23) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        fs::write(&path, &damaged).unwrap();
        let Ok(tables) = folder.open::<String>() else { continue };
        assert!(tables.table.check().is_err(), "byte {at}");
        let ids: Vec<u32> = (0..60u32).map(|n| 1 + n * n).collect();
        if let Ok(rows) = tables.look_up(&ids, true) {
            assert_eq!(rows.documents, wanted.2.documents[..ids.len() * 3], "byte {at}");
        }
    }
    for length in [0, 5, 30, 200, whole.len() - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        assert!(folder.open::<String>().is_err(), "{length}");
    }
}
