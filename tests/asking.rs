// SPDX-License-Identifier: GPL-3.0-or-later
//! `--mail-ask` names messages whose labels teach a mail filter most, `--mail-review` those that
//! seem to be in the wrong folder; both learn answers.

use dbacl_testing::{Scratch, has, is_installed};

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

/// What the program says on a terminal to somebody who gives these answers.
fn answered(scratch: &Scratch, options: &str, answers: &str) -> Option<String> {
    if !is_installed("script", "asking") {
        return None;
    }
    let command = format!("printf '{answers}' | script -qec 'dbacl {options}' /dev/null");
    Some(scratch.sh(&command).quiet(0))
}

/// The messages asked about, one a line.
fn asked(scratch: &Scratch, mail: &str) -> Vec<String> {
    let output = scratch.dbacl(&format!("--mail-ask f {mail}")).output();
    output.lines().map(str::to_owned).collect()
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
    scratch.write("folder/1", mixed("alone"));
    scratch.write("folder/2", mixed("twice"));
    scratch.write("folder/3", [b"\x7fELF\0\0\0".as_slice(), &[0; 200]].concat());
    let lines = asked(&scratch, "box folder");
    assert!(lines.len() <= 10, "{lines:#?}");
    for expected in ["folder/1\talone\tunsure ", "box, message 13\ttwice\tunsure "] {
        assert!(lines[..2].iter().any(|line| line.starts_with(expected)), "{lines:#?}");
    }
    assert_eq!(lines.iter().filter(|line| line.contains("twice")).count(), 1, "{lines:#?}");
    // What the filter has learned is not asked about.
    assert_eq!(asked(&scratch, "ham.mbox spam.mbox"), [""; 0]);
    scratch.dbacl("--mail-correct f spam folder/1").quiet(0);
    assert!(asked(&scratch, "folder").iter().all(|line| !line.contains("alone")));
}

#[test]
fn answers_on_a_terminal_are_learned() {
    let scratch = filter();
    scratch.write("1", mail(&format!("{HAM} {SPAM}"), "alone"));
    scratch.write("2", mail(&format!("{HAM} {SPAM} again"), "other words entirely"));
    let before = scratch.names();
    // One answer is wrong, one is how a label begins, and one is empty.
    let Some(said) = answered(&scratch, "--mail-ask f 1 2", "no\\n?\\nspa\\n\\n") else { return };
    has(&said, "no label begins with no|learned as spam: 1");
    // `?` shows the text, without the header.
    assert!(said.contains(&format!("\n{HAM} {SPAM}")), "{said}");
    assert!(!said.contains("learned as ham"), "{said}");
    assert_eq!(scratch.names(), before);
    assert_eq!(asked(&scratch, "1 2").len(), 1);
}

#[test]
fn thirty_unsure_verdicts_propose_questions() {
    let scratch = filter();
    scratch.write("1", mail(&format!("{HAM} {SPAM}"), "alone"));
    let verdicts = |times: usize| format!("--mail-verdict f{}", " 1".repeat(times));
    assert!(scratch.dbacl(&verdicts(29)).quiet(0).starts_with("unsure "));
    let said = "30 of the last 30 messages were unsure";
    scratch.dbacl(&verdicts(31)).complains(0, said);
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
        scratch.dbacl(args).complains(status, complaint);
    }
}

#[test]
fn mail_in_the_wrong_folder_is_reviewed_once() {
    let scratch = Scratch::new();
    let some = |kind: &str, words: &str| -> String {
        (0..150).map(|n| mail(words, &format!("{kind}{n}"))).collect()
    };
    let wrong: String = (0..3).map(|n| mail(SPAM, &format!("wrong{n}"))).collect();
    scratch.write("ham.mbox", some("ham", HAM) + &wrong);
    scratch.write("spam.mbox", some("spam", SPAM));
    let learn = || scratch.dbacl("--mail-learn f ham=ham.mbox spam=spam.mbox");
    learn().complains(0, "3 messages seem to be in the wrong folder");
    let listed = || -> Vec<String> {
        scratch.dbacl("--mail-review f").quiet(0).lines().map(str::to_owned).collect()
    };
    let lines = listed();
    assert_eq!(lines.len(), 3, "{lines:#?}");
    assert!(lines[0].contains("ham.mbox, message 15") && lines[0].contains("\tham\t"), "{lines:?}");
    let Some(said) = answered(&scratch, "--mail-review f", "spam\\nham\\n\\n") else { return };
    has(&said, "in ham; |learned as spam: 1");
    assert_eq!(listed().len(), 1);
    // The next learning remembers both answers.
    learn().complains(0, "1 message seems to be in the wrong folder");
    // A message that is no longer where it was is not asked about.
    scratch.write("ham.mbox", some("ham", HAM));
    scratch.dbacl("--mail-review f").complains(0, "there is nothing to review");
    // Nothing is said of mail that cannot be found.
    std::fs::remove_file(scratch.path("ham.mbox")).unwrap();
    let gone = scratch.dbacl("--mail-review f").complaint(0);
    assert!(gone.contains("ham.mbox is no longer a folder or file") && gone.lines().count() == 1);
    std::fs::remove_file(scratch.path("f/review.txt")).unwrap();
    scratch.dbacl("--mail-review f").complains(0, "does not know where its mail is");
    scratch.dbacl("--mail-review f ham.mbox").complaint(1);
    scratch.dbacl("--mail-review nowhere").complaint(1);
}

/// A message of one sender that is the only one to write about such a thing.
fn letter(sender: &str, words: &str, own: &str) -> String {
    mail(words, own).replace("From: a@example.org", &format!("From: {sender}"))
}

#[test]
fn mail_of_one_sender_in_the_wrong_folder_is_one_question() {
    let scratch = Scratch::new();
    let some = |kind: &str, words: &str| -> String {
        let one = |n| letter(&format!("{kind}{n}@example.org"), words, &format!("{kind}{n}"));
        (0..150).map(one).collect()
    };
    let (news, offers) = (format!("{HAM} seminar"), format!("{SPAM} seminar"));
    let wrong: String =
        (0..12).map(|n| letter("News <news@example.com>", &news, &format!("news{n}"))).collect();
    scratch.write("ham.mbox", some("ham", HAM));
    scratch.write("spam.mbox", some("spam", SPAM) + &some("more", &offers) + &wrong);
    scratch.dbacl("--quiet --mail-learn f ham=ham.mbox spam=spam.mbox").quiet(0);
    let said = scratch.dbacl("--mail-review f").quiet(0);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 12, "{said}");
    for line in lines {
        let is_whole = line.ends_with("\tspam\tlooks like ham\tfrom news@example.com");
        assert!(is_whole && line.contains("spam.mbox, message 3"), "{line}");
    }
    let Some(said) = answered(&scratch, "--mail-review f", "ham\n") else { return };
    has(&said, "1 of 1: news|  in spam; looks like ham|  and 11 more from news@example.com");
    has(&said, "learned as ham: 12");
    scratch.dbacl("--mail-review f").complains(0, "there is nothing to review");
    // The mail is there once more, and somebody says that it belongs there.
    scratch.write("spam.mbox", some("spam", SPAM) + &some("more", &offers) + &wrong + &wrong);
    scratch.dbacl("--quiet --mail-learn g ham=ham.mbox spam=spam.mbox").quiet(0);
    let Some(said) = answered(&scratch, "--mail-review g", "spam\n") else { return };
    has(&said, "1 of 1: news|  and 23 more from news@example.com");
    scratch.dbacl("--mail-review g").complains(0, "there is nothing to review");
}
