// SPDX-License-Identifier: GPL-3.0-or-later
//! `train`: documents → model.

use super::options::{TrainArguments, reading_of_texts};
use super::{Failure, MESSAGES, print, read, status};
use dbacl::text::NONE;
use dbacl::text::Watch;
use dbacl::text::blocks::BlockTrainer;
use dbacl::text::data::{DataError, Record};
use dbacl::text::recipe::Recipe;
use dbacl::text::search::{Trial, best};
use dbacl::text::{TrainError, Trained, Trainer, unusual_columns};
use dbacl_cli::output;
use dbacl_cli::progress;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) fn run(arguments: &TrainArguments) -> Result<(), Failure> {
    let quiet = arguments.replacing.quiet;
    let model = arguments.model().ok_or_else(|| {
        Failure::new(status::USAGE, &"-o is missing: where is the model to be written?")
    })?;
    let _lock = super::begin(&arguments.replacing, &model)?;
    let path = &arguments.data.data;
    let recipe = arguments.recipe();
    if recipe.in_blocks.is_some() {
        return in_blocks(&recipe, arguments, &model);
    }
    let trainer = Trainer::of_recipe(&recipe, &mut |text| MESSAGES.warning(&text));
    let mut trainer = trainer.map_err(|error| Failure::new(status::USAGE, &error))?;
    if arguments.keep {
        trainer = trainer.keeping();
    }
    let mut take = |record: Record<'_>| {
        trainer.add_weighted(&record.labels(), record.text, 1.0);
        Ok(())
    };
    let reading = arguments.data.reading(recipe.several, None);
    let columns = read("reading", path, &reading, &mut take)?.columns;
    trainer.tell_columns(columns, reading);
    if let Some(file) = &arguments.none {
        let mut take = |record: Record<'_>| {
            trainer.add(NONE, record.text);
            Ok(())
        };
        let reading = reading_of_texts(None, &arguments.data.text_column, None);
        read("reading", file, &reading, &mut take)?;
    }
    let mut unlabelled = Vec::new();
    if let Some(file) = &arguments.unlabelled {
        let mut take = |record: Record<'_>| {
            unlabelled.push(record.text.to_vec());
            Ok(())
        };
        let reading = reading_of_texts(None, &arguments.data.text_column, None);
        read("reading", file, &reading, &mut take)?;
    }
    let found = searched(&trainer, arguments.autotune, &unlabelled, path, quiet)?;
    save(&found, &model, quiet)?;
    tell_of(&model, arguments)
}

/// Says where the model is that was given no name.
fn tell_of(model: &Path, arguments: &TrainArguments) -> Result<(), Failure> {
    if arguments.output.is_some() || arguments.replacing.quiet {
        return Ok(());
    }
    print(&format!("model: {}\n", model.display()))
}

/// Trains, or searches for some seconds; documents came from `path`.
pub(crate) fn searched(
    trainer: &Trainer,
    seconds: Option<u64>,
    unlabelled: &[Vec<u8>],
    path: &Path,
    is_quiet: bool,
) -> Result<Trained, Failure> {
    // What one way to read texts brought, as a line on standard error.
    let mut told = |trial: &Trial| {
        if !is_quiet {
            output::raw(trial.to_string().as_bytes());
        }
    };
    let trained = watched(|watch| best(trainer, seconds, unlabelled, watch, &mut told));
    trained.map_err(|error| refusal(error, path))
}

/// Runs a training, and shows how much is done.
fn watched<T>(train: impl FnOnce(&Watch<'_>) -> T) -> T {
    let done = AtomicU64::new(0);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a share
    let told = |share: f64| done.store((share * 1000.0) as u64, Ordering::Relaxed);
    let part = || Some((done.load(Ordering::Relaxed), 1000));
    let watch = Watch { stop: None, progress: Some(&told) };
    progress::watch("training", part, || train(&watch))
}

/// Trains in blocks, saves the model, and reports on it.
fn in_blocks(recipe: &Recipe, arguments: &TrainArguments, model: &Path) -> Result<(), Failure> {
    let path = &arguments.data.data;
    let folder = model.parent().unwrap_or(Path::new(""));
    let mut warn = |text: String| MESSAGES.warning(&text);
    let trainer = BlockTrainer::new(recipe, arguments.memory, folder, &mut warn);
    let mut trainer = trainer.map_err(|error| match error {
        TrainError::Settings(_) => Failure::new(status::USAGE, &error),
        other => refusal(other, model),
    })?;
    let mut failure = None;
    let mut take = |record: Record<'_>| {
        trainer.add(record.label, record.text).map_err(|error| {
            let what = DataError::line(record.file, record.line, error.to_string());
            failure = Some(error);
            what
        })
    };
    let reading = arguments.data.reading(false, None);
    let read = read("reading", path, &reading, &mut take);
    if let Some(error) = failure {
        return Err(refusal(error, model));
    }
    let columns = read?.columns;
    let trained = watched(|watch| trainer.train(watch));
    let mut trained = trained.map_err(|error| refusal(error, path))?;
    for (name, value) in unusual_columns(columns, reading) {
        trained.model.tell(name, &value);
    }
    save(&trained, model, arguments.replacing.quiet)?;
    tell_of(model, arguments)
}

pub(crate) fn save(trained: &Trained, output: &Path, quiet: bool) -> Result<(), Failure> {
    for warning in &trained.warnings {
        MESSAGES.warning(warning);
    }
    trained.model.save(output)?;
    if quiet { Ok(()) } else { print(&summary(trained)) }
}

pub(crate) fn refusal(error: TrainError, path: &Path) -> Failure {
    let place = match error {
        TrainError::NoDocuments
        | TrainError::OneLabel { .. }
        | TrainError::TooManyLabels { .. }
        | TrainError::NoWords { .. } => format!("{}:1: ", path.display()),
        _ => format!("{}: ", path.display()),
    };
    let failure = Failure::from(error);
    Failure { text: place + &failure.text, ..failure }
}

fn summary(trained: &Trained) -> String {
    let Trained { errors, judged, .. } = *trained;
    #[allow(clippy::cast_precision_loss)] // numbers of documents
    let share = 100.0 * errors as f64 / judged.max(1) as f64;
    let tested = if judged == 0 {
        "none was kept apart to test with".to_owned()
    } else {
        format!("{errors} errors in {judged} ({share:.2} %) that were not learned from")
    };
    let mut text =
        format!("{} documents of {} labels; {tested}\n", trained.documents, trained.labels.len());
    for (name, value) in &trained.chosen {
        // writing to a String cannot fail
        let _ = writeln!(text, "{name}: {value}");
    }
    text
}
