// SPDX-License-Identifier: GPL-3.0-or-later
//! IMAP commands and their answers over any stream of bytes. The crate `imap-next` writes and
//! parses them.

use crate::transport::{PATIENCE, Wire};
use imap_next::client::{Client, Error as Malformed, Event, Options};
use imap_next::imap_types::auth::{AuthMechanism, AuthenticateData};
use imap_next::imap_types::command::{Command, CommandBody};
use imap_next::imap_types::core::Tag;
use imap_next::imap_types::response::{Data, Status, StatusBody, StatusKind};
use imap_next::imap_types::secret::Secret;
use imap_next::{Interrupt, Io, State as _};
use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::{Duration, Instant};

/// The most bytes of one answer: enough for the first 8 MB of a message, or a list of a million
/// messages.
const MOST_BYTES: u32 = 9 << 20;

/// The most answers to one command.
const MOST_ANSWERS: u32 = 5_000_000;

/// Why work with a server failed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // each is described by its text
#[non_exhaustive]
pub enum Fault {
    /// Reading or writing failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("the server has closed the connection{0}")]
    Closed(String),
    #[error("the server does not answer")]
    Silent,
    #[error("the server's answer is not valid IMAP: {0}")]
    Malformed(String),
    /// The server's answer is longer than the limits above.
    #[error("the server's answer is too long")]
    Endless,
    #[error("the server's answer makes no sense: {0}")]
    Senseless(&'static str),
    #[error("the server refuses {what}: {text}")]
    Refused { what: String, text: String },
    #[error("the server refuses to log {user} in: {text}")]
    Login { user: String, text: String },
    /// The settings, the account or a file here is not as it has to be.
    #[error("{0}")]
    Local(String),
    #[error("{0}")]
    Transport(String),
    #[error(transparent)]
    Filter(#[from] dbacl::MailFilterError),
    #[error("stopped")]
    Stopped,
}

impl Fault {
    /// A file or a folder here cannot be used.
    pub(crate) fn of(path: &Path, error: impl Display) -> Self {
        Self::Local(format!("{}: {error}", path.display()))
    }

    /// The fault in words. Those of a connection name the server.
    pub(crate) fn at(&self, host: &str, port: u16) -> String {
        match self {
            // These name the server, or have nothing to do with it.
            Self::Local(_) | Self::Transport(_) | Self::Filter(_) | Self::Stopped => {
                self.to_string()
            }
            _ => format!("{host}:{port}: {self}"),
        }
    }
}

/// What the server says in answer to a command, or without being asked.
#[derive(Debug)]
pub(crate) enum Answer {
    /// Data.
    Data(Data<'static>),
    /// A status without a tag.
    Status(StatusBody<'static>),
}

/// A connection after its greeting.
pub(crate) struct Connection {
    stream: Box<dyn Wire>,
    client: Client,
    commands: u32,
    buffer: Vec<u8>,
    is_greeted: bool,
}

impl Connection {
    /// Waits for the greeting.
    pub(crate) fn new(stream: Box<dyn Wire>) -> Result<Self, Fault> {
        let mut options = Options::default();
        options.max_response_size = MOST_BYTES;
        options.crlf_relaxed = true;
        let buffer = vec![0; 1 << 14];
        let mut connection =
            Self { stream, client: Client::new(options), commands: 0, buffer, is_greeted: false };
        connection.stream.patience(PATIENCE)?;
        match connection.next()? {
            Some(Event::GreetingReceived { .. }) => {
                connection.is_greeted = true;
                Ok(connection)
            }
            _ => Err(Fault::Senseless("there is no greeting")),
        }
    }

    /// The next event; `None` for one that nothing depends on.
    fn next(&mut self) -> Result<Option<Event>, Fault> {
        loop {
            match self.client.next() {
                Ok(Event::StatusReceived { status: Status::Bye(bye) }) => {
                    return Err(Fault::Closed(format!(": {}", printable(bye.text.as_ref()))));
                }
                Ok(event) => return Ok(Some(event)),
                Err(Interrupt::Io(Io::NeedMoreInput)) => self.read()?,
                Err(Interrupt::Io(Io::Output(bytes))) => {
                    self.stream.write_all(&bytes)?;
                    self.stream.flush()?;
                }
                Err(Interrupt::Error(Malformed::ResponseTooLong { .. })) => {
                    return Err(Fault::Endless);
                }
                Err(Interrupt::Error(
                    Malformed::MalformedMessage { discarded_bytes }
                    | Malformed::ExpectedCrlfGotLf { discarded_bytes },
                )) => {
                    let bytes = discarded_bytes.declassify();
                    if matters(bytes) {
                        return Err(Fault::Malformed(printable(&String::from_utf8_lossy(bytes))));
                    }
                    return Ok(None);
                }
            }
        }
    }

    fn read(&mut self) -> Result<(), Fault> {
        let count = loop {
            match self.stream.read(&mut self.buffer) {
                Ok(count) => break count,
                Err(error) => match error.kind() {
                    ErrorKind::Interrupted => {}
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => return Err(Fault::Silent),
                    // A server that ends the connection without TLS's message has closed it, too.
                    ErrorKind::UnexpectedEof => break 0,
                    _ => return Err(error.into()),
                },
            }
        };
        if count == 0 {
            return Err(Fault::Closed(String::new()));
        }
        let bytes = &mut self.buffer[..count];
        if !self.is_greeted {
            // Nothing depends on the words of a greeting, which may be in any character set.
            bytes.iter_mut().filter(|byte| !byte.is_ascii()).for_each(|byte| *byte = b'?');
        }
        self.client.enqueue_input(bytes);
        Ok(())
    }

    fn enqueue(&mut self, body: CommandBody<'static>) -> Tag<'static> {
        self.commands = self.commands.wrapping_add(1);
        let tag = Tag::unvalidated(format!("d{}", self.commands));
        self.client.enqueue_command(Command { tag: tag.clone(), body });
        tag
    }

    /// Sends a command. `hear` gets every answer that comes until the command is done. Returns the
    /// server's final answer, which may be a refusal.
    pub(crate) fn command(
        &mut self,
        body: CommandBody<'static>,
        hear: &mut dyn FnMut(Answer) -> Result<(), Fault>,
    ) -> Result<StatusBody<'static>, Fault> {
        let tag = self.enqueue(body);
        let mut answers = 0;
        loop {
            answers += 1;
            if answers > MOST_ANSWERS {
                return Err(Fault::Endless);
            }
            match self.next()? {
                Some(Event::StatusReceived { status: Status::Tagged(tagged) })
                    if tagged.tag == tag =>
                {
                    return Ok(tagged.body);
                }
                Some(Event::CommandRejected { status: Status::Tagged(tagged), .. }) => {
                    return Ok(tagged.body);
                }
                Some(Event::StatusReceived { status: Status::Untagged(status) }) => {
                    hear(Answer::Status(status))?;
                }
                Some(Event::DataReceived { data }) => hear(Answer::Data(data))?,
                _ => {}
            }
        }
    }

    /// Sends a command that must succeed, and takes the answers to it.
    pub(crate) fn must(
        &mut self,
        what: &str,
        body: CommandBody<'static>,
        hear: &mut dyn FnMut(Answer) -> Result<(), Fault>,
    ) -> Result<StatusBody<'static>, Fault> {
        let status = self.command(body, hear)?;
        if status.kind == StatusKind::Ok {
            return Ok(status);
        }
        Err(Fault::Refused { what: what.into(), text: printable(status.text.as_ref()) })
    }

    /// Logs in by a mechanism of one message. `sends_at_once`: the message is sent with the
    /// command.
    pub(crate) fn authenticate(
        &mut self,
        user: &str,
        mechanism: AuthMechanism<'static>,
        message: &[u8],
        sends_at_once: bool,
    ) -> Result<(), Fault> {
        let initial_response = sends_at_once.then(|| Secret::new(message.to_vec().into()));
        // OAuth2 reports an error as a challenge after the message; it must be answered.
        let refusal: &[u8] = if mechanism == AuthMechanism::OAuthBearer { b"\x01" } else { b"" };
        let mut is_sent = sends_at_once;
        self.enqueue(CommandBody::Authenticate { mechanism, initial_response });
        for _ in 0..100 {
            match self.next()? {
                Some(Event::AuthenticateContinuationRequestReceived { .. }) => {
                    let answer = if is_sent { refusal } else { message };
                    is_sent = true;
                    let answer = AuthenticateData::r#continue(answer.to_vec());
                    // The client is in the state of authentication, so this cannot fail.
                    let _ = self.client.set_authenticate_data(answer);
                }
                Some(Event::AuthenticateStatusReceived {
                    status: Status::Tagged(tagged), ..
                }) => {
                    if tagged.body.kind == StatusKind::Ok {
                        return Ok(());
                    }
                    let text = printable(tagged.body.text.as_ref());
                    return Err(Fault::Login { user: user.into(), text });
                }
                _ => {}
            }
        }
        Err(Fault::Endless)
    }

    /// Waits for news in the folder that is selected, for at most `patience`. Calls `news` whenever
    /// there is some, and once at the beginning.
    pub(crate) fn idle(&mut self, patience: Duration, news: &mut dyn FnMut()) -> Result<(), Fault> {
        let tag = self.enqueue(CommandBody::Idle);
        let end = Instant::now() + patience;
        let mut is_done = false;
        loop {
            match self.next() {
                Ok(Some(Event::IdleAccepted { .. })) => {
                    news();
                    self.stream.patience(patience)?;
                }
                Ok(Some(Event::IdleRejected { status: Status::Tagged(tagged), .. })) => {
                    let text = printable(tagged.body.text.as_ref());
                    return Err(Fault::Refused { what: "IDLE".into(), text });
                }
                Ok(Some(Event::StatusReceived { status: Status::Tagged(tagged) }))
                    if tagged.tag == tag =>
                {
                    return Ok(());
                }
                Ok(Some(Event::DataReceived { .. })) => {
                    news();
                    // While a server sends many answers, `news` is called again now and then.
                    if !is_done {
                        let rest = end.saturating_duration_since(Instant::now());
                        self.stream.patience(rest.max(Duration::from_millis(1)))?;
                    }
                }
                Err(Fault::Silent) if !is_done => {
                    is_done = true;
                    self.stream.patience(PATIENCE)?;
                    if self.client.set_idle_done().is_none() {
                        return Err(Fault::Silent);
                    }
                }
                Ok(_) => {}
                Err(fault) => return Err(fault),
            }
        }
    }
}

/// Whether an answer that cannot be parsed may be one that something depends on.
fn matters(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.strip_prefix(b"* ") else { return true };
    let mut words = rest.split(|byte| b" (\r\n".contains(byte)).map(<[u8]>::to_ascii_uppercase);
    let mut word = words.next().unwrap_or_default();
    if !word.is_empty() && word.iter().all(u8::is_ascii_digit) {
        word = words.next().unwrap_or_default();
    }
    matches!(word.as_slice(), b"FETCH" | b"EXISTS" | b"EXPUNGE" | b"VANISHED" | b"SEARCH" | b"BYE")
}

/// The beginning of a text as one line.
pub(crate) fn printable(text: &str) -> String {
    let letters = text.trim().chars().take(200);
    letters.map(|letter| if letter.is_control() { '?' } else { letter }).collect()
}
