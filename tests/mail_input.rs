// SPDX-License-Identifier: GPL-3.0-or-later
//! What a mail filter reads as mail: one mail or many in an input, pipes, mail that cannot be read.

use crate::mails::{dbacl, mail, text};
use dbacl::{FittedSet, FittedSetOptions, Outcome};
use std::fs;
use std::path::Path;
use std::process::Output;

const LEARN: [&str; 4] = ["--mail-learn", "f", "ham=ham", "spam=spam"];

/// The mail without the `From ` line of mailboxes.
fn single(label: &str, number: usize) -> String {
    mail(label, number).split_once('\n').expect("lines").1.to_owned()
}

/// A folder with 30 mails of either kind, each in a file of its own below `ham` and `spam`.
fn folders() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for label in ["ham", "spam"] {
        fs::create_dir(folder.path().join(label)).expect("made");
        for number in 0..30 {
            let place = folder.path().join(format!("{label}/{number:02}"));
            fs::write(place, single(label, number)).expect("written");
        }
    }
    folder
}

#[track_caller]
#[allow(clippy::needless_pass_by_value)] // it is asked for once
fn done(output: Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// What the program says when it refuses.
#[track_caller]
fn refused(folder: &Path, args: &[&str]) -> String {
    let output = dbacl(folder, args, b"");
    assert_eq!(output.status.code(), Some(1), "{args:?}: {output:?}");
    text(&output.stderr)
}

fn open(folder: &Path) -> FittedSet {
    FittedSet::open(&folder.join("f"), &FittedSetOptions::default()).expect("a filter")
}

/// How many documents the filter has, and the labels of this one.
fn documents(folder: &Path, mail: &str) -> (u32, Vec<String>) {
    let set = open(folder);
    let labels = set.labels_of(set.id(mail.as_bytes()).expect("features")).expect("a ledger");
    (set.documents(), labels)
}

/// A mail with a patch and a mailbox in it: lines that would begin mails in a mailbox.
fn with_patch() -> String {
    single("ham", 77)
        + "\nFrom 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001\n\
           From: A U Thor <a@example.org>\nSubject: [PATCH] another word\n\nthe review\n\n"
        + &mail("ham", 78)
}

#[test]
fn a_mail_that_holds_others_is_one_mail_everywhere() {
    let folder = folders();
    let path = folder.path();
    let odd = with_patch();
    fs::write(path.join("ham/99"), &odd).expect("written");
    assert!(done(dbacl(path, &LEARN, b"")).contains("61 documents (ham 31, spam 30)"));
    // The same mail as a file, and on standard input, is the document that the folder gave.
    assert_eq!(documents(path, &odd), (61, vec!["ham".into()]));
    for (label, file, input) in
        [("spam", None, odd.as_str()), ("ham", Some("ham/99"), ""), ("spam", Some("ham/99"), "")]
    {
        let args: Vec<&str> = ["--mail-correct", "f", label].into_iter().chain(file).collect();
        done(dbacl(path, &args, input.as_bytes()));
        assert_eq!(documents(path, &odd), (61, vec![label.to_owned()]), "{args:?}");
    }
    // So it is for the library, which servers use.
    let report = open(path).correct("ham", odd.as_bytes()).expect("corrected");
    let outcomes: Vec<&Outcome> = report.documents.iter().map(|one| &one.outcome).collect();
    assert_eq!(outcomes, [&Outcome::Moved { from: "spam".into() }]);
    let set = ["--keep", "f/ledger", "-c", "./f/ham", "-c", "./f/spam"];
    done(dbacl(path, &[&["--unlearn", "ham"][..], &set, &["ham/99"]].concat(), b""));
    assert_eq!(documents(path, &odd), (60, vec![]));
    // Learned as a file of its own it is one mail as well.
    let learn = ["--mail-learn", "g", "ham=ham/99", "spam=spam"];
    assert!(done(dbacl(path, &learn, b"")).contains("31 documents (ham 1, spam 30)"));
    let learn = ["-T", "email", "-l", "h", "--keep", "kept", "ham/99"];
    done(dbacl(path, &learn, b""));
    let kept = fs::read(path.join("kept")).expect("a ledger");
    assert_eq!(kept[33..37], [1, 0, 0, 0]);
}

#[test]
fn a_mailbox_on_standard_input_is_many_mails() {
    let folder = folders();
    let path = folder.path();
    done(dbacl(path, &LEARN, b""));
    let boxes: String = (40..43).map(|number| mail("spam", number)).collect();
    done(dbacl(path, &["--mail-correct", "f", "spam"], boxes.as_bytes()));
    assert_eq!(documents(path, &single("spam", 41)), (63, vec!["spam".into()]));
    // Some programs leave an empty line in front.
    let later: String = (50..52).map(|number| mail("ham", number)).collect();
    done(dbacl(path, &["--mail-correct", "f", "ham"], format!("\n{later}").as_bytes()));
    assert_eq!(documents(path, &single("ham", 51)), (65, vec!["ham".into()]));
    let all = [boxes, later].concat();
    done(dbacl(path, &["--mail-correct", "f", "ham"], all.as_bytes()));
    assert_eq!(documents(path, &single("spam", 41)), (65, vec!["ham".into()]));
}

#[test]
fn mail_from_a_pipe_is_learned_whole_with_a_window() {
    let folder = folders();
    let path = folder.path();
    // More mail than a reader looks at to find out the age of a mail.
    let many: String = (0..900).map(|number| mail("ham", number)).collect();
    assert!(many.len() > 1 << 17);
    fs::write(path.join("many"), &many).expect("written");
    let learn = |name: &str, window: &[&str], ham: &str, input: &str| {
        let args = [&["--mail-learn", name, ham, "spam=spam"], window].concat();
        done(dbacl(path, &args, input.as_bytes()))
    };
    let window = ["--window", "100000"];
    let expected = learn("f", &[], "ham=many", "");
    assert!(expected.contains("930 documents (ham 900, spam 30)"), "{expected}");
    assert_eq!(learn("g", &window, "ham=many", ""), expected);
    assert_eq!(learn("h", &window, "ham=/dev/stdin", &many), expected);
    let few = learn("i", &window, "ham=/dev/stdin", &mail("ham", 1));
    assert!(few.contains("31 documents (ham 1, spam 30)"), "{few}");
}

#[test]
fn learning_that_is_refused_leaves_nothing_behind() {
    let folder = folders();
    let path = folder.path();
    let names = |place: &Path| {
        let entries = fs::read_dir(place).expect("a folder").map(|entry| entry.expect("an entry"));
        let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        names.sort();
        names
    };
    let before = names(path);
    let stderr = refused(path, &["--mail-learn", ".", "ham=ham", "spam=spam"]);
    assert!(stderr.contains("already used for something; nothing was changed"), "{stderr}");
    assert_eq!(names(path), before);
    // There is a mail, but nothing in it to learn.
    fs::write(path.join("hollow"), "\n").expect("written");
    let before = names(path);
    for place in ["f", "."] {
        let stderr = refused(path, &["--mail-learn", place, "ham=hollow", "junk=spam"]);
        assert!(stderr.contains("there is no mail to learn in hollow"), "{stderr}");
        assert_eq!(names(path), before, "{place}");
    }
    // What was there before stays.
    fs::create_dir(path.join("f")).expect("made");
    fs::write(path.join("f/ledger.lock"), "").expect("written");
    refused(path, &["--mail-learn", "f", "ham=hollow", "spam=spam"]);
    assert_eq!(names(&path.join("f")), ["ledger.lock"]);
    done(dbacl(path, &LEARN, b""));
    refused(path, &["--mail-learn", "f", "ham=hollow", "spam=spam"]);
    assert!(path.join("f/ledger.lock").exists() && path.join("f/ham").exists());
}
