// SPDX-License-Identifier: GPL-3.0-or-later
//! Learning, correcting and forgetting single documents of a fitted set.
//!
//! ```text
//! ledger + state + categories ─→ OpenFiles ─→ learn, forget ─→ the same files, changed
//!                                                └→ corrections, in a mail filter
//! ```

use super::error::FittedSetError;
use super::files::{SetFiles, label_of, ordinary_path};
use super::patching::{News, patch};
use super::refit::{
    Found, HowToFit, fit, general_of, load, look, no_documents, read_state, replace, write_state,
};
use super::report::Outcome;
use crate::category::sparse::SparseCategory;
use crate::error::{Error, Warning, WarningSink};
use crate::fit::blend::scaled;
use crate::fit::checksum::Checksum;
use crate::fit::documents::{Corpus, Document, fingerprint};
use crate::fit::general::GeneralModel;
use crate::fit::header::{Mismatch, RefitLine, set_of};
use crate::fit::joint::FitOptions;
use crate::fit::stop::Stop;
use crate::store::corrections;
use crate::store::forgetting::without_documents;
use crate::store::generations::Force;
use crate::store::generations::ledger_file::{self, LedgerError, OpenLedger};
use crate::store::ledger::{Fault, Head, Ledger, Record, Settings};
use crate::store::relearn;
use crate::store::state::State;
use dbacl_files::atomic_file::beside;
use dbacl_files::checked::Checked;
use dbacl_files::reading::open_known;
use hashbrown::{HashMap, HashSet};
use memmap2::Mmap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

type Result<T, E = FittedSetError> = std::result::Result<T, E>;

/// What is to be done with documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// Learn them.
    Learn,
    /// Forget that they were learned.
    Forget,
    /// Forget them under other labels, and learn them under this one.
    Correct,
}

/// A change of a set.
#[derive(Debug)]
pub struct Request<'a> {
    /// What is to be done.
    pub kind: ChangeKind,
    /// The number of the label; `None` forgets documents under every label.
    pub label: Option<u32>,
    /// Names of the documents.
    pub ids: Vec<u64>,
    /// The documents' features, in the same order; empty if documents are only forgotten.
    pub corpus: &'a Corpus,
}

impl<'a> Request<'a> {
    /// A change with all documents of `corpus`.
    pub fn new(kind: ChangeKind, label: u32, corpus: &'a Corpus) -> Self {
        let ids = (0..corpus.documents.len()).map(|at| fingerprint(corpus.terms_of(at)));
        Self { kind, label: Some(label), ids: ids.collect(), corpus }
    }
}

/// What a change has done to a set: [`Force::Lessons`] if documents were learned, [`Force::All`] if
/// all of it was fitted again; this has to be forced to the device. `None` if it is as it was.
pub type Done = Option<Force>;

/// As `change`, and makes the change current.
///
/// # Errors
/// Why the change was not made; the set is as it was.
pub fn change_files(
    files: SetFiles,
    request: &Request<'_>,
    how: (&Settings, bool),
    stop: &AtomicBool,
    warnings: WarningSink<'_>,
) -> Result<(Done, Vec<Outcome>)> {
    let is_stopped = || stop.load(Ordering::Relaxed);
    let changed = change(&files, request, how, Stop::when(&is_stopped), warnings);
    let (done, outcomes) = changed.map_err(|error| files.in_words(error))?;
    if let Some(force) = done {
        files.publish(force, stop)?.into_iter().for_each(warnings);
    }
    Ok((done, outcomes))
}

/// Changes the set of `files`, whose documents are read according to `settings` and may be mail.
/// Returns the outcome of each document as well.
pub(crate) fn change(
    files: &SetFiles,
    request: &Request<'_>,
    (settings, is_mail): (&Settings, bool),
    stop: Stop<'_>,
    warnings: WarningSink<'_>,
) -> Result<(Done, Vec<Outcome>)> {
    if request.kind == ChangeKind::Forget {
        files.set_aside_damaged()?;
    }
    let mut is_fitted = false;
    let mut refit = |line: &RefitLine, same_settings: bool| -> Result<()> {
        is_fitted = true;
        let options = &FitOptions::like(line, same_settings);
        let how = HowToFit { options, settings, is_mail, ledger_leads: false };
        fit(files, how, no_documents, &mut |_| {}, stop).map(|_| ())
    };
    let mut set = OpenFiles::open(files, settings, &mut refit, warnings)?;
    let was_one_sided = set.state.numbers.sides.iter().any(|side| side.documents == 0);
    let label = request.label.unwrap_or(u32::MAX);
    let known = set.known(&request.ids)?;
    let mut learned = vec![false; request.ids.len()];
    let outcomes: Vec<Outcome> = match request.kind {
        ChangeKind::Learn => {
            set.learn(request.corpus, |_| true, &mut learned, stop)?;
            let again =
                |id| if known.contains_key(id) { Outcome::LearnedAgain } else { Outcome::Learned };
            request.ids.iter().map(again).collect()
        }
        ChangeKind::Forget => {
            let goes = |own| request.label.is_none_or(|wanted| wanted == own);
            let mut gone = set.forget(&request.ids, goes, true, &mut refit)?;
            if gone.is_empty() {
                return Ok((None, vec![Outcome::NotKnown; request.ids.len()]));
            }
            let mut outcome = |id: &u64| {
                let at = gone.iter().position(|(name, _)| name == id);
                let label = at.map(|at| gone.swap_remove(at).1);
                label.map_or(Outcome::NotKnown, |label| Outcome::Forgotten {
                    from: set.label(label),
                })
            };
            request.ids.iter().map(&mut outcome).collect()
        }
        ChangeKind::Correct => {
            let can_relabel = request.ids.iter().all(|id| set.can_relabel(&known, *id, label));
            if !can_relabel {
                set.forget(&request.ids, |own| own != label, false, &mut refit)?;
            }
            let mut labels: HashMap<u64, Vec<u32>> = known;
            let mut is_new = Vec::new();
            let mut moves = vec![None; request.ids.len()];
            let mut outcomes = Vec::new();
            for (number, id) in request.ids.iter().enumerate() {
                let own = labels.entry(*id).or_default();
                let other = own.iter().copied().find(|&own| own != label);
                moves[number] = other.filter(|_| can_relabel);
                is_new.push(!own.contains(&label) && moves[number].is_none());
                outcomes.push(match other {
                    Some(other) => Outcome::Moved { from: set.label(other) },
                    None if own.contains(&label) => Outcome::Known,
                    None => Outcome::Learned,
                });
                *own = vec![label];
            }
            for (number, from) in moves.iter().enumerate() {
                if let Some(from) = from {
                    stop.check()?;
                    set.relabel(request.corpus, number, *from)?;
                }
            }
            set.learn(request.corpus, |number| is_new[number], &mut learned, stop)?;
            learned.fill(true);
            outcomes
        }
    };
    let documents = set.state.documents();
    let fitted = set.state.numbers.fitted;
    let has_learned = documents != set.line.documents || set.has_moved;
    if has_learned {
        set.ledger.write_head()?;
        if set.state.is_damaged() {
            warn_of_state(files, "is damaged and was made anew", warnings);
            refit(&set.line, true)?;
        } else if has_grown(documents, fitted, set.categories.len())
            || was_one_sided && documents < QUICK
        {
            refit(&set.line, false)?;
        } else if let Some(damaged) = set.publish()? {
            warnings(damaged_category(&files.names[damaged]));
            refit(&set.line, true)?;
        }
    }
    let is_noted = is_mail && note(files, request, (&learned, &outcomes), &set.ledger.head)?;
    let lessons = (has_learned || is_noted).then_some(Force::Lessons);
    Ok((if is_fitted { Some(Force::All) } else { lessons }, outcomes))
}

/// A document that the ledger has so often at most is moved to another label without fitting the
/// whole set.
const MOST_MOVED: usize = 16;

/// A fit of fewer documents takes hardly longer than a step. Where a category has none, steps would
/// push all documents towards the others.
const QUICK: u32 = 100;

/// Whether so much more is known than when `fitted` documents were fitted that settings and
/// thresholds are found again: thresholds of a growing mail filter are too wide soon. Of two
/// categories a quarter more is enough, and a document costs as much as four or five in a fit. With
/// more categories fits are slow: all is fitted again when the documents have doubled.
const fn has_grown(documents: u32, fitted: u32, categories: usize) -> bool {
    let (documents, fitted) = (documents as u64, fitted as u64);
    if categories == 2 { documents * 4 >= fitted * 5 } else { documents >= fitted * 2 }
}

/// Notes in the set of a mail filter what a user has said of documents, so that it outlives
/// learning the folders again. Returns whether it was not known.
fn note(
    files: &SetFiles,
    request: &Request<'_>,
    (learned, outcomes): (&[bool], &[Outcome]),
    head: &Head,
) -> Result<bool> {
    let Some(path) = files.corrections()? else { return Ok(false) };
    let corpus = request.corpus;
    let document = |number: usize, label: u32| -> corrections::Correction<'_> {
        (label, corpus.documents[number].occurrences, corpus.terms_of(number))
    };
    let mut changes = Vec::new();
    for (number, &id) in request.ids.iter().enumerate() {
        match (request.kind, request.label) {
            (ChangeKind::Forget, _) | (_, None) => changes.push((id, None)),
            (_, Some(label)) if learned[number] => {
                changes.push((id, Some(document(number, label))));
            }
            _ => {}
        }
    }
    // What the set did not know under this label was not noted either.
    let is_news = |one: &Outcome| matches!(one, Outcome::Learned | Outcome::Moved { .. });
    let are_news = request.kind != ChangeKind::Forget
        && outcomes.iter().zip(learned).all(|(one, &learned)| !learned || is_news(one));
    if are_news && !changes.is_empty() && ledger_file::exists(&path)? {
        ledger_file::unshare(&path)?;
        let mut noted = OpenLedger::new(&path, None)?;
        for (label, occurrences, terms) in changes.iter().filter_map(|(_, change)| *change) {
            noted.push(label, occurrences, terms)?;
        }
        noted.write_head()?;
        return Ok(true);
    }
    let old = ledger_file::load(&path)?;
    let old = old.unwrap_or_else(|| Ledger::new(head.settings, head.names.clone()));
    let said = old.heads().map(|(record, _)| (record.fingerprint, record.label));
    let said: HashMap<u64, u32> = said.collect();
    changes.retain(|(id, change)| said.get(id).copied() != change.map(|(label, ..)| label));
    if changes.is_empty() {
        return Ok(false);
    }
    ledger_file::save(&path, &corrections::with(&old, &changes))?;
    Ok(true)
}

/// Opens the categories; their `# refit` line, and whether they are of one state. A damaged
/// category whose ordinary file is undamaged counts as not of the same state.
fn open_categories(
    files: &SetFiles,
    warnings: WarningSink<'_>,
) -> Result<(Vec<SparseCategory>, RefitLine, bool)> {
    let mut categories = Vec::new();
    let mut is_whole = true;
    for (path, name) in files.paths.iter().zip(&files.names) {
        if let Ok(category) = open_category(files, path) {
            categories.push(category);
            continue;
        }
        files.set_aside_if_damaged(path)?;
        let (found, category) = look(path)?;
        if found == Found::Damaged {
            warnings(damaged_category(name));
            is_whole = false;
        } else {
            categories.push(category);
        }
    }
    let lines: Vec<Option<RefitLine>> =
        categories.iter().map(|category| RefitLine::find(&category.other_lines)).collect();
    let last = lines.iter().flatten().next_back().cloned();
    let Some(line) = last else {
        let error = if is_whole { FittedSetError::NotFitted } else { FittedSetError::SettingsLost };
        return Err(error);
    };
    match set_of(&lines) {
        Ok(_) => {}
        Err(Mismatch::Incomplete) if !is_whole => {}
        // A process stopped while it replaced the files; the ledger has all that is needed to fit
        // again.
        Err(_) if lines.iter().all(Option::is_some) => {
            let text = "the categories are of different states: both are made anew";
            warnings(Warning::new(text));
            is_whole = false;
        }
        Err(mismatch) => return Err(FittedSetError::Mismatch { mismatch }),
    }
    Ok((categories, line, is_whole))
}

/// Opens the category at `path`, whose blocks are checked when they are read.
fn open_category(files: &SetFiles, path: &Path) -> Result<SparseCategory> {
    let of = |error| FittedSetError::category(path, error);
    let (file, found) = open_known(path).map_err(|error| of(Error::io(path, error)))?;
    SparseCategory::of(path, Checked::new(file, files.sums(path)?), found.len()).map_err(of)
}

/// The warning about a damaged category.
fn damaged_category(name: &Path) -> Warning {
    Warning::new(format!(
        "category {} is damaged and is made anew from {} and the ledger",
        name.display(),
        ordinary_path(name).display()
    ))
}

/// The files of a set that is being changed.
struct OpenFiles<'a> {
    files: &'a SetFiles,
    ledger_path: &'a Path,
    ledger: OpenLedger,
    /// The heads of the files as they are now.
    categories: Vec<SparseCategory>,
    state: State,
    /// Names of the ledger's documents when the set was opened.
    known: Vec<u64>,
    line: RefitLine,
    /// The general model, if it has a share in the weights.
    general: Option<GeneralModel<Mmap>>,
    /// Documents have another label.
    has_moved: bool,
}

/// A function that fits a set again, with its settings or with newly chosen ones.
type Refit<'a> = &'a mut dyn FnMut(&RefitLine, bool) -> Result<()>;

impl<'a> OpenFiles<'a> {
    fn open(
        files: &'a SetFiles,
        settings: &Settings,
        refit: Refit<'_>,
        warnings: WarningSink<'_>,
    ) -> Result<Self> {
        let ledger_path = files.ledger.as_deref().unwrap_or(Path::new(""));
        let (categories, line, is_whole) = open_categories(files, warnings)?;
        let ledger = OpenLedger::new(ledger_path, files.sums(ledger_path)?)?;
        ledger_file::check(ledger_path, &ledger.head, settings)?;
        if !ledger.head.are_named(&files.labels()) {
            return Err(FittedSetError::OtherCategories { path: ledger_path.to_path_buf() });
        }
        if is_whole && let Some(set) = Self::fitting(files, ledger_path, ledger, categories) {
            return Ok(set);
        }
        if is_whole {
            warn_of_state(files, "did not fit its ledger and was made anew", warnings);
        }
        refit(&line, true)?;
        Self::after_refit(files, ledger_path)
    }

    /// The open files of the set; `None` if its files and its state do not belong together.
    fn fitting(
        files: &'a SetFiles,
        ledger_path: &'a Path,
        ledger: OpenLedger,
        categories: Vec<SparseCategory>,
    ) -> Option<Self> {
        let lines: Vec<Option<RefitLine>> =
            categories.iter().map(|category| RefitLine::find(&category.other_lines)).collect();
        let mut line = set_of(&lines).ok()??;
        let (state, known) = read_state(ledger_path, &ledger.head)?;
        line.documents = state.documents();
        let fits = state.numbers.set == line.set;
        let general = if line.general > 0.0 { general_of(files).ok()? } else { None };
        if general.is_none() && line.general > 0.0 {
            return None;
        }
        fits.then_some(Self {
            files,
            ledger_path,
            ledger,
            categories,
            state,
            known,
            line,
            general,
            has_moved: false,
        })
    }

    /// The open files of a set that a fit has just written.
    fn after_refit(files: &'a SetFiles, ledger_path: &'a Path) -> Result<Self> {
        let heads: Result<Vec<_>> = files.paths.iter().map(|path| Ok(look(path)?.1)).collect();
        let ledger = OpenLedger::new(ledger_path, None)?;
        let set = Self::fitting(files, ledger_path, ledger, heads?);
        set.ok_or(FittedSetError::Inconsistent)
    }

    fn label(&self, label: u32) -> String {
        let name = self.files.names.get(label as usize);
        let name = name.map_or_else(Vec::new, |name: &PathBuf| label_of(name));
        String::from_utf8_lossy(&name).into_owned()
    }

    /// Learns the documents whose number `needs` it, and notes which.
    fn learn(
        &mut self,
        corpus: &Corpus,
        needs: impl Fn(usize) -> bool,
        learned: &mut [bool],
        stop: Stop<'_>,
    ) -> Result<()> {
        for number in 0..corpus.documents.len() {
            stop.check()?;
            if corpus.terms_of(number).is_empty() || !needs(number) {
                continue;
            }
            learned[number] = true;
            let (record, offset) = self.push(corpus, number)?;
            let ledger = &self.ledger;
            self.state.learn(&record, offset, |offset| ledger.record(offset));
        }
        Ok(())
    }

    /// Adds a document to the ledger; returns its record and the record's position.
    fn push(&mut self, corpus: &Corpus, number: usize) -> Result<(Record, u64)> {
        let Document { label, occurrences, .. } = corpus.documents[number];
        let terms = corpus.terms_of(number);
        let offset = self.ledger.push(label, occurrences, terms)?;
        let fingerprint = fingerprint(terms);
        Ok((Record { label, occurrences, terms: terms.to_vec(), fingerprint }, offset))
    }

    /// Whether a document can be moved to `label` without fitting the whole set: the ledger has it
    /// under one label only and not often, and the ordinary files can be learned again from the
    /// ledger.
    fn can_relabel(&self, known: &HashMap<u64, Vec<u32>>, id: u64, label: u32) -> bool {
        let labels = known.get(&id).map_or(&[][..], |labels| labels.as_slice());
        if labels.iter().all(|&own| own == label) {
            return true;
        }
        let can_tell = |label: u32| {
            let name = self.ledger.head.names.get(label as usize);
            let category = self.categories.get(label as usize);
            name.zip(category)
                .is_some_and(|(name, own)| relearn::can_tell(name.learning, &own.header))
        };
        let own = labels[0];
        let are_equal = labels.len() <= MOST_MOVED && labels.iter().all(|&other| other == own);
        are_equal && can_tell(own) && can_tell(label)
    }

    /// Moves document `number` of the corpus, which the ledger has under the label `from` only, to
    /// the label that it has in the corpus, as often as the ledger has it.
    fn relabel(&mut self, corpus: &Corpus, number: usize, from: u32) -> Result<()> {
        let id = fingerprint(corpus.terms_of(number));
        for known in 0..self.known.len() {
            if self.known[known] != id {
                continue;
            }
            self.ledger.withdraw(from, id)?;
            let (record, offset) = self.push(corpus, number)?;
            let ledger = &self.ledger;
            self.state.relabel(known, from, &record, offset, |offset| ledger.record(offset));
            self.has_moved = true;
        }
        Ok(())
    }

    /// The labels under which the ledger has each of the documents `ids`, without those that it
    /// does not have.
    fn known(&mut self, ids: &[u64]) -> Result<HashMap<u64, Vec<u32>>> {
        let wanted: HashSet<u64> = ids.iter().copied().collect();
        let mut known = HashMap::new();
        for number in 0..self.known.len() {
            let name = self.known[number];
            if wanted.contains(&name) {
                let label = self.ledger.label(self.state.tables.offset(number));
                let labels: &mut Vec<u32> = known.entry(name).or_default();
                labels.push(label.ok_or_else(|| self.damaged_at(number))?);
            }
        }
        Ok(known)
    }

    fn damaged_at(&self, number: usize) -> FittedSetError {
        let fault = Fault::Record { document: u32::try_from(number).unwrap_or(u32::MAX) };
        LedgerError::Damaged { path: self.ledger_path.to_path_buf(), fault }.into()
    }

    /// Forgets the documents `ids` under the labels for which `goes` returns true: each id once (of
    /// equal documents the last), or all equal documents. Returns the id and the label of each
    /// document that was found. The ordinary counts, the ledger and the weights then contain
    /// nothing of them.
    fn forget(
        &mut self,
        ids: &[u64],
        goes: impl Fn(u32) -> bool,
        each_once: bool,
        refit: Refit<'_>,
    ) -> Result<Vec<(u64, u32)>> {
        let mut wanted: HashMap<u64, usize> = HashMap::new();
        for id in ids {
            *wanted.entry(*id).or_default() += 1;
        }
        let known = self.known(ids)?;
        if !known.values().flatten().any(|&label| goes(label)) {
            return Ok(Vec::new());
        }
        let whole = ledger_file::load_fitting(self.ledger_path, &self.ledger.head.settings)?;
        // Documents that were moved to another label are the last ones in the ledger.
        let heads: Vec<_> = whole.heads().map(|(record, _)| record).collect();
        let mut is_gone = vec![false; heads.len()];
        for (is_gone, record) in is_gone.iter_mut().zip(&heads).rev() {
            let times = wanted.get_mut(&record.fingerprint).filter(|times| **times > 0);
            if let Some(times) = times.filter(|_| goes(record.label)) {
                *is_gone = true;
                *times -= usize::from(each_once);
            }
        }
        let mut forgotten: Vec<Record> = Vec::new();
        let mut gone = is_gone.into_iter();
        let kept = whole.filter(|_, mut bytes| {
            let is_gone = gone.next() == Some(true);
            if is_gone {
                let mut record = Record::default();
                // Records of a ledger are whole.
                let _ = record.take(&mut bytes);
                forgotten.push(record);
            }
            !is_gone
        });
        // A fit learns those ordinary files again that it can; the counts of the others are
        // corrected here.
        for (label, path) in (0..).zip(&self.files.paths) {
            forget_in_ordinary(path, label, &whole, &forgotten)?;
        }
        ledger_file::save(self.ledger_path, &kept)?;
        // This frees memory for the fit.
        drop((whole, kept));
        refit(&self.line, true)?;
        *self = Self::after_refit(self.files, self.ledger_path)?;
        Ok(forgotten.iter().map(|record| (record.fingerprint, record.label)).collect())
    }

    /// Writes what has changed: state and categories. If the file of a category is damaged, returns
    /// which one, and all have to be fitted again.
    fn publish(&mut self) -> Result<Option<usize>> {
        let (general, share) = (self.general.as_ref(), self.line.general);
        let of_general = |id| general.and_then(|model| model.weights(id));
        let changes = self.state.changes(|id| of_general(id).map(|own| scaled(own, share)));
        let log_partitions = self.state.log_partitions();
        let mut sum = Checksum::from_state(self.line.set);
        for (id, weight) in changes.iter().flatten() {
            sum.word(u64::from(id.0) << 16 | u64::from(weight.0));
        }
        for z in &log_partitions {
            sum.word(z.to_bits());
        }
        self.line.set = sum.value();
        self.line.documents = self.state.documents();
        self.state.belongs_to(self.line.set, &self.ledger.head);
        write_state(self.ledger_path, &mut self.state)?;
        let named = self.files.names.iter().zip(&self.files.paths);
        for (at, (name, path)) in named.enumerate() {
            let place = u32::try_from(at + 1).unwrap_or(u32::MAX);
            let news = News {
                name: name.as_os_str().as_bytes(),
                line: &RefitLine { place, ..self.line.clone() },
                weights: &changes[at],
                log_partition: log_partitions[at],
            };
            if !patch(self.files, path, &self.categories[at], &news)? {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }
}

/// Warns about what became of the state.
fn warn_of_state(files: &SetFiles, fate: &str, warnings: WarningSink<'_>) {
    let name = beside(files.ledger_name.as_deref().unwrap_or(Path::new("")), ".state");
    warnings(Warning::new(format!("{} {fate}", name.display())));
}

/// Subtracts the counts of forgotten documents from an ordinary category file. Files that can be
/// learned again from the ledger are left to the fit that follows.
fn forget_in_ordinary(path: &Path, label: u32, whole: &Ledger, forgotten: &[Record]) -> Result<()> {
    let gone: Vec<&Record> = forgotten.iter().filter(|record| record.label == label).collect();
    if gone.is_empty() {
        return Ok(());
    }
    let path = ordinary_path(path);
    let category = load(&path)?;
    let name = whole.head.names.get(label as usize);
    if name.is_some_and(|name| relearn::can_tell(name.learning, category.header())) {
        return Ok(());
    }
    replace(&path, &without_documents(&category, label, whole, &gone))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_follow_a_set_that_grows() {
        let counts = |categories: usize| {
            let (mut fits, mut fitted) = (0, 4);
            for documents in 5..=5000 {
                if has_grown(documents, fitted, categories) {
                    (fits, fitted) = (fits + 1, documents);
                }
            }
            fits
        };
        assert_eq!((counts(2), counts(3)), (30, 10));
        assert!(has_grown(u32::MAX, u32::MAX / 2, 2) && !has_grown(124, 100, 2));
    }
}
