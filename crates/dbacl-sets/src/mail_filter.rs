// SPDX-License-Identifier: GPL-3.0-or-later
//! Classifies messages with the mail filter in a folder.

use super::filter_folder::MailFilterError;
use super::open_set::{OpenSet, SetVerdict};
use super::reasons::Reasons;
use super::roles::MailRole;
use dbacl_engine::error::{Error, Warning, WarningSink};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// A mail filter that `dbacl --mail-learn` has made, open to classify messages.
///
/// ```no_run
/// # mod dbacl {
/// #     pub use dbacl_sets::MailFilter;
/// # }
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
/// meanwhile: it holds one generation of the files (`docs/spec/ledger-format.md`). A program that
/// runs for a long time opens it again now and then. It can be shared between threads. Of the
/// categories only the features of a message are read, from the files, so an open filter takes
/// little memory.
#[derive(Debug)]
pub struct MailFilter {
    set: OpenSet,
}

impl MailFilter {
    /// Opens the filter in `folder`.
    ///
    /// # Errors
    /// Each variant of [`MailFilterError`] says what is missing or wrong.
    pub fn open(folder: &Path, warnings: WarningSink<'_>) -> Result<Self, MailFilterError> {
        Ok(Self { set: OpenSet::in_folder(folder, warnings)? })
    }

    /// Names of the categories, those that must not be lost first.
    pub fn names(&self) -> &[String] {
        &self.set.names
    }

    /// What each category is for, in their order; `None` for those that are neither spam nor
    /// protected.
    #[doc(hidden)]
    pub fn roles(&self) -> Vec<Option<MailRole>> {
        let roles = self.set.roles();
        (0..self.names().len()).map(|at| roles.at(at)).collect()
    }

    /// The verdict on a message, given as it was received, headers first. Verdicts of dbacl in its
    /// header (lines `X-DBACL`) are ignored. Of a message of more than 8 MiB only the beginning is
    /// judged.
    ///
    /// # Errors
    /// [`Error::Io`] when a file cannot be read any more.
    pub fn classify(&self, mail: impl AsRef<[u8]>) -> Result<SetVerdict, Error> {
        self.set.judge(mail.as_ref(), None)
    }

    /// As [`Self::classify`]; reading the mail ends early once `stop` is set.
    #[doc(hidden)]
    pub fn judge(&self, mail: &[u8], stop: Option<&AtomicBool>) -> Result<SetVerdict, Error> {
        self.set.judge(mail, stop)
    }

    /// The verdict on a message with its reasons; mail without words has no reasons. Reading the
    /// mail ends early once `stop` is set.
    #[doc(hidden)]
    pub fn reasons(
        &self,
        mail: &[u8],
        stop: Option<&AtomicBool>,
    ) -> Result<(SetVerdict, Option<Reasons>), Error> {
        self.set.explain(mail, stop)
    }

    /// Whether the filter has learned so little that it is unsure of every message.
    #[doc(hidden)]
    pub fn is_never_sure(&self) -> bool {
        self.set.fitted.line.is_never_sure()
    }

    /// Messages that the filter was fitted on.
    #[doc(hidden)]
    pub const fn documents(&self) -> u32 {
        self.set.fitted.line.documents
    }

    /// The warning about a damaged file that was met while mail was classified, once there is one:
    /// what was before the last changes classifies then.
    #[doc(hidden)]
    pub fn warning(&self) -> Option<Warning> {
        self.set.late_warning()
    }

    /// The mail with a line `X-DBACL: VERDICT` before its header, and without the lines `X-DBACL`
    /// that it had before. A message that cannot be classified is returned as well, with the
    /// verdict `error`.
    pub fn filter(&self, mail: impl AsRef<[u8]>) -> Vec<u8> {
        self.set.filter(mail.as_ref())
    }
}
