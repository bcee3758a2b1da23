// SPDX-License-Identifier: GPL-3.0-or-later
//! What a mail filter reads as mail: one message or many in an input, pipes, mail that cannot be
//! read.

use crate::folders::contents;
use crate::mails::mail;
use dbacl::{MailFilter, MailFilterOptions, MailFolder, MailLearnOptions, Outcome};
use dbacl_testing::{Scratch, has};
use std::fs;
use std::os::unix::fs::symlink;

const LEARN: &str = "--mail-learn f ham=ham spam=spam";

/// The mail without the `From ` line of mailboxes.
fn single(label: &str, number: usize) -> String {
    mail(label, number).split_once('\n').expect("lines").1.to_owned()
}

/// A folder with 30 messages of either kind, each in a file of its own below `ham` and `spam`.
fn folders() -> Scratch {
    let place = Scratch::new();
    for label in ["ham", "spam"] {
        for number in 0..30 {
            place.write(&format!("{label}/{number:02}"), single(label, number));
        }
    }
    place
}

fn open(place: &Scratch) -> MailFilter {
    MailFilter::open(&place.path("f"), &MailFilterOptions::default()).expect("a filter")
}

/// How many documents the filter has, and the labels of this one.
fn documents(place: &Scratch, mail: &str) -> (u32, Vec<String>) {
    let set = open(place);
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
    let place = folders();
    let odd = with_patch();
    place.write("ham/99", &odd);
    place.dbacl(LEARN).says("61 messages (ham 31, spam 30)");
    // The same mail as a file, and on standard input, is the document that the folder gave.
    assert_eq!(documents(&place, &odd), (61, vec!["ham".into()]));
    for (label, file, input) in
        [("spam", "", odd.as_str()), ("ham", "ham/99", ""), ("spam", "ham/99", "")]
    {
        place.dbacl_reading(&format!("--mail-correct f {label} {file}"), input).output();
        assert_eq!(documents(&place, &odd), (61, vec![label.to_owned()]), "{label} {file}");
    }
    // So it is for the library, which servers use.
    let report = open(&place).correct("ham", odd.as_bytes()).expect("corrected");
    let outcomes: Vec<&Outcome> = report.documents.iter().map(|one| &one.outcome).collect();
    assert_eq!(outcomes, [&Outcome::Moved { from: "spam".into() }]);
    place.dbacl("--mail-forget f ham ham/99").output();
    assert_eq!(documents(&place, &odd), (60, vec![]));
    // Learned as a file of its own it is one message as well.
    place.dbacl("--mail-learn g ham=ham/99 spam=spam").says("31 messages (ham 1, spam 30)");
}

#[test]
fn a_mailbox_on_standard_input_is_many_mails() {
    let place = folders();
    place.dbacl(LEARN).output();
    let boxes: String = (40..43).map(|number| mail("spam", number)).collect();
    place.dbacl_reading("--mail-correct f spam", &boxes).output();
    assert_eq!(documents(&place, &single("spam", 41)), (63, vec!["spam".into()]));
    // Some programs leave an empty line in front.
    let later: String = (50..52).map(|number| mail("ham", number)).collect();
    place.dbacl_reading("--mail-correct f ham", format!("\n{later}")).output();
    assert_eq!(documents(&place, &single("ham", 51)), (65, vec!["ham".into()]));
    let all = [boxes, later].concat();
    place.dbacl_reading("--mail-correct f ham", all).output();
    assert_eq!(documents(&place, &single("spam", 41)), (65, vec!["ham".into()]));
}

#[test]
fn mail_from_a_pipe_is_learned_whole_with_a_window() {
    let place = folders();
    // More mail than a reader looks at to find out the age of a message.
    let many: String = (0..900).map(|number| mail("ham", number)).collect();
    assert!(many.len() > 1 << 17);
    place.write("many", &many);
    let learn = |args: &str, input: &str| {
        place.dbacl_reading(&format!("--mail-learn {args} spam=spam"), input).output()
    };
    let expected = learn("f ham=many", "");
    has(&expected, "930 messages (ham 900, spam 30)");
    assert_eq!(learn("g --window 100000 ham=many", ""), expected);
    assert_eq!(learn("h --window 100000 ham=/dev/stdin", &many), expected);
    let few = learn("i --window 100000 ham=/dev/stdin", &mail("ham", 1));
    has(&few, "31 messages (ham 1, spam 30)");
    // A mailbox of which one message is young enough is a mailbox all the same.
    let dated = |number, year: &str| mail("ham", number).replace(" 2024", year);
    let all: String = (0..900).map(|number| dated(number, " 1999")).collect::<String>();
    place.write("old", all + &dated(900, " 2024"));
    let one = place.dbacl("--mail-learn j --window 9000 ham=old spam=spam");
    has(&one.stdout, "31 messages (ham 1, spam 30)");
    assert!(!one.stderr.contains("one message of"), "{}", one.stderr);
}

#[test]
fn a_folder_of_many_files_is_read_in_order() {
    let place = Scratch::new();
    for label in ["ham", "spam"] {
        let mut mailbox = String::new();
        for number in 0..150 {
            place.write(&format!("{label}/{number:03}"), single(label, number));
            mailbox += &mail(label, number);
        }
        place.write(&format!("{label}.mbox"), mailbox);
    }
    let learned = place.dbacl(LEARN).quiet(0);
    let of_mailboxes = place.dbacl("--mail-learn g ham=ham.mbox spam=spam.mbox").quiet(0);
    assert_eq!(of_mailboxes, learned);
    place.sh("cmp f/table g/table && ls f g | sort | uniq -c | grep -q '2 ledger'").quiet(0);
    // What is not mail is named in the order of the files.
    for number in ["010", "070", "140"] {
        place.write(&format!("ham/{number}.bin"), b"\x7fELF\x02\x01\x01\0\0\0");
    }
    let said = place.dbacl(LEARN).stderr;
    let named = ["010", "070", "140"].map(|number| format!("ham/{number}.bin (a program)"));
    has(&said, &named.join(", "));
    // The first file that cannot be read is the one that the error names.
    place.sh("for n in 130 020 080; do ln -s loop$n ham/loop$n; done").quiet(0);
    place.dbacl(LEARN).complains(1, "couldn't open ham/loop020");
}

#[test]
fn nothing_that_cannot_be_read_is_left_out() {
    let place = folders();
    for label in ["one", "two"] {
        place.sh(&format!("mkdir -p P/{label}/new")).quiet(0);
        for number in 0..4 {
            place.write(&format!("P/{label}/cur/{number}"), single("ham", number));
        }
    }
    let run = |ham: &str| place.dbacl(&format!("--mail-learn f {ham} spam=spam"));
    run("ham=P").says("38 messages (ham 8, spam 30)");
    // A link that leads nowhere is like a message that has been removed meanwhile.
    symlink("nowhere", place.path("P/two/cur/gone")).expect("a link");
    run("ham=P").says("38 messages (ham 8, spam 30)");
    let before = contents(&place);
    // A link to itself cannot be followed by anybody, not even by the superuser.
    let is_refused = |named: &str, mails: &str| {
        run(mails).complains(1, &format!("couldn't open {named}"));
        assert!(contents(&place) == before, "{named}, {mails}");
    };
    symlink("loop", place.path("P/two/cur/loop")).expect("a link");
    for mails in ["ham=P", "ham=P/two", "ham=P/*/cur", "ham=P/*/cur/*"] {
        is_refused("P/two/cur/loop", mails);
    }
    place.sh("cd P/two; rm cur/loop; mv cur ../../elsewhere; ln -s cur cur").quiet(0);
    for mails in ["ham=P", "ham=P/two", "ham=P/*/cur/*"] {
        is_refused("P/two/cur", mails);
    }
    // The documents of a fit are read as carefully.
    place.write("plain/1", single("ham", 1));
    symlink("loop", place.path("plain/loop")).expect("a link");
    place.dbacl("--mail-correct f ham plain").complains(1, "couldn't open plain/loop");
    // Learning one category leaves out what it cannot read, as dbacl 1.14.1 does.
    place.dbacl("-T email -l alone plain").output();
}

#[test]
fn mail_without_permission_is_not_left_out() {
    let place = folders();
    place.write("P/box/cur/1", single("ham", 1));
    place.sh("mkdir P/box/new").quiet(0);
    let chmod = |mode: &str, name: &str| place.sh(&format!("chmod {mode} {name}")).quiet(0);
    chmod("0", "P/box/cur");
    if fs::read_dir(place.path("P/box/cur")).is_ok() {
        return; // the superuser reads everything
    }
    chmod("755", "P/box/cur");
    for (folder, mode, named) in [
        ("P/box", "444", "P/box/cur"),
        ("P/box/cur", "444", "P/box/cur/1"),
        ("P/box/cur", "000", "P/box/cur"),
    ] {
        chmod(mode, folder);
        for ham in ["ham=P", "ham=P/box", "ham=P/*/cur/*"] {
            let said = place.dbacl(&format!("--mail-learn f {ham} spam=spam")).complaint(1);
            let named = if ham.ends_with('*') { folder } else { named };
            let expected = format!("couldn't open {named}: ");
            assert!(said.contains(&expected), "{folder} {mode} {ham}: {said}");
        }
        chmod("755", folder);
    }
}

#[test]
fn learning_that_is_refused_leaves_nothing_behind() {
    let place = folders();
    let refused = |args: &str| place.dbacl(&format!("--mail-learn {args}")).complaint(1);
    // There is a message, but nothing in it to learn.
    place.write("hollow", "\n");
    let before = place.names();
    for filter in ["f", "."] {
        let said = refused(&format!("{filter} ham=hollow junk=spam"));
        has(&said, "there is no mail to learn in hollow");
        assert_eq!(place.names(), before, "{filter}");
    }
    // What was there before stays.
    place.write("f/lock", "");
    refused("f ham=hollow spam=spam");
    assert_eq!(place.sh("ls -A f").quiet(0), "lock\n");
    place.dbacl(LEARN).output();
    refused("f ham=hollow spam=spam");
    assert!(place.path("f/lock").exists() && place.path("f/table").exists());
}

#[test]
fn the_library_names_mail_that_cannot_be_read() {
    let place = folders();
    symlink("loop", place.path("ham/loop")).expect("a link");
    let folders = ["ham", "spam"].map(|label| MailFolder::new(label, place.path(label)));
    let learned =
        MailFilter::learn_folders(&place.path("f"), &folders, &MailLearnOptions::default());
    let said = learned.expect_err("a link to itself").to_string();
    has(&said, "ham/loop");
    assert!(!place.path("f").exists());
}

#[test]
fn mail_that_a_pattern_found_may_be_gone_when_it_is_read() {
    let place = folders();
    let ham = MailFolder::new("ham", place.path("ham")).and(place.path("ham/gone"));
    let learn = |ham| {
        let folders = [ham, MailFolder::new("spam", place.path("spam"))];
        MailFilter::learn_folders(&place.path("f"), &folders, &MailLearnOptions::default())
    };
    let said = learn(ham.clone()).expect_err("it is not there").to_string();
    has(&said, "couldn't open|ham/gone");
    let (_, learned) = learn(ham.listed()).expect("the rest");
    assert_eq!(learned.documents, [30, 30]);
}
