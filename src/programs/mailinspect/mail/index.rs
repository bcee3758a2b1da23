// SPDX-License-Identifier: GPL-3.0-or-later
//! An index of a mailbox: the positions of the messages, their senders, and their scores (spec
//! tools 2.1).
//!
//! One pass, line by line; a message's text is never held.

use std::io::{self, Read};
use std::ops::{ControlFlow, Range};

use super::judge::{Judge, Measures};
use super::select::Selection;
use crate::error::WarningSink;
use crate::input::lines::{LineReader, Stream};
use crate::mail::mailbox::Boundaries;
use crate::mail::reader::MailReader;
use crate::mail::scanner::{Holds, Kind};

/// Number of bytes of a header line that are kept.
const HEADER_BYTES: usize = 128;

/// A message in the index.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Entry {
    /// Number of its file, from 0.
    pub file: usize,
    /// Its bytes in its file, from its `From ` line up to the next message's.
    pub place: Range<u64>,
    /// Offset after its `From ` line, bytes.
    pub position: u64,
    /// Its `From ` line with its end; the file's name and a newline if it has none.
    pub from_line: Vec<u8>,
    /// The first 128 bytes of its last `From:` line; empty if there is none.
    pub from: Vec<u8>,
    /// The same of `Subject:`.
    pub subject: Vec<u8>,
    /// The same of `Date:`.
    pub date: Vec<u8>,
    pub measures: Measures,
    /// Whether the selection lists it.
    pub is_listed: bool,
}

/// The most bytes of sender and subject in a summary.
const SENDER: (usize, usize) = (6, 20);
const SUBJECT: (usize, usize) = (9, 60);

impl Entry {
    /// Sender and subject, as the list shows them with `-p 1` (spec tools 2.3).
    pub(crate) fn summary(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(86);
        out.push(b'[');
        out.extend_from_slice(part(&self.from, SENDER));
        out.extend_from_slice(b"] ");
        out.extend_from_slice(part(&self.subject, SUBJECT));
        for byte in &mut out {
            if *byte == b'\n' {
                *byte = b' ';
            }
        }
        // A subject that fills its room loses its last byte, as in dbacl 1.14.1.
        if let Some(last) = out.last_mut() {
            *last = b'\n';
        }
        out
    }
}

/// At most `length` bytes of a header line from `skip` on.
fn part(line: &[u8], (skip, length): (usize, usize)) -> &[u8] {
    let value = line.get(skip..).unwrap_or_default();
    &value[..value.len().min(length)]
}

/// The lines of a mailbox.
enum MailboxLines<'a> {
    /// As dbacl 1.14.1 reads them.
    Classic { stream: Stream<'a>, reader: LineReader, boundaries: Boundaries },
    /// Of a mailbox of any form.
    Any(MailReader<Box<dyn Read + 'a>>),
}

/// What was read.
struct Next {
    /// Where the line begins.
    start: u64,
    /// A message begins with this line, which stands before it.
    has_from: bool,
    /// The line is read.
    is_read: bool,
    /// No line follows.
    is_last: bool,
}

impl MailboxLines<'_> {
    fn next(&mut self, line: &mut Vec<u8>) -> io::Result<Next> {
        let start = self.position();
        match self {
            Self::Classic { stream, reader, boundaries } => {
                let is_last = reader.next_line(stream, line);
                let has_from = boundaries.begins(line);
                Ok(Next { start, has_from, is_read: true, is_last })
            }
            Self::Any(mail) => {
                line.clear();
                let kind = mail.next_line(line)?.map(|step| step.kind);
                let has_from = kind == Some(Kind::From);
                let is_read = kind != Some(Kind::Apart);
                Ok(Next { start, has_from, is_read, is_last: kind.is_none() })
            }
        }
    }

    /// Bytes before the next line.
    const fn position(&self) -> u64 {
        match self {
            Self::Classic { stream, .. } => stream.position(),
            Self::Any(mail) => mail.position(),
        }
    }

    /// The next line is read as if it were the first.
    fn restart(&mut self) {
        if let Self::Classic { reader, .. } = self {
            *reader = LineReader::default();
        }
    }

    /// Why reading ended, if it was an error.
    fn error(&mut self) -> Option<io::Error> {
        match self {
            Self::Classic { stream, .. } => stream.error(),
            Self::Any(_) => None,
        }
    }
}

/// Takes a message; breaks if no more are wanted.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(Entry) -> ControlFlow<()>;

/// Reads `input`, the mailbox's file number `file`, and hands its messages on in their order. With
/// `name`, the file may be a single message without a `From ` line, as in a maildir.
pub(crate) fn index(
    input: Box<dyn Read + '_>,
    file: usize,
    name: Option<&[u8]>,
    judge: &mut Judge,
    selection: &mut Selection,
    warnings: WarningSink<'_>,
    sink: Sink<'_>,
) -> io::Result<()> {
    let mut lines = if judge.reads_unicode() {
        let holds = if name.is_some() { Holds::One } else { Holds::Mailbox };
        MailboxLines::Any(MailReader::new(input, holds))
    } else {
        let (stream, reader) = (Stream::new(input), LineReader::default());
        MailboxLines::Classic { stream, reader, boundaries: Boundaries::default() }
    };
    let mut line = Vec::new();
    let mut header = Vec::with_capacity(HEADER_BYTES);
    let mut message: Option<Entry> = None;
    let exact = judge.is_exact;
    judge.start_file();
    loop {
        let Next { start, has_from, is_read, is_last } = lines.next(&mut line)?;
        if !is_read {
            continue;
        }
        let is_alone = message.is_none() && !line.is_empty() && name.is_some();
        let is_alone = is_alone && (start == 0 || judge.reads_unicode());
        if has_from || is_alone {
            if let Some(entry) = message.take()
                && finish(entry, start, judge, selection, warnings, sink).is_break()
            {
                return Ok(());
            }
            if exact {
                judge.begin();
                lines.restart();
            } else {
                judge.begin_mail();
            }
            selection.start();
            let mut entry = Entry { file, place: start..start, ..Entry::default() };
            if has_from {
                entry.position = lines.position();
                entry.from_line.clone_from(&line);
            } else if let Some(name) = name {
                entry.from_line = [name, b"\n"].concat();
            }
            message = Some(entry);
        }
        if let Some(entry) = &mut message {
            selection.line(&line);
            let slot = header_of(entry, &line);
            if slot.is_some() {
                header.clear();
                header.extend_from_slice(&line[..line.len().min(HEADER_BYTES)]);
            }
            let mut is_kept = judge.filter(&mut line);
            if judge.in_header()
                && let Some(slot) = slot
            {
                slot.clone_from(&header);
            }
            while is_kept {
                judge.score(&mut line, |_, _| {});
                is_kept = judge.next_text(&mut line);
            }
        } else {
            judge.filter(&mut line);
        }
        if is_last {
            break;
        }
    }
    if let Some(entry) = message {
        if !exact && !judge.reads_unicode() {
            judge.end(|judge, line| judge.score(line, |_, _| {}));
        }
        let _ = finish(entry, lines.position(), judge, selection, warnings, sink);
    }
    lines.error().map_or(Ok(()), Err)
}

/// The header that a line is, if the index keeps it.
fn header_of<'a>(entry: &'a mut Entry, line: &[u8]) -> Option<&'a mut Vec<u8>> {
    let is =
        |name: &[u8]| line.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name));
    match line.first()? {
        b'F' | b'f' if is(b"From:") => Some(&mut entry.from),
        b'S' | b's' if is(b"Subject:") => Some(&mut entry.subject),
        b'D' | b'd' if is(b"Date:") => Some(&mut entry.date),
        _ => None,
    }
}

fn finish(
    mut entry: Entry,
    at: u64,
    judge: &mut Judge,
    selection: &Selection,
    warnings: WarningSink<'_>,
    sink: Sink<'_>,
) -> ControlFlow<()> {
    if judge.is_exact || judge.reads_unicode() {
        judge.end(|judge, line| judge.score(line, |_, _| {}));
    }
    entry.place.end = at;
    entry.measures = judge.finish();
    judge.warnings().into_iter().for_each(warnings);
    entry.is_listed = selection.is_listed();
    sink(entry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::mailinspect::mail::sample;

    fn entries_of(text: &[u8], is_exact: bool, name: Option<&[u8]>) -> Vec<Entry> {
        let mut judge = sample::judge(&[("red", 3, 4.0), ("subject:", 10, 2.0)], is_exact);
        let mut found = Vec::new();
        let mut selection = Selection::default();
        index(Box::new(text), 0, name, &mut judge, &mut selection, &mut |_| {}, &mut |entry| {
            found.push(entry);
            ControlFlow::Continue(())
        })
        .expect("memory can be read");
        found
    }

    #[test]
    fn messages_begin_at_from_lines_behind_empty_lines() {
        for (text, places) in [
            ("", &[][..]),
            ("\n\n", &[]),
            ("no mail\nFrom a\n", &[]),
            ("From a", &[(0, 6, 6)]),
            ("From a\nX: y\n\nFrom b\n", &[(0, 7, 13), (13, 20, 20)]),
            ("From a\r\nX: y\r\n\r\nFrom b\r\n", &[(0, 8, 16), (16, 24, 24)]),
            ("no mail\n\nFrom a\n\nFrom text\n>From x\n", &[(9, 16, 17), (17, 27, 35)]),
            ("From a\n\nb\nFrom c\n \nFrom d\n", &[(0, 7, 26)]),
            ("From \0zero\n\nFrom b\n", &[(0, 11, 12), (12, 19, 19)]),
        ] {
            for is_exact in [false, true] {
                let found: Vec<(u64, u64, u64)> = entries_of(text.as_bytes(), is_exact, None)
                    .iter()
                    .map(|entry| (entry.place.start, entry.position, entry.place.end))
                    .collect();
                assert_eq!(found, places, "{text:?}");
            }
        }
    }

    #[test]
    fn files_of_folders_are_messages_without_from_lines() {
        let text = b"Subject: a\n\nFrom b\n\n";
        let found = entries_of(text, false, Some(b"cur/1"));
        let found: Vec<(&[u8], &[u8])> =
            found.iter().map(|entry| (&entry.from_line[..], &entry.subject[..])).collect();
        assert_eq!(found, [(&b"cur/1\n"[..], &b"Subject: a\n"[..]), (b"From b\n", b"")]);
    }

    #[test]
    fn summaries_cut_sender_and_subject() {
        let from = "From: ".to_owned() + &"f".repeat(30);
        let subject = "Subject: ".to_owned() + &"s".repeat(70);
        for (header, expected) in [
            ("X: y\n".to_owned(), "[]\n".to_owned()),
            ("from: dave\nSUBJECT: lunch\n".into(), "[dave ] lunch\n".into()),
            ("From: dave\n".into(), "[dave ]\n".into()),
            ("From:\nSubject:\n".into(), "[]\n".into()),
            ("Subject: one\n two\nSubject: three\n".into(), "[] three\n".into()),
            ("From: dave\r\nSubject: a\r\n".into(), "[dave\r ] a\r\n".into()),
            (format!("{from}\n{subject}\n"), format!("[{}] {}\n", "f".repeat(20), "s".repeat(59))),
        ] {
            let text = format!("From x\n{header}\nFrom: not\nSubject: this\n");
            let found = entries_of(text.as_bytes(), false, None);
            assert_eq!(String::from_utf8_lossy(&found[0].summary()), expected, "{header}");
        }
    }

    #[test]
    fn headers_of_parts_are_passed_over_and_those_of_inner_messages_count() {
        let text = "From x\nSubject: outer\nContent-Type: multipart/mixed; boundary=B\n\n--B\n\
                    Subject: part\n\ntext\n--B\nContent-Type: message/rfc822\n\nSubject: inner\n\n\
                    text\n";
        let found = entries_of(text.as_bytes(), false, None);
        assert_eq!(found[0].subject, b"Subject: inner\n");
        let text = text.replace("message/rfc822", "text/plain");
        let found = entries_of(text.as_bytes(), false, None);
        assert_eq!(found[0].subject, b"Subject: outer\n");
    }

    #[test]
    fn a_sink_can_stop_the_reading() {
        let mut judge = sample::judge(&[], false);
        let text: &[u8] = b"From a\n\nFrom b\n\nFrom c\n";
        let mut count = 0;
        let mut selection = Selection::default();
        let stopped =
            index(Box::new(text), 0, None, &mut judge, &mut selection, &mut |_| {}, &mut |_| {
                count += 1;
                if count == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
        assert_eq!((stopped.is_ok(), count), (true, 2));
    }

    #[test]
    fn any_bytes_are_read() {
        let mut state = 1_u32;
        let words: [&[u8]; 9] =
            [b"From ", b"\n", b"\n\n", b"\0", b"Subject: ", b"\xff", b"a b", b"--B\n", b"\r\n"];
        for _ in 0..200 {
            let mut text = Vec::new();
            for _ in 0..40 {
                state = state.wrapping_mul(1664525).wrapping_add(1013904223);
                text.extend_from_slice(words[(state >> 16) as usize % words.len()]);
            }
            let mut end = 0;
            for entry in entries_of(&text, false, None) {
                assert!(entry.place.start >= end && entry.place.end >= entry.position);
                end = entry.place.end;
            }
            assert!(end <= text.len() as u64);
        }
    }

    #[test]
    fn a_message_without_tokens_spoils_the_next_one_s_divergence() {
        let text =
            b"From a\nSubject: red red\n\nred\n\nFrom b\n\n\nFrom c\n\nred\n\nFrom d\n\nred red\n";
        let found = entries_of(text, false, None);
        let shown: Vec<String> = found
            .iter()
            .flat_map(|entry| entry.measures.scores)
            .map(|score| {
                let mut text = Vec::new();
                dbacl_numeric::cformat::fixed(&mut text, f64::from(score), 0, 1);
                String::from_utf8(text).expect("digits")
            })
            .collect();
        assert_eq!(shown[4..8], ["-nan", "-nan", "nan", "0.0"]);
        assert_eq!((&shown[10][..], &shown[14][..]), ("-inf", "inf"));
        let exact = entries_of(text, true, None);
        assert_eq!(exact[2].measures.scores[2], -4.0, "-(4 + 0) nats");
    }
}
