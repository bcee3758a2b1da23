// SPDX-License-Identifier: GPL-3.0-or-later
//! `--mail-ask` names messages whose labels teach a mail filter most, and learns answers.

use crate::mails::{dbacl, program, text};
use dbacl_testing::{Scratch, skip};
use std::process::Command;

/// A message of one of two kinds, or of both, with words of its own.
fn mail(words: &str, own: &str) -> String {
    format!(
        "From a@b.c Mon Jan  1 00:00:00 2024\nFrom: a@example.org\nSubject: {own}\n\n{words} \
         {own} {own}x {own}y {own}z\n\n"
    )
}

const HAM: &str = "meeting agenda minutes report of the whole group";
const SPAM: &str = "cheap pills offer buy them in our shop";

/// A folder with a filter of 30 messages of each kind.
fn filter() -> Scratch {
    let scratch = Scratch::new();
    for (name, words) in [("ham", HAM), ("spam", SPAM)] {
        let mails: String = (0..30).map(|n| mail(words, &format!("{name}{n}"))).collect();
        scratch.write(&format!("{name}.mbox"), mails);
    }
    scratch.dbacl("--quiet --mail-learn f ham=ham.mbox spam=spam.mbox").quiet(0);
    scratch
}

/// The messages asked about, one a line.
fn asked(scratch: &Scratch, mail: &[&str]) -> Vec<String> {
    let output = dbacl(&scratch.path("."), &[&["--mail-ask", "f"], mail].concat(), b"");
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn unsure_messages_come_first_and_duplicates_once() {
    let scratch = filter();
    let mixed = |own: &str| {
        let words: Vec<String> = (0..20).map(|n| format!("{own}word{n}")).collect();
        mail(&format!("{HAM} {SPAM} {}", words.join(" ")), own)
    };
    let sure: String = (0..12).map(|n| mail(HAM, &format!("more{n}"))).collect();
    scratch.write("box", [sure.clone(), mixed("twice"), mixed("twice"), sure].concat());
    std::fs::create_dir(scratch.path("folder")).expect("a folder");
    scratch.write("folder/1", mixed("alone"));
    scratch.write("folder/2", mixed("twice"));
    scratch.write("folder/3", [b"\x7fELF\0\0\0".as_slice(), &[0; 200]].concat());
    let lines = asked(&scratch, &["box", "folder"]);
    assert!(lines.len() <= 10, "{lines:#?}");
    for expected in ["folder/1\talone\tunsure ", "box, message 13\ttwice\tunsure "] {
        assert!(lines[..2].iter().any(|line| line.starts_with(expected)), "{lines:#?}");
    }
    assert_eq!(lines.iter().filter(|line| line.contains("twice")).count(), 1, "{lines:#?}");
    // What the filter has learned is not asked about.
    assert_eq!(asked(&scratch, &["ham.mbox", "spam.mbox"]), [""; 0]);
    scratch.dbacl("--mail-correct f spam folder/1").quiet(0);
    assert!(asked(&scratch, &["folder"]).iter().all(|line| !line.contains("alone")));
}

#[test]
fn answers_on_a_terminal_are_learned() {
    let scratch = filter();
    scratch.write("1", mail(&format!("{HAM} {SPAM}"), "alone"));
    scratch.write("2", mail(&format!("{HAM} {SPAM} again"), "other words entirely"));
    let before = scratch.names();
    let command = format!("'{}' --mail-ask f 1 2", program().display());
    if Command::new("script").arg("--version").output().is_err() {
        skip("asking", "no script(1)");
        return;
    }
    // One answer is wrong, one is how a label begins, and one is empty.
    let said =
        scratch.sh(&format!("printf 'no\\nspa\\n\\n' | script -qec \"{command}\" /dev/null"));
    let said = said.quiet(0);
    assert!(said.contains("no label begins with no"), "{said}");
    assert!(said.contains("learned as spam: 1") && !said.contains("learned as ham"), "{said}");
    assert_eq!(scratch.names(), before);
    assert_eq!(asked(&scratch, &["1", "2"]).len(), 1);
}

#[test]
fn what_cannot_be_asked_about_is_named() {
    let scratch = filter();
    for (args, status, complaint) in [
        ("--mail-ask f", 1, "--mail-ask needs the filter's folder and the mail to choose from"),
        ("--mail-ask f none", 1, "none"),
        ("--mail-ask nowhere ham.mbox", 1, "nowhere"),
        ("--mail-ask f .", 1, "keep the filter in a folder outside its mail"),
    ] {
        let said = scratch.dbacl(args).complaint(status);
        assert!(said.contains(complaint), "{args}: {said}");
    }
}
