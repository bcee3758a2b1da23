// SPDX-License-Identifier: GPL-3.0-or-later
//! Documents that are lines.

use crate::corpus::document::{DataError, Format, LONGEST, Notes, Reading, Record, To};
use crate::corpus::label;
use serde_json::Value;
use std::io::{BufRead, Read};
use std::path::Path;

/// How fastText marks labels.
const LABEL: &[u8] = b"__label__";

/// Bytes of a line beside its text: label, names of members, escapes.
const AROUND: usize = 1 << 16;

/// The words of a line that are labels, without their mark.
pub(crate) fn labels(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    words(line).filter_map(|word| word.strip_prefix(LABEL))
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// What a line spells beside its text.
#[derive(Debug, Default)]
pub struct Fields {
    /// The label; several stand in lines. Empty where none is asked for.
    pub label: String,
    /// What names the document, where that is asked for.
    pub id: String,
}

/// The text of a line of `format`, which comes without its end; `room` holds texts that do not
/// stand in the line as they are.
///
/// # Errors
/// What is wrong with the line.
pub fn read_line<'a>(
    line: &'a [u8],
    (format, reading): (Format, &Reading),
    fields: &mut Fields,
    room: &'a mut Vec<u8>,
) -> Result<&'a [u8], LineFault> {
    match format {
        Format::Tsv => tsv(line, reading, &mut fields.label),
        Format::FastText => fasttext(line, reading, &mut fields.label, room),
        Format::Ndjson => ndjson(line, reading, fields, room),
        Format::Csv | Format::Folder | Format::Lines => Ok(line),
    }
}

/// What is wrong with a line.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct LineFault {
    /// For people.
    pub what: String,
    /// Whether the document has several labels where one is expected.
    pub has_several: bool,
}

impl LineFault {
    fn at(self, path: &Path, line: u64) -> DataError {
        let Self { what, has_several } = self;
        DataError::Line { path: path.to_path_buf(), line, what, has_several }
    }
}

impl From<String> for LineFault {
    fn from(what: String) -> Self {
        Self { what, has_several: false }
    }
}

impl From<&str> for LineFault {
    fn from(what: &str) -> Self {
        what.to_owned().into()
    }
}

/// Reads the documents of `input`, lines of the format.
pub(crate) fn read(
    mut input: impl BufRead,
    path: &Path,
    (format, reading): (Format, &Reading),
    to: &mut To<'_>,
    mut notes: Notes,
) -> Result<Notes, DataError> {
    let (mut line, mut room, mut fields) = (Vec::new(), Vec::new(), Fields::default());
    let io = |error| DataError::io(path, error);
    for number in 1.. {
        line.clear();
        // One byte more than a line may have.
        let mut limited = (&mut input).take((LONGEST + AROUND + 1) as u64);
        if limited.read_until(b'\n', &mut line).map_err(io)? == 0 {
            break;
        }
        if line.len() > LONGEST + AROUND {
            (to.refuse)(DataError::too_long(path, number))?;
            if !line.ends_with(b"\n") {
                input.skip_until(b'\n').map_err(io)?;
            }
            continue;
        }
        if line.ends_with(b"\n") {
            line.pop();
        }
        if line.ends_with(b"\r") {
            line.pop();
        }
        let is_empty = line.iter().all(|byte| byte.is_ascii_whitespace() && *byte != b'\t');
        if is_empty && format != Format::Lines {
            if reading.needs_label {
                notes.pass_over(number);
                continue;
            }
            // A text without words still wants its answer.
            (to.take)(Record { label: "", id: "", text: b"", line: number, file: path })?;
            continue;
        }
        match read_line(&line, (format, reading), &mut fields, &mut room) {
            Err(fault) => (to.refuse)(fault.at(path, number))?,
            Ok(text) if text.len() > LONGEST => {
                (to.refuse)(DataError::too_long(path, number))?;
            }
            Ok(text) => {
                let Fields { label, id } = &fields;
                (to.take)(Record { label, id, text, line: number, file: path })?;
            }
        }
    }
    Ok(notes)
}

/// Puts the label, or the labels, that `bytes` spell into `name`.
pub(crate) fn set_label(name: &mut String, bytes: &[u8], reading: &Reading) -> Result<(), String> {
    name.clear();
    if !reading.has_several {
        return add_label(name, bytes.trim_ascii());
    }
    let all = std::str::from_utf8(bytes).map_err(|_| label::LabelFault::NotUtf8.to_string())?;
    if all.trim().is_empty() {
        return Ok(());
    }
    let separator = if reading.separator.is_empty() { "\n" } else { &reading.separator };
    all.split(separator).try_for_each(|label| add_label(name, label.trim().as_bytes()))
}

/// Adds a label to those in `name`.
fn add_label(name: &mut String, bytes: &[u8]) -> Result<(), String> {
    let label = label::check(bytes).map_err(|fault| fault.to_string())?;
    if !name.is_empty() {
        name.push('\n');
    }
    name.push_str(label);
    Ok(())
}

fn tsv<'a>(line: &'a [u8], reading: &Reading, name: &mut String) -> Result<&'a [u8], LineFault> {
    let tab = line.iter().position(|&byte| byte == b'\t');
    let tab = tab.ok_or("there is no tab between label and text")?;
    if reading.needs_label {
        set_label(name, &line[..tab], reading)?;
    }
    Ok(&line[tab + 1..])
}

fn fasttext<'a>(
    line: &[u8],
    reading: &Reading,
    name: &mut String,
    text: &'a mut Vec<u8>,
) -> Result<&'a [u8], LineFault> {
    if reading.needs_label {
        name.clear();
        let found: Vec<&[u8]> = labels(line).collect();
        match found.as_slice() {
            several if reading.has_several => {
                several.iter().try_for_each(|label| add_label(name, label))?;
            }
            [] => return Err("there is no label".into()),
            [own] => add_label(name, own)?,
            [first, .., last] => {
                let [first, last] = [first, last].map(|label| String::from_utf8_lossy(label));
                let (number, and) = (found.len(), if found.len() == 2 { " and " } else { " to " });
                let what = format!("there are {number} labels, {first}{and}{last}, not one only");
                return Err(LineFault { what, has_several: true });
            }
        }
    }
    text.clear();
    for word in words(line).filter(|word| !word.starts_with(LABEL)) {
        if !text.is_empty() {
            text.push(b' ');
        }
        text.extend_from_slice(word);
    }
    Ok(text)
}

fn ndjson<'a>(
    line: &[u8],
    reading: &Reading,
    Fields { label: name, id }: &mut Fields,
    text: &'a mut Vec<u8>,
) -> Result<&'a [u8], LineFault> {
    // Lines that are right are not looked at twice.
    let value: serde_json::Result<Value> = serde_json::from_slice(line)
        .or_else(|error| halves_mended(line).map_or(Err(error), |it| serde_json::from_slice(&it)));
    let value = value.map_err(|error| {
        // The position is that in the line, which is a file of its own to the parser.
        let what = error.to_string();
        let what = what.split(" at line ").next().unwrap_or_default();
        format!("it is no JSON: {what}, at byte {}", error.column())
    })?;
    let Value::Object(members) = value else { return Err("it is no JSON object".into()) };
    let member = |wanted: &str| {
        members.get(wanted).ok_or_else(|| {
            let names: Vec<String> = members.keys().map(|name| format!("{name:?}")).collect();
            let others = if names.is_empty() { "nothing".into() } else { names.join(", ") };
            format!("there is no member {wanted:?}, but {others}")
        })
    };
    if reading.needs_label {
        let plain = |value: &Value| match value {
            Value::String(text) => Ok(text.clone()),
            other @ (Value::Number(_) | Value::Bool(_)) => Ok(other.to_string()),
            _ => Err(format!("the member {:?} is not a string", reading.label)),
        };
        match member(&reading.label)? {
            Value::Array(labels) if reading.has_several => {
                name.clear();
                for label in labels {
                    add_label(name, plain(label)?.as_bytes())?;
                }
            }
            Value::Array(labels) if labels.len() > 1 => {
                let what =
                    format!("the member {:?} is a list of labels, not one only", reading.label);
                return Err(LineFault { what, has_several: true });
            }
            one => set_label(name, plain(one)?.as_bytes(), reading)?,
        }
    }
    if let Some(wanted) = &reading.id {
        *id = match member(wanted)? {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
    }
    text.clear();
    for (at, wanted) in reading.text.iter().enumerate() {
        if at > 0 {
            text.push(b'\n');
        }
        match member(wanted)? {
            Value::String(own) => text.extend_from_slice(own.as_bytes()),
            Value::Null => {}
            own @ (Value::Number(_) | Value::Bool(_)) => {
                text.extend_from_slice(own.to_string().as_bytes());
            }
            _ => return Err(format!("the member {wanted:?} is not a string").into()),
        }
    }
    Ok(text)
}

/// A line of JSON with U+FFFD in place of each escape of half a surrogate pair, which texts have
/// where they were cut by 16-bit units; `None` if there is no such escape.
fn halves_mended(line: &[u8]) -> Option<Vec<u8>> {
    let unit_at = |at: usize| -> Option<u16> {
        let digits = line.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let (mut mended, mut at, mut is_mended) = (line.to_vec(), 0, false);
    while at < line.len() {
        let length = match unit_at(at) {
            Some(0xd800..=0xdbff) if matches!(unit_at(at + 6), Some(0xdc00..=0xdfff)) => 12,
            Some(0xd800..=0xdfff) => {
                mended[at + 2..at + 6].copy_from_slice(b"fffd");
                is_mended = true;
                6
            }
            _ if line[at] == b'\\' => 2,
            _ => 1,
        };
        at += length;
    }
    is_mended.then_some(mended)
}
