// SPDX-License-Identifier: GPL-3.0-or-later
//! A client that tells the server what a message is, where no `spamc` is installed.

use crate::listen::Address;
use crate::teacher::Lesson;
use dbacl_cli::status;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// How long the server may take for any answer.
const PATIENCE: Duration = Duration::from_secs(120);

/// Why the server has not learned the mail.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// There is no server at the address, or it has closed the connection.
    #[error("no server at {address}: {source}")]
    Unreachable {
        address: Address,
        /// What the operating system said.
        source: io::Error,
    },
    /// The server did not learn the mail, and says why.
    #[error("the server answers: {0}")]
    Refused(String),
}

impl ClientError {
    /// The status to end with: whoever is not allowed to teach need not try again.
    pub fn status(&self) -> u8 {
        match self {
            Self::Refused(answer) if answer.contains(" 77 ") => status::FORBIDDEN,
            _ => status::LATER,
        }
    }
}

trait Connection: Read + Write {}

impl<T: Read + Write> Connection for T {}

fn connect(address: &Address) -> io::Result<Box<dyn Connection>> {
    Ok(match address {
        Address::Port(port) => {
            let stream = TcpStream::connect_timeout(port, PATIENCE)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_write_timeout(Some(PATIENCE))?;
            Box::new(stream)
        }
        Address::Socket(path) => {
            let stream = UnixStream::connect(path)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_write_timeout(Some(PATIENCE))?;
            Box::new(stream)
        }
    })
}

/// Asks whether somebody listens at `address`; where spamc is spoken, whether the server answers.
pub fn is_alive(address: &Address, speaks_spamc: bool) -> Result<(), ClientError> {
    let asked = connect(address).and_then(|mut stream| {
        if !speaks_spamc {
            return Ok("PONG".into());
        }
        stream.write_all(b"PING SPAMC/1.5\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    });
    let answer =
        asked.map_err(|source| ClientError::Unreachable { address: address.clone(), source })?;
    if answer.contains("PONG") { Ok(()) } else { Err(ClientError::Refused(answer)) }
}

/// Tells the server at `address` what to do with a message for a user; returns once that is done.
pub fn tell(address: &Address, user: &str, lesson: Lesson, mail: &[u8]) -> Result<(), ClientError> {
    let answer = ask(address, user, lesson, mail)
        .map_err(|source| ClientError::Unreachable { address: address.clone(), source })?;
    let first = answer.lines().next().unwrap_or_default();
    let mut words = first.split_ascii_whitespace();
    match (words.next(), words.next()) {
        (Some(protocol), Some("0")) if protocol.starts_with("SPAMD/") => Ok(()),
        _ => Err(ClientError::Refused(first.to_owned())),
    }
}

fn ask(address: &Address, user: &str, lesson: Lesson, mail: &[u8]) -> io::Result<String> {
    let what = match lesson {
        Lesson::Ham => "Message-class: ham\r\nSet: local\r\n",
        Lesson::Spam => "Message-class: spam\r\nSet: local\r\n",
        Lesson::Forget => "Remove: local\r\n",
    };
    // Control characters could begin another line of the request.
    let user: String = user.chars().filter(|letter| !letter.is_control()).collect();
    let length = mail.len();
    let head = format!("TELL SPAMC/1.5\r\nUser: {user}\r\nContent-length: {length}\r\n{what}\r\n");
    let mut stream = connect(address)?;
    stream.write_all(head.as_bytes())?;
    stream.write_all(mail)?;
    stream.flush()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
