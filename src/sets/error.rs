// SPDX-License-Identifier: GPL-3.0-or-later
//! Why a mail filter could not be opened or changed.

use super::filter_folder::FilterOpenError;
use super::roles::MailRole;
use crate::fit::joint::FitError;
use crate::fit::stop::Stopped;
use crate::store::FilterError;
use dbacl_files::lock::{Lock, LockError, Patience, holder_text};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Returns [`MailFilterError::Stopped`] once `stop` is set.
pub(crate) fn unless_stopped(stop: &AtomicBool) -> Result<(), MailFilterError> {
    if stop.load(Ordering::Relaxed) { Err(MailFilterError::Stopped) } else { Ok(()) }
}

/// Why a mail filter could not be opened or changed. A change that fails changes nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MailFilterError {
    /// The filter cannot be opened to classify documents.
    #[error(transparent)]
    Open(#[from] FilterOpenError),
    /// No category of the filter has this label.
    #[error("the filter in {} has {}, but no {label}", folder.display(), listed(known))]
    UnknownLabel {
        /// The label.
        label: String,
        /// The folder of the filter.
        folder: PathBuf,
        /// The labels that the filter has.
        known: Vec<String>,
    },
    /// No label of a mail filter says that its mail is ham, or spam.
    #[error("{}", no_role_text(*role, known))]
    NoRole {
        /// What the mail is.
        role: MailRole,
        /// The labels that the filter has.
        known: Vec<String>,
    },
    /// Another process changed the filter for longer than [`lock_timeout`].
    ///
    /// [`lock_timeout`]: super::MailFilterOptions::lock_timeout
    #[error("{} is being changed by {}", path.display(), holder_text(*holder))]
    Held {
        /// The file that the filter is known by: its ledger or its first category.
        path: PathBuf,
        /// Number of that process, where the system gives it.
        holder: Option<u32>,
        /// How long this process waited for the lock.
        waited: Duration,
    },
    /// The caller asked to stop while this process waited for the lock.
    #[error("stopped while waiting to change {}", path.display())]
    StoppedWaiting {
        /// The file that the filter is known by.
        path: PathBuf,
    },
    /// The caller asked to stop before the change became current.
    #[error("stopped by a signal; nothing was changed")]
    Stopped,
    /// The lock's file cannot be created or locked.
    #[error("cannot write {}: {source}", lock.display())]
    Unlockable {
        /// The file that the filter is known by.
        path: PathBuf,
        /// The lock's file.
        lock: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The folders were learned again meanwhile, and mail is read in another way now.
    #[error("{} was learned again meanwhile; nothing was changed: try again", folder.display())]
    ReadOtherwise {
        /// The folder of the filter.
        folder: PathBuf,
    },
    /// The messages cannot be fitted.
    #[error(transparent)]
    Fit(FitError),
    /// A file of the filter cannot be read or written.
    #[error("{0}; nothing was changed")]
    Files(FilterError),
    /// Fewer than two mail folders were given, more than 64, or two with the same label.
    #[error("a mail filter needs two mail folders or more, up to 64, with different labels")]
    NotFolders,
    /// The label is not allowed: a label consists of letters, digits, `-` and `_`, at most 237, and
    /// is not the name of a verdict.
    #[error(
        "{label} cannot be a label: a label has 1 to 237 letters, digits, - and _, and is not \
         unsure or error"
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
    /// A file that was given as mail is compressed, or holds something that is not mail.
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
    /// A filter cannot be the general model of another one.
    #[error("{} cannot be the general model: {reason}", path.display())]
    General {
        /// The filter's folder, or one of its files.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
}

impl From<MailFilterError> for crate::error::Error {
    fn from(error: MailFilterError) -> Self {
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

impl From<FitError> for MailFilterError {
    fn from(error: FitError) -> Self {
        if error == FitError::Stopped { Self::Stopped } else { Self::Fit(error) }
    }
}

impl From<Stopped> for MailFilterError {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

/// The error of a change; those of opening are [`MailFilterError::Open`].
impl From<FilterError> for MailFilterError {
    fn from(error: FilterError) -> Self {
        match error {
            FilterError::NoFilter { .. }
            | FilterError::Version { .. }
            | FilterError::Damaged { .. } => Self::Open(error.into()),
            other => Self::Files(other),
        }
    }
}

impl MailFilterError {
    /// The error of a change of the filter in `folder`, whose lock was waited for so long.
    pub(crate) fn of_lock(folder: &Path, error: LockError, waited: Duration) -> Self {
        let path = folder.to_path_buf();
        match error {
            LockError::Held { holder, .. } => Self::Held { path, holder, waited },
            LockError::Stopped { .. } => Self::StoppedWaiting { path },
            LockError::Unusable { path: lock, source } => Self::Unlockable { path, lock, source },
        }
    }
}

/// Locks what is known by the file `anchor`: the lock's file has that name with `ending` added. It
/// stays if the file is changed ([`Lock::vanishes`]). `waits` is called once if another process
/// holds the lock.
///
/// # Errors
/// [`MailFilterError::Held`], [`MailFilterError::StoppedWaiting`], [`MailFilterError::Unlockable`].
pub(crate) fn lock(
    anchor: &Path,
    ending: &str,
    patience: Patience<'_>,
    waits: &mut dyn FnMut(),
) -> Result<Lock, MailFilterError> {
    let file = dbacl_files::atomic_file::beside(anchor, ending);
    let taken = Lock::take(&file, patience, waits).map(Lock::provisional);
    taken.map_err(|error| MailFilterError::of_lock(anchor, error, patience.limit))
}
