// SPDX-License-Identifier: GPL-3.0-or-later
//! Damaged parts of a filter's files are noticed where they are read.

use crate::mails::mail;
use crate::sets::filter;
use dbacl::{MailFilter, MailFilterOptions};
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

const BLOCK: usize = 1024;

/// The verdicts of the filter in a folder on some messages, and warnings; an error in words.
fn verdicts(filter: &Path) -> Result<(Vec<String>, Vec<String>), String> {
    let filter = MailFilter::open(filter, &MailFilterOptions::default());
    let filter = filter.map_err(|error| error.to_string())?;
    let mut verdicts = Vec::new();
    for (label, number) in [("ham", 3), ("spam", 5), ("ham", 77), ("spam", 78)] {
        let verdict = filter.classify(mail(label, number).as_bytes());
        verdicts.push(verdict.map_err(|error| error.to_string())?.to_string());
    }
    Ok((verdicts, filter.warnings().iter().map(ToString::to_string).collect()))
}

fn correct(filter: &Path, label: &str, mail: &str) -> Result<u32, String> {
    let mut set = MailFilter::open(filter, &MailFilterOptions::default())
        .map_err(|error| error.to_string())?;
    set.correct(label, mail.as_bytes()).map_err(|error| error.to_string())?;
    Ok(set.documents())
}

/// Overwrites a part of a file in place.
fn damage(path: &Path, at: usize, whole: &[u8]) {
    let file = fs::OpenOptions::new().write(true).open(path).expect("opened");
    let old = &whole[at..whole.len().min(at + BLOCK)];
    let byte = if old.iter().all(|&byte| byte == 0) { 0xff } else { 0 };
    file.write_all_at(&vec![byte; old.len()], at as u64).expect("written");
}

#[test]
fn no_damaged_part_changes_a_verdict_unnoticed() {
    let place = filter();
    let filter = place.path("f");
    let (before, none) = verdicts(&filter).expect("whole");
    assert_eq!(none, [""; 0]);
    // So many corrections that all is fitted again.
    for number in 0..15 {
        correct(&filter, "ham", &(mail("spam", 5) + &format!("own{number}\n"))).expect("learned");
    }
    let (now, none) = verdicts(&filter).expect("whole");
    assert_eq!(none, [""; 0]);
    assert_ne!(now, before);
    let path = filter.join("table");
    let whole = fs::read(&path).expect("a file");
    let mut noticed = 0;
    for at in (0..whole.len()).step_by(BLOCK) {
        damage(&path, at, &whole);
        let (verdicts, warnings) = verdicts(&filter).expect("the table before");
        if warnings.is_empty() {
            assert_eq!(verdicts, now, "{at}");
        } else {
            noticed += 1;
            let said = "is damaged: what was known before the last change classifies";
            assert!(warnings.len() == 1 && warnings[0].ends_with(said), "{warnings:?}");
        }
        fs::write(&path, &whole).expect("written");
    }
    assert!(noticed > 1);
    // A journal of which the end is damaged has fewer lessons, and they are not learned twice.
    let lesson = mail("spam", 41);
    let known = correct(&filter, "spam", &lesson).expect("learned");
    let path = filter.join("journal");
    let mut journal = fs::read(&path).expect("a journal");
    let last = journal.len() - 9;
    journal[last] ^= 1;
    fs::write(&path, journal).expect("written");
    assert_eq!(verdicts(&filter).expect("a filter"), (now, Vec::new()));
    assert_eq!(correct(&filter, "spam", &lesson), Ok(known));
}

#[test]
fn a_damaged_ledger_is_named_when_it_is_needed() {
    let whole = filter();
    let name = whole.sh("ls f/ledger.*").output().trim().to_owned();
    let bytes = whole.read(&name);
    for at in [0, 100, bytes.len() - 100] {
        let place = whole.copy();
        let path = place.path("f");
        damage(&place.path(&name), at, &bytes);
        // Verdicts and lessons need no ledger.
        assert_eq!(verdicts(&path).expect("a verdict").1, [""; 0]);
        assert_eq!(correct(&path, "spam", &mail("spam", 40)), Ok(61));
        place.dbacl_reading("--mail-forget f spam", mail("spam", 3)).complains(1, "ledger.");
        // The folders say what to learn; corrections may be lost.
        let learned = place.dbacl("--mail-learn f ham=ham.mbox spam=spam.mbox");
        assert!(learned.stderr.contains("corrections that the folders do not confirm may be lost"));
        assert_eq!(learned.status, 0);
        place.dbacl("--check f").says("no damage found");
    }
}

#[test]
fn every_damaged_part_is_found_when_all_is_checked() {
    let place = filter();
    let filter = place.path("f");
    // What `--check` says of a file or folder, and its status.
    let check = |path: &str| {
        let done = place.dbacl(&format!("--check {path}"));
        (done.status, done.stdout + &done.stderr)
    };
    correct(&filter, "spam", &mail("spam", 40)).expect("learned");
    assert_eq!(check("f"), (0, "f: no damage found; changed today\n".into()));
    let long_ago = SystemTime::now() - Duration::from_secs(200 * 24 * 60 * 60);
    for name in ["table", "journal"] {
        let file = fs::File::open(filter.join(name)).expect("a file");
        file.set_modified(long_ago).expect("a new time");
    }
    let (_, said) = check("f");
    assert!(said.ends_with("found; changed 200 days ago: learn newer mail\n"), "{said}");
    let ledger = place.sh("cd f; ls ledger.*").output().trim().to_owned();
    for name in ["table", &ledger] {
        let path = filter.join(name);
        let whole = fs::read(&path).expect("a file");
        for at in (0..whole.len()).step_by(BLOCK.max(whole.len() / 8)) {
            damage(&path, at, &whole);
            let (status, said) = check("f");
            assert_eq!(status, 65, "{name} {at}: {said}");
            assert!(said.contains("learn"), "{said}");
            fs::write(&path, &whole).expect("written");
        }
    }
    assert_eq!(check("f").0, 0);
    assert_eq!(check("f/nothing").0, 66);
    place.write("text", "no file of dbacl");
    assert_eq!(check("text").0, 65);
}
