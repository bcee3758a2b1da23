// SPDX-License-Identifier: GPL-3.0-or-later
//! A mail filter on disk: it classifies messages, and learns, corrects and forgets single ones.

use super::asking::{self, Question, each_of_file};
use super::change::{Change, ChangeKind, Done};
use super::drift;
use super::error::{MailFilterError, unless_stopped};
use super::folder_mail::{left_out, open_mail, standard_input, unopened};
use super::learn_folders;
use super::mail_folders::{LearnedSet, MailFolder, MailLearnOptions};
use super::mailboxes;
use super::mend;
use super::misfiled::{ReviewList, Suspect};
use super::open_filter::{MailVerdict, OpenFilter};
use super::options::MailFilterOptions;
use super::reading::MessageReader;
use super::reasons::Reasons;
use super::report::{ChangeReport, DocumentId, DocumentReport, Outcome};
use super::review::{self, Review};
use super::roles::MailRole;
use crate::error::{Warning, WarningSink};
use crate::mail::contents::Contents;
use crate::store::{Document, FilterFolder, Stamp};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

type Result<T, E = MailFilterError> = std::result::Result<T, E>;

/// A mail filter on disk, with the ledger of its documents: it classifies messages, and learns,
/// corrects and forgets single ones.
///
/// ```
/// use dbacl::{MailFilter, MailFilterOptions, MailFolder, MailLearnOptions, Outcome};
/// # let room = tempfile::tempdir()?;
/// # let [folder, inbox, junk] = ["filter", "inbox", "junk"].map(|name| room.path().join(name));
/// # for (folder, words) in [(&inbox, "minutes of the meeting"), (&junk, "cheap pills")] {
/// #     std::fs::create_dir(folder)?;
/// #     for number in 0..5 {
/// #         let mail = format!("From: x@example.org\nSubject: {words}\n\n{words} {number}\n");
/// #         std::fs::write(folder.join(number.to_string()), mail)?;
/// #     }
/// # }
///
/// // Once, from two mail folders, as `dbacl --mail-learn` does it.
/// let folders = [MailFolder::new("ham", &inbox), MailFolder::new("spam", &junk)];
/// let (_, learned) =
///     MailFilter::learn_folders(&folder, &folders, &MailLearnOptions::default())?;
/// assert_eq!(learned.documents, [5, 5]);
///
/// // Later, and as often as mail comes.
/// let mut filter = MailFilter::open(&folder, &MailFilterOptions::default())?;
/// let mail = b"From: shop@example.org\nSubject: your order\n\nMinutes from now: it is here.\n";
/// println!("{}", filter.classify(mail)?); // such as `unsure 61.20% spam`
///
/// // The user has moved the mail to the junk folder, and thinks better of it.
/// let report = filter.correct("spam", mail)?;
/// assert_eq!(report.documents[0].outcome, Outcome::Learned);
/// let report = filter.correct("ham", mail)?;
/// assert_eq!(report.documents[0].outcome, Outcome::Moved { from: "spam".into() });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A filter stays as it was when it was opened until [`Self::reload_if_changed`], or until it is
/// changed through this value: a change always starts from the newest state, and happens all at
/// once (`docs/spec/refit.md`). What other processes change meanwhile, as the program `dbacl` does,
/// is never lost.
///
/// An open filter takes a few file handles and little memory, since only the features of a message
/// are read from its files; while all of it is fitted again, it takes a few times as much as they
/// have. It can be shared between threads.
pub struct MailFilter {
    folder: PathBuf,
    options: MailFilterOptions,
    open: OpenFilter,
    /// Which state was current when the filter was opened.
    stamp: Option<Stamp>,
    pub(super) warnings: Vec<Warning>,
}

impl fmt::Debug for MailFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("MailFilter");
        shown.field("folder", &self.folder).field("labels", &self.labels());
        shown.field("documents", &self.documents());
        shown.finish_non_exhaustive()
    }
}

impl MailFilter {
    /// Opens the mail filter in `folder`, which `dbacl --mail-learn` has made. If it is damaged,
    /// the state before its last change as a whole is opened, with a warning.
    ///
    /// # Errors
    /// [`MailFilterError::Open`] says what is missing or wrong.
    pub fn open(folder: &Path, options: &MailFilterOptions) -> Result<Self> {
        let mut warnings = Vec::new();
        let stamp = OpenFilter::stamp(folder);
        let open = OpenFilter::open(folder, &mut |warning| warnings.push(warning))?;
        let (folder, options) = (folder.to_path_buf(), options.clone());
        Ok(Self { folder, options, open, stamp, warnings })
    }

    /// As [`Self::open`]; a filter of which nothing classifies any more is made again first, if its
    /// documents are still there.
    ///
    /// # Errors
    /// Those of [`Self::open`].
    pub fn open_to_change(folder: &Path, options: &MailFilterOptions) -> Result<Self> {
        match Self::open(folder, options) {
            Err(MailFilterError::Open(error)) if error.is_damage() => {
                let (mut changing, mut warnings) = (options.change(folder)?, Vec::new());
                mend::open(&mut changing, &options.stop, &mut |warning| warnings.push(warning))?;
                drop(changing);
                let mut set = Self::open(folder, options)?;
                set.warnings.splice(..0, warnings);
                Ok(set)
            }
            opened => opened,
        }
    }

    /// Learns the mail in `folders`, two to 64, into the mail filter in `folder`, which is created
    /// if it does not exist (`dbacl --mail-learn`). All of the filter changes at once, at the end.
    /// Corrections that the folders do not confirm yet are kept and applied.
    ///
    /// # Errors
    /// What stopped it; the filter is as it was.
    pub fn learn_folders(
        folder: &Path,
        folders: &[MailFolder],
        options: &MailLearnOptions,
    ) -> Result<(Self, LearnedSet)> {
        let (mut notes, mut warnings) = (Vec::new(), Vec::new());
        let (mut note, mut warn) = (|note| notes.push(note), |warning| warnings.push(warning));
        let learned = learn_folders::learn(folder, folders, options, &mut note, &mut warn)?;
        let set = Self::open(folder, &options.set)?;
        Ok((set, LearnedSet::new(learned, notes, warnings)))
    }

    /// Labels of the categories, in their order: of a mail filter, those that are protected first.
    pub fn labels(&self) -> &[String] {
        self.open.names()
    }

    /// What the category called `label` is for; `None` if it is neither spam nor protected.
    pub fn role_of(&self, label: &str) -> Option<MailRole> {
        let place = self.labels().iter().position(|known| known == label);
        place.and_then(|place| self.open.all_roles().at(place))
    }

    /// The label under which a mail filter learns ham or spam, whatever the order of its labels.
    ///
    /// # Errors
    /// [`MailFilterError::NoRole`] if no label says so.
    pub fn label_for(&self, role: MailRole) -> Result<String> {
        let place = self.open.all_roles().place(role);
        let label = place.and_then(|place| self.labels().get(place)).cloned();
        label.ok_or_else(|| MailFilterError::NoRole { role, known: self.labels().to_vec() })
    }

    /// What each category is for, in their order; `None` for those that are neither spam nor
    /// protected.
    pub fn roles(&self) -> Vec<Option<MailRole>> {
        self.open.all_roles().each
    }

    /// Messages that the filter has learned.
    pub fn documents(&self) -> u32 {
        self.open.documents()
    }

    /// When the filter learned or was corrected last; `None` if that is not known.
    pub fn last_change(&self) -> Option<SystemTime> {
        super::check::last_change(&self.folder)
    }

    /// Warnings about the files: those of opening them, and the one about a damaged file that was
    /// met while mail was classified. What was before the last change classifies then.
    pub fn warnings(&self) -> Vec<Warning> {
        self.warnings.iter().cloned().chain(self.open.warning()).collect()
    }

    /// The verdict on a document. Mail is given as it was received, headers first. Verdicts of
    /// dbacl in its header (lines `X-DBACL`) are ignored, and of a message of more than 8 MiB only
    /// the beginning is classified.
    ///
    /// # Errors
    /// [`MailFilterError::NotMessage`] for what is packed, or no text; [`MailFilterError::Open`]
    /// when a file cannot be read any more.
    pub fn classify(&self, document: impl AsRef<[u8]>) -> Result<MailVerdict> {
        self.open.classify(document.as_ref(), None)
    }

    /// As [`Self::classify`], with the words that decided. Mail without words has no reasons.
    ///
    /// # Errors
    /// As [`Self::classify`].
    pub fn classify_with_reasons(&self, mail: &[u8]) -> Result<(MailVerdict, Option<Reasons>)> {
        self.open.reasons(mail, None)
    }

    /// Of how many of `all` messages the filter was expected to be unsure, if it was unsure of so
    /// many that mail must have changed.
    pub fn expected_unsure(&self, unsure: usize, all: usize) -> Option<f64> {
        drift::expected(&self.open, unsure, all)
    }

    /// The mail with a line `X-DBACL: VERDICT` before its header, and without the lines `X-DBACL`
    /// that it had before. A message that cannot be classified is returned as well, with the
    /// verdict `error`.
    pub fn filter(&self, mail: impl AsRef<[u8]>) -> Vec<u8> {
        self.open.filter(mail)
    }

    /// The id by which the filter recognises a message; `None` for a document without features.
    pub fn id(&self, document: &[u8]) -> Option<DocumentId> {
        self.open.id(document, None)
    }

    /// The labels under which the filter has learned a document now; empty if it has not learned
    /// it.
    ///
    /// # Errors
    /// [`MailFilterError::Open`].
    pub fn labels_of(&self, id: DocumentId) -> Result<Vec<String>> {
        Ok(self.now()?.labels_of(id)?)
    }

    /// The filter as it is now, which others may have changed.
    fn now(&self) -> Result<OpenFilter> {
        Ok(OpenFilter::now(&FilterFolder::new(&self.folder))?)
    }

    /// The messages of `mail`, at most `most`, that the filter doubts most, no two alike, the most
    /// doubtful first; see [`asking`].
    ///
    /// # Errors
    /// Mail that cannot be read; [`MailFilterError::Open`] when a file of the filter cannot be.
    pub(crate) fn questions(
        &self,
        mail: &MailFolder,
        most: usize,
        warnings: WarningSink<'_>,
    ) -> Result<Vec<Question>> {
        let files = learn_folders::files_of(mail, &self.folder)?;
        let now = self.now()?;
        let is_learned = |id| Ok(!now.labels_of(id)?.is_empty());
        asking::questions((&self.open, &is_learned), &files, most, &self.options.stop, warnings)
    }

    /// The messages that seem to be in the wrong folder and have not been reviewed yet; see
    /// [`review`].
    ///
    /// # Errors
    /// The list or a message cannot be read; [`MailFilterError::Open`] when a file of the filter
    /// cannot be.
    pub(crate) fn reviews(&self, warnings: WarningSink<'_>) -> Result<Vec<Review>> {
        review::reviews(&self.now()?, &self.folder, &self.options.stop, warnings)
    }

    /// Records that messages, given by their ids and labels, belong where they are.
    ///
    /// # Errors
    /// The list cannot be read or written.
    pub(crate) fn confirm(&self, messages: &[(DocumentId, &str)]) -> Result<()> {
        let mut list = ReviewList::of(&self.folder)?;
        for &(DocumentId(id), label) in messages {
            list.suspects.retain(|own| (own.id, own.label.as_str()) != (id, label));
            list.suspects.push(Suspect { id, label: label.into(), place: None });
        }
        list.save(&self.folder)
    }

    /// Learns a document of the category called `label`, also if the filter knows it already.
    ///
    /// # Errors
    /// What stopped it; nothing has changed.
    pub fn learn(&mut self, label: &str, document: impl AsRef<[u8]>) -> Result<ChangeReport> {
        self.learn_all(label, [document.as_ref()])
    }

    /// The same with many documents, at once.
    ///
    /// # Errors
    /// As for [`Self::learn`].
    pub fn learn_all<'d>(
        &mut self,
        label: &str,
        documents: impl IntoIterator<Item = &'d [u8]>,
    ) -> Result<ChangeReport> {
        self.change(ChangeKind::Learn, label, &mut in_memory(documents))
    }

    /// Records that a document belongs to the category called `label`: the filter forgets it under
    /// other labels, and learns it under this one unless it has learned it already (`dbacl
    /// --mail-correct`). A second call changes nothing. A mail filter remembers the correction when
    /// its folders are learned again, until the folders contain the mail under this label.
    ///
    /// # Errors
    /// As for [`Self::learn`].
    pub fn correct(&mut self, label: &str, document: impl AsRef<[u8]>) -> Result<ChangeReport> {
        self.correct_all(label, [document.as_ref()])
    }

    /// The same with many documents, at once.
    ///
    /// # Errors
    /// As for [`Self::learn`].
    pub fn correct_all<'d>(
        &mut self,
        label: &str,
        documents: impl IntoIterator<Item = &'d [u8]>,
    ) -> Result<ChangeReport> {
        self.change(ChangeKind::Correct, label, &mut in_memory(documents))
    }

    /// Forgets that a document was learned as `label` (`dbacl --mail-forget`): every file is then
    /// byte-identical to one that never contained the document. The whole set is fitted again,
    /// which takes as long for many documents as for one.
    ///
    /// # Errors
    /// As for [`Self::learn`].
    pub fn forget(&mut self, label: &str, document: impl AsRef<[u8]>) -> Result<ChangeReport> {
        self.forget_all(label, [document.as_ref()])
    }

    /// The same with many documents.
    ///
    /// # Errors
    /// As for [`Self::learn`].
    pub fn forget_all<'d>(
        &mut self,
        label: &str,
        documents: impl IntoIterator<Item = &'d [u8]>,
    ) -> Result<ChangeReport> {
        self.change(ChangeKind::Forget, label, &mut in_memory(documents))
    }

    /// Forgets a document under whatever label it was learned once; the document itself is not
    /// needed.
    ///
    /// # Errors
    /// As for [`Self::learn`].
    pub fn forget_id(&mut self, id: DocumentId) -> Result<ChangeReport> {
        self.changed(|change, _| change.forget(&[id.0], None), &[Some(id)])
    }

    /// Whether nobody has changed the filter since it was opened. This only asks the system about
    /// two files.
    pub fn is_current(&self) -> bool {
        self.stamp.is_some() && OpenFilter::stamp(&self.folder) == self.stamp
    }

    /// Opens the filter as it is now if it has changed, and returns whether that was so.
    ///
    /// # Errors
    /// As for [`Self::open`]; the filter stays open as it was.
    pub fn reload_if_changed(&mut self) -> Result<bool> {
        if self.is_current() {
            return Ok(false);
        }
        *self = Self::open(&self.folder, &self.options)?;
        Ok(true)
    }

    /// Changes the filter by the messages in the files and folders at these places, or on standard
    /// input if there are none.
    ///
    /// # Errors
    /// Mail that cannot be read; else as for [`Self::learn`].
    pub(crate) fn change_by_mail(
        &mut self,
        kind: ChangeKind,
        label: &str,
        places: &[PathBuf],
    ) -> Result<ChangeReport> {
        let (stop, mut warnings) = (self.options.stop.clone(), Vec::new());
        let mut each = |take: Take<'_>| {
            let mut take = |_, mail: Vec<u8>| {
                take(&mail);
                Ok(())
            };
            if places.is_empty() {
                let (file, mail) = standard_input(&stop)?;
                return each_of_file(mail, &file, &stop, &mut take);
            }
            let mut files = Vec::new();
            for place in places {
                files.extend(mailboxes::files_of(place).map_err(|error| unopened(place, error))?);
            }
            let mut others = Vec::new();
            for file in &files {
                let Some(mail) = open_mail(file, &stop, &mut others)? else { continue };
                each_of_file(mail, file, &stop, &mut take)?;
            }
            warnings.extend(left_out(&others));
            Ok(())
        };
        let mut report = self.change(kind, label, &mut each)?;
        report.warnings.splice(..0, warnings);
        Ok(report)
    }

    /// Changes the filter by documents, which `each` gives one after the other. They are read
    /// before the lock is taken, since they may come slowly.
    fn change(
        &mut self,
        kind: ChangeKind,
        label: &str,
        each: &mut dyn FnMut(Take<'_>) -> Result<()>,
    ) -> Result<ChangeReport> {
        number_of(label, self.labels(), &self.folder)?;
        let is_learned = kind != ChangeKind::Forget;
        let (mut documents, mut refused) = (Vec::new(), Vec::new());
        let mut reader = MessageReader::new(&self.open.reading, Some(&self.options.stop));
        each(&mut |mail| {
            if let Some(what) = Contents::refusal(mail).filter(|_| is_learned) {
                refused.push(what);
                documents.push(None);
                return;
            }
            documents.push(reader.read(mail).map(|message| message.document(0)));
        })?;
        drop(reader);
        // Reading ends early at a signal. What was read then looks like a shorter document, or like
        // one without words.
        unless_stopped(&self.options.stop)?;
        // One of many does not keep the others from being learned.
        if let Some(&what) = refused.first().filter(|_| refused.len() == documents.len()) {
            return Err(MailFilterError::NotMessage { what });
        }
        let ids: Vec<Option<DocumentId>> = documents
            .iter()
            .map(|own| own.as_ref().map(|own: &Document| DocumentId(own.name())))
            .collect();
        let documents: Vec<Document> = documents.into_iter().flatten().collect();
        let names: Vec<u64> = ids.iter().flatten().map(|id| id.0).collect();
        let reading = self.open.tables.table.head.reading.options;
        let (folder, own_label) = (self.folder.clone(), label.to_owned());
        let work = move |change: &mut Change<'_>, warn: WarningSink<'_>| {
            let head = &change.filter.tables.table.head.reading;
            let number = number_of(&own_label, &head.labels, &folder)?;
            if head.options != reading {
                return Err(MailFilterError::ReadOtherwise { folder: folder.clone() });
            }
            if documents.is_empty() {
                return Ok((Done::Nothing, Vec::new()));
            }
            if kind == ChangeKind::Forget {
                return change.forget(&names, Some(number));
            }
            let documents = documents.iter();
            let documents = documents.map(|own| Document { label: number, ..own.clone() });
            change.teach(documents.collect(), kind, warn)
        };
        self.changed(work, &ids)
    }

    /// Changes the filter as it is now, and opens what comes of it. `ids` are those of the
    /// documents, `None` for those without features. A damaged filter is made again first.
    fn changed(
        &mut self,
        work: impl Fn(&mut Change<'_>, WarningSink<'_>) -> Result<(Done, Vec<Outcome>)>,
        ids: &[Option<DocumentId>],
    ) -> Result<ChangeReport> {
        let mut warnings = Vec::new();
        let mut warn = |warning| warnings.push(warning);
        let stop = &*self.options.stop;
        let mut changing = self.options.change(&self.folder)?;
        let filter = mend::open(&mut changing, stop, &mut warn)?;
        let mut change = Change { filter, changing, stop };
        let done = match work(&mut change, &mut warn) {
            Err(MailFilterError::Open(error)) if error.is_damage() => {
                let filter = mend::mend(&mut change.changing, error, stop, &mut warn)?;
                change.filter = filter;
                work(&mut change, &mut warn)
            }
            done => done,
        };
        let (done, outcomes) = done?;
        drop(change);
        let mut outcomes = outcomes.into_iter();
        let document = |id: &Option<DocumentId>| DocumentReport {
            id: *id,
            outcome: id.and_then(|_| outcomes.next()).unwrap_or(Outcome::Empty),
        };
        let documents = ids.iter().map(document).collect();
        if let Err(error) = self.reload_if_changed() {
            // The change is made; the next call opens it.
            warnings.push(Warning::new(error.to_string()));
        }
        // What was said when the filter was opened is not said again.
        Ok(ChangeReport {
            documents,
            is_changed: done != Done::Nothing,
            is_refitted: done == Done::Fit,
            warnings,
        })
    }
}

/// The number of the category called `label` in the filter in `folder`, which has these labels.
fn number_of(label: &str, known: &[String], folder: &Path) -> Result<u8> {
    let place = known.iter().position(|known| known == label);
    place.and_then(|at| u8::try_from(at).ok()).ok_or_else(|| {
        let (label, folder, known) = (label.into(), folder.to_path_buf(), known.to_vec());
        MailFilterError::UnknownLabel { label, folder, known }
    })
}

/// A function that takes one document.
type Take<'a> = &'a mut dyn FnMut(&[u8]);

/// Calls a function with each of some documents in memory.
fn in_memory<'d>(
    documents: impl IntoIterator<Item = &'d [u8]>,
) -> impl FnMut(Take<'_>) -> Result<()> {
    let mut documents = documents.into_iter();
    move |take| {
        documents.by_ref().for_each(take);
        Ok(())
    }
}
