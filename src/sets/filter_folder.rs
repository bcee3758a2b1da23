// SPDX-License-Identifier: GPL-3.0-or-later
//! What is in a folder where somebody looks for a mail filter, and why it cannot be opened.

use crate::store::folder::{JOURNAL, TABLE};
use crate::store::table::Fault;
use crate::store::{FilterError, FilterFolder};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Why a filter cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum FilterOpenError {
    /// The folder holds no filter, or cannot be looked into.
    #[error("{}", no_filter_text(folder, source))]
    NoFilter {
        /// The folder.
        folder: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// Another version of dbacl made the filter.
    #[error(
        "{} is a filter of another version of dbacl: learn again: dbacl --mail-learn {} {learn}",
        folder.display(),
        folder.display()
    )]
    Version {
        /// The folder.
        folder: PathBuf,
        /// The operands that name its mail folders.
        learn: String,
    },
    /// The general model cannot be used.
    #[error(
        "{source}; give --general DIR with it, or --general none to do without the general model"
    )]
    General {
        /// What is wrong with its file.
        source: FilterError,
    },
    /// A file of the filter is damaged or cannot be read.
    #[error(transparent)]
    Files(FilterError),
}

impl From<FilterError> for FilterOpenError {
    fn from(error: FilterError) -> Self {
        match error {
            FilterError::NoFilter { folder } => {
                Self::NoFilter { folder, source: rustix::io::Errno::NOENT.into() }
            }
            FilterError::Version { folder } => {
                let learn = operands(&folder);
                Self::Version { folder, learn }
            }
            FilterError::Io { path, source }
                if source.kind() == io::ErrorKind::PermissionDenied =>
            {
                Self::NoFilter { folder: path, source }
            }
            other => Self::Files(other),
        }
    }
}

fn no_filter_text(folder: &Path, error: &io::Error) -> String {
    let folder = folder.display();
    if error.kind() != io::ErrorKind::NotFound {
        return format!("{folder}: {error}");
    }
    format!(
        "{folder} is not a mail filter (no file {folder}/table); create it with dbacl --mail-learn \
         {folder} ham=MAIL spam=MAIL"
    )
}

/// The mail folders that a filter of an older version of dbacl was learned from, as operands.
fn operands(folder: &Path) -> String {
    let order = dbacl_files::reading::read_small_text(&folder.join("order"));
    let order = order.unwrap_or_default();
    let labels: Vec<String> = order
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|label| format!("{label}=MAIL"))
        .collect();
    if labels.is_empty() { "ham=MAIL spam=MAIL".into() } else { labels.join(" ") }
}

impl FilterOpenError {
    /// The error of a table in `folder` that cannot be read.
    pub(crate) fn of_table(folder: &FilterFolder, fault: Fault) -> Self {
        Self::Files(folder.fault(TABLE, fault))
    }

    /// Whether the table is damaged, so that an earlier state may be of use.
    pub(super) fn is_damage(&self) -> bool {
        match self {
            Self::Files(FilterError::Occupied { path } | FilterError::Damaged { path }) => {
                path.ends_with(TABLE)
            }
            _ => false,
        }
    }
}

/// What is in a folder where somebody looks for a mail filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterPlace {
    /// No filter.
    Empty,
    /// What a filter leaves whose making was interrupted. The next one that is made there takes its
    /// place.
    Unfinished,
    /// A filter, which may be damaged.
    Filter,
    /// A link, or something below one, that belongs neither to this user nor to the superuser:
    /// whoever made it may not use what it leads to.
    ForeignLink,
}

impl FilterPlace {
    /// What is in `folder`. The table comes last of all, so that a filter that is being made does
    /// not count yet.
    pub fn of(folder: &Path) -> Self {
        if fs::symlink_metadata(folder).is_err() {
            return Self::Empty;
        }
        let files = [TABLE, JOURNAL].map(|name| folder.join(name));
        if folder.ancestors().chain(files.iter().map(PathBuf::as_path)).any(is_at_foreign_link) {
            return Self::ForeignLink;
        }
        let folder = FilterFolder::new(folder);
        match (folder.is_filter(), folder.is_begun()) {
            (true, _) => Self::Filter,
            (false, true) => Self::Unfinished,
            (false, false) => Self::Empty,
        }
    }
}

/// Makes a filter in `folder`. If that fails, a folder that was not there before does not stay,
/// unless another process has put something into it.
pub(super) fn make_in<T, E>(folder: &Path, make: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let is_new = fs::symlink_metadata(folder).is_err();
    let made = make();
    if made.is_err() && is_new {
        let _ = fs::remove_dir(folder);
    }
    made
}

/// Whether `path` is a link that belongs to neither this user nor the superuser.
fn is_at_foreign_link(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let own = rustix::process::geteuid().as_raw();
    fs::symlink_metadata(path)
        .is_ok_and(|found| found.is_symlink() && found.uid() != own && found.uid() != 0)
}
