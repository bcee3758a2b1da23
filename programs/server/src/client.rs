// SPDX-License-Identifier: GPL-3.0-or-later
//! A client that teaches the server, where no `spamc` is installed.

use crate::teacher::Lesson;
use dbacl_cli::listen::Address;
use dbacl_cli::status::{DATA, FORBIDDEN, LATER};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// How long the server may take for any answer.
const PATIENCE: Duration = Duration::from_secs(120);

/// What the server at `address` answers to a request; the connection is read to its end.
fn ask(address: &Address, request: &[u8]) -> Result<String, String> {
    let ask = || -> io::Result<String> {
        let stream = match address {
            Address::Port(port) => TcpStream::connect_timeout(port, PATIENCE)?.into(),
            Address::Socket(path) => OwnedFd::from(UnixStream::connect(path)?),
        };
        // What is done with it is the same for sockets of both kinds.
        let mut stream = UnixStream::from(stream);
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.write_all(request)?;
        let mut answer = Vec::new();
        if !request.is_empty() {
            stream.read_to_end(&mut answer)?;
        }
        Ok(String::from_utf8_lossy(&answer).into_owned())
    };
    ask().map_err(|error| format!("no server at {address}: {error}"))
}

/// Asks whether somebody listens at `address`; where spamc is spoken, whether the server answers.
pub(crate) fn is_alive(address: &Address, speaks_spamc: bool) -> Result<(), String> {
    let request: &[u8] = if speaks_spamc { b"PING SPAMC/1.5\r\n\r\n" } else { b"" };
    let answer = ask(address, request)?;
    let is_answer = answer.contains("PONG") || !speaks_spamc;
    is_answer.then_some(()).ok_or_else(|| format!("the server answers: {answer}"))
}

/// The state of the server whose status page is at `address`, as JSON; `None` if it does not
/// answer.
pub(crate) fn status(address: &Address, token: Option<&str>) -> Option<String> {
    let token = token.map(|token| format!("Authorization: Bearer {token}\r\n"));
    let token = token.unwrap_or_default();
    let request = format!("GET /status.json HTTP/1.0\r\nHost: localhost\r\n{token}\r\n");
    let answer = ask(address, request.as_bytes()).ok()?;
    answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned())
}

/// Tells the server at `address` what to do with a message for a user; returns once that is done,
/// or else the status to end with, and why: a message that cannot be learned, or that
/// somebody may not teach, need not be tried again.
pub(crate) fn tell(
    address: &Address,
    user: &str,
    lesson: Lesson,
    mail: &[u8],
) -> Result<(), (u8, String)> {
    let what = lesson.map_or("Remove: local\r\n".into(), |role| {
        format!("Message-class: {}\r\nSet: local\r\n", role.word())
    });
    // Control characters could begin another line of the request.
    let user: String = user.chars().filter(|letter| !letter.is_control()).collect();
    let length = mail.len();
    let head = format!("TELL SPAMC/1.5\r\nUser: {user}\r\nContent-length: {length}\r\n{what}\r\n");
    let answer = ask(address, &[head.as_bytes(), mail].concat()).map_err(|text| (LATER, text))?;
    let first = answer.lines().next().unwrap_or_default();
    let mut words = first.split_ascii_whitespace();
    match (words.next(), words.next()) {
        (Some(protocol), Some("0")) if protocol.starts_with("SPAMD/") => Ok(()),
        (_, code) => {
            let status = match code {
                Some("77") => FORBIDDEN,
                Some("65") => DATA,
                _ => LATER,
            };
            Err((status, format!("the server answers: {first}")))
        }
    }
}
