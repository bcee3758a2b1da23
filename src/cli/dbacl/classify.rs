// SPDX-License-Identifier: GPL-3.0-or-later
//! Classifying texts, and filtering lines (spec model 12 to 14).

use super::categories::OpenSets;
use super::echo::Echo;
use super::failure::{Failure, Kind, output_failure};
use super::inputs;
use super::jobs::ClassifyJob;
use super::messages::MESSAGES;
use super::signals::Signals;
use super::structured::{Format, Id};
use crate::classify::classifier::EMPIRICAL_BITS;
use crate::classify::{Fitted, FittedScores};
use crate::cli::output::Output;
use crate::document::{Cutter, FeatureSink, LineState};
use crate::error::Warning;
use crate::joint::documents::{Collector, Makeup};
use crate::model::medium::Medium;
use crate::model::settings::ModelOption;
use crate::report::print::{self, Form};
use crate::report::trace::{self, CellForm};
use crate::score::document;
use crate::score::model::Model;
use crate::score::scorer::Scorer;
use crate::score::words::Wanted;
use crate::token::Feature;
use crate::token::id::FeatureId;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

#[allow(clippy::needless_pass_by_value)] // as sinks take them
fn warn(warning: Warning) {
    MESSAGES.warning(&warning.0);
}

/// Scores the inputs and prints the results; returns the exit status.
///
/// # Errors
/// What stopped it.
pub fn run(mut job: ClassifyJob, signals: &Signals, output: &mut Output) -> Result<u8, Failure> {
    let set = fitted_set(&job)?;
    let measures_entropy = job.reading.options.has(ModelOption::Entropy);
    let bits = job.bits.unwrap_or(EMPIRICAL_BITS);
    let form = job.form;
    let cells =
        job.dump.then(|| CellForm::of_cells(form.scores, form.probabilities, form.uncertainty));
    let mut scorer = Scorer::new(std::mem::take(&mut job.models), measures_entropy.then_some(bits));
    if cells.is_some() {
        let heading = CellForm::of_heading(form.scores, form.probabilities, form.uncertainty);
        trace::head(output.buffer(), scorer.models(), heading);
    } else if job.debug && job.prior {
        trace::priors(output.buffer(), scorer.models());
    }
    let options = job.reading.read_options();
    let mut reader = inputs::reader(&job.reading, &options, signals);
    // Nobody sees these unless such forms are asked for.
    let (squares, counts) = (form.uncertainty, form.media || form.verbose && form.uncertainty);
    let entropy = form.confidence || (form.verbose && form.uncertainty);
    let is_once = set.as_ref().is_some_and(Fitted::needs_features);
    let by_words = reader.cutter().has_only_words()
        && cells.is_none()
        && !is_once
        && scorer.expect_words(job.reading.order, Wanted { squares, counts, entropy });
    let mut classifier = Classifier {
        scorer,
        by_words,
        model_paths: job.model_paths,
        echo: Echo { append: form.append, indented: job.reading.indented },
        debug: job.debug,
        cells,
        form,
        prior: job.prior,
        filters: job.filters,
        per_file: job.per_file,
        format: job.format,
        results: 0,
        line_buffered: job.line_buffered,
        status: 0,
        set,
        collector: is_once.then(Collector::default),
        output,
        signals,
    };
    if let Some(format) = classifier.format {
        let out = classifier.output.buffer();
        format.begin(out, classifier.scorer.models(), classifier.set.is_some());
    }
    inputs::read(&job.reading, signals, &mut reader, &mut classifier, |_, _| Ok(()))?;
    if !classifier.per_file && classifier.filters.is_empty() {
        let only = match job.reading.operands.as_slice() {
            [] => &b"stdin"[..],
            [operand] => operand.as_bytes(),
            _ => b"",
        };
        classifier.result(only);
    }
    if let Some(format) = classifier.format {
        format.end(classifier.output.buffer(), classifier.results > 0);
    }
    let status = classifier.status;
    output.flush().map_err(|error| output_failure(&error))?;
    if job.reading.strict && signals.stopped() {
        return Err(Failure::silent(Kind::Interrupted));
    }
    Ok(if job.reading.strict { 0 } else { status })
}

/// Looks at how the categories belong together; `Some` if verdicts are asked for.
fn fitted_set(job: &ClassifyJob) -> Result<Option<Fitted>, Failure> {
    match Fitted::of(&job.models) {
        Ok(None) if job.verdict => Err(Failure::new(
            Kind::Usage,
            "--verdict needs categories that were fitted together (--refit)",
        )),
        Ok(None) => Ok(None),
        Err(mismatch) if job.verdict => Err(Failure::new(Kind::Data, mismatch.text())),
        Err(mismatch) => {
            let text = mismatch.text();
            MESSAGES.warning(&format!("{text}: results mean nothing; use --refit again"));
            Ok(None)
        }
        Ok(Some(set)) => {
            for (on, letter) in [(job.form.confidence, "-X"), (job.prior, "-P")] {
                if on {
                    MESSAGES.warning(&format!(
                        "option {letter} means nothing for categories that were fitted together"
                    ));
                }
            }
            Ok(job.verdict.then_some(set))
        }
    }
}

/// Takes the lines of the inputs and scores their features.
struct Classifier<'a> {
    scorer: Scorer,
    /// Text is scored by its words, not by the texts of its features.
    by_words: bool,
    model_paths: Vec<Option<PathBuf>>,
    echo: Echo,
    debug: bool,
    cells: Option<CellForm>,
    form: Form,
    prior: bool,
    filters: Vec<usize>,
    per_file: bool,
    format: Option<Format>,
    /// Results printed so far.
    results: usize,
    line_buffered: bool,
    status: u8,
    /// What verdicts are made with (`--verdict`).
    set: Option<Fitted>,
    /// Features of the document, where verdicts count each of them once.
    collector: Option<Collector>,
    output: &'a mut Output,
    signals: &'a Signals,
}

impl Classifier<'_> {
    /// Prints the result of the document scored so far, which has this name, and starts a new one.
    fn result(&mut self, name: &[u8]) {
        self.scorer.settle_words(&mut warn);
        let standings = document::finish(&self.scorer, self.prior);
        self.results += 1;
        if let Some(set) = &self.set {
            let models = self.scorer.models();
            let found = set.scores(models, &standings, self.collector.as_mut());
            let FittedScores { scores, grounds, .. } = found;
            let verdict = set.line.verdict(&scores, grounds);
            let category = set.order[verdict.category];
            let out = self.output.buffer();
            if let Some(format) = self.format {
                format.separate(out, self.results == 1);
                let odds = set.line.log_odds(&scores);
                let rows: Vec<(&[u8], f64)> = (0..models.len())
                    .map(|at| {
                        let place = set.order.iter().position(|&own| own == at);
                        let odds = place.and_then(|place| odds.get(place));
                        (models[at].name.as_slice(), odds.copied().unwrap_or(f64::NAN))
                    })
                    .collect();
                format.verdict(out, &Id::Name(name), &verdict, category, &rows);
            } else {
                verdict.write(out, &models[category].name);
                out.push(b'\n');
            }
            let number = u8::try_from(category + 1).unwrap_or(u8::MAX);
            self.status = if verdict.is_unsure { 0 } else { number };
            self.scorer.start_document();
            return;
        }
        let out = self.output.buffer();
        if let Some(format) = self.format {
            format.separate(out, self.results == 1);
            let confident = self.form.confidence;
            format.result(out, &Id::Name(name), self.scorer.models(), &standings, confident);
        } else {
            print::whole(out, self.form, &self.scorer, &standings);
        }
        self.status = u8::try_from(document::best(&standings) + 1).unwrap_or(u8::MAX);
        self.scorer.start_document();
    }

    /// Loads the categories anew; those that cannot be loaded stay as they are.
    fn reload(&mut self) {
        MESSAGES.signal("caught SIGUSR1 request, reloading categories asap");
        let mut models = Vec::new();
        let mut opened = OpenSets::default();
        for (path, old) in self.model_paths.iter().zip(self.scorer.models()) {
            let Some(path) = path else {
                models.push(Model::random());
                continue;
            };
            match opened.load(path) {
                Ok(category) => {
                    models.push(Model::learned(old.name.clone(), category, old.patterns));
                }
                Err(failure) => {
                    for line in &failure.lines {
                        MESSAGES.warning(&format!("{line}; keeping the old one"));
                    }
                    return;
                }
            }
        }
        self.scorer.settle_words(&mut warn);
        self.scorer.set_models(models);
    }
}

impl FeatureSink for Classifier<'_> {
    fn raw_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        if self.signals.take_reload() {
            self.reload();
        }
        self.echo.raw_line(line, self.output)
    }

    fn text(&mut self, line: &[u8], state: LineState, _: &mut Cutter) -> io::Result<()> {
        if self.debug && state.kept {
            self.output.buffer().extend_from_slice(line);
        }
        Ok(())
    }

    fn cut(&mut self, line: &mut Vec<u8>, medium: Medium, cutter: &mut Cutter) -> io::Result<()> {
        if self.by_words {
            cutter.words(line, &mut self.scorer.words(medium, &mut warn));
            self.scorer.end_of_line(&mut warn);
        } else {
            cutter.features(line, medium, &mut |feature| self.feature(feature));
        }
        self.output.spill()
    }

    fn feature(&mut self, feature: Feature<'_>) {
        let Self { scorer, output, cells, collector, .. } = self;
        if let Some(collector) = collector {
            collector.add(FeatureId::of(feature.body, feature.medium), Makeup::of(&feature));
        }
        let Some(form) = *cells else { return scorer.score(&feature, &mut warn) };
        let out = output.buffer();
        let scored = scorer.score_each(&feature, &mut warn, |cell, tally| {
            trace::cell(out, form, &cell, tally);
        });
        if scored {
            trace::token_text(out, &feature);
        }
    }

    fn end_of_line(&mut self, line: &[u8], _: &mut Cutter) -> io::Result<()> {
        if self.filters.is_empty() {
            return Ok(());
        }
        if self.cells.is_none() {
            self.scorer.settle_words(&mut warn);
            let standings = document::finish(&self.scorer, self.prior);
            let (out, form) = (self.output.buffer(), self.form);
            print::line(out, form, &self.scorer, &standings, &self.filters, line);
        }
        self.scorer.start_document();
        self.output.flush()
    }

    fn end_of_source(&mut self, name: &[u8], _: &mut Cutter) -> io::Result<()> {
        self.scorer.forget_words();
        if self.per_file && self.filters.is_empty() {
            if self.format.is_none() {
                let out = self.output.buffer();
                out.extend_from_slice(name);
                out.push(b' ');
            }
            self.result(name);
            if self.line_buffered {
                self.output.flush()?;
            } else {
                self.output.spill()?;
            }
        }
        Ok(())
    }
}
