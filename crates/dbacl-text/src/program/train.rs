// SPDX-License-Identifier: GPL-3.0-or-later
//! `train`: documents → model.

use super::options::TrainArguments;
use super::{Failure, MESSAGES, status};
use crate::blocks::BlockTrainer;
use crate::data::{self, DataError, Record};
use crate::recipe::Recipe;
use crate::search::{Trial, search};
use crate::train::{TrainError, Trained, Trainer};
use crate::unlabelled::{Help, train_with_unlabelled};
use dbacl::blocks::BlockError;
use dbacl_cli::output::{self, Output};
use dbacl_cli::progress;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub fn run(arguments: &TrainArguments) -> Result<(), Failure> {
    if arguments.quiet {
        MESSAGES.be_quiet();
    }
    // A model that is replaced keeps its mode.
    super::warn_of_writers(&arguments.output);
    let path = &arguments.data.data;
    let mut recipe = arguments.recipe();
    if recipe.in_blocks.is_some() {
        return in_blocks(&recipe, arguments);
    }
    // A search chooses cost and blend as well.
    recipe.choose |= arguments.seconds.is_some();
    let trainer = Trainer::of_recipe(&recipe, &mut |text| MESSAGES.warning(&text));
    let mut trainer = trainer.map_err(|error| Failure::new(status::USAGE, &error))?;
    if arguments.keep {
        trainer = trainer.keeping();
    }
    let mut take = |record: Record<'_>| {
        trainer.add(record.label, record.text);
        Ok(())
    };
    let read = || data::read(path, &arguments.data.reading(), &mut take);
    let notes = progress::watch("reading", || None, read)?;
    if let Some(note) = notes.text(path) {
        MESSAGES.warning(&note);
    }
    if let Some(file) = &arguments.unlabelled {
        return with_unlabelled(&trainer, arguments, file);
    }
    let Some(seconds) = arguments.seconds else {
        return finish(&trainer, path, &arguments.output, arguments.quiet);
    };
    let limit = Duration::from_secs(seconds);
    let mut told = |trial: &Trial| tell(trial, arguments.quiet);
    let found = progress::watch("searching", || None, || search(&trainer, limit, &mut told));
    let (trained, _) = found.map_err(|error| refusal(error, path))?;
    save(&trained, &arguments.output, arguments.quiet)
}

/// Trains in blocks, saves the model, and tells of it.
fn in_blocks(recipe: &Recipe, arguments: &TrainArguments) -> Result<(), Failure> {
    let path = &arguments.data.data;
    let folder = arguments.output.parent().unwrap_or(Path::new(""));
    let mut warn = |text: String| MESSAGES.warning(&text);
    let trainer = BlockTrainer::new(recipe, arguments.memory, folder, &mut warn);
    let mut trainer = trainer.map_err(|error| match error {
        BlockError::Settings(_) => Failure::new(status::USAGE, &error),
        other => refusal(other.into(), &arguments.output),
    })?;
    let mut failure = None;
    let mut take = |record: Record<'_>| {
        trainer.add(record.label, record.text).map_err(|error| {
            let what = DataError::line(record.file, record.line, error.to_string());
            failure = Some(error);
            what
        })
    };
    let read = || data::read(path, &arguments.data.reading(), &mut take);
    let read = progress::watch("reading", || None, read);
    if let Some(error) = failure {
        return Err(refusal(error.into(), &arguments.output));
    }
    if let Some(note) = read?.text(path) {
        MESSAGES.warning(&note);
    }
    let never = AtomicBool::new(false);
    let trained = progress::watch("training", || None, || trainer.train(&never));
    save(&trained.map_err(|error| refusal(error, path))?, &arguments.output, arguments.quiet)
}

/// Trains with the texts of a file without labels, saves the model, and tells of it.
fn with_unlabelled(
    trainer: &Trainer,
    arguments: &TrainArguments,
    file: &Path,
) -> Result<(), Failure> {
    let mut texts = Vec::new();
    let mut take = |record: Record<'_>| {
        texts.push(record.text.to_vec());
        Ok(())
    };
    let read = || data::read(file, &arguments.reading_of_unlabelled(file), &mut take);
    progress::watch("reading", || None, read)?;
    let never = AtomicBool::new(false);
    let train = || train_with_unlabelled(trainer, &texts, &never);
    let (trained, help) = progress::watch("training", || None, train)
        .map_err(|error| refusal(error, &arguments.data.data))?;
    save(&trained, &arguments.output, arguments.quiet)?;
    if arguments.quiet {
        return Ok(());
    }
    let Help { threshold, taken, judged, errors_without, errors } = help;
    let mut out = Output::new();
    let all = texts.len();
    let text = match threshold {
        Some(threshold) => format!(
            "{taken} of {all} texts without labels were learned, which are more probable than \
             {threshold}: {errors} errors in {judged} with them, {errors_without} without\n"
        ),
        None => format!("none of the {all} texts without labels was learned: they do not help\n"),
    };
    out.buffer().extend_from_slice(text.as_bytes());
    Ok(out.flush()?)
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
        "{} documents of {} labels; {errors} errors in {judged} ({share:.2} %) that were not \
         learned \
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
    output::raw(trial.to_string().as_bytes());
}
