// SPDX-License-Identifier: GPL-3.0-or-later
//! The weekly letter, in Dovecot's inbox.

use crate::dovecot::{Dovecot, letter, mail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dbacl_imap::{State, WEEK};

/// Lets a week go by.
fn wait(server: &Dovecot) {
    let path = server.scratch.path("state");
    let account = format!("alice@127.0.0.1:{}", server.ports.0);
    let mut state = State::read(&path, &account).expect("a state");
    state.week.since -= WEEK;
    state.write(&path).expect("it can be written");
}

#[test]
fn a_week_is_followed_by_one_letter_that_says_what_was_done() {
    let Some(server) = Dovecot::start("a_week_is_followed", "") else { return };
    let mut client = server.client();
    let options = ["--move-spam", "--letter"];
    server.once(&options);
    for number in 0..3 {
        client.append("INBOX", "", &letter("spam", number));
        client.append("INBOX", "", &letter("ham", 10 + number));
    }
    client.append("INBOX", "", &mail("unclear", 20));
    server.once(&options);
    client.moves(1, "Junk", "INBOX");
    assert!(!server.once(&options).contains("wrote"));
    wait(&server);
    // A dry run, and one without the option, write nothing.
    assert!(!server.once(&["--dry-run", "--letter"]).contains("wrote"));
    assert!(!server.once(&["--move-spam"]).contains("wrote"));
    server.says(&options, "wrote a letter to the inbox");
    let mut letters = || -> Vec<String> {
        client.run("SELECT INBOX");
        let found = client.run("UID SEARCH UNSEEN SUBJECT \"dbacl: mail from 20\"");
        let found = found.iter().find_map(|line| line.strip_prefix("* SEARCH"));
        found.expect("an answer").split_whitespace().map(str::to_owned).collect()
    };
    let uids = letters();
    assert_eq!(uids.len(), 1, "{}", server.logs());
    // Our own letter is neither counted nor moved, and the next one waits for a week.
    assert_eq!(server.once(&options), "");
    wait(&server);
    assert_eq!(server.once(&options), "");
    assert_eq!(letters(), uids);

    let mut reader = server.client();
    reader.run("SELECT INBOX");
    let lines = reader.run(&format!("UID FETCH {} BODY.PEEK[]", uids[0]));
    let letter = lines.concat();
    let parts = letter.split("base64\r\n\r\n").skip(1).map(|part| {
        let code = part.split("--").next().expect("a part").replace("\r\n", "");
        String::from_utf8(STANDARD.decode(code).expect("base64")).expect("UTF-8")
    });
    let parts: Vec<String> = parts.collect();
    for line in [
        "7  came to the inbox\n",
        "3  moved to Junk\n",
        "1  unsure, left in the inbox\n",
        "1  learned from what you moved or marked\n",
        "  unsure, rather ",
        ": Whatever this is, it may come again",
        ", from a@example.org\n    because of ",
    ] {
        assert!(parts[0].contains(line), "{line}: {}", parts[0]);
    }
    // One can be had before the week is over, even if it has little to say.
    server.says(&["--move-spam", "--letter-now"], "wrote a letter to the inbox");
    assert_eq!(letters().len(), 2, "{}", server.logs());
    assert_eq!(server.once(&options), "");
    assert!(
        parts[1].starts_with("<h2>dbacl: mail from 20") && !parts[1].contains("://"),
        "{}",
        parts[1]
    );
}
