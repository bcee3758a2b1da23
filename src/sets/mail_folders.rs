// SPDX-License-Identifier: GPL-3.0-or-later
//! What a mail filter is learned from, how, and what comes of it: folders of mail, options, result.

use super::fitting::Learned;
use super::general::GeneralSource;
use super::options::MailFilterOptions;
use crate::error::Warning;
use crate::fit::joint::{FitNote, FitVerdicts, Quality};
use crate::fit::thresholds::Caution;
use std::path::PathBuf;
use std::sync::Arc;

/// The mail of one category.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailFolder {
    pub(super) label: String,
    /// Paths that were given.
    pub(super) paths: Vec<PathBuf>,
    /// Paths that were found in a listing.
    pub(super) listed: Vec<PathBuf>,
}

impl MailFolder {
    /// The mail at `path`, with the label `label`. The path is an mbox file, a single message, a
    /// Maildir, an MH folder, or a folder of any of these.
    pub fn new(label: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self { label: label.into(), paths: vec![path.into()], listed: Vec::new() }
    }

    /// Adds the mail at `path` to the folder.
    #[must_use]
    pub fn and(mut self, path: impl Into<PathBuf>) -> Self {
        self.paths.push(path.into());
        self
    }

    /// The same folder, whose paths were found in a listing: mail programs may move or remove them
    /// before they are read, and those are left out, as are files that are not mail.
    #[must_use]
    pub fn listed(mut self) -> Self {
        self.listed.append(&mut self.paths);
        self
    }

    /// Adds the mail of another folder with the same label.
    pub(crate) fn join(&mut self, other: Self) {
        self.paths.extend(other.paths);
        self.listed.extend(other.listed);
    }

    /// The label.
    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// The folder's paths.
    pub(super) fn all_paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.paths.iter().chain(&self.listed)
    }

    /// The folder's paths, for messages.
    pub(super) fn place(&self) -> String {
        self.all_paths().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    }
}

/// A function that is called with the number of bytes read so far and with the total.
pub(super) type ProgressSink = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// How mail folders are learned.
///
/// ```
/// use dbacl::MailLearnOptions;
///
/// let options = MailLearnOptions::default().protect("friends");
/// # let _ = options;
/// ```
#[derive(Clone, Default)]
pub struct MailLearnOptions {
    pub(super) protect: Vec<(String, Option<f64>)>,
    pub(super) false_positives: Option<f64>,
    pub(super) caution: Caution,
    pub(super) since: Option<i64>,
    pub(super) general: GeneralSource,
    pub(super) set: MailFilterOptions,
    pub(super) progress: Option<ProgressSink>,
}

impl std::fmt::Debug for MailLearnOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("MailLearnOptions");
        shown.field("protect", &self.protect);
        shown.field("false_positives", &self.false_positives).field("set", &self.set);
        shown.finish_non_exhaustive()
    }
}

impl MailLearnOptions {
    /// Protects the mail with this label: it must not be lost. May be called for several labels.
    /// Labels such as `ham` and `spam` need no such call.
    #[must_use]
    pub fn protect(mut self, label: impl Into<String>) -> Self {
        self.protect.push((label.into(), None));
        self
    }

    /// The same with its own share of false positives; see [`Self::false_positives`].
    #[must_use]
    pub(crate) fn protect_at(mut self, label: impl Into<String>, share: f64) -> Self {
        self.protect.push((label.into(), Some(share)));
        self
    }

    /// How sure a verdict must be (`--caution`).
    #[must_use]
    pub const fn caution(mut self, caution: Caution) -> Self {
        self.caution = caution;
        self
    }

    /// The share of protected mail, between 0 and 1, that may confidently be called other mail
    /// (0.001).
    #[must_use]
    pub const fn false_positives(mut self, share: f64) -> Self {
        self.false_positives = Some(share);
        self
    }

    /// Mail of days before this one, counted from the beginning of 1970, is left out. Mail whose
    /// day is unknown is learned.
    #[must_use]
    pub(crate) const fn since(mut self, day: i64) -> Self {
        self.since = Some(day);
        self
    }

    /// The general model: the filter in the folder `filter`, which was learned from mail of other
    /// people. It is copied. Without this call a filter keeps the general model that it has.
    #[must_use]
    pub(crate) fn general(mut self, filter: impl Into<PathBuf>) -> Self {
        self.general = GeneralSource::Of(filter.into());
        self
    }

    /// The filter gets no general model, and loses the one that it has.
    #[must_use]
    pub(crate) fn without_general(mut self) -> Self {
        self.general = GeneralSource::Nothing;
        self
    }

    /// How long to wait for locks, and what ends the work early.
    #[must_use]
    pub fn set_options(mut self, options: MailFilterOptions) -> Self {
        self.set = options;
        self
    }

    /// `progress` is called from any thread with the number of bytes of mail read so far and with
    /// the total.
    #[must_use]
    pub fn progress(mut self, progress: impl Fn(u64, u64) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(progress));
        self
    }
}

/// The result of learning a set.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LearnedSet {
    /// The labels; of mail folders those that are protected come first.
    pub labels: Vec<String>,
    /// Documents with features under each label.
    pub documents: Vec<usize>,
    /// How well the set classifies documents that it has not seen, by cross-validation.
    pub quality: Quality,
    /// The set's verdicts on such documents.
    pub verdicts: FitVerdicts,
    /// Corrections of mail that the folders do not confirm yet, and that were applied.
    pub corrections: usize,
    /// Warnings and remarks about the fit.
    pub notes: Vec<FitNote>,
    /// Other warnings.
    pub warnings: Vec<Warning>,
}

impl LearnedSet {
    pub(super) fn new(learned: Learned, notes: Vec<FitNote>, warnings: Vec<Warning>) -> Self {
        let Learned { fitted, corrections } = learned;
        Self {
            labels: fitted.head.reading.labels,
            documents: fitted.documents,
            quality: fitted.solution.quality,
            verdicts: fitted.solution.verdicts,
            corrections,
            notes,
            warnings,
        }
    }
}
