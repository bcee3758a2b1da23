// SPDX-License-Identifier: GPL-3.0-or-later
//! What holds for every protocol: the verdicts of `dbacl --mail-filter`, mail that goes on whatever
//! happens, and hostile clients who harm nobody else.

use crate::wire::{Server, learn, lesson, mail, split, told, with_status};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use dbacl_testing::mails::word;
use dbacl_testing::{done, fed, holds_soon, root};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;

/// Messages of all sorts: those with which the filters are tested, and some that are hardly
/// messages.
fn corpus() -> Vec<Vec<u8>> {
    fn add(folder: &Path, mails: &mut Vec<Vec<u8>>) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                add(&path, mails);
            } else if let Ok(bytes) = fs::read(&path)
                && bytes.len() < 100_000
            {
                mails.push(bytes);
            }
        }
    }
    let mut mails: Vec<Vec<u8>> = [
        "",
        "\n",
        "\r\n\r\n",
        "no header",
        "X-DBACL: ham 100%\nX-dbacl \t: more\n folded\nSubject: cheap pills\n\ntext\n",
        "From a Mon Jan 1\nX-DBACL: forged\r\nSubject: offer\r\n\r\ncheap pills\r\n",
        "Subject: the budget\r\n\r\nreport\r\nbefore the meeting",
        "A: b\n\tX-DBACL: c\nX-DBACL\n\n: d",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect();
    add(&root().join("testdata/filter"), &mut mails);
    add(&root().join("fuzz/seeds/mail_filter"), &mut mails);
    // `--mail-filter` gives lines that end in CR alone other ends, so that its verdict stands on a
    // line of its own; servers return a message as it came.
    mails.retain(|mail| mail.contains(&b'\n') || !mail.contains(&b'\r'));
    assert!(mails.len() > 30, "only {} mails", mails.len());
    mails.truncate(500);
    mails
}

#[test]
fn without_reasons_the_verdict_is_the_only_line_more() {
    let server = Server::new("");
    for bytes in corpus().iter().step_by(10) {
        server.scratch.write("mail", bytes);
        let mut filter = server.scratch.dbacl_command(["--mail-filter", "filter"]);
        let input = fs::File::open(server.scratch.path("mail")).expect("the mail");
        let wanted = filter.stdin(input).output().expect("dbacl runs").stdout;
        let body = with_status(server.spamc("PROCESS", "alice", bytes), "0 EX_OK");
        assert!(body == wanted, "{}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn every_wire_has_the_verdict_and_the_reasons_of_the_mail_filter() {
    let server = Server::new("reasons = true");
    let mut reasons = 0;
    for bytes in corpus() {
        let shown = String::from_utf8_lossy(&bytes).into_owned();
        let by_filter = |mail: &[u8]| {
            let mut filter = server.scratch.dbacl_command(["--mail-filter", "filter", "--reasons"]);
            server.scratch.write("mail", mail);
            let input = fs::File::open(server.scratch.path("mail")).expect("the mail");
            filter.stdin(input).output().expect("dbacl runs").stdout
        };
        let wanted = by_filter(&bytes);
        let body = with_status(server.spamc("PROCESS", "alice", &bytes), "0 EX_OK");
        assert!(body == wanted, "{shown}: {}", String::from_utf8_lossy(&body));
        let answer = server.http("POST /checkv2", &bytes);
        if wanted.starts_with(b"X-DBACL: error") {
            with_status(answer, "503");
            continue;
        }
        let body = with_status(answer, "200");
        let body = String::from_utf8(body).expect("JSON");
        let told = verdicts(&wanted).replace("\r\n", "\n");
        let verdict = told.lines().next().and_then(|line| line.strip_prefix("X-DBACL: "));
        let verdict = format!("\"X-DBACL\":\"{}\"", verdict.expect("a verdict"));
        assert!(body.contains(&verdict), "{shown}: {body}");
        match told.split_once("X-DBACL-Reasons: ") {
            Some((_, told)) => {
                reasons += 1;
                // A message that begins with a blank seems to go on with the line before it.
                let is_odd = bytes.starts_with(b" ") || bytes.starts_with(b"\t");
                let own = if is_odd { told.lines().next().unwrap_or_default() } else { told };
                let own =
                    format!("\"X-DBACL-Reasons\":{}", serde_json::Value::from(own.trim_end()));
                assert!(body.contains(&own), "{shown}: {own} is not in {body}");
            }
            None => assert!(!body.contains("X-DBACL-Reasons"), "{shown}: {body}"),
        }
        let (_, filtered) = through_opensmtpd(&server, &bytes);
        // The number of bytes is evidence, so the message counts as it is after its way.
        let arrived: Vec<u8> = lines_of(&bytes).flat_map(|line| [line, b"\n"].concat()).collect();
        assert_eq!(
            verdicts(&filtered).trim_end(),
            verdicts(&by_filter(&arrived)).trim_end(),
            "{shown}"
        );
    }
    assert!(reasons > 20, "only {reasons} mails have reasons");
}

/// The lines of a header that tell the verdict and its reasons.
fn verdicts(mail: &[u8]) -> String {
    let (mut told, mut is_inside) = (String::new(), false);
    for line in String::from_utf8_lossy(mail).split_inclusive('\n') {
        is_inside = match line.chars().next() {
            Some(' ' | '\t') => is_inside,
            _ if line.trim_end().is_empty() => break,
            _ => line.starts_with("X-DBACL: ") || line.starts_with("X-DBACL-Reasons: "),
        };
        if is_inside {
            told.push_str(line);
        }
    }
    told
}

/// The lines of a message as smtpd shows them: without their ends, whichever these are.
fn lines_of(mail: &[u8]) -> impl Iterator<Item = &[u8]> {
    mail.split_inclusive(|&byte| byte == b'\n').map(|line| {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        line.strip_suffix(b"\r").unwrap_or(line)
    })
}

/// The status of the filter of OpenSMTPD that was shown a message, and the mail that it gives back.
fn through_opensmtpd(server: &Server, mail: &[u8]) -> (i32, Vec<u8>) {
    let mut shown = b"config|ready\n".to_vec();
    let mut show = |line: &[u8]| {
        shown.extend_from_slice(b"filter|0.5|1|smtp-in|data-line|s|t|");
        shown.extend_from_slice(line);
        shown.push(b'\n');
    };
    for line in lines_of(mail) {
        // smtpd doubles dots.
        show(&[if line.starts_with(b".") { &b"."[..] } else { b"" }, line].concat());
    }
    show(b".");
    server.scratch.write("shown", shown);
    let options = ["--opensmtpd", "--config", "server.toml"];
    let mut filter = server.scratch.program("dbacl-server", options);
    filter.stdin(fs::File::open(server.scratch.path("shown")).expect("what is shown"));
    let output = filter.output().expect("the filter starts");
    let mut given = Vec::new();
    for line in output.stdout.split_inclusive(|&byte| byte == b'\n') {
        if let Some(line) = line.strip_prefix(b"filter-dataline|s|t|") {
            given.extend_from_slice(line.strip_prefix(b".").unwrap_or(line));
        }
    }
    (output.status.code().unwrap_or(-1), given)
}

#[test]
fn users_have_their_own_filters_and_changes_are_taken_up() {
    let server = Server::new("");
    let verdict = |user: &str| server.verdict(user);
    assert!(verdict("alice").starts_with("X-DBACL: spam "), "{}", verdict("alice"));
    // The user has a filter of their own, in which spam and ham are exchanged.
    server.scratch.write("one", fs::read(server.scratch.path("ham.mbox")).expect("learned"));
    server.scratch.write("two", fs::read(server.scratch.path("spam.mbox")).expect("learned"));
    let learned = |kinds: &str| {
        server.scratch.dbacl(&format!("--mail-learn users/alice {kinds}")).output();
    };
    learned("ham=two spam=one");
    assert!(verdict("alice").starts_with("X-DBACL: ham "), "{}", verdict("alice"));
    assert!(verdict("Alice+list").starts_with("X-DBACL: ham "));
    assert!(verdict("bob").starts_with("X-DBACL: spam "));
    learned("ham=one spam=two");
    assert!(verdict("alice").starts_with("X-DBACL: spam "), "{}", verdict("alice"));
    // A damaged filter is an error, and not the default filter; the next one that is whole counts.
    // The table before would be used if it were whole.
    server.scratch.sh("cd users/alice; echo damaged | tee table table.before").output();
    assert_eq!(verdict("alice"), "X-DBACL: error");
    fs::remove_dir_all(server.scratch.path("users/alice")).expect("a folder");
    assert!(verdict("alice").starts_with("X-DBACL: spam "));
}

#[test]
fn mail_is_judged_while_its_filter_is_learned_anew() {
    let server = Server::new("");
    std::thread::scope(|scope| {
        let learning = scope.spawn(|| {
            for _ in 0..5 {
                learn(&server.scratch, "filter");
            }
        });
        let mut count = 0;
        while !learning.is_finished() || count < 50 {
            assert!(server.is_served());
            count += 1;
        }
    });
}

/// Bytes as `spamc -z` packs them.
fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::default());
    packer.write_all(bytes).expect("memory takes all");
    packer.finish().expect("memory takes all")
}

fn ask_packed(server: &Server, command: &str, bytes: &[u8]) -> (String, Vec<u8>) {
    let length = bytes.len();
    let head = format!("{command} SPAMC/1.5\r\nCompress: zlib\r\nContent-length: {length}\r\n\r\n");
    server.answer("spamc", &[head.as_bytes(), bytes].concat())
}

#[test]
fn packed_mail_has_the_verdict_of_the_mail() {
    let server = Server::new("");
    for kind in ["ham", "spam"] {
        let mail = mail(kind);
        let (_, wanted) = server.spamc("PROCESS", "a", mail.as_bytes());
        let body = with_status(ask_packed(&server, "PROCESS", &packed(mail.as_bytes())), "0 EX_OK");
        assert_eq!(body, wanted);
        assert!(body.starts_with(format!("X-DBACL: {kind} ").as_bytes()));
    }
}

#[test]
fn hostile_clients_harm_nobody_else() {
    let server = Server::new(
        "[limits]\nmail = 1000000\nmemory = 3000000\nrequest-seconds = 10\nconnections = 60\n\
         peer-percent = 100\n",
    );
    // Clients of each protocol send half a request, and then nothing.
    let mut slow: Vec<_> = (0..50).map(|_| server.connect("spamc")).collect();
    slow.extend((0..50).map(|_| server.connect("rspamd")));
    slow.extend((0..50).map(|_| server.connect("milter")));
    for (number, stream) in slow.iter_mut().enumerate() {
        let beginnings: [&[u8]; 4] =
            [b"", b"PROC", b"POST /checkv2 HTTP/1.1\r\n", b"\0\0\0\x0dO\0\0\0\x06"];
        stream.write_all(beginnings[number % 4]).expect("the server listens");
    }
    assert!(server.is_served());
    // There are more connections than the server has room for.
    let large = vec![b'x'; 1_500_000];
    with_status(server.spamc("PROCESS", "a", &large), "98 EX_TOOBIG");
    with_status(server.spamc("CHECK", "a", &large), "0 EX_OK\r\nContent-length: 0\r\nSpam: ");
    with_status(server.http("POST /checkv2", &large), "200");
    // Compressed data: some that grows large when it is unpacked, and some that cannot be unpacked.
    let bomb = packed(&vec![b'x'; 100_000_000]);
    assert!(bomb.len() < 200_000);
    with_status(ask_packed(&server, "PROCESS", &bomb), "98 EX_TOOBIG");
    with_status(ask_packed(&server, "CHECK", &bomb), "0 EX_OK\r\nContent-length: 0\r\nSpam: ");
    for damaged in [&b"no zlib"[..], &bomb[..bomb.len() / 2]] {
        let (head, _) = ask_packed(&server, "PROCESS", damaged);
        assert!(
            head.starts_with("SPAMD/1.1 98 EX_TOOBIG")
                || head.starts_with("SPAMD/1.1 76 EX_PROTOCOL"),
            "{head}"
        );
    }
    assert!(server.is_served());
    // One client announces a gigabyte and sends one byte.
    let request = "PROCESS SPAMC/1.5\r\nContent-length: 1073741824\r\n\r\nx";
    let answer = server.say("spamc", request);
    assert!(answer.starts_with("SPAMD/1.1 76 EX_PROTOCOL"), "{answer}");
    // Bytes that belong to none of the protocols.
    for name in ["spamc", "rspamd", "milter"] {
        for request in [
            &b"\0\0\0\0"[..],
            b"\xff\xff\xff\xff\xff\xff",
            b"GET / HTTP/1.1\r\n\r\n",
            b"CHECK SPAMC/1.5\r\nContent-length: 99999999999999999999\r\n\r\n",
            b"\r\n\r\n\r\n",
            &b"A".repeat(100_000),
            b"PROCESS SPAMC/1.5\r\nContent-length: 10\r\n\r\nshort",
        ] {
            server.ask(name, request);
        }
        assert!(server.is_served());
    }
    // The connections of clients that were too slow have been ended.
    let mut are_put_out = || {
        slow[..100].iter_mut().all(|stream| matches!(stream.read(&mut [0; 100]), Ok(0) | Err(_)))
    };
    assert!(holds_soon(&mut are_put_out), "slow clients stay");
    assert!(server.is_served());
    let most = server.memory("VmHWM");
    assert!(most < 120_000, "{most} kB");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn what_is_being_answered_is_answered_before_the_end() {
    let server = Server::new("");
    let spam = mail("spam");
    let mut stream = server.connect("spamc");
    let head = format!("PROCESS SPAMC/1.5\r\nContent-length: {}\r\n\r\n", spam.len());
    stream.write_all(head.as_bytes()).expect("the server listens");
    // The connection has been taken once a later one has been answered.
    server.spamc("PING", "a", b"");
    server.signal("TERM");
    server.wait_for("event=stops");
    assert!(holds_soon(|| !server.scratch.path("spamc").exists()), "others are served");
    stream.write_all(spam.as_bytes()).expect("the server listens");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    assert!(split(&answer).1.starts_with(b"X-DBACL: spam "));
    drop(stream);
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn lessons_are_on_disk_when_they_are_answered() {
    let server = Server::new("learn-default = true");
    let tell = |number: usize, class: &str| {
        let mail = format!("Subject: offer\n\nthe cheap pills of lesson {}\n", word(number));
        server.say("spamc", &lesson("", class, &mail))
    };
    // Many clients learn into the same filter at a time, while others ask for verdicts.
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for number in 0..10 {
                    let answer = tell(thread * 10 + number, "spam");
                    assert!(answer.contains("\r\nDidSet: local\r\n"), "{answer}");
                }
            });
        }
        for _ in 0..20 {
            assert!(server.is_served());
        }
    });
    // The filter knows every one of these messages: telling the server again changes nothing.
    for number in 0..40 {
        let answer = tell(number, "spam");
        assert!(answer.starts_with("SPAMD/1.1 0 EX_OK") && !answer.contains("DidSet"), "{answer}");
    }
    for fields in ["", "Message-class: spam\r\n", "Set: local\r\n"] {
        let answer = server.say("spamc", &told("", fields, ""));
        assert!(answer.starts_with("SPAMD/1.1 76 EX_PROTOCOL"), "{fields}");
    }
    let body = with_status(
        server.http("POST /learnham", b"Subject: meeting\n\nabout the budget\n"),
        "200",
    );
    assert_eq!(body, b"{\"success\":true}");
    with_status(server.http("POST /learnham", b"Subject: meeting\n\nabout the budget\n"), "208");
    let nowhere = Server::new("learn = 'nowhere'");
    with_status(nowhere.http("POST /learnham", b"Subject: a\n\nb\n"), "403");
}

/// A server that is killed in the middle of lessons loses none that it has confirmed, and its
/// filter is whole. `DBACL_SERVER_KILLS` is how often that is tried.
#[test]
fn a_killed_server_keeps_what_it_has_confirmed() {
    let mut server = Server::new("learn-default = true");
    let mut confirmed = Vec::new();
    let kills = dbacl_testing::number("DBACL_SERVER_KILLS", 8);
    for round in 0..kills {
        let pid = server.process_id();
        std::thread::scope(|scope| {
            for number in 0.. {
                // The server is killed while it learns one of the next messages.
                if number == 4 {
                    scope.spawn(move || {
                        std::thread::sleep(std::time::Duration::from_millis(7 * round as u64 % 97));
                        dbacl_testing::kill(pid, "KILL");
                    });
                }
                let (number, turn) = (word(number), word(round));
                let mail = format!("Subject: offer\n\nlesson {number} of round{turn}\n");
                let request = lesson("", "spam", &mail);
                let Some(answer) = server.try_ask("spamc", request.as_bytes()) else { break };
                if answer.starts_with(b"SPAMD/1.1 0 EX_OK") {
                    confirmed.push(request);
                }
            }
        });
        server = server.start_again("learn-default = true");
        assert!(server.is_served());
    }
    assert!(confirmed.len() > 3 * kills, "only {} lessons", confirmed.len());
    for request in confirmed {
        let answer = server.say("spamc", &request);
        assert!(!answer.contains("DidSet"), "{request} was lost: {answer}");
    }
}

#[test]
fn counts_are_told_to_prometheus() {
    let server = Server::new("");
    server.spamc("CHECK", "a", mail("spam").as_bytes());
    server.http("POST /checkv2", mail("ham").as_bytes());
    server.ask("spamc", b"none\r\n\r\n");
    let body = with_status(server.http("GET /metrics", b""), "200");
    let text = String::from_utf8(body).expect("text");
    for line in [
        "dbacl_mails_total{wire=\"spamc\",verdict=\"spam\"} 1",
        "dbacl_mails_total{wire=\"rspamd\",verdict=\"ham\"} 1",
        "dbacl_malformed_requests_total 1",
        "dbacl_filters_open 1",
        "dbacl_verdict_seconds_count 2",
    ] {
        assert!(text.lines().any(|other| other == line), "{line} is not in {text}");
    }
    for (request, status) in
        [("GET /nothing", "404"), ("GET /checkv2", "405"), ("GET /ping", "200")]
    {
        with_status(server.http(request, b""), status);
    }
}

/// What the server answers to a lesson for a user.
fn taught(server: &Server, user: &str, class: &str, mail: &str) -> String {
    server.say("spamc", &lesson(user, class, mail))
}

#[test]
fn the_first_lesson_begins_a_filter_and_changes_no_other() {
    let server = Server::new("");
    let verdict = |user: &str| server.verdict(user);
    let before = verdict("bob");
    assert!(before.starts_with("X-DBACL: spam "), "{before}");
    let default = || server.scratch.dbacl("--mail-filter filter").stdout;
    let judged = default();
    let answer = taught(&server, "alice", "ham", "Subject: lunch\n\nsee you at noon\n");
    assert!(answer.contains("\r\nDidSet: local\r\n"), "{answer}");
    // Beside that the new filter knows what the default one knows.
    assert!(verdict("alice").starts_with("X-DBACL: spam "), "{}", verdict("alice"));
    let answer = taught(&server, "alice", "ham", &mail("spam"));
    assert!(answer.contains("\r\nDidSet: local\r\n"), "{answer}");
    assert!(!verdict("alice").starts_with("X-DBACL: spam "), "{}", verdict("alice"));
    assert_eq!((verdict("bob"), default()), (before, judged));
    // Without a name there is nobody whose filter could learn.
    let answer = taught(&server, "", "spam", &mail("spam"));
    assert!(answer.starts_with("SPAMD/1.1 77 EX_NOPERM: no user is named"), "{answer}");
    assert!(!answer.ends_with("\r\n\r\n"), "spamc takes this for success: {answer:?}");
    server.wait_for("event=refused wire=spamc user=\"\" as=spam");
}

#[test]
fn a_filter_that_is_never_asked_for_is_named() {
    let check = |server: &Server| {
        let arguments = ["--config", "server.toml", "--check"];
        done(&mut server.scratch.program("dbacl-server", arguments)).quiet(0)
    };
    let server = Server::new("");
    taught(&server, "alice", "ham", "Subject: lunch\n\nat noon\n");
    assert!(!check(&server).contains("never asked"), "{}", check(&server));
    server.spamc("CHECK", "Alice@example.org", mail("spam").as_bytes());
    taught(&server, "alice", "ham", "Subject: lunch\n\nat one\n");
    server.wait_for("event=never-asked user=alice asked=Alice@example.org advice=");
    let said = "the filter alice is never asked for: mail is classified for Alice@example.org";
    // The state is kept for some seconds.
    assert!(holds_soon(|| check(&server).contains(said)), "{}", check(&server));
    let page = server.say("status", "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(page.contains(said), "{page}");
    // By the local part they are one person.
    let server = Server::new("users = 'local'");
    for number in 0..16 {
        taught(&server, "alice", "ham", &format!("{}{number}\n", mail("spam")));
    }
    let verdict = server.verdict("alice@example.org");
    assert!(!verdict.starts_with("X-DBACL: spam "), "{verdict}");
    assert!(!check(&server).contains("never asked"), "{}", check(&server));
}

#[test]
fn every_way_to_teach_refuses_what_is_not_mail() {
    let server = Server::new("");
    taught(&server, "root", "spam", &mail("spam"));
    let list = || {
        let list = ["--config", "server.toml", "--list"];
        done(&mut server.scratch.program("dbacl-server", list)).quiet(0)
    };
    let before = list();
    for (bytes, what) in dbacl_testing::mails::not_mail(&server.scratch.path("filter")) {
        let why = format!("this is not mail but {what}");
        for fields in ["Set: local\r\n", "Set: local, remote\r\n"] {
            let head = told("root", &format!("Message-class: spam\r\n{fields}"), "");
            let head = head.replace("length: 0", &format!("length: {}", bytes.len()));
            let answer = server.ask("spamc", &[head.as_bytes(), &bytes].concat());
            let answer = String::from_utf8_lossy(&answer);
            assert!(answer.starts_with(&format!("SPAMD/1.1 65 EX_DATAERR: {why}")), "{answer}");
        }
        for path in ["/learnspam", "/learnham"] {
            let request = format!("POST {path} HTTP/1.1\r\nHost: a\r\nDeliver-To: root");
            let request = format!("{request}\r\nContent-Length: {}\r\n\r\n", bytes.len());
            let answer = server.answer("rspamd", &[request.as_bytes(), &bytes].concat());
            let said = String::from_utf8(with_status(answer, "422")).expect("text");
            assert!(said.contains(&why), "{said}");
        }
        let report = format!(
            "Content-Type: multipart/report; boundary=b\n\n\
             --b\nContent-Type: message/feedback-report\n\nFeedback-Type: abuse\n\n\
             --b\nContent-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n{}\n--b--\n",
            BASE64_STANDARD.encode(&bytes)
        );
        for (how, bytes) in [("spam", &bytes[..]), ("ham", &bytes), ("report", report.as_bytes())] {
            let teach = ["--config", "server.toml", "--user", "root", "--teach", how];
            let done = fed(server.scratch.program("dbacl-server", teach), bytes);
            done.complains(65, if how == "report" { "not " } else { &why });
        }
        let verdict = with_status(server.spamc("PROCESS", "root", &bytes), "0 EX_OK");
        assert!(verdict.starts_with(b"X-DBACL: error") && verdict.ends_with(&bytes), "{what}");
    }
    assert_eq!(list(), before);
}

#[test]
fn a_report_is_a_lesson() {
    let server = Server::new("");
    let report = |fields: &str| server.say("spamc", &told("a", fields, &mail("spam")));
    for _ in 0..2 {
        let answer = report("Message-class: spam\r\nSet: local, remote\r\n");
        assert!(answer.contains("\r\nDidSet: local,remote\r\n"), "{answer}");
    }
    let answer = report("Message-class: ham\r\nSet: local\r\nRemove: remote\r\n");
    assert!(answer.contains("\r\nDidRemove: remote\r\n"), "{answer}");
    server.wait_for("outcome=\"moved from spam\"");
}

#[test]
fn the_log_says_why() {
    let server = Server::new("");
    let mail = format!("Message-ID: <one@example.org>\n{}", mail("spam"));
    let request = format!(
        "POST /checkv2 HTTP/1.1\r\nHost: a\r\nFrom: x@shop.example\r\nQueue-Id: 4F1A2\r\n\
         Content-Length: {}\r\n\r\n{mail}",
        mail.len()
    );
    server.ask("rspamd", request.as_bytes());
    let line = server.wait_for("event=classified");
    for fact in
        ["time=2", "id=<one@example.org>", "queue=4F1A2", "from=shop.example", "reasons=\"+"]
    {
        assert!(line.contains(fact), "{fact} is not in {line}");
    }
}

#[test]
fn the_status_page_says_what_happens_and_shows_no_mail() {
    let server = Server::new("");
    let own = format!("Message-ID: <one@example.org>\nTo: secret@example.net\n{}", mail("spam"));
    server.spamc("PROCESS", "<script>alert(1)</script>", own.as_bytes());
    server.spamc("PROCESS", "cod\u{202e}exe\u{9b}2J", own.as_bytes());
    taught(&server, "alice", "ham", "Message-ID: <two@example.org>\n\nlunch at noon\n");
    taught(&server, "", "ham", "Message-ID: <three@example.org>\n\nlunch at noon\n");
    let get = |path: &str| {
        let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n");
        server.answer("status", request.as_bytes())
    };
    let (head, page) = get("/");
    let page = String::from_utf8(with_status((head.clone(), page), "200")).expect("text");
    assert!(head.contains("content-security-policy: default-src 'none'"), "{head}");
    for text in [
        "&lt;one@example.org&gt;",
        "&lt;two@example.org&gt;",
        "no user is named",
        "&lt;script&gt;alert(1)",
        "<td data-name=\"user\">alice</td>",
        "<td data-name=\"user\">cod\\u202eexe\\u009b2J</td>",
        "<td data-name=\"outcome\">learned</td>",
        "<div class=\"number\">1</div><div>taught as ham</div>",
        "not used yet",
        "<polyline",
    ] {
        assert!(page.contains(text), "{text} is not in {page}");
    }
    assert!(!page.contains("<script") && !page.contains("secret@"), "{page}");
    assert!(!page.contains("src=") && !page.contains("http:"), "something from elsewhere: {page}");
    let text = String::from_utf8(with_status(get("/status.json"), "200")).expect("text");
    let is_plain = |text: &str| !text.contains(['\x1b', '\u{9b}', '\u{202e}']);
    assert!(is_plain(&page) && is_plain(&text), "{page}\n{text}");
    let status: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(status["verdicts"], serde_json::json!([0, 0, 2, 0]));
    assert_eq!(status["last_verdicts"][0]["facts"][1][1], "cod\u{202e}exe\u{9b}2J");
    assert_eq!(status["lessons"]["taught as ham"], 1);
    assert_eq!(status["lessons"]["refused"], 1);
    assert_eq!(
        (&status["filters"][0]["is_used"], &status["filters"][1]["is_used"]),
        (&true.into(), &false.into())
    );
    assert_eq!(status["filters"][1]["user"], "alice");
    assert_eq!(status["filters"][1]["messages"], 161);
    let facts = |kind: &str| status[kind][0]["facts"].to_string();
    assert!(facts("last_verdicts").contains(r#"["id","<one@example.org>"]"#), "{text}");
    assert!(facts("last_lessons").contains(r#"["outcome","learned"]"#), "{text}");
    assert!(facts("last_refusals").contains("no user is named"), "{text}");
    with_status(get("/metrics"), "404");
    // A page with a token is for those who have it.
    let server = Server::new("status-token = 'abc'");
    for (fields, status) in [("", "401"), ("Authorization: Bearer abc\r\n", "200")] {
        let request = format!("GET / HTTP/1.1\r\nHost: a\r\n{fields}\r\n");
        with_status(server.answer("status", request.as_bytes()), status);
    }
}

#[test]
fn settings_are_read_again() {
    let server = Server::new("");
    let header = || server.verdict("a");
    assert!(header().starts_with("X-DBACL: "));
    let before = String::from_utf8(server.scratch.read("server.toml")).expect("text");
    server.scratch.write("server.toml", format!("headers = ['rspamd']\n{before}"));
    server.signal("HUP");
    server.wait_for("level=info event=reloads");
    assert!(header().starts_with("X-Spamd-Result: "), "{}", header());
    server.scratch.write("server.toml", "headers = ['none']\n");
    server.signal("HUP");
    let said = server.wait_for("level=error event=reloads");
    assert!(said.contains("unknown variant") && header().starts_with("X-Spamd-Result: "), "{said}");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn filters_of_users_are_listed_and_removed() {
    let server = Server::new("");
    taught(&server, "alice", "ham", "Subject: lunch\n\nat noon\n");
    let run = |arguments: &[&str]| {
        let arguments = [&["--config", "server.toml"], arguments].concat();
        done(&mut server.scratch.program("dbacl-server", arguments))
    };
    assert_eq!(run(&["--health"]).quiet(0), "");
    let listed = run(&["--list"]).quiet(0);
    let fields: Vec<&str> = listed.trim_end().split('\t').collect();
    assert!(fields[..2] == ["alice", "161"] && fields[3].ends_with("/users/alice"), "{listed}");
    for name in ["bob", "../filter", "", "."] {
        let said = run(&["--remove", name]).complaint(69);
        assert!(said.contains(&format!("there is no filter of {name}")), "{said}");
    }
    assert_eq!(run(&["--remove", "Alice"]).quiet(0), "");
    assert_eq!(run(&["--list"]).quiet(0), "");
    server.signal("TERM");
    server.wait_for("event=stops");
    assert!(holds_soon(|| !server.scratch.path("spamc").exists()), "the server stays");
    assert!(run(&["--health"]).complaint(69).contains("no server at "));
}
