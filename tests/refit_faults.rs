// SPDX-License-Identifier: GPL-3.0-or-later
//! Files of fitted categories that are damaged, do not belong together, or belong to other
//! categories: what the program says, and what it makes again.

use crate::mails::{dbacl, mail};
use crate::refit::{filter, filter_read, verdict};
use std::cell::Cell;
use std::fs;
use std::path::Path;

#[test]
fn files_of_different_sets_are_noticed() {
    let (_one, one) = filter();
    let other = tempfile::tempdir().expect("a folder");
    fs::copy(one.join("f/ham.ordinary"), other.path().join("ham")).expect("copied");
    fs::copy(one.join("f/spam"), other.path().join("spam")).expect("copied");
    let mail = mail("spam", 1);
    let plain = dbacl(other.path(), &["-v", "-c", "./ham", "-c", "./spam"], &mail);
    assert!(plain.stderr.contains("only some of these categories were fitted together"));
    let verdict = dbacl(other.path(), &["--verdict", "-c", "./ham", "-c", "./spam"], &mail);
    assert_eq!(verdict.status, 1);
    assert!(verdict.stdout.is_empty());
}

#[test]
fn damaged_ledgers_are_refused_with_one_line_and_left_alone() {
    let (_folder, path) = filter();
    let ledger = path.join("f/ledger");
    let good = fs::read(&ledger).expect("there");
    let ham = fs::read(path.join("f/ham")).expect("there");
    let mut flipped = good.clone();
    flipped[200] ^= 1;
    let mut older = good.clone();
    older[15] = b'1';
    for damaged in [&good[..100], &good[..20], b"", &flipped[..], &older[..]] {
        fs::write(&ledger, damaged).expect("written");
        let args = ["--refit", "--keep", "f/ledger", "-c", "./f/ham", "-c", "./f/spam"];
        let result = dbacl(&path, &args, b"");
        assert_eq!(result.status, 1);
        assert_eq!(result.stderr.lines().count(), 1, "{}", result.stderr);
        assert!(fs::read(&ledger).expect("there") == damaged);
        assert!(fs::read(path.join("f/ham")).expect("there") == ham);
    }
}

/// What becomes of a file.
type Damage = fn(Vec<u8>) -> Vec<u8>;

#[test]
fn a_damaged_state_is_made_anew_from_the_ledger() {
    let (_folder, path) = filter_read("unicode");
    let state = path.join("f/ledger.state");
    let changes = path.join("f/ledger.set/current/ledger.changes");
    let update = |mail: &str| {
        let set = ["-c", "./f/ham", "-c", "./f/spam", "--keep", "f/ledger"];
        dbacl(&path, &[&["--update", "ham"], &set[..]].concat(), mail)
    };
    let number = Cell::new(60);
    let update_once = || {
        number.set(number.get() + 1);
        update(&mail("ham", number.get()))
    };
    let update_to = |said: &str| {
        let done = update_once();
        assert!(done.status == 0, "{}", done.stderr);
        let found = done.stderr;
        assert!(found.contains(said), "{}: {found}", number.get());
        assert_eq!(found.lines().count(), usize::from(!said.is_empty()), "{found}");
    };
    let read = |file: &Path| fs::read(file).expect("there");
    let whole = read(&state);
    update_to("");
    assert!(read(&state) == whole, "only what has changed is written");
    let not_fitting = "f/ledger.state did not fit its ledger and was made anew";
    let cut: Damage = |bytes| bytes[..bytes.len() / 2].to_vec();
    let flipped: Damage = |mut bytes| {
        bytes[100] ^= 1;
        bytes
    };
    let headless: Damage = |mut bytes| {
        bytes[192..200].fill(0);
        bytes
    };
    let other: Damage = |_| b"# dbacl state 2\n".to_vec();
    let none: Damage = |_| Vec::new();
    let begun: Damage = |bytes| bytes[..1].to_vec();
    let unnamed: Damage = |bytes| bytes[..9].to_vec();
    for (file, damage) in [
        (&state, cut),
        (&state, flipped),
        (&state, headless),
        (&state, other),
        (&state, none),
        (&state, begun),
        (&state, unnamed),
        (&changes, cut),
        (&changes, begun),
        (&changes, flipped),
        (&changes, none),
        (&changes, other),
    ] {
        // The one before has made the state again, and has no changes.
        update_to("");
        fs::write(file, damage(read(file))).expect("written");
        update_to(not_fitting);
        update_to("");
    }
    for file in [&state, &changes] {
        fs::remove_file(fs::canonicalize(file).expect("there")).expect("removed");
        update_to(not_fitting);
        update_to("");
    }
    // Blocks are looked at when they are needed: of documents at once, of features later on.
    let good = read(&state);
    let blocks = (1024..good.len()).step_by(3072);
    let mut found = [0; 2];
    for block in blocks {
        update_to("");
        let mut damaged = read(&state);
        assert_eq!(damaged.len(), good.len());
        damaged[block + 1000] ^= 1;
        fs::write(&state, &damaged).expect("written");
        let done = update_once();
        let said = done.stderr;
        assert!(done.status == 0 && said.lines().count() <= 1, "{said}");
        let is_needed = usize::from(said.contains("is damaged and was made anew"));
        if is_needed == 1 || said.contains(not_fitting) {
            found[is_needed] += 1;
            update_to("");
        } else {
            assert!(said.is_empty(), "{said}");
            fs::remove_file(fs::canonicalize(&state).expect("there")).expect("removed");
            update_to(not_fitting);
        }
        update_to("");
    }
    assert!(found[0] > 0 && found[1] > 0, "{found:?}");
    assert!(verdict(&path, &mail("spam", 77)).starts_with("X-DBACL: spam "));
}

#[test]
fn damaged_categories_of_a_set_are_refused_and_made_anew() {
    let (_folder, path) = filter();
    let ham = path.join("f/ham");
    let good = fs::read(&ham).expect("there");
    let set = ["-c", "./f/ham", "-c", "./f/spam"];
    let verdict = |path: &Path| dbacl(path, &[&["--verdict"], &set[..]].concat(), mail("ham", 1));
    let mends =
        [&["--update", "ham", "--keep", "f/ledger"][..], &["--refit", "--keep", "f/ledger"]];
    for (number, length) in [good.len() / 2, 300, 0].into_iter().enumerate() {
        for option in mends {
            fs::write(&ham, &good[..length]).expect("written");
            let result = verdict(&path);
            assert_eq!(result.status, 1);
            let said = result.stderr;
            assert!(said.ends_with("could not load category ./f/ham\n"), "{said}");
            assert!(said.contains("./f/ham.ordinary is whole: --refit makes"), "{said}");
            assert!(result.stdout.is_empty());
            let filtered = dbacl(&path, &["--mail-filter", "f"], mail("ham", 1));
            assert!(filtered.stdout.contains("X-DBACL: error\n"));
            let option = [option, &["--always"][..usize::from(option[0] == "--refit")]].concat();
            let mended = dbacl(&path, &[&option, &set[..]].concat(), mail("ham", 90 + number));
            let said = mended.stderr;
            assert!(mended.status == 0, "{said}");
            if option[0] == "--update" {
                assert!(
                    said.contains("is damaged and is made anew from ./f/ham.ordinary"),
                    "{said}"
                );
                assert_eq!(said.lines().count(), 1, "{said}");
            }
            assert!(verdict(&path).stderr.is_empty(), "it is whole again");
        }
    }
    // Without the ordinary file, or where something else is: refused, and nothing is learned.
    let ledger = fs::read(path.join("f/ledger")).expect("there");
    let refused = |content: &[u8]| {
        fs::write(&ham, content).expect("written");
        for option in mends {
            let result = dbacl(&path, &[option, &set[..]].concat(), mail("ham", 1));
            assert_eq!(result.status, 1, "{option:?}");
            assert!(fs::read(&ham).expect("there") == content);
            assert!(fs::read(path.join("f/ledger")).expect("there") == ledger);
        }
    };
    refused(b"something else");
    let ordinary = fs::canonicalize(path.join("f/ham.ordinary")).expect("there");
    fs::remove_file(ordinary).expect("removed");
    refused(b"");
}

#[test]
fn a_ledger_of_other_features_or_categories_is_refused() {
    let (_folder, path) = filter();
    let learned =
        dbacl(&path, &["-L", "uniform", "-l", "./ham", "--keep", "other", "ham.mbox"], b"");
    assert!(learned.status == 0, "{}", learned.stderr);
    let before = fs::read(path.join("f/ham")).expect("there");
    for option in [&["--refit"][..], &["--update", "ham"]] {
        let set = ["--keep", "other", "-c", "./f/ham", "-c", "./f/spam"];
        let result = dbacl(&path, &[option, &set[..]].concat(), mail("ham", 1)).complaint(1);
        assert!(result.contains("was kept with other options"), "{option:?}");
        assert_eq!(result.lines().count(), 1);
    }
    assert!(fs::read(path.join("f/ham")).expect("there") == before);
}
