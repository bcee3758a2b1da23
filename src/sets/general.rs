// SPDX-License-Identifier: GPL-3.0-or-later
//! The general model of a mail filter: a copy of two categories of another filter, which was
//! learned from mail of other people.
//!
//! ```text
//! other filter ─→ general.LABEL, of each category ─→ each generation of the set ─→ GeneralModel
//! ```
//!
//! The copies stay as they are whatever is learned, corrected and forgotten, so the filter does not
//! depend on the other one.

use super::error::FittedSetError;
use super::files::general_member;
use super::filter_folder::{LEDGER, ORDER, labels as labels_in};
use super::mail_reading::MailReading;
use super::open_set::{OpenSet, direct};
use super::refit::{open_general, replace};
use crate::error::{Warning, WarningSink};
use crate::joint::store::{Change, Store, member};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

type Result<T, E = FittedSetError> = std::result::Result<T, E>;

/// Where the general model of a filter that is learned anew comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum GeneralSource {
    /// The one that it has, if it has one.
    #[default]
    Same,
    /// None.
    Nothing,
    /// A copy of the filter in this folder.
    Of(PathBuf),
}

fn unfit(path: &Path, reason: impl Into<String>) -> FittedSetError {
    FittedSetError::General { path: path.to_path_buf(), reason: reason.into() }
}

/// How the filter in `folder` reads mail; `None` if there is no filter that can be read.
pub fn reading_of(folder: &Path) -> Option<MailReading> {
    let ledger = direct(&folder.join(LEDGER));
    MailReading::of_filter(&Store::beside(&ledger), &ledger)
}

/// Copies the filter in `from` into the generation that `change` makes of a filter with these
/// `labels`, which reads mail as `reading` says.
///
/// # Errors
/// [`FittedSetError::General`] where that filter has other labels, reads otherwise or is none;
/// errors of reading and writing.
pub fn bring(change: &Change, from: &Path, labels: &[&str], reading: MailReading) -> Result<()> {
    let &[first, second] = labels else {
        return Err(unfit(from, "it is of use with two folders only"));
    };
    let set =
        OpenSet::in_folder(from, &mut |_| {}).map_err(|error| unfit(from, error.to_string()))?;
    if labels.len() != set.names().len() || labels.iter().any(|label| !has(&set, label)) {
        let own = set.names().join(" and ");
        return Err(unfit(from, format!("it knows {own}, not {first} and {second}")));
    }
    if reading_of(from) != Some(reading) {
        return Err(unfit(from, "it reads mail in another way: see --reading"));
    }
    let path = |label: &str| match set.generation() {
        Some(generation) => generation.path(&member("category.", OsStr::new(label))),
        None => direct(&from.join(label)),
    };
    copy(change, [first, second], &[path(first), path(second)])
}

fn has(set: &OpenSet, label: &str) -> bool {
    set.names().iter().any(|name| name == label)
}

/// Copies the general model of the current generation into the one that `change` makes. Where the
/// filter gets other labels, or reads mail otherwise than before, it is left out with a warning.
///
/// # Errors
/// Errors of reading and writing.
pub fn keep(
    (store, change): (&Store, &Change),
    labels: &[&str],
    is_same_reading: bool,
    warnings: WarningSink<'_>,
) -> Result<()> {
    let current = store.open().map_err(FittedSetError::generation)?;
    let Some(current) = current else { return Ok(()) };
    let old = labels_in(&current.path(OsStr::new(ORDER)));
    let member = |label: &str| general_member(label.as_bytes());
    let has = |label: &str| current.has(&member(label));
    if !old.is_ok_and(|old| old.iter().any(|label| has(label))) {
        return Ok(());
    }
    match labels {
        &[first, second] if is_same_reading && has(first) && has(second) => {
            let path = |label: &str| current.path(&member(label));
            copy(change, [first, second], &[path(first), path(second)])
        }
        _ => {
            let text = "the general model is left out, since it is of other folders or reads mail \
                        in another way";
            warnings(Warning::new(text));
            Ok(())
        }
    }
}

/// Copies the categories at `paths` if they can be used.
fn copy(change: &Change, labels: [&str; 2], paths: &[PathBuf; 2]) -> Result<()> {
    let model = open_general(paths)?;
    for (label, bytes) in labels.iter().zip(model.files()) {
        replace(&change.path(&general_member(label.as_bytes())), bytes)?;
    }
    Ok(())
}
