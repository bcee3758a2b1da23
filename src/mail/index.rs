// SPDX-License-Identifier: GPL-3.0-or-later
//! Where the messages of a mailbox stand, who they are from, and their scores (spec tools 2.1).
//!
//! One pass, line by line; a message's text is never held.

use std::io::{self, Read};
use std::ops::Range;

use super::judge::{Fidelity, Judge, Measures};
use super::select::Selection;
use crate::error::WarningSink;
use crate::input::lines::{LineReader, Stream};

/// Bytes of a header line that are kept.
const HEADER_BYTES: usize = 128;

/// The line that follows a file twice; it drives the decoders to their end.
const EXTRA: &[u8] = b"\r\n";

/// A message in the index.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Entry {
    /// Number of its file, from 0.
    pub file: usize,
    /// Where it stands in its file, from its `From ` line to before the next message's, bytes.
    pub place: Range<u64>,
    /// Offset behind its `From ` line, bytes.
    pub position: u64,
    /// Its `From ` line with its end; the file's name and a newline if it has none.
    pub from_line: Vec<u8>,
    /// The first 128 bytes of its last `From:` line; empty if there is none.
    pub from: Vec<u8>,
    /// The same of `Subject:`.
    pub subject: Vec<u8>,
    /// The same of `Date:`.
    pub date: Vec<u8>,
    /// Its scores.
    pub measures: Measures,
    /// Whether the selection lists it.
    pub is_listed: bool,
}

/// Bytes of sender and subject in a summary.
const SENDER: (usize, usize) = (6, 20);
const SUBJECT: (usize, usize) = (9, 60);

impl Entry {
    /// Sender and subject, as the list shows them with `-p 1` (spec tools 2.3).
    pub fn summary(&self) -> Vec<u8> {
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
        // A subject that fills its room loses its last byte, as in the reference.
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

/// One of the files of a mailbox.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// Its number, from 0.
    pub file: usize,
    /// If it may be a single message without a `From ` line, as in a maildir: its name.
    pub name: Option<&'a [u8]>,
}

/// What a caller wants after a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The next message.
    Go,
    /// Nothing more.
    Stop,
}

/// Reads `input` to its end and hands its messages on, in their order.
///
/// # Errors
/// A read error; messages before it have been handed on.
pub fn index(
    input: Box<dyn Read + '_>,
    part: Part<'_>,
    judge: &mut Judge,
    selection: &mut Selection,
    warnings: WarningSink<'_>,
    sink: &mut dyn FnMut(Entry) -> Next,
) -> io::Result<()> {
    let mut stream = Stream::new(input, None);
    let mut reader = LineReader::default();
    let mut line = Vec::new();
    let mut header = Vec::with_capacity(HEADER_BYTES);
    let mut message: Option<Entry> = None;
    let mut is_after_empty = true;
    let exact = judge.fidelity() == Fidelity::Exact;
    judge.start_file();
    loop {
        let start = stream.position();
        let is_last = reader.next_line(&mut stream, &mut line);
        let has_from = is_after_empty && line.starts_with(b"From ");
        let is_alone = message.is_none() && !line.is_empty() && start == 0;
        if has_from || is_alone && part.name.is_some() {
            if let Some(entry) = message.take()
                && finish(entry, start, judge, selection, warnings, sink) == Next::Stop
            {
                return Ok(());
            }
            if exact {
                judge.begin();
                reader = LineReader::default();
            }
            selection.start();
            let mut entry = Entry { file: part.file, place: start..start, ..Entry::default() };
            if has_from {
                entry.position = stream.position();
                entry.from_line.clone_from(&line);
            } else if let Some(name) = part.name {
                entry.from_line = [name, b"\n"].concat();
            }
            message = Some(entry);
        }
        if !line.is_empty() {
            is_after_empty = matches!(line.as_slice(), [b'\n', ..] | [b'\r', b'\n', ..]);
        }
        if let Some(entry) = &mut message {
            selection.line(&line);
            let slot = header_of(entry, &line);
            if slot.is_some() {
                header.clear();
                header.extend_from_slice(&line[..line.len().min(HEADER_BYTES)]);
            }
            let is_kept = judge.filter(&mut line);
            if judge.in_header()
                && let Some(slot) = slot
            {
                slot.clone_from(&header);
            }
            if is_kept {
                judge.score(&mut line, warnings, |_, _| {});
            }
        } else {
            judge.filter(&mut line);
        }
        if is_last {
            break;
        }
    }
    if let Some(entry) = message {
        if !exact {
            end(judge, warnings);
        }
        finish(entry, stream.position(), judge, selection, warnings, sink);
    }
    stream.error().map_or(Ok(()), Err)
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

/// The lines that follow the last.
fn end(judge: &mut Judge, warnings: WarningSink<'_>) {
    for _ in 0..2 {
        let mut line = EXTRA.to_vec();
        if judge.filter(&mut line) {
            judge.score(&mut line, warnings, |_, _| {});
        }
    }
}

fn finish(
    mut entry: Entry,
    at: u64,
    judge: &mut Judge,
    selection: &Selection,
    warnings: WarningSink<'_>,
    sink: &mut dyn FnMut(Entry) -> Next,
) -> Next {
    if judge.fidelity() == Fidelity::Exact {
        end(judge, warnings);
    }
    entry.place.end = at;
    entry.measures = judge.finish();
    entry.is_listed = selection.is_listed();
    sink(entry)
}
