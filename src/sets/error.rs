// SPDX-License-Identifier: GPL-3.0-or-later
//! Why a fitted set could not be opened or changed.

use super::filter_folder::MailFilterError;
use super::roles::MailRole;
use crate::error::Error;
use crate::fit::header::Mismatch;
use crate::fit::joint::FitError;
use crate::fit::stop::Stopped;
use crate::store::generations::ledger_file::LedgerError;
use crate::store::ledger::Fault;
use dbacl_files::lock::{Lock, LockError, Patience, holder_text};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The error of an open set whose files can no longer be read.
pub(crate) fn lost(error: Error) -> FittedSetError {
    match error {
        Error::NotMail { what } => FittedSetError::NotMessage { what },
        error => MailFilterError::Generation(error).into(),
    }
}

/// Returns [`FittedSetError::Stopped`] once `stop` is set.
pub(crate) fn unless_stopped(stop: &AtomicBool) -> Result<(), FittedSetError> {
    if stop.load(Ordering::Relaxed) { Err(FittedSetError::Stopped) } else { Ok(()) }
}

/// Why a fitted set could not be opened or changed. A change that fails changes nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FittedSetError {
    /// The set cannot be opened to classify documents.
    #[error(transparent)]
    Open(#[from] MailFilterError),
    /// No category of the set has this label.
    #[error("the filter in {} has {}, but no {label}", folder.display(), listed(known))]
    UnknownLabel {
        /// The label.
        label: String,
        /// The folder of the filter.
        folder: PathBuf,
        /// The labels that the set has.
        known: Vec<String>,
    },
    /// No label of a mail filter says that its mail is ham, or spam.
    #[doc(hidden)]
    #[error("{}", no_role_text(*role, known))]
    NoRole {
        /// What the mail is.
        role: MailRole,
        /// The labels that the filter has.
        known: Vec<String>,
    },
    /// Another process changed the set for longer than [`lock_timeout`].
    ///
    /// [`lock_timeout`]: super::FittedSetOptions::lock_timeout
    #[error("{} is being changed by {}", path.display(), holder_text(*holder))]
    Held {
        /// The file that the set is known by: its ledger or its first category.
        path: PathBuf,
        /// Number of that process, where the system gives it.
        holder: Option<u32>,
        /// How long this process waited for the lock.
        waited: Duration,
    },
    /// The caller asked to stop while this process waited for the lock.
    #[error("stopped while waiting to change {}", path.display())]
    StoppedWaiting {
        /// The file that the set is known by.
        path: PathBuf,
    },
    /// The caller asked to stop before the change became current.
    #[error("stopped by a signal; nothing was changed")]
    Stopped,
    /// The lock's file cannot be created or locked.
    #[error("cannot write {}: {source}", lock.display())]
    Unlockable {
        /// The file that the set is known by.
        path: PathBuf,
        /// The lock's file.
        lock: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The ledger, the state or another file of the set cannot be read or written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The corrections of a mail filter are damaged.
    #[error(
        "{}: {}; without this file --mail-learn goes on, and the corrections are lost",
        path.display(),
        fault.text()
    )]
    Corrections {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: Fault,
    },
    /// The ledger belongs to other categories than those of the set, or has them in another order.
    #[error(
        "the ledger {} is of other categories, or of these in another order", path.display()
    )]
    OtherCategories {
        /// The ledger.
        path: PathBuf,
    },
    /// The ledger has documents of a category that was not given.
    #[error("the ledger has documents of {label}, which is not in the set")]
    MissingCategory {
        /// The category's label.
        label: String,
    },
    /// A record of a ledger is damaged.
    #[error("{}", fault.text())]
    Record {
        /// What is wrong with it.
        fault: Fault,
    },
    /// A category cannot be opened.
    #[error("could not load category {}: {source}", name.display())]
    Category {
        /// What users call it.
        name: PathBuf,
        /// The file that the name stands for.
        path: PathBuf,
        /// What is wrong with it.
        source: Error,
    },
    /// A category was fitted, and the ordinary category that the fit started from is missing.
    #[error(
        "category {} was fitted before and its ordinary file is needed: {source}; learn it again",
        path.display()
    )]
    NoOrdinary {
        /// The category.
        path: PathBuf,
        /// What is wrong with the ordinary file.
        source: Error,
    },
    /// The categories were not fitted together.
    #[error("these categories were not fitted together")]
    NotFitted,
    /// All fitted categories are damaged, so the settings that they were fitted with are lost.
    #[error("what the set was fitted with is lost")]
    SettingsLost,
    /// One of the categories has the name under which the set would keep the ordinary file of
    /// another.
    #[error(
        "{} and {} cannot be in one set: under the second name it keeps the ordinary file of the \
         first",
        path.display(),
        ordinary.display()
    )]
    OrdinaryName {
        /// The other category.
        path: PathBuf,
        /// The one with the name of its ordinary file.
        ordinary: PathBuf,
    },
    /// The categories do not make one set.
    #[error("{}", mismatch.text())]
    Mismatch {
        /// Why not.
        mismatch: Mismatch,
    },
    /// The categories have different reference measures, which a ledger does not store.
    #[error(
        "a ledger does not hold what categories with different reference measures need: learn \
         with -L uniform, or give the documents"
    )]
    OtherReferences,
    /// The categories cannot be fitted on the documents.
    #[error(transparent)]
    Fit(FitError),
    /// The next generation of the set cannot be made or become current.
    #[error("{}; nothing was changed", generation_text(source))]
    Generation {
        /// Why not.
        source: Error,
    },
    /// Fewer than two mail folders were given, more than 64, or two with the same label.
    #[error("a mail filter needs two mail folders or more, up to 64, with different labels")]
    NotFolders,
    /// The label is not allowed: a label consists of letters, digits, `-` and `_`, at most 237,
    /// differs from others in the first 200, and is not the name of a filter's file or of a
    /// verdict.
    #[error(
        "{label} cannot be a label: a label has 1 to 237 letters, digits, - and _, differs from \
         others in the first 200, and is not ledger, order, unsure or error"
    )]
    BadLabel {
        /// The label.
        label: String,
    },
    /// The labels do not say which mail must not be lost.
    #[error(
        "which mail must not be lost, {first} or {second}? Give --protect {first} or --protect \
         {second}"
    )]
    Roles {
        /// The label that was given first.
        first: String,
        /// The other one.
        second: String,
    },
    /// No folder has the label that is to be protected.
    #[error("--protect {label}: the filter's folders are {}", listed(labels))]
    Protect {
        /// The label.
        label: String,
        /// The labels that there are.
        labels: Vec<String>,
    },
    /// There is no mail in a folder, or no mail with features.
    #[error("there is no mail to learn in {place}; nothing was changed")]
    NoMail {
        /// Where it was looked for.
        place: String,
    },
    /// A file that was given as mail is compressed, or holds something that is no mail.
    #[error(
        "{} is not mail but {what}; give mbox files, messages, Maildirs or folders of these{}",
        path.display(),
        if what.starts_with("compressed") { ", unpacked" } else { "" }
    )]
    NotMail {
        /// The file.
        path: PathBuf,
        /// What it holds, or how it is compressed.
        what: &'static str,
    },
    /// What was given as a message is packed, or no text.
    #[error("this is not mail but {what}")]
    NotMessage {
        /// What it is.
        what: &'static str,
    },
    /// The filter's folder is among the mail that is to be read.
    #[error(
        "{} would be read as mail of {}: keep the filter in a folder outside its mail",
        filter.display(),
        mail.display()
    )]
    FilterInMail {
        /// The filter's folder.
        filter: PathBuf,
        /// The folder with the mail.
        mail: PathBuf,
    },
    /// Two labels were given the same messages.
    #[error(
        "{same} of {all} messages of {label} are messages of {other} as well: \
         give each label mail of its own"
    )]
    SameMail {
        /// How many messages are in both.
        same: usize,
        /// How many messages the first label has.
        all: usize,
        /// The label with fewer messages.
        label: String,
        /// The other one.
        other: String,
    },
    /// All mail of a folder is older than the first day whose mail is learned.
    #[error(
        "all mail in {place} is older than --window allows; nothing was changed: give more days"
    )]
    OldMail {
        /// Where it was looked for.
        place: String,
    },
    /// A mail folder or file cannot be opened.
    #[error("couldn't open {}: {source}", path.display())]
    Source {
        /// The folder or file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A file with mail cannot be read to its end.
    #[error("{}: {source}", path.display())]
    Unread {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The filter's folder cannot be made, or a list in it not written.
    #[error("{}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// An ordinary category cannot be learned.
    #[error(transparent)]
    Learning {
        /// Why not.
        source: Error,
    },
    /// A filter cannot be the general model of another one.
    #[error("{} cannot be the general model: {reason}", path.display())]
    General {
        /// The filter's folder, or one of its files.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A file of the set's own copy of its general model is damaged or cannot be read.
    #[error(
        "the general model cannot be used: {source}; learn the mail folders again with --general \
         DIR, or with --general none to do without"
    )]
    GeneralUnusable {
        /// What is wrong with the file.
        source: Error,
    },
    /// A line of a category file holds the category's path, which cannot have a line end.
    #[error("{path:?} cannot be a category: its path has a line end, which no category can hold")]
    LineEnd {
        /// The path.
        path: PathBuf,
    },
    /// The set was fitted with a general model, and its files are missing.
    #[error("the files of the general model are missing: learn the mail folders again")]
    GeneralLost,
    /// The files that were just written do not belong to one fit.
    #[error("the files that were written do not fit together")]
    Inconsistent,
}

impl From<FittedSetError> for crate::error::Error {
    fn from(error: FittedSetError) -> Self {
        Self::Other(Box::new(error))
    }
}

fn no_role_text(role: MailRole, known: &[String]) -> String {
    let (word, known) = (role.word(), listed(known));
    let help = match role {
        MailRole::Ham => "learn the folders again with one called ham, or with --protect LABEL",
        MailRole::Spam => "learn the folders again with one called spam",
    };
    format!("the filter has {known}, and none of these says that it is {word}: {help}")
}

/// The names as a text: `a, b and c`.
pub(super) fn listed<T: AsRef<str>>(names: &[T]) -> String {
    let mut text = String::new();
    for (at, name) in names.iter().enumerate() {
        text.push_str(match at {
            0 => "",
            _ if at + 1 == names.len() => " and ",
            _ => ", ",
        });
        text.push_str(name.as_ref());
    }
    text
}

fn generation_text(source: &Error) -> String {
    match source {
        Error::Occupied { path } => {
            let kind = if path.is_dir() { "folder" } else { "file" };
            format!("the {kind} {} is already used for something", path.display())
        }
        other => other.to_string(),
    }
}

impl From<FitError> for FittedSetError {
    fn from(error: FitError) -> Self {
        if error == FitError::Stopped { Self::Stopped } else { Self::Fit(error) }
    }
}

impl From<Stopped> for FittedSetError {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

impl From<Fault> for FittedSetError {
    fn from(fault: Fault) -> Self {
        Self::Record { fault }
    }
}

/// The error of a change that could not make a set's next generation.
impl From<Error> for FittedSetError {
    fn from(source: Error) -> Self {
        Self::Generation { source }
    }
}

impl FittedSetError {
    /// A category of the generation that is being made cannot be used.
    pub(crate) fn category(path: &Path, source: Error) -> Self {
        Self::Category { name: path.to_path_buf(), path: path.to_path_buf(), source }
    }

    /// The error with every path changed by `rename`, so that files of a generation that is being
    /// made have the names that users know.
    pub(crate) fn renamed(mut self, rename: &dyn Fn(&Path) -> PathBuf) -> Self {
        let change = |path: &mut PathBuf| *path = rename(path);
        match &mut self {
            Self::Ledger(error) => {
                if let LedgerError::Unsaved { source, .. } = error
                    && let Some(path) = source.path_mut()
                {
                    change(path);
                }
                change(error.path_mut());
            }
            Self::OtherCategories { path } | Self::General { path, .. } => change(path),
            Self::Category { name, source, .. } | Self::NoOrdinary { path: name, source } => {
                change(name);
                source.path_mut().map(change);
            }
            Self::Generation { source } | Self::GeneralUnusable { source } => {
                source.path_mut().map(change);
            }
            _ => {}
        }
        self
    }
}

/// Locks the set whose ledger or first category is the file `anchor`: the lock's file has that name
/// with `ending` added. It stays if the set is changed ([`Lock::vanishes`]). `waits` is called once
/// if another process holds the lock.
///
/// # Errors
/// [`FittedSetError::Held`], [`FittedSetError::StoppedWaiting`], [`FittedSetError::Unlockable`].
pub fn lock(
    anchor: &Path,
    ending: &str,
    patience: Patience<'_>,
    waits: &mut dyn FnMut(),
) -> Result<Lock, FittedSetError> {
    let file = dbacl_files::atomic_file::beside(anchor, ending);
    let path = anchor.to_path_buf();
    Lock::take(&file, patience, waits).map(Lock::provisional).map_err(|error| match error {
        LockError::Held { holder, .. } => {
            FittedSetError::Held { path, holder, waited: patience.limit }
        }
        LockError::Stopped { .. } => FittedSetError::StoppedWaiting { path },
        LockError::Unusable { path: lock, source } => {
            FittedSetError::Unlockable { path, lock, source }
        }
    })
}
