// SPDX-License-Identifier: GPL-3.0-or-later
//! `predict` and `explain`: model and texts → labels, and why.

use super::options::{ExplainArguments, PredictArguments, ResultFormat};
use super::{Failure, MESSAGES, open, status};
use crate::data::{self, DataError, Record};
use crate::model::Prediction;
use dbacl_cli::json::Json;
use dbacl_cli::output::Output;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

pub fn run(arguments: &PredictArguments) -> Result<(), Failure> {
    let model = open(&arguments.texts.model)?;
    let labels = model.labels();
    if arguments.format == ResultFormat::FastText
        && let Some(label) = labels.iter().find(|label| label.contains(' '))
    {
        let text = format!("the label '{label}' has a blank: fastText's format cannot hold it");
        return Err(Failure::new(status::DATA, &text));
    }
    let k = usize::try_from(arguments.labels).unwrap_or(usize::MAX);
    let mut predictor = model.predictor();
    let mut out = Output::new();
    let mut refusal = None;
    let mut take = |record: Record<'_>| {
        let prediction = predictor.predict(record.text);
        write(out.buffer(), arguments.format, labels, &prediction, k);
        out.spill().map_err(|error| {
            // Reading ends; the error is not one of the texts.
            let kind = error.kind();
            refusal = Some(Failure::from(error));
            DataError::Io { path: record.file.to_path_buf(), source: kind.into() }
        })
    };
    let read = data::read(&arguments.texts.file, &arguments.texts.reading(), &mut take);
    if let Some(failure) = refusal {
        return Err(failure);
    }
    // What was judged before an error is told.
    out.flush()?;
    read.map(|_| ()).or_else(|error| match error {
        // A pipe without texts wants no answers.
        DataError::Line { line: 1, ref what, .. } if what == "it is empty" => Ok(()),
        error => Err(error.into()),
    })
}

fn write(
    out: &mut Vec<u8>,
    format: ResultFormat,
    labels: &[String],
    prediction: &Prediction,
    k: usize,
) {
    let ranked = prediction.ranked(k);
    let of = |at: usize| (labels[at].as_str(), prediction.probabilities()[at]);
    if format == ResultFormat::Ndjson {
        let mut json = Json::new();
        json.object(|json| {
            let (label, probability) = of(ranked[0]);
            json.key("label").string(label);
            json.key("probability").number(probability);
            if ranked.len() > 1 {
                json.key("labels").array(|json| {
                    for &at in &ranked {
                        let (label, probability) = of(at);
                        json.object(|json| {
                            json.key("label").string(label);
                            json.key("probability").number(probability);
                        });
                    }
                });
            }
        });
        out.extend_from_slice(json.into_text().as_bytes());
        out.push(b'\n');
        return;
    }
    let (mark, between, blank) = match format {
        ResultFormat::FastText => ("__label__", b' ', b' '),
        _ => ("", b'\t', b'\t'),
    };
    for (place, &at) in ranked.iter().enumerate() {
        let (label, probability) = of(at);
        if place > 0 {
            out.push(between);
        }
        out.extend_from_slice(mark.as_bytes());
        out.extend_from_slice(label.as_bytes());
        out.push(blank);
        // memory takes all
        let _ = write!(out, "{probability:.6}");
    }
    out.push(b'\n');
}

pub fn explain(arguments: &ExplainArguments) -> Result<(), Failure> {
    let model = open(&arguments.model)?;
    let text = read_text(&arguments.file)
        .map_err(|source| Failure::from(DataError::Io { path: arguments.file.clone(), source }))?;
    let explained = model.explain(&text).map_err(|error| Failure::new(status::DATA, &error))?;
    let prediction = model.predictor().predict(&text);
    let mut out = Output::new();
    let label = &model.labels()[explained.best];
    let percent = 100.0 * prediction.probabilities()[explained.best];
    // memory takes all
    let _ = writeln!(out.buffer(), "{label}\t{percent:.2} %");
    let tokens = &explained.explanation.tokens;
    let mut ranked: Vec<_> = tokens.iter().filter(|token| token.bits != 0.0).collect();
    ranked.sort_by(|a, b| b.bits.total_cmp(&a.bits));
    let half = arguments.words;
    let count = ranked.len();
    for (place, token) in ranked.into_iter().enumerate() {
        if place < half && token.bits > 0.0 || count - place <= half && token.bits < 0.0 {
            let _ = writeln!(out.buffer(), "{:+.2}\t{}", token.bits, token.text);
        }
    }
    if count == 0 {
        MESSAGES.warning(&format!("{}: there are no known words in it", arguments.file.display()));
    }
    Ok(out.flush()?)
}

fn read_text(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let limit = data::LONGEST as u64;
    if path.as_os_str() == "-" {
        io::stdin().lock().take(limit).read_to_end(&mut text)?;
    } else {
        File::open(path)?.take(limit).read_to_end(&mut text)?;
    }
    Ok(text)
}
