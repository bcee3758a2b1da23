// SPDX-License-Identifier: GPL-3.0-or-later
//! OpenSMTPD's filter protocol, on standard input and output (`smtpd-filters(7)`).
//!
//! smtpd starts the filter and sends it each line of each message; the lines that the filter
//! answers become the mail. When a filter ends, smtpd ends as well, so this one ends only when its
//! input does. Lines are kept until the mail is complete. A message that is too large to be kept,
//! or has a line that is, is passed on with a verdict on its beginning, and one for which there is
//! no memory with `X-DBACL: error`.

use crate::budget::{Mail, Refusal};
use crate::config::OnError;
use crate::engine::{Engine, Envelope, NAMES};
use crate::headers::{HeaderLines, lines, rewritten_header};
use crate::listen::Protocol;
use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, Read, Write};

/// The longest line of the protocol that is kept, in bytes. smtpd itself accepts only much shorter
/// lines of mail; a longer one is passed on as it comes.
const LONGEST: u64 = 1 << 20;

/// What the filter says at the beginning: the events that it wants.
const REGISTRATION: &str = "register|report|smtp-in|tx-begin\n\
    register|report|smtp-in|tx-mail\n\
    register|report|smtp-in|tx-rcpt\n\
    register|report|smtp-in|tx-reset\n\
    register|report|smtp-in|link-disconnect\n\
    register|filter|smtp-in|data-line\n";

/// The event by which a message without a verdict can be put off.
const COMMIT: &str = "register|filter|smtp-in|commit\n";

/// The state of the conversation with smtpd.
struct Conversation<'a> {
    engine: &'a Engine,
    sessions: HashMap<Vec<u8>, Session>,
    /// Sessions whose mail is to be put off.
    put_off: HashSet<Vec<u8>>,
}

struct Session {
    envelope: Envelope,
    /// What each answer about the mail repeats.
    token: Vec<u8>,
    /// The lines so far; `None` once the message has its verdict. Later lines are given back as
    /// they come, except those of the header that state a verdict.
    mail: Option<Mail>,
    /// Which lines of the header are passed on.
    header: HeaderLines,
}

impl Conversation<'_> {
    /// Takes a line, without its end, or the beginning of one that is too long to be kept, and
    /// writes what is to be answered. Returns whether what follows of a line that is not whole is
    /// to be written as it comes.
    fn piece(&mut self, line: &[u8], is_whole: bool, out: &mut dyn Write) -> io::Result<bool> {
        let fields: Vec<&[u8]> = line.splitn(8, |&byte| byte == b'|').collect();
        match fields[..] {
            [b"config", b"ready", ..] => {
                out.write_all(REGISTRATION.as_bytes())?;
                if self.engine.config.on_error == OnError::Tempfail {
                    out.write_all(COMMIT.as_bytes())?;
                }
                out.write_all(b"register|ready\n")?;
            }
            [
                b"report",
                _,
                _,
                _,
                phase @ (b"link-disconnect" | b"tx-reset" | b"tx-begin"),
                id,
                ..,
            ] => {
                self.sessions.remove(id);
                self.put_off.remove(id);
                if phase == b"tx-begin" {
                    let queue = fields.get(6).map(|id| String::from_utf8_lossy(id).into_owned());
                    self.session(id).envelope.queue = queue;
                }
            }
            [b"report", _, _, _, phase @ (b"tx-mail" | b"tx-rcpt"), id, _, rest] => {
                self.address(phase == b"tx-mail", id, rest);
            }
            [b"filter", _, _, _, b"data-line", id, token, text] => {
                return self.data(id, token, (text, is_whole), out);
            }
            [b"filter", _, _, _, b"commit", id, token, ..] => {
                let result: &[u8] = if self.put_off.remove(id) {
                    b"reject|451 4.7.1 No verdict on this message, try again later"
                } else {
                    b"proceed"
                };
                let answer = [b"filter-result", id, token, result].join(&b'|');
                out.write_all(&[&answer[..], b"\n"].concat())?;
            }
            _ => {}
        }
        Ok(false)
    }

    fn session(&mut self, id: &[u8]) -> &mut Session {
        let engine = self.engine;
        self.sessions.entry(id.to_vec()).or_insert_with(|| Session {
            envelope: Envelope::default(),
            token: Vec::new(),
            mail: Some(engine.mail(None)),
            header: HeaderLines::default(),
        })
    }

    /// `RESULT|ADDRESS`, or in older versions with the address before the result: the sender, or a
    /// recipient.
    fn address(&mut self, is_sender: bool, id: &[u8], rest: &[u8]) {
        let fields: Vec<&[u8]> = rest.splitn(2, |&byte| byte == b'|').collect();
        let [first, second] = fields[..] else { return };
        let is_result = |field: &[u8]| matches!(field, b"ok" | b"permfail" | b"tempfail");
        let (result, address) = if is_result(first) { (first, second) } else { (second, first) };
        let envelope = &mut self.session(id).envelope;
        let address = || String::from_utf8_lossy(address).into_owned();
        match (result, is_sender) {
            (b"ok", true) => envelope.sender = Some(address()),
            (b"ok", false) if envelope.names.len() < NAMES => envelope.names.push(address()),
            _ => {}
        }
    }

    /// Takes a line of a message, or its beginning if it is not whole. Returns whether the rest of
    /// that line is to be written as it comes.
    fn data(
        &mut self,
        id: &[u8],
        token: &[u8],
        (text, is_whole): (&[u8], bool),
        out: &mut dyn Write,
    ) -> io::Result<bool> {
        let engine = self.engine;
        let is_end = is_whole && text == b".";
        // The protocol puts a dot before a line that begins with one.
        let plain = if text.starts_with(b".") { &text[1..] } else { text };
        self.session(id).token = token.to_vec();
        if is_end {
            self.mark(id, usize::MAX, out)?;
        }
        while let Some(mail) = &mut self.session(id).mail {
            let before = mail.bytes().len();
            let kept = mail.push(plain).and_then(|()| mail.push(b"\n"));
            let why = match kept {
                Ok(()) if is_whole => return Ok(false),
                Ok(()) => Refusal::Large,
                Err(why) => why,
            };
            if why == Refusal::Busy
                && let Some(largest) = self.largest().filter(|largest| largest != id)
            {
                // The others get their verdict on their beginning, the largest first.
                self.mark(&largest, usize::MAX, out)?;
                if let Some(mail) = &mut self.session(id).mail {
                    mail.truncate(before);
                }
                continue;
            }
            let error: &dyn std::fmt::Display =
                if is_whole { &why } else { &"a line of the message is longer than 1 MB" };
            engine.refuse(Protocol::Opensmtpd, error);
            self.mark(id, before, out)?;
        }
        if is_end {
            self.sessions.remove(id);
        } else if !self.session(id).header.keep(plain, &engine.config.headers) {
            return Ok(false);
        }
        say(id, token, (text, is_whole), out).map(|()| !is_whole)
    }

    /// The session of which most is kept.
    fn largest(&self) -> Option<Vec<u8>> {
        let kept = self.sessions.iter().filter_map(|(id, it)| Some((it.mail.as_ref()?, id)));
        kept.max_by_key(|(mail, id)| (mail.bytes().len(), *id)).map(|(_, id)| id.clone())
    }

    /// Gives a message its verdict, by what was kept of it, and passes on its first `length` bytes,
    /// which are whole lines. From then on it is passed on as it comes.
    fn mark(&mut self, id: &[u8], length: usize, out: &mut dyn Write) -> io::Result<()> {
        let engine = self.engine;
        let session = self.session(id);
        let Some(mail) = session.mail.take() else { return Ok(()) };
        let judged = engine.judge_now(Protocol::Opensmtpd, &session.envelope, mail.bytes());
        let dialects = &engine.config.headers;
        let before = &mail.bytes()[..length.min(mail.bytes().len())];
        for line in before.split_inclusive(|&byte| byte == b'\n') {
            session.header.keep(line, dialects);
        }
        let token = session.token.clone();
        let (header, rest) = rewritten_header(before, &lines(judged.as_ref(), dialects), dialects);
        let both = header.split_inclusive(|&byte| byte == b'\n');
        for line in both.chain(rest.split_inclusive(|&byte| byte == b'\n')) {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let dot: &[u8] = if line.starts_with(b".") { b"." } else { b"" };
            say(id, &token, (&[dot, line].concat(), true), out)?;
        }
        if judged.is_none() {
            self.put_off.insert(id.to_vec());
        }
        Ok(())
    }
}

/// Writes a line of a message, or its beginning if it is not whole.
fn say(
    id: &[u8],
    token: &[u8],
    (text, is_whole): (&[u8], bool),
    out: &mut dyn Write,
) -> io::Result<()> {
    for part in [b"filter-dataline|", id, b"|", token, b"|", text] {
        out.write_all(part)?;
    }
    if is_whole { out.write_all(b"\n") } else { Ok(()) }
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
    let (sessions, put_off) = (HashMap::new(), HashSet::new());
    let mut conversation = Conversation { engine, sessions, put_off };
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = Read::take(&mut *input, LONGEST).read_until(b'\n', &mut line)?;
        if length == 0 {
            return Ok(());
        }
        let (text, is_whole) = match line.strip_suffix(b"\n") {
            Some(text) => (text, true),
            None => (&line[..], (line.len() as u64) < LONGEST),
        };
        let passes = conversation.piece(text, is_whole, output)?;
        if !is_whole {
            let mut nowhere = io::sink();
            pass_rest(input, if passes { output } else { &mut nowhere })?;
        }
        // smtpd waits for the answer.
        output.flush()?;
    }
}

/// Reads the rest of a line, and writes it to `output`.
fn pass_rest(input: &mut dyn BufRead, output: &mut dyn Write) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let end = buffer.iter().position(|&byte| byte == b'\n').map(|at| at + 1);
        let length = end.unwrap_or(buffer.len());
        output.write_all(&buffer[..length])?;
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
    use crate::log::Log;

    /// No mail filter is configured.
    fn config() -> Config {
        Config { models: None, default: None, ..Config::default() }
    }

    /// The answers to these lines.
    fn said(text: &str, limit: usize) -> String {
        let mut config = config();
        config.limits.mail = limit;
        spoken(&Engine::new(config, Log::silent()), text)
    }

    fn spoken(engine: &Engine, text: &str) -> String {
        let mut out = Vec::new();
        converse(engine, &mut text.as_bytes(), &mut out).expect("memory");
        String::from_utf8(out).expect("text")
    }

    fn shown(text: &[&str]) -> String {
        text.iter().map(|line| format!("filter|0.5|1.5|smtp-in|data-line|s|t|{line}\n")).collect()
    }

    /// A message that is given back.
    fn given(text: &[&str]) -> String {
        text.iter().map(|line| format!("filter-dataline|s|t|{line}\n")).collect()
    }

    #[test]
    fn mail_comes_back_with_a_line_more() {
        let ready = said("config|smtpd-version|6.8\nconfig|ready\n", 9999);
        assert_eq!(ready, REGISTRATION.to_owned() + "register|ready\n");
        let mail = ["x-dbacl: forged", "Subject: a|b", "", "text", "..dot", "."];
        let expected = given(&["X-DBACL: error", "Subject: a|b", "", "text", "..dot", "."]);
        assert_eq!(said(&shown(&mail), 9999), expected);
        // Twice in one session, and cut off in between.
        let reset = "report|0.5|1.5|smtp-in|tx-reset|s|m\n";
        let twice = shown(&mail) + &shown(&mail[..2]) + reset + &shown(&mail);
        assert_eq!(said(&twice, 9999), expected.repeat(2));
    }

    #[test]
    fn large_mail_goes_on_line_by_line() {
        let mail = ["Subject: a", "", "text that is longer", "than the limit", "."];
        let expected = given(&[&["X-DBACL: error"], &mail[..]].concat());
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
            let expected = given(&[&["X-DBACL: error"], &mail[..]].concat());
            assert!(said(&shown(&mail).repeat(2), 9_999_999) == expected.repeat(2), "{length}");
        }
        // Verdicts that such a message brings are taken out all the same.
        let forged = format!("X-DBACL: ham{}", " ".repeat(2_000_000));
        let mail = [&forged, " 99%", "Subject: a", "x-dbacl: ham", "", "X-DBACL: text", "."];
        let expected = given(&["X-DBACL: error", "Subject: a", "", "X-DBACL: text", "."]);
        assert_eq!(said(&shown(&mail), 9_999_999), expected);
        let report = format!("report|0.5|1.5|smtp-in|tx-rcpt|s|m|ok|{}\n", "x".repeat(3_000_000));
        assert_eq!(
            said(&(report + &shown(&["", "."])), 9_999),
            given(&["X-DBACL: error", "", "."])
        );
    }

    #[test]
    fn sessions_that_stay_unfinished_take_no_memory_from_others() {
        let mut config = config();
        (config.limits.mail, config.limits.memory) = (1 << 20, 8 << 20);
        let line = "x".repeat(900);
        let begun = |session: usize, lines: usize| -> String {
            let line = format!("filter|0.5|1.5|smtp-in|data-line|{session}|t|{line}\n");
            format!("filter|0.5|1.5|smtp-in|data-line|{session}|t|\n") + &line.repeat(lines)
        };
        // More is kept than there is memory; then a short mail comes.
        let engine = Engine::new(config, Log::silent());
        let hostile: String = (0..20).map(|session| begun(session, 1000)).collect();
        let said = spoken(&engine, &(hostile + &begun(77, 10)));
        let marked: Vec<&str> =
            said.lines().filter(|line| line.ends_with("X-DBACL: error")).collect();
        // The short mail waits for its end, and its verdict. The largest got theirs.
        assert!(marked.len() > 10 && !said.contains("filter-dataline|77|"), "{marked:?}");
        assert_eq!(engine.budget.in_use(), 0);
    }

    #[test]
    fn mail_without_a_verdict_is_put_off_where_that_is_wanted() {
        let mut config = config();
        config.on_error = OnError::Tempfail;
        let engine = Engine::new(config, Log::silent());
        let commit = "filter|0.5|1.5|smtp-in|commit|s|t\n";
        let told = spoken(&engine, &(shown(&["", "."]) + commit + commit));
        let mut results = told.lines().filter(|line| line.starts_with("filter-result|"));
        assert!(
            results.next().is_some_and(|line| line.starts_with("filter-result|s|t|reject|451 "))
        );
        assert_eq!(results.next(), Some("filter-result|s|t|proceed"));
        assert!(spoken(&engine, "config|ready\n").contains(COMMIT));
    }

    #[test]
    fn other_lines_are_passed_over() {
        assert_eq!(
            said("filter|\nreport|0.5\n|||||||\nfilter|0.5|1|smtp-in|data-line|s\n\n", 9),
            ""
        );
    }
}
