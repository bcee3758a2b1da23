// SPDX-License-Identifier: GPL-3.0-or-later
//! `--refit --choices`: learns from groups of texts of which one was chosen, and writes two
//! categories whose scores give the odds.

use super::super::builder::Builder;
use super::super::failure::{Failure, Kind, usage};
use super::super::jobs::Job;
use super::super::messages::{MESSAGES, print};
use super::super::signals::Signals;
use super::record::{self, GroupLine};
use dbacl_choices::{Fit, Form, Groups, Judged, Quality, Settings, Tally, files, rate_for};
use dbacl_cli::names::lossy;
use dbacl_cli::output::Output;
use dbacl_engine::category::layout::ANY_MAGIC;
use dbacl_engine::document::{FeatureReader, FeatureSink, ReadOptions};
use dbacl_engine::error::Error;
use dbacl_engine::input::patient::UntilStopped;
use dbacl_engine::input::source::{self, Operand};
use dbacl_engine::token::Feature;
use dbacl_engine::token::id::FeatureId;
use dbacl_files::atomic_file::Disk;
use dbacl_model::settings::ModelOption;
use dbacl_sets::FittedSetError;
use dbacl_sets::files::check_paths;
use dbacl_store::generations::ledger_file;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// One group of so many is kept back, to choose the number of passes and the temperature.
const KEPT_BACK: usize = 10;

/// With fewer groups none is kept back.
const ENOUGH: usize = 50;

/// The longest line, bytes. An endless one would fill the memory.
const LONGEST: u64 = 64 << 20;

/// Passes that are tried.
const PASSES: [u32; 4] = [1, 3, 10, 30];

/// Learns the groups of `source` (`-` for standard input) as the categories `names`, *chosen*
/// first.
pub fn run(
    source: &OsStr,
    names: &[OsString],
    mut builder: Builder,
    signals: &Signals,
    output: &mut Output,
) -> Result<u8, Failure> {
    let paths: Vec<PathBuf> = names.iter().map(|name| builder.resolve(name.as_bytes())).collect();
    let [chosen, other] = paths.as_slice() else {
        return usage("--choices needs two categories: -c CHOSEN -c OTHER");
    };
    if chosen == other {
        return usage("--choices needs two different categories");
    }
    check_paths(&paths)?;
    // The other options are those of learning.
    builder.learn(names[0].as_bytes())?;
    let mut reading = match builder.job()? {
        (Job::Learn, config) if config.reading.operands.is_empty() => config.reading,
        _ => return usage("--choices takes its groups from one FILE, - for standard input"),
    };
    let (options, max_order) = (reading.options, reading.order);
    if options.has(ModelOption::Multinomial) || !options.has(ModelOption::StandardTokenizer) {
        return usage("--choices cannot be used with -g and -M");
    }
    let (scheme, quiet) = (reading.scheme, MESSAGES.is_quiet());
    let groups = read(source, &reading.read_options(), signals)?;
    let model = fit(&groups, signals)?;
    let form = Form {
        options,
        scheme,
        max_order,
        scale: 1.0 / model.temperature,
        groups: groups.len() as u64,
    };
    let names = [chosen.as_os_str().as_bytes(), other.as_os_str().as_bytes()];
    let files = files(&model.fit, &form, names);
    unless_stopped(signals)?;
    for (path, bytes) in [chosen, other].into_iter().zip(&files) {
        ledger_file::replace(&Disk, path, ANY_MAGIC, bytes)?;
    }
    if !quiet {
        print(output, &model.describe(&groups))?;
    }
    Ok(0)
}

/// Adds features to the alternative that is being read.
struct Alternative<'a>(&'a mut Groups);

impl FeatureSink for Alternative<'_> {
    fn feature(&mut self, feature: Feature<'_>) {
        self.0.push(FeatureId::of(feature.body, feature.medium));
    }
}

/// Reads all groups. They stay in memory: five bytes for each occurrence of a word.
fn read(source: &OsStr, options: &ReadOptions, signals: &Signals) -> Result<Groups, Failure> {
    let name = if source == "-" { "stdin".into() } else { lossy(source.as_bytes()) };
    let opened = if source == "-" {
        source::standard_input()
    } else {
        let unopened = |kind| Failure::new(kind, format!("couldn't open {name}"));
        match source::open(source, &mut |_| {}) {
            Ok(Operand::File(opened)) => opened,
            Err(Error::Io { source, .. }) => return Err(unopened(Kind::of_reading(&source))),
            Ok(Operand::Folder(_)) | Err(_) => return Err(unopened(Kind::NoInput)),
        }
    };
    let input = UntilStopped { input: opened.reader, stop: &signals.stop };
    let mut input = BufReader::with_capacity(1 << 16, input);
    let mut reader = Reader {
        groups: Groups::default(),
        features: FeatureReader::stoppable(options, &signals.stop).by_lines(),
        chosen: None,
    };
    let mut number = 0u64;
    let fault = |number: u64, text: &str| {
        Failure::new(Kind::Data, format!("{name}: line {number}: {text}"))
    };
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = input.by_ref().take(LONGEST).read_until(b'\n', &mut line);
        let read = read.map_err(|error| Failure::new(Kind::Read, format!("{name}: {error}")))?;
        // What was read until a signal came is not all of the groups.
        unless_stopped(signals)?;
        if read == 0 {
            break;
        }
        number += 1;
        if read as u64 == LONGEST && line.last() != Some(&b'\n') {
            return Err(fault(number, "longer than 64 MiB"));
        }
        for end in [b'\n', b'\r'] {
            line.pop_if(|last| *last == end);
        }
        reader.line(&line).map_err(|text| fault(number, &text))?;
    }
    reader.end_group().map_err(|text| fault(number, &text))?;
    if reader.groups.is_empty() {
        return Err(Failure::new(Kind::Data, format!("{name}: no groups of choices")));
    }
    Ok(reader.groups)
}

/// Groups as they are read.
struct Reader<'a> {
    groups: Groups,
    features: FeatureReader<'a>,
    /// The chosen alternative of the group of lines that is being read.
    chosen: Option<usize>,
}

impl Reader<'_> {
    fn text(&mut self, text: &[u8]) -> Result<(), String> {
        self.features.start_anew();
        self.features
            .read_bytes(text, &mut Alternative(&mut self.groups))
            .map_err(|error| error.to_string())?;
        self.groups.end_alternative();
        Ok(())
    }

    fn line(&mut self, line: &[u8]) -> Result<(), String> {
        match record::group_line(line)? {
            GroupLine::End => self.end_group(),
            GroupLine::Text { chosen, text } => {
                if chosen && self.chosen.replace(self.groups.pending()).is_some() {
                    return Err("a second text of the group is marked with +".into());
                }
                self.text(text)
            }
            GroupLine::Whole { choices, chosen } => {
                self.end_group()?;
                for text in &choices {
                    self.text(text.as_bytes())?;
                }
                self.groups.end_group(chosen);
                Ok(())
            }
        }
    }

    fn end_group(&mut self) -> Result<(), String> {
        if self.groups.pending() == 0 {
            return Ok(());
        }
        let chosen = self.chosen.take().ok_or("no text of the group is marked with +")?;
        self.groups.end_group(chosen);
        Ok(())
    }
}

/// The result of the fit.
struct Model {
    fit: Fit,
    passes: u32,
    temperature: f64,
    /// How well a fit judged the groups kept back, which it had not learned, at that temperature.
    quality: Option<Quality>,
}

/// Goes on unless a signal has come.
fn unless_stopped(signals: &Signals) -> Result<(), Failure> {
    if signals.stopped() { Err(FittedSetError::Stopped.into()) } else { Ok(()) }
}

/// Fits on the groups with these numbers, `passes` times.
fn fit_on(
    groups: &Groups,
    numbers: &[usize],
    passes: u32,
    signals: &Signals,
) -> Result<Fit, Failure> {
    let alternatives = groups.alternatives().max(1);
    let settings = Settings {
        rate: rate_for(groups.occurrences(), alternatives),
        groups: numbers.len() as u64 * u64::from(passes),
        ..Settings::default()
    };
    let mut fit = Fit::new(settings);
    let mut tally = Tally::default();
    for _ in 0..passes {
        for &number in numbers {
            unless_stopped(signals)?;
            fit.learn_group(groups.get(number), &mut tally);
        }
    }
    Ok(fit)
}

/// Chooses passes and temperature with groups kept back, then fits on all.
fn fit(groups: &Groups, signals: &Signals) -> Result<Model, Failure> {
    let all: Vec<usize> = (0..groups.len()).collect();
    if groups.len() < ENOUGH {
        let text = format!("only {} groups of choices: the odds may be poor", groups.len());
        MESSAGES.warning(&text);
        let passes = PASSES[1];
        let fit = fit_on(groups, &all, passes, signals)?;
        return Ok(Model { fit, passes, temperature: 1.0, quality: None });
    }
    let is_kept_back = |number: &usize| number % KEPT_BACK == KEPT_BACK - 1;
    let (back, rest): (Vec<usize>, Vec<usize>) = all.iter().copied().partition(is_kept_back);
    let mut best: Option<(u32, f64, Judged)> = None;
    for passes in PASSES {
        let mut fit = fit_on(groups, &rest, passes, signals)?;
        let mut judged = Judged::default();
        for &number in &back {
            unless_stopped(signals)?;
            let group = groups.get(number);
            judged.push(fit.judge(group).0, group.chosen);
        }
        let cost = judged.cost(judged.temperature());
        if best.as_ref().is_some_and(|(_, least, _)| cost >= *least) {
            // More passes would not become better again.
            break;
        }
        best = Some((passes, cost, judged));
    }
    let (passes, _, judged) = best.expect("passes were tried");
    let temperature = judged.temperature();
    Ok(Model {
        fit: fit_on(groups, &all, passes, signals)?,
        passes,
        temperature,
        quality: Some(judged.quality(temperature)),
    })
}

impl Model {
    fn describe(&self, groups: &Groups) -> String {
        let mut text = String::new();
        let _ = writeln!(
            text,
            "{} groups, {} texts, {} features; {}",
            groups.len(),
            groups.alternatives(),
            self.fit.features(),
            match self.passes {
                1 => "1 pass".to_owned(),
                passes => format!("{passes} passes"),
            }
        );
        if let Some(quality) = &self.quality {
            let (groups, found) = (quality.tally.groups, quality.describe("choice"));
            let _ = writeln!(text, "{groups} groups kept back: {found}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn a_signal_ends_a_fit_that_has_begun() {
        let mut groups = Groups::default();
        for _ in 0..2 {
            groups.push(FeatureId(1));
            groups.end_alternative();
        }
        groups.end_group(0);
        let signals = Signals::default();
        assert!(fit_on(&groups, &[0], 1, &signals).is_ok());
        signals.stop.store(true, Ordering::Relaxed);
        assert!(fit_on(&groups, &[0], 1, &signals).is_err());
    }
}
