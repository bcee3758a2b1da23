// SPDX-License-Identifier: GPL-3.0-or-later
//! `update`, `forget` and `merge`: models that keep their documents → a model that is trained again
//! on more or fewer of them, as if on these from the beginning.

use super::options::{ChangeArguments, MergeArguments};
use super::{Failure, MESSAGES, begin, lock, open, read, train};
use dbacl::text::TextModel;
use dbacl::text::Trainer;
use dbacl::text::data::{DataError, Record};
use std::path::Path;

/// A trainer with the options and documents of `model`, which is at `path`.
fn trainer_of(model: &TextModel, path: &Path) -> Result<Trainer, Failure> {
    let trainer = Trainer::of_model(model, &mut |text| MESSAGES.warning(&text));
    trainer.map_err(|error| train::refusal(error, path))
}

/// Trains again, saves the model, and reports it; documents came from `path`.
fn finish(trainer: &Trainer, path: &Path, output: &Path, quiet: bool) -> Result<(), Failure> {
    train::save(&train::searched(trainer, None, &[], path, quiet)?, output, quiet)
}

fn change(
    arguments: &ChangeArguments,
    apply: &mut dyn FnMut(&mut Trainer, &Record<'_>) -> Result<(), DataError>,
) -> Result<(), Failure> {
    let output = arguments.output.as_ref().unwrap_or(&arguments.model);
    // Opening the model checks it, and warns of it.
    let take_lock = if *output == arguments.model { lock } else { begin };
    let _lock = take_lock(&arguments.replacing, output)?;
    let model = open(&arguments.model)?;
    let mut trainer = trainer_of(&model, &arguments.model)?;
    let path = &arguments.data.data;
    let mut take = |record: Record<'_>| apply(&mut trainer, &record);
    read("reading", path, &arguments.data.reading(false, Some(&model)), &mut take)?;
    finish(&trainer, path, output, arguments.replacing.quiet)
}

pub(crate) fn update(arguments: &ChangeArguments) -> Result<(), Failure> {
    change(arguments, &mut |trainer, record| {
        trainer.add(record.label, record.text);
        Ok(())
    })
}

pub(crate) fn forget(arguments: &ChangeArguments) -> Result<(), Failure> {
    change(arguments, &mut |trainer, record| {
        if trainer.forget(record.label, record.text) {
            return Ok(());
        }
        let what = format!("the model has no such document of the label {}", record.label);
        Err(DataError::line(record.file, record.line, what))
    })
}

pub(crate) fn merge(arguments: &MergeArguments) -> Result<(), Failure> {
    let _lock = begin(&arguments.replacing, &arguments.output)?;
    // `num_args` sees to it that there are two or more.
    let Some((first, others)) = arguments.models.split_first() else { return Ok(()) };
    let mut trainer = trainer_of(&open(first)?, first)?;
    for path in others {
        trainer.add_kept(&open(path)?).map_err(|error| train::refusal(error, path))?;
    }
    finish(&trainer, first, &arguments.output, arguments.replacing.quiet)
}
