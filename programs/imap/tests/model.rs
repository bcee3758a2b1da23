// SPDX-License-Identifier: GPL-3.0-or-later
//! Somebody who moves, copies, marks and deletes messages at random, beside a model that says what
//! must have been learned; and a burst.
//!
//! `DBACL_IMAP_OPERATIONS` is the number of operations (300), `DBACL_IMAP_SEED` where they begin.

use crate::dovecot::{Dovecot, Program, mail};
use dbacl_numeric::random::SplitMix64;
use dbacl_testing::number;
use std::collections::BTreeMap;
use std::time::Instant;

/// One of `list`.
fn pick<T: Copy>(random: &mut SplitMix64, list: &[T]) -> T {
    list[random.below(list.len())]
}

/// A message as the model knows it.
#[derive(Debug, Clone)]
struct Known {
    /// The folder where it is; `None` once the test does nothing more with it.
    place: Option<&'static str>,
    label: Option<&'static str>,
    junk: bool,
    not_junk: bool,
}

const WATCHED: [&str; 7] = ["INBOX", "Junk", "Archive", "Trash", "Work", "Lists/a", "Lists/b"];

/// Folders that have labels of their own in the filter, and these.
fn topic(folder: &str) -> Option<&'static str> {
    match folder {
        "Work" => Some("Work"),
        "Lists/a" => Some("Lists__a"),
        "Lists/b" => Some("Lists__b"),
        _ => None,
    }
}

/// What a move between folders teaches.
fn said(from: &str, to: &str) -> Option<&'static str> {
    match (from, to) {
        (_, "Junk") => Some("spam"),
        (_, "Trash") | ("Trash", _) => None,
        ("Junk", "INBOX" | "Archive") => Some("ham"),
        (_, "INBOX") if topic(from).is_some() => Some("ham"),
        _ => topic(to),
    }
}

struct Model {
    mails: BTreeMap<usize, Known>,
    random: SplitMix64,
    next: usize,
}

impl Model {
    /// One operation with a message that this batch has not touched.
    fn operate(&mut self, client: &mut crate::dovecot::Client, touched: &mut Vec<usize>) -> String {
        let free: Vec<usize> = self
            .mails
            .iter()
            .filter(|(number, known)| known.place.is_some() && !touched.contains(number))
            .map(|(number, _)| *number)
            .collect();
        let kind = if free.len() < 30 { 0 } else { self.random.below(14) };
        if kind < 2 {
            let (number, folder) =
                (self.next, pick(&mut self.random, &["INBOX", "INBOX", "Junk", "Archive", "Work"]));
            self.next += 1;
            let flags = pick(&mut self.random, &["", "", "\\Seen", "$Junk", "$NotJunk"]);
            client.append(folder, flags, &mail("any", number));
            let (junk, not_junk) = (flags == "$Junk", flags == "$NotJunk");
            let known = Known { place: Some(folder), label: None, junk, not_junk };
            self.mails.insert(number, known);
            touched.push(number);
            return format!("{number} comes to {folder} {flags}");
        }
        let number = pick(&mut self.random, &free);
        touched.push(number);
        let known = self.mails.get_mut(&number).expect("it is free");
        let from = known.place.expect("it is free");
        client.run(&format!("SELECT {from}"));
        let uid = client.only(number);
        match kind {
            2..=8 => {
                let others: Vec<&'static str> =
                    WATCHED.into_iter().filter(|folder| *folder != from).collect();
                let to = pick(&mut self.random, &others);
                let how = match kind {
                    2..=5 => {
                        client.run(&format!("UID MOVE {uid} {to}"));
                        "moved"
                    }
                    6 => {
                        client.run(&format!("UID COPY {uid} {to}"));
                        client.run(&format!("UID STORE {uid} +FLAGS (\\Deleted)"));
                        "moved without expunging"
                    }
                    7 => {
                        client.run(&format!("UID COPY {uid} {to}"));
                        client.run(&format!("UID STORE {uid} +FLAGS (\\Deleted)"));
                        client.run("EXPUNGE");
                        "copied and expunged"
                    }
                    _ => {
                        client.run(&format!("UID STORE {uid} +FLAGS (\\Deleted)"));
                        client.run(&format!("UID EXPUNGE {uid}"));
                        client.append(to, "", &mail("any", number));
                        (known.junk, known.not_junk) = (false, false);
                        "expunged and added"
                    }
                };
                known.place = Some(to);
                known.label = said(from, to).or(known.label);
                format!("{number} {how} from {from} to {to}")
            }
            9 => {
                let to = pick(&mut self.random, &[&WATCHED[..], &["Other"]].concat());
                client.run(&format!("UID COPY {uid} {to}"));
                // Within a minute, deleting either of the two could be half of a move.
                known.place = None;
                format!("{number} copied from {from} to {to}")
            }
            10 => {
                client.run(&format!("UID MOVE {uid} Other"));
                known.place = None;
                format!("{number} moved from {from} to Other")
            }
            11 => {
                client.run(&format!("UID STORE {uid} +FLAGS (\\Deleted)"));
                client.run("EXPUNGE");
                known.place = None;
                format!("{number} expunged from {from}")
            }
            12 => {
                let flag = pick(&mut self.random, &["$Junk", "$NotJunk"]);
                let sign = pick(&mut self.random, &["+", "-"]);
                client.run(&format!("UID STORE {uid} {sign}FLAGS ({flag})"));
                let (this, other, label) = if flag == "$Junk" {
                    (&mut known.junk, known.not_junk, "spam")
                } else {
                    (&mut known.not_junk, known.junk, topic(from).unwrap_or("ham"))
                };
                let is_set = sign == "+" && !*this;
                *this = sign == "+";
                if is_set && !other && from != "Trash" {
                    known.label = Some(label);
                }
                format!("{number} in {from} {sign}{flag}")
            }
            _ => {
                client.run(&format!("UID STORE {uid} +FLAGS (\\Seen \\Flagged)"));
                format!("{number} in {from} read")
            }
        }
    }
}

#[test]
fn whatever_somebody_does_is_learned_rightly() {
    let Some(server) = Dovecot::start("whatever_somebody_does", "") else { return };
    let operations = number("DBACL_IMAP_OPERATIONS", 300);
    let seed = number("DBACL_IMAP_SEED", 1);
    let mut model =
        Model { mails: BTreeMap::new(), random: SplitMix64::new(seed as u64), next: 100 };
    server.relearn("Lists__b spam Work ham Lists__a");
    for folder in ["Work", "Lists/a", "Lists/b"] {
        server.client().run(&format!("CREATE {folder}"));
    }
    let folders = ["--folder", "Work", "--folder", "Lists/*"];
    let mut program = server.watch(&folders);
    program.settle(&server);
    let mut done = 0;
    let mut validity = 1_000_000;
    let mut lessons = 0;
    while done < operations {
        let mut client = server.client();
        let mut touched = Vec::new();
        let mut told = Vec::new();
        let before: Vec<Option<&str>> = model.mails.values().map(|known| known.label).collect();
        for _ in 0..=model.random.below(20) {
            told.push(model.operate(&mut client, &mut touched));
            done += 1;
            match model.random.below(200) {
                0 => {
                    told.push("the program is killed".into());
                    program.signal("-KILL");
                    program.wait();
                    program = server.watch(&folders);
                }
                1 => {
                    told.push("the program is stopped".into());
                    program.signal("-TERM");
                    assert_eq!(program.wait(), Some(0), "{}", server.logs());
                    program = server.watch(&folders);
                }
                2 => {
                    told.push("connections are lost".into());
                    server.kick();
                    client = server.client();
                }
                _ => {}
            }
        }
        program.settle(&server);
        lessons += model.mails.values().zip(before).filter(|(it, old)| it.label != *old).count();
        for number in touched {
            let expected = model.mails[&number].label;
            let found = server.label(&mail("any", number));
            assert!(
                found.as_deref() == expected,
                "seed {seed}, after {done} operations: mail {number} is {found:?} and not \
                 {expected:?}\n{told:#?}\n{}",
                server.logs()
            );
        }
        if model.random.below(30) == 0 {
            validity += 1;
            let folder = pick(&mut model.random, &WATCHED);
            server.renumber(folder, validity);
            program.settle(&server);
        }
    }
    for (number, known) in &model.mails {
        assert_eq!(server.label(&mail("any", *number)).as_deref(), known.label, "mail {number}");
    }
    println!("{done} operations, {lessons} labels, seed {seed}");
    program.signal("-TERM");
    assert_eq!(program.wait(), Some(0), "{}", server.logs());
}

/// Moves many messages at once. `DBACL_IMAP_BURST` is their number; 5,000 are asked for, in a
/// minute and 50 MB.
#[test]
fn a_burst_is_learned() {
    let Some(server) = Dovecot::start("a_burst", "") else { return };
    let count = number("DBACL_IMAP_BURST", 200);
    let mut client = server.client();
    for number in 0..count {
        client.append("INBOX", "", &mail("any", number));
    }
    let program: Program = server.watch(&[]);
    program.settle(&server);
    let start = Instant::now();
    client.run("SELECT INBOX");
    client.run("UID MOVE 1:* Junk");
    let last = mail("any", count - 1);
    program.settle(&server);
    let took = start.elapsed();
    assert_eq!(server.label(&last).as_deref(), Some("spam"), "{}", server.logs());
    for number in (0..count).step_by(1 + count / 50) {
        assert_eq!(server.label(&mail("any", number)).as_deref(), Some("spam"), "mail {number}");
    }
    println!("{count} moves: {:.1} s, {} kB", took.as_secs_f64(), program.memory());
    if std::env::var_os("DBACL_IMAP_TIMES").is_some() {
        assert!(took.as_secs() < 60 && program.memory() < 50_000);
    }
}
