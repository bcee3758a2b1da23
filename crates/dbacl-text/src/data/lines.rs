// SPDX-License-Identifier: GPL-3.0-or-later
//! Documents that are lines.

use super::{DataError, Format, LONGEST, Notes, Reading, Record, Sink};
use crate::label;
use serde_json::Value;
use std::io::{BufRead, Read};
use std::path::Path;

/// How fastText marks labels.
const LABEL: &[u8] = b"__label__";

/// Bytes of a line beside its text: label, names of members, escapes.
const AROUND: usize = 1 << 16;

/// The words of a line that are labels, without their mark.
pub fn labels(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    words(line).filter_map(|word| word.strip_prefix(LABEL))
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// Reads the documents of `input`, lines of the format.
pub fn read(
    mut input: impl BufRead,
    path: &Path,
    (format, reading): (Format, &Reading),
    take: Sink<'_>,
) -> Result<Notes, DataError> {
    let mut notes = Notes::default();
    let (mut line, mut text, mut name) = (Vec::new(), Vec::new(), String::new());
    for number in 1.. {
        line.clear();
        // One byte more than a line may have.
        let mut limited = (&mut input).take((LONGEST + AROUND + 1) as u64);
        let read = limited.read_until(b'\n', &mut line);
        if read.map_err(|error| DataError::io(path, error))? == 0 {
            break;
        }
        if line.len() > LONGEST + AROUND {
            return Err(DataError::too_long(path, number));
        }
        if line.ends_with(b"\n") {
            line.pop();
        }
        if line.ends_with(b"\r") {
            line.pop();
        }
        if line.is_empty() && format != Format::Lines {
            if reading.needs_label {
                notes.pass_over(number);
                continue;
            }
            // A text without words still wants its answer.
            take(Record { label: "", text: b"", line: number, file: path })?;
            continue;
        }
        let text = match format {
            Format::Tsv => tsv(&line, reading, &mut name),
            Format::FastText => fasttext(&line, reading, &mut name, &mut text),
            Format::Ndjson => ndjson(&line, reading, &mut name, &mut text),
            Format::Csv | Format::Folder | Format::Lines => Ok(line.as_slice()),
        };
        let text = text.map_err(|what| DataError::line(path, number, what))?;
        if text.len() > LONGEST {
            return Err(DataError::too_long(path, number));
        }
        take(Record { label: &name, text, line: number, file: path })?;
    }
    Ok(notes)
}

/// Puts the label that `bytes` spell into `name`.
fn set_label(name: &mut String, bytes: &[u8]) -> Result<(), String> {
    let label = label::check(bytes).map_err(|fault| fault.to_string())?;
    name.clear();
    name.push_str(label);
    Ok(())
}

fn tsv<'a>(line: &'a [u8], reading: &Reading, name: &mut String) -> Result<&'a [u8], String> {
    let tab = line.iter().position(|&byte| byte == b'\t');
    let tab = tab.ok_or("there is no tab between label and text")?;
    if reading.needs_label {
        set_label(name, &line[..tab])?;
    }
    Ok(&line[tab + 1..])
}

fn fasttext<'a>(
    line: &[u8],
    reading: &Reading,
    name: &mut String,
    text: &'a mut Vec<u8>,
) -> Result<&'a [u8], String> {
    if reading.needs_label {
        let found: Vec<&[u8]> = labels(line).collect();
        match found.as_slice() {
            [] => return Err("there is no label".into()),
            [own] => set_label(name, own)?,
            [first, .., last] => {
                let [first, last] = [first, last].map(|label| String::from_utf8_lossy(label));
                let (number, and) = (found.len(), if found.len() == 2 { " and " } else { " to " });
                return Err(format!(
                    "there are {number} labels, {first}{and}{last}: a document can be learned \
                     with one only"
                ));
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
    name: &mut String,
    text: &'a mut Vec<u8>,
) -> Result<&'a [u8], String> {
    let value: Value = serde_json::from_slice(line).map_err(|error| {
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
        let label = match member(&reading.label)? {
            Value::String(text) => text.clone(),
            other @ (Value::Number(_) | Value::Bool(_)) => other.to_string(),
            _ => return Err(format!("the member {:?} is no string", reading.label)),
        };
        set_label(name, label.as_bytes())?;
    }
    text.clear();
    for (at, wanted) in reading.text.iter().enumerate() {
        if at > 0 {
            text.push(b'\n');
        }
        match member(wanted)? {
            Value::String(own) => text.extend_from_slice(own.as_bytes()),
            Value::Null => {}
            _ => return Err(format!("the member {wanted:?} is no string")),
        }
    }
    Ok(text)
}
