// SPDX-License-Identifier: GPL-3.0-or-later
//! The beginning of a table → which of its columns hold labels and texts.
//!
//! ```text
//! names that were asked for ─→ names that are plain ─→ two columns, by what is in them ─→ an error
//! ```

use crate::corpus::document::{Columns, DataError, Reading};
use crate::corpus::label;
use csv::{ByteRecord, ReaderBuilder};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::Path;

/// Names of columns that hold labels, and such that hold texts, in lower case.
const LABELS: [&str; 9] =
    ["label", "labels", "class", "category", "intent", "topic", "sentiment", "emotion", "target"];
const TEXTS: [&str; 9] = [
    "text",
    "sentence",
    "message",
    "utterance",
    "content",
    "review",
    "tweet",
    "question",
    "comment",
];

/// Rows that are looked at.
const ROWS: usize = 200;

/// How a table is to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    /// What stands between fields.
    pub delimiter: u8,
    /// Whether the first row names the columns.
    pub has_heading: bool,
    /// Number of the column with the label, if one was asked for.
    pub label: Option<usize>,
    /// Numbers of the columns with the text.
    pub text: Vec<usize>,
    /// Number of the column that names a document, if one was asked for.
    pub id: Option<usize>,
    /// The names, if others than those that were asked for.
    pub found: Option<Columns>,
}

/// The layout of a table that begins so.
pub(crate) fn of_table(
    beginning: &[u8],
    path: &Path,
    reading: &Reading,
) -> Result<Layout, DataError> {
    let tables = [b',', b';', b'\t'].map(|delimiter| Beginning::new(beginning, delimiter));
    let ways = [Beginning::named, Beginning::plain, Beginning::only_two];
    let ways = &ways[..if reading.finds_columns { 3 } else { 1 }];
    let found = ways.iter().find_map(|way| tables.iter().find_map(|table| way(table, reading)));
    found.ok_or_else(|| missing(&tables, path, reading))
}

/// An error if columns were asked for by name of lines that have none.
pub(crate) fn check_unnamed(
    beginning: &[u8],
    path: &Path,
    reading: &Reading,
) -> Result<(), DataError> {
    let usual = Reading::default();
    let is_usual = reading.label == usual.label && reading.text == usual.text;
    if reading.id.is_none() && (reading.finds_columns || is_usual) {
        return Ok(());
    }
    let tables = [b',', b';', b'\t'].map(|delimiter| Beginning::new(beginning, delimiter));
    Err(missing(&tables, path, reading))
}

/// An error about the first column that was asked for and is not there; it names those that are,
/// divided by the sign that gives most.
fn missing(tables: &[Beginning], path: &Path, reading: &Reading) -> DataError {
    let names = tables.iter().map(Beginning::names).rev().max_by_key(Vec::len).unwrap_or_default();
    let mut wanted = reading.id.iter().chain(reading.label_wanted()).chain(&reading.text);
    let missing = wanted.find(|wanted| !names.contains(&wanted.as_str()));
    let missing = missing.map_or("text", String::as_str);
    let named: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    DataError::line(path, 1, format!("there is no column {missing:?}, but {}", named.join(", ")))
}

/// The layout of lines of label, tab and text, or of a text each, whose first line names columns:
/// those that were asked for, or for labels plain names.
pub(crate) fn of_heading(beginning: &[u8], delimiters: &[u8], reading: &Reading) -> Option<Layout> {
    let mut tables = delimiters.iter().map(|&delimiter| Beginning::new(beginning, delimiter));
    let heading = |table: Beginning| {
        let named = table.named(reading);
        let may_guess = reading.needs_label && reading.finds_columns;
        named.or_else(|| table.plain(reading).filter(|_| may_guess))
    };
    tables.find_map(heading)
}

/// The reading of JSON objects of which the first is so: with other names, if it has not those that
/// were asked for and it is plain which ones are meant.
pub(crate) fn of_objects(line: &[u8], reading: &Reading) -> Option<(Reading, Columns)> {
    let Ok(Value::Object(members)) = serde_json::from_slice(line) else { return None };
    let has = |wanted: &String| members.contains_key(wanted);
    let has_all = reading.label_wanted().into_iter().all(has) && reading.text.iter().all(has);
    if has_all || !reading.finds_columns {
        return None;
    }
    let names: Vec<String> = members.keys().cloned().collect();
    let name = |at: usize| names[at].clone();
    let text = name(only(&names, &TEXTS)?);
    let label = match reading.label_wanted() {
        Some(_) => name(only(&names, &LABELS)?),
        None => String::new(),
    };
    let other = Reading { label: label.clone(), text: vec![text.clone()], ..reading.clone() };
    Some((other, Columns { label, text }))
}

/// Whether a line is a JSON object with the members for the text that were asked for.
pub(crate) fn has_texts(line: &[u8], reading: &Reading) -> bool {
    let object = serde_json::from_slice(line).ok();
    let has_all = |members: Map<String, Value>| {
        reading.text.iter().all(|wanted| members.contains_key(wanted))
    };
    object.is_some_and(has_all)
}

/// The place of the only name that is one of `known`.
fn only(names: &[String], known: &[&str]) -> Option<usize> {
    let is_known = |name: &&String| known.contains(&name.trim().to_lowercase().as_str());
    let mut found = names.iter().filter(is_known);
    let first = found.next()?;
    found.next().is_none().then(|| names.iter().position(|name| name == first))?
}

/// The first rows of a table.
struct Beginning {
    delimiter: u8,
    rows: Vec<ByteRecord>,
}

impl Beginning {
    fn new(beginning: &[u8], delimiter: u8) -> Self {
        let mut reader = ReaderBuilder::new();
        reader.delimiter(delimiter).has_headers(false).flexible(true).quoting(delimiter != b'\t');
        let mut rows: Vec<ByteRecord> =
            reader.from_reader(beginning).byte_records().map_while(Result::ok).take(ROWS).collect();
        // The last row may be cut off.
        if rows.len() > 1 && rows.len() < ROWS && !beginning.ends_with(b"\n") {
            rows.pop();
        }
        Self { delimiter, rows }
    }

    fn names(&self) -> Vec<&str> {
        let text = |field| std::str::from_utf8(field).unwrap_or_default();
        self.rows.first().map(|row| row.iter().map(text).collect()).unwrap_or_default()
    }

    fn layout(&self, label: Option<usize>, text: Vec<usize>, id: Option<usize>) -> Layout {
        let delimiter = self.delimiter;
        Layout { delimiter, has_heading: true, label, text, id, found: None }
    }

    /// The columns of the names that were asked for.
    fn named(&self, reading: &Reading) -> Option<Layout> {
        let names = self.names();
        let place = |wanted: &String| names.iter().position(|name| name == wanted);
        let label = reading.label_wanted().map(|wanted| place(wanted).ok_or(()));
        let text: Option<Vec<usize>> = reading.text.iter().map(place).collect();
        let id = reading.id.as_ref().map(|wanted| place(wanted).ok_or(()));
        Some(self.layout(label.transpose().ok()?, text?, id.transpose().ok()?))
    }

    /// The columns whose names are plain.
    fn plain(&self, reading: &Reading) -> Option<Layout> {
        let names: Vec<String> = self.names().into_iter().map(str::to_owned).collect();
        let label = match reading.label_wanted() {
            Some(wanted) => {
                let named = names.iter().position(|name| name == wanted);
                Some(named.or_else(|| only(&names, &LABELS))?)
            }
            None => None,
        };
        let text = only(&names, &TEXTS)?;
        self.found(reading, label, text, true)
    }

    fn found(
        &self,
        reading: &Reading,
        label: Option<usize>,
        text: usize,
        has_heading: bool,
    ) -> Option<Layout> {
        let names = self.names();
        let id = match &reading.id {
            Some(wanted) => Some(names.iter().position(|name| name == wanted)?),
            None => None,
        };
        let name = |at: usize| {
            if has_heading { names[at].to_owned() } else { format!("number {}", at + 1) }
        };
        let found = Columns { label: label.map(name).unwrap_or_default(), text: name(text) };
        let found = Some(found);
        Some(Layout { has_heading, found, ..self.layout(label, vec![text], id) })
    }

    /// The only column, for a text; of two columns with label and text the label is where there are
    /// fewer different fields, which are all labels. The first row is not a heading if its label
    /// occurs again.
    fn only_two(&self, reading: &Reading) -> Option<Layout> {
        let columns = self.rows.first()?.len();
        if reading.label_wanted().is_none() {
            return (columns == 1).then(|| self.found(reading, None, 0, true))?;
        }
        let rows: Vec<&ByteRecord> =
            self.rows.iter().skip(1).filter(|row| row.len() == columns).collect();
        if columns != 2 || rows.len() < 2 {
            return None;
        }
        let fields = |at: usize| rows.iter().filter_map(move |row| row.get(at));
        let different = |at: usize| fields(at).collect::<BTreeSet<_>>();
        let values = [0, 1].map(different);
        let label = usize::from(values[1].len() < values[0].len());
        let is_plain = values[0].len() != values[1].len()
            && values[label].len() * 2 <= rows.len() + 1
            && values[label].iter().all(|value| label::check(value).is_ok());
        let first = self.rows.first()?.get(label)?;
        let has_heading = !values[label].contains(first);
        is_plain.then(|| self.found(reading, Some(label), 1 - label, has_heading))?
    }
}

#[cfg(test)]
mod tests {
    use crate::corpus::document::{Format, Reading};
    use crate::corpus::tests::documents;

    #[test]
    fn columns_are_found_where_it_is_plain_which_are_meant() {
        let reading = Reading { finds_columns: true, ..Reading::default() };
        for (name, text, expected) in [
            // By their names, whatever stands between fields.
            ("x.csv", "id,Sentiment,Review\n1,a,b\n", "a=b@2 columns Sentiment and Review"),
            ("x.csv", "text;label\nb;a\n", "a=b@2"),
            ("x.csv", "text\tlabel\nb, c\ta\n", "a=b, c@2"),
            ("x.tsv", "label\ttext\na\tb\n", "a=b@2 heading"),
            (
                "x.tsv",
                "id\tutterance\tintent\n1\tb \"c\ta\n",
                "a=b \"c@2 heading columns intent and utterance",
            ),
            ("x.tsv", "text\tlabel\n\"b \"\"c\"\"\"\ta\n", "a=b \"c\"@2 heading"),
            (
                "x.jsonl",
                "{\"intent\":\"a\",\"utterance\":\"b\"}\n",
                "a=b@1 columns intent and utterance",
            ),
            // By what is in them.
            ("x.csv", "v1,v2\na,b\na,c\nd,e\nd,f\n", "a=b@2 a=c@3 d=e@4 d=f@5 columns v1 and v2"),
            (
                "x.csv",
                "b,a\nc,a\ne,d\nf,d\n",
                "a=b@1 a=c@2 d=e@3 d=f@4 columns number 2 and number 1",
            ),
            // Not plain.
            (
                "x.csv",
                "body;class;topic\nb;a;c\n",
                "x.csv:1: there is no column \"label\", but \"body\", \"class\", \"topic\"",
            ),
            (
                "x.csv",
                "v1,v2\na,b\nc,d\n",
                "x.csv:1: there is no column \"label\", but \"v1\", \"v2\"",
            ),
            (
                "x.csv",
                "class,topic,text\na,b,c\n",
                "x.csv:1: there is no column \"label\", but \"class\", \"topic\", \"text\"",
            ),
            // No heading.
            ("x.tsv", "label\tof the text\n", "label=of the text@1"),
        ] {
            let found = documents(text.as_bytes(), name, &reading);
            assert_eq!(found.unwrap_or_else(|fault| fault), expected, "{text}");
        }
    }

    #[test]
    fn other_columns_than_those_asked_for_are_never_taken() {
        let text = vec!["body".to_owned()];
        let labelled = Reading { text, ..Reading::default() };
        let texts = Reading { needs_label: false, ..labelled.clone() };
        let id = Some("id".to_owned());
        let named = Reading { needs_label: false, finds_columns: true, id, ..Reading::default() };
        let json = Some(Format::Ndjson);
        for (reading, format, text, expected) in [
            (&labelled, None, "label\ttext\na\tb\n", "no column \"body\", but \"label\", \"text\""),
            (&labelled, None, "a\tb\n", "no column \"label\", but \"a\", \"b\""),
            (&labelled, None, "__label__a b\n", "no column \"label\", but \"__label__a b\""),
            (&labelled, None, "{\"label\":\"a\",\"text\":\"b\"}\n", "no member \"body\""),
            (&texts, None, "text\nb\n", "no column \"body\", but \"text\""),
            (&texts, None, "b\n", "no column \"body\", but \"b\""),
            (&texts, json, "{\"text\":\"b\"}\n", "no member \"body\""),
            (&texts, None, "id,body\n1,b\n", "=b@2 heading"),
            (&named, None, "b\n", "no column \"id\", but \"b\""),
        ] {
            let reading = Reading { format, ..reading.clone() };
            let found = documents(text.as_bytes(), "x", &reading).unwrap_or_else(|fault| fault);
            assert!(found.contains(expected), "{text}: {found}");
        }
    }

    #[test]
    fn texts_alone_are_a_table_if_the_first_line_says_so() {
        let reading = Reading { needs_label: false, finds_columns: true, ..Reading::default() };
        for (name, text, expected) in [
            ("-", "id,text\n1,\"b, c\"\n", "=b, c@2 heading"),
            ("-", "text\nb\n", "=b@2 heading"),
            ("x.tsv", "label\ttext\na\tb\n", "=b@2 heading"),
            ("-", "the text, and more\nb\n", "=the text, and more@1 =b@2"),
            ("-", "{\"text\":\"b\"}\n{\"text\":\"c\"}\n", "=b@1 =c@2 heading"),
            ("-", "{\"other\":\"b\"}\n", "={\"other\":\"b\"}@1"),
            ("x.csv", "title\nb\n", "=b@2 columns  and title"),
        ] {
            let found = documents(text.as_bytes(), name, &reading);
            assert_eq!(found.unwrap_or_else(|fault| fault), expected, "{text}");
        }
    }
}
