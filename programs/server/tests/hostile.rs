// SPDX-License-Identifier: GPL-3.0-or-later
//! Clients that are slow, do not read their answers, send without end, or send what is not of the
//! protocol: they lose their own connection, and other clients are served.
//!
//! `DBACL_SERVER_BYTES` is how large an endless mail is (100 million bytes), `DBACL_SERVER_ROUNDS`
//! how many changed dialogues each protocol gets (150).

use crate::wire::{FEW_ADDRESSES, Server, mail, with_status};
use dbacl_numeric::random::SplitMix64;
use dbacl_testing::mails::{self, SPAM};
use dbacl_testing::{PATIENCE, command, holds_soon, kill, memory, number, programs, root};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Writes a byte every 50 ms until the server closes the connection; returns how long that took.
fn dribble(mut stream: UnixStream, beginning: &[u8]) -> Duration {
    let start = Instant::now();
    stream.write_all(beginning).expect("the server listens");
    while stream.write_all(b"x").is_ok() {
        assert!(start.elapsed() < PATIENCE, "the server waits for {}", beginning.escape_ascii());
        std::thread::sleep(Duration::from_millis(50));
    }
    start.elapsed()
}

#[test]
fn clients_that_dribble_are_put_out() {
    let server = Server::new("[limits]\nrequest-seconds = 5\nidle-seconds = 5\n");
    let beginnings: [(&str, &[u8]); 6] = [
        ("spamc", b"PROC"),
        ("spamc", b"PROCESS SPAMC/1.5\r\nContent-length: 900000\r\n\r\n"),
        ("rspamd", b"POST /che"),
        ("rspamd", b"POST /checkv2 HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n"),
        // Two clients: one begins a packet of 65 kB, the other sends a part of a length.
        ("milter", b"\0\0\xff\xff"),
        ("milter", b"\0\0"),
    ];
    std::thread::scope(|scope| {
        let dribbling: Vec<_> = beginnings
            .iter()
            .map(|(name, beginning)| {
                let stream = server.connect(name);
                scope.spawn(|| dribble(stream, beginning))
            })
            .collect();
        for client in dribbling {
            let lasted = client.join().expect("no panic");
            assert!(lasted >= Duration::from_secs(3), "put out after {lasted:?}");
            assert!(server.is_served());
        }
    });
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn clients_that_do_not_take_their_answers_are_put_out() {
    // The answers do not fit into what the operating system keeps of them, and there is memory for
    // four such messages.
    let server = Server::new(
        "[limits]\nmail = 4000000\nmemory = 22000000\nrequest-seconds = 5\npeer-percent = 100\n",
    );
    assert!(server.is_served());
    let large = [mail("ham").as_bytes(), &b"x".repeat(3_000_000)].concat();
    let length = large.len();
    let head = format!("PROCESS SPAMC/1.5\r\nContent-length: {length}\r\n\r\n");
    let mut silent: Vec<_> = (0..4)
        .map(|_| {
            let mut stream = server.connect("spamc");
            stream.write_all(&[head.as_bytes(), &large].concat()).expect("the server listens");
            stream
        })
        .collect();
    assert!(server.is_served());
    // The server reads no further byte from a client whose connection it has ended.
    let is_put_out = |stream: &mut UnixStream| stream.write_all(b"x").is_err();
    for stream in &mut silent {
        assert!(holds_soon(|| is_put_out(stream)), "those who take no answer stay");
    }
    for mut stream in silent {
        let mut answer = Vec::new();
        // The answer was cut off before its end, which the client sees in one way or another.
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.len() < length, "{} of {length} bytes", answer.len());
    }
    // The memory that their answers took is free again.
    let answers: Vec<_> = (0..4).map(|_| server.spamc("PROCESS", "a", &large).0).collect();
    assert!(answers.iter().all(|head| head.starts_with("SPAMD/1.1 0 EX_OK")), "{answers:?}");
    assert_eq!(server.stop(), Some(0));
}

/// Random letters of Chinese, in lines: nothing takes more memory for each byte of it.
fn letters(bytes: usize) -> Vec<u8> {
    let mut random = SplitMix64::new(7);
    mails::large("utf-8", bytes, 40, || {
        let letter = 0x4e00 + u32::try_from(random.below(0x5000)).expect("small");
        char::from_u32(letter).expect("an ideograph").to_string().into_bytes()
    })
}

#[test]
fn a_mail_without_memory_costs_no_other_its_verdict() {
    let server = Server::with_few_addresses();
    for _ in 0..3 {
        assert!(server.is_served());
    }
    let large = letters(8_000_000);
    let size = server.memory("VmSize");
    // Room for the mail and its answer, and not for what classifying it may take: 66 to 94 MB.
    let limit = format!("--as={}", size * 1024 + (82 << 20));
    let mut limiting = command("prlimit");
    limiting.args(["--pid", &server.process_id().to_string(), &limit]);
    if !limiting.status().is_ok_and(|status| status.success()) {
        return dbacl_testing::skip("a mail without memory", "no program prlimit");
    }
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let (head, body) = server.spamc("PROCESS", "a", &large);
                // Where there is no memory for the mail or the answer, the client keeps the mail.
                let is_kept = head.starts_with("SPAMD/1.1 75 EX_TEMPFAIL: no memory");
                let is_marked = body.starts_with(b"X-DBACL: error\n") && body.ends_with(&large);
                assert!(is_kept || is_marked, "{head}");
            });
        }
    });
    for _ in 0..3 {
        assert!(server.is_served());
    }
    with_status(server.spamc("CHECK", "a", &large), "75 EX_TEMPFAIL");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn without_memory_files_are_judged_one_by_one() {
    let scratch = dbacl_testing::Scratch::new();
    crate::wire::learn(&scratch, "filter");
    scratch.write("large", letters(8_000_000));
    scratch.write("small", mail("spam"));
    scratch.write("names", "small\nlarge\nsmall\n");
    let filter = scratch.path("filter").display().to_string();
    let program = programs().join("dbacl-server").display().to_string();
    let few = FEW_ADDRESSES.map(|(name, value)| format!("{name}={value}")).join(" ");
    let script = format!(
        "ulimit -c 0; ulimit -v 92000; {few} {program} --judge --default '{filter}' <names"
    );
    let done = scratch.sh(&script);
    let verdicts: Vec<&str> = done.stdout.lines().collect();
    assert_eq!((done.status, verdicts.len()), (75, 3), "{done:?}");
    assert!(verdicts[0].starts_with("spam ") && verdicts[2] == verdicts[0], "{done:?}");
    assert_eq!(verdicts[1], "error\tlarge");
    assert!(done.stderr.contains("large: no memory to classify the message"), "{}", done.stderr);
}

/// A milter's client: packets of a length, a letter and data.
struct Postfix(UnixStream);

impl Postfix {
    fn say(&mut self, letter: u8, data: &[u8]) {
        let length = u32::try_from(data.len() + 1).expect("small").to_be_bytes();
        self.0.write_all(&[&length[..], &[letter], data].concat()).expect("the server listens");
    }

    fn hear(&mut self) -> (u8, Vec<u8>) {
        let mut length = [0; 4];
        self.0.read_exact(&mut length).expect("an answer");
        let mut data = vec![0; u32::from_be_bytes(length) as usize];
        self.0.read_exact(&mut data).expect("an answer");
        (data[0], data.split_off(1))
    }

    /// Begins a message.
    fn begin(&mut self) {
        self.say(b'O', &[0, 0, 0, 6, 0, 0, 1, 0xff, 0, 0x1f, 0xff, 0xff]);
        let (letter, terms) = self.hear();
        // The mail server may leave out no command between the sender and the end: it would wait
        // for the acknowledgement of the macros that it sends all the same.
        let left_out = terms[10] & 0x02 | terms[11] & 0x7c;
        assert_eq!((letter, left_out), (b'O', 0), "{terms:?}");
        let (sender, recipient) = (&b"<a@example.org>\0"[..], &b"<b@example.net>\0"[..]);
        for (letter, data) in [(b'M', sender), (b'R', recipient), (b'T', b"")] {
            self.say(letter, data);
            assert_eq!(self.hear().0, b'c');
        }
    }

    /// Shows this much of a message that goes on and on; returns what is to be changed.
    fn endless(&mut self, size: usize) -> Vec<(u8, Vec<u8>)> {
        self.begin();
        for (letter, data) in [(b'L', format!("Subject\0 {SPAM}\0").as_bytes()), (b'N', &b""[..])] {
            self.say(letter, data);
            assert_eq!(self.hear().0, b'c');
        }
        let piece = format!("{SPAM}\r\n").repeat(1000).into_bytes();
        for _ in 0..size.div_ceil(piece.len()) {
            self.say(b'B', &piece);
            assert_eq!(self.hear().0, b'c');
        }
        self.say(b'E', b"");
        let mut changes = Vec::new();
        loop {
            let (letter, data) = self.hear();
            changes.push((letter, data));
            if letter == b'c' {
                return changes;
            }
        }
    }
}

#[test]
fn mail_without_end_takes_no_memory() {
    let size = number("DBACL_SERVER_BYTES", 100_000_000);
    let server = Server::new("[limits]\nmail = 1000000\nmemory = 8000000\n");
    let piece = format!("{SPAM}\r\n").repeat(1000).into_bytes();
    let chunk = [format!("{:x}\r\n", piece.len()).as_bytes(), &piece, b"\r\n"].concat();
    let post = "POST /checkv2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    let tell = "TELL SPAMC/1.5\r\nMessage-class: spam\r\nSet: local\r\nContent-length";
    // Without a length the beginning is classified, and what never ends is cut off. The same where
    // a length is announced.
    for (door, head, piece) in [
        ("rspamd", post, &chunk),
        ("spamc", "PROCESS SPAMC/1.5\r\n\r\n", &piece),
        ("spamc", &format!("{tell}: {size}\r\n\r\n"), &piece),
    ] {
        let mut endless = server.connect(door);
        endless.write_all(head.as_bytes()).expect("the server listens");
        let mut pieces = (0..size).step_by(piece.len());
        let has_ended = pieces.any(|_| endless.write_all(piece).is_err());
        assert!(has_ended, "the server reads on: {head}");
    }
    assert!(server.is_served());
    // A mail server shows all of its mail, and the verdict is on the beginning.
    let changes = Postfix(server.connect("milter")).endless(size);
    let inserted = changes.iter().find(|(letter, _)| *letter == b'i').expect("a header");
    let inserted = String::from_utf8_lossy(&inserted.1[4..]).into_owned();
    assert!(inserted.starts_with("X-DBACL\0 spam "), "{inserted}");
    assert!(server.is_served());
    let most = server.memory("VmHWM");
    assert!(most < 100_000, "{most} kB");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn opensmtpd_gets_back_mail_without_end() {
    let size = number("DBACL_SERVER_BYTES", 100_000_000);
    let server = Server::new("[limits]\nmail = 1000000\nmemory = 8000000\n");
    let options = ["--opensmtpd", "--config", "server.toml"];
    let mut filter = server.scratch.program("dbacl-server", options);
    filter.stdin(Stdio::piped()).stderr(Stdio::null());
    let mut filter = filter.spawn().expect("the filter starts");
    let mut input = filter.stdin.take().expect("piped");
    let output = BufReader::new(filter.stdout.take().expect("piped"));
    let line = |text: &str| format!("filter|0.5|1|smtp-in|data-line|s|t|{text}\n");
    let lines = size / 1000;
    let shown = std::thread::spawn(move || {
        let mut shown = line(&format!("Subject: {SPAM}")) + &line("");
        let long = line(&format!("{SPAM} ").repeat(18));
        for _ in 0..lines {
            shown += &long;
            if shown.len() > 1 << 20 {
                input.write_all(shown.as_bytes()).expect("the filter reads");
                shown.clear();
            }
        }
        shown += &line(".");
        input.write_all(shown.as_bytes()).expect("the filter reads");
        input
    });
    let mut given = output.split(b'\n').map(|line| line.expect("the filter writes"));
    let first = given.next().expect("a line");
    assert!(first.starts_with(b"filter-dataline|s|t|X-DBACL: spam "), "{}", first.escape_ascii());
    // The subject, the empty line, and the dot at the end.
    assert_eq!(given.by_ref().take(lines + 3).count(), lines + 3);
    let input = shown.join().expect("no panic");
    let most = memory(filter.id(), "VmHWM");
    assert!(most < 100_000, "{most} kB");
    drop(input);
    assert_eq!(given.count(), 0);
    assert!(filter.wait().expect("the filter ends").success());
}

#[test]
fn changed_dialogues_end_and_harm_nobody() {
    let server = Server::new("[limits]\nmail = 100000\nmemory = 1000000\n");
    let rounds = number("DBACL_SERVER_ROUNDS", 150);
    let mut random = SplitMix64::new(1);
    for (door, seeds) in
        [("spamc", "server_spamc"), ("rspamd", "server_http"), ("milter", "server_milter")]
    {
        let mut dialogues: Vec<Vec<u8>> = fs::read_dir(root().join("fuzz/seeds").join(seeds))
            .expect("the seeds")
            .map(|entry| fs::read(entry.expect("an entry").path()).expect("a seed"))
            .collect();
        dialogues.sort();
        assert!(!dialogues.is_empty());
        for _ in 0..rounds {
            let mut bytes = dialogues[random.below(dialogues.len())].clone();
            for _ in 0..=random.below(5) {
                let at = random.below(bytes.len() + 1);
                match random.below(3) {
                    0 => bytes.truncate(at),
                    1 => bytes.insert(at, u8::try_from(random.below(256)).expect("a byte")),
                    _ => {
                        let other = &dialogues[random.below(dialogues.len())];
                        let from = random.below(other.len() + 1);
                        bytes.splice(at..at, other[from..].iter().copied());
                    }
                }
            }
            // Answered or not, the connection ends within the test's patience.
            server.ask(door, &bytes);
        }
        assert!(server.is_served(), "after {door}");
    }
    let most = server.memory("VmHWM");
    assert!(most < 100_000, "{most} kB");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn forged_headers_without_number_end_the_mail() {
    let server = Server::new("");
    let mut postfix = Postfix(server.connect("milter"));
    postfix.begin();
    for number in 0..=1000 {
        postfix.say(b'L', b"X-DBACL\0\0");
        let (letter, reply) = postfix.hear();
        let expected = if number < 1000 { b'c' } else { b'y' };
        assert_eq!(letter, expected, "{number}: {}", reply.escape_ascii());
        assert!(letter == b'c' || reply.starts_with(b"554 5.6.0 "), "{}", reply.escape_ascii());
    }
    assert!(server.is_served());
}

#[test]
fn a_mail_without_a_verdict_is_put_off_where_that_is_wanted() {
    let server = Server::new("on-error = 'tempfail'");
    fs::rename(server.scratch.path("filter"), server.scratch.path("aside")).expect("a filter");
    let mut postfix = Postfix(server.connect("milter"));
    postfix.begin();
    for letter in [b'N', b'E'] {
        postfix.say(letter, b"");
        let (answer, reply) = postfix.hear();
        assert_eq!(answer, if letter == b'N' { b'c' } else { b'y' });
        assert!(answer == b'c' || reply.starts_with(b"451 4.7.1 "), "{}", reply.escape_ascii());
    }
    with_status(server.spamc("PROCESS", "a", mail("spam").as_bytes()), "75 EX_TEMPFAIL");
    let body = with_status(server.http("POST /checkv2", mail("spam").as_bytes()), "200");
    assert!(String::from_utf8_lossy(&body).contains("\"action\":\"soft reject\""));
}

#[test]
fn clients_that_say_nothing_give_way_soon() {
    let server = Server::new(
        "[limits]\nconnections = 4\npeer-percent = 100\nfirst-seconds = 1\nrequest-seconds = 600\n",
    );
    for door in ["spamc", "rspamd", "milter"] {
        let mut silent: Vec<_> = (0..8).map(|_| server.connect(door)).collect();
        for stream in &mut silent[4..] {
            // On a busy machine it may have been put out by now.
            let _ = stream.write_all(b"\0\0");
        }
        let mut are_put_out =
            || silent.iter_mut().all(|stream| stream.write_all(b"").is_ok() && is_closed(stream));
        assert!(holds_soon(&mut are_put_out), "silent clients stay");
    }
    assert!(server.is_served());
}

/// Whether the server has closed a connection.
fn is_closed(stream: &mut UnixStream) -> bool {
    matches!(stream.read(&mut [0]), Ok(0) | Err(_))
}

#[test]
fn nobody_waits_for_whoever_reads_the_log() {
    let scratch = dbacl_testing::Scratch::new();
    crate::wire::learn(&scratch, "filter");
    let [filter, spamc] = ["filter", "spamc"].map(|name| scratch.path(name).display().to_string());
    // Nobody reads the log.
    let options = ["--default", &filter, "--spamc", &spamc];
    let mut server = scratch.program("dbacl-server", options).spawn().expect("the server starts");
    // The socket is there for a moment before it takes connections.
    let listens = || UnixStream::connect(&spamc).is_ok();
    assert!(holds_soon(listens), "the server does not listen");
    let user = "x".repeat(2000);
    for _ in 0..200 {
        let mut stream = UnixStream::connect(&spamc).expect("the server listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let request = format!("PROCESS SPAMC/1.5\r\nUser: {user}\r\nContent-length: 0\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("the server listens");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("SPAMD/1.1 0 EX_OK"), "{answer}");
    }
    kill(server.id(), "TERM");
    let has_ended = || server.try_wait().expect("a child").is_some();
    assert!(holds_soon(has_ended), "the server does not end");
    assert_eq!(server.wait().expect("a child").code(), Some(0));
}

#[test]
fn memory_is_given_back_after_large_mail() {
    let server = Server::new("");
    let large = letters(8_000_000);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| server.spamc("PROCESS", "a", &large));
        }
    });
    assert!(holds_soon(|| server.memory("VmRSS") < 40_000), "memory is not given back");
}

#[test]
fn many_readers_of_the_status_page_delay_no_verdict() {
    let server = Server::new("");
    for number in 0..200 {
        let place = server.scratch.path("users").join(format!("user{number}"));
        std::os::unix::fs::symlink("../filter", place).expect("a link");
    }
    let get = || server.ask("status", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..150).map(|_| scope.spawn(get)).collect();
        for _ in 0..20 {
            let start = Instant::now();
            assert!(server.is_served());
            assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
        }
        let pages: BTreeSet<Vec<u8>> =
            readers.into_iter().map(|reader| reader.join().expect("no panic")).collect();
        assert!(pages.iter().all(|page| page.ends_with(b"</html>")));
        assert!(pages.len() < 20, "{} pages", pages.len());
    });
}
