// SPDX-License-Identifier: GPL-3.0-or-later
//! Fitting a set on disk again, from its ordinary categories and its ledger or other documents.
//!
//! ```text
//! SetFiles ─→ RefitJob (ordinary categories, ledger) ─→ corpus ─→ Problem::solve ─→ new files
//! ```

use super::error::FittedSetError;
use super::files::{CHANGES, SetFiles, ordinary_path};
use crate::category::layout::ANY_MAGIC;
use crate::category::mapped::{self, MappedCategory};
use crate::category::sparse::SparseCategory;
use crate::error::WarningSink;
use crate::fit::blend;
use crate::fit::documents::Corpus;
use crate::fit::general::GeneralModel;
use crate::fit::header::RefitLine;
use crate::fit::joint::{self, FitNote, FitOptions, FittedWeights, Problem, Solution};
use crate::fit::stop::Stop;
use crate::input::source::{open_regular, read_whole};
use crate::store::generations::{Force, ledger_file};
use crate::store::ledger::{Head, Ledger, Name, Settings};
use crate::store::pages;
use crate::store::relearn;
use crate::store::state::State;
use crate::store::state::complete::state_of;
use crate::store::state::head::KIND;
use dbacl_files::atomic_file::{Draft, Unforced, beside};
use dbacl_files::reading::read_beginning;
use memmap2::Mmap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

type Result<T, E = FittedSetError> = std::result::Result<T, E>;

pub(crate) fn load(path: &Path) -> Result<MappedCategory> {
    mapped::open(path).map_err(|source| FittedSetError::category(path, source))
}

/// Opens the general model in these files, for a set with the categories `labels`. Each file comes
/// with the label of its category.
pub(crate) fn open_general<L: AsRef<[u8]>>(
    files: &[(Vec<u8>, PathBuf)],
    labels: &[L],
) -> Result<GeneralModel<Mmap>> {
    let own = files.iter().map(|(_, path)| load(path)).collect::<Result<Vec<_>>>()?;
    let place = |label: &L| files.iter().position(|(own, _)| own == label.as_ref());
    let model = GeneralModel::new(own, labels.iter().map(place).collect());
    let path = files.first().map(|(_, path)| path.clone()).unwrap_or_default();
    model.map_err(|reason| FittedSetError::General { path, reason: reason.into() })
}

/// The general model of a set that is being changed; `None` for a set without one.
pub(crate) fn general_of(files: &SetFiles) -> Result<Option<GeneralModel<Mmap>>> {
    let own = files.general()?;
    if own.is_empty() {
        return Ok(None);
    }
    open_general(&own, &files.labels()).map(Some).map_err(of_own_general)
}

/// The error of opening a set's own copy of its general model.
pub(crate) fn of_own_general(error: FittedSetError) -> FittedSetError {
    match error {
        FittedSetError::Category { source, .. } => FittedSetError::GeneralUnusable { source },
        other => other,
    }
}

/// The kind of file at the path of a category that is going to be fitted again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// A category as it was learned.
    Ordinary,
    /// A fitted category; its ordinary file is beside it.
    Fitted,
    /// A damaged file, as a power cut can leave it; its ordinary file is beside it.
    Damaged,
}

/// The kind of file at the path of a category, and its head; that of its ordinary file if the
/// category is empty or damaged.
///
/// # Errors
/// A category that cannot be opened and has no ordinary file, or is a file of something else.
pub fn look(path: &Path) -> Result<(Found, SparseCategory)> {
    let source = match SparseCategory::open(path) {
        Ok(category) => {
            let line = RefitLine::find(&category.other_lines);
            return Ok((if line.is_some() { Found::Fitted } else { Found::Ordinary }, category));
        }
        Err(source) => source,
    };
    let is_large = matches!(source, crate::error::Error::Large { .. });
    let ordinary = SparseCategory::open(&ordinary_path(path));
    let damaged = ordinary.ok().filter(|_| !is_large && is_cut_or_ours(path));
    let damaged = damaged.map(|ordinary| (Found::Damaged, ordinary));
    damaged.ok_or_else(|| FittedSetError::category(path, source))
}

/// Whether a file begins as one of dbacl, as far as it goes, so that it may be a damaged category.
fn is_cut_or_ours(path: &Path) -> bool {
    let beginning = read_beginning(path, ANY_MAGIC.len() as u64);
    beginning.is_ok_and(|bytes| ANY_MAGIC.starts_with(&bytes))
}

/// Opens the ordinary file of a category whose kind is `found`. A fit starts from the ordinary
/// category, because starting from a fitted one would blend twice.
fn open_one(path: &Path, found: Found) -> Result<MappedCategory> {
    if found == Found::Ordinary {
        return load(path);
    }
    let path = path.to_path_buf();
    mapped::open(&ordinary_path(&path))
        .map_err(|source| FittedSetError::NoOrdinary { path, source })
}

/// A set that is going to be fitted again.
pub struct RefitJob<'a> {
    files: &'a SetFiles,
    /// The kinds of files at the categories' paths.
    found: Vec<Found>,
    /// The ordinary categories.
    pub categories: Vec<MappedCategory>,
    /// The labels, for people.
    names: Vec<String>,
    ledger: Option<Ledger>,
    general: Option<GeneralModel<Mmap>>,
}

/// The result of fitting a set.
pub struct Refitted {
    /// The documents and the fit, without what went into the files.
    pub solution: Solution,
    /// The labels.
    pub names: Vec<String>,
}

impl Refitted {
    /// Whether the fitted set replaced the ordinary categories.
    pub const fn is_better(&self) -> bool {
        self.solution.fitted.is_some()
    }
}

impl<'a> RefitJob<'a> {
    /// Opens the ordinary categories and the ledger of `files`.
    fn open(files: &'a SetFiles, how: HowToFit<'_>) -> Result<Self> {
        let paths = &files.paths;
        let found = paths.iter().map(|path| look(path).map(|(found, _)| found));
        let found = found.collect::<Result<Vec<_>>>()?;
        for path in paths {
            files.check(&ordinary_path(path))?;
        }
        for (_, path) in files.general()? {
            files.check(&path)?;
        }
        let each = paths.iter().zip(&found);
        let opened = each.map(|(path, &found)| open_one(path, found));
        let mut categories = opened.collect::<Result<Vec<_>>>()?;
        let labels = files.labels();
        let names: Vec<String> =
            labels.iter().map(|label| String::from_utf8_lossy(label).into_owned()).collect();
        joint::check(&categories, &names)?;
        let ledger = files.ledger.as_deref();
        let load = |path| ledger_file::load_fitting(path, how.settings);
        let mut ledger = ledger.map(load).transpose()?;
        if let Some(ledger) = &mut ledger {
            in_order_of(ledger, &labels)?;
            if relearn_ordinary(files, ledger, (&found, &mut categories), how.ledger_leads)? {
                joint::check(&categories, &names)?;
            }
        }
        let general = general_of(files)?;
        Ok(Self { files, found, categories, names, ledger, general })
    }

    /// The documents of a ledger.
    ///
    /// # Errors
    /// [`FittedSetError::OtherReferences`].
    pub fn corpus_of(&self, ledger: &Ledger, labels: &[Vec<u8>]) -> Result<Corpus> {
        if !blend::digrams_agree(&self.categories) {
            return Err(FittedSetError::OtherReferences);
        }
        Ok(ledger.corpus(labels))
    }

    /// Fits the categories on `corpus`, and writes the files of the set unless the ordinary
    /// categories judge the documents as well as the fitted ones.
    fn fit(
        self,
        corpus: Corpus,
        HowToFit { options, is_mail, .. }: HowToFit<'_>,
        note: &mut dyn FnMut(FitNote),
        stop: Stop<'_>,
    ) -> Result<Refitted> {
        let Self { files, found, categories, names, ledger, general } = self;
        if general.is_none() && options.general.is_some_and(|share| share > 0.0) {
            return Err(FittedSetError::GeneralLost);
        }
        let problem = Problem {
            categories: &categories,
            names: &names,
            options,
            is_mail,
            general: general.as_ref(),
            stop,
        };
        let solution = problem.solve(corpus, note)?;
        let Some(fitted) = &solution.fitted else { return Ok(Refitted { solution, names }) };
        stop.check()?;
        write_files(files, (&found, &categories), fitted)?;
        if let (Some(path), Some(ledger)) = (&files.ledger, &ledger) {
            ledger_file::save(path, ledger)?;
            if let Some(mut state) = state_of(ledger, &categories, &solution) {
                write_state(path, &mut state)?;
            }
        }
        Ok(Refitted { solution, names })
    }
}

/// How a set is fitted.
#[derive(Debug, Clone, Copy)]
pub struct HowToFit<'a> {
    /// The options of the fit.
    pub options: &'a FitOptions,
    /// How documents are read.
    pub settings: &'a Settings,
    /// Whether they are mail.
    pub is_mail: bool,
    /// Whether ordinary categories that are at the set's own paths are learned again from the
    /// ledger, too; else they are kept, because they were just learned.
    pub ledger_leads: bool,
}

/// Fits a set on the documents of its ledger, or else on those that `documents` reads, and makes
/// the fitted set current unless the ordinary categories judge as well.
///
/// # Errors
/// What stopped it; the set is as it was.
pub fn fit_files<E: From<FittedSetError>>(
    files: SetFiles,
    how: HowToFit<'_>,
    documents: impl FnOnce(&RefitJob<'_>) -> Result<Corpus, E>,
    (note, warnings): (&mut dyn FnMut(FitNote), WarningSink<'_>),
    stop: &AtomicBool,
) -> Result<Refitted, E> {
    files.set_aside_damaged().map_err(|error| files.in_words(error))?;
    let is_stopped = || stop.load(Ordering::Relaxed);
    let fitted = fit(&files, how, documents, note, Stop::when(&is_stopped))?;
    if fitted.is_better() {
        files.publish(Force::All, stop)?.into_iter().for_each(warnings);
    }
    Ok(fitted)
}

/// As [`fit_files`]; the change that this belongs to becomes current later.
pub(crate) fn fit<E: From<FittedSetError>>(
    files: &SetFiles,
    how: HowToFit<'_>,
    documents: impl FnOnce(&RefitJob<'_>) -> Result<Corpus, E>,
    note: &mut dyn FnMut(FitNote),
    stop: Stop<'_>,
) -> Result<Refitted, E> {
    let in_words = |error| E::from(files.in_words(error));
    let job = RefitJob::open(files, how).map_err(in_words)?;
    let corpus = match &job.ledger {
        Some(ledger) => job.corpus_of(ledger, &files.labels()).map_err(in_words)?,
        None => documents(&job)?,
    };
    job.fit(corpus, how, note, stop).map_err(in_words)
}

/// Reads no documents, where [`fit_files`] must find them in the ledger.
pub(crate) const fn no_documents(_: &RefitJob<'_>) -> Result<Corpus> {
    Err(FittedSetError::SettingsLost)
}

/// Learns the ordinary categories again from the ledger's documents, where they were learned from
/// these alone. Returns whether one of them was not up to date.
fn relearn_ordinary(
    files: &SetFiles,
    ledger: &Ledger,
    (found, ordinary): (&[Found], &mut [MappedCategory]),
    ledger_leads: bool,
) -> Result<bool> {
    let mut changed = false;
    for ((label, path), (found, old)) in (0..).zip(&files.paths).zip(found.iter().zip(ordinary)) {
        let is_ordinary = *found == Found::Ordinary;
        if is_ordinary && !ledger_leads {
            continue;
        }
        let new = relearn::file(ledger, label, old)?;
        if let Some(new) = new.filter(|new| new != old.as_bytes()) {
            let own = if is_ordinary { path.clone() } else { ordinary_path(path) };
            replace(&own, &new)?;
            *old = load(&own)?;
            changed = true;
        }
    }
    Ok(changed)
}

/// Replaces the labels in the ledger by those of the categories, in their order.
fn in_order_of(ledger: &mut Ledger, labels: &[Vec<u8>]) -> Result<()> {
    if ledger.head.are_named(labels) {
        return Ok(());
    }
    let of_label = |label: &Vec<u8>| {
        let known = ledger.head.names.iter().find(|known| known.name == *label);
        known.cloned().unwrap_or_else(|| Name::new(label))
    };
    let in_order = labels.iter().map(of_label).collect();
    let old = std::mem::replace(ledger, Ledger::new(ledger.head.settings, in_order));
    let mut places = Vec::new();
    for Name { name, .. } in &old.head.names {
        if !labels.contains(name) {
            let label = String::from_utf8_lossy(name).into_owned();
            return Err(FittedSetError::MissingCategory { label });
        }
        places.push(ledger.head.label(name));
    }
    old.each(|record, _| {
        ledger.push(places[record.label as usize], record.occurrences, &record.terms);
    });
    Ok(())
}

/// Keeps the ordinary files beside the categories, then replaces the categories.
fn write_files(
    files: &SetFiles,
    (found, ordinary): (&[Found], &[MappedCategory]),
    fitted: &FittedWeights,
) -> Result<()> {
    for (path, (found, category)) in files.paths.iter().zip(found.iter().zip(ordinary)) {
        match found {
            // A file without a whole beginning is removed first: it would not be replaced.
            Found::Damaged => ledger_file::remove_cut(path, ANY_MAGIC),
            Found::Ordinary => replace(&ordinary_path(path), category.as_bytes())?,
            Found::Fitted => {}
        }
    }
    let named = files.names.iter().zip(&files.paths);
    for (at, ((name, path), category)) in named.zip(ordinary).enumerate() {
        replace(path, &fitted.file(at, category, name.as_os_str().as_bytes()))?;
    }
    Ok(())
}

/// Replaces a category.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    Ok(ledger_file::replace(&Unforced, path, ANY_MAGIC, bytes)?)
}

/// Writes the state beside its ledger: its changes, or all of it.
pub(crate) fn write_state(ledger: &Path, state: &mut State) -> Result<()> {
    let (path, changes) = (beside(ledger, ".state"), beside(ledger, CHANGES));
    // The old changes belong to another state, or are written again.
    let _ = std::fs::remove_file(&changes);
    if !state.is_due() {
        let write = &mut |out: &mut dyn Draft| state.write_changes(out);
        return Ok(ledger_file::replace_with(&Unforced, &changes, pages::CHANGES, write)?);
    }
    // Whatever a damaged file has become, it is of the set.
    let _ = std::fs::remove_file(&path);
    Ok(ledger_file::replace_with(&Unforced, &path, KIND, &mut |out| state.write(out))?)
}

/// The state of the ledger at `path`, whose head is `head`, and the ids of its documents; `None` if
/// there is no state that belongs to this ledger.
pub(crate) fn read_state(path: &Path, head: &Head) -> Option<(State, Vec<u64>)> {
    let file = open_regular(&beside(path, ".state")).ok()?;
    let length = usize::try_from(file.metadata().ok()?.len()).ok()?;
    let changes = open_regular(&beside(path, CHANGES)).and_then(|file| read_whole(&file));
    let changes = changes.unwrap_or_default();
    let mut state = State::open(Box::new(file), length, changes)?;
    let is_its = state.numbers.sides.len() == head.names.len() && state.fits(head);
    let names = is_its.then(|| state.tables.names())?;
    (!state.is_damaged()).then_some((state, names))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sets::error::lock;
    use crate::sets::update::{ChangeKind, Request, change};
    use crate::sets::{FittedSet, MailFolder, MailLearnOptions};
    use dbacl_files::lock::Patience;
    use std::fs;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
    use std::time::Duration;

    const LABELS: [&str; 4] = ["work", "lists", "family", "spam"];

    /// A filter with thirty messages of each label.
    fn filter_in(room: &Path) -> PathBuf {
        let mut folders = Vec::new();
        for (at, label) in LABELS.into_iter().enumerate() {
            let folder = room.join(label);
            fs::create_dir(&folder).unwrap();
            for number in 0..30 {
                let words: String = (0..9)
                    .map(|word| format!("w{}x{} ", at + word % 2, number * word % 13))
                    .collect();
                let mail = format!("Subject: {label} {number}\n\n{words} and {words} once\n");
                fs::write(folder.join(number.to_string()), mail).unwrap();
            }
            folders.push(MailFolder::new(label, folder));
        }
        let filter = room.join("filter");
        FittedSet::learn_folders(&filter, &folders, &MailLearnOptions::default()).unwrap();
        filter
    }

    #[test]
    fn a_change_that_is_stopped_while_it_fits_changes_nothing() {
        let room = tempfile::tempdir().unwrap();
        let filter = filter_in(room.path());
        let current = filter.join("ledger.set/current");
        let files_now = || {
            let entries = fs::read_dir(&current).unwrap().map(|entry| entry.unwrap().path());
            let mut files: Vec<_> = entries.map(|path| (fs::read(&path).unwrap(), path)).collect();
            files.sort();
            (fs::read_link(&current).unwrap(), files)
        };
        let ledger_path = filter.join("ledger");
        let head = ledger_file::head(&ledger_path).unwrap();
        let (_, known) = read_state(&current.join("ledger"), &head).unwrap();
        let names: Vec<PathBuf> = LABELS.iter().map(|label| filter.join(label)).collect();
        // A document that is forgotten is followed by a fit of the others.
        let corpus = Corpus::default();
        let (kind, ids) = (ChangeKind::Forget, vec![known[0]]);
        let request = Request { kind, label: None, ids, corpus: &corpus };
        let change = |stop: Stop<'_>| {
            let patience = Patience { limit: Duration::ZERO, stop: &AtomicBool::new(false) };
            let lock = lock(&ledger_path, ".lock", patience, &mut || {}).unwrap();
            let files = SetFiles::open(&names, Some(&ledger_path), lock, &mut |_| {}).unwrap();
            change(&files, &request, (&head.settings, true), stop, &mut |_| {}).map(|_| ())
        };
        let before = files_now();
        let asked = AtomicU32::new(0);
        let count = || {
            asked.fetch_add(1, Ordering::Relaxed);
            false
        };
        change(Stop::when(&count)).unwrap();
        let asked = asked.into_inner();
        for last in [0, asked / 2, asked - 1] {
            let rest = AtomicU32::new(last);
            let ends = || {
                let less = |rest: u32| rest.checked_sub(1);
                rest.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err()
            };
            let stopped = change(Stop::when(&ends));
            assert!(matches!(stopped, Err(FittedSetError::Stopped)), "{last} of {asked}");
            assert_eq!(files_now(), before);
        }
    }

    #[test]
    fn the_state_of_many_categories_says_what_their_files_say() {
        let room = tempfile::tempdir().unwrap();
        let filter = filter_in(room.path());
        let current = filter.join("ledger.set/current");
        let ledger = current.join("ledger");
        let (mut state, names) = read_state(&ledger, &ledger_file::head(&ledger).unwrap()).unwrap();
        assert_eq!(names.len(), 120);
        state.touch_all();
        let changes = state.changes(|_| None);
        let (mut weights, mut others) = (0, 0);
        for (at, label) in LABELS.into_iter().enumerate() {
            let category = load(&current.join(format!("category.{label}"))).unwrap();
            let z = category.header().log_partition;
            assert!((z - state.log_partitions()[at]).abs() < 1e-4, "{label}");
            let mut known = 0;
            for &(id, weight) in &changes[at] {
                let slot = category.find(id).filter(|slot| slot.id == id);
                let in_file = slot.map_or(0, |slot| slot.weight.0);
                known += usize::from(in_file > 0);
                weights += 1;
                // A weight may lie between two steps.
                assert!(in_file.abs_diff(weight.0) <= 1, "{label} {id:?}");
                others += usize::from(in_file != weight.0);
            }
            assert_eq!(known, category.header().unique_features as usize, "{label}");
        }
        assert!(weights > 200 && others * 100 <= weights, "{others} of {weights}");
    }
}
