// SPDX-License-Identifier: GPL-3.0-or-later
//! A user's first lesson begins a filter. Whatever happens meanwhile, the user's mail is classified
//! as before, and the next lesson is learned.

use crate::wire::{Server, lesson, mail};
use dbacl::{MailFilter, MailFilterOptions};
use dbacl_testing::{Scratch, done, has_tracer, holds_soon, programs};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A message of a list that the default filter knows nothing of.
fn newsletter(number: usize) -> String {
    let word = dbacl_testing::mails::word(number);
    format!(
        "From: list@zebra.example\nSubject: zebra weekly {word}\n\n\
         the zebra herd of the savanna {word} grazes beside the giraffes\n\
         rangers of the reserve count stripes, hooves and manes\n"
    )
}

/// The first word of the verdict on a message, and the word after it.
fn verdict(server: &Server, user: &str, mail: &str) -> String {
    let (_, body) = server.spamc("PROCESS", user, mail.as_bytes());
    let line = String::from_utf8_lossy(&body).lines().next().unwrap_or_default().to_owned();
    line.strip_prefix("X-DBACL: ").and_then(|rest| rest.split(' ').next()).unwrap_or(&line).into()
}

#[test]
fn what_a_user_moves_to_junk_becomes_spam_and_other_mail_stays() {
    let server = Server::new("");
    let verdicts = |user: &str| {
        let other = ["ham", "spam"].map(|kind| verdict(&server, user, &mail(kind)));
        (
            [verdict(&server, user, &newsletter(100)), verdict(&server, user, &newsletter(101))],
            other,
        )
    };
    let (list, other) = verdicts("alice");
    assert!(list != ["spam", "spam"] && other == ["ham", "spam"], "{list:?} {other:?}");
    for number in 0..16 {
        let answer = server.say("spamc", &lesson("alice", "spam", &newsletter(number)));
        assert!(answer.contains("DidSet: local"), "{answer}");
    }
    assert_eq!(verdicts("alice"), (["spam", "spam"].map(str::to_owned), other.clone()));
    assert_eq!(verdicts("bob"), (list, other));
}

#[test]
fn what_cannot_be_learned_begins_no_filter() {
    let server = Server::new("");
    for message in ["", "\x1f\u{8b}\x08\0", "%PDF-1.4\n1 0 obj\n"] {
        let answer = server.say("spamc", &lesson("alice", "spam", message));
        assert!(!answer.contains("DidSet: local"), "{message:?}: {answer}");
    }
    assert!(!server.scratch.path("users/alice").exists());
    let answer = server.say("spamc", &lesson("alice", "spam", &newsletter(1)));
    assert!(answer.contains("DidSet: local"), "{answer}");
}

#[test]
fn mail_is_classified_while_first_lessons_run() {
    let server = Server::new("");
    let ended = AtomicBool::new(false);
    let users: Vec<String> = (0..8).map(|number| format!("user{number}")).collect();
    let wrong = std::thread::scope(|scope| {
        let judges = scope.spawn(|| {
            let (mut wrong, mut all) = (Vec::new(), 0);
            while !ended.load(Relaxed) || all < users.len() {
                let user = &users[all % users.len()];
                all += 1;
                let verdict = verdict(&server, user, &mail("spam"));
                wrong.extend(Some(verdict).filter(|verdict| verdict != "spam"));
            }
            wrong
        });
        for user in &users {
            let answer = server.say("spamc", &lesson(user, "spam", &newsletter(1)));
            assert!(answer.contains("DidSet: local"), "{answer}");
        }
        ended.store(true, Relaxed);
        judges.join().expect("no panic")
    });
    assert_eq!(wrong, [""; 0]);
}

/// System calls by which a filter comes into being.
const CALLS: [&str; 5] = ["mkdir", "linkat", "symlink", "rename", "fsync"];

/// Whether a server with these settings, which is killed at the call `number` of one of its
/// threads, gives the lesson.
fn survives(scratch: &Scratch, call: &str, number: usize, request: &str) -> bool {
    let _ = std::fs::remove_file(scratch.path("killed"));
    let mut server = scratch.command("strace");
    let inject = format!("inject={call}:signal=KILL:when={number}");
    // With -D the process that is waited for is the server.
    server.args(["-D", "-f", "-qq", "-o", "/dev/null"]);
    server.args(["-e", &format!("trace={call}"), "-e", &inject]);
    server.arg(programs().join("dbacl-server")).args(["--config", "killed.toml"]);
    let mut server = server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("strace");
    let mut stream = None;
    let listens = || {
        stream = UnixStream::connect(scratch.path("killed")).ok();
        stream.is_some()
    };
    assert!(holds_soon(listens), "{call} {number}: the server does not begin");
    let mut stream = stream.expect("a connection");
    let mut answer = String::new();
    let _ = stream.write_all(request.as_bytes()).map(|()| stream.read_to_string(&mut answer));
    dbacl_testing::kill(server.id(), "TERM");
    server.wait().expect("it ends");
    answer.contains("EX_OK")
}

#[test]
fn a_first_lesson_that_is_killed_anywhere_is_repaired_by_the_next() {
    if !has_tracer("first_lesson::a_first_lesson_that_is_killed") {
        return;
    }
    let server = Server::new("");
    let scratch = &server.scratch;
    let settings = scratch.text("server.toml");
    let (top, _) = settings.split_once("[listen]").expect("settings");
    let socket = scratch.path("killed").display().to_string();
    scratch.write("killed.toml", format!("{top}[listen]\nspamc = '{socket}'\n"));
    let (mut kills, mut unfinished) = (0, 0);
    for call in CALLS {
        for number in 1.. {
            let (at, user) = (format!("{call} {number}"), format!("{call}{number}"));
            let request = lesson(&user, "spam", &newsletter(1));
            let is_given = survives(scratch, call, number, &request);
            assert_eq!(verdict(&server, &user, &mail("spam")), "spam", "{at}");
            let folder = scratch.path("users").join(&user);
            // A folder without files is none of a filter.
            let has_files =
                std::fs::read_dir(&folder).is_ok_and(|mut files| files.next().is_some());
            if has_files && !folder.join("table").exists() {
                unfinished += 1;
                let check = ["--config", "server.toml", "--check"];
                let said = done(&mut scratch.program("dbacl-server", check)).quiet(0);
                assert!(said.contains(&format!("/{user}: the filter is unfinished")), "{said}");
            }
            let answer = server.say("spamc", &request);
            assert!(answer.contains("EX_OK"), "{at}: {answer}");
            let filter = MailFilter::open(&folder, &MailFilterOptions::default()).expect(&at);
            assert_eq!(filter.documents(), 161, "{at}");
            std::fs::remove_dir_all(&folder).expect("a folder");
            if is_given {
                break;
            }
            kills += 1;
        }
    }
    assert!(kills > 8 && unfinished > 5, "{kills} kills, {unfinished} unfinished");
}

#[test]
fn links_of_others_teach_nobody() {
    let server = Server::new("");
    let users = server.scratch.path("users");
    for user in ["alice", "mallory"] {
        server.say("spamc", &lesson(user, "spam", &newsletter(1)));
    }
    let own = |place: &std::path::Path| std::os::unix::fs::lchown(place, Some(65_534), None);
    symlink("alice", users.join("eve")).expect("a link");
    for name in ["table", "journal"] {
        let link = users.join("mallory").join(name);
        std::fs::remove_file(&link).expect("a file");
        symlink(format!("../alice/{name}"), &link).expect("a link");
        if own(&link).is_err() {
            return dbacl_testing::skip(
                "first_lesson::links_of_others",
                "only root gives links away",
            );
        }
    }
    own(&users.join("eve")).expect("root gives links away");
    let documents = || {
        let filter = MailFilter::open(&users.join("alice"), &MailFilterOptions::default());
        filter.expect("a filter").documents()
    };
    let before = documents();
    for user in ["eve", "mallory"] {
        let answer = server.say("spamc", &lesson(user, "spam", &newsletter(2)));
        assert!(!answer.contains("DidSet"), "{user}: {answer}");
        assert_eq!(documents(), before, "{user}");
    }
    assert_eq!(verdict(&server, "eve", &mail("spam")), "spam");
    let run = |arguments: &[&str]| {
        let arguments = [&["--config", "server.toml"], arguments].concat();
        done(&mut server.scratch.program("dbacl-server", arguments))
    };
    let said = run(&["--check"]).quiet(0);
    assert!(said.contains("eve: a link of another user is in place of the filter"), "{said}");
    assert!(run(&["--list"]).quiet(0).contains("eve\tforeign link\t"));
    run(&["--remove", "eve"]).complains(69, "a link of another user");
    assert_eq!(documents(), before);
}
