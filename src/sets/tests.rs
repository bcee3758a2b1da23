// SPDX-License-Identifier: GPL-3.0-or-later
//! What a filter knows after changes, and after damage to its table.

use super::*;
use crate::fit::rule::Rule;
use crate::store::FilterFolder;
use crate::store::folder::{BEFORE, TABLE};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tempfile::TempDir;

fn mail(label: &str, number: usize) -> String {
    format!("Subject: {label} {number}\n\nwords about {label} in letter{number}\n")
}

/// A filter that has learned `ham` good messages and `spam` spam messages, and its folders.
fn filter(ham: usize, spam: usize) -> (TempDir, PathBuf, MailFilter) {
    let room = tempfile::tempdir().unwrap();
    let folders = [("ham", ham), ("spam", spam)].map(|(label, number)| {
        let folder = room.path().join(label);
        fs::create_dir(&folder).unwrap();
        for number in 0..number {
            fs::write(folder.join(number.to_string()), mail(label, number)).unwrap();
        }
        MailFolder::new(label, folder)
    });
    let path = room.path().join("filter");
    let learned = MailFilter::learn_folders(&path, &folders, &MailLearnOptions::default());
    (room, path, learned.unwrap().0)
}

fn open(path: &Path) -> MailFilter {
    MailFilter::open(path, &MailFilterOptions::default()).unwrap()
}

/// The labels of a message, and the number of messages that the filter knows.
fn known(filter: &MailFilter, mail: &str) -> (Vec<String>, u32) {
    (filter.labels_of(filter.id(mail.as_bytes()).unwrap()).unwrap(), filter.documents())
}

fn labels(labels: &[&str], documents: u32) -> (Vec<String>, u32) {
    (labels.iter().map(ToString::to_string).collect(), documents)
}

fn outcome(report: &ChangeReport) -> Outcome {
    report.documents[0].outcome.clone()
}

#[test]
fn corrected_mail_is_known_once_and_under_its_new_label_only() {
    let (_room, _, mut filter) = filter(30, 30);
    let own = mail("ham", 3);
    let report = filter.correct("spam", &own).unwrap();
    assert_eq!(outcome(&report), Outcome::Moved { from: "ham".into() });
    assert_eq!(known(&filter, &own), labels(&["spam"], 60));
    let report = filter.correct("spam", &own).unwrap();
    assert_eq!((outcome(&report), report.is_changed), (Outcome::Known, false));
    assert_eq!(known(&filter, &own), labels(&["spam"], 60));
    // What is under both labels is under one afterwards.
    assert_eq!(outcome(&filter.learn("ham", &own).unwrap()), Outcome::LearnedAgain);
    assert_eq!(known(&filter, &own), labels(&["spam", "ham"], 61));
    let report = filter.correct("spam", &own).unwrap();
    assert_eq!(outcome(&report), Outcome::Moved { from: "ham".into() });
    assert_eq!(known(&filter, &own), labels(&["spam"], 60));
}

#[test]
fn mail_is_forgotten_under_the_given_label_only() {
    let (_room, _, mut filter) = filter(30, 30);
    let own = mail("ham", 3);
    filter.learn("spam", &own).unwrap();
    assert_eq!(known(&filter, &own), labels(&["ham", "spam"], 61));
    let report = filter.forget("ham", &own).unwrap();
    assert_eq!(outcome(&report), Outcome::Forgotten { from: "ham".into() });
    assert_eq!(known(&filter, &own), labels(&["spam"], 60));
    let report = filter.forget("ham", &own).unwrap();
    assert_eq!((outcome(&report), report.is_changed), (Outcome::NotKnown, false));
    let report = filter.forget_id(filter.id(own.as_bytes()).unwrap()).unwrap();
    assert_eq!(outcome(&report), Outcome::Forgotten { from: "spam".into() });
    assert_eq!(known(&filter, &own), labels(&[], 59));
}

#[test]
fn forgotten_mail_leaves_no_trace_in_any_file() {
    let (_room, path, mut filter) = filter(30, 30);
    let contents = || {
        let entries = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap());
        let file = |entry: fs::DirEntry| (entry.file_name(), fs::read(entry.path()).unwrap());
        entries.map(file).collect::<BTreeMap<_, _>>()
    };
    filter.forget("ham", mail("ham", 0)).unwrap();
    let before = contents();
    filter.correct("spam", "Subject: secret\n\na secret\n").unwrap();
    assert_ne!(contents(), before);
    filter.forget("spam", "Subject: secret\n\na secret\n").unwrap();
    assert_eq!(contents(), before);
}

#[test]
fn the_first_mail_of_a_label_is_fitted_at_once() {
    let (_room, _, mut filter) = filter(20, 3);
    let spam: Vec<String> = (0..3).map(|number| mail("spam", number)).collect();
    filter.forget_all("spam", spam.iter().map(String::as_bytes)).unwrap();
    assert_eq!(filter.documents(), 20);
    let report = filter.correct("spam", &spam[0]).unwrap();
    assert!(report.is_refitted);
    assert!(!filter.correct("spam", &spam[1]).unwrap().is_refitted);
}

#[test]
fn a_damaged_filter_classifies_as_before_and_is_made_again_by_the_next_change() {
    let (_room, path, mut filter) = filter(20, 20);
    for ledger in FilterFolder::new(&path).ledgers() {
        // The clock may not have moved on when the next one is written.
        let file = fs::File::options().write(true).open(path.join(ledger)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    }
    let more: Vec<String> = (20..30).map(|number| mail("spam", number)).collect();
    let report = filter.learn_all("spam", more.iter().map(String::as_bytes)).unwrap();
    assert!(report.is_refitted);
    let (table, whole) = (path.join(TABLE), fs::read(path.join(TABLE)).unwrap());
    let mut found_late = 0;
    for at in (0..whole.len()).step_by(512) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        fs::write(&table, damaged).unwrap();
        let filter = open(&path);
        let found_early = filter.warnings().len();
        filter.classify(mail("ham", 1)).unwrap();
        assert!(found_early == 0 || filter.documents() == 40, "{at}");
        found_late += usize::from(filter.warnings().len() > found_early);
    }
    assert!(found_late > 0);
    fs::write(&table, &whole[..30]).unwrap();
    let mut filter = open(&path);
    assert_eq!((filter.warnings().len(), filter.documents()), (1, 40));
    let report = filter.correct("ham", "Subject: new\n\nanother letter\n").unwrap();
    assert!(report.warnings[0].to_string().ends_with("and no document is lost"));
    let filter = open(&path);
    assert_eq!((filter.warnings().len(), filter.documents()), (0, 51));
    let before = FilterFolder::new(&path).open_before::<Rule>().unwrap();
    assert_eq!(before.number(), 40);
    // Nothing classifies where there is no state before.
    fs::remove_file(path.join(BEFORE)).unwrap();
    fs::write(&table, &whole[..30]).unwrap();
    let refused = MailFilter::open(&path, &MailFilterOptions::default());
    assert!(matches!(refused, Err(MailFilterError::Open(_))));
    let mended = MailFilter::open_to_change(&path, &MailFilterOptions::default()).unwrap();
    assert_eq!((mended.warnings().len(), mended.documents()), (1, 51));
}
