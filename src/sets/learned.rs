// SPDX-License-Identifier: GPL-3.0-or-later
//! Writes the files of a learned category, which may belong to a set, as may its ledger.

use super::error::FittedSetError;
use crate::atomic_file::{self, Access, Disk, SaveError, Staged, Unforced, place, stage};
use crate::category::access;
use crate::category::layout::ANY_MAGIC;
use crate::error::{Error, WarningSink};
use crate::joint::documents::Corpus;
use crate::joint::ledger::{Ledger, MAGIC, Name, Settings};
use crate::joint::store::Store;
use crate::joint::store::ledger_file::{LedgerError, check, load, save};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What a ledger keeps of a category that was learned.
pub struct Kept<'a> {
    /// The ledger.
    pub ledger: &'a Path,
    /// The settings of its documents.
    pub settings: Settings,
    /// The category.
    pub name: Name,
    /// Whether the documents follow those of the category that are there, or replace them.
    pub adds: bool,
    /// The documents.
    pub corpus: &'a Corpus,
}

impl Kept<'_> {
    /// The ledger at `path` with the documents.
    fn ledger(&self, path: &Path) -> Result<Ledger, LedgerError> {
        let old = load(path)?.unwrap_or_else(|| Ledger::new(self.settings, Vec::new()));
        check(path, &old.head, &self.settings)?;
        let mut head = old.head.clone();
        let label = head.label(&self.name.name);
        let kept = old.filter(|record, _| self.adds || record.label != label);
        let damaged = |fault| LedgerError::Damaged { path: path.to_path_buf(), fault };
        let mut ledger = kept.map_err(damaged)?;
        ledger.head.names = head.names;
        if let Some(known) = ledger.head.names.get_mut(label as usize) {
            known.learning = self.name.learning;
        }
        for (number, document) in self.corpus.documents.iter().enumerate() {
            ledger.push(label, document.occurrences, self.corpus.terms_of(number));
        }
        Ok(ledger)
    }
}

/// Why a category and what belongs to it were not saved.
#[derive(Debug, thiserror::Error)]
pub enum Unsaved {
    /// A file cannot be written.
    #[error("{source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: Error,
    },
    /// The ledger cannot be read, or a set cannot be changed.
    #[error(transparent)]
    Set(#[from] FittedSetError),
}

impl Unsaved {
    fn at(path: &Path) -> impl FnOnce(SaveError) -> Self {
        let path = path.to_path_buf();
        move |error| Self::File { path, source: error.into() }
    }
}

impl From<LedgerError> for Unsaved {
    fn from(error: LedgerError) -> Self {
        Self::Set(error.into())
    }
}

/// Saves the category at `path` that `write` writes, its counts that were written beside their file
/// before, and its documents. All are written before the first file is replaced, so that after an
/// error they are as they were; a process that is killed between two of them leaves the category
/// newer than the counts, or both newer than the ledger. What belongs to a set becomes current with
/// the set's next generation. The caller holds the locks. Warnings tell of files that others may
/// write to, and of generations that others cannot use.
///
/// # Errors
/// [`Unsaved`]
pub fn save_with_documents(
    path: &Path,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    counts: Option<Staged<'_>>,
    kept: &Kept<'_>,
    warnings: WarningSink<'_>,
) -> Result<(), Unsaved> {
    let of_ledger = Store::of_link(kept.ledger);
    let of_category = Store::of_link(path);
    let alone = [(path, &of_category), (kept.ledger, &of_ledger)];
    let alone = alone.into_iter().filter(|(_, set)| set.is_none());
    alone.filter_map(|(path, _)| access::warning_about(path)).for_each(&mut *warnings);
    let mut begin = |store: &Store| store.change(&[], warnings).map_err(FittedSetError::generation);
    let mut changes = Vec::new();
    let mut staged = Vec::new();
    if let Some((store, _)) = &of_ledger {
        changes.push(begin(store)?);
    }
    let in_set = of_ledger.as_ref().zip(changes.first()).map(|((_, own), change)| change.path(own));
    let ledger = kept.ledger(in_set.as_deref().unwrap_or(kept.ledger))?;
    match of_category {
        None => staged
            .push(stage(&Disk, path, ANY_MAGIC, Access::Usual, write).map_err(Unsaved::at(path))?),
        Some((store, own)) => {
            if !of_ledger.as_ref().is_some_and(|(other, _)| other.is(&store)) {
                changes.push(begin(&store)?);
            }
            let target = changes.last().map(|change| change.path(&own)).unwrap_or_default();
            atomic_file::replace(&Unforced, &target, ANY_MAGIC, write)
                .map_err(Unsaved::at(path))?;
        }
    }
    staged.extend(counts);
    if let Some(target) = &in_set {
        save(target, &ledger)?;
    } else {
        let bytes = ledger.bytes();
        let mut write = |out: &mut dyn Write| out.write_all(&bytes);
        let new = stage(&Disk, kept.ledger, MAGIC, Access::Usual, &mut write);
        staged.push(new.map_err(Unsaved::at(kept.ledger))?);
    }
    let placed = place(staged).map_err(|error| match &error {
        SaveError::Io { path, .. } | SaveError::Divided { path, .. } => {
            Unsaved::at(&path.clone())(error)
        }
        _ => Unsaved::at(path)(error),
    })?;
    for change in changes {
        if let Err(source) = change.publish(true) {
            // The error of the set is told, whatever becomes of the others.
            let _ = placed.withdraw();
            return Err(FittedSetError::generation(source).into());
        }
    }
    placed.force().map_err(Unsaved::at(path))
}

/// Replaces the category at `path`, in its set if the path is a link into one. The caller holds the
/// set's lock. Warnings are those of [`save_with_documents`].
///
/// # Errors
/// It cannot be written; the old one is kept.
pub fn replace_category(
    path: &Path,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    warnings: WarningSink<'_>,
) -> Result<(), Error> {
    let Some((store, member)) = Store::of_link(path) else {
        access::warning_about(path).into_iter().for_each(&mut *warnings);
        return Ok(atomic_file::replace(&Disk, path, ANY_MAGIC, write)?);
    };
    let change = store.change(&[], warnings)?;
    atomic_file::replace(&Unforced, &change.path(&member), ANY_MAGIC, write)?;
    change.publish(true).map(|_| ())
}
