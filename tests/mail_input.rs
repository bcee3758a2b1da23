// SPDX-License-Identifier: GPL-3.0-or-later
//! What a mail filter reads as mail: one message or many in an input, pipes, mail that cannot be
//! read.

use crate::mails::{dbacl, mail};
use dbacl::{FittedSet, FittedSetOptions, MailFolder, MailLearnOptions, Outcome};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

const LEARN: [&str; 4] = ["--mail-learn", "f", "ham=ham", "spam=spam"];

/// The mail without the `From ` line of mailboxes.
fn single(label: &str, number: usize) -> String {
    mail(label, number).split_once('\n').expect("lines").1.to_owned()
}

/// A folder with 30 messages of either kind, each in a file of its own below `ham` and `spam`.
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

/// What the program says when it refuses.
#[track_caller]
fn refused(folder: &Path, args: &[&str]) -> String {
    dbacl(folder, args, b"").complaint(1)
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

/// A message with a patch and a mailbox in it: lines that would begin messages in a mailbox.
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
    assert!(dbacl(path, &LEARN, b"").output().contains("61 messages (ham 31, spam 30)"));
    // The same mail as a file, and on standard input, is the document that the folder gave.
    assert_eq!(documents(path, &odd), (61, vec!["ham".into()]));
    for (label, file, input) in
        [("spam", None, odd.as_str()), ("ham", Some("ham/99"), ""), ("spam", Some("ham/99"), "")]
    {
        let args: Vec<&str> = ["--mail-correct", "f", label].into_iter().chain(file).collect();
        dbacl(path, &args, input).output();
        assert_eq!(documents(path, &odd), (61, vec![label.to_owned()]), "{args:?}");
    }
    // So it is for the library, which servers use.
    let report = open(path).correct("ham", odd.as_bytes()).expect("corrected");
    let outcomes: Vec<&Outcome> = report.documents.iter().map(|one| &one.outcome).collect();
    assert_eq!(outcomes, [&Outcome::Moved { from: "spam".into() }]);
    let set = ["--keep", "f/ledger", "-c", "./f/ham", "-c", "./f/spam"];
    dbacl(path, &[&["--unlearn", "ham"][..], &set, &["ham/99"]].concat(), b"").output();
    assert_eq!(documents(path, &odd), (60, vec![]));
    // Learned as a file of its own it is one message as well.
    let learn = ["--mail-learn", "g", "ham=ham/99", "spam=spam"];
    assert!(dbacl(path, &learn, b"").output().contains("31 messages (ham 1, spam 30)"));
    let learn = ["-T", "email", "-l", "h", "--keep", "kept", "ham/99"];
    dbacl(path, &learn, b"").output();
    let kept = fs::read(path.join("kept")).expect("a ledger");
    assert_eq!(kept[33..37], [1, 0, 0, 0]);
}

#[test]
fn a_mailbox_on_standard_input_is_many_mails() {
    let folder = folders();
    let path = folder.path();
    dbacl(path, &LEARN, b"").output();
    let boxes: String = (40..43).map(|number| mail("spam", number)).collect();
    dbacl(path, &["--mail-correct", "f", "spam"], &boxes).output();
    assert_eq!(documents(path, &single("spam", 41)), (63, vec!["spam".into()]));
    // Some programs leave an empty line in front.
    let later: String = (50..52).map(|number| mail("ham", number)).collect();
    dbacl(path, &["--mail-correct", "f", "ham"], format!("\n{later}")).output();
    assert_eq!(documents(path, &single("ham", 51)), (65, vec!["ham".into()]));
    let all = [boxes, later].concat();
    dbacl(path, &["--mail-correct", "f", "ham"], all).output();
    assert_eq!(documents(path, &single("spam", 41)), (65, vec!["ham".into()]));
}

#[test]
fn mail_from_a_pipe_is_learned_whole_with_a_window() {
    let folder = folders();
    let path = folder.path();
    // More mail than a reader looks at to find out the age of a message.
    let many: String = (0..900).map(|number| mail("ham", number)).collect();
    assert!(many.len() > 1 << 17);
    fs::write(path.join("many"), &many).expect("written");
    let learn = |name: &str, window: &[&str], ham: &str, input: &str| {
        let args = [&["--mail-learn", name, ham, "spam=spam"], window].concat();
        dbacl(path, &args, input).output()
    };
    let window = ["--window", "100000"];
    let expected = learn("f", &[], "ham=many", "");
    assert!(expected.contains("930 messages (ham 900, spam 30)"), "{expected}");
    assert_eq!(learn("g", &window, "ham=many", ""), expected);
    assert_eq!(learn("h", &window, "ham=/dev/stdin", &many), expected);
    let few = learn("i", &window, "ham=/dev/stdin", &mail("ham", 1));
    assert!(few.contains("31 messages (ham 1, spam 30)"), "{few}");
}

#[test]
fn nothing_that_cannot_be_read_is_left_out() {
    let folder = folders();
    let path = folder.path();
    for label in ["one", "two"] {
        for part in ["cur", "new"] {
            fs::create_dir_all(path.join("P").join(label).join(part)).expect("made");
        }
        for number in 0..4 {
            let place = path.join(format!("P/{label}/cur/{number}"));
            fs::write(place, single("ham", number)).expect("written");
        }
    }
    let learn = |ham: &str| ["--mail-learn", "f", ham, "spam=spam"].map(str::to_owned);
    let run = |ham: &str| {
        let args = learn(ham);
        dbacl(path, &args.each_ref().map(String::as_str), b"")
    };
    assert!(run("ham=P").output().contains("38 messages (ham 8, spam 30)"));
    // A link that leads nowhere is like a message that has been removed meanwhile.
    symlink("nowhere", path.join("P/two/cur/gone")).expect("a link");
    assert!(run("ham=P").output().contains("38 messages (ham 8, spam 30)"));
    let before = fs::read(path.join("f/ledger")).expect("there");
    // A link to itself cannot be followed by anybody, not even by the superuser.
    let is_refused = |place: &str, mails: &str| {
        let output = run(mails);
        let stderr = output.stderr;
        assert_eq!(output.status, 1, "{place}, {mails}: {stderr}");
        assert!(stderr.contains(&format!("couldn't open {place}")), "{place}, {mails}: {stderr}");
        assert!(fs::read(path.join("f/ledger")).expect("there") == before, "{place}, {mails}");
    };
    symlink("loop", path.join("P/two/cur/loop")).expect("a link");
    is_refused("P/two/cur/loop", "ham=P");
    is_refused("P/two/cur/loop", "ham=P/two");
    is_refused("P/two/cur/loop", "ham=P/*/cur");
    is_refused("P/two/cur/loop", "ham=P/*/cur/*");
    fs::remove_file(path.join("P/two/cur/loop")).expect("removed");
    fs::rename(path.join("P/two/cur"), path.join("elsewhere")).expect("moved");
    symlink("cur", path.join("P/two/cur")).expect("a link");
    is_refused("P/two/cur", "ham=P");
    is_refused("P/two/cur", "ham=P/two");
    is_refused("P/two/cur", "ham=P/*/cur/*");
    // The documents of a fit are read as carefully.
    fs::create_dir(path.join("plain")).expect("made");
    fs::write(path.join("plain/1"), single("ham", 1)).expect("written");
    symlink("loop", path.join("plain/loop")).expect("a link");
    let stderr = refused(path, &["--mail-correct", "f", "ham", "plain"]);
    assert!(stderr.contains("couldn't open plain/loop"), "{stderr}");
    // Learning one category leaves out what it cannot read, as dbacl 1.14.1 does.
    dbacl(path, &["-T", "email", "-l", "alone", "plain"], b"").output();
}

#[test]
fn mail_without_permission_is_not_left_out() {
    let folder = folders();
    let path = folder.path();
    for part in ["cur", "new"] {
        fs::create_dir_all(path.join("P/box").join(part)).expect("made");
    }
    fs::write(path.join("P/box/cur/1"), single("ham", 1)).expect("written");
    let chmod = |place: &str, mode| {
        fs::set_permissions(path.join(place), fs::Permissions::from_mode(mode)).expect("ours");
    };
    chmod("P/box/cur", 0);
    if fs::read_dir(path.join("P/box/cur")).is_ok() {
        return; // the superuser reads everything
    }
    chmod("P/box/cur", 0o755);
    for (place, mode, named) in [
        ("P/box", 0o444, "P/box/cur"),
        ("P/box/cur", 0o444, "P/box/cur/1"),
        ("P/box/cur", 0o000, "P/box/cur"),
    ] {
        chmod(place, mode);
        for ham in ["ham=P", "ham=P/box", "ham=P/*/cur/*"] {
            let stderr = refused(path, &["--mail-learn", "f", ham, "spam=spam"]);
            let named = if ham.ends_with('*') { place } else { named };
            let expected = format!("couldn't open {named}: ");
            assert!(stderr.contains(&expected), "{place} {mode:o} {ham}: {stderr}");
        }
        chmod(place, 0o755);
    }
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
    // There is a message, but nothing in it to learn.
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
    dbacl(path, &LEARN, b"").output();
    refused(path, &["--mail-learn", "f", "ham=hollow", "spam=spam"]);
    assert!(path.join("f/ledger.lock").exists() && path.join("f/ham").exists());
}

#[test]
fn the_library_names_mail_that_cannot_be_read() {
    let folder = folders();
    let path = folder.path();
    symlink("loop", path.join("ham/loop")).expect("a link");
    let folders = ["ham", "spam"].map(|label| MailFolder::new(label, path.join(label)));
    let learned = FittedSet::learn_folders(&path.join("f"), &folders, &MailLearnOptions::default());
    let said = learned.expect_err("a link to itself").to_string();
    assert!(said.contains("ham/loop"), "{said}");
    assert!(!path.join("f").exists());
}

#[test]
fn mail_that_a_pattern_found_may_be_gone_when_it_is_read() {
    let folder = folders();
    let path = folder.path();
    let ham = MailFolder::new("ham", path.join("ham")).and(path.join("ham/gone"));
    let learn = |ham| {
        let folders = [ham, MailFolder::new("spam", path.join("spam"))];
        FittedSet::learn_folders(&path.join("f"), &folders, &MailLearnOptions::default())
    };
    let said = learn(ham.clone()).expect_err("it is not there").to_string();
    assert!(said.contains("couldn't open") && said.contains("ham/gone"), "{said}");
    let (_, learned) = learn(ham.listed()).expect("the rest");
    assert_eq!(learned.documents, [30, 30]);
}
