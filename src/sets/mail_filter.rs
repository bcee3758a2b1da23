// SPDX-License-Identifier: GPL-3.0-or-later
//! Judges mails with the mail filter in a folder.

use super::filter_folder::MailFilterError;
use super::open_set::{OpenSet, SetVerdict};
use super::reasons::Reasons;
use crate::error::{Error, WarningSink};
use std::path::Path;
use std::sync::atomic::AtomicBool;

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
/// meanwhile: it holds one generation of the files (`docs/ledger-format.md`). A program that runs
/// for a long time opens it again now and then. It can be shared between threads. Of the categories
/// only the features of a mail are read, from the files, so an open filter takes little memory.
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

    /// Names of the categories; the first is the one that must not be lost.
    pub fn names(&self) -> &[String] {
        self.set.names()
    }

    /// The verdict on a mail, given as it was received, headers first. Verdicts of dbacl in its
    /// header (lines `X-DBACL`) are ignored. Of a mail of more than 8 MiB only the beginning is
    /// judged.
    ///
    /// # Errors
    /// [`Error::Io`] when a file cannot be read any more.
    pub fn classify(&self, mail: &[u8]) -> Result<SetVerdict, Error> {
        self.set.judge(mail, None)
    }

    /// As [`Self::classify`]; reading the mail ends early once `stop` is set.
    pub(crate) fn judge(
        &self,
        mail: &[u8],
        stop: Option<&AtomicBool>,
    ) -> Result<SetVerdict, Error> {
        self.set.judge(mail, stop)
    }

    /// The verdict on a mail with its reasons; mail without words has no reasons. Reading the mail
    /// ends early once `stop` is set.
    pub(crate) fn reasons(
        &self,
        mail: &[u8],
        stop: Option<&AtomicBool>,
    ) -> Result<(SetVerdict, Option<Reasons>), Error> {
        self.set.explain(mail, stop)
    }

    /// The verdict on a mail, and the header line `X-DBACL-Reasons` that says which words decided,
    /// without its end. It is folded: a line end stands before a blank. Mail without words has
    /// none.
    ///
    /// # Errors
    /// [`Error::Io`] when a file cannot be read any more.
    #[doc(hidden)]
    pub fn classify_with_reasons(
        &self,
        mail: &[u8],
    ) -> Result<(SetVerdict, Option<String>), Error> {
        let (verdict, reasons) = self.reasons(mail, None)?;
        Ok((verdict, reasons.map(|reasons| reasons.header())))
    }

    /// The mail with a line `X-DBACL: VERDICT` before its header, and without the lines `X-DBACL`
    /// that it had before. A mail that cannot be judged is returned as well, with the verdict
    /// `error`.
    pub fn filter(&self, mail: &[u8]) -> Vec<u8> {
        self.set.filter(mail)
    }
}
