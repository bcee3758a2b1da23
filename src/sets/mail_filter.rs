// SPDX-License-Identifier: GPL-3.0-or-later
//! A mail filter's folder → verdicts on mails.

use super::open_set::{OpenSet, SetVerdict};
use super::reasons::Reasons;
use crate::classify::Incomparable;
use crate::error::{Error, WarningSink};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The ledger in a filter's folder.
pub const LEDGER: &str = "ledger";

/// The file that names the categories; the first is to be protected. Of two the second is what the
/// filter is there to find.
pub const ORDER: &str = "order";

/// Categories of a filter at most.
pub const MOST: usize = 64;

/// How that file begins.
pub const MAGIC: &[u8] = b"# dbacl mail filter\n";

/// A mail filter that `dbacl --mail-learn` has made, open to judge mails.
///
/// ```no_run
/// use dbacl::MailFilter;
/// use std::path::Path;
///
/// let folder = Path::new("/home/me/.filter");
/// let filter = MailFilter::open(folder, &mut |warning| eprintln!("{warning}"))?;
/// let mail = b"From: friend@example.org\nSubject: lunch\n\nSee you at noon.\n";
/// let verdict = filter.classify(mail)?;
/// println!("{} ({:.2} %)", verdict.category, 100.0 * verdict.probability);
/// // The same mail with a line such as `X-DBACL: ham 99.87%` in its header.
/// let passed_on = filter.filter(mail);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// An open filter stays what it was when it was opened, whatever is learned and corrected
/// meanwhile: it holds one generation of the files (`docs/ledger-format.md`). Who judges mail for a
/// long time opens it again now and then. It can be shared between threads. Of the categories only
/// the features of a mail are read, from the files, so an open filter takes little memory.
#[derive(Debug)]
pub struct MailFilter {
    set: OpenSet,
}

/// Why a filter cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MailFilterError {
    /// The folder holds no filter, or its file `order` cannot be read.
    #[error("{}: {source}", path.display())]
    NoFilter {
        /// The file that names the categories.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The file that names the categories does not name two or more.
    #[error("{} is damaged", path.display())]
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
    /// The categories are not a whole set that was fitted together: why, for people.
    #[error("{0}")]
    NotFitted(&'static str),
}

impl MailFilter {
    /// Opens the filter in `folder`.
    ///
    /// # Errors
    /// Each variant of [`MailFilterError`] says what is missing or wrong.
    pub fn open(folder: &Path, warnings: WarningSink<'_>) -> Result<Self, MailFilterError> {
        Ok(Self { set: OpenSet::in_folder(folder, warnings)? })
    }

    /// Names of the categories; the first is the one that must not be lost.
    pub fn names(&self) -> &[String] {
        self.set.names()
    }

    /// The verdict on a mail, given as it came, headers first. Verdicts that it brings play no
    /// part. Of a mail of more than 8 MB the beginning is judged.
    ///
    /// # Errors
    /// [`Error::Io`] when a file cannot be read any more.
    pub fn classify(&self, mail: &[u8]) -> Result<SetVerdict, Error> {
        self.set.judge(mail, None)
    }

    /// The same; reading the mail ends early once `stop` is set.
    pub(crate) fn judge(
        &self,
        mail: &[u8],
        stop: Option<&AtomicBool>,
    ) -> Result<SetVerdict, Error> {
        self.set.judge(mail, stop)
    }

    /// The verdict on a mail, and why; mail without words has no reasons. Reading the mail ends early
    /// once `stop` is set.
    pub(crate) fn reasons(
        &self,
        mail: &[u8],
        stop: Option<&AtomicBool>,
    ) -> Result<(SetVerdict, Option<Reasons>), Error> {
        self.set.explain(mail, stop)
    }

    /// The mail with a line `X-DBACL: VERDICT` before its header, and without such lines that it
    /// brought. A mail that cannot be judged comes through all the same; its verdict is `error`.
    pub fn filter(&self, mail: &[u8]) -> Vec<u8> {
        self.set.filter(mail)
    }
}

/// The labels in the file `path`.
///
/// # Errors
/// [`MailFilterError::NoFilter`], [`MailFilterError::Damaged`].
pub fn labels(path: &Path) -> Result<Vec<String>, MailFilterError> {
    let path = path.to_path_buf();
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(source) => return Err(MailFilterError::NoFilter { path, source }),
    };
    let labels: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let is_label = |label: &&str| !label.is_empty() && !label.contains('/');
    if !(2..=MOST).contains(&labels.len()) || !labels.iter().all(is_label) {
        return Err(MailFilterError::Damaged { path });
    }
    Ok(labels.into_iter().map(str::to_owned).collect())
}

/// Whether a file says which categories a filter has.
pub fn is_order(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|bytes| bytes.starts_with(MAGIC))
}
