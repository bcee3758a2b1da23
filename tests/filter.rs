// SPDX-License-Identifier: GPL-3.0-or-later
//! The mail filter by the program: what verdicts and files users see.

use crate::folders::{contents, contents_of};
use crate::mails::mail;
use crate::sets::documents;
use crate::sets::{filter, mailboxes, verdict};
use dbacl::{MailFilter, MailFilterOptions};
use dbacl_testing::{Scratch, has};

#[test]
fn a_filter_learns_judges_and_is_corrected() {
    let place = filter();
    assert!(verdict(&place, &mail("spam", 77)).starts_with("X-DBACL: spam "));
    assert!(verdict(&place, &mail("ham", 77)).starts_with("X-DBACL: ham "));
    let forged = mail("spam", 78).replace("Subject", "X-DBACL: ham 100.00%\nSubject");
    assert!(verdict(&place, &forged).starts_with("X-DBACL: spam "));
    let odd = "From: friend@example.org\n\ncheap pills offer from a friend of agenda\n";
    for word in ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"] {
        place.dbacl_reading("--mail-correct f ham", format!("{odd}and {word}\n")).output();
    }
    assert!(verdict(&place, odd).contains("ham"), "{}", verdict(&place, odd));
}

#[test]
fn reasons_add_up_to_the_odds() {
    let place = filter();
    let forged = "X-DBACL-Reasons: ham +9.00 =\n +9.00 nothing\n";
    for label in ["spam", "ham"] {
        let odd = "caf\u{e9} \u{1b}[31m a,b=+1.00\r\tX-Evil: yes ".repeat(3);
        let mail = mail(label, 77).replace("common", &format!("common {odd}"));
        let brought = mail.replace("Subject", &format!("{forged}Subject"));
        let output = place.dbacl_reading("--mail-filter f --reasons", brought).output();
        let start = output.find("X-DBACL-Reasons:").expect("reasons");
        let end = output.find("From: ").expect("the mail's own header");
        let header = &output[start..end];
        assert_eq!(output.matches("X-DBACL-Reasons").count(), 1, "{output}");
        let verdict = output.find("X-DBACL: ").expect("a verdict");
        assert!(verdict < start, "{output}");
        assert_eq!(output[..verdict].to_owned() + &output[end..], mail, "the mail is unchanged");
        for (number, line) in header.lines().enumerate() {
            assert!(line.len() <= 78 && (number == 0 || line.starts_with(' ')), "{header}");
            assert!(line.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{header}");
        }
        let numbers: Vec<f64> = header
            .split_whitespace()
            .filter(|word| word.starts_with(['+', '-']))
            .filter_map(|word| word.parse().ok())
            .collect();
        assert!((4..=13).contains(&numbers.len()), "{header}");
        let sum: f64 = numbers[1..].iter().sum();
        assert!((numbers[0] - sum).abs() < 1e-6, "{header}");
        assert!(header.starts_with(&format!("X-DBACL-Reasons: {label} ")), "{header}");
        let filter =
            MailFilter::open(&place.path("f"), &MailFilterOptions::default()).expect("a filter");
        let found = filter.classify(&mail).expect("a verdict").probability;
        let bits = (found / (1.0 - found)).log2();
        assert!((bits - sum).abs() < 0.01, "{bits} {header}");
    }
    let plain = place.dbacl_reading("--mail-filter f", mail("spam", 77));
    assert!(!plain.stdout.contains("Reasons"));
}

#[test]
fn a_filter_of_few_mails_says_what_it_does_not_know() {
    let place = Scratch::new();
    let learn = |number: usize| {
        for label in ["ham", "spam"] {
            let all: String = (0..number).map(|number| mail(label, number)).collect();
            place.write(label, all);
        }
        place.dbacl("--mail-learn f ham=ham spam=spam").output()
    };
    for number in [1, 2, 7] {
        let said = learn(number);
        has(&said, "every message will be unsure until there are 8 messages");
        for label in ["ham", "spam"] {
            let line = verdict(&place, &mail(label, 77));
            assert!(line.starts_with("X-DBACL: unsure "), "{line}");
            assert!(number < 7 || line.ends_with(label), "{line}");
        }
    }
    let said = learn(12);
    has(&said, " of 100 messages to be unsure");
    has(&said, "of ham to be called spam (95 % confidence; 0 of 12 here)");
    // This mail has no word that was learned.
    let unlike = "From: x@y.z\nSubject: zebra\n\nokapi gnu kudu eland oryx nyala topi bongo\n";
    assert!(verdict(&place, unlike).starts_with("X-DBACL: unsure "));
}

#[test]
fn explanations_name_files_and_subjects() {
    let place = mailboxes();
    for label in ["ham", "spam"] {
        place.dbacl(&format!("-T email:unicode -e word -l ./{label} {label}.mbox")).output();
    }
    for number in 0..3 {
        let mail = mail("spam", 200 + number).replace("Subject: ", &format!("Subject: N{number} "));
        place.write(&format!("inbox/{number}"), mail);
    }
    place.write("mbox", mail("ham", 90) + &mail("ham", 91));
    let lines = |operands: &str, input: &str| -> Vec<String> {
        let explain = format!("--explain -c ./ham -c ./spam {operands}");
        let said = place.dbacl_reading(&explain, input).stdout;
        said.lines().skip(1).take_while(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    let found = lines("inbox", "");
    assert_eq!(found.len(), 3, "{found:?}");
    for (number, line) in found.iter().enumerate() {
        assert!(line.starts_with(&format!("inbox/{number}: N{number} ")), "{line}");
    }
    let found = lines("mbox inbox", "");
    assert!(found[0].starts_with("mbox: ") && found[1].starts_with("mbox: "), "{found:?}");
    assert_eq!(found[3], "and 2 more");
    let found = lines("", "Subject: =?utf-8?q?caf=C3=A9?=\n\npills\n");
    assert_eq!(found, ["caf\u{e9}"]);
    let page = place.dbacl("--explain-html -c ./ham -c ./spam inbox/1").stdout;
    has(&page, "<p>inbox/1: N1 ");
}

#[test]
fn the_same_documents_give_the_same_bytes() {
    assert!(contents(&filter()) == contents(&filter()));
}

#[test]
fn forgetting_is_never_having_learned_to_the_byte() {
    let place = Scratch::new();
    for label in ["ham", "spam"] {
        for number in 0..60 {
            // Each tenth mail is a copy of an earlier one; of those that go one is the second of
            // two copies, others are broken: what waits in a decoder or a tokenizer stays their
            // own.
            let word = if number % 10 == 9 { number - 7 } else { number };
            let text = format!("{}word{word} word{} own{word}\n", mail(label, word), word / 3);
            let broken = "Content-Type: text/html\nContent-Transfer-Encoding: base64\n\nPGEgdGl0b";
            let text = if number % 20 == 4 {
                text.replacen("\n\n", &format!("\n{broken}"), 1)
            } else {
                text
            };
            let part = if [4, 9, 17, 30, 44].contains(&number) { "gone" } else { "rest" };
            for part in [part, "all"] {
                place.write(&format!("{part}/{label}/{number:02}"), &text);
            }
        }
    }
    let learn = |filter: &str, mails: &str| {
        place.sh(&format!(
            "mkdir {filter} && cd {filter} && dbacl --mail-learn f ham=../{mails}/ham \
             spam=../{mails}/spam"
        ))
    };
    learn("never", "rest").output();
    learn("forgot", "all").output();
    let files = |filter: &str| contents_of(&place.path(&format!("{filter}/f")));
    assert!(files("never") != files("forgot"));
    for label in ["ham", "spam"] {
        let forget = format!("cd forgot && dbacl --mail-forget f {label} ../gone/{label}");
        place.sh(&forget).quiet(0);
    }
    assert!(files("never") == files("forgot"));
    let again = place.sh("cd forgot && dbacl --mail-forget f ham ../gone/ham/44");
    again.complains(1, "../gone/ham/44: no such message was learned as ham");
}

#[test]
fn updates_at_the_same_time_lose_nothing() {
    let place = filter();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let place = &place;
            scope.spawn(move || {
                for number in 0..5 {
                    let word = [b'q', b'a' + thread, b'a' + number].map(char::from);
                    let mail = mail("ham", 1) + &String::from_iter(word) + "\n";
                    place.dbacl_reading("--mail-correct f ham", mail).output();
                }
            });
        }
    });
    assert_eq!(documents(&place), 80);
}

#[test]
fn a_mail_comes_through_without_a_filter() {
    let place = Scratch::new();
    for (options, status) in [("", 0), ("--strict", 66)] {
        let result = place.dbacl_reading(&format!("{options} --mail-filter none"), "A: b\n\nc\n");
        assert_eq!((result.status, &*result.stdout), (status, "X-DBACL: error\nA: b\n\nc\n"));
    }
}

#[test]
fn the_library_filters_mail_as_the_program_does() {
    use dbacl::{FilterOpenError, MailFilterError};
    let options = MailFilterOptions::default();
    let place = filter();
    let filter = MailFilter::open(&place.path("f"), &options).expect("a filter");
    assert_eq!(filter.labels(), ["ham", "spam"]);
    assert!(filter.warnings().is_empty());
    let forged =
        "From a@b.c\r\nX-Dbacl: ham 100.00%\r\n folded\r\nSubject: pills\r\n\r\ncheap offer\r\n";
    let mails = [
        mail("ham", 50),
        mail("spam", 51),
        forged.to_owned(),
        "Subject: meeting about cheap offers\n\nX-DBACL: ham\n".to_owned(),
        "Subject: \n\n".to_owned(),
        "x-dbacl".to_owned(),
        String::new(),
    ];
    for mail in &mails {
        let passed_on = place.dbacl_reading("--mail-filter f", mail).output();
        assert_eq!(String::from_utf8_lossy(&filter.filter(mail.as_bytes())), passed_on, "{mail}");
    }
    // An open filter stays what it was; one that is opened now knows of the correction.
    let odd = "Subject: agenda\n\nunheard of\n";
    let before = filter.classify(odd.as_bytes()).expect("files");
    place.dbacl_reading("--mail-correct f spam", odd).output();
    assert_eq!(filter.classify(odd.as_bytes()).expect("files"), before);
    let opened = MailFilter::open(&place.path("f"), &options).expect("a filter");
    assert_ne!(opened.classify(odd.as_bytes()).expect("files"), before);
    // No filter, no verdict: the mail's way through is the program's matter.
    let missing = MailFilter::open(&place.path("no"), &options).expect_err("no folder");
    assert!(
        matches!(missing, MailFilterError::Open(FilterOpenError::NoFilter { .. })),
        "{missing}"
    );
}
