// SPDX-License-Identifier: GPL-3.0-or-later
//! A fitted set on disk that classifies documents, and learns, corrects and forgets single ones.

use super::asking::{self, Question, each_of_file};
use super::drift;
use super::error::{FittedSetError, lost, unless_stopped};
use super::files::{SetFiles, store_of};
use super::filter_folder::LEDGER;
use super::folder_counts::{left_out, open_mail, standard_input, unopened};
use super::learn_folders;
use super::mail_folders::{LearnedSet, MailFolder, MailLearnOptions};
use super::mailboxes;
use super::misfiled;
use super::open_set::{MailFilter, SetVerdict, direct};
use super::options::FittedSetOptions;
use super::reading::DocumentReader;
use super::reasons::Reasons;
use super::refit::read_state;
use super::report::{DocumentId, DocumentReport, Outcome, SetReport};
use super::roles::MailRole;
use super::update::{self, ChangeKind, Done, Request};
use crate::error::{Error, Warning, WarningSink};
use crate::fit::documents::{Corpus, CorpusBuilder};
use crate::mail::contents::Contents;
use crate::model::settings::ModelOption;
use crate::store::generations::ledger_file::OpenLedger;
use crate::store::generations::{Force, Store, ledger_file};
use crate::store::ledger::Settings;
use dbacl_files::reading::if_there;
use hashbrown::HashSet;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

type Result<T, E = FittedSetError> = std::result::Result<T, E>;

/// A set of categories on disk that were fitted together, with the ledger of its documents: it
/// classifies documents, and learns, corrects and forgets single ones.
///
/// ```
/// use dbacl::{FittedSet, FittedSetOptions, MailFolder, MailLearnOptions, Outcome};
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
///     FittedSet::learn_folders(&folder, &folders, &MailLearnOptions::default())?;
/// assert_eq!(learned.documents, [5, 5]);
///
/// // Later, and as often as mail comes.
/// let mut filter = FittedSet::open(&folder, &FittedSetOptions::default())?;
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
/// A set is opened at one generation of its files (`docs/spec/ledger-format.md`) and stays at it
/// until [`Self::reload_if_changed`], or until it is changed through this value: a change always
/// starts from the newest generation, and becomes current all at once. What other processes change
/// meanwhile, as the program `dbacl` does, is never lost. Files are written as the program writes
/// them, to the byte.
///
/// An open set takes a few file handles and little memory; while it is changed, it takes about as
/// much as its files. It can be shared between threads.
pub struct FittedSet {
    folder: PathBuf,
    options: FittedSetOptions,
    open: MailFilter,
    /// Which state was current when the set was opened.
    mark: Mark,
    pub(super) warnings: Vec<Warning>,
}

impl fmt::Debug for FittedSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("FittedSet");
        shown.field("folder", &self.folder).field("labels", &self.labels());
        shown.field("documents", &self.documents()).field("generation", &self.generation());
        shown.finish_non_exhaustive()
    }
}

impl FittedSet {
    /// Opens the mail filter in `folder`, which `dbacl --mail-learn` has made.
    ///
    /// # Errors
    /// [`FittedSetError::Open`] says what is missing or wrong.
    pub fn open(folder: &Path, options: &FittedSetOptions) -> Result<Self> {
        let mut warnings = Vec::new();
        let mark = mark_of(folder)?;
        let open = MailFilter::open(folder, &mut |warning| warnings.push(warning))?;
        let (folder, options) = (folder.to_path_buf(), options.clone());
        Ok(Self { folder, options, open, mark, warnings })
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
        &self.open.names
    }

    /// What the category called `label` is for; `None` if it is neither spam nor protected.
    #[doc(hidden)]
    pub fn role_of(&self, label: &str) -> Option<MailRole> {
        let place = self.labels().iter().position(|known| known == label);
        place.and_then(|place| self.open.all_roles().at(place))
    }

    /// The label under which a mail filter learns ham or spam, whatever the order of its labels.
    ///
    /// # Errors
    /// [`FittedSetError::NoRole`] if no label says so.
    #[doc(hidden)]
    pub fn label_for(&self, role: MailRole) -> Result<String> {
        let place = self.open.all_roles().place(role);
        let label = place.and_then(|place| self.labels().get(place)).cloned();
        label.ok_or_else(|| FittedSetError::NoRole { role, known: self.labels().to_vec() })
    }

    /// Whether documents are read as mail.
    pub const fn is_mail(&self) -> bool {
        self.open.reading.has(ModelOption::Mail)
    }

    /// Documents that the set was fitted on.
    pub const fn documents(&self) -> u32 {
        self.open.fitted.line.documents
    }

    /// Number of the generation that is open; `None` for files of an older version of dbacl, which
    /// become a generation when they are changed.
    #[doc(hidden)]
    pub fn generation(&self) -> Option<u64> {
        self.open.generation.as_ref().map(|own| own.number)
    }

    /// Warnings about the files.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The verdict on a document. Mail is given as it was received, headers first. Verdicts of
    /// dbacl in its header (lines `X-DBACL`) are ignored, and of a message of more than 8 MiB only
    /// the beginning is classified.
    ///
    /// # Errors
    /// [`FittedSetError::NotMessage`] for what is packed, or no text; [`FittedSetError::Open`] when
    /// a file cannot be read any more.
    pub fn classify(&self, document: impl AsRef<[u8]>) -> Result<SetVerdict> {
        self.open.judge(document.as_ref(), None).map_err(lost)
    }

    /// As [`Self::classify`], with the words that decided. Mail without words has no reasons.
    ///
    /// # Errors
    /// As [`Self::classify`].
    #[doc(hidden)]
    pub fn classify_with_reasons(&self, mail: &[u8]) -> Result<(SetVerdict, Option<Reasons>)> {
        self.open.reasons(mail, None).map_err(lost)
    }

    /// Of how many of `all` messages the set was expected to be unsure, if it was unsure of so many
    /// that mail must have changed.
    #[doc(hidden)]
    pub fn expected_unsure(&self, unsure: usize, all: usize) -> Option<f64> {
        drift::expected(&self.open, unsure, all)
    }

    /// The mail with a line `X-DBACL: VERDICT` before its header, and without the lines `X-DBACL`
    /// that it had before. A message that cannot be classified is returned as well, with the
    /// verdict `error`.
    pub fn filter(&self, mail: impl AsRef<[u8]>) -> Vec<u8> {
        self.open.filter(mail)
    }

    /// The id by which the set recognises a document; `None` for a document without features.
    pub fn id(&self, document: &[u8]) -> Option<DocumentId> {
        self.open.id(document, None)
    }

    /// The labels under which the newest generation has learned a document; empty if it has not
    /// learned it.
    ///
    /// # Errors
    /// [`FittedSetError::Ledger`].
    pub fn labels_of(&self, id: DocumentId) -> Result<Vec<String>> {
        let ledger = self.ledger();
        let generation = self.store().open()?;
        let path = generation.as_ref().map_or(ledger, |it| it.path(OsStr::new(LEDGER)));
        let Some(open) = OpenLedger::to_read(&path)? else { return Ok(Vec::new()) };
        let mut labels = Vec::new();
        if let Some((mut state, names)) = read_state(&path, &open.head) {
            let numbers = (0..names.len()).filter(|&number| names[number] == id.0);
            labels.extend(numbers.filter_map(|number| open.label(state.tables.offset(number))));
        } else if let Some(ledger) = ledger_file::load(&path)? {
            let own = ledger.heads().filter(|(record, _)| record.fingerprint == id.0);
            labels.extend(own.map(|(record, _)| record.label));
        }
        let mut seen = HashSet::new();
        labels.retain(|label| seen.insert(*label));
        let name = |&label: &u32| open.head.names.get(label as usize);
        let names = labels.iter().filter_map(name);
        Ok(names.map(|name| String::from_utf8_lossy(&name.name).into_owned()).collect())
    }

    /// The messages of `mail`, at most `most`, that the filter doubts most, no two alike, the most
    /// doubtful first; see [`asking`].
    ///
    /// # Errors
    /// Mail that cannot be read; [`FittedSetError::Open`] when a file of the set cannot be.
    #[doc(hidden)]
    pub fn questions(
        &self,
        mail: &MailFolder,
        most: usize,
        warnings: WarningSink<'_>,
    ) -> Result<Vec<Question>> {
        let files = learn_folders::files_of(mail, &self.folder)?;
        let is_learned = |id| Ok(!self.labels_of(id)?.is_empty());
        asking::questions((&self.open, &is_learned), &files, most, &self.options.stop, warnings)
    }

    /// The messages that seemed to be in the wrong folder when the folders were learned and have
    /// not been reviewed since, each with its id; the most harmful come first.
    ///
    /// # Errors
    /// The list or a message cannot be read; [`FittedSetError::Open`] when a file of the set
    /// cannot be.
    #[doc(hidden)]
    pub fn suspected(&self) -> Result<Vec<(DocumentId, Question)>> {
        let list = misfiled::suspects(&self.folder)?;
        let is_learned = |suspect: &misfiled::Suspect| {
            Ok(self.labels_of(DocumentId(suspect.id))?.contains(&suspect.label))
        };
        asking::suspected(&self.open, &list, &is_learned, &self.options.stop)
    }

    /// Records that messages, given by their ids and labels, belong where they are.
    ///
    /// # Errors
    /// The list cannot be read or written.
    #[doc(hidden)]
    pub fn confirm(&self, messages: &[(DocumentId, &str)]) -> Result<()> {
        let folder = self.folder.clone();
        let mut list = misfiled::suspects(&folder)?;
        for suspect in &mut list {
            if messages.contains(&(DocumentId(suspect.id), suspect.label.as_str())) {
                suspect.place = None;
            }
        }
        misfiled::save(&folder, &list)
    }

    /// Learns a document of the category called `label`, also if the set knows it already.
    ///
    /// # Errors
    /// What stopped it; nothing has changed.
    pub fn learn(&mut self, label: &str, document: impl AsRef<[u8]>) -> Result<SetReport> {
        self.learn_all(label, [document.as_ref()])
    }

    /// The same with many documents: one lock, one generation.
    ///
    /// # Errors
    /// As for [`Self::learn`].
    pub fn learn_all<'d>(
        &mut self,
        label: &str,
        documents: impl IntoIterator<Item = &'d [u8]>,
    ) -> Result<SetReport> {
        self.change(ChangeKind::Learn, label, &mut in_memory(documents))
    }

    /// Records that a document belongs to the category called `label`: the set forgets it under
    /// other labels, and learns it under this one unless it has learned it already (`dbacl
    /// --mail-correct`). A second call changes nothing. A mail filter remembers the correction when
    /// its folders are learned again, until the folders contain the mail under this label.
    ///
    /// # Errors
    /// As for [`Self::learn`].
    pub fn correct(&mut self, label: &str, document: impl AsRef<[u8]>) -> Result<SetReport> {
        self.correct_all(label, [document.as_ref()])
    }

    /// The same with many documents: one lock, one generation.
    ///
    /// # Errors
    /// As for [`Self::learn`].
    pub fn correct_all<'d>(
        &mut self,
        label: &str,
        documents: impl IntoIterator<Item = &'d [u8]>,
    ) -> Result<SetReport> {
        self.change(ChangeKind::Correct, label, &mut in_memory(documents))
    }

    /// The same with the messages in the files and folders at these places, or on standard input if
    /// there are none.
    ///
    /// # Errors
    /// Mail that cannot be read; else as for [`Self::learn`].
    #[doc(hidden)]
    pub fn correct_mail(&mut self, label: &str, places: &[PathBuf]) -> Result<SetReport> {
        self.change_by_mail(ChangeKind::Correct, label, places)
    }

    /// Forgets that a document was learned as `label` (`dbacl --mail-forget`): every file is then
    /// byte-identical to one that never contained the document. The whole set is fitted again,
    /// which takes as long for many documents as for one.
    ///
    /// # Errors
    /// As for [`Self::learn`].
    pub fn forget(&mut self, label: &str, document: impl AsRef<[u8]>) -> Result<SetReport> {
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
    ) -> Result<SetReport> {
        self.change(ChangeKind::Forget, label, &mut in_memory(documents))
    }

    /// The same with the messages in the files and folders at these places, or on standard input if
    /// there are none.
    ///
    /// # Errors
    /// Mail that cannot be read; else as for [`Self::learn`].
    #[doc(hidden)]
    pub fn forget_mail(&mut self, label: &str, places: &[PathBuf]) -> Result<SetReport> {
        self.change_by_mail(ChangeKind::Forget, label, places)
    }

    /// Forgets a document under whatever label it was learned once; the document itself is not
    /// needed.
    ///
    /// # Errors
    /// As for [`Self::learn`].
    pub fn forget_id(&mut self, id: DocumentId) -> Result<SetReport> {
        let corpus = Corpus::default();
        let kind = ChangeKind::Forget;
        let request = Request { kind, label: None, ids: vec![id.0], corpus: &corpus };
        let mut report = SetReport::default();
        let files = self.files(&mut report.warnings)?;
        let (done, outcomes) = self.change_files(files, &request, &self.settings(), &mut report)?;
        let document = |outcome| DocumentReport { id: Some(id), outcome };
        report.documents = outcomes.into_iter().map(document).collect();
        Ok(self.changed(done, report))
    }

    /// Opens the newest generation of the set if another one is open, and returns whether that was
    /// so. If nothing has changed, this call only looks at the state of symbolic links.
    ///
    /// # Errors
    /// As for [`Self::open`]; the set stays open as it was.
    pub fn reload_if_changed(&mut self) -> Result<bool> {
        let mark = mark_of(&self.folder)?;
        if mark == self.mark {
            return Ok(false);
        }
        let mut warnings = Vec::new();
        self.open = MailFilter::open(&self.folder, &mut |warning| warnings.push(warning))?;
        (self.mark, self.warnings) = (mark, warnings);
        Ok(true)
    }

    fn ledger(&self) -> PathBuf {
        self.folder.join(LEDGER)
    }

    fn store(&self) -> Store {
        store_of(&[], Some(&self.ledger()))
    }

    fn settings(&self) -> Settings {
        let reading = &self.open.reading;
        ledger_file::settings(reading.options, reading.scheme, reading.order, self.open.patterns())
    }

    /// Takes the lock, opens the newest generation, and begins the next one.
    fn files(&mut self, warnings: &mut Vec<Warning>) -> Result<SetFiles> {
        let lock = self.options.lock(&self.store())?;
        self.reload_if_changed()?;
        let names: Vec<PathBuf> =
            self.labels().iter().map(|label| direct(&self.folder.join(label))).collect();
        // What was said when the set was opened is not said again.
        let mut warn = |warning| {
            if !self.warnings.contains(&warning) {
                warnings.push(warning);
            }
        };
        SetFiles::open(&names, Some(&self.ledger()), lock, &mut warn)
    }

    /// The number of the category called `label`.
    fn number_of(&self, label: &str) -> Result<u32> {
        let known = self.labels().iter().position(|known| known == label);
        known.and_then(|at| u32::try_from(at).ok()).ok_or_else(|| {
            let (label, known) = (label.into(), self.labels().to_vec());
            FittedSetError::UnknownLabel { label, folder: self.folder.clone(), known }
        })
    }

    fn change_by_mail(
        &mut self,
        kind: ChangeKind,
        label: &str,
        places: &[PathBuf],
    ) -> Result<SetReport> {
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

    /// Changes the set by documents, which `each` gives one after the other. They are read before
    /// the lock is taken, since they may come slowly.
    fn change(
        &mut self,
        kind: ChangeKind,
        label: &str,
        each: &mut dyn FnMut(Take<'_>) -> Result<()>,
    ) -> Result<SetReport> {
        self.number_of(label)?;
        let settings = self.settings();
        let mut corpus = CorpusBuilder::default();
        let mut is_empty = Vec::new();
        let is_learned = self.is_mail() && kind != ChangeKind::Forget;
        let mut refused = Vec::new();
        let mut reader = DocumentReader::new(&self.open.reading, Some(&self.options.stop));
        each(&mut |document| {
            if let Some(what) = Contents::refusal(document).filter(|_| is_learned) {
                refused.push(what);
                is_empty.push(true);
                return;
            }
            let before = corpus.documents();
            reader.read::<Vec<u8>>(document, 0, &[], &mut corpus);
            is_empty.push(corpus.documents() == before);
        })?;
        drop(reader);
        let mut corpus = corpus.finish();
        // Reading ends early at a signal. What was read then looks like a shorter document, or like
        // one without words.
        unless_stopped(&self.options.stop)?;
        // One of many does not keep the others from being learned.
        if let Some(&what) = refused.first().filter(|_| refused.len() == is_empty.len()) {
            return Err(FittedSetError::NotMessage { what });
        }
        let mut report = SetReport::default();
        let files = self.files(&mut report.warnings)?;
        let number = self.number_of(label)?;
        for document in &mut corpus.documents {
            document.label = number;
        }
        let request = Request::new(kind, number, &corpus);
        let (done, outcomes) = if request.ids.is_empty() {
            (None, Vec::new())
        } else {
            self.change_files(files, &request, &settings, &mut report)?
        };
        let mut known = request.ids.iter().zip(outcomes);
        let empty = || DocumentReport { id: None, outcome: Outcome::Empty };
        let of = |(id, outcome): (&u64, _)| DocumentReport { id: Some(DocumentId(*id)), outcome };
        let each = is_empty.into_iter().map(|is_empty| if is_empty { None } else { known.next() });
        report.documents = each.map(|one| one.map_or_else(empty, of)).collect();
        Ok(self.changed(done, report))
    }

    fn change_files(
        &self,
        files: SetFiles,
        request: &Request<'_>,
        settings: &Settings,
        report: &mut SetReport,
    ) -> Result<(Done, Vec<Outcome>)> {
        let mut warn = |warning| report.warnings.push(warning);
        let how = (settings, self.is_mail());
        update::change_files(files, request, how, &self.options.stop, &mut warn)
    }

    /// Opens the generation that a change has made current.
    fn changed(&mut self, done: Done, mut report: SetReport) -> SetReport {
        report.is_changed = done.is_some();
        report.is_refitted = done == Some(Force::All);
        if report.is_changed
            && let Err(error) = self.reload_if_changed()
        {
            // The change is made; the next call opens it.
            report.warnings.push(Warning::new(error.to_string()));
        }
        report.generation = self.generation();
        report
    }
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

/// Identifies a state of a set by the link to the current generation, which every change creates
/// again: its inode, and the seconds and nanoseconds of its last change. `None` where there is no
/// such link.
type Mark = Option<(u64, i64, i64)>;

fn mark_of(folder: &Path) -> Result<Mark> {
    let path = store_of(&[], Some(&folder.join(LEDGER))).current_link();
    let link = if_there(std::fs::symlink_metadata(&path));
    let link = link.map_err(|error| lost(Error::io(&path, error)))?;
    Ok(link.map(|link| (link.ino(), link.ctime(), link.ctime_nsec())))
}
