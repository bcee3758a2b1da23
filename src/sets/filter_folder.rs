// SPDX-License-Identifier: GPL-3.0-or-later
//! The files in a mail filter's folder, and the file that names its categories.

use crate::error::Error;
use crate::sets::classify::Incomparable;
use crate::store::generations::is_at_foreign_link;
use dbacl_files::reading::{begins_with, read_small_text};
use std::ffi::OsString;
use std::fs::symlink_metadata;
use std::io;
use std::path::{Path, PathBuf};

/// Name of the ledger in a filter's folder.
pub const LEDGER: &str = "ledger";

/// Name of the ledger of corrections in a mail filter's set.
pub(crate) const CORRECTIONS: &str = "corrections";

/// The name of the ledger of corrections of mail that was read in the way called `reading`, in the
/// set of a filter that reads mail otherwise now.
pub(crate) fn set_aside(reading: &str) -> OsString {
    format!("{CORRECTIONS}.{reading}").into()
}

/// Name of the file that lists the categories. The first category is protected. With two
/// categories, the second is the one that the filter looks for.
pub const ORDER: &str = "order";

/// The most categories that a filter can have.
pub(crate) const MOST: usize = 64;

/// How that file begins.
pub(crate) const MAGIC: &[u8] = b"# dbacl mail filter\n";

/// Why a filter cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MailFilterError {
    /// The folder holds no filter, or its file `order` cannot be read.
    #[error("{}", no_filter_text(path, source))]
    NoFilter {
        /// The file that names the categories.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The file that names the categories does not name two or more.
    #[error("{} is damaged: learn the mail folders again with --mail-learn", path.display())]
    Damaged {
        /// The file concerned.
        path: PathBuf,
    },
    /// The current generation of the filter's files cannot be opened.
    #[error(transparent)]
    Generation(Error),
    /// A category cannot be opened.
    #[error("could not load category {}: {source}", name.display())]
    Category {
        /// What the category is called in the filter's folder.
        name: PathBuf,
        /// The file that the name stands for.
        path: PathBuf,
        /// What is wrong with it.
        source: Error,
    },
    /// The categories cannot be compared.
    #[error(transparent)]
    Incomparable(#[from] Incomparable),
    /// The categories are not a complete set that was fitted together, for the reason given.
    #[error("{0}")]
    NotFitted(&'static str),
}

impl From<MailFilterError> for crate::error::Error {
    fn from(error: MailFilterError) -> Self {
        Self::Other(Box::new(error))
    }
}

fn no_filter_text(order: &Path, error: &io::Error) -> String {
    if error.kind() != io::ErrorKind::NotFound {
        return format!("{}: {error}", order.display());
    }
    let folder = order.parent().unwrap_or(order).display();
    format!(
        "{folder} is not a mail filter (no file {}); create it with dbacl --mail-learn {folder} \
         ham=MAIL spam=MAIL",
        order.display()
    )
}

impl MailFilterError {
    /// Whether a file is damaged, so that an earlier state may be of use.
    pub(super) const fn is_damage(&self) -> bool {
        use Error::{BadHeader, CutInDigrams, CutInTable, Damaged, NotACategory};
        match self {
            Self::Damaged { .. } | Self::NotFitted(_) => true,
            Self::Generation(source) | Self::Category { source, .. } => matches!(
                source,
                Damaged { .. }
                    | BadHeader { .. }
                    | CutInDigrams { .. }
                    | CutInTable { .. }
                    | NotACategory { .. }
            ),
            Self::NoFilter { .. } | Self::Incomparable(_) => false,
        }
    }
}

/// The labels in the file `path`.
///
/// # Errors
/// [`MailFilterError::NoFilter`], [`MailFilterError::Damaged`].
pub fn labels(path: &Path) -> Result<Vec<String>, MailFilterError> {
    match read_small_text(path) {
        Ok(text) => labels_in(&text, path),
        Err(source) => Err(MailFilterError::NoFilter { path: path.to_path_buf(), source }),
    }
}

/// The labels in `text`, the content of the file `path`.
pub(crate) fn labels_in(text: &str, path: &Path) -> Result<Vec<String>, MailFilterError> {
    let path = path.to_path_buf();
    let labels: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let is_whole = text.ends_with('\n');
    let is_label = |label: &&str| !label.is_empty() && !label.contains('/');
    if !is_whole || !(2..=MOST).contains(&labels.len()) || !labels.iter().all(is_label) {
        return Err(MailFilterError::Damaged { path });
    }
    Ok(labels.into_iter().map(str::to_owned).collect())
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
    /// What is in `folder`. The file `order` comes last of all, so that a filter that is being made
    /// does not count yet.
    pub fn of(folder: &Path) -> Self {
        if symlink_metadata(folder).is_err() {
            return Self::Empty;
        }
        if folder.ancestors().any(is_at_foreign_link) {
            return Self::ForeignLink;
        }
        let found = |name: &str| symlink_metadata(folder.join(name));
        let is_begun = || [LEDGER, "ledger.set", "ledger.lock"].iter().any(|it| found(it).is_ok());
        match found(ORDER) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if is_begun() {
                    Self::Unfinished
                } else {
                    Self::Empty
                }
            }
            // It may lead nowhere, or be unreadable: the filter is damaged.
            _ => Self::Filter,
        }
    }
}

/// Whether a file says which categories a filter has.
pub(crate) fn is_order(path: &Path) -> bool {
    begins_with(path, MAGIC)
}
