// SPDX-License-Identifier: GPL-3.0-or-later
//! The first filter, made from an account of twelve folders, and what it would have moved.
//!
//! `DBACL_IMAP_ACCOUNT` is the number of messages in each folder (30).

use crate::dovecot::{Client, Dovecot, OLD, letter};
use dbacl_testing::{Done, number};
use std::fs;
use std::time::Instant;

/// Folders that are sorted, with their labels.
const SORTED: [(&str, &str); 8] = [
    ("Work", "Work"),
    ("Lists/alpha", "Lists__alpha"),
    ("Lists/beta", "Lists__beta"),
    ("Receipts", "Receipts"),
    ("Travel", "Travel"),
    ("Family", "Family"),
    ("To_do", "To_5Fdo"),
    ("Bank", "Bank"),
];

const SORT: [&str; 14] = [
    "--sort", "Work", "--sort", "Lists/*", "--sort", "Receipts", "--sort", "Travel", "--sort",
    "Family", "--sort", "To_do", "--sort", "Bank",
];

/// An account whose folders have `count` old messages each; twelve with the inbox, Junk, Archive
/// and Trash.
fn account(server: &Dovecot, count: usize) -> Client {
    let mut client = server.client();
    for (folder, _) in SORTED {
        client.run(&format!("CREATE {folder}"));
    }
    let others = [("INBOX", "ham"), ("Junk", "spam"), ("Archive", "ham"), ("Trash", "spam")];
    for (at, (folder, label)) in SORTED.into_iter().chain(others).enumerate() {
        for number in 0..count {
            client.append(folder, OLD, &letter(label, 10_000 * at + number));
        }
    }
    client
}

fn run(server: &Dovecot, options: &[&str]) -> Done {
    server.run(&[&SORT[..], options].concat())
}

/// Which of the messages from `first` are in a folder.
fn there(client: &mut Client, folder: &str, first: usize) -> Vec<usize> {
    client.run(&format!("SELECT {folder}"));
    (first..first + 10).filter(|number| !client.find(*number).is_empty()).collect()
}

#[test]
fn an_account_teaches_the_first_filter_and_is_sorted_by_it() {
    let Some(server) = Dovecot::start("an_account_teaches", "") else { return };
    let count = number("DBACL_IMAP_ACCOUNT", 30);
    let mut client = account(&server, count);
    run(&server, &["learn"]).complains(64, "filter: there is a filter already; --replace");
    fs::remove_dir_all(server.scratch.path("filter")).expect("a filter");

    // The filter cannot be written: what was fetched stays, and is not fetched again.
    server.scratch.write("filter", "a letter");
    let failed = run(&server, &["learn", "--replace"]);
    assert!([69, 75].contains(&failed.status), "{failed:?}");
    assert_eq!(server.scratch.read("filter"), b"a letter");
    fs::remove_file(server.scratch.path("filter")).expect("a file");
    let fetched = server.scratch.path("state.learn/Travel");
    let copy = fs::read_dir(&fetched).expect("copies").next().expect("a copy").expect("a name");
    let marked = letter("Travel", 99_999);
    fs::write(copy.path(), &marked).expect("a copy");
    fs::write(fetched.join("7-7"), letter("spam", 99_998)).expect("a file");

    let start = Instant::now();
    let done = run(&server, &["learn"]);
    let took = start.elapsed();
    assert_eq!(done.status, 0, "{}\n{}", done.stderr, server.logs());
    let total = 11 * count;
    assert!(done.stdout.contains(&format!("learned {total} messages")), "{}", done.stdout);
    for expected in [format!("{} ham", 2 * count), format!("{count} spam")] {
        assert!(done.stdout.contains(&expected), "{}", done.stdout);
    }
    assert!(!server.scratch.path("state.learn").exists());
    assert_eq!(server.label(&marked).as_deref(), Some("Travel"));
    assert_eq!(server.label(&letter("spam", 99_998)), None);
    println!("{total} messages: {:.1} s", took.as_secs_f64());

    // New mail goes to its folders.
    assert_eq!(run(&server, &["--once", "--move-spam"]).status, 0);
    let first = 500_000;
    for (at, (_, label)) in
        SORTED.into_iter().chain([("Junk", "spam"), ("INBOX", "ham")]).enumerate()
    {
        client.append("INBOX", "", &letter(label, first + at));
    }
    let done = run(&server, &["--once", "--move-spam"]);
    assert_eq!(done.status, 0, "{}", done.stderr);
    let goals = SORTED.iter().map(|(folder, _)| *folder).chain(["Junk", "INBOX"]);
    for (at, goal) in goals.enumerate() {
        assert_eq!(there(&mut client, goal, first), [first + at], "{goal}: {}", done.stderr);
    }
}

#[test]
fn a_replay_reports_what_would_have_been_moved_and_changes_nothing() {
    let Some(server) = Dovecot::start("a_replay", "") else { return };
    let mut client = account(&server, 30);
    let before = fs::read_link(server.scratch.path("filter/ham")).ok();
    for (number, folder, label) in
        [(1, "INBOX", "ham"), (2, "Junk", "spam"), (3, "Work", "Work"), (4, "INBOX", "spam")]
    {
        client.append(folder, "", &letter(label, 600_000 + number));
    }
    let done = run(&server, &["replay", "--move-spam"]);
    assert_eq!(done.status, 0, "{}", done.stderr);
    let text = done.stdout;
    for expected in [
        "4 messages of the last 30 days, by a filter that has learned the 330 before them:",
        "1 left in the inbox, 0 of them wrongly",
        "1 moved to Work, 0 of them wrongly",
        "2 moved to Junk, 1 of them wrongly",
        "now in INBOX: cheap pills, limited offer",
        "    because of +",
        "now in Work: patch series",
    ] {
        assert!(text.contains(expected), "{expected} is not in {text}");
    }
    assert!(!server.scratch.path("state.replay").exists());
    assert!(!server.scratch.path("state").exists());
    assert_eq!(fs::read_link(server.scratch.path("filter/ham")).ok(), before);
    assert_eq!(there(&mut client, "INBOX", 600_000), [600_001, 600_004]);
    // Without --move-spam, spam stays.
    let text = run(&server, &["replay"]).stdout;
    assert!(text.contains("2 spam, left in the inbox: move-spam is off, 1 of them"), "{text}");
    // Without mail from before there is nothing to classify by.
    run(&server, &["replay", "--days", "20000"]).complains(69, "the account has no good mail");
}

#[test]
fn good_mail_that_nobody_has_labelled_is_learned_where_spam_prevails() {
    let Some(server) = Dovecot::start("good_mail_that_nobody", "") else { return };
    let mut client = server.client();
    for folder in ["Sent", "Projects", "Reading"] {
        client.run(&format!("CREATE {folder}"));
    }
    let from = |who: &str, number| format!("From: <{who}>\r\n{}", letter("ham", number));
    let to_bob = "From: alice@example.net\r\nTo: \"B\"\r\n <Bob@example.com>\r\n\r\nlunch\r\n";
    client.append("Sent", OLD, to_bob);
    client.append("INBOX", OLD, &letter("ham", 1));
    for number in 0..40 {
        client.append("Junk", OLD, &letter("spam", 100 + number));
        let list = format!("List-Id: <a.example.org>\r\n{}", letter("ham", 200 + number));
        client.append("Reading", OLD, &list);
    }
    for number in 0..12 {
        client.append(
            "Trash",
            if number < 7 { "\\Answered" } else { "" },
            &letter("ham", 300 + number),
        );
        client.append("Projects", OLD, &from("bob@example.com", 400 + number));
        client.append("Projects", OLD, &from("eve@example.com", 500 + number));
        client.append("Projects", OLD, &from("alice@example.net", 600 + number));
    }
    let filter = server.scratch.path("filter");
    fs::remove_dir_all(&filter).expect("a filter");
    let done = server.runs(&["learn"]);
    assert!(done.stdout.contains("learned 80 messages into filter: 40 ham, 40 spam"), "{done:?}");
    for part in ["takes 39 messages", "12 of Projects", "20 of Reading", "7 of Trash"] {
        assert!(done.stderr.contains(part), "{part} is not in {}", done.stderr);
    }
    let answered = letter("ham", 300);
    for (mail, label) in [
        (&answered, Some("ham")),
        (&letter("ham", 307), None),
        (&from("bob@example.com", 411), Some("ham")),
        (&from("eve@example.com", 500), None),
        (&from("alice@example.net", 600), None),
    ] {
        assert_eq!(server.label(mail).as_deref(), label, "{mail}");
    }
    // A wrong guess is taken back like any lesson.
    server.once(&[]);
    client.moves(300, "Trash", "Junk");
    server.once(&[]);
    assert_eq!(server.label(&answered).as_deref(), Some("spam"));

    let done = server.runs(&["learn", "--replace", "--no-guesses"]);
    assert!(done.stdout.contains("learned 42 messages into filter: 1 ham, 41 spam"), "{done:?}");
    assert_eq!(server.label(&from("bob@example.com", 411)), None);
}

#[test]
fn folders_of_any_language_are_learned_and_sorted() {
    let Some(server) = Dovecot::start("folders_of_any", "") else { return };
    let mut client = server.client();
    // 42 Cyrillic letters: a label of so many codes would be too long.
    let long = dbacl_imap::to_imap("Рабочие проекты отдела продаж и маркетинга");
    let quoted = format!("\"{long}\"");
    for (folder, label, first) in
        [("INBOX", "ham", 0), ("Junk", "spam", 100), (&quoted, "Work", 200)]
    {
        if label == "Work" {
            client.run(&format!("CREATE {folder}"));
        }
        for number in 0..30 {
            client.append(folder, OLD, &letter(label, first + number));
        }
    }
    fs::remove_dir_all(server.scratch.path("filter")).expect("a filter");
    let sort = ["--sort", "*"];
    let done = server.runs(&[&sort[..], &["learn"]].concat());
    assert!(done.stdout.contains("learned 90 messages"), "{done:?}");
    server.once(&sort);
    client.append("INBOX", "", &letter("Work", 500));
    server.says(&sort, "moved 1 message to Рабочие проекты отдела продаж и маркетинга");
    assert_eq!(there(&mut client, &quoted, 500), [500]);
}

#[test]
fn setup_writes_settings_that_work_and_shows_the_account() {
    let Some(server) = Dovecot::start("setup_writes", "") else { return };
    let mut client = server.client();
    client.append("Junk", "", &letter("spam", 1));
    let options = ["setup", "--config", "new/imap.toml", "--folder", "Archive"];
    let done = server.runs(&options);
    for line in ["1  Junk (spam)", "0  INBOX (good mail)", "0  Trash (thrown away)", "0  Other\n"] {
        assert!(done.stderr.contains(line), "{line} is not in {}", done.stderr);
    }
    assert!(done.stdout.starts_with("new/imap.toml is written."), "{}", done.stdout);
    let mode = server.scratch.sh("stat -c %a new/imap.toml").quiet(0);
    assert_eq!(mode, "600\n");
    let check = ["--config", "new/imap.toml", "--check"];
    let done = dbacl_testing::done(&mut server.scratch.program("dbacl-imap", check));
    assert!(done.stdout.contains("Junk (spam), INBOX, Archive"), "{done:?}");
    // Settings that are there are not written over.
    let before = server.scratch.read("new/imap.toml");
    assert!(server.run(&options).complaint(64).contains("the settings are there already"));
    assert_eq!(server.scratch.read("new/imap.toml"), before);
}

#[test]
fn setup_asks_again_after_a_failure_and_makes_the_folder_for_what_is_unsure() {
    let Some(server) = Dovecot::start("setup_asks_again", "") else { return };
    if !dbacl_testing::is_installed("script", "setup_asks_again") {
        return;
    }
    // A wrong port cannot be answered away; a wrong password can.
    let answers = "\n\n2\necho secret\n\nArchive\n\ny\nAsk\nmaybe\nyes\n";
    let options = format!(
        "setup --config imap.toml --server 127.0.0.1 --port {} --plain --user alice \
         --password-command \"echo wrong\" --filter filter",
        server.ports.0
    );
    let script =
        format!("printf '{answers}' | HOME=. script -qec 'dbacl-imap {options}' /dev/null");
    let said = server.scratch.sh(&script).quiet(0);
    for part in [
        "the server refuses to log alice in",
        "Mail address, or name of the user [alice]: ",
        "Which [echo wrong]: ",
        "made the folder Ask",
        "maybe is not yes or no",
        "imap.toml is written.",
    ] {
        assert!(said.contains(part), "{part} is not in {said}");
    }
    let settings = String::from_utf8(server.scratch.read("imap.toml")).expect("text");
    for line in [
        "password-command = \"echo secret\"",
        "folders = [\"Archive\"]",
        "unsure = \"Ask\"",
        "move-spam = true",
        "letter = true",
    ] {
        assert!(settings.contains(line), "{line} is not in {settings}");
    }
    let mut client = server.client();
    assert!(client.run("LSUB \"\" *").iter().any(|line| line.contains("Ask")));
}
