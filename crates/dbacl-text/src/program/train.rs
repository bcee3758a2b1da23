// SPDX-License-Identifier: GPL-3.0-or-later
//! `train`: documents → model.

use super::options::TrainArguments;
use super::{Failure, MESSAGES, status};
use crate::data::{self, Record};
use crate::search::{Trial, search};
use crate::train::{TrainError, TrainOptions, Trained, Trainer};
use dbacl_cli::output::{self, Output};
use dbacl_cli::progress;
use std::path::Path;
use std::time::Duration;

/// What a model calls the options that it was trained with.
pub const OPTIONS: &str = "options";

pub fn run(arguments: &TrainArguments) -> Result<(), Failure> {
    if arguments.quiet {
        MESSAGES.be_quiet();
    }
    let path = &arguments.data.data;
    let mut trainer = trainer(arguments)?;
    let mut take = |record: Record<'_>| {
        trainer.add(record.label, record.text);
        Ok(())
    };
    let read = || data::read(path, &arguments.data.reading(), &mut take);
    let notes = progress::watch("reading", || None, read)?;
    if let Some(note) = notes.text(path) {
        MESSAGES.warning(&note);
    }
    let Some(seconds) = arguments.seconds else {
        return finish(&trainer, path, &arguments.output, arguments.quiet);
    };
    let limit = Duration::from_secs(seconds);
    let mut told = |trial: &Trial| tell(trial, arguments.quiet);
    let found = progress::watch("searching", || None, || search(&trainer, limit, &mut told));
    let (mut trained, candidate) = found.map_err(|error| refusal(error, path))?;
    // The model tells which options make it again.
    trained.model.tell(OPTIONS, &spelling(&arguments.clone().with_candidate(candidate)));
    save(&trained, &arguments.output, arguments.quiet)
}

/// A trainer by these arguments, without documents.
pub fn trainer(arguments: &TrainArguments) -> Result<Trainer, Failure> {
    let mut trainer = Trainer::new(&TrainOptions::default());
    if arguments.keep {
        trainer = trainer.keeping();
    }
    set_options(&mut trainer, arguments)?;
    Ok(trainer)
}

fn set_options(trainer: &mut Trainer, arguments: &TrainArguments) -> Result<(), Failure> {
    let options = arguments.options(&mut |text| MESSAGES.warning(&text));
    let options = options.map_err(|error| Failure::new(status::USAGE, &error))?;
    trainer.set_options(&options);
    trainer.tell(OPTIONS, &spelling(arguments));
    Ok(())
}

/// The options as a model tells them.
fn spelling(arguments: &TrainArguments) -> String {
    // Strings are always JSON.
    serde_json::to_string(&arguments.spelling()).unwrap_or_default()
}

/// Trains, saves the model, and tells of it; documents came from `path`.
pub fn finish(trainer: &Trainer, path: &Path, output: &Path, quiet: bool) -> Result<(), Failure> {
    let trained = progress::watch("training", || None, || trainer.train());
    save(&trained.map_err(|error| refusal(error, path))?, output, quiet)
}

fn save(trained: &Trained, output: &Path, quiet: bool) -> Result<(), Failure> {
    for warning in &trained.warnings {
        MESSAGES.warning(warning);
    }
    trained.model.save(output)?;
    if quiet {
        return Ok(());
    }
    let mut out = Output::new();
    out.buffer().extend_from_slice(summary(trained).as_bytes());
    Ok(out.flush()?)
}

/// The failure to train on the documents at `path`.
fn refusal(error: TrainError, path: &Path) -> Failure {
    let place = match error {
        TrainError::NoDocuments | TrainError::OneLabel { .. } | TrainError::NoWords { .. } => {
            format!("{}:1: ", path.display())
        }
        _ => format!("{}: ", path.display()),
    };
    let failure = Failure::from(error);
    Failure { text: place + &failure.text, ..failure }
}

fn summary(trained: &Trained) -> String {
    let (errors, judged) = (trained.quality.errors, trained.judged);
    #[allow(clippy::cast_precision_loss)] // numbers of documents
    let share = 100.0 * errors as f64 / judged.max(1) as f64;
    format!(
        "{} documents of {} labels; {errors} errors in {judged} ({share:.2} %) that were not learned \
         from, with cost {} and blend {}\n",
        trained.documents,
        trained.labels.len(),
        trained.settings.cost,
        trained.settings.blend,
    )
}

/// What one way to read texts brought, as a line on standard error.
fn tell(trial: &Trial, is_quiet: bool) {
    if is_quiet {
        return;
    }
    let Trial { candidate, errors: (errors, judged), is_best, elapsed } = trial;
    let best = if *is_best { ", the best so far" } else { "" };
    let spelling = candidate.spelling();
    let seconds = elapsed.as_secs();
    let line = format!("{seconds:>4} s  {spelling:<26} {errors} errors in {judged}{best}");
    output::raw(line.as_bytes());
}
