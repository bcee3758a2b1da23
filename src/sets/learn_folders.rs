// SPDX-License-Identifier: GPL-3.0-or-later
//! Learns mail folders into a mail filter (`dbacl --mail-learn`).
//!
//! ```text
//! folders ─→ files ─→ ordinary categories, ledger ─→ corrections kept ─→ fit ─→ next generation
//! ```
//!
//! The whole filter changes at once, at the end. Until then the old one judges mail, and
//! corrections change it.

use super::error::{FittedSetError, lock};
use super::files::{CORRECTIONS, SetFiles, links};
use super::filter_folder::{LEDGER, MAGIC, MOST, ORDER, labels};
use super::mail_reading::MailReading;
use super::mailboxes::{self, MailFile};
use super::misfiled::{self, MisfiledMail, Place};
use super::open_set::direct;
use super::options::FittedSetOptions;
use super::refit::{RefitJob, Refitted};
use crate::atomic_file::{self, Unforced};
use crate::category::layout::ANY_MAGIC;
use crate::document::{Cutter, FeatureReader, FeatureSink, LineState};
use crate::error::{Error, Warning, WarningSink};
use crate::input::source::{self, Operand, Source};
use crate::joint::corrections;
use crate::joint::documents::{Corpus, fingerprint};
use crate::joint::fit::{FALSE_POSITIVES, FitNote, FitOptions, FitVerdicts, MisfiledDocument};
use crate::joint::keeper::DocumentKeeper;
use crate::joint::ledger::{self, Learning, Ledger, Settings};
use crate::joint::select::Quality;
use crate::joint::store::{Change, Name, Store, ledger_file, member};
use crate::learn::counter::Counter;
use crate::learn::options::LearnOptions;
use crate::learn::state::LearningState;
use crate::learn::{Progress, finish};
use crate::mail::day::{day_in, day_of};
use crate::mail::mailbox::{self, Boundaries, Line, Rule};
use crate::model::settings::ModelOption;
use crate::parallel;
use crate::token::Feature;
use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

type Result<T, E = FittedSetError> = std::result::Result<T, E>;

/// Usual labels of mail that must not be lost.
const GOOD: [&str; 12] = [
    "ham",
    "good",
    "nonspam",
    "non-spam",
    "notspam",
    "not-spam",
    "nospam",
    "legit",
    "legitimate",
    "clean",
    "wanted",
    "inbox",
];

/// Usual labels of the other mail.
const BAD: [&str; 8] =
    ["spam", "junk", "bad", "unwanted", "unsolicited", "trash", "phishing", "malware"];

/// The mail of one category.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailFolder {
    label: String,
    paths: Vec<PathBuf>,
}

impl MailFolder {
    /// The mail at `path`, with the label `label`. The path is an mbox file, a single mail, a
    /// Maildir, an MH folder, a folder of mails, or a folder of Maildirs and MH folders.
    pub fn new(label: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self { label: label.into(), paths: vec![path.into()] }
    }

    /// Adds the mail at `path` to the folder.
    #[must_use]
    pub fn and(mut self, path: impl Into<PathBuf>) -> Self {
        self.paths.push(path.into());
        self
    }

    /// The folder's paths, for messages.
    fn place(&self) -> String {
        let paths: Vec<String> = self.paths.iter().map(|path| path.display().to_string()).collect();
        paths.join(", ")
    }
}

/// A function that is called with the number of bytes read so far and with the total.
type ProgressSink = Arc<dyn Fn(u64, u64) + Send + Sync>;

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
    protect: Vec<(String, Option<f64>)>,
    false_positives: Option<f64>,
    reading: Option<MailReading>,
    since: Option<i64>,
    pub(super) set: FittedSetOptions,
    progress: Option<ProgressSink>,
}

impl std::fmt::Debug for MailLearnOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("MailLearnOptions");
        shown.field("protect", &self.protect).field("reading", &self.reading);
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
    #[doc(hidden)]
    #[must_use]
    pub fn protect_at(mut self, label: impl Into<String>, share: f64) -> Self {
        self.protect.push((label.into(), Some(share)));
        self
    }

    /// How mail is read. Without this call an existing filter keeps its reading, and a new one gets
    /// [`MailReading::Unicode`].
    #[must_use]
    pub const fn reading(mut self, reading: MailReading) -> Self {
        self.reading = Some(reading);
        self
    }

    /// The share of protected mail, between 0 and 1, that may surely be called other mail (0.001).
    #[must_use]
    pub const fn false_positives(mut self, share: f64) -> Self {
        self.false_positives = Some(share);
        self
    }

    /// Mail of days before this one, counted from the beginning of 1970, is left out. Mail whose
    /// day is unknown is learned.
    #[doc(hidden)]
    #[must_use]
    pub const fn since(mut self, day: i64) -> Self {
        self.since = Some(day);
        self
    }

    /// How long to wait for locks, and what ends the work early.
    #[must_use]
    pub fn set_options(mut self, options: FittedSetOptions) -> Self {
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

/// The result of learning mail folders.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MailLearned {
    /// The labels; the first one is the one that is protected.
    pub labels: Vec<String>,
    /// Mails with features under each label.
    pub documents: Vec<usize>,
    /// How well the ordinary categories judge the mails, each without the counts that were learned
    /// from it.
    pub before: Quality,
    /// How well the filter judges mails that it has not seen, by cross-validation.
    pub after: Quality,
    /// The filter's verdicts on such mails.
    pub verdicts: Option<FitVerdicts>,
    /// Corrections that the folders do not confirm yet, and that were applied.
    pub corrections: usize,
    /// Warnings and remarks about the fit.
    pub notes: Vec<FitNote>,
    /// Other warnings.
    pub warnings: Vec<Warning>,
}

impl MailLearned {
    pub(super) fn new(
        learned: (Refitted, usize),
        notes: Vec<FitNote>,
        warnings: Vec<Warning>,
    ) -> Self {
        let (Refitted { solution, names }, corrections) = learned;
        Self {
            labels: names,
            documents: solution.data.documents_by_category(),
            before: solution.before,
            after: solution.choice.quality,
            verdicts: solution.fitted.and_then(|fitted| fitted.verdicts),
            corrections,
            notes,
            warnings,
        }
    }
}

/// The folders, with the protected ones first, each with the share of its mail that may surely be
/// called other mail; `None` for those that are not protected.
///
/// # Errors
/// [`FittedSetError::NotFolders`], [`FittedSetError::BadLabel`], [`FittedSetError::Roles`],
/// [`FittedSetError::Protect`].
fn in_order<'a>(
    folders: &'a [MailFolder],
    options: &MailLearnOptions,
) -> Result<Vec<(&'a MailFolder, Option<f64>)>> {
    for folder in folders {
        let label = folder.label.as_str();
        let is_plain = !label.is_empty()
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
            && ![LEDGER, ORDER, "unsure", "error"].contains(&label);
        if !is_plain {
            return Err(FittedSetError::BadLabel { label: label.into() });
        }
    }
    let are_distinct = (1..folders.len())
        .all(|at| folders[..at].iter().all(|folder| folder.label != folders[at].label));
    if !(2..=MOST).contains(&folders.len()) || !are_distinct {
        return Err(FittedSetError::NotFolders);
    }
    let usual = options.false_positives.unwrap_or(FALSE_POSITIVES);
    let mut rates = vec![None; folders.len()];
    for (label, share) in &options.protect {
        let place = folders.iter().position(|folder| folder.label == *label);
        let place = place.ok_or_else(|| FittedSetError::Protect { label: label.clone() })?;
        rates[place] = Some(share.unwrap_or(usual));
    }
    if options.protect.is_empty() {
        if let [first, second] = folders {
            let good = match (role(&first.label), role(&second.label)) {
                (Some(true), Some(false) | None) | (None, Some(false)) => 0,
                (Some(false), Some(true) | None) | (None, Some(true)) => 1,
                _ => {
                    let (first, second) = (first.label.clone(), second.label.clone());
                    return Err(FittedSetError::Roles { first, second });
                }
            };
            rates[good] = Some(usual);
        } else {
            // With more than two folders, none has to be protected.
            for (rate, folder) in rates.iter_mut().zip(folders) {
                *rate = (role(&folder.label) == Some(true)).then_some(usual);
            }
        }
    }
    let mut ordered: Vec<_> = folders.iter().zip(rates).collect();
    ordered.sort_by_key(|(_, rate)| rate.is_none());
    Ok(ordered)
}

/// Whether a usual label means mail that must not be lost; `None` for other labels.
fn role(label: &str) -> Option<bool> {
    let is_one_of = |names: &[&str]| names.iter().any(|name| label.eq_ignore_ascii_case(name));
    match (is_one_of(&GOOD), is_one_of(&BAD)) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}

/// Learns the mail of two or more categories into the filter in `folder`. Returns the fit and the
/// number of corrections that were applied.
///
/// # Errors
/// What stopped it; the filter is as it was.
pub fn learn(
    folder: &Path,
    folders: &[MailFolder],
    options: &MailLearnOptions,
    note: &mut dyn FnMut(FitNote),
    warnings: WarningSink<'_>,
) -> Result<(Refitted, usize)> {
    let (folders, rates): (Vec<_>, Vec<_>) = in_order(folders, options)?.into_iter().unzip();
    let mut mail_files = Vec::new();
    for folder in &folders {
        mail_files.push(files_of(folder)?);
    }
    private_folder(folder)?;
    let inside = |name: &str| direct(&folder.join(name));
    let ledger_path = inside(LEDGER);
    let names: Vec<PathBuf> = folders.iter().map(|folder| inside(&folder.label)).collect();
    let store = Store::beside(&ledger_path);
    let members: Vec<OsString> =
        folders.iter().map(|folder| member("category.", OsStr::new(&folder.label))).collect();
    let mut links = links(&names, &members, Some(&ledger_path));
    links.retain(|link| link.member != ORDER);
    links.push(Name { path: inside(ORDER), member: ORDER.into(), ours: MAGIC });
    let anchor = store.anchor();
    let patience = options.set.patience();
    // The lock is not held while mail is read, so that corrections need not wait.
    let (change, current) = {
        let _lock = lock(&anchor, ".lock", patience, &mut || options.set.waits(&anchor))?;
        let change = store.replacement().map_err(FittedSetError::generation)?;
        (change, MailReading::of_filter(&store, &ledger_path))
    };
    let reading = options.reading.or(current).unwrap_or_default();
    let learning = reading.options();
    let job = Reading::new(&learning, options, &mail_files);
    let learned = parallel::all(folders.len(), |at| job.learn(&mail_files[at], &names[at]));
    let settings = reading.settings();
    let mut ledger = Ledger::new(settings, Vec::new());
    let mut places = Vec::new();
    for (at, learned) in learned.into_iter().enumerate() {
        let mut learned = learned?;
        learned.warnings.drain(..).for_each(&mut *warnings);
        let Some(category) = learned.category else {
            let place = folders[at].place();
            return Err(match options.since {
                Some(_) => FittedSetError::OldMail { place },
                None => FittedSetError::NoMail { place },
            });
        };
        let path = change.path(&members[at]);
        ledger_file::replace(&Unforced, &path, ANY_MAGIC, &category)?;
        let name = folders[at].label.as_bytes();
        ledger.head.names.push(ledger::Name { name: name.to_vec(), learning: learned.learning });
        let label = u32::try_from(at).unwrap_or(u32::MAX);
        for (number, document) in learned.corpus.documents.iter().enumerate() {
            let terms = learned.corpus.terms_of(number);
            ledger.push(label, document.occurrences, terms);
            learned.places[number].id = fingerprint(terms);
        }
        places.push(learned.places);
    }
    let order: String = folders.iter().map(|folder| format!("{}\n", folder.label)).collect();
    let order = [MAGIC, order.as_bytes()].concat();
    ledger_file::replace(&Unforced, &change.path(OsStr::new(ORDER)), MAGIC, &order)?;
    let lock = lock(&anchor, ".lock", patience, &mut || options.set.waits(&anchor))?;
    let before = names_of(folder, &ledger_path);
    store.take_over(&before).map_err(FittedSetError::generation)?;
    let applied = correct(&store, &change, &mut ledger, warnings)?;
    ledger_file::save(&change.path(OsStr::new(LEDGER)), &ledger)?;
    let mut documents = Vec::new();
    ledger.each_head(|record, _| {
        documents.push((record.label as usize, record.fingerprint));
        true
    })?;
    // This frees memory for the fit.
    drop(ledger);
    let before = names_of(folder, &ledger_path);
    let files =
        SetFiles::of(&names, &members, Some(&ledger_path), links, store.clone(), change, lock);
    let fitted = fit(&files, &settings, (&wishes(rates, options), applied > 0), note);
    let fitted = fitted.map_err(|error| files.in_words(error))?;
    files.publish(true, options.set.stop_flag())?.into_iter().for_each(&mut *warnings);
    store.unlink_names(&before);
    let found = fitted.solution.fitted.iter().flat_map(|fitted| &fitted.misfiled);
    let mail = |&MisfiledDocument { document, looks_like, .. }: &MisfiledDocument| {
        let &(label, id) = documents.get(document)?;
        // A mail that was corrected lies elsewhere.
        let place = places[label].iter().find(|place| place.id == id)?;
        let file = mail_files[label].get(place.file as usize)?;
        let [label, looks_like] = [label, looks_like].map(|at| folders[at].label.as_str());
        Some(MisfiledMail { file, mail: place.mail, label, looks_like })
    };
    misfiled::tell(folder, &found.filter_map(mail).collect::<Vec<_>>(), warnings);
    Ok((fitted, applied))
}

/// The options of the fit, given the share of each folder's mail that may surely be called other
/// mail.
fn wishes(mut rates: Vec<Option<f64>>, options: &MailLearnOptions) -> FitOptions {
    let wishes = FitOptions::mail();
    if rates.len() > 2 {
        return wishes.rates(rates);
    }
    // Of two folders the first is always protected. If the user gave the share, a warning says when
    // there are too few mails to verify it.
    let is_asked_for = options.false_positives.is_some()
        || options.protect.iter().any(|(_, share)| share.is_some());
    let first = rates.first_mut().and_then(Option::take).filter(|_| is_asked_for);
    let wishes = first.map_or(wishes.clone(), |share| wishes.false_positives(share));
    wishes.rates(if rates.iter().any(Option::is_some) { rates } else { Vec::new() })
}

fn fit(
    files: &SetFiles,
    settings: &Settings,
    (wishes, ledger_leads): (&FitOptions, bool),
    note: &mut dyn FnMut(FitNote),
) -> Result<Refitted> {
    let job = RefitJob::open(files, |_| *settings, ledger_leads)?;
    let corpus = job.ledger.as_ref().map(|ledger| job.corpus_of(ledger, &files.labels()));
    job.fit(corpus.transpose()?.unwrap_or_default(), wishes, true, note)
}

/// The files of a mail folder.
///
/// # Errors
/// [`FittedSetError::Source`]; [`FittedSetError::NoMail`] where there is none.
fn files_of(folder: &MailFolder) -> Result<Vec<MailFile>> {
    let mut files = Vec::new();
    for path in &folder.paths {
        let found = mailboxes::files_of(path);
        files.extend(found.map_err(|error| unopened(path, error))?);
    }
    if files.is_empty() {
        return Err(FittedSetError::NoMail { place: folder.place() });
    }
    Ok(files)
}

fn unopened(path: &Path, error: Error) -> FittedSetError {
    let path = path.to_path_buf();
    let source = match error {
        Error::Io { source, .. } => source,
        other => io::Error::other(other),
    };
    FittedSetError::Source { path, source }
}

/// Creates a filter's folder with access for the user only; an existing folder stays as it is.
fn private_folder(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let made = atomic_file::private_folder(folder).and_then(|()| {
        let lock = folder.join(LEDGER).with_extension("lock");
        OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(lock)
    });
    let path = folder.to_path_buf();
    made.map(|_| ()).map_err(|source| FittedSetError::Folder { path, source })
}

/// The names of the filter that is in `folder`.
fn names_of(folder: &Path, ledger: &Path) -> Vec<Name> {
    let labels = labels(&folder.join(ORDER)).unwrap_or_default();
    let names: Vec<PathBuf> = labels.iter().map(|label| direct(&folder.join(label))).collect();
    let members: Vec<OsString> = names
        .iter()
        .map(|name| member("category.", name.file_name().unwrap_or_default()))
        .collect();
    links(&names, &members, Some(ledger))
}

/// Applies the current filter's corrections to the ledger of the next generation, and returns how
/// many of them are still needed.
fn correct(
    store: &Store,
    change: &Change,
    ledger: &mut Ledger,
    warnings: WarningSink<'_>,
) -> Result<usize> {
    let current = store.open().map_err(FittedSetError::generation)?;
    let Some(current) = current else { return Ok(0) };
    let Some(kept) = ledger_file::load(&current.path(OsStr::new(CORRECTIONS)))? else {
        return Ok(0);
    };
    if kept.head.settings != ledger.head.settings {
        let text = "the corrections were made with other options and are not applied";
        warnings(Warning::new(text));
        return Ok(0);
    }
    let done = corrections::apply(ledger, &kept)?;
    *ledger = done.ledger;
    let path = change.path(OsStr::new(CORRECTIONS));
    ledger_file::replace(&Unforced, &path, ledger::ANY_MAGIC, &done.corrections.bytes())?;
    Ok(done.applied)
}

/// The ordinary category and the documents that were learned from a folder.
struct LearnedFolder {
    /// The ordinary category; `None` if there was no token.
    category: Option<Vec<u8>>,
    learning: Learning,
    corpus: Corpus,
    /// Where each document of the corpus was read.
    places: Vec<Place>,
    warnings: Vec<Warning>,
}

/// How the files of all folders are read.
struct Reading<'a> {
    options: &'a LearnOptions,
    stop: &'a AtomicBool,
    progress: Option<&'a ProgressSink>,
    /// The first day whose mail is learned.
    since: Option<i64>,
    done: AtomicU64,
    total: u64,
}

impl<'a> Reading<'a> {
    fn new(options: &'a LearnOptions, how: &'a MailLearnOptions, files: &[Vec<MailFile>]) -> Self {
        let length = |file: &MailFile| std::fs::metadata(&file.path).map_or(0, |found| found.len());
        Self {
            options,
            stop: how.set.stop_flag(),
            progress: how.progress.as_ref(),
            since: how.since,
            done: AtomicU64::new(0),
            total: files.iter().flatten().map(length).sum(),
        }
    }

    /// Learns the mail in `files`, as the category that users call `name`.
    fn learn(&self, files: &[MailFile], name: &Path) -> Result<LearnedFolder> {
        let settings = self.options.settings();
        let state = LearningState::new(
            settings.bits,
            settings.options,
            settings.scheme,
            settings.min_count,
        );
        let mut counter = Counter::new(state, settings, false);
        counter.forget_appearances();
        let keeper = DocumentKeeper::new(true);
        let places = Places::default();
        let mut sink = KeptCounts { counter, keeper, places, age: None, warnings: Vec::new() };
        let mut reader = FeatureReader::stoppable(self.options.reading(), self.stop);
        for (number, file) in files.iter().enumerate() {
            if self.stop.load(Ordering::Relaxed) {
                return Err(FittedSetError::Stopped);
            }
            let Some(source) = open(file)? else { continue };
            if let Some(since) = self.since {
                let head = beginning(&file.path);
                let is_mailbox = file.may_be_mailbox && mailbox::begins_message(first_line(&head));
                if !is_mailbox && day_of(&head).is_some_and(|day| day < since) {
                    continue;
                }
                sink.age = is_mailbox.then(|| Age::new(since));
            }
            reader.start_anew();
            sink.keeper.start_source(file.may_be_mailbox);
            sink.places.file = u32::try_from(number).unwrap_or(u32::MAX);
            let counted = Counted { reader: source.reader, reading: self };
            let source = Source { name: source.name, reader: Box::new(counted) };
            let ended = reader.read(source, &mut sink);
            // Counting cannot fail.
            if let Ok(Some(source)) | Err(source) = ended {
                let path = file.path.clone();
                return Err(FittedSetError::Unread { path, source });
            }
        }
        if self.stop.load(Ordering::Relaxed) {
            return Err(FittedSetError::Stopped);
        }
        let KeptCounts { counter, keeper, places, mut warnings, .. } = sink;
        let mut state = counter.into_state(&mut |warning| warnings.push(warning));
        warnings.extend(state.fullness());
        let learning = Learning {
            is_plain: state.table.has_room(state.used)
                && !state.is_multinomial()
                && !state.options.has(ModelOption::Overflow),
            bits: settings.bits,
            max_bits: settings.max_bits,
            quality: settings.quality,
            min_count: settings.min_count,
        };
        let mut category = None;
        if state.used > 0 {
            let mut warn = |warning| warnings.push(warning);
            let mut progress = Progress::silent();
            let failed = |source| FittedSetError::Learning { source };
            let digrams = settings.reference.measure(&state.characters, &mut progress, &mut warn);
            let digrams = digrams.map_err(failed)?;
            let model = finish(&mut state, settings, digrams, None, &mut progress, &mut warn);
            let model = model.map_err(failed)?;
            let mut bytes = Vec::new();
            // Writing to memory cannot fail.
            let _ = model.write(&mut bytes, name.as_os_str().as_bytes(), &[], &state.table);
            category = Some(bytes);
        }
        let (corpus, places) = (keeper.corpus, places.found);
        Ok(LearnedFolder { category, learning, corpus, places, warnings })
    }
}

/// Opens a file with mail; `None` for a file of a folder that has been removed meanwhile.
fn open(file: &MailFile) -> Result<Option<Source<'static>>> {
    let path = &file.path;
    if !file.may_be_mailbox {
        let source = source::open_entry(path);
        if source.is_none() && path.exists() {
            let source = std::fs::File::open(path).err();
            let source = source.unwrap_or_else(|| io::ErrorKind::InvalidInput.into());
            return Err(FittedSetError::Source { path: path.clone(), source });
        }
        return Ok(source);
    }
    match source::open(path.as_os_str(), &mut |_| {}) {
        Ok(Operand::File(source)) => Ok(Some(source)),
        Ok(Operand::Folder(_)) => Ok(None),
        Err(error) => Err(unopened(path, error)),
    }
}

/// Number of bytes at the beginning of a mail in which its day is looked for.
const HEAD: u64 = 1 << 16;

/// The beginning of a file; empty if the file cannot be read, which is reported when it is learned.
fn beginning(path: &Path) -> Vec<u8> {
    let mut head = Vec::new();
    if let Ok(file) = std::fs::File::open(path) {
        let _ = file.take(HEAD).read_to_end(&mut head);
    }
    head
}

fn first_line(head: &[u8]) -> &[u8] {
    head.split(|&byte| byte == b'\n').next().unwrap_or_default()
}

/// Leaves out those mails of a mailbox that are too old.
struct Age {
    since: i64,
    boundaries: Boundaries,
    is_old: bool,
    /// Mails that were left out since the last one that was not.
    left_out: u32,
}

impl Age {
    const fn new(since: i64) -> Self {
        let boundaries = Boundaries::new(Rule::SenderAndDate);
        Self { since, boundaries, is_old: false, left_out: 0 }
    }

    /// Whether the next line belongs to a mail that is too old.
    fn leaves_out(&mut self, line: &[u8]) -> bool {
        if self.boundaries.line(line) == Line::Begins {
            self.is_old = day_in(line).is_some_and(|day| day < self.since);
            self.left_out += u32::from(self.is_old);
        }
        self.is_old
    }
}

/// Reports how many bytes were read.
struct Counted<'a, R> {
    reader: R,
    reading: &'a Reading<'a>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        if let Some(progress) = self.reading.progress {
            let before = self.reading.done.fetch_add(read as u64, Ordering::Relaxed);
            progress(before + read as u64, self.reading.total);
        }
        Ok(read)
    }
}

/// Where the documents of a folder are.
#[derive(Default)]
struct Places {
    found: Vec<Place>,
    /// Number of the file that is being read.
    file: u32,
    /// Mails of it that have begun.
    mails: u32,
}

impl Places {
    /// A document may have ended: there are so many now.
    fn see(&mut self, documents: usize) {
        let Self { file, mails, .. } = *self;
        self.found.resize(documents, Place { id: 0, file, mail: mails });
    }
}

/// Counts features, and keeps what a ledger needs of each document.
struct KeptCounts {
    counter: Counter,
    keeper: DocumentKeeper,
    places: Places,
    /// Finds the mails of a mailbox that are too old.
    age: Option<Age>,
    warnings: Vec<Warning>,
}

impl FeatureSink for KeptCounts {
    fn raw_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        if self.age.as_mut().is_some_and(|age| age.leaves_out(line)) {
            return Ok(false);
        }
        self.keeper.raw_line(line);
        Ok(true)
    }

    fn text(&mut self, _: &[u8], state: LineState, cutter: &mut Cutter) -> io::Result<()> {
        if let Some(begins) = self.keeper.text(state, cutter) {
            if begins {
                self.places.see(self.keeper.corpus.documents.len());
                let left_out = self.age.as_mut().map_or(0, |age| std::mem::take(&mut age.left_out));
                self.places.mails += 1 + left_out;
            }
            self.counter.line_of_mail(begins, &mut |warning| self.warnings.push(warning));
        }
        Ok(())
    }

    fn feature(&mut self, feature: Feature<'_>) {
        self.counter.count(feature, &mut |warning| self.warnings.push(warning));
        self.keeper.feature(&feature);
    }

    fn end_of_source(&mut self, _: &[u8], cutter: &mut Cutter) -> io::Result<()> {
        self.counter.end_of_file(&mut |warning| self.warnings.push(warning));
        self.keeper.end_of_source(cutter);
        self.places.see(self.keeper.corpus.documents.len());
        self.places.mails = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(labels: &str) -> Vec<MailFolder> {
        labels.split(' ').map(|label| MailFolder::new(label, "x")).collect()
    }

    #[test]
    fn learning_takes_two_labels_or_more() {
        let usual = MailLearnOptions::default();
        for wrong in ["ham", "ham ham", "ham ledger", "a/b d", "ham a b a", "unsure spam"] {
            assert!(in_order(&folders(wrong), &usual).is_err(), "{wrong}");
        }
        let many: Vec<String> = (0..=MOST).map(|number| format!("l{number}")).collect();
        assert!(in_order(&folders(&many.join(" ")), &usual).is_err());
        assert_eq!(in_order(&folders(&many[1..].join(" ")), &usual).unwrap().len(), MOST);
    }

    #[test]
    fn names_tell_which_mail_must_not_be_lost() {
        for (labels, protect, expected) in [
            ("ham spam", "", "ham 0.001 spam"),
            ("spam ham", "", "ham 0.001 spam"),
            ("Junk work", "", "work 0.001 Junk"),
            ("lists good", "", "good 0.001 lists"),
            ("a b", "", "refused"),
            ("ham good", "", "refused"),
            ("spam junk", "", "refused"),
            ("a b", "b", "b 0.001 a"),
            ("work lists spam", "", "work lists spam"),
            ("lists spam good inbox", "", "good 0.001 inbox 0.001 lists spam"),
            ("lists spam good", "lists", "lists 0.001 spam good"),
            ("lists spam good", "good lists:0.05", "lists 0.05 good 0.001 spam"),
            ("ham spam", "spam", "spam 0.001 ham"),
            ("ham spam", "ham spam:0.01", "ham 0.001 spam 0.01"),
            ("ham spam", "other", "refused"),
        ] {
            let mut options = MailLearnOptions::default();
            for wish in protect.split_whitespace() {
                options = match wish.split_once(':') {
                    Some((label, share)) => options.protect_at(label, share.parse().unwrap()),
                    None => options.protect(wish),
                };
            }
            let folders = folders(labels);
            let found = in_order(&folders, &options).map_or("refused".to_owned(), |found| {
                let shown = found.iter().map(|(folder, rate)| {
                    let rate = rate.map_or_else(String::new, |rate| format!(" {rate}"));
                    format!("{}{rate}", folder.label)
                });
                shown.collect::<Vec<_>>().join(" ")
            });
            assert_eq!(found, expected, "{labels} {protect}");
        }
    }

    #[test]
    fn shares_reach_the_fit() {
        let options = MailLearnOptions::default();
        let pair = wishes(vec![Some(0.001), None], &options);
        assert_eq!((pair.false_positives, pair.rates.len()), (None, 0));
        let asked = wishes(vec![Some(0.002), Some(0.01)], &options.clone().protect_at("a", 0.002));
        assert_eq!((asked.false_positives, asked.rates), (Some(0.002), vec![None, Some(0.01)]));
        let many = wishes(vec![Some(0.001), None, None], &options);
        assert_eq!((many.false_positives, many.rates), (None, vec![Some(0.001), None, None]));
    }
}
