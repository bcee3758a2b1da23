// SPDX-License-Identifier: GPL-3.0-or-later
//! Makes a filter again whose table is damaged, from the documents of its ledger and its journal.

use super::error::{MailFilterError, unless_stopped};
use super::filter_folder::FilterOpenError;
use super::fitting::{self, Fitted};
use super::open_filter::OpenFilter;
use super::weighing::OpenGeneral;
use crate::error::{Warning, WarningSink};
use crate::fit::joint::{FALSE_POSITIVES, Wishes};
use crate::fit::rule::Rule;
use crate::store::{Before, Changing, OpenTables};
use std::sync::atomic::AtomicBool;

/// The filter that is being changed. If it is damaged, it is made again, with a warning that says
/// what is lost.
///
/// # Errors
/// What keeps it from being opened; the filter is as it was.
pub(super) fn open(
    changing: &mut Changing,
    stop: &AtomicBool,
    warnings: WarningSink<'_>,
) -> Result<OpenFilter, MailFilterError> {
    match OpenFilter::now(&changing.folder) {
        Err(error) if error.is_damage() => mend(changing, error, stop, warnings),
        opened => Ok(opened?),
    }
}

/// Makes a filter again that is damaged as `error` says.
///
/// # Errors
/// `error`, if there is nothing to make it of; else what stopped it.
pub(super) fn mend(
    changing: &mut Changing,
    error: FilterOpenError,
    stop: &AtomicBool,
    warnings: WarningSink<'_>,
) -> Result<OpenFilter, MailFilterError> {
    let folder = changing.folder.clone();
    let Some((reading, mut documents, is_cut)) = folder.salvage() else { return Err(error.into()) };
    let known: Option<OpenTables<Rule>> = folder.open().ok().or_else(|| folder.open_before());
    let known = known.filter(|known| known.table.head.reading == reading);
    let wishes = match &known {
        Some(known) => Wishes::like(&known.table.head.rule, false),
        None => Wishes { protected: usual(reading.labels.len()), ..Wishes::default() },
    };
    let general = known.as_ref().and_then(|known| folder.open_general::<Rule>(known).ok()?);
    let general = general.map(|tables| OpenGeneral::new(tables, &reading.labels));
    let how = (&wishes, general.as_ref());
    let Fitted { mut head, sections, .. } =
        fitting::fit(&reading, &mut documents, how, &mut |_| {}, stop)?;
    head.general = known.filter(|_| general.is_some()).and_then(|own| own.table.head.general);
    unless_stopped(stop)?;
    changing.replace(head, &sections, &documents, Before::Stays)?;
    let what = if is_cut {
        "it is made anew from what is left of its ledger"
    } else {
        "it is made anew from its ledger, and no document is lost"
    };
    let path = folder.path().display();
    warnings(Warning::new(format!("{path} was damaged, as by a power failure: {what}")));
    Ok(OpenFilter::now(&folder)?)
}

/// What is protected where nothing is known of it.
fn usual(labels: usize) -> Vec<Option<f64>> {
    (0..labels).map(|at| (labels == 2 && at == 0).then_some(FALSE_POSITIVES)).collect()
}
