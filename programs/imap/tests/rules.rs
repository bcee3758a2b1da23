// SPDX-License-Identifier: GPL-3.0-or-later
//! The rules of `docs/imap.md`, one after the other, with the real Dovecot.

use crate::dovecot::{Dovecot, letter, mail};
use dbacl_testing::{Scratch, command, done, holds_soon};
use std::time::{Duration, Instant};

/// Configurations of the server in which the same must happen.
const SERVERS: [(&str, &str); 3] = [
    ("all extensions", ""),
    (
        "CONDSTORE without QRESYNC",
        "protocol imap {\n imap_capability = IMAP4rev1 CONDSTORE ENABLE UIDPLUS\n}\n",
    ),
    ("plain IMAP4rev1", "protocol imap {\n imap_capability = IMAP4rev1\n}\n"),
];

#[test]
fn moves_teach_and_nothing_else_does() {
    for (name, lines) in SERVERS {
        let Some(server) = Dovecot::start("moves_teach", lines) else { return };
        let mut client = server.client();
        let mails: Vec<String> = (0..10).map(|number| mail("any", number)).collect();
        for mail in &mails {
            client.append("INBOX", "", mail);
        }
        let label = |number: usize| server.label(&mails[number]);
        let spam = || Some("spam".to_owned());
        let ham = || Some("ham".to_owned());

        client.append("Junk", "", &mail("old", 90));
        server.says(&[], "takes stock of Junk (1 message), INBOX (10 messages)");
        assert_eq!(label(0), None, "{name}");

        // A message goes into Junk: by the command MOVE, and by COPY and deletion.
        client.moves(0, "INBOX", "Junk");
        client.run("SELECT INBOX");
        let uid = client.only(1);
        client.run(&format!("UID COPY {uid} Junk"));
        client.run(&format!("UID STORE {uid} +FLAGS (\\Deleted)"));
        client.run("EXPUNGE");
        // Some mail programs delete the mail first and then add it to the other folder.
        client.run("SELECT INBOX");
        let uid = client.only(2);
        client.run(&format!("UID STORE {uid} +FLAGS (\\Deleted)"));
        client.run(&format!("UID EXPUNGE {uid}"));
        client.append("Junk", "", &mails[2]);
        server.says(&[], "learned 3 messages as spam, 0 as ham");
        assert_eq!((label(0), label(1), label(2)), (spam(), spam(), spam()), "{name}");

        // Nothing is learned twice.
        assert_eq!(server.once(&[]), "", "{name}");

        // Moves that teach nothing: from Junk to Trash, from INBOX to Trash and to Archive, out of
        // Trash, and one by a rule of the server.
        client.moves(0, "Junk", "Trash");
        client.moves(3, "INBOX", "Trash");
        client.moves(4, "INBOX", "Archive");
        client.append("Junk", "", &mail("rule", 91));
        assert_eq!(server.once(&[]), "", "{name}");
        client.moves(3, "Trash", "INBOX");
        client.moves(0, "Trash", "Archive");
        assert_eq!(server.once(&[]), "", "{name}");
        assert_eq!((label(0), label(3), label(4)), (spam(), None, None), "{name}");

        // Out of Junk into the inbox and another folder.
        client.moves(1, "Junk", "INBOX");
        client.moves(2, "Junk", "Archive");
        server.says(&[], "learned 0 messages as spam, 2 as ham");
        assert_eq!((label(1), label(2)), (ham(), ham()), "{name}");

        // A copy is not a move.
        client.run("SELECT INBOX");
        let uid = client.only(5);
        client.run(&format!("UID COPY {uid} Junk"));
        assert_eq!(server.once(&[]), "", "{name}");
        // Junk is emptied.
        client.run("SELECT Junk");
        client.run("STORE 1:* +FLAGS (\\Deleted)");
        client.run("EXPUNGE");
        assert_eq!(server.once(&[]), "", "{name}");
        assert_eq!(label(5), None, "{name}");

        // Flags, and flags of mail that comes with them.
        client.run("SELECT INBOX");
        let (one, other) = (client.only(6), client.only(7));
        client.run(&format!("UID STORE {one} +FLAGS ($Junk)"));
        client.run(&format!("UID STORE {other} +FLAGS ($NotJunk)"));
        client.append("INBOX", "$Junk", &mail("marked", 92));
        server.says(&[], "learned 1 message as spam, 1 as ham");
        assert_eq!((label(6), label(7)), (spam(), ham()), "{name}");
        client.run(&format!("UID STORE {one} -FLAGS ($Junk)"));
        assert_eq!(server.once(&[]), "", "{name}");

        // When a folder's UIDVALIDITY changes, moves before the change are not seen, and nothing is
        // learned.
        client.moves(8, "INBOX", "Junk");
        server.renumber("INBOX", 77);
        let said = server.once(&[]);
        assert!(said.contains("takes stock of INBOX"), "{name}: {said}");
        assert!(!said.contains("learned"), "{name}: {said}");
        assert_eq!(label(8), None, "{name}");

        // With --dry-run, the program prints what it would learn.
        client.moves(9, "INBOX", "Junk");
        let said = server.once(&["--dry-run"]);
        assert!(
            said.contains("would learn as spam: message ") && label(9).is_none(),
            "{name}: {said}"
        );
        server.once(&[]);
        assert_eq!(label(9), spam(), "{name}");
        let status = server.run(&["--status"]).stdout;
        assert!(status.contains("learned 5 as spam, 3 as ham"), "{name}: {status}");
    }
}

#[test]
fn news_are_learned_at_once_and_over_lost_connections() {
    let Some(server) = Dovecot::start("news_are_learned", "") else { return };
    let mut client = server.client();
    let mails: Vec<String> = (0..4).map(|number| mail("any", number)).collect();
    for mail in &mails {
        client.append("INBOX", "", mail);
    }
    let mut program = server.watch(&[]);
    program.settle(&server);
    let is_spam = |number: usize| server.label(&mails[number]).as_deref() == Some("spam");
    let learned = |number: usize, what: &str| {
        assert!(holds_soon(|| is_spam(number)), "{what} is not learned: {}", server.logs());
    };
    let start = Instant::now();
    client.moves(0, "INBOX", "Junk");
    learned(0, "a move");
    // Two seconds are asked for; on machines that are busy this is measured and not tested.
    if std::env::var_os("DBACL_IMAP_TIMES").is_some() {
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    }
    server.kick();
    let mut client = server.client();
    client.moves(1, "INBOX", "Junk");
    learned(1, "a move after a lost connection");
    // What happens while the program does not run.
    program.signal("-TERM");
    assert_eq!(program.wait(), Some(0));
    client.moves(2, "INBOX", "Junk");
    let mut program = server.watch(&[]);
    learned(2, "a move without the program");
    // Two programs cannot use the same state at a time.
    assert_eq!(server.run(&["--once"]).status, 75);
    program.signal("-KILL");
    program.wait();
    client.moves(3, "INBOX", "Junk");
    let _program = server.watch(&[]);
    learned(3, "a move after a kill");
}

#[test]
fn new_spam_is_moved_and_teaches_nothing() {
    let Some(server) = Dovecot::start("new_spam_is_moved", "") else { return };
    let mut client = server.client();
    client.append("INBOX", "", &mail("spam", 1));
    server.once(&["--move-spam"]);
    let (spam, ham) = (mail("spam", 2), mail("ham", 3));
    client.append("INBOX", "", &spam);
    client.append("INBOX", "", &ham);
    client.append("INBOX", "\\Seen", &mail("spam", 4));
    server.says(&["--move-spam", "--dry-run"], "would move to Junk: message ");
    let said = server.once(&["--move-spam"]);
    assert!(said.contains("moved 1 message to Junk") && !said.contains("learned"), "{said}");
    assert_eq!((server.label(&spam), server.label(&ham)), (None, None));
    client.run("SELECT INBOX");
    let left: Vec<usize> = (1..5).filter(|number| !client.find(*number).is_empty()).collect();
    // Messages stay where they are that were there before, are good, or have been read.
    assert_eq!(left, [1, 3, 4]);
    assert_eq!(server.once(&["--move-spam"]), "");
    // A user moves a message back: that is learned, and the program does not move the mail again.
    client.moves(2, "Junk", "INBOX");
    let said = server.once(&["--move-spam"]);
    assert!(
        said.contains("learned 0 messages as spam, 1 as ham") && !said.contains("moved"),
        "{said}"
    );
    assert_eq!(server.label(&spam).as_deref(), Some("ham"));
}

#[test]
fn labels_say_which_folder_of_the_filter_has_spam() {
    let Some(server) = Dovecot::start("labels_say", "") else { return };
    let mut client = server.client();
    for (round, (labels, ham, spam)) in [
        ("ham work spam", "ham", "spam"),
        ("spam work ham", "ham", "spam"),
        ("work good spam", "good", "spam"),
        ("lists Junk work good private", "good", "Junk"),
        ("work spam lists private ham", "ham", "spam"),
    ]
    .into_iter()
    .enumerate()
    {
        server.relearn(labels);
        server.once(&[]);
        let first = 10 * round;
        let spammed = letter("spam", first + 8);
        for number in 0..5 {
            client.append("INBOX", "", &letter("work", first + number));
        }
        client.append("INBOX", "", &mail("any", first + 5));
        client.append("INBOX", "", &spammed);
        server.says(&["--move-spam"], "moved 1 message to Junk");
        client.moves(first + 5, "INBOX", "Junk");
        client.moves(first + 8, "Junk", "INBOX");
        server.says(&[], "learned 1 message as spam, 1 as ham");
        let label = |text: &str| server.label(text);
        assert_eq!(label(&mail("any", first + 5)).as_deref(), Some(spam), "{labels}");
        assert_eq!(label(&spammed).as_deref(), Some(ham), "{labels}");
    }
    for labels in ["spam work private", "ham work private"] {
        server.relearn(labels);
        for option in ["--once", "--check"] {
            let said = server.run(&[option]).complaint(69);
            assert!(said.contains("and none of these says that it is"), "{labels}: {said}");
            assert_eq!(said.lines().count(), 1, "{labels}: {said}");
        }
    }
}

#[test]
fn new_mail_is_sorted_and_every_folder_teaches_its_label() {
    let Some(server) = Dovecot::start("new_mail_is_sorted", "") else { return };
    let mut client = server.client();
    for folder in ["Work", "Lists/sailing"] {
        client.run(&format!("CREATE {folder}"));
    }
    server.relearn("ham Lists__sailing spam work");
    let sorted = ["--sort", "Work", "--unsure", "Ask", "--folder", "Lists/*", "--move-spam"];
    let said = server.run(&[&sorted[..], &["--check"]].concat()).stderr;
    assert!(said.contains("the account has no folder Ask yet"), "{said}");
    server.says(&sorted, "made the folder Ask");
    for (number, label) in ["work", "spam", "ham", "Lists__sailing", "work"].iter().enumerate() {
        let flags = if number == 4 { "\\Seen" } else { "" };
        client.append("INBOX", flags, &letter(label, number));
    }
    client.append("INBOX", "", &mail("any", 5));
    let said = server.once(&[&sorted[..], &["--dry-run"]].concat());
    assert!(
        said.contains("would move to Ask: message ") && said.contains("to Work: message "),
        "{said}"
    );
    let said = server.once(&sorted);
    for expected in ["moved 1 message to Work", "moved 1 message to Junk", "moved 1 message to Ask"]
    {
        assert!(said.contains(expected), "{said}");
    }
    assert!(!said.contains("learned"), "{said}");
    // Lists/sailing was not asked for; what somebody has read stays where it is.
    let left = |client: &mut crate::dovecot::Client, folder: &str| -> Vec<usize> {
        client.run(&format!("SELECT {folder}"));
        (0..6).filter(|number| !client.find(*number).is_empty()).collect()
    };
    assert_eq!(left(&mut client, "INBOX"), [2, 3, 4]);
    assert_eq!(left(&mut client, "Work"), [0]);
    assert_eq!(left(&mut client, "Ask"), [5]);
    assert_eq!(server.once(&sorted), "");
    // What somebody says of it all.
    client.moves(0, "Work", "INBOX");
    client.moves(5, "Ask", "Lists/sailing");
    client.moves(1, "Junk", "Work");
    client.moves(3, "INBOX", "Archive");
    client.moves(4, "INBOX", "Trash");
    let said = server.once(&sorted);
    let expected = "learned 0 messages as spam, 1 as ham, 1 as Lists/sailing, 1 as Work";
    assert!(said.contains(expected) && !said.contains("moved"), "{said}");
    let label = |text: &str| server.label(text).unwrap_or_default();
    assert_eq!(label(&letter("work", 0)), "ham");
    assert_eq!(label(&letter("spam", 1)), "work");
    assert_eq!(label(&letter("Lists__sailing", 3)), "");
    assert_eq!(label(&letter("work", 4)), "");
    assert_eq!(label(&mail("any", 5)), "Lists__sailing");
    // A folder without a label is named, and nothing is moved there.
    server.says(&["--sort", "Other"], "the filter has no label for Other");
}

#[test]
fn tls_and_wrong_passwords() {
    let lines = "ssl_cert = <@WORK@/cert.pem\nssl_key = <@WORK@/key.pem\n";
    let made = Scratch::new();
    let mut openssl = command("openssl");
    openssl.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]);
    openssl.args(["-nodes", "-days", "30", "-subj", "/CN=localhost"]);
    openssl.args(["-addext", "subjectAltName=DNS:localhost"]);
    openssl.args(["-keyout", "key.pem", "-out", "cert.pem"]);
    if !openssl.current_dir(made.path(".")).output().is_ok_and(|done| done.status.success()) {
        dbacl_testing::skip("tls_and_wrong_passwords", "openssl is not installed");
        return;
    }
    let folder = made.path("").display().to_string();
    let Some(server) = Dovecot::start("tls", &lines.replace("@WORK@", &folder)) else { return };
    let port = server.ports.1.to_string();
    let run = |options: &[&str]| {
        let own = ["--user=alice", "--filter=filter", "--state=state", "--port", &port];
        let mut program = server.scratch.program("dbacl-imap", own);
        done(program.args(options).env("HOME", "/nowhere"))
    };
    let trusting = format!("--certificates={folder}/cert.pem");
    let right = "--password-command=echo secret";
    let said = run(&["--server=localhost", right, &trusting, "--check"]).quiet(0);
    assert!(
        said.contains("Junk (spam), INBOX, Trash (thrown away); the server knows IDLE"),
        "{said}"
    );
    // A certificate that is not trusted, one for another name, a wrong password, no password.
    for (options, status, expected) in [
        (&["--server=localhost", right, "--check"][..], 75, "certificate"),
        (&["--server=127.0.0.1", right, &trusting, "--check"], 75, "certificate"),
        (&["--server=localhost", "--password-command=echo x", &trusting], 77, "log alice in"),
        (&["--server=localhost", "--password-command=exit 3", &trusting], 69, "exit status: 3"),
    ] {
        let said = run(options).complaint(status);
        assert!(said.contains(expected) && said.lines().count() == 1, "{options:?}: {said}");
    }
}

#[test]
fn without_memory_a_look_ends_with_a_line_and_a_status() {
    let Some(server) = Dovecot::start("without_memory", "") else { return };
    let mut client = server.client();
    let words: String = (0..40_000)
        .map(|number| format!("w{number}{}", if number % 12 == 11 { "\r\n" } else { " " }))
        .collect();
    let large = mail("any", 0) + &words;
    client.append("INBOX", "", &large);
    server.once(&[]);
    client.moves(0, "INBOX", "Junk");
    let program = server.program(&["--once"]);
    let (mut failed, mut learned) = (0, false);
    // From so many kilobytes that the program hardly starts to more than it takes.
    let limits = (4_000..32_000).step_by(1_000).chain((32_000..200_000).step_by(8_000));
    for limit in limits.chain([2_000_000]) {
        let mut limited = server.scratch.command("sh");
        let script = "ulimit -c 0; ulimit -v $1; shift; \"$0\" --version >/dev/null 2>&1 || exit \
                      99; exec \"$0\" \"$@\"";
        limited.args(["-c", script]).arg(program.get_program()).arg(limit.to_string());
        limited.args(program.get_args()).env("HOME", server.scratch.path("."));
        let done = done(&mut limited);
        if done.status == 99 || done.stderr.contains("annot fork") {
            continue;
        }
        assert!([0, 69, 75, 77].contains(&done.status), "in {limit} kB: {done:?}");
        assert!(!done.stderr.contains("panicked"), "in {limit} kB: {done:?}");
        learned = done.status == 0 && done.stderr.contains("learned 1 message");
        if learned {
            break;
        }
        assert!(done.stderr.contains("dbacl-imap:"), "in {limit} kB: {done:?}");
        failed += 1;
    }
    assert!(learned && failed > 0, "{failed}, {}", server.logs());
    assert_eq!(server.label(&large).as_deref(), Some("spam"));
}
