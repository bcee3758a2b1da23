// SPDX-License-Identifier: GPL-3.0-or-later
//! `OAuth2` with the real Dovecot, which asks a tiny server of the test whether a token is good.

use crate::dovecot::{Dovecot, mail};
use dbacl_testing::{Scratch, command};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Answers who has a token, as RFC 7662 says, until the test ends. Returns its port.
fn introspection(asked: &'static AtomicUsize) -> u16 {
    let door = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = door.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in door.incoming() {
            let stream = stream.expect("a connection");
            asked.fetch_add(1, Ordering::Relaxed);
            // Dovecot may go away at any time.
            let _ = answer(stream);
        }
    });
    port
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut length, mut line) = (0, String::new());
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let is_good = String::from_utf8_lossy(&body).contains("token=good-token-of-alice");
    let text = if is_good {
        "{\"active\":true,\"username\":\"alice\",\"scope\":\"imap\"}"
    } else {
        "{\"active\":false}"
    };
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{text}",
        text.len()
    )
}

#[test]
fn tokens_let_in_by_either_mechanism() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let port = introspection(&ASKED);
    // Dovecot reads this file, and not as root.
    let room = Scratch::new();
    command("chmod").arg("755").arg(room.path(".")).status().expect("chmod");
    room.write(
        "oauth2.conf",
        format!(
            "introspection_url = http://127.0.0.1:{port}/introspect\nintrospection_mode = post\n\
             force_introspection = yes\nusername_attribute = username\n\
             active_attribute = active\nactive_value = true\n"
        ),
    );
    command("chmod").arg("644").arg(room.path("oauth2.conf")).status().expect("chmod");
    for mechanism in ["oauthbearer", "xoauth2"] {
        let lines = format!(
            "auth_mechanisms = plain login {mechanism}\n\
             passdb {{\n driver = oauth2\n mechanisms = {mechanism}\n args = {}\n}}\n\
             passdb {{\n driver = static\n mechanisms = plain login\n args = password=secret\n}}\n",
            room.path("oauth2.conf").display()
        );
        let Some(server) = Dovecot::start("tokens_let_in", &lines) else { return };
        let before = ASKED.load(Ordering::Relaxed);
        let run = |token: &str, options: &[&str]| {
            dbacl_testing::done(&mut server.program_with("--token-command", token, options))
        };
        let good = "echo good-token-of-alice";
        let said = run(good, &["--check"]).quiet(0);
        assert!(said.contains("Junk (spam), INBOX"), "{mechanism}: {said}\n{}", server.logs());
        assert!(ASKED.load(Ordering::Relaxed) > before, "{mechanism}: nobody asked");

        let mut client = server.client();
        let moved = mail("any", 1);
        client.append("INBOX", "", &moved);
        assert_eq!(run(good, &["--once"]).status, 0, "{}", server.logs());
        client.moves(1, "INBOX", "Junk");
        let done = run(good, &["--once"]);
        assert!(done.stderr.contains("learned 1 message as spam"), "{mechanism}: {}", done.stderr);
        assert_eq!(server.label(&moved).as_deref(), Some("spam"), "{mechanism}");

        // Tokens of nobody, and those that the server has never made.
        for token in ["echo another-token", "echo", "exit 3"] {
            let done = run(token, &["--check"]);
            let status = if token.starts_with("echo a") { 77 } else { 69 };
            let said = done.complaint(status);
            assert_eq!(said.lines().count(), 1, "{mechanism}, {token}: {said}");
        }
    }
}
