// SPDX-License-Identifier: GPL-3.0-or-later
//! The milter protocol of Postfix and sendmail. The crate `indymilter` implements its messages.
//!
//! The parts of a message that the mail server sends are joined to a message again. At its end it
//! is classified, and its verdict is added as header lines. Verdicts that the mail brought are
//! removed. Nothing else is changed, and no mail is refused unless the configuration says so.

use crate::budget::{Mail, Refusal};
use crate::config::OnError;
use crate::engine::{Engine, Envelope, NAMES};
use crate::headers::{is_forged, lines};
use crate::listen::Protocol;
use crate::log::Level;
use crate::verdict::Judged;
use dbacl_cli::listen::{Connection, Door, Peer};
use indymilter::{
    Actions, Callbacks, Config, Context, ContextActions, EomContext, NegotiateContext, ProtoOpts,
    SetErrorReply, SocketInfo, Status,
};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::io;
use std::sync::Arc;
use std::task::{self, Poll};
use std::time::Duration;
use tokio::sync::watch;

/// The address of the protocol.
pub struct Listener(pub Door);

impl indymilter::Listener for Listener {
    type Io = Connection;

    fn poll_accept(&mut self, context: &mut task::Context<'_>) -> Poll<io::Result<Connection>> {
        self.0.poll_accept(context).map(Ok)
    }
}

/// The state of a connection.
struct Session {
    /// Whether values of headers come with the blank after the colon.
    has_blanks: bool,
    /// The client of the mail server.
    peer: Option<Peer>,
    mail: Option<Transaction>,
}

/// The state of an incoming mail.
struct Transaction {
    engine: Arc<Engine>,
    envelope: Envelope,
    mail: Mail,
    refused: Option<Refusal>,
    forged: Forged,
}

/// The most header lines of a message that state a verdict. Mail servers look through the whole
/// message for each line that is to be removed, and no program writes so many.
const MOST_FORGED: usize = 1000;

/// The longest name of a header that is removed, which is that of a line (RFC 5322).
const LONGEST_NAME: usize = 998;

/// How many header lines of each name state a verdict, so that they can be removed.
#[derive(Debug, Default)]
struct Forged {
    lines: usize,
    /// By name in small letters: the name as it came first, and the number of lines.
    names: BTreeMap<Vec<u8>, (CString, i32)>,
}

impl Forged {
    /// Counts a line. Returns whether all of them can be removed.
    fn add(&mut self, name: CString) -> bool {
        self.lines += 1;
        if self.lines > MOST_FORGED || name.count_bytes() > LONGEST_NAME {
            self.lines = self.lines.max(MOST_FORGED + 1);
            return false;
        }
        let key = name.to_bytes().to_ascii_lowercase();
        self.names.entry(key).or_insert((name, 0)).1 += 1;
        true
    }

    /// The lines to remove, each by its name and its number among those that are alike, from 1: the
    /// last one first, so that the others keep their numbers.
    fn removals(&self) -> impl Iterator<Item = (&CStr, i32)> {
        self.names.values().flat_map(|(name, count)| {
            (1..=*count).rev().map(move |number| (name.as_c_str(), number))
        })
    }
}

impl Transaction {
    /// Adds a piece. Of a message that is too large the beginning is kept.
    fn push(&mut self, piece: &[u8]) {
        if self.refused.is_none() {
            self.refused = self.mail.push_beginning(piece).err();
        }
    }
}

/// Serves until the server stops; then finishes the answers that have begun.
/// Each message is classified with the settings that there are when it begins.
pub async fn serve<L>(
    engines: watch::Receiver<Arc<Engine>>,
    listener: L,
    mut stopped: watch::Receiver<bool>,
) where
    L: indymilter::Listener,
{
    let engine = Arc::clone(&engines.borrow());
    let limits = &engine.config.limits;
    let config = Config {
        max_connections: limits.connections,
        actions: Actions::empty(),
        connection_timeout: Duration::from_secs(limits.idle_seconds),
    };
    let log = engine.log.clone();
    let stop = async move {
        // If the sender is dropped, the server stops as well.
        let _ = stopped.changed().await;
    };
    if let Err(error) = indymilter::run(listener, callbacks(engines), config, stop).await {
        log.event(Level::Error, "milter", &[("error", &error)]);
    }
}

fn callbacks(engines: watch::Receiver<Arc<Engine>>) -> Callbacks<Session> {
    Callbacks::new()
        .on_negotiate(|context, actions, options| {
            Box::pin(async move { negotiate(context, actions, options) })
        })
        .on_connect(|context, _, client| Box::pin(async move { connect(context, &client) }))
        .on_mail(move |context, arguments| {
            let engine = Arc::clone(&engines.borrow());
            Box::pin(async move { begin(context, engine, &arguments) })
        })
        .on_rcpt(|context, arguments| Box::pin(async move { recipient(context, &arguments) }))
        // Without an answer to DATA, Postfix shows the header only after the delayed
        // acknowledgement of the macros before it: each message would wait for 40 ms over TCP.
        .on_data(|_| Box::pin(async { Status::Continue }))
        .on_header(|context, name, value| Box::pin(async move { header(context, name, &value) }))
        .on_eoh(|context| Box::pin(async move { piece(context, b"\r\n") }))
        .on_body(|context, body| Box::pin(async move { piece(context, &body) }))
        .on_eom(|context| Box::pin(async move { end(context).await }))
        .on_abort(|context| {
            Box::pin(async move {
                if let Some(session) = &mut context.data {
                    session.mail = None;
                }
                Status::Continue
            })
        })
}

fn negotiate(
    context: &mut NegotiateContext<Session>,
    actions: Actions,
    options: ProtoOpts,
) -> Status {
    // Actions that the mail server does not offer are left out.
    let wanted = Actions::ADD_HEADER | Actions::CHANGE_HEADER | Actions::QUARANTINE;
    context.requested_actions = actions & wanted;
    context.requested_opts |= options & ProtoOpts::LEADING_SPACE;
    let has_blanks = options.contains(ProtoOpts::LEADING_SPACE);
    context.data = Some(Session { has_blanks, peer: None, mail: None });
    Status::Continue
}

fn connect(context: &mut Context<Session>, client: &SocketInfo) -> Status {
    if let (Some(session), SocketInfo::Inet(address)) = (&mut context.data, client) {
        session.peer = Some(Peer::host(address.ip()));
    }
    Status::Continue
}

fn begin(context: &mut Context<Session>, engine: Arc<Engine>, arguments: &[CString]) -> Status {
    let session = context.data.get_or_insert(Session { has_blanks: false, peer: None, mail: None });
    let sender = arguments.first().map(|sender| sender.to_string_lossy().into_owned());
    session.mail = Some(Transaction {
        envelope: Envelope { sender, ..Envelope::default() },
        mail: engine.mail(session.peer),
        engine,
        refused: None,
        forged: Forged::default(),
    });
    Status::Continue
}

fn transaction(session: &mut Option<Session>) -> Option<&mut Transaction> {
    session.as_mut().and_then(|session| session.mail.as_mut())
}

fn recipient(context: &mut Context<Session>, arguments: &[CString]) -> Status {
    if let Some(mail) = transaction(&mut context.data)
        && let Some(name) = arguments.first()
        && mail.envelope.names.len() < NAMES
    {
        mail.envelope.names.push(name.to_string_lossy().into_owned());
    }
    Status::Continue
}

fn header(context: &mut Context<Session>, name: CString, value: &CStr) -> Status {
    let has_blanks = context.data.as_ref().is_some_and(|session| session.has_blanks);
    if let Some(mail) = transaction(&mut context.data) {
        mail.push(&header_line(name.to_bytes(), value.to_bytes(), has_blanks));
        let dialects = &mail.engine.config.headers;
        if is_forged(name.to_bytes(), dialects) && !mail.forged.add(name) {
            mail.engine.refuse(Protocol::Milter, &"too many header lines state a verdict");
            let text = ["Too many header lines state a verdict"];
            let _ = context.reply.set_error_reply("554", Some("5.6.0"), text);
            return Status::Reject;
        }
    }
    Status::Continue
}

/// A header as it stood in the mail.
fn header_line(name: &[u8], value: &[u8], has_blanks: bool) -> Vec<u8> {
    let mut line = [name, b":"].concat();
    if !has_blanks {
        line.push(b' ');
    }
    for part in value.split_inclusive(|&byte| byte == b'\n') {
        match part.strip_suffix(b"\n") {
            Some(text) => {
                line.extend_from_slice(text.strip_suffix(b"\r").unwrap_or(text));
                line.extend_from_slice(b"\r\n");
            }
            None => line.extend_from_slice(part),
        }
    }
    line.extend_from_slice(b"\r\n");
    line
}

fn piece(context: &mut Context<Session>, bytes: &[u8]) -> Status {
    if let Some(mail) = transaction(&mut context.data) {
        mail.push(bytes);
    }
    Status::Continue
}

async fn end(context: &mut EomContext<Session>) -> Status {
    let Some(session) = &mut context.data else { return Status::Accept };
    let has_blanks = session.has_blanks;
    let Some(Transaction { engine, mut envelope, mail, refused, forged }) = session.mail.take()
    else {
        return Status::Accept;
    };
    envelope.queue = context.macros.get(c"i").map(|name| name.to_string_lossy().into_owned());
    let judged = match refused {
        Some(why) if !mail.can_be_judged(why) => {
            engine.refuse(Protocol::Milter, &why);
            None
        }
        _ => engine.judge(Protocol::Milter, envelope, &Arc::new(mail)).await,
    };
    if judged.is_none() && engine.config.on_error == OnError::Tempfail {
        let text = ["No verdict on this message, try again later"];
        let _ = context.reply.set_error_reply("451", Some("4.7.1"), text);
        return Status::Tempfail;
    }
    let complain = |event: &str, error: &dyn std::fmt::Display| {
        engine.log.event(
            Level::Error,
            event,
            &[("wire", &Protocol::Milter.name()), ("error", error)],
        );
    };
    if let Err(error) = mark(context, &engine, judged.as_ref(), &forged, has_blanks).await {
        complain("mark", &error);
        return Status::Continue;
    }
    let is_above = |limit: Option<f64>| {
        let is_spam = judged.as_ref().filter(|judged| judged.is_spam());
        is_spam.is_some_and(|judged| limit.is_some_and(|limit| 100.0 * judged.spam >= limit))
    };
    if is_above(engine.config.milter.reject_above) {
        let text = ["This message was classified as spam"];
        return match context.reply.set_error_reply("550", Some("5.7.1"), text) {
            Ok(()) => Status::Reject,
            Err(_) => Status::Continue,
        };
    }
    if is_above(engine.config.milter.quarantine_above)
        && let Err(error) = context.actions.quarantine("taken for spam by dbacl").await
    {
        complain("quarantine", &error);
    }
    Status::Continue
}

/// Removes forged verdicts and puts the new ones in front.
async fn mark(
    context: &EomContext<Session>,
    engine: &Engine,
    judged: Option<&Judged>,
    forged: &Forged,
    has_blanks: bool,
) -> Result<(), indymilter::ActionError> {
    for (name, number) in forged.removals() {
        context.actions.change_header(name, number, None::<CString>).await?;
    }
    let blank = if has_blanks { " " } else { "" };
    for (name, value) in lines(judged, &engine.config.headers).into_iter().rev() {
        context.actions.insert_header(0, name, format!("{blank}{value}")).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_put_together_as_they_stood() {
        for (value, has_blanks, expected) in [
            (" a", true, "Subject: a\r\n"),
            ("a", false, "Subject: a\r\n"),
            ("a", true, "Subject:a\r\n"),
            (" a\n\tb\r\n c", true, "Subject: a\r\n\tb\r\n c\r\n"),
            ("", false, "Subject: \r\n"),
        ] {
            let line = header_line(b"Subject", value.as_bytes(), has_blanks);
            assert_eq!(String::from_utf8_lossy(&line), expected, "{value:?}");
        }
    }

    #[test]
    fn the_lines_of_each_name_are_removed_from_the_last_on() {
        let mut forged = Forged::default();
        for name in ["X-DBACL", "X-Spam-Flag", "x-dbacl"] {
            assert!(forged.add(CString::new(name).expect("no zero byte")));
        }
        let removals: Vec<_> = forged
            .removals()
            .map(|(name, number)| (name.to_str().expect("text"), number))
            .collect();
        assert_eq!(removals, [("X-DBACL", 2), ("X-DBACL", 1), ("X-Spam-Flag", 1)]);
    }

    #[test]
    fn the_work_for_forged_headers_has_a_limit() {
        let mut forged = Forged::default();
        for number in 0..100_000 {
            let name = format!("X-Spam-{}", number % 3000);
            assert_eq!(forged.add(CString::new(name).expect("text")), number < MOST_FORGED);
        }
        assert_eq!((forged.removals().count(), forged.names.len()), (MOST_FORGED, MOST_FORGED));
        let long = CString::new("x".repeat(LONGEST_NAME + 1)).expect("text");
        assert!(!Forged::default().add(long));
    }
}
