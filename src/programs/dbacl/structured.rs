// SPDX-License-Identifier: GPL-3.0-or-later
//! Results for programs: JSON, NDJSON and TSV (`--format`; `docs/formats.md`).

use crate::fit::rule::Decision;
use crate::model::moments::Moments;
use crate::score::confidence::confidence;
use crate::score::document::{CategoryScore, best, percentages};
use crate::score::model::Model;
use dbacl_cli::json::Json;
use dbacl_numeric::elementary::bits;
use serde_json::value::RawValue;
use std::io::Write;

/// Numbers of each category.
const SCORES: [&str; 5] = ["score", "cross_entropy", "complexity", "probability", "confidence"];

/// A form of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// One array of all results.
    Json,
    /// One object a line.
    Ndjson,
    /// A heading, then one line a document.
    Tsv,
}

/// What to say of another form.
pub(super) const FORMATS: &str = "--format needs one of json, ndjson, tsv";

impl Format {
    pub(super) fn by_name(name: &[u8]) -> Option<Self> {
        match name {
            b"json" => Some(Self::Json),
            b"ndjson" => Some(Self::Ndjson),
            b"tsv" => Some(Self::Tsv),
            _ => None,
        }
    }

    /// Appends the text before all results.
    pub(super) fn begin(self, out: &mut Vec<u8>, models: &[Model]) {
        if self != Self::Tsv {
            return;
        }
        let names: Vec<&[u8]> = models.iter().map(|model| model.name.as_slice()).collect();
        self.heading(out, "id\tbest", (&names, &SCORES), &[]);
    }

    /// Appends the heading of TSV: columns for every document, those of each category, and texts.
    pub(super) fn heading(
        self,
        out: &mut Vec<u8>,
        first: &str,
        (names, columns): (&[&[u8]], &[&str]),
        texts: &[&str],
    ) {
        if self != Self::Tsv {
            return;
        }
        out.extend_from_slice(first.as_bytes());
        for name in names {
            for column in columns {
                out.push(b'\t');
                escape(out, &String::from_utf8_lossy(name));
                out.extend_from_slice(format!(".{column}").as_bytes());
            }
        }
        for text in texts {
            out.extend_from_slice(format!("\t{text}").as_bytes());
        }
        out.push(b'\n');
    }

    /// Appends the text before a result.
    pub(super) fn separate(self, out: &mut Vec<u8>, first: bool) {
        if self == Self::Json {
            out.extend_from_slice(if first { b"[" } else { b",\n " });
        }
    }

    /// Appends the text after all results.
    pub(super) fn end(self, out: &mut Vec<u8>, any: bool) {
        if self == Self::Json {
            out.extend_from_slice(if any { b"]\n" } else { b"[]\n" });
        }
    }

    /// Appends a document's result. `id` is JSON; in TSV a string stands without quotes.
    /// `confident` asks for confidences.
    pub(super) fn result<'m>(
        self,
        out: &mut Vec<u8>,
        id: &Id<'_>,
        models: &'m [Model],
        category_scores: &[CategoryScore],
        confident: bool,
    ) {
        let shares = percentages(category_scores);
        let row = |((model, category_score), share): ((&'m Model, &CategoryScore), &f64)| {
            let confidence =
                if confident { confidence_of(model, category_score) } else { f64::NAN };
            let numbers = [
                bits(-category_score.score),
                bits(-category_score.mean()),
                category_score.complexity,
                share / 100.0,
                confidence,
            ];
            (model.name.as_slice(), numbers)
        };
        let rows: Vec<_> = models.iter().zip(category_scores).zip(&shares).map(row).collect();
        self.found(out, id, (best(category_scores), None), SCORES, &rows, &[]);
    }

    /// Appends what was found of a document: the number of the best category, the verdict if there
    /// is one, for each category its name and the numbers of these `columns`, and texts with their
    /// names.
    pub(super) fn found<const N: usize>(
        self,
        out: &mut Vec<u8>,
        id: &Id<'_>,
        (best, verdict): (usize, Option<&Decision>),
        columns: [&str; N],
        rows: &[(&[u8], [f64; N])],
        texts: &[(&str, String)],
    ) {
        let name = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let unsure = |verdict: &Decision| if verdict.is_unsure { "true" } else { "false" };
        if self == Self::Tsv {
            escape(out, &id.plain());
            out.push(b'\t');
            escape(out, &name(rows[best].0));
            if let Some(verdict) = verdict {
                out.extend_from_slice(format!("\t{}", unsure(verdict)).as_bytes());
                append_number(out, verdict.probability);
            }
            let numbers = rows.iter().flat_map(|(_, numbers)| numbers);
            numbers.for_each(|&number| append_number(out, number));
            for (_, text) in texts {
                out.push(b'\t');
                escape(out, text);
            }
            out.push(b'\n');
            return;
        }
        self.object(out, |json| {
            id.write(json.key("id"));
            json.key("best").string(&name(rows[best].0));
            if let Some(verdict) = verdict {
                json.key("unsure").raw(unsure(verdict));
                json.key("probability").number(verdict.probability);
            }
            json.key("categories").array(|json| {
                for (bytes, numbers) in rows {
                    json.object(|json| {
                        json.key("name").string(&name(bytes));
                        for (column, &number) in columns.iter().zip(numbers) {
                            json.key(column).number(positive(number));
                        }
                    });
                }
            });
            for (name, text) in texts {
                json.key(name).string(text);
            }
        });
    }

    /// Appends the reason why there is no result, in its place.
    pub(super) fn fault(self, out: &mut Vec<u8>, id: &Id<'_>, why: &str) {
        if self == Self::Tsv {
            escape(out, &id.plain());
            out.extend_from_slice(b"\t# ");
            escape(out, why);
            out.push(b'\n');
            return;
        }
        self.object(out, |json| {
            id.write(json.key("id"));
            json.key("error").string(why);
        });
    }

    /// Appends a JSON object, in NDJSON as a line.
    fn object(self, out: &mut Vec<u8>, fill: impl FnOnce(&mut Json)) {
        let mut json = Json::new();
        json.object(fill);
        out.extend_from_slice(json.into_text().as_bytes());
        if self == Self::Ndjson {
            out.push(b'\n');
        }
    }
}

/// The identifier of a document in results.
#[derive(Debug)]
pub(super) enum Id<'a> {
    /// A file's name.
    Name(&'a [u8]),
    /// The `id` of a record: any JSON, given back as it was written.
    Json(&'a RawValue),
    /// Number of the record, from 1.
    Number(u64),
}

impl Id<'_> {
    fn write(&self, json: &mut Json) {
        match self {
            Self::Name(name) => json.string(&String::from_utf8_lossy(name)),
            Self::Json(value) => json.raw(value.get()),
            Self::Number(number) => json.integer(*number),
        }
    }

    fn plain(&self) -> String {
        match self {
            Self::Name(name) => String::from_utf8_lossy(name).into_owned(),
            // A string stands for itself, any other value for its JSON.
            Self::Json(value) => {
                serde_json::from_str(value.get()).unwrap_or_else(|_| value.get().to_owned())
            }
            Self::Number(number) => number.to_string(),
        }
    }
}

/// 0 for minus 0.
fn positive(number: f64) -> f64 {
    if number == 0.0 { 0.0 } else { number }
}

/// A probability, 0..=2 as `-X` has it.
fn confidence_of(model: &Model, category_score: &CategoryScore) -> f64 {
    let moments = model.header().map_or(Moments::default(), |header| header.moments);
    f64::from(confidence(category_score.divergence, &moments).0) / 1000.0
}

/// A TSV field with a number; an empty one if it is none.
fn append_number(out: &mut Vec<u8>, number: f64) {
    out.push(b'\t');
    if !number.is_nan() {
        // writing to a Vec cannot fail
        let _ = write!(out, "{:?}", positive(number));
    }
}

/// A TSV field: tabs, line ends and backslashes are written as `\t`, `\n`, `\r` and `\\`.
pub(super) fn escape(out: &mut Vec<u8>, text: &str) {
    for &byte in text.as_bytes() {
        match byte {
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            other => out.push(other),
        }
    }
}
