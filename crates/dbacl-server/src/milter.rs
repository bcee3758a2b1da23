// SPDX-License-Identifier: GPL-3.0-or-later
//! The milter protocol of Postfix and sendmail. The crate `indymilter` implements its messages.
//!
//! The parts of a mail that the mail server sends are joined to a mail again. At its end it is
//! judged, and its verdict is added as header lines. Verdicts that the mail brought are removed.
//! Nothing else is changed, and no mail is refused unless the configuration says so.

use crate::engine::{Engine, Mail, Refusal};
use crate::headers::{is_forged, lines};
use crate::log::Level;
use crate::measures::Wire;
use crate::verdict::Judged;
use indymilter::{
    Actions, Callbacks, Config, Context, ContextActions, EomContext, NegotiateContext, ProtoOpts,
    SetErrorReply, Status,
};
use std::ffi::{CStr, CString};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// The most recipients of a mail that are used.
const NAMES: usize = 1000;

/// The state of a connection.
struct Session {
    /// Whether values of headers come with the blank behind the colon.
    has_blanks: bool,
    mail: Option<Transaction>,
}

/// The state of an incoming mail.
struct Transaction {
    names: Vec<String>,
    mail: Mail,
    refused: Option<Refusal>,
    /// Headers of the mail that state a verdict, in the order in which they came.
    forged: Vec<CString>,
}

impl Transaction {
    /// Adds a piece. Of a mail that is too large the beginning is kept.
    fn push(&mut self, piece: &[u8]) {
        if self.refused.is_some() {
            return;
        }
        if let Err(why) = self.mail.push(piece) {
            self.refused = Some(why);
            if why == Refusal::Large {
                let room = self.mail.room();
                let _ = self.mail.push(&piece[..room]);
            }
        }
    }
}

/// Serves until the server stops; then finishes the answers that have begun.
pub async fn serve<L>(engine: Arc<Engine>, listener: L, mut stopped: watch::Receiver<bool>)
where
    L: indymilter::Listener,
{
    let limits = &engine.config.limits;
    let config = Config {
        max_connections: limits.connections,
        actions: Actions::empty(),
        connection_timeout: Duration::from_secs(limits.idle_seconds),
    };
    let log = engine.log;
    let stop = async move {
        // If the sender is dropped, the server stops as well.
        let _ = stopped.changed().await;
    };
    if let Err(error) = indymilter::run(listener, callbacks(&engine), config, stop).await {
        log.event(Level::Error, "milter", &[("error", &error)]);
    }
}

fn callbacks(engine: &Arc<Engine>) -> Callbacks<Session> {
    let (begins, looks, judges) = (Arc::clone(engine), Arc::clone(engine), Arc::clone(engine));
    Callbacks::new()
        .on_negotiate(|context, actions, options| {
            Box::pin(async move { negotiate(context, actions, options) })
        })
        .on_mail(move |context, _| {
            let engine = Arc::clone(&begins);
            Box::pin(async move { begin(context, &engine) })
        })
        .on_rcpt(|context, arguments| Box::pin(async move { recipient(context, &arguments) }))
        .on_header(move |context, name, value| {
            let engine = Arc::clone(&looks);
            Box::pin(async move { header(context, &engine, name, &value) })
        })
        .on_eoh(|context| Box::pin(async move { piece(context.data.as_mut(), b"\r\n") }))
        .on_body(|context, body| Box::pin(async move { piece(context.data.as_mut(), &body) }))
        .on_eom(move |context| {
            let engine = Arc::clone(&judges);
            Box::pin(async move { end(context, &engine).await })
        })
        .on_abort(|context| Box::pin(async move { forget(context.data.as_mut()) }))
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
    context.data = Some(Session { has_blanks, mail: None });
    Status::Continue
}

fn begin(context: &mut Context<Session>, engine: &Engine) -> Status {
    let session = context.data.get_or_insert(Session { has_blanks: false, mail: None });
    session.mail = Some(Transaction {
        names: Vec::new(),
        mail: engine.mail(),
        refused: None,
        forged: Vec::new(),
    });
    Status::Continue
}

fn transaction(session: Option<&mut Session>) -> Option<&mut Transaction> {
    session.and_then(|session| session.mail.as_mut())
}

fn recipient(context: &mut Context<Session>, arguments: &[CString]) -> Status {
    if let Some(mail) = transaction(context.data.as_mut())
        && let Some(name) = arguments.first()
        && mail.names.len() < NAMES
    {
        mail.names.push(name.to_string_lossy().into_owned());
    }
    Status::Continue
}

fn header(context: &mut Context<Session>, engine: &Engine, name: CString, value: &CStr) -> Status {
    let has_blanks = context.data.as_ref().is_some_and(|session| session.has_blanks);
    if let Some(mail) = transaction(context.data.as_mut()) {
        mail.push(&header_line(name.to_bytes(), value.to_bytes(), has_blanks));
        if is_forged(name.to_bytes(), &engine.config.headers) {
            mail.forged.push(name);
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

fn piece(session: Option<&mut Session>, bytes: &[u8]) -> Status {
    if let Some(mail) = transaction(session) {
        mail.push(bytes);
    }
    Status::Continue
}

fn forget(session: Option<&mut Session>) -> Status {
    if let Some(session) = session {
        session.mail = None;
    }
    Status::Continue
}

async fn end(context: &mut EomContext<Session>, engine: &Arc<Engine>) -> Status {
    let Some(session) = &mut context.data else { return Status::Accept };
    let has_blanks = session.has_blanks;
    let Some(Transaction { names, mail, refused, forged }) = session.mail.take() else {
        return Status::Accept;
    };
    let judged = match refused {
        Some(Refusal::Busy) => {
            let facts: [(&str, &dyn std::fmt::Display); 2] =
                [("wire", &Wire::Milter.name()), ("error", &Refusal::Busy)];
            engine.log.event(Level::Warn, "refused", &facts);
            None
        }
        _ => engine.judge(Wire::Milter, names, &Arc::new(mail)).await,
    };
    if let Err(error) = mark(context, engine, judged.as_ref(), &forged, has_blanks).await {
        let facts: [(&str, &dyn std::fmt::Display); 2] =
            [("wire", &Wire::Milter.name()), ("error", &error)];
        engine.log.event(Level::Error, "mark", &facts);
        return Status::Continue;
    }
    let is_above = |limit: Option<f64>| {
        let is_spam = judged.as_ref().filter(|judged| judged.is_spam());
        is_spam.is_some_and(|judged| limit.is_some_and(|limit| 100.0 * judged.spam >= limit))
    };
    if is_above(engine.config.milter.reject_above) {
        let text = ["This mail was taken for spam"];
        return match context.reply.set_error_reply("550", Some("5.7.1"), text) {
            Ok(()) => Status::Reject,
            Err(_) => Status::Continue,
        };
    }
    if is_above(engine.config.milter.quarantine_above)
        && let Err(error) = context.actions.quarantine("taken for spam by dbacl").await
    {
        let facts: [(&str, &dyn std::fmt::Display); 2] =
            [("wire", &Wire::Milter.name()), ("error", &error)];
        engine.log.event(Level::Error, "quarantine", &facts);
    }
    Status::Continue
}

/// Removes forged verdicts and puts the new ones in front. Of headers with one name the last is
/// removed first, so that the others keep their numbers.
async fn mark(
    context: &EomContext<Session>,
    engine: &Engine,
    judged: Option<&Judged>,
    forged: &[CString],
    has_blanks: bool,
) -> Result<(), indymilter::ActionError> {
    for (number, name) in numbered(forged).into_iter().rev() {
        context.actions.change_header(name, number, None::<CString>).await?;
    }
    let blank = if has_blanks { " " } else { "" };
    for (name, value) in lines(judged, &engine.config.headers).into_iter().rev() {
        context.actions.insert_header(0, name, format!("{blank}{value}")).await?;
    }
    Ok(())
}

/// Each name with its number among those that are alike, from 1.
fn numbered(names: &[CString]) -> Vec<(i32, &CStr)> {
    let mut numbered = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let is_alike = |other: &&CString| other.to_bytes().eq_ignore_ascii_case(name.to_bytes());
        let before = names[..at].iter().filter(is_alike).count();
        numbered.push((i32::try_from(before + 1).unwrap_or(i32::MAX), name.as_c_str()));
    }
    numbered
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
    fn headers_of_one_name_are_numbered() {
        let names: Vec<CString> = ["X-DBACL", "X-Spam-Flag", "x-dbacl"]
            .iter()
            .map(|name| CString::new(*name).expect("no zero byte"))
            .collect();
        let numbers: Vec<i32> = numbered(&names).iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [1, 1, 2]);
    }
}
