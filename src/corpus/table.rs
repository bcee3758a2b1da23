// SPDX-License-Identifier: GPL-3.0-or-later
//! Documents that are rows of a table.

use crate::corpus::columns::Layout;
use crate::corpus::document::{DataError, LONGEST, Notes, Reading, Record, To};
use crate::corpus::lines::set_label;
use csv::{ByteRecord, ErrorKind, ReaderBuilder};
use std::borrow::Cow;
use std::io::{self, Read};
use std::path::Path;

/// Bytes of a row beside its text.
const AROUND: u64 = 1 << 20;

/// An input that is watched, so that a quotation mark without an end does not take all memory.
struct Watched<R> {
    input: R,
    /// Quotation marks so far: in whole rows they come in pairs.
    quotes: u64,
    /// Bytes since the last row began.
    bytes: u64,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.quotes += buffer[..read].iter().map(|&byte| u64::from(byte == b'"')).sum::<u64>();
        self.bytes += read as u64;
        if self.bytes > LONGEST as u64 + AROUND {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(read)
    }
}

/// Reads the rows of `input`.
pub(crate) fn read(
    input: impl Read,
    path: &Path,
    (reading, layout): (&Reading, Layout),
    to: &mut To<'_>,
    mut notes: Notes,
) -> Result<Notes, DataError> {
    let watched = Watched { input, quotes: 0, bytes: 0 };
    let mut builder = ReaderBuilder::new();
    // Rows of other lengths are refused one by one. What stands between tabs is seldom quoted, and
    // often has single quotation marks.
    let is_quoted = layout.delimiter != b'\t';
    builder.delimiter(layout.delimiter).has_headers(false).flexible(true).quoting(is_quoted);
    let mut rows = builder.buffer_capacity(1 << 16).from_reader(watched);
    let mut next_row = |row: &mut ByteRecord| {
        rows.get_mut().bytes = 0;
        let line = rows.position().line();
        let is_there = rows.read_byte_record(row).map_err(|error| refusal(path, line, error))?;
        Ok((is_there, rows.get_ref().quotes % 2 == 1))
    };
    let (mut row, mut text, mut name) = (ByteRecord::new(), Vec::new(), String::new());
    // The row after one with line ends is read at once: `ahead`, and what reading it brought.
    let (mut ahead, mut following) = (ByteRecord::new(), None);
    let mut fields = None;
    loop {
        let read = following.take().inspect(|_| std::mem::swap(&mut row, &mut ahead));
        let (is_there, _) = read.unwrap_or_else(|| next_row(&mut row))?;
        if !is_there {
            break;
        }
        let line = row.position().map_or(1, csv::Position::line);
        if is_quoted && row.iter().any(|field| field.contains(&b'\n')) {
            let read = next_row(&mut ahead);
            // A mark that stands alone took the rest of the table into the last row.
            if matches!(read, Ok((false, true))) {
                return Err(DataError::line(path, line, "a quoted field does not end"));
            }
            following = Some(read);
        }
        let is_first = fields.is_none();
        let expected = *fields.get_or_insert(row.len());
        if is_first && layout.has_heading {
            continue;
        }
        if row.len() != expected {
            let what = format!("the row has {} fields, the first one has {expected}", row.len());
            (to.refuse)(DataError::line(path, line, what))?;
            continue;
        }
        let field = |at: usize| row.get(at).unwrap_or_default();
        text.clear();
        for (number, &at) in layout.text.iter().enumerate() {
            if number > 0 {
                text.push(b'\n');
            }
            text.extend_from_slice(&unquoted(field(at), is_quoted));
        }
        if text.len() > LONGEST {
            (to.refuse)(DataError::too_long(path, line))?;
            continue;
        }
        if let Some(at) = layout.label
            && let Err(what) = set_label(&mut name, &unquoted(field(at), is_quoted), reading)
        {
            (to.refuse)(DataError::line(path, line, what))?;
            continue;
        }
        let id = layout.id.map(|at| String::from_utf8_lossy(field(at))).unwrap_or_default();
        (to.take)(Record { label: &name, id: &id, text: &text, line, file: path })?;
    }
    notes.columns = layout.found;
    Ok(notes)
}

/// A field without the marks around it, where the reader of rows has left them.
fn unquoted(field: &[u8], is_read: bool) -> Cow<'_, [u8]> {
    let inner = field.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
    let Some(inner) = inner.filter(|_| !is_read) else { return Cow::Borrowed(field) };
    let mut plain = Vec::new();
    let mut bytes = inner.iter().peekable();
    while let Some(&byte) = bytes.next() {
        if byte == b'"' {
            bytes.next_if_eq(&&b'"');
        }
        plain.push(byte);
    }
    Cow::Owned(plain)
}

/// What a refusal of the reader says of the file; the row that could not be read begins at `line`.
fn refusal(path: &Path, line: u64, error: csv::Error) -> DataError {
    let line = error.position().map_or(line, csv::Position::line);
    match error.into_kind() {
        ErrorKind::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            DataError::too_long(path, line)
        }
        ErrorKind::Io(error) => DataError::io(path, error),
        _ => DataError::line(path, line, "the row cannot be read"),
    }
}
