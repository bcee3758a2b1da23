// SPDX-License-Identifier: GPL-3.0-or-later
//! `predict` and `explain`: model and texts → labels, and why.

use super::options::{ExplainArguments, PredictArguments, ResultFormat};
use super::{Failure, MESSAGES, open, read, status, warn_of};
use dbacl::text::NONE;
use dbacl::text::data::{self, DataError, Format, Handlers, Reading, Record};
use dbacl::text::threads;
use dbacl::text::{Prediction, Predictor, TextModel};
use dbacl_cli::json::Json;
use dbacl_cli::output::Output;
use dbacl_numeric::cformat;
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Texts that are classified at once by several threads.
const BATCH: usize = 4096;

struct Printing<'a> {
    arguments: &'a PredictArguments,
    labels: &'a [String],
    /// How many labels; `None` for those of the text.
    k: Option<usize>,
    /// Whether what names the text stands before.
    has_names: bool,
}

/// Texts and their answers.
struct Answers<'a> {
    printing: Printing<'a>,
    predictors: Vec<Predictor>,
    /// Texts that were read and are not classified yet, with what names them.
    waiting: Vec<(Text, Vec<u8>)>,
    out: Output,
    /// What waits for the last text, where answers are to be adapted to all.
    held: Option<Held>,
    /// Why nobody reads the answers.
    refusal: Option<io::Error>,
    /// Of the first hundred texts: how many there are, and how many of them begin with a label and
    /// a tab, as those that a model is trained on.
    lines: [u32; 2],
    /// Texts that could not be read.
    unread: Unread,
}

/// Predictions, and texts with what names them and why they cannot be read, if so.
#[derive(Default)]
struct Held {
    predictions: Vec<Prediction>,
    texts: Vec<(Vec<u8>, Option<String>)>,
}

/// A text, or why it cannot be read.
type Text = Result<Vec<u8>, String>;

/// Texts that could not be read.
#[derive(Default)]
struct Unread {
    number: u64,
    /// The status of the first reason.
    status: u8,
}

impl Unread {
    /// Says why a text could not be read, and returns it.
    fn add(&mut self, error: DataError) -> String {
        let Failure { status, text } = error.into();
        if self.number == 0 {
            self.status = status;
        }
        self.number += 1;
        if self.number <= UNREAD_SHOWN {
            MESSAGES.warning(&text);
        }
        text
    }

    /// How the program ends, where the texts came from `path`.
    fn end(&self, path: &Path) -> Result<(), Failure> {
        match self.number {
            0 => Ok(()),
            number => {
                let noun = if number == 1 { "text" } else { "texts" };
                let text = format!("{}: {number} {noun} could not be read", path.display());
                Err(Failure::new(self.status, &text))
            }
        }
    }
}

/// Texts that cannot be read and are named one by one.
const UNREAD_SHOWN: u64 = 10;

impl Answers<'_> {
    fn add(&mut self, text: Text, name: Vec<u8>) {
        if self.lines[0] < 100 {
            let text = text.as_deref().unwrap_or_default();
            let tab = text.iter().position(|&byte| byte == b'\t');
            let own = tab.map(|tab| &text[..tab]);
            let labels = &mut self.printing.labels.iter();
            let is_label = own.is_some_and(|own| labels.any(|label| label.as_bytes() == own));
            self.lines = [self.lines[0] + 1, self.lines[1] + u32::from(is_label)];
        }
        self.waiting.push((text, name));
        if self.waiting.len() >= if self.predictors.len() > 1 { BATCH } else { 1 } {
            self.give(false);
        }
    }

    /// Answers the texts that wait; each thread those of a predictor.
    fn give(&mut self, flush: bool) {
        let (texts, printing) = (std::mem::take(&mut self.waiting), &self.printing);
        let share = texts.len().div_ceil(self.predictors.len()).max(1);
        let parts = self.predictors.iter_mut().zip(texts.chunks(share));
        if let Some(held) = &mut self.held {
            let found = threads::each(parts, |(predictor, texts)| {
                let known = texts.iter().filter_map(|(text, _)| text.as_ref().ok());
                known.map(|text| predictor.predict(text)).collect::<Vec<_>>()
            });
            held.predictions.extend(found.into_iter().flatten());
            held.texts.extend(texts.into_iter().map(|(text, name)| (name, text.err())));
            return;
        }
        let answers = threads::each(parts, |(predictor, texts)| {
            let mut out = Vec::new();
            for (text, name) in texts {
                match text {
                    Ok(text) => write(&mut out, printing, name, &predictor.predict(text)),
                    Err(reason) => write_error(&mut out, printing, name, reason),
                }
            }
            out
        });
        self.put(answers.into_iter().flatten(), flush);
    }

    fn put(&mut self, bytes: impl Iterator<Item = u8>, flush: bool) {
        self.out.buffer().extend(bytes);
        if let Err(error) = if flush { self.out.flush() } else { self.out.spill() } {
            self.refusal.get_or_insert(error);
        }
    }

    /// Answers all texts that are left.
    fn finish(&mut self, model: &TextModel) {
        self.give(true);
        let Some(Held { mut predictions, texts }) = self.held.take() else { return };
        model.adapt(&mut predictions);
        let mut predictions = predictions.iter();
        for (name, reason) in &texts {
            let mut line = Vec::new();
            match (reason, reason.is_none().then(|| predictions.next()).flatten()) {
                (None, Some(own)) => write(&mut line, &self.printing, name, own),
                (reason, _) => {
                    let reason = reason.as_deref().unwrap_or_default();
                    write_error(&mut line, &self.printing, name, reason);
                }
            }
            self.put(line.into_iter(), false);
        }
        self.put(std::iter::empty(), true);
    }

    /// Reading ends where nobody reads the answers; the error is not one of the texts.
    fn goes_on(&self, path: &Path) -> Result<(), DataError> {
        self.refusal.as_ref().map_or(Ok(()), |error| {
            let source = io::Error::from(error.kind());
            Err(DataError::Io { path: path.to_path_buf(), source })
        })
    }
}

pub(crate) fn run(arguments: &PredictArguments) -> Result<(), Failure> {
    let texts = &arguments.texts;
    let model = open(&texts.model)?;
    if arguments.adapt && model.has_several() {
        let text = "--adapt is for models of texts with one label";
        return Err(Failure::new(status::USAGE, &text));
    }
    let threads = threads::wanted(texts.threads);
    let mut answers = Answers {
        printing: printing(&model, arguments)?,
        predictors: predictors(&model, threads, arguments.keep)?,
        waiting: Vec::new(),
        out: Output::new(),
        held: arguments.adapt.then(Held::default),
        refusal: None,
        lines: [0; 2],
        unread: Unread::default(),
    };
    if !texts.files.is_empty() {
        for path in &texts.files {
            let text = read_text(path).map_err(|error| answers.unread.add(error));
            answers.add(text, path.as_os_str().as_bytes().to_vec());
        }
        answers.finish(&model);
        let unread = answers.unread.end(Path::new("--files"));
        return answers.refusal.map_or(unread, |error| Err(error.into()));
    }
    let reading = texts.reading(&model);
    let answers = RefCell::new(answers);
    let mut take = |record: Record<'_>| {
        let mut answers = answers.borrow_mut();
        answers.add(Ok(record.text.to_vec()), record.id.as_bytes().to_vec());
        answers.goes_on(record.file)
    };
    let mut refuse = |error: DataError| {
        let mut answers = answers.borrow_mut();
        let reason = answers.unread.add(error);
        answers.add(Err(reason), Vec::new());
        answers.goes_on(&texts.file)
    };
    // Whoever waits for texts has answered those that it has.
    let mut waits = || answers.borrow_mut().give(true);
    let handlers = Handlers { take: &mut take, refuse: &mut refuse, waits: &mut waits };
    let read = data::read_with(&texts.file, &reading, handlers);
    let mut answers = answers.into_inner();
    answers.finish(&model);
    if let Some(error) = answers.refusal {
        return Err(error.into());
    }
    let [lines, with_labels] = answers.lines;
    let is_suspicious = lines > 0 && with_labels * 10 >= lines * 9;
    if is_suspicious && texts.input.is_none_or(|format| format == Format::Lines) {
        MESSAGES.warning(&format!(
            "{}: its lines begin with labels of the model and a tab, which were judged as text; \
             --input tsv reads the texts alone",
            texts.file.display()
        ));
    }
    match read {
        Ok(notes) => warn_of(&notes, &texts.file),
        // A pipe without texts wants no answers.
        Err(DataError::Line { line: 1, ref what, .. }) if what == "it is empty" => {}
        Err(error) => return Err(error.into()),
    }
    answers.unread.end(&texts.file)
}

/// A predictor for each thread, which refuses texts if the share of those that keep their label is
/// given.
pub(crate) fn predictors(
    model: &TextModel,
    threads: usize,
    keep: Option<f64>,
) -> Result<Vec<Predictor>, Failure> {
    let all = (0..threads).map(|_| model.predictor());
    let Some(kept) = keep else { return Ok(all.collect()) };
    all.map(|predictor| predictor.keeping(kept)).collect::<Option<_>>().ok_or_else(|| {
        let text = "--keep: the model does not know which texts have none of its labels; train it \
                    again, with one label a text and some hundred texts";
        Failure::new(status::DATA, &text)
    })
}

fn printing<'a>(
    model: &'a TextModel,
    arguments: &'a PredictArguments,
) -> Result<Printing<'a>, Failure> {
    let labels = model.labels();
    if arguments.format == ResultFormat::FastText
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
        arguments,
        labels,
        k: k.or_else(|| (!model.has_several()).then_some(1)),
        has_names: !arguments.texts.files.is_empty() || arguments.texts.id_column.is_some(),
    })
}

/// What a text is called whose label is not probable enough.
const UNSURE: &str = "unsure";

fn write(out: &mut Vec<u8>, printing: &Printing<'_>, name: &[u8], prediction: &Prediction) {
    let Printing { labels, k, has_names, arguments } = *printing;
    let PredictArguments { format, at_least, as_fasttext, .. } = *arguments;
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
    let instead = match (prediction.is_none(), is_unsure) {
        (true, _) => Some(NONE),
        (false, true) => Some(UNSURE),
        (false, false) => None,
    };
    let of = |at: usize| {
        let label = instead.filter(|_| at == ranked[0]).unwrap_or(labels[at].as_str());
        (label, prediction.probabilities()[at])
    };
    if format == ResultFormat::Ndjson {
        let line = Json::line(|json| {
            if has_names {
                json.key("id").string(&String::from_utf8_lossy(name));
            }
            put_answer(json, &ranked, k.is_some(), of);
        });
        out.extend_from_slice(line.as_bytes());
        return;
    }
    let (mark, between) = match format {
        ResultFormat::FastText => ("__label__", b' '),
        _ => ("", b'\t'),
    };
    if has_names {
        out.extend_from_slice(name);
        out.push(between);
    }
    for (place, &at) in ranked.iter().enumerate() {
        let (label, probability) = of(at);
        if place > 0 {
            out.push(between);
        }
        out.extend_from_slice(mark.as_bytes());
        out.extend_from_slice(label.as_bytes());
        if !matches!(as_fasttext, Some((true, _))) {
            out.push(between);
            match as_fasttext {
                Some(_) => cformat::general(out, probability),
                // memory takes all
                None => drop(write!(out, "{probability:.6}")),
            }
        }
    }
    out.push(b'\n');
}

/// Puts the labels of a text with their probabilities, in the order of `ranked`, into an object:
/// the first one by itself if texts have one label.
pub(crate) fn put_answer<'a>(
    json: &mut Json,
    ranked: &[usize],
    has_one: bool,
    of: impl Fn(usize) -> (&'a str, f64),
) {
    let put = |json: &mut Json, at| {
        let (label, probability) = of(at);
        json.key("label").string(label);
        json.key("probability").number(probability);
    };
    if let Some(&first) = ranked.first().filter(|_| has_one) {
        put(json, first);
    }
    if ranked.len() > 1 || !has_one {
        json.key("labels").objects(ranked.iter().copied(), put);
    }
}

/// What a text is called that cannot be read.
const ERROR: &str = "error";

fn write_error(out: &mut Vec<u8>, printing: &Printing<'_>, name: &[u8], reason: &str) {
    let has_name = printing.has_names && !name.is_empty();
    if printing.arguments.format == ResultFormat::Ndjson {
        let line = Json::line(|json| {
            if has_name {
                json.key("id").string(&String::from_utf8_lossy(name));
            }
            json.key("error").string(reason);
        });
        out.extend_from_slice(line.as_bytes());
        return;
    }
    if printing.has_names {
        out.extend_from_slice(name);
        out.push(if printing.arguments.format == ResultFormat::FastText { b' ' } else { b'\t' });
    }
    out.extend_from_slice(ERROR.as_bytes());
    out.push(b'\n');
}

/// Prints the features of texts that speak most for each label.
pub(crate) fn features(model: &Path, texts: &Path, number: usize) -> Result<(), Failure> {
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

pub(crate) fn explain(arguments: &ExplainArguments) -> Result<(), Failure> {
    let model = open(&arguments.model)?;
    let text = read_text(&arguments.file)?;
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

fn read_text(path: &Path) -> Result<Vec<u8>, DataError> {
    if path.as_os_str() == "-" {
        return data::read_text(io::stdin().lock(), path);
    }
    let file = File::open(path);
    data::read_text(
        file.map_err(|source| DataError::Io { path: path.to_path_buf(), source })?,
        path,
    )
}
