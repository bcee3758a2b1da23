// SPDX-License-Identifier: GPL-3.0-or-later
//! Classifying texts, and filtering lines (spec model 12 to 14).

use super::categories::reload;
use super::config::Config;
use super::echo::Echo;
use super::failure::{Failure, Kind, output_failure};
use super::inputs;
use super::messages::warn;
use super::signals::Signals;
use super::structured::Id;
use crate::document::{Cutter, FeatureSink, LineState};
use crate::model::medium::Medium;
use crate::model::settings::ModelOption;
use crate::report::print;
use crate::report::trace::{self, CellForm};
use crate::score::document;
use crate::score::scorer::Scorer;
use crate::score::words::Wanted;
use crate::sets::classify::classifier::EMPIRICAL_BITS;
use crate::token::Feature;
use dbacl_cli::output::Output;
use std::io;
use std::os::unix::ffi::OsStrExt;

/// Scores the inputs and prints the results; returns the exit status.
pub(super) fn run(
    mut config: Config,
    signals: &Signals,
    output: &mut Output,
) -> Result<u8, Failure> {
    let measures_entropy = config.reading.options.has(ModelOption::Entropy);
    let bits = config.bits.unwrap_or(EMPIRICAL_BITS);
    let form = config.form;
    let cells =
        config.dump.then(|| CellForm::of_cells(form.scores, form.probabilities, form.uncertainty));
    let models = std::mem::take(&mut config.models);
    let mut scorer = Scorer::new(models, measures_entropy.then_some(bits));
    if cells.is_some() {
        let heading = CellForm::of_heading(form.scores, form.probabilities, form.uncertainty);
        trace::head(output.buffer(), scorer.models(), heading);
    } else if config.debug && config.prior {
        trace::priors(output.buffer(), scorer.models());
    }
    let options = config.reading.read_options();
    let (config, reading) = (&config, &config.reading);
    let mut reader = inputs::reader(reading, &options, signals);
    // Nobody sees these unless such forms are asked for.
    let (squares, counts) = (form.uncertainty, form.media || form.verbose && form.uncertainty);
    let entropy = form.confidence || (form.verbose && form.uncertainty);
    if cells.is_none() && reader.cutter().has_only_words() {
        scorer.expect_words(reading.order, Wanted { squares, counts, entropy });
    }
    let echo = Echo { append: form.append, indented: reading.indented };
    let (results, status) = (0, 0);
    let mut printer = Printer { config, scorer, echo, cells, results, status, output, signals };
    if let Some(format) = config.format {
        let out = printer.output.buffer();
        format.begin(out, printer.scorer.models());
    }
    let ended = inputs::read(reading, signals, &mut reader, &mut printer, |_, _| Ok(()));
    if ended.is_ok() && !config.per_file && config.filters.is_empty() {
        let only = match reading.operands.as_slice() {
            [] => &b"stdin"[..],
            [operand] => operand.as_bytes(),
            _ => b"",
        };
        printer.result(only);
    }
    if let Some(format) = config.format {
        // After an error, too, so that JSON stays JSON.
        format.end(printer.output.buffer(), printer.results > 0);
    }
    ended?;
    let status = printer.status;
    output.flush().map_err(|error| output_failure(&error))?;
    if reading.strict && signals.stopped() {
        return Err(Failure::silent(Kind::Interrupted));
    }
    Ok(if reading.strict { 0 } else { status })
}

/// Takes the lines of the inputs, scores their features, and prints what that says.
struct Printer<'a> {
    config: &'a Config,
    scorer: Scorer,
    echo: Echo,
    cells: Option<CellForm>,
    /// Results printed so far.
    results: usize,
    status: u8,
    output: &'a mut Output,
    signals: &'a Signals,
}

impl Printer<'_> {
    /// Prints the result of the document scored so far, which has this name, and starts a new one.
    fn result(&mut self, name: &[u8]) {
        let category_scores = self.scorer.category_scores(self.config.prior);
        self.warn();
        self.results += 1;
        let out = self.output.buffer();
        if let Some(format) = self.config.format {
            format.separate(out, self.results == 1);
            let confident = self.config.form.confidence;
            format.result(out, &Id::Name(name), self.scorer.models(), &category_scores, confident);
        } else {
            print::whole(out, self.config.form, &self.scorer, &category_scores);
        }
        self.status = u8::try_from(document::best(&category_scores) + 1).unwrap_or(u8::MAX);
        self.scorer.start_document();
    }

    /// Prints the warnings of the scoring so far.
    fn warn(&mut self) {
        self.scorer.warnings().into_iter().for_each(warn);
    }

    /// Loads the categories again; those that cannot be loaded stay as they are.
    fn reload(&mut self) {
        let loaded = reload(&self.config.model_paths, self.scorer.models());
        let Some(models) = loaded else { return };
        self.scorer.settle_words();
        self.warn();
        self.scorer.set_models(models);
    }
}

impl FeatureSink for Printer<'_> {
    fn raw_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        if self.signals.take_reload() {
            self.reload();
        }
        self.echo.raw_line(line, self.output)
    }

    fn text(&mut self, line: &[u8], state: LineState, _: &mut Cutter) -> io::Result<()> {
        if self.config.debug && state.kept {
            self.output.buffer().extend_from_slice(line);
        }
        Ok(())
    }

    fn cut(&mut self, line: &mut Vec<u8>, medium: Medium, cutter: &mut Cutter) -> io::Result<()> {
        if self.cells.is_some() {
            cutter.features(line, medium, &mut |feature| self.feature(feature));
        } else {
            self.scorer.cut(line, medium, cutter)?;
        }
        self.warn();
        self.output.spill()
    }

    fn feature(&mut self, feature: Feature<'_>) {
        let Some(form) = self.cells else { return self.scorer.feature(feature) };
        let out = self.output.buffer();
        let scored = self.scorer.score_each(&feature, |cell, tally| {
            trace::cell(out, form, &cell, tally);
        });
        if scored {
            trace::token_text(out, &feature);
        }
    }

    fn end_of_line(&mut self, line: &[u8], _: &mut Cutter) -> io::Result<()> {
        if self.config.filters.is_empty() {
            return Ok(());
        }
        if self.cells.is_none() {
            let category_scores = self.scorer.category_scores(self.config.prior);
            self.warn();
            let (out, form) = (self.output.buffer(), self.config.form);
            print::line(out, form, &self.scorer, &category_scores, &self.config.filters, line);
        }
        self.scorer.start_document();
        self.output.flush()
    }

    fn end_of_source(&mut self, name: &[u8], _: &mut Cutter) -> io::Result<()> {
        self.scorer.forget_words();
        if self.config.per_file && self.config.filters.is_empty() {
            if self.config.format.is_none() {
                let out = self.output.buffer();
                out.extend_from_slice(name);
                out.push(b' ');
            }
            self.result(name);
            if self.config.line_buffered {
                self.output.flush()?;
            } else {
                self.output.spill()?;
            }
        }
        Ok(())
    }
}
