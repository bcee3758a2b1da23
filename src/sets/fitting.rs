// SPDX-License-Identifier: GPL-3.0-or-later
//! Fits all documents of a filter: what its next table says.

use super::error::MailFilterError;
use super::weighing::{OpenGeneral, Weights};
use crate::fit::blocks::{BLOCKS, problems};
use crate::fit::dataset::Dataset;
use crate::fit::general::GeneralModel;
use crate::fit::joint::{FOLDS, FitNote, Problem, Quality, Solution, Wishes};
use crate::fit::rule::Rule;
use crate::fit::stop::Stop;
use crate::fit::thresholds::FEWEST;
use crate::store::table::Sections;
use crate::store::{Builder, Document, Effect, Head, Reading};
use std::sync::atomic::{AtomicBool, Ordering};

/// What was learned from folders of mail.
pub(crate) struct Learned {
    /// The fit, with the labels in its head.
    pub fitted: Fitted,
    /// Corrections that were applied.
    pub corrections: usize,
}

/// What a fit of all documents has found.
pub(crate) struct Fitted {
    /// The head of the table, without the names of files.
    pub head: Head<Rule>,
    /// The records of the table.
    pub sections: Sections,
    /// Documents of each label.
    pub documents: Vec<usize>,
    /// Different ones of them, counted up to the number with which verdicts can be sure.
    pub different: Vec<usize>,
    /// The fit, without dual variables.
    pub solution: Solution,
    /// The numbers of the documents that were fitted.
    pub places: Vec<usize>,
}

impl Fitted {
    /// What was tried, one line each.
    pub(crate) fn trials(&self) -> impl Iterator<Item = (usize, f64, Quality)> + '_ {
        self.solution.tried.iter().map(|&(share, quality)| (FOLDS, share, quality))
    }
}

/// Fits `documents`, notes which of them take no part, and makes the records of a table.
///
/// # Errors
/// [`MailFilterError::Fit`], [`MailFilterError::Stopped`], [`MailFilterError::Open`].
pub(crate) fn fit(
    reading: &Reading,
    documents: &mut [Document],
    (wishes, general): (&Wishes, Option<&OpenGeneral>),
    note: &mut dyn FnMut(FitNote),
    stop: &AtomicBool,
) -> Result<Fitted, MailFilterError> {
    let is_stopped = || stop.load(Ordering::Relaxed);
    let width = reading.labels.len();
    let (data, places) = dataset(documents, width);
    let names = &reading.labels[..];
    let solution = solve(&data, names, wishes, general, note, &is_stopped);
    let sizes: Vec<usize> = data.documents().into_iter().map(|own| own as usize).collect();
    let different = data.different(FEWEST);
    for (&number, features) in places.iter().zip(data.into_features()) {
        documents[number].features = features;
    }
    let mut solution = solution?;
    let width = problems(width);
    let mut builder = Builder::new(Head::new(reading.clone(), solution.rule.clone()));
    let mut next = 0;
    for (number, document) in documents.iter_mut().enumerate() {
        let at = next;
        let is_fitted = places.get(at) == Some(&number);
        next += usize::from(is_fitted);
        let (inputs, duals, is_left_out) = if is_fitted {
            let duals = solution.duals[at * width..][..width].to_vec();
            (solution.inputs[at], duals, solution.is_left_out[at])
        } else {
            ([0.0; BLOCKS], vec![0.0; width], true)
        };
        document.is_left_out = is_left_out;
        builder.add(document, Effect { label: document.label, is_left_out, inputs, duals });
    }
    (solution.duals, solution.inputs, solution.is_left_out) = Default::default();
    let (mut head, sections) = builder.finish();
    head.fitted = u32::try_from(places.len()).unwrap_or(u32::MAX);
    Ok(Fitted { head, sections, documents: sizes, different, solution, places })
}

/// The fit of `data`, with what the general model says of its features.
fn solve(
    data: &Dataset,
    names: &[String],
    wishes: &Wishes,
    general: Option<&OpenGeneral>,
    note: &mut dyn FnMut(FitNote),
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> Result<Solution, MailFilterError> {
    let model = general.map(|general| model(general, data)).transpose()?;
    let general = model.as_ref();
    let problem = Problem { data, names, wishes, general, stop: Stop::when(is_stopped) };
    Ok(problem.solve(note)?)
}

/// The documents that have one of `width` labels, whose features are taken, and their numbers.
pub(super) fn dataset(documents: &mut [Document], width: usize) -> (Dataset, Vec<usize>) {
    let mut data = Dataset::new(width);
    let mut places = Vec::new();
    for (number, document) in documents.iter_mut().enumerate() {
        // Labels without a folder have greater numbers.
        if usize::from(document.label) < width {
            let name = document.name();
            let features = std::mem::take(&mut document.features);
            data.push(usize::from(document.label), name, features);
            places.push(number);
        }
    }
    (data.complete(), places)
}

/// What a general model says of the features of `data`.
fn model(general: &OpenGeneral, data: &Dataset) -> Result<GeneralModel, MailFilterError> {
    let mut order: Vec<usize> = (0..data.ids.len()).collect();
    order.sort_unstable_by_key(|&column| data.ids[column]);
    let ids: Vec<u32> = order.iter().map(|&column| data.ids[column]).collect();
    let found = Weights::of(&general.tables, &ids).map_err(|fault| MailFilterError::General {
        path: std::path::PathBuf::from("general"),
        reason: format!("it cannot be read ({fault:?})"),
    })?;
    let width = found.intercepts.len();
    let mut knows = vec![false; ids.len()];
    let mut weights = vec![0.0; ids.len() * width];
    for (at, column) in order.into_iter().enumerate() {
        knows[column] = found.known[at];
        weights[column * width..][..width].copy_from_slice(&found.each[at * width..][..width]);
    }
    let rule = &general.tables.table.head.rule;
    let even = if width == 1 { rule.calibration.even() } else { 0.0 };
    let (same, slope) = (general.same.clone(), rule.calibration.slope);
    Ok(GeneralModel { same, knows, weights, intercepts: found.intercepts, slope, even })
}
