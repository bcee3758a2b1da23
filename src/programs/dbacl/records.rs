// SPDX-License-Identifier: GPL-3.0-or-later
//! Documents as records: one JSON object, or one text, a line (`--input`). Each is classified as a
//! file of its own would be, whatever came before it; results come in the order of the records.

use super::categories::reload;
use super::config::Config;
use super::failure::{Failure, Kind, output_failure, unopened};
use super::inputs;
use super::jobs::{Reading, Records};
use super::messages::{MESSAGES, warn};
use super::signals::Signals;
use super::structured::{Format, Id};
use crate::alloc_hints::has_addresses_to_spare;
use crate::document::{FeatureReader, ReadOptions};
use crate::input::source::{self, Operand, Source};
use crate::model::settings::ModelOption;
use crate::parallel;
use crate::score::model::Model;
use crate::score::scorer::Scorer;
use crate::score::words::Wanted;
use crate::sets::classify::classifier::EMPIRICAL_BITS;
use dbacl_cli::names::lossy;
use dbacl_cli::output::Output;
use dbacl_files::format::UTF8_MARK;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The most bytes that are read at a time. Records that have arrived are classified before the
/// program waits for more.
const BLOCK: usize = 1 << 20;
/// The fewest bytes for which another thread is started.
const SHARE: usize = 1 << 14;

/// Classifies the records of all inputs.
pub(super) fn run(
    mut config: Config,
    records: Records,
    signals: &Signals,
    output: &mut Output,
) -> Result<u8, Failure> {
    let all = || std::thread::available_parallelism().map_or(1, Into::into);
    let is_parallel = config.reading.patterns.is_empty() && has_addresses_to_spare();
    let threads = if is_parallel { config.threads.unwrap_or_else(all) } else { 1 };
    let how = How {
        records,
        format: config.format.unwrap_or(Format::Ndjson),
        options: config.reading.read_options(),
        empirical_bits: (config.reading.options.has(ModelOption::Entropy))
            .then_some(config.bits.unwrap_or(EMPIRICAL_BITS)),
        prior: config.prior,
        confident: config.form.confidence,
    };
    let Config { reading, models, model_paths: paths, .. } = config;
    let mut scorers = Scorers { workers: vec![Worker::new(&how, models)], paths, threads, how };
    let format = scorers.how.format;
    format.begin(output.buffer(), scorers.workers[0].scorer.models());
    let mut state = Run { first: true, number: 1, faults: 0, said: false };
    let mut each = |source: Source<'_>| -> Result<(), Failure> {
        let name = source.name.clone();
        let error = state.source(source, &mut scorers, signals, output)?;
        if let Some(error) = error {
            MESSAGES.warning(&format!("{}: {error}, reading stopped there", lossy(&name)));
        }
        inputs::after_signals(signals, &mut state.said)
    };
    let ended = each_source(&reading, records, signals, &mut each);
    // After an error, too, so that JSON stays JSON.
    format.end(output.buffer(), !state.first);
    ended?;
    output.flush().map_err(|error| output_failure(&error))?;
    if state.faults > 0 {
        let text = format!("{} of {} records are not valid", state.faults, state.number - 1);
        return Err(Failure::new(Kind::Data, text));
    }
    Ok(0)
}

/// Opens each input, or standard input if there are none.
fn each_source(
    reading: &Reading,
    records: Records,
    signals: &Signals,
    each: &mut dyn FnMut(Source<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if reading.operands.is_empty() {
        each(source::standard_input())?;
    }
    for operand in &reading.operands {
        if records == Records::Ndjson && !Path::new(operand).is_dir() {
            // Only a regular file is read here: opening a named pipe might wait for ever.
            let path = Path::new(operand);
            source::open_regular(path).map_err(|error| unopened(path, &error))?;
        }
        let opened = source::open(operand, &mut warn)
            .map_err(|error| Failure::new(Kind::NoInput, format!("couldn't open {error}")))?;
        match opened {
            Operand::File(source) => each(source)?,
            Operand::Folder(paths) => {
                for source in paths.iter().filter_map(|path| source::open_entry(path)) {
                    each(source)?;
                }
            }
        }
        if signals.stopped() {
            break;
        }
    }
    Ok(())
}

/// How records are classified; shared by all threads.
#[derive(Debug, Clone)]
struct How {
    records: Records,
    format: Format,
    options: ReadOptions,
    empirical_bits: Option<u8>,
    prior: bool,
    confident: bool,
}

/// How far a run has got.
struct Run {
    first: bool,
    number: u64,
    faults: u64,
    said: bool,
}

impl Run {
    /// Classifies the records of a source; returns the error that ended it, if one did.
    fn source(
        &mut self,
        mut source: Source<'_>,
        scorers: &mut Scorers,
        signals: &Signals,
        output: &mut Output,
    ) -> Result<Option<io::Error>, Failure> {
        let mut bytes = Vec::new();
        let mut searched = 0;
        let mut is_start = true;
        loop {
            let (error, ended) = match read_some(&mut *source.reader, &mut bytes) {
                Ok(length) => (None, length == 0),
                Err(error) if error.kind() == io::ErrorKind::Interrupted && !signals.stopped() => {
                    continue;
                }
                Err(error) => (Some(error), true),
            };
            if signals.stopped() {
                return Ok(None);
            }
            let newline = memchr::memrchr(b'\n', &bytes[searched..]);
            let whole = match newline {
                _ if ended => bytes.len(),
                Some(at) => searched + at + 1,
                None => 0,
            };
            if whole > 0 {
                if signals.take_reload() {
                    scorers.reload();
                }
                let records = &bytes[..whole];
                // Programs of Windows write this mark before the first record.
                let mark: &[u8] = if is_start { UTF8_MARK } else { b"" };
                is_start = false;
                self.batch(records.strip_prefix(mark).unwrap_or(records), scorers, output)?;
                bytes.drain(..whole);
            }
            searched = bytes.len();
            if ended {
                return Ok(error.filter(|error| error.kind() != io::ErrorKind::Interrupted));
            }
        }
    }

    /// Classifies whole lines, and writes the results.
    fn batch(
        &mut self,
        lines: &[u8],
        scorers: &mut Scorers,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let parts = parts(lines, scorers.threads);
        scorers.grow(parts.len());
        let parts: Vec<(&[u8], u64)> = parts
            .into_iter()
            .map(|part| {
                let next = self.number + records_in(part).count() as u64;
                (part, std::mem::replace(&mut self.number, next))
            })
            .collect();
        let how = &scorers.how;
        let workers = Mutex::new(scorers.workers.iter_mut());
        let worker = || {
            let worker = workers.lock().ok().and_then(|mut workers| workers.next());
            worker.ok_or_else(|| Failure::silent(Kind::Internal))
        };
        let done = parallel::map(parts.len(), parts.len(), worker, |worker, at| {
            let (part, number) = parts[at];
            Ok(worker.part(part, number, how))
        });
        for part in done? {
            self.faults += part.faults;
            if !part.text.is_empty() {
                how.format.separate(output.buffer(), self.first);
                self.first = false;
                output.buffer().extend_from_slice(&part.text);
            }
            output.spill().map_err(|error| output_failure(&error))?;
        }
        // Results are written before the program may have to wait for more records.
        output.flush().map_err(|error| output_failure(&error))
    }
}

fn read_some(reader: &mut dyn Read, bytes: &mut Vec<u8>) -> io::Result<usize> {
    let before = bytes.len();
    bytes.resize(before + BLOCK, 0);
    let read = reader.read(&mut bytes[before..]);
    bytes.truncate(before + *read.as_ref().unwrap_or(&0));
    read
}

/// Cuts whole lines into parts of about the same size, at most `number`.
fn parts(lines: &[u8], number: usize) -> Vec<&[u8]> {
    let number = number.min(lines.len() / SHARE).max(1);
    let mut parts = Vec::new();
    let mut rest = lines;
    for left in (1..=number).rev() {
        let target = rest.len() / left;
        let end = if left == 1 {
            rest.len()
        } else {
            memchr::memchr(b'\n', &rest[target..]).map_or(rest.len(), |at| target + at + 1)
        };
        let (part, behind) = rest.split_at(end);
        if !part.is_empty() {
            parts.push(part);
        }
        rest = behind;
    }
    parts
}

/// The lines that are records: all but empty ones, without their ends.
fn records_in(lines: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = lines.split(|&byte| byte == b'\n');
    let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines.filter(|line| !line.iter().all(u8::is_ascii_whitespace))
}

/// The members of a JSON object, as they stand there; of those with one name, the last.
fn members(line: &[u8]) -> Result<HashMap<String, &RawValue>, String> {
    serde_json::from_slice(line).map_err(|error| {
        if error.is_data() { "not an object".into() } else { format!("not valid JSON: {error}") }
    })
}

/// The results of some records, with what separates them, and how many are not valid.
#[derive(Default)]
struct Part {
    text: Vec<u8>,
    faults: u64,
}

/// The threads' scorers; the first one's categories are opened before the run.
struct Scorers {
    workers: Vec<Worker>,
    paths: Vec<Option<PathBuf>>,
    threads: usize,
    how: How,
}

impl Scorers {
    /// Starts workers until there are `number`; they share the categories.
    fn grow(&mut self, number: usize) {
        while self.workers.len() < number {
            let models = self.workers[0].scorer.models().to_vec();
            self.workers.push(Worker::new(&self.how, models));
        }
    }

    /// Loads the categories again; if one cannot be loaded all stay as they are.
    fn reload(&mut self) {
        if let Some(models) = reload(&self.paths, self.workers[0].scorer.models()) {
            self.workers.truncate(1);
            self.workers[0].scorer.set_models(models);
        }
    }
}

/// Scores one record after the other. Workers are aligned so that no two of them share a cache
/// line.
#[repr(align(128))]
struct Worker {
    reader: FeatureReader<'static>,
    scorer: Scorer,
}

impl Worker {
    fn new(how: &How, models: Vec<Model>) -> Self {
        let mut reader = FeatureReader::new(&how.options);
        let mut scorer = Scorer::new(models, how.empirical_bits);
        if reader.cutter().has_only_words() {
            let wanted = Wanted { entropy: how.confident, ..Wanted::default() };
            scorer.expect_words(how.options.order, wanted);
        }
        Self { reader, scorer }
    }

    /// Classifies the records of whole lines; the first has this number.
    fn part(&mut self, lines: &[u8], first: u64, how: &How) -> Part {
        let mut part = Part::default();
        for (number, record) in (first..).zip(records_in(lines)) {
            if number > first {
                how.format.separate(&mut part.text, false);
            }
            if how.records == Records::Lines {
                self.document(record);
                self.result(&mut part, &Id::Number(number), how);
            } else {
                self.record(record, number, how, &mut part);
            }
        }
        part
    }

    fn record(&mut self, record: &[u8], number: u64, how: &How, part: &mut Part) {
        let mut fault = |id: &Id<'_>, why: &str| {
            MESSAGES.warning(&format!("record {number}: {why}"));
            how.format.fault(&mut part.text, id, why);
            part.faults += 1;
        };
        let members = match members(record) {
            Ok(members) => members,
            Err(why) => return fault(&Id::Number(number), &why),
        };
        let id = members.get("id").map_or(Id::Number(number), |id| Id::Json(id));
        let text = members.get("text").and_then(|text| serde_json::from_str(text.get()).ok());
        let Some::<String>(text) = text else {
            return fault(&id, "without a string named text");
        };
        self.document(text.as_bytes());
        self.result(part, &id, how);
    }

    fn result(&mut self, part: &mut Part, id: &Id<'_>, how: &How) {
        let category_scores = self.scorer.finish(how.prior);
        self.scorer.warnings().into_iter().for_each(warn);
        let models = self.scorer.models();
        how.format.result(&mut part.text, id, models, &category_scores, how.confident);
    }

    /// Scores a document as if it were the run's only file.
    fn document(&mut self, text: &[u8]) {
        self.scorer.forget_words();
        self.reader.start_anew();
        // Reading memory cannot fail, and this sink has no errors.
        let _ = self.reader.read_bytes(text, &mut self.scorer);
    }
}
