// SPDX-License-Identifier: GPL-3.0-or-later
//! The general model of a mail filter: a copy of another filter, which was learned from mail of
//! other people. It stays as it is whatever is learned, corrected and forgotten, so the filter does
//! not depend on the other one.

use super::error::{MailFilterError, listed};
use super::mail_reading::MailReading;
use super::open_filter::OpenFilter;
use super::weighing::OpenGeneral;
use crate::error::{Warning, WarningSink};
use std::path::{Path, PathBuf};

type Result<T, E = MailFilterError> = std::result::Result<T, E>;

/// Where the general model of a filter that is learned again comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum GeneralSource {
    /// The one that it has, if it has one.
    #[default]
    Same,
    /// None.
    Nothing,
    /// A copy of the filter in this folder.
    Of(PathBuf),
}

fn unfit(path: &Path, reason: impl Into<String>) -> MailFilterError {
    MailFilterError::General { path: path.to_path_buf(), reason: reason.into() }
}

/// Opens the filter in `from` to be the general model of one with these `labels`. A warning names
/// the labels that it does not know.
///
/// # Errors
/// [`MailFilterError::General`] says why it cannot be one.
pub(super) fn open(from: &Path, labels: &[&str], warnings: WarningSink<'_>) -> Result<OpenFilter> {
    let filter =
        OpenFilter::open(from, warnings).map_err(|error| unfit(from, error.to_string()))?;
    let is_known = |label: &&&str| filter.names().iter().any(|name| name == **label);
    let unknown: Vec<&str> = labels.iter().filter(|label| !is_known(label)).copied().collect();
    if unknown.len() == labels.len() {
        let (own, labels) = (listed(filter.names()), listed(labels));
        return Err(unfit(from, format!("it knows {own}, and none of {labels}")));
    }
    if filter.general.is_some() {
        return Err(unfit(from, "it rests on a general model itself"));
    }
    if !unknown.is_empty() {
        let (from, own, unknown) = (from.display(), listed(filter.names()), listed(&unknown));
        warnings(Warning::new(format!(
            "the general model {from} knows {own}: it cannot tell {unknown} from other mail"
        )));
    }
    Ok(filter)
}

/// The filter as the general model of one with these labels that reads mail as `reading` says;
/// `None` if it cannot be one.
pub(super) fn of(filter: OpenFilter, labels: &[&str], reading: MailReading) -> Option<OpenGeneral> {
    let stored = &filter.tables.table.head.reading;
    let is_fit = MailReading::of(stored) == Some(reading)
        && stored.labels.iter().any(|own| labels.contains(&own.as_str()));
    is_fit.then(|| OpenGeneral::new(filter.tables, labels))
}
