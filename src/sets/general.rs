// SPDX-License-Identifier: GPL-3.0-or-later
//! The general model of a mail filter: a copy of the categories of another filter, which was
//! learned from mail of other people.
//!
//! ```text
//! other filter ─→ general.LABEL, of each category ─→ each generation of the set ─→ GeneralModel
//! ```
//!
//! The copies stay as they are whatever is learned, corrected and forgotten, so the filter does not
//! depend on the other one.

use super::error::{FittedSetError, listed};
use super::files::{general_files, general_member};
use super::mail_reading::MailReading;
use super::open_set::{MailFilter, direct};
use super::refit::{of_own_general, open_general, replace};
use crate::error::{Warning, WarningSink};
use crate::store::generations::{Change, member};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

type Result<T, E = FittedSetError> = std::result::Result<T, E>;

/// Where the general model of a filter that is learned again comes from.
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

/// Copies the filter in `from` into the generation that `change` makes of a filter with these
/// `labels`, which reads mail as `reading` says. A warning names the labels that it does not know.
pub fn bring(
    change: &Change,
    from: &Path,
    labels: &[&str],
    reading: MailReading,
    warnings: WarningSink<'_>,
) -> Result<()> {
    let set = MailFilter::open(from, warnings).map_err(|error| unfit(from, error.to_string()))?;
    let is_known = |label: &&&str| set.names.iter().any(|name| name == **label);
    let unknown: Vec<&str> = labels.iter().filter(|label| !is_known(label)).copied().collect();
    if unknown.len() == labels.len() {
        let (own, labels) = (listed(&set.names), listed(labels));
        return Err(unfit(from, format!("it knows {own}, and none of {labels}")));
    }
    if MailReading::of_filter(from) != Some(reading) {
        return Err(unfit(from, "it reads mail in another way"));
    }
    let file = |label: &String| {
        let path = match &set.generation {
            Some(generation) => generation.path(&member("category.", OsStr::new(label))),
            None => direct(&from.join(label)),
        };
        (label.clone().into_bytes(), path)
    };
    copy(change, labels, &set.names.iter().map(file).collect::<Vec<_>>())?;
    if !unknown.is_empty() {
        let (from, own, unknown) = (from.display(), listed(&set.names), listed(&unknown));
        warnings(Warning::new(format!(
            "the general model {from} knows {own}: it cannot tell {unknown} from other mail"
        )));
    }
    Ok(())
}

/// Copies the general model of the generation in the folder `now` into the one that `change` makes.
/// Where the filter gets other labels, or reads mail otherwise than before, it is left out with a
/// warning.
pub fn keep(
    (now, change): (Option<&Path>, &Change),
    labels: &[&str],
    is_same_reading: bool,
    warnings: WarningSink<'_>,
) -> Result<()> {
    let files = now.map(general_files).transpose()?.unwrap_or_default();
    if files.is_empty() {
        return Ok(());
    }
    if is_same_reading
        && files.iter().any(|(own, _)| labels.iter().any(|label| label.as_bytes() == own))
    {
        return copy(change, labels, &files).map_err(of_own_general);
    }
    let text = "the general model is left out, since it is of other folders or reads mail in \
                another way";
    warnings(Warning::new(text));
    Ok(())
}

/// Copies the categories in `files` if they can be used.
fn copy(change: &Change, labels: &[&str], files: &[(Vec<u8>, PathBuf)]) -> Result<()> {
    let model = open_general(files, labels)?;
    for ((label, _), bytes) in files.iter().zip(model.files()) {
        replace(&change.path(&general_member(label)), bytes)?;
    }
    Ok(())
}
