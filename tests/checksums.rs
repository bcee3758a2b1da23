// SPDX-License-Identifier: GPL-3.0-or-later
//! Damaged blocks of a set's files are noticed where they are read.

use crate::mails::mail;
use crate::sets::filter;
use dbacl::{FittedSet, FittedSetOptions, MailFilter};
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

const BLOCK: usize = 1024;

/// The verdicts of the filter in a folder on some messages, and warnings; an error in words.
fn verdicts(filter: &Path) -> Result<(Vec<String>, Vec<String>), String> {
    let mut warnings = Vec::new();
    let filter = MailFilter::open(filter, &mut |warning| warnings.push(warning.to_string()));
    let filter = filter.map_err(|error| error.to_string())?;
    let mut verdicts = Vec::new();
    for (label, number) in [("ham", 3), ("spam", 5), ("ham", 77), ("spam", 78)] {
        let verdict = filter.classify(mail(label, number).as_bytes());
        verdicts.push(verdict.map_err(|error| error.to_string())?.to_string());
    }
    warnings.extend(filter.warning().map(|warning| warning.to_string()));
    Ok((verdicts, warnings))
}

fn correct(filter: &Path, number: usize) -> Result<u32, String> {
    let mut set =
        FittedSet::open(filter, &FittedSetOptions::default()).map_err(|error| error.to_string())?;
    set.correct("spam", mail("spam", number).as_bytes()).map_err(|error| error.to_string())?;
    Ok(set.documents())
}

/// Overwrites a block of a file in place.
fn damage(path: &Path, at: usize, whole: &[u8]) {
    let file = fs::OpenOptions::new().write(true).open(path).expect("opened");
    let old = &whole[at..whole.len().min(at + BLOCK)];
    let byte = if old.iter().all(|&byte| byte == 0) { 0xff } else { 0 };
    file.write_all_at(&vec![byte; old.len()], at as u64).expect("written");
}

#[test]
fn no_damaged_block_changes_a_verdict_unnoticed() {
    let place = filter();
    let filter = place.path("f");
    let (before, none) = verdicts(&filter).expect("whole");
    assert_eq!(none, [""; 0]);
    let mut set = FittedSet::open(&filter, &FittedSetOptions::default()).expect("a filter");
    set.correct("spam", mail("ham", 3).as_bytes()).expect("corrected");
    let (now, none) = verdicts(&filter).expect("whole");
    assert_eq!(none, [""; 0]);
    assert_ne!(now, before);
    let current = filter.join("ledger.set/current");
    for name in ["category.ham", "category.spam", "order", "sums", "generation"] {
        let path = current.join(name);
        let whole = fs::read(&path).expect("a file");
        let mut noticed = 0;
        for at in (0..whole.len()).step_by(BLOCK) {
            damage(&path, at, &whole);
            match verdicts(&filter) {
                Ok((verdicts, warnings)) if warnings.is_empty() => assert_eq!(verdicts, now),
                Ok((verdicts, warnings)) => {
                    noticed += 1;
                    assert_eq!(warnings.len(), 1, "{name} {at}: {warnings:?}");
                    assert!(warnings[0].contains("what was before them is used"), "{warnings:?}");
                    assert_eq!(verdicts, before, "{name} {at}");
                }
                // Both generations have the same file.
                Err(error) => {
                    noticed += 1;
                    assert_eq!(name, "order", "{error}");
                    assert!(error.contains("damaged"), "{error}");
                }
            }
            fs::write(&path, &whole).expect("written");
        }
        assert!(noticed > 0, "{name}");
        assert_eq!(verdicts(&filter).expect("whole"), (now.clone(), Vec::new()), "{name}");
    }
}

#[test]
fn a_change_makes_a_damaged_category_anew() {
    let whole = filter();
    correct(&whole.path("f"), 40).expect("learned");
    for name in ["category.ham", "category.spam", "sums"] {
        let place = whole.copy();
        let filter = place.path("f");
        let path = filter.join("ledger.set/current").join(name);
        let bytes = fs::read(&path).expect("a file");
        for at in (0..bytes.len()).step_by(BLOCK) {
            damage(&path, at, &bytes);
        }
        assert_eq!(verdicts(&filter).expect("the one before").1.len(), 1);
        assert_eq!(correct(&filter, 41), Ok(62), "{name}");
        let (verdicts, warnings) = verdicts(&filter).expect("whole again");
        assert_eq!(warnings, [""; 0]);
        assert!(verdicts[3].starts_with("spam"), "{verdicts:?}");
    }
}

#[test]
fn no_damaged_ledger_learns_a_mail_twice() {
    let whole = filter();
    assert_eq!(correct(&whole.path("f"), 40), Ok(61));
    let bytes = whole.read("f/ledger");
    let blocks: Vec<usize> = (100..bytes.len()).step_by(BLOCK).collect();
    let damaged = |blocks: &[usize]| {
        let place = whole.copy();
        for &at in blocks {
            damage(&place.path("f/ledger"), at, &bytes);
        }
        place
    };
    for blocks in [&blocks[..], &blocks[..1], &blocks[1..2]] {
        for number in [0, 15, 29, 40] {
            match correct(&damaged(blocks).path("f"), number) {
                Ok(documents) => assert_eq!(documents, 61, "{number}"),
                Err(error) => assert!(error.contains("learn"), "{error}"),
            }
        }
    }
    correct(&damaged(&blocks).path("f"), 15).expect_err("the ledger is damaged");
}

#[test]
fn every_damaged_block_is_found_when_all_is_checked() {
    let place = filter();
    let filter = place.path("f");
    // What `--check` says of a file or folder, and its status.
    let check = |path: &str| {
        let done = place.dbacl(&format!("--check {path}"));
        (done.status, done.stdout + &done.stderr)
    };
    correct(&filter, 40).expect("learned");
    for path in ["f", "f/spam", "f/ledger"] {
        let (status, said) = check(path);
        assert_eq!(status, 0, "{said}");
        let age = if path == "f" { "; changed today" } else { "" };
        assert!(said.ends_with(&format!(": no damage found{age}\n")), "{said}");
    }
    let ledger = fs::File::open(filter.join("ledger")).expect("the ledger");
    let long_ago = SystemTime::now() - Duration::from_secs(200 * 24 * 60 * 60);
    ledger.set_modified(long_ago).expect("a new time");
    let (_, said) = check("f");
    assert!(said.ends_with("found; changed 200 days ago: learn newer mail\n"), "{said}");
    let mut files: Vec<_> = fs::read_dir(filter.join("ledger.set/current"))
        .expect("a generation")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    for path in files {
        let whole = fs::read(&path).expect("a file");
        for at in (0..whole.len()).step_by(BLOCK.max(whole.len() / 4)) {
            damage(&path, at, &whole);
            let (status, said) = check("f");
            assert_eq!(status, 65, "{} {at}: {said}", path.display());
            assert!(said.contains("learn") || said.contains("correction"), "{said}");
            fs::write(&path, &whole).expect("written");
        }
    }
    assert_eq!(check("f").0, 0);
    assert_eq!(check("f/nothing").0, 66);
    place.write("text", "no file of dbacl");
    assert_eq!(check("text").0, 65);
}
