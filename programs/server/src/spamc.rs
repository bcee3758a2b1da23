// SPDX-License-Identifier: GPL-3.0-or-later
//! The protocol of `spamc` as it and Exim speak it, and the older one of rspamd, which Exim
//! speaks.
//!
//! ```text
//! PROCESS SPAMC/1.5            SPAMD/1.1 0 EX_OK
//! User: alice                  Content-length: 1234
//! Content-length: 1200    →    Spam: True ; 8.3 / 5.0
//!
//! (the mail)                   (the mail with its verdict)
//! ```

use crate::budget::{Mail, Refusal, SHORT};
use crate::config::OnError;
use crate::engine::{Engine, Envelope, NAMES};
use crate::headers::{lines, rewritten_header};
use crate::listen::Protocol;
use crate::measures::Taught;
use crate::memory::of_returning;
use crate::packed::{Coding, Extent, Fault, unpack};
use crate::verdict::{Judged, REQUIRED};
use dbacl::MailRole;
use dbacl_cli::listen::Peer;
use dbacl_cli::status;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::io::{AsyncWriteExt, BufReader};

/// Longest head of a request, in bytes.
const HEAD: usize = 16 << 10;

/// The commands of the protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Command {
    /// The score.
    #[default]
    Check,
    /// The score and the tests' names.
    Symbols,
    /// The score and a report to read.
    Report,
    /// The score, and the report for spam only.
    ReportIfSpam,
    /// The message with its verdict.
    Process,
    /// The message's header with its verdict.
    Headers,
    /// Asks whether the server answers.
    Ping,
    /// Learns or forgets the message.
    Tell,
    /// Does nothing.
    Skip,
}

/// The head of a request: its command and its fields.
#[derive(Debug, Clone, Default, PartialEq)]
struct Head {
    command: Command,
    /// Whether the client speaks rspamd's older protocol.
    is_rspamc: bool,
    /// The protocol's version; answers to versions below 1.3 have another form.
    version: (u32, u32),
    /// Length of the mail in bytes, if the client states it.
    length: Option<u64>,
    /// The user or the recipients, the sender, and the mail's name in the queue of the mail server.
    envelope: Envelope,
    /// `Message-class`.
    class: Option<MailRole>,
    /// `Set: local`: the mail is to be learned.
    sets: bool,
    /// `Remove: local`: the mail is to be forgotten.
    removes: bool,
    /// `Set: remote` (`spamc -C report`): the mail is to be reported. It is learned.
    reports: bool,
    /// `Remove: remote` (`spamc -C revoke`): the report is to be taken back.
    revokes: bool,
    /// `Compress: zlib`: the mail is packed, and `length` is that of the packed one.
    is_packed: bool,
}

/// The first line of a request is wrong.
const NO_COMMAND: &str = "the first line is not a command of the protocol";

impl Head {
    /// Parses the head of a request: all lines before the empty one.
    fn parse(bytes: &[u8]) -> Result<Self, &'static str> {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.lines();
        let mut words = lines.next().unwrap_or_default().split_ascii_whitespace();
        let command = match words.next().unwrap_or_default() {
            "CHECK" => Command::Check,
            "SYMBOLS" => Command::Symbols,
            "REPORT" => Command::Report,
            "REPORT_IFSPAM" => Command::ReportIfSpam,
            "PROCESS" => Command::Process,
            "HEADERS" => Command::Headers,
            "PING" => Command::Ping,
            "TELL" => Command::Tell,
            "SKIP" => Command::Skip,
            _ => return Err(NO_COMMAND),
        };
        let (protocol, version) =
            words.next().and_then(|word| word.split_once('/')).ok_or(NO_COMMAND)?;
        let is_rspamc = protocol == "RSPAMC";
        if !is_rspamc && protocol != "SPAMC" {
            return Err(NO_COMMAND);
        }
        let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
        let version = match (major.parse(), minor.parse()) {
            (Ok(major), Ok(minor)) => (major, minor),
            _ => return Err(NO_COMMAND),
        };
        let mut head = Self { command, is_rspamc, version, ..Self::default() };
        let mut envelope = Envelope::default();
        let mut receivers = Vec::new();
        for line in lines {
            let Some((name, value)) = line.split_once(':') else { continue };
            let value = value.trim();
            let names = |where_: &str| value.split(',').any(|place| place.trim() == where_);
            match name.trim().to_ascii_lowercase().as_str() {
                "content-length" => {
                    head.length =
                        Some(value.parse().map_err(|_| "Content-length is not a number")?);
                }
                "user" if !value.is_empty() => envelope.names = vec![value.to_owned()],
                "rcpt" if !value.is_empty() && receivers.len() < NAMES => {
                    receivers.push(value.to_owned());
                }
                "message-class" if value.eq_ignore_ascii_case("spam") => {
                    head.class = Some(MailRole::Spam);
                }
                "message-class" if value.eq_ignore_ascii_case("ham") => {
                    head.class = Some(MailRole::Ham);
                }
                "set" => (head.sets, head.reports) = (names("local"), names("remote")),
                "remove" => (head.removes, head.revokes) = (names("local"), names("remote")),
                "from" if !value.is_empty() => envelope.sender = Some(value.to_owned()),
                "queue-id" if !value.is_empty() => envelope.queue = Some(value.to_owned()),
                "compress" if value.eq_ignore_ascii_case("zlib") => head.is_packed = true,
                "compress" => return Err("messages can be compressed by zlib only"),
                _ => {}
            }
        }
        // Recipients say better than the sender's user name whose filter is to classify the mail.
        if !receivers.is_empty() {
            envelope.names = receivers;
        }
        Ok(Self { envelope, ..head })
    }

    /// Whether a verdict is asked for, and not the mail with it.
    fn wants_verdict_only(&self) -> bool {
        !self.returns_mail() && self.command != Command::Tell
    }

    /// Whether the answer has the whole mail in it.
    fn returns_mail(&self) -> bool {
        matches!(self.command, Command::Process | Command::Headers)
    }
}

/// Exit codes of `sysexits.h` that clients know.
const TEMPORARY: (u8, &str) = (status::LATER, "EX_TEMPFAIL");
const USELESS: (u8, &str) = (status::DATA, "EX_DATAERR");
const FORBIDDEN: (u8, &str) = (status::FORBIDDEN, "EX_NOPERM");
const PROTOCOL: (u8, &str) = (status::PROTOCOL, "EX_PROTOCOL");
const TOO_BIG: (u8, &str) = (98, "EX_TOOBIG");

/// An answer without a verdict; clients pass such mail on. No empty line ends it, as with spamd:
/// otherwise spamc takes a refused lesson for one that was given before.
fn refusal((code, name): (u8, &str), why: &str) -> Vec<u8> {
    let why = why.replace(|letter: char| letter.is_control(), " ");
    format!("SPAMD/1.1 {code} {name}: {why}\r\n").into_bytes()
}

/// The answer to a request about a message.
fn answer(head: &Head, mail: &[u8], judged: Option<&Judged>, engine: &Engine) -> Vec<u8> {
    let dialects = &engine.config.headers;
    if head.is_rspamc {
        return judged.map_or_else(|| refusal(TEMPORARY, "no verdict"), rspamc_answer);
    }
    let is_put_off = judged.is_none() && engine.config.on_error == OnError::Tempfail;
    let body = match (head.command, judged) {
        _ if is_put_off => return refusal(TEMPORARY, "no verdict"),
        (command @ (Command::Process | Command::Headers), _) => {
            let (mut header, rest) = rewritten_header(mail, &lines(judged, dialects), dialects);
            let empty = if rest.starts_with(b"\r") { 2 } else { 1 };
            let kept = if command == Command::Process { rest.len() } else { empty };
            header.extend_from_slice(rest.get(..kept).unwrap_or_default());
            header
        }
        (_, None) => return refusal(TEMPORARY, "no verdict"),
        (Command::Symbols, Some(judged)) => format!("{}\r\n", judged.symbol()).into_bytes(),
        (Command::Report, Some(judged)) => report(judged).into_bytes(),
        (Command::ReportIfSpam, Some(judged)) if judged.is_spam() => report(judged).into_bytes(),
        _ => Vec::new(),
    };
    let (is_spam, score) = judged.map_or((false, 0.0), |judged| (judged.is_spam(), judged.score()));
    let is_spam = if is_spam { "True" } else { "False" };
    let spam = format!("Spam: {is_spam} ; {score:.1} / {REQUIRED:.1}\r\n");
    let length = format!("Content-length: {}\r\n", body.len());
    let mut out = b"SPAMD/1.1 0 EX_OK\r\n".to_vec();
    let is_old = head.version < (1, 3);
    if !is_old || head.returns_mail() {
        out.extend_from_slice(length.as_bytes());
    }
    if !is_old || !head.returns_mail() {
        out.extend_from_slice(spam.as_bytes());
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(&body);
    out
}

fn report(judged: &Judged) -> String {
    let (text, score, symbol) = (&judged.text, judged.score(), judged.symbol());
    format!(
        "The mail filter dbacl says of this mail: {text}\r\n\
         {score:.1} points, {REQUIRED:.1} make spam ({symbol}).\r\n"
    )
}

fn rspamc_answer(judged: &Judged) -> Vec<u8> {
    let is_spam = if judged.is_spam() { "True" } else { "False" };
    let action = if judged.is_spam() { "add header" } else { "no action" };
    let (score, symbol, text) = (judged.score(), judged.symbol(), &judged.text);
    format!(
        "RSPAMD/1.3 0 EX_OK\r\n\
         Metric: default; {is_spam}; {score:.2} / {REQUIRED:.2} / {REQUIRED:.2}\r\n\
         Symbol: {symbol}({score:.2}) {text}\r\n\
         Action: {action}\r\n\r\n"
    )
    .into_bytes()
}

/// Serves one connection of this peer.
pub async fn serve<S>(engine: Arc<Engine>, stream: S, peer: Peer)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let limit = engine.config.limits.request();
    let (reader, mut writer) = tokio::io::split(stream);
    let mut reader = BufReader::new(reader);
    let request = tokio::time::timeout(limit, read_request(&engine, &mut reader, peer)).await;
    let mut memory = None;
    let reply = match request {
        // A client that is too slow, or gone, is not answered.
        Err(_) | Ok(Err(Failure::Gone(_))) => return,
        Ok(Err(Failure::Malformed(why))) => {
            engine.complain(Protocol::Spamc, &why);
            refusal(PROTOCOL, why)
        }
        Ok(Err(Failure::Refused(why))) => {
            engine.refuse(Protocol::Spamc, &why);
            let code = if why == Refusal::Large { TOO_BIG } else { TEMPORARY };
            refusal(code, &why.to_string())
        }
        Ok(Ok((head, mail))) => {
            let mail = Arc::new(mail);
            let reply = reply(&engine, head, &mail, peer).await;
            // While a client takes its answer, it keeps the memory of its mail.
            memory = Arc::into_inner(mail).map(Mail::into_memory);
            reply
        }
    };
    let sent = async {
        writer.write_all(&reply).await?;
        writer.shutdown().await
    };
    let sent = tokio::time::timeout(limit, sent).await;
    drop((reply, memory));
    // If the connection were closed while the client still sends, the client would lose the answer.
    if matches!(sent, Ok(Ok(()))) {
        let mut rest = reader.take(engine.config.limits.mail as u64);
        let mut nowhere = tokio::io::sink();
        let dropped = tokio::io::copy_buf(&mut rest, &mut nowhere);
        let _ = tokio::time::timeout(DRAINED, dropped).await;
    }
}

/// How long a client that was answered may go on sending.
const DRAINED: Duration = Duration::from_secs(5);

async fn reply(engine: &Arc<Engine>, head: Head, mail: &Arc<Mail>, peer: Peer) -> Vec<u8> {
    match head.command {
        Command::Ping => return b"SPAMD/1.5 0 PONG\r\n".to_vec(),
        Command::Skip => return Vec::new(),
        Command::Tell => return tell(engine, &head, mail, peer).await,
        _ => {}
    }
    let wire = if head.is_rspamc { Protocol::Rspamd } else { Protocol::Spamc };
    let judged = engine.judge(wire, head.envelope.clone(), mail).await;
    // An answer with the mail in it is as large as the mail; without it, clients pass on what they
    // have.
    let _promise = if head.returns_mail() {
        let promise = engine.memory.promise(of_returning(mail.bytes().len()), Duration::ZERO);
        let Some(promise) = promise else { return refusal(TEMPORARY, "no memory for an answer") };
        Some(promise)
    } else {
        None
    };
    let (shared, engine, mail) = (engine, Arc::clone(engine), Arc::clone(mail));
    // Nothing that takes longer than a moment may be done in a thread that serves connections.
    let is_short = mail.bytes().len() <= SHORT;
    let work = move || answer(&head, mail.bytes(), judged.as_ref(), &engine);
    if is_short {
        return work();
    }
    let answer = shared.aside(work).await;
    answer.unwrap_or_else(|| refusal(TEMPORARY, "no answer"))
}

/// Learns or forgets a message, and answers when that is done.
async fn tell(engine: &Arc<Engine>, head: &Head, mail: &Arc<Mail>, peer: Peer) -> Vec<u8> {
    let lesson = match (head.class, head.sets, head.removes) {
        (_, false, true) => None,
        (class @ Some(_), true, false) => class,
        _ => return refusal(PROTOCOL, "TELL needs a Message-class and Set, or Remove"),
    };
    let name = head.envelope.names.first().map_or("", String::as_str);
    let who = (Protocol::Spamc, peer);
    let (taught, text) = engine.teacher.teach(engine, who, name, lesson, mail).await;
    let did = match taught {
        Taught::Refused => return refusal(FORBIDDEN, &text),
        Taught::Unusable => return refusal(USELESS, &text),
        Taught::Failed => return refusal(TEMPORARY, &text),
        // A report is a lesson, and it is taken also when the lesson was given before.
        _ if head.reports => "DidSet: local,remote\r\n",
        _ if head.revokes => "DidSet: local\r\nDidRemove: remote\r\n",
        Taught::Known => "",
        Taught::Forgotten => "DidRemove: local\r\n",
        Taught::Ham | Taught::Spam | Taught::Corrected => "DidSet: local\r\n",
    };
    format!("SPAMD/1.1 0 EX_OK\r\n{did}Content-length: 0\r\n\r\n").into_bytes()
}

/// Why there is no request to answer.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("the client is gone")]
    Gone(#[from] io::Error),
    #[error("{0}")]
    Malformed(&'static str),
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// Reads a request, and unpacks its message.
async fn read_request<R>(
    engine: &Engine,
    reader: &mut R,
    peer: Peer,
) -> Result<(Head, Mail), Failure>
where
    R: AsyncBufRead + Unpin,
{
    let head = read_head(reader).await?;
    let head = Head::parse(&head).map_err(Failure::Malformed)?;
    let mut mail = engine.mail(Some(peer));
    if matches!(head.command, Command::Ping | Command::Skip) {
        return Ok((head, mail));
    }
    // Whether only the beginning of the message is read, which is enough for a verdict.
    let mut is_cut = false;
    let mut left = head.length;
    while left != Some(0) {
        let piece = reader.fill_buf().await?;
        if piece.is_empty() {
            break;
        }
        let length = left.map_or(piece.len(), |left| {
            piece.len().min(usize::try_from(left).unwrap_or(usize::MAX))
        });
        let piece = &piece[..length];
        match mail.push_beginning(piece) {
            Ok(()) => {}
            Err(why) if head.wants_verdict_only() && mail.can_be_judged(why) => {
                is_cut = true;
                break;
            }
            Err(why) => return Err(why.into()),
        }
        reader.consume(length);
        left = left.map(|left| left - length as u64);
    }
    if !is_cut && left.is_some_and(|left| left > 0) {
        return Err(Failure::Malformed("the message is shorter than its Content-length"));
    }
    if !head.is_packed {
        return Ok((head, mail));
    }
    let extent = Extent { beginning: head.wants_verdict_only(), is_cut };
    match unpack(engine, peer, &mail, Coding::Zlib, extent).await {
        Ok(unpacked) => Ok((head, unpacked)),
        Err(Fault::Damaged) => Err(Failure::Malformed("the compressed message is damaged")),
        Err(Fault::Refused(why)) => Err(why.into()),
    }
}

/// Reads all lines before the empty one.
async fn read_head<R>(reader: &mut R) -> Result<Vec<u8>, Failure>
where
    R: AsyncBufRead + Unpin,
{
    let mut head = Vec::new();
    let mut reader = reader.take(HEAD as u64 + 1);
    loop {
        let start = head.len();
        reader.read_until(b'\n', &mut head).await?;
        match &head[start..] {
            _ if head.len() > HEAD => {
                return Err(Failure::Malformed("the head of the request is too long"));
            }
            [] if start == 0 => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            line if line.trim_ascii().is_empty() => return Ok(head),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::log::Log;
    use crate::verdict::Decision;

    #[test]
    fn heads_are_taken_apart() {
        let head = Head::parse(
            b"TELL SPAMC/1.5\r\nUser: alice\r\nContent-length: 12\r\nMessage-class: spam\r\n\
              Set: local,remote\r\n\r\n",
        );
        let head = head.expect("a head");
        assert_eq!((head.command, head.length), (Command::Tell, Some(12)));
        assert_eq!((head.class, head.sets, head.removes), (Some(MailRole::Spam), true, false));
        assert_eq!(head.envelope.names, ["alice"]);
        for (text, expected) in [
            ("", NO_COMMAND),
            ("CHECK\r\n", NO_COMMAND),
            ("CHECK SPAMC/x\r\n", NO_COMMAND),
            ("CHECK HTTP/1.1\r\n", NO_COMMAND),
            ("LEARN SPAMC/1.5\r\n", NO_COMMAND),
            ("CHECK SPAMC/1.5\r\nContent-length: -1\r\n", "Content-length is not a number"),
            ("CHECK SPAMC/1.5\r\nCompress: gzip\r\n", "messages can be compressed by zlib only"),
        ] {
            assert_eq!(Head::parse(text.as_bytes()), Err(expected), "{text}");
        }
    }

    #[test]
    fn answers_have_the_form_that_the_version_asks_for() {
        let engine =
            |on_error| Engine::new(Config { on_error, ..Config::default() }, Log::silent());
        let (engine, tempfail) = (engine(OnError::Accept), engine(OnError::Tempfail));
        let spam = Judged::made_up(Decision::Spam, 0.9995, "spam 99.95%");
        for (request, judged, expected) in [
            (
                "CHECK SPAMC/1.5",
                Some(&spam),
                "SPAMD/1.1 0 EX_OK\r\nContent-length: 0\r\nSpam: True ; 8.3 / 5.0\r\n\r\n",
            ),
            ("CHECK SPAMC/1.2", Some(&spam), "SPAMD/1.1 0 EX_OK\r\nSpam: True ; 8.3 / 5.0\r\n\r\n"),
            ("CHECK SPAMC/1.5", None, "SPAMD/1.1 75 EX_TEMPFAIL: no verdict\r\n"),
            (
                "SYMBOLS SPAMC/1.5",
                Some(&spam),
                "SPAMD/1.1 0 EX_OK\r\nContent-length: 12\r\nSpam: True ; 8.3 / 5.0\r\n\r\n\
                 DBACL_SPAM\r\n",
            ),
            (
                "PROCESS SPAMC/1.2",
                Some(&spam),
                "SPAMD/1.1 0 EX_OK\r\nContent-length: 29\r\n\r\nX-DBACL: spam 99.95%\nA: b\n\nc\n",
            ),
            (
                "HEADERS SPAMC/1.5",
                None,
                "SPAMD/1.1 0 EX_OK\r\nContent-length: 21\r\nSpam: False ; 0.0 / 5.0\r\n\r\n\
                 X-DBACL: error\nA: b\n\n",
            ),
            (
                "CHECK RSPAMC/1.3",
                Some(&spam),
                "RSPAMD/1.3 0 EX_OK\r\nMetric: default; True; 8.30 / 5.00 / 5.00\r\n\
                 Symbol: DBACL_SPAM(8.30) spam 99.95%\r\nAction: add header\r\n\r\n",
            ),
        ] {
            let head = Head::parse(request.as_bytes()).expect("a head");
            let found = answer(&head, b"A: b\n\nc\n", judged, &engine);
            assert_eq!(String::from_utf8_lossy(&found), expected, "{request}");
            let put_off = answer(&head, b"A: b\n\nc\n", None, &tempfail);
            assert_eq!(put_off, b"SPAMD/1.1 75 EX_TEMPFAIL: no verdict\r\n", "{request}");
        }
    }
}
