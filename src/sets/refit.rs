// SPDX-License-Identifier: GPL-3.0-or-later
//! Fitting a set on disk anew, from its ordinary categories and its ledger or other documents.
//!
//! ```text
//! SetFiles ─→ RefitJob (ordinary categories, ledger) ─→ corpus ─→ Problem::solve ─→ new files
//! ```

use super::error::FittedSetError;
use super::files::{SetFiles, ordinary_path};
use crate::atomic_file::{Unforced, beside};
use crate::category::layout::ANY_MAGIC;
use crate::category::mapped::{self, MappedCategory};
use crate::category::sparse::SparseCategory;
use crate::joint::blend;
use crate::joint::documents::Corpus;
use crate::joint::fit::{self, FitNote, FitOptions, FittedWeights, Problem, Solution};
use crate::joint::fitted_state::state_of;
use crate::joint::header::RefitLine;
use crate::joint::incremental::{self, State};
use crate::joint::ledger::{Ledger, Name, Settings};
use crate::joint::relearn;
use crate::joint::store::ledger_file;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

type Result<T, E = FittedSetError> = std::result::Result<T, E>;

/// Opens the category at `path`.
///
/// # Errors
/// [`FittedSetError::Category`].
pub fn load(path: &Path) -> Result<MappedCategory> {
    mapped::open(path).map_err(|source| {
        let path = path.to_path_buf();
        FittedSetError::Category { name: path.clone(), path, source }
    })
}

/// Opens a category that is going to be fitted anew. If it is empty or damaged, as a power cut
/// leaves files, that is its ordinary file, and `true`.
///
/// # Errors
/// A category that cannot be opened and has no ordinary file, or is a file of something else.
pub fn load_or_ordinary(path: &Path) -> Result<(MappedCategory, bool)> {
    load(path).map(|category| (category, false)).or_else(|failure| {
        let is_ours =
            std::fs::read(path).is_ok_and(|bytes| bytes.is_empty() || bytes.starts_with(ANY_MAGIC));
        match mapped::open(&ordinary_path(path)) {
            Ok(kept) if is_ours => Ok((kept, true)),
            _ => Err(failure),
        }
    })
}

/// The head of a category that is going to be fitted anew: that of the ordinary file if it is empty
/// or damaged itself.
///
/// # Errors
/// A category that cannot be opened and has no ordinary file, or is a file of something else.
pub fn head_or_ordinary(path: &Path) -> Result<SparseCategory> {
    SparseCategory::open(path).or_else(|source| {
        let is_ours =
            std::fs::read(path).is_ok_and(|bytes| bytes.is_empty() || bytes.starts_with(ANY_MAGIC));
        match SparseCategory::open(&ordinary_path(path)) {
            Ok(kept) if is_ours => Ok(kept),
            _ => {
                let path = path.to_path_buf();
                Err(FittedSetError::Category { name: path.clone(), path, source })
            }
        }
    })
}

/// Opens the ordinary files of `paths`, which a fit starts from.
///
/// # Errors
/// A file that cannot be opened.
pub fn open_ordinary<P: AsRef<Path>>(paths: &[P]) -> Result<Vec<MappedCategory>> {
    let mut categories = Vec::new();
    for path in paths {
        let path = path.as_ref();
        let (mut category, _) = load_or_ordinary(path)?;
        if RefitLine::find(category.other_lines()).is_some() {
            // A fit starts from what was learned; starting from a fit would blend twice.
            category = mapped::open(&ordinary_path(path)).map_err(|source| {
                FittedSetError::NoOrdinary { path: path.to_path_buf(), source }
            })?;
        }
        categories.push(category);
    }
    Ok(categories)
}

/// A set that is going to be fitted anew.
pub struct RefitJob<'a> {
    files: &'a SetFiles,
    /// The ordinary categories.
    pub categories: Vec<MappedCategory>,
    /// The labels, for people.
    pub names: Vec<String>,
    /// The ledger, if the set has one.
    pub ledger: Option<Ledger>,
}

/// What a fit of a set has found.
pub struct Refitted {
    /// The documents and the fit, without what went into the files.
    pub solution: Solution,
    /// The labels.
    pub names: Vec<String>,
}

impl Refitted {
    /// Whether the set is another one.
    pub const fn is_better(&self) -> bool {
        self.solution.fitted.is_some()
    }
}

impl<'a> RefitJob<'a> {
    /// Opens ordinary categories and ledger of `files`, whose documents are read as `settings` say.
    /// With `ledger_leads` the ledger knows better than ordinary files that were just learned.
    ///
    /// # Errors
    /// Files that are missing, damaged, or do not go together.
    pub fn open(
        files: &'a SetFiles,
        settings: impl FnOnce(&[MappedCategory]) -> Settings,
        ledger_leads: bool,
    ) -> Result<Self> {
        let paths = &files.paths;
        let mut categories = open_ordinary(paths)?;
        let labels = files.labels();
        let names: Vec<String> =
            labels.iter().map(|label| String::from_utf8_lossy(label).into_owned()).collect();
        fit::check(&categories, &names)?;
        let settings = settings(&categories);
        let ledger = files.ledger.as_deref();
        let mut ledger =
            ledger.map(|path| ledger_file::load_fitting(path, &settings)).transpose()?;
        if let Some(ledger) = &mut ledger {
            in_order_of(ledger, &labels)?;
            if relearn_ordinary(files, ledger, &categories, ledger_leads)? {
                categories = open_ordinary(paths)?;
                fit::check(&categories, &names)?;
            }
        }
        Ok(Self { files, categories, names, ledger })
    }

    /// The documents of the ledger.
    ///
    /// # Errors
    /// A damaged record; [`FittedSetError::OtherReferences`].
    pub fn corpus_of(&self, ledger: &Ledger, labels: &[Vec<u8>]) -> Result<Corpus> {
        if !blend::digrams_agree(&self.categories) {
            return Err(FittedSetError::OtherReferences);
        }
        Ok(ledger.corpus(labels)?)
    }

    /// Fits the categories on `corpus`, and writes the files of the set unless the ordinary
    /// categories judge as well.
    ///
    /// # Errors
    /// Documents that cannot be fitted; files that cannot be written.
    pub fn fit(
        self,
        corpus: Corpus,
        options: &FitOptions,
        is_mail: bool,
        note: &mut dyn FnMut(FitNote),
    ) -> Result<Refitted> {
        let Self { files, categories, names, ledger } = self;
        let problem = Problem {
            categories: &categories,
            names: &names,
            options,
            is_mail,
            wants_evidence: ledger.is_some(),
        };
        let mut solution = problem.solve(corpus, note)?;
        let Some(fitted) = &solution.fitted else { return Ok(Refitted { solution, names }) };
        write_files(files, &categories, fitted)?;
        if let (Some(path), Some(ledger), 2) = (&files.ledger, &ledger, names.len()) {
            ledger_file::save(path, ledger)?;
            if let Some(mut state) = state_of(ledger, &categories, &mut solution)? {
                write_state(path, &mut state)?;
            }
        }
        Ok(Refitted { solution, names })
    }
}

/// Fits a set anew from its ledger.
///
/// # Errors
/// What stopped it.
pub fn refit_from_ledger(
    files: &SetFiles,
    options: &FitOptions,
    settings: &Settings,
    is_mail: bool,
) -> Result<()> {
    let job = RefitJob::open(files, |_| *settings, false)?;
    let Some(ledger) = &job.ledger else { return Err(FittedSetError::SettingsLost) };
    let corpus = job.corpus_of(ledger, &files.labels())?;
    job.fit(corpus, options, is_mail, &mut |_| {}).map(|_| ())
}

/// Makes the ordinary files beside fitted categories anew from the ledger's documents, where these
/// are all that the files were made of. Returns whether one of them was not up to date.
fn relearn_ordinary(
    files: &SetFiles,
    ledger: &Ledger,
    ordinary: &[MappedCategory],
    ledger_leads: bool,
) -> Result<bool> {
    let mut changed = false;
    for ((label, path), old) in (0..).zip(&files.paths).zip(ordinary) {
        let (category, is_damaged) = load_or_ordinary(path)?;
        let is_ordinary = !is_damaged && RefitLine::find(category.other_lines()).is_none();
        if is_ordinary && !ledger_leads {
            continue;
        }
        let new = relearn::file(ledger, label, old)?;
        if let Some(new) = new.filter(|new| new != old.as_bytes()) {
            let own = if is_ordinary { path.clone() } else { ordinary_path(path) };
            replace(&own, &new)?;
            changed = true;
        }
    }
    Ok(changed)
}

/// Makes the ledger's names those of the categories, in their order: other labels are as good.
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
        true
    })?;
    Ok(())
}

/// Keeps the ordinary files beside the categories, then replaces the categories.
fn write_files(
    files: &SetFiles,
    ordinary: &[MappedCategory],
    fitted: &FittedWeights,
) -> Result<()> {
    for path in &files.paths {
        let (category, is_damaged) = load_or_ordinary(path)?;
        if is_damaged {
            // Nobody misses what is left of it; an empty file would not be replaced.
            ledger_file::remove_empty(path);
        } else if RefitLine::find(category.other_lines()).is_none() {
            replace(&ordinary_path(path), category.as_bytes())?;
        }
    }
    let named = files.names.iter().zip(&files.paths);
    for (at, ((name, path), category)) in named.zip(ordinary).enumerate() {
        replace(path, &fitted.file(at, category, name.as_os_str().as_bytes()))?;
    }
    Ok(())
}

/// Replaces a category.
///
/// # Errors
/// It cannot be written.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    Ok(ledger_file::replace(&Unforced, path, ANY_MAGIC, bytes)?)
}

/// Writes the state beside its ledger.
///
/// # Errors
/// It cannot be written.
pub fn write_state(ledger: &Path, state: &mut State) -> Result<()> {
    let path = beside(ledger, ".state");
    // A power cut may have left nothing of a file that was not forced to the device.
    ledger_file::remove_empty(&path);
    let mut write = |out: &mut dyn std::io::Write| state.write(out);
    Ok(ledger_file::replace_with(&Unforced, &path, incremental::KIND, &mut write)?)
}
