// SPDX-License-Identifier: GPL-3.0-or-later
//! Reads files of mail, whatever form they have ([`crate::mail::scanner`]), as mailboxes of one
//! form.

use crate::mail::day::in_words;
use crate::mail::from_line::{FROM, FromLine};
use crate::mail::header_fields::Field;
use crate::mail::mailbox::begins_message;
use crate::mail::scanner::{Form, Holds, Kind, Scanner, Step};
use std::borrow::Cow;
use std::io::{self, Read};

/// Bytes read at a time, unless more are needed to say what a line is.
const BLOCK: usize = 1 << 16;

/// Reads the lines of a source.
pub(crate) struct MailReader<R> {
    input: R,
    buffer: Vec<u8>,
    from: usize,
    to: usize,
    is_whole: bool,
    scanner: Scanner,
    position: u64,
}

impl<R: Read> MailReader<R> {
    /// The lines of `input`, from its first byte on.
    pub(crate) const fn new(input: R, holds: Holds) -> Self {
        let scanner = Scanner::new(holds);
        Self { input, buffer: Vec::new(), from: 0, to: 0, is_whole: false, scanner, position: 0 }
    }

    /// Bytes of the source that were passed on.
    pub(crate) const fn position(&self) -> u64 {
        self.position
    }

    /// Puts the next line, or a piece of a long one, in the place of `line`, with the line end that
    /// readers of mail expect. Returns what it is; `None` at the end.
    ///
    /// # Errors
    /// Those of the input; after one that lasts no longer, reading can go on.
    pub(crate) fn next_line(&mut self, line: &mut Vec<u8>) -> io::Result<Option<Step>> {
        loop {
            if let Some(step) = self.at_hand(line) {
                return Ok(Some(step));
            }
            if self.is_whole {
                return Ok(None);
            }
            self.fill()?;
        }
    }

    /// The same, as far as the bytes that were read are enough.
    fn at_hand(&mut self, line: &mut Vec<u8>) -> Option<Step> {
        let window = &self.buffer[self.from..self.to];
        if window.is_empty() {
            return None;
        }
        let step = self.scanner.step(window, self.is_whole)?;
        line.clear();
        line.extend_from_slice(&window[step.start..step.end]);
        line.extend_from_slice(step.line_end);
        self.from += step.length;
        self.position += step.length as u64;
        Some(step)
    }

    fn fill(&mut self) -> io::Result<()> {
        if self.from > 0 {
            self.buffer.copy_within(self.from..self.to, 0);
            (self.from, self.to) = (0, self.to - self.from);
        }
        let room = (2 * self.to).max(BLOCK);
        if self.buffer.len() < room {
            self.buffer.resize(room, 0);
        }
        let read = self.input.read(&mut self.buffer[self.to..])?;
        self.to += read;
        self.is_whole = read == 0;
        Ok(())
    }
}

/// A source as a mailbox, or as one message, of the form that all readers of mail know.
///
/// Each message of a mailbox follows a line `From SENDER DATE` and, but for the first, an empty
/// line. A line of a message that looks the same gets a `>`. What belongs to no message is left
/// out.
pub struct Canonical<R> {
    reader: MailReader<R>,
    line: Vec<u8>,
    output: Vec<u8>,
    written: usize,
    has_message: bool,
    is_after_empty: bool,
    /// Lines without a date get a `>`, too.
    quotes_all: bool,
    /// What ended the input: it is passed on after what was read.
    error: Option<io::Error>,
}

impl<R: Read> Canonical<R> {
    /// `input` from its first byte on.
    pub const fn new(input: R, holds: Holds) -> Self {
        Self {
            reader: MailReader::new(input, holds),
            line: Vec::new(),
            output: Vec::new(),
            written: 0,
            has_message: false,
            is_after_empty: true,
            quotes_all: false,
            error: None,
        }
    }

    /// The same, for readers by the rule of the original ([`crate::mail::mailbox::Boundaries`]).
    #[must_use]
    pub fn quoting_all(self) -> Self {
        Self { quotes_all: true, ..self }
    }

    /// Passes on the line that was read.
    fn pass(&mut self, step: Step) {
        let is_mailbox = !matches!(self.reader.scanner.form(), Some(Form::Message | Form::Emlx(_)));
        if step.kind == Kind::Apart {
            return;
        }
        let begins = matches!(step.kind, Kind::From | Kind::First);
        let is_first = begins && !std::mem::replace(&mut self.has_message, true);
        if begins && is_mailbox {
            if !is_first && !self.is_after_empty {
                self.output.push(b'\n');
            }
            let looks = FromLine::of(&self.line);
            // Before the first message any line will do.
            if looks != Some(FromLine::Exact)
                && (!is_first || looks.is_none() || step.day.is_some())
            {
                let words = self.line.split(u8::is_ascii_whitespace);
                let sender = words.into_iter().find(|word| word.contains(&b'@'));
                let sender = sender.filter(|_| step.kind == Kind::From).unwrap_or(b"-");
                self.output.extend_from_slice(&[FROM, sender, b" "].concat());
                self.output.extend_from_slice(in_words(step.day).as_bytes());
                self.output.push(b'\n');
                self.is_after_empty = false;
                if step.kind == Kind::From {
                    return;
                }
            }
        }
        if step.kind == Kind::Misleading && (self.quotes_all || begins_message(&self.line)) {
            self.output.push(b'>');
        }
        self.output.extend_from_slice(&self.line);
        self.is_after_empty = matches!(self.line.as_slice(), b"\n" | b"\r\n");
    }
}

impl<R: Read> Read for Canonical<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.written == self.output.len() {
            self.output.clear();
            self.written = 0;
            let mut line = std::mem::take(&mut self.line);
            let mut found = self.reader.at_hand(&mut line);
            self.line = line;
            while let Some(step) = found {
                self.pass(step);
                if self.output.len() >= BLOCK {
                    break;
                }
                let mut line = std::mem::take(&mut self.line);
                found = self.reader.at_hand(&mut line);
                self.line = line;
            }
            if self.output.is_empty() {
                if self.reader.is_whole && self.reader.from == self.reader.to {
                    return self.error.take().map_or(Ok(0), Err);
                }
                match self.reader.fill() {
                    Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                        self.reader.is_whole = true;
                        self.error = Some(error);
                    }
                    filled => filled?,
                }
            }
        }
        let rest = &self.output[self.written..];
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        self.written += length;
        Ok(length)
    }
}

/// One message that begins with these bytes, as readers of mail expect it.
pub(crate) fn canonical(mail: &[u8]) -> Cow<'_, [u8]> {
    if is_plain(mail) {
        return Cow::Borrowed(mail);
    }
    let mut text = Vec::with_capacity(mail.len());
    // Reading memory cannot fail.
    let _ = Canonical::new(mail, Holds::One).read_to_end(&mut text);
    Cow::Owned(text)
}

/// Whether the beginning of a message shows that it is of the usual form.
fn is_plain(mail: &[u8]) -> bool {
    let end = memchr::memchr(b'\n', mail).unwrap_or(mail.len());
    let first = mail[..end].strip_suffix(b"\r").unwrap_or(&mail[..end]);
    let is_known = Field::of(first).is_some() || first.starts_with(FROM);
    is_known && memchr::memchr(b'\r', first).is_none()
}

/// A message of a mailbox that is in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part<'a> {
    /// What stands before it and belongs to no message.
    pub before: &'a [u8],
    /// Its bytes, up to those of the next message.
    pub bytes: &'a [u8],
    /// The message itself.
    pub message: Cow<'a, [u8]>,
}

impl<'a> Part<'a> {
    /// All of a mail.
    pub(crate) const fn whole(mail: &'a [u8]) -> Self {
        Self { before: &[], bytes: mail, message: Cow::Borrowed(mail) }
    }
}

/// The messages of `mail`; all of it is one if it is not a mailbox. Together they have all its
/// bytes.
pub fn parts(mail: &[u8]) -> Vec<Part<'_>> {
    let mut scanner = Scanner::new(Holds::Mailbox);
    let mut found: Vec<Part<'_>> = Vec::new();
    let (mut at, mut start, mut end) = (0, 0, 0);
    while at < mail.len() {
        let Some(step) = scanner.step(&mail[at..], true) else { break };
        let next = at + step.length;
        if matches!(scanner.form(), Some(Form::Message)) {
            break;
        }
        let begins = matches!(step.kind, Kind::From | Kind::First);
        if begins {
            if let Some(last) = found.last_mut() {
                last.bytes = &mail[start..at];
            }
            let before = if found.is_empty() { &mail[..at] } else { &[] };
            found.push(Part { before, bytes: &[], message: Cow::Borrowed(&mail[at..next]) });
            (start, end) = (at, next);
        } else if let Some(last) = found.last_mut()
            && step.kind != Kind::Apart
        {
            match &mut last.message {
                Cow::Borrowed(message) if end == at => *message = &mail[end - message.len()..next],
                message => message.to_mut().extend_from_slice(&mail[at..next]),
            }
            end = next;
        }
        at = next;
    }
    match found.last_mut() {
        Some(last) => last.bytes = &mail[start..],
        None => return vec![Part::whole(mail)],
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(holds: Holds, source: &str) -> String {
        let mut text = String::new();
        let mut mail = Canonical::new(source.as_bytes(), holds).quoting_all();
        mail.read_to_string(&mut text).expect("memory");
        text
    }

    const EXACT: &str = "From a@b.c Mon Jan  1 00:00:00 2024\n";

    #[test]
    fn mailboxes_become_those_that_everybody_reads() {
        let no_date = "From - Mon Jan  1 00:00:00 1900\n";
        for (source, expected) in [
            (format!("{EXACT}A: b\n\nx\n\n{EXACT}\n"), format!("{EXACT}A: b\n\nx\n\n{EXACT}\n")),
            (format!("\n{EXACT}A: b\n\nFrom x\n"), format!("{EXACT}A: b\n\n>From x\n")),
            (format!("{EXACT}A: b\nFrom \nA: b\n"), format!("{EXACT}A: b\n\n{no_date}A: b\n")),
            (
                "From \nDate: Tue, 2 Jan 2024 10:00:00 +0000\n".to_owned(),
                "From - Tue Jan  2 00:00:00 2024\nDate: Tue, 2 Jan 2024 10:00:00 +0000\n"
                    .to_owned(),
            ),
            ("From \rA: b\r\rx".to_owned(), "From \nA: b\n\nx".to_owned()),
            (
                format!("{EXACT}A: b\nFrom a@b.c Mo Jan 1 10:00 2024\nA: b\n"),
                format!("{EXACT}A: b\n\nFrom a@b.c Mon Jan  1 00:00:00 2024\nA: b\n"),
            ),
            (
                "\x01\x01\x01\x01\nA: b\n\x01\x01\x01\x01\n\x01\x01\x01\x01\nA: b\n".to_owned(),
                format!("{no_date}A: b\n\n{no_date}A: b\n"),
            ),
            ("A: b\r\r\n\r\r\nx".to_owned(), "A: b\r\n\r\nx".to_owned()),
        ] {
            assert_eq!(read(Holds::Mailbox, &source), expected, "{source:?}");
            assert_eq!(read(Holds::Mailbox, &expected), expected, "read again");
        }
    }

    #[test]
    fn single_messages_lose_what_is_no_mail() {
        for (source, expected) in [
            ("\u{feff}A: b\n\nx", "A: b\n\nx"),
            ("\n\nA: b\n", "A: b\n"),
            ("Microsoft Mail Internet Headers Version 2.0\r\nA: b\r\n", "A: b\r\n"),
            ("6\nA: b\n\n<?xml", "A: b\n\n"),
            ("A: b\r\rx\r", "A: b\n\nx\n"),
            ("From x\nA: b\n\nFrom \nA: b\n", "From x\nA: b\n\n>From \nA: b\n"),
            ("", ""),
        ] {
            assert_eq!(read(Holds::One, source), expected, "{source:?}");
            if !is_plain(source.as_bytes()) {
                assert_eq!(canonical(source.as_bytes()), expected.as_bytes(), "{source:?}");
            }
        }
        let marked = read(Holds::One, "X-DBACL: y\n\u{feff}A: b\n\nx");
        assert_eq!(marked, "X-DBACL: y\nA: b\n\nx");
        let plain = b"A: b\r\n\r\nx\ry";
        assert!(matches!(canonical(plain), Cow::Borrowed(_)));
    }

    #[test]
    fn parts_of_a_mailbox_have_all_its_bytes() {
        for (source, expected) in [
            (format!("{EXACT}A: b\n\n{EXACT}A: c\n"), vec![("", "A: b\n\n"), ("", "A: c\n")]),
            (format!("\n\n{EXACT}A: b\n"), vec![("\n\n", "A: b\n")]),
            (
                format!("{EXACT}A: b\n\n{EXACT}X-Mozilla-Status: 8\n\n{EXACT}A: c\n"),
                vec![("", "A: b\n\n"), ("", "A: c\n")],
            ),
        ] {
            let found = parts(source.as_bytes());
            let texts: Vec<(String, String)> = found
                .iter()
                .map(|part| {
                    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                    (text(part.before), text(&part.message).replace(EXACT, ""))
                })
                .collect();
            let expected: Vec<(String, String)> =
                expected.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
            assert_eq!(texts, expected, "{source:?}");
        }
        let mmdf =
            "\x01\x01\x01\x01\nA: b\n\x01\x01\x01\x01\n\x01\x01\x01\x01\nA: c\n\x01\x01\x01\x01\n";
        let found = parts(mmdf.as_bytes());
        assert_eq!(found.len(), 2);
        assert_eq!(
            (&*found[1].message, found[1].bytes),
            (&b"A: c\n"[..], &b"A: c\n\x01\x01\x01\x01\n"[..])
        );
        let babyl = "BABYL OPTIONS:\n\x1f\x0c\n1,,\nA: b\n\n*** EOOH ***\nA: b\n\nx\n\x1f";
        assert_eq!(&*parts(babyl.as_bytes())[0].message, b"A: b\n\nx\n");
        assert_eq!(parts(b"A: b\n\nx\n").len(), 1);
    }

    #[test]
    fn the_list_after_a_message_of_apple_mail_may_come_in_pieces() {
        let source = "12\nSubject: ok\n<?xml version=\"1.0\"?>\n<plist>\n</plist>\n";
        let mut mail = String::new();
        let input = Slow { rest: source.as_bytes(), size: 3 };
        Canonical::new(input, Holds::One).read_to_string(&mut mail).expect("memory");
        assert_eq!(mail, "Subject: ok\n");
    }

    proptest! {
        #[test]
        fn any_source_is_read_the_same_in_pieces(
            source in proptest::collection::vec(prop::sample::select(vec![
                "From ", "\n", "\n", "\r\n", "\r", "A: b", "From: x\n", EXACT, "text", " ",
                "\x01\x01\x01\x01\n", "BABYL OPTIONS\n", "\x1f\x0c\n1,,\n", "*** EOOH ***\n",
                "12\n", "<?xml", "Content-Length: 9\n", "\u{feff}", "X-Mozilla-Status: 8\n",
            ]), 0..24),
            size in 1_usize..9,
        ) {
            let source = source.concat();
            for holds in [Holds::One, Holds::Mailbox] {
                let whole = read(holds, &source);
                let mut pieces = Vec::new();
                let input = Slow { rest: source.as_bytes(), size };
                let mut mail = Canonical::new(input, holds).quoting_all();
                mail.read_to_end(&mut pieces).expect("memory");
                prop_assert_eq!(String::from_utf8_lossy(&pieces), &*whole);
            }
            let found = parts(source.as_bytes());
            let all: Vec<&[u8]> = found.iter().flat_map(|it| [it.before, it.bytes]).collect();
            prop_assert_eq!(all.concat(), source.as_bytes());
        }
    }

    /// Gives few bytes at a time.
    struct Slow<'a> {
        rest: &'a [u8],
        size: usize,
    }

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.size.min(self.rest.len()).min(buffer.len());
            buffer[..length].copy_from_slice(&self.rest[..length]);
            self.rest = &self.rest[length..];
            Ok(length)
        }
    }
}
