// SPDX-License-Identifier: GPL-3.0-or-later
//! OpenSMTPD's filter protocol, on standard input and output (`smtpd-filters(7)`).
//!
//! smtpd starts the filter and sends it each line of each mail; the lines that the filter answers
//! become the mail. When a filter ends, smtpd ends as well, so this one ends only when its input
//! does. Lines are kept until the mail is complete. A mail that is too large to be kept, or has a
//! line that is, is passed on with a verdict on its beginning, and one for which there is no memory
//! with `X-DBACL: error`.

use crate::engine::{Engine, Mail, Refusal};
use crate::headers::{HeaderLines, lines, rewritten_header};
use crate::log::Level;
use crate::measures::Wire;
use std::collections::HashMap;
use std::io::{self, BufRead, Read, Write};

/// The longest line of the protocol that is kept, in bytes. smtpd itself accepts only much shorter
/// lines of mail; a longer one is passed on as it comes.
const LONGEST: u64 = 1 << 20;

/// The most recipients of a mail that are used.
const NAMES: usize = 1000;

/// What the filter says at the beginning: the events that it wants.
const REGISTRATION: &str = "register|report|smtp-in|tx-begin\n\
    register|report|smtp-in|tx-rcpt\n\
    register|report|smtp-in|tx-reset\n\
    register|report|smtp-in|link-disconnect\n\
    register|filter|smtp-in|data-line\n\
    register|ready\n";

/// The state of the conversation with smtpd.
pub struct Conversation<'a> {
    engine: &'a Engine,
    sessions: HashMap<Vec<u8>, Session>,
}

struct Session {
    names: Vec<String>,
    state: State,
}

enum State {
    /// Lines are collected.
    Keeps(Mail),
    /// The mail has its verdict; lines are given back as they come, but for verdicts that it
    /// brings.
    Passes(HeaderLines),
}

impl<'a> Conversation<'a> {
    /// A conversation that has not begun.
    pub fn new(engine: &'a Engine) -> Self {
        Self { engine, sessions: HashMap::new() }
    }

    /// Takes a line, without its end, and writes what is to be answered.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn line(&mut self, line: &[u8], out: &mut dyn Write) -> io::Result<()> {
        self.piece(line, true, out).map(|_| ())
    }

    /// Takes a line, or the beginning of one that is too long to be kept. Returns whether what
    /// follows of that one is to be written as it comes.
    fn piece(&mut self, line: &[u8], is_whole: bool, out: &mut dyn Write) -> io::Result<bool> {
        let mut fields = line.splitn(6, |&byte| byte == b'|');
        let kind = fields.next().unwrap_or_default();
        if kind == b"config" {
            if fields.next() == Some(b"ready") {
                out.write_all(REGISTRATION.as_bytes())?;
            }
            return Ok(false);
        }
        let (_version, _time, _subsystem, phase) =
            (fields.next(), fields.next(), fields.next(), fields.next().unwrap_or_default());
        let rest = fields.next().unwrap_or_default();
        match (kind, phase) {
            (b"report", b"link-disconnect" | b"tx-reset" | b"tx-begin") => {
                let session = rest.split(|&byte| byte == b'|').next().unwrap_or_default();
                self.sessions.remove(session);
                Ok(false)
            }
            (b"report", b"tx-rcpt") => {
                self.recipient(rest);
                Ok(false)
            }
            (b"filter", b"data-line") => {
                let mut fields = rest.splitn(3, |&byte| byte == b'|');
                if let (Some(session), Some(token), Some(text)) =
                    (fields.next(), fields.next(), fields.next())
                {
                    return self.data(session, token, (text, is_whole), out);
                }
                Ok(false)
            }
            _ => Ok(false),
        }
    }

    /// `SESSION|MESSAGE|RESULT|ADDRESS`, or in older versions with the address before the result.
    fn recipient(&mut self, rest: &[u8]) {
        let fields: Vec<&[u8]> = rest.splitn(4, |&byte| byte == b'|').collect();
        let [session, _, third, fourth] = fields[..] else { return };
        let is_result = |field: &[u8]| matches!(field, b"ok" | b"permfail" | b"tempfail");
        let (result, address) = if is_result(third) { (third, fourth) } else { (fourth, third) };
        let engine = self.engine;
        let session = self.sessions.entry(session.to_vec()).or_insert_with(|| Session::new(engine));
        if result == b"ok" && session.names.len() < NAMES {
            session.names.push(String::from_utf8_lossy(address).into_owned());
        }
    }

    /// Takes a line of a mail, or its beginning if it is not whole. Returns whether the rest of
    /// that line is to be written as it comes.
    fn data(
        &mut self,
        id: &[u8],
        token: &[u8],
        (text, is_whole): (&[u8], bool),
        out: &mut dyn Write,
    ) -> io::Result<bool> {
        let engine = self.engine;
        let dialects = &engine.config.headers;
        let mut say = |text: &[u8], is_whole: bool| {
            for part in [b"filter-dataline|", id, b"|", token, b"|", text] {
                out.write_all(part)?;
            }
            if is_whole { out.write_all(b"\n") } else { Ok(()) }
        };
        let session = self.sessions.entry(id.to_vec()).or_insert_with(|| Session::new(engine));
        let is_end = is_whole && text == b".";
        // The protocol puts a dot before a line that begins with one.
        let plain = if text.starts_with(b".") { &text[1..] } else { text };
        let mail = match &mut session.state {
            State::Keeps(mail) => mail,
            State::Passes(header) => {
                if is_end {
                    self.sessions.remove(id);
                } else if !header.keep(plain, dialects) {
                    return Ok(false);
                }
                return say(text, is_whole).map(|()| !is_whole);
            }
        };
        if is_end {
            let judged = engine.judge_now(Wire::Opensmtpd, &session.names, mail.bytes());
            mark(engine, judged.as_ref(), mail.bytes(), &mut |line| say(line, true))?;
            self.sessions.remove(id);
            return say(text, true).map(|()| false);
        }
        let kept = mail.push(plain).and_then(|()| mail.push(b"\n"));
        let why = match kept {
            Ok(()) if is_whole => return Ok(false),
            Ok(()) => Refusal::Large,
            Err(why) => why,
        };
        let error: &dyn std::fmt::Display =
            if is_whole { &why } else { &"a line of the mail is longer than 1 MB" };
        let facts = [("wire", &Wire::Opensmtpd.name() as &dyn std::fmt::Display), ("error", error)];
        engine.log.event(Level::Warn, "refused", &facts);
        let judged = match why {
            Refusal::Large => engine.judge_now(Wire::Opensmtpd, &session.names, mail.bytes()),
            Refusal::Busy => None,
        };
        // The line that was not taken is in `mail` as a whole, or without its end, or not at all.
        let end =
            |bytes: &[u8]| bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let mut before = &mail.bytes()[..end(mail.bytes())];
        if kept.is_ok() {
            before = &before[..end(&before[..before.len() - 1])];
        }
        mark(engine, judged.as_ref(), before, &mut |line| say(line, true))?;
        let mut header = HeaderLines::default();
        for line in before.split_inclusive(|&byte| byte == b'\n') {
            header.keep(line, dialects);
        }
        let stays = header.keep(plain, dialects);
        session.state = State::Passes(header);
        if !stays {
            return Ok(false);
        }
        say(text, is_whole).map(|()| !is_whole)
    }
}

impl Session {
    fn new(engine: &Engine) -> Self {
        Self { names: Vec::new(), state: State::Keeps(engine.mail()) }
    }
}

/// Passes on a mail with its verdict.
fn mark(
    engine: &Engine,
    judged: Option<&crate::verdict::Judged>,
    mail: &[u8],
    say: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let dialects = &engine.config.headers;
    let (header, rest) = rewritten_header(mail, &lines(judged, dialects), dialects);
    let both = header.split_inclusive(|&byte| byte == b'\n');
    for line in both.chain(rest.split_inclusive(|&byte| byte == b'\n')) {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if line.starts_with(b".") {
            say(&[b".", line].concat())?;
        } else {
            say(line)?;
        }
    }
    Ok(())
}

/// Speaks with smtpd until it ends.
///
/// # Errors
/// Input cannot be read, or output cannot be written.
pub fn converse(
    engine: &Engine,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> io::Result<()> {
    let mut conversation = Conversation::new(engine);
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = Read::take(&mut *input, LONGEST).read_until(b'\n', &mut line)?;
        if length == 0 {
            return Ok(());
        }
        match line.strip_suffix(b"\n") {
            Some(text) => conversation.line(text, output)?,
            None if (line.len() as u64) < LONGEST => conversation.line(&line, output)?,
            None => {
                let passes = conversation.piece(&line, false, output)?;
                pass_rest(input, if passes { Some(output) } else { None })?;
            }
        }
        // smtpd waits for the answer.
        output.flush()?;
    }
}

/// Reads the rest of a line, and writes it to `output` if there is one.
fn pass_rest(input: &mut dyn BufRead, mut output: Option<&mut dyn Write>) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let end = buffer.iter().position(|&byte| byte == b'\n').map(|at| at + 1);
        let length = end.unwrap_or(buffer.len());
        if let Some(output) = &mut output {
            output.write_all(&buffer[..length])?;
        }
        input.consume(length);
        if end.is_some() || length == 0 {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    /// The answers to these lines, where no mail filter is configured.
    fn said(text: &str, limit: usize) -> String {
        let mut config = Config { models: None, default: None, ..Config::default() };
        config.limits.mail = limit;
        let engine = Engine::new(config);
        let mut out = Vec::new();
        converse(&engine, &mut text.as_bytes(), &mut out).expect("memory");
        String::from_utf8(out).expect("text")
    }

    fn shown(text: &[&str]) -> String {
        text.iter().map(|line| format!("filter|0.5|1.5|smtp-in|data-line|s|t|{line}\n")).collect()
    }

    #[test]
    fn mail_comes_back_with_a_line_more() {
        assert_eq!(said("config|smtpd-version|6.8\nconfig|ready\n", 9999), REGISTRATION);
        let mail = ["x-dbacl: forged", "Subject: a|b", "", "text", "..dot", "."];
        let expected: String = ["X-DBACL: error", "Subject: a|b", "", "text", "..dot", "."]
            .iter()
            .map(|line| format!("filter-dataline|s|t|{line}\n"))
            .collect();
        assert_eq!(said(&shown(&mail), 9999), expected);
        // Twice in one session, and cut off in between.
        let reset = "report|0.5|1.5|smtp-in|tx-reset|s|m\n";
        let twice = shown(&mail) + &shown(&mail[..2]) + reset + &shown(&mail);
        assert_eq!(said(&twice, 9999), expected.repeat(2));
    }

    #[test]
    fn large_mail_goes_on_line_by_line() {
        let mail = ["Subject: a", "", "text that is longer", "than the limit", "."];
        let expected: String =
            ["X-DBACL: error", "Subject: a", "", "text that is longer", "than the limit", "."]
                .iter()
                .map(|line| format!("filter-dataline|s|t|{line}\n"))
                .collect();
        for limit in 0..60 {
            assert_eq!(said(&shown(&mail), limit), expected, "limit {limit}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_to_be_kept_comes_through_whole() {
        let one = usize::try_from(LONGEST).expect("small");
        let prefix = "filter|0.5|1.5|smtp-in|data-line|s|t|".len();
        for length in [5_000_000, one - prefix, one - prefix - 1, one - prefix + 1] {
            let long = "x".repeat(length);
            let mail = ["Subject: a", "", &long, "..", "end", "."];
            let expected: String = ["X-DBACL: error", "Subject: a", "", &long, "..", "end", "."]
                .iter()
                .map(|line| format!("filter-dataline|s|t|{line}\n"))
                .collect();
            assert!(said(&shown(&mail).repeat(2), 9_999_999) == expected.repeat(2), "{length}");
        }
        // Verdicts that such a mail brings are taken out all the same.
        let forged = format!("X-DBACL: ham{}", " ".repeat(2_000_000));
        let mail = [&forged, " 99%", "Subject: a", "x-dbacl: ham", "", "X-DBACL: text", "."];
        let expected: String = ["X-DBACL: error", "Subject: a", "", "X-DBACL: text", "."]
            .iter()
            .map(|line| format!("filter-dataline|s|t|{line}\n"))
            .collect();
        assert_eq!(said(&shown(&mail), 9_999_999), expected);
        let report = format!("report|0.5|1.5|smtp-in|tx-rcpt|s|m|ok|{}\n", "x".repeat(3_000_000));
        assert_eq!(said(&(report + &shown(&["", "."])), 9_999), {
            "filter-dataline|s|t|X-DBACL: error\nfilter-dataline|s|t|\nfilter-dataline|s|t|.\n"
        });
    }

    #[test]
    fn other_lines_are_passed_over() {
        assert_eq!(
            said("filter|\nreport|0.5\n|||||||\nfilter|0.5|1|smtp-in|data-line|s\n\n", 9),
            ""
        );
    }
}
