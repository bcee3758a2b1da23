// SPDX-License-Identifier: GPL-3.0-or-later
//! Documents that are rows of a table.

use crate::document::{DataError, LONGEST, Notes, Reading, Record, Sink};
use crate::lines::set_label;
use csv::{ByteRecord, ErrorKind, ReaderBuilder};
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

/// Reads the rows of `input`, whose first one names the columns.
pub(crate) fn read(
    input: impl Read,
    path: &Path,
    reading: &Reading,
    take: Sink<'_>,
) -> Result<Notes, DataError> {
    let watched = Watched { input, quotes: 0, bytes: 0 };
    let mut rows = ReaderBuilder::new().buffer_capacity(1 << 16).from_reader(watched);
    let names = rows.byte_headers().map_err(|error| refusal(path, 1, error))?.clone();
    let column = |wanted: &str| {
        names.iter().position(|name| name == wanted.as_bytes()).ok_or_else(|| {
            let names: Vec<String> =
                names.iter().map(|name| format!("{:?}", String::from_utf8_lossy(name))).collect();
            let what = format!("there is no column {wanted:?}, but {}", names.join(", "));
            DataError::line(path, 1, what)
        })
    };
    let label_at = if reading.needs_label { Some(column(&reading.label)?) } else { None };
    let text_at: Vec<usize> =
        reading.text.iter().map(|name| column(name)).collect::<Result<_, _>>()?;
    let id_at = reading.id.as_deref().map(column).transpose()?;
    let (mut row, mut text, mut name) = (ByteRecord::new(), Vec::new(), String::new());
    let (mut line, mut has_lines) = (1, false);
    loop {
        rows.get_mut().bytes = 0;
        let next = rows.position().line();
        if !rows.read_byte_record(&mut row).map_err(|error| refusal(path, next, error))? {
            break;
        }
        line = row.position().map_or(next, csv::Position::line);
        has_lines = row.iter().any(|field| field.contains(&b'\n'));
        text.clear();
        for (number, &at) in text_at.iter().enumerate() {
            if number > 0 {
                text.push(b'\n');
            }
            text.extend_from_slice(row.get(at).unwrap_or_default());
        }
        if text.len() > LONGEST {
            return Err(DataError::too_long(path, line));
        }
        if let Some(at) = label_at {
            set_label(&mut name, row.get(at).unwrap_or_default(), reading)
                .map_err(|what| DataError::line(path, line, what))?;
        }
        let id = id_at.and_then(|at| row.get(at)).map(String::from_utf8_lossy).unwrap_or_default();
        take(Record { label: &name, id: &id, text: &text, line, file: path })?;
    }
    // A mark that stands alone took the rest of the table into the last row.
    if has_lines && rows.get_ref().quotes % 2 == 1 {
        return Err(DataError::line(path, line, "a quoted field does not end"));
    }
    Ok(Notes::default())
}

/// What a refusal of the reader says of the file; the row that could not be read begins at `line`.
fn refusal(path: &Path, line: u64, error: csv::Error) -> DataError {
    let line = error.position().map_or(line, csv::Position::line);
    match error.into_kind() {
        ErrorKind::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            DataError::too_long(path, line)
        }
        ErrorKind::Io(error) => DataError::io(path, error),
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            let what = format!("the row has {len} fields, the first one has {expected_len}");
            DataError::line(path, line, what)
        }
        _ => DataError::line(path, line, "the row cannot be read"),
    }
}
