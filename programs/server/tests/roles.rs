// SPDX-License-Identifier: GPL-3.0-or-later
//! Lessons and verdicts of filters with more than two folders: labels say which folder has spam,
//! wherever it stands, and every wire agrees.

use crate::wire::{Server, lesson};
use dbacl::{MailFilter, MailFilterOptions};
use dbacl_testing::Scratch;
use dbacl_testing::mails::{learn, text};
use std::fs::File;

/// A server whose default filter has these labels, in this order.
fn server(labels: &[&str], options: &str) -> Server {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("users")).expect("a folder");
    learn(&scratch, "filter", options, labels.iter().copied());
    Server::start(scratch, "learn-default = true")
}

/// A message that the filter has not seen.
fn mail(wire: &str, lesson: &str) -> String {
    format!("Subject: letter over {wire}\n\nthis {wire} letter is {lesson} for everybody\n")
}

fn learned_as(server: &Server, mail: &str) -> Option<String> {
    let set = MailFilter::open(&server.scratch.path("filter"), &MailFilterOptions::default());
    let set = set.expect("the filter");
    let labels = set.labels_of(set.id(mail.as_bytes()).expect("words")).expect("the ledger");
    assert!(labels.len() < 2, "{labels:?}");
    labels.into_iter().next()
}

/// Teaches a message over a wire; returns whether that is said to have worked.
fn teach(server: &Server, wire: &str, class: &str, mail: &str) -> bool {
    match wire {
        "spamc" => server.say("spamc", &lesson("", class, mail)).contains("DidSet: local"),
        "rspamd" => {
            let (head, _) = server.http(&format!("POST /learn{class}"), mail.as_bytes());
            head.starts_with("HTTP/1.1 200")
        }
        _ => {
            server.scratch.write("mail", mail);
            let spamc = server.scratch.path("spamc").display().to_string();
            let options = ["--spamc", &spamc, "--teach", class];
            let mut client = server.scratch.program("dbacl-server", options);
            client.stdin(File::open(server.scratch.path("mail")).expect("the mail"));
            client.output().expect("the client starts").status.success()
        }
    }
}

#[test]
fn every_wire_teaches_the_folder_of_that_name() {
    for (labels, options, ham, spam) in [
        (&["ham", "work", "spam"][..], "", Some("ham"), Some("spam")),
        (&["work", "spam", "good"], "", Some("good"), Some("spam")),
        (&["Junk", "work", "private"], "--protect private", Some("private"), Some("Junk")),
        (&["spam", "work", "private"], "", None, Some("spam")),
        (&["work", "lists", "private"], "", None, None),
        (&["lists", "spam", "work", "ham", "private"], "", Some("ham"), Some("spam")),
        (
            &["private", "work", "lists", "good", "Junk"],
            "--protect work",
            Some("good"),
            Some("Junk"),
        ),
    ] {
        let server = server(labels, options);
        for wire in ["spamc", "rspamd", "client"] {
            for (lesson, expected) in [("spam", spam), ("ham", ham)] {
                let mail = mail(wire, lesson);
                let is_said = teach(&server, wire, lesson, &mail);
                let found = learned_as(&server, &mail);
                assert_eq!(found.as_deref(), expected, "{labels:?} {wire} {lesson}");
                assert_eq!(is_said, expected.is_some(), "{labels:?} {wire} {lesson}");
                if expected.is_none() {
                    server.wait_for(&format!("none of these says that it is {lesson}"));
                }
            }
        }
        // Verdicts go by the same labels.
        for label in labels {
            let mail = format!("Subject: {0}\n\n{0}\n", text(label));
            let (head, _) = server.spamc("CHECK", "a", mail.as_bytes());
            let is_spam = head.contains("Spam: True");
            assert!(!is_spam || Some(*label) == spam, "{labels:?} {label}: {head}");
        }
    }
}
