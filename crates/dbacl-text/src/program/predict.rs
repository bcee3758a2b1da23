// SPDX-License-Identifier: GPL-3.0-or-later
//! `predict` and `explain`: model and texts → labels, and why.

use super::options::{ExplainArguments, PredictArguments, ResultFormat};
use super::{Failure, MESSAGES, open, read, status};
use crate::data::{self, DataError, Format, Reading, Record};
use crate::model::{Prediction, Predictor, TextModel};
use crate::recipe::TEXT_COLUMNS;
use crate::threads;
use dbacl_cli::json::Json;
use dbacl_cli::output::Output;
use dbacl_numeric::cformat;
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::thread;

/// Texts that are classified at once by several threads.
const BATCH: usize = 4096;

struct Printing<'a> {
    labels: &'a [String],
    format: ResultFormat,
    /// How many labels; `None` for those of the text.
    k: Option<usize>,
    at_least: Option<f64>,
    /// See [`PredictArguments::as_fasttext`].
    as_fasttext: Option<(bool, f64)>,
    /// Whether what names the text stands before.
    has_names: bool,
}

pub fn run(arguments: &PredictArguments) -> Result<(), Failure> {
    let model = open(&arguments.texts.model)?;
    let printing = printing(&model, arguments)?;
    let threads = match arguments.texts.threads {
        0 => thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let mut predictors: Vec<Predictor> = (0..threads).map(|_| model.predictor()).collect();
    // Texts that were read and are not judged yet, with what names them.
    let waiting: RefCell<Vec<(Vec<u8>, String)>> = RefCell::default();
    let out = RefCell::new((Output::new(), None));
    let answer = |flush: bool| {
        let texts = waiting.take();
        let (out, refusal) = &mut *out.borrow_mut();
        for text in judged(&mut predictors, &texts, &printing) {
            out.buffer().extend(text);
        }
        let written = if flush { out.flush() } else { out.spill() };
        if let Err(error) = written {
            refusal.get_or_insert(error);
        }
    };
    let answer = RefCell::new(answer);
    if !arguments.texts.files.is_empty() {
        let read = arguments.texts.files.iter().try_for_each(|path| {
            let text = read_text(path)
                .map_err(|source| Failure::from(DataError::Io { path: path.clone(), source }))?;
            waiting.borrow_mut().push((text, path.to_string_lossy().into_owned()));
            (answer.borrow_mut())(false);
            Ok(())
        });
        (answer.borrow_mut())(true);
        return out.into_inner().1.map_or(read, |error| Err(error.into()));
    }
    let told = model.about().iter().find(|(name, _)| name == TEXT_COLUMNS);
    let columns = told.map_or("text", |(_, columns)| columns.as_str());
    let columns: Vec<String> = columns.split(',').map(str::to_owned).collect();
    let reading = arguments.texts.reading(&columns);
    let mut labelled = Labelled::default();
    let mut take = |record: Record<'_>| {
        labelled.look(&record, model.labels());
        let is_full = {
            let mut waiting = waiting.borrow_mut();
            waiting.push((record.text.to_vec(), record.id.to_owned()));
            waiting.len() >= if threads > 1 { BATCH } else { 1 }
        };
        if is_full {
            (answer.borrow_mut())(false);
        }
        // Reading ends where nobody reads the answers; the error is not one of the texts.
        match &out.borrow().1 {
            None => Ok(()),
            Some(error) => {
                let source = io::Error::from(error.kind());
                Err(DataError::Io { path: record.file.to_path_buf(), source })
            }
        }
    };
    // Whoever waits for texts has answered those that it has.
    let mut waits = || (answer.borrow_mut())(true);
    let read = data::read_noticing(&arguments.texts.file, &reading, &mut take, &mut waits);
    (answer.borrow_mut())(true);
    if let Some(error) = out.into_inner().1 {
        return Err(error.into());
    }
    if labelled.is_suspicious() && reading.format == Some(Format::Lines) {
        MESSAGES.warning(&format!(
            "{}: its lines begin with labels of the model and a tab, which were judged as text; \
             --input tsv reads the texts alone",
            arguments.texts.file.display()
        ));
    }
    read.map(|_| ()).or_else(|error| match error {
        // A pipe without texts wants no answers.
        DataError::Line { line: 1, ref what, .. } if what == "it is empty" => Ok(()),
        error => Err(error.into()),
    })
}

/// Whether lines look like those that a model is trained on.
#[derive(Default)]
struct Labelled {
    lines: u64,
    with_labels: u64,
}

impl Labelled {
    fn look(&mut self, record: &Record<'_>, labels: &[String]) {
        let tab = record.text.iter().position(|&byte| byte == b'\t');
        let own = tab.map(|tab| &record.text[..tab]);
        let is_label = own.is_some_and(|own| labels.iter().any(|label| label.as_bytes() == own));
        if self.lines < 100 {
            self.lines += 1;
            self.with_labels += u64::from(is_label);
        }
    }

    const fn is_suspicious(&self) -> bool {
        self.lines > 0 && self.with_labels * 10 >= self.lines * 9
    }
}

fn printing<'a>(
    model: &'a TextModel,
    arguments: &PredictArguments,
) -> Result<Printing<'a>, Failure> {
    let (labels, format) = (model.labels(), arguments.format);
    if format == ResultFormat::FastText
        && let Some(label) = labels.iter().find(|label| label.contains(' '))
    {
        let text = format!("the label '{label}' has a blank: fastText's format cannot hold it");
        return Err(Failure::new(status::DATA, &text));
    }
    let k = arguments.labels.map(|k| usize::try_from(k).unwrap_or(usize::MAX));
    if let Some(k) = k.filter(|&k| k > labels.len()) {
        MESSAGES.warning(&format!("-k {k}: the model has {} labels", labels.len()));
    }
    Ok(Printing {
        labels,
        format,
        k: k.or_else(|| (!model.has_several()).then_some(1)),
        at_least: arguments.at_least,
        as_fasttext: arguments.as_fasttext,
        has_names: !arguments.texts.files.is_empty() || arguments.texts.id_column.is_some(),
    })
}

/// What is printed for each text, by each thread.
fn judged(
    predictors: &mut [Predictor],
    texts: &[(Vec<u8>, String)],
    printing: &Printing<'_>,
) -> Vec<Vec<u8>> {
    let share = texts.len().div_ceil(predictors.len()).max(1);
    threads::each(predictors.iter_mut().zip(texts.chunks(share)), |(predictor, texts)| {
        let mut out = Vec::new();
        for (text, name) in texts {
            write(&mut out, printing, name, &predictor.predict(text));
        }
        out
    })
}

/// What a text is called whose label is not probable enough.
const UNSURE: &str = "unsure";

fn write(out: &mut Vec<u8>, printing: &Printing<'_>, name: &str, prediction: &Prediction) {
    let Printing { labels, format, k, at_least, as_fasttext, has_names } = *printing;
    let mut ranked = match k {
        Some(k) => prediction.ranked(k),
        None => prediction.labels(),
    };
    if let Some((_, threshold)) = as_fasttext {
        ranked.retain(|&at| prediction.probabilities()[at] >= threshold);
    }
    let is_unsure =
        |&at: &usize| at_least.is_some_and(|least| prediction.probabilities()[at] < least);
    let is_unsure = ranked.first().is_some_and(is_unsure);
    let of = |at: usize| {
        let label = if is_unsure && at == ranked[0] { UNSURE } else { labels[at].as_str() };
        (label, prediction.probabilities()[at])
    };
    if format == ResultFormat::Ndjson {
        let mut json = Json::new();
        json.object(|json| {
            if has_names {
                json.key("id").string(name);
            }
            if let Some(&first) = ranked.first().filter(|_| k.is_some()) {
                let (label, probability) = of(first);
                json.key("label").string(label);
                json.key("probability").number(probability);
            }
            if ranked.len() > 1 || k.is_none() {
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
    if has_names {
        out.extend_from_slice(name.as_bytes());
        out.push(between);
    }
    for (place, &at) in ranked.iter().enumerate() {
        let (label, probability) = of(at);
        if place > 0 {
            out.push(between);
        }
        out.extend_from_slice(mark.as_bytes());
        out.extend_from_slice(label.as_bytes());
        match as_fasttext {
            Some((true, _)) => {}
            Some((false, _)) => {
                out.push(blank);
                cformat::general(out, probability);
            }
            None => {
                out.push(blank);
                // memory takes all
                let _ = write!(out, "{probability:.6}");
            }
        }
    }
    out.push(b'\n');
}

/// Prints the features of texts that speak most for each label.
pub fn features(model: &Path, texts: &Path, number: usize) -> Result<(), Failure> {
    let model = open(model)?;
    let mut lines = Vec::new();
    let mut take = |record: Record<'_>| {
        lines.push(record.text.to_vec());
        Ok(())
    };
    let reading = Reading { needs_label: false, format: Some(Format::Lines), ..Reading::default() };
    read("reading", texts, &reading, &mut take)?;
    let mut out = Output::new();
    for (label, features) in model.strongest(&lines, number) {
        for (name, weight) in features {
            // memory takes all
            let _ = writeln!(out.buffer(), "{label}\t{weight:+.4}\t{name}");
        }
        out.spill()?;
    }
    Ok(out.flush()?)
}

pub fn explain(arguments: &ExplainArguments) -> Result<(), Failure> {
    let model = open(&arguments.model)?;
    let text = read_text(&arguments.file)
        .map_err(|source| Failure::from(DataError::Io { path: arguments.file.clone(), source }))?;
    let explained = model.explain(&text);
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
