// SPDX-License-Identifier: GPL-3.0-or-later
//! Writes the files of a learned category, which may belong to a set, as may its ledger.

use super::error::FittedSetError;
use super::salvage::salvage;
use super::unfinished::Before;
use dbacl_engine::category::access;
use dbacl_engine::category::layout::ANY_MAGIC;
use dbacl_engine::error::{Error, WarningSink};
use dbacl_files::atomic_file::{
    self, Access, Disk, Draft, SaveError, Staged, Unforced, place, stage,
};
use dbacl_joint::documents::Corpus;
use dbacl_store::generations::ledger_file::{LedgerError, check, load, save};
use dbacl_store::generations::{Change, Force, Store};
use dbacl_store::ledger::{Head, Ledger, MAGIC, Name, Settings};
use std::io;
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
    /// The ledger at `path` with the documents, and the head that it had before, if it was there.
    fn ledger(&self, path: &Path) -> Result<(Ledger, Option<Head>), LedgerError> {
        let old = load(path)?;
        let head_before = old.as_ref().map(|old| old.head.clone());
        let old = old.unwrap_or_else(|| Ledger::new(self.settings, Vec::new()));
        check(path, &old.head, &self.settings)?;
        let mut head = old.head.clone();
        let label = head.label(&self.name.name);
        let mut ledger = old.filter(|record, _| self.adds || record.label != label);
        ledger.head.names = head.names;
        if let Some(known) = ledger.head.names.get_mut(label as usize) {
            known.learning = self.name.learning;
        }
        for (number, document) in self.corpus.documents.iter().enumerate() {
            ledger.push(label, document.occurrences, self.corpus.terms_of(number));
        }
        Ok((ledger, head_before))
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
    /// A set cannot be changed, and what was changed before it could not be put back.
    #[error("{source}; {} has its new content all the same", new.display())]
    Divided {
        /// Why the set cannot be changed.
        source: Error,
        /// The file or set that is changed.
        new: PathBuf,
    },
}

impl Unsaved {
    fn at(path: &Path) -> impl FnOnce(SaveError) -> Self {
        let path = path.to_path_buf();
        move |error| Self::File { path, source: error.into() }
    }

    /// The same for a file of a set, which users know as `path`.
    fn in_set(path: &Path) -> impl FnOnce(SaveError) -> Self {
        let path = path.to_path_buf();
        move |error| {
            let mut source = Error::from(error);
            source.path_mut().into_iter().for_each(|own| own.clone_from(&path));
            Self::File { path, source }
        }
    }
}

impl From<LedgerError> for Unsaved {
    fn from(error: LedgerError) -> Self {
        Self::Set(error.into())
    }
}

/// Saves the category at `path` that `write` writes, its counts that were written beside their file
/// before, and its documents. All are written before the first file is replaced, so that after an
/// error they are as they were. A process that is killed between two of them leaves the category
/// newer than the counts, or both newer than the ledger; then the next run puts the counts back
/// ([`super::unfinished`]). What belongs to a set becomes current with the set's next generation.
/// The caller holds the locks. Warnings tell of files that others may write to, and of generations
/// that others cannot use.
///
/// # Errors
/// [`Unsaved`]
pub fn save_with_documents(
    path: &Path,
    write: &mut dyn FnMut(&mut dyn Draft) -> io::Result<()>,
    counts: Option<Staged<'_>>,
    kept: &Kept<'_>,
    warnings: WarningSink<'_>,
) -> Result<(), Unsaved> {
    let of_ledger = Store::of_link(kept.ledger);
    let of_category = Store::of_link(path);
    let alone = [(path, &of_category), (kept.ledger, &of_ledger)];
    let alone = alone.into_iter().filter(|(_, set)| set.is_none());
    alone.filter_map(|(path, _)| access::warning_about(path)).for_each(&mut *warnings);
    let mut begin = |store: &Store| begin(store, warnings);
    let mut changes = Vec::new();
    let mut staged = Vec::new();
    if let Some((store, _)) = &of_ledger {
        changes.push(begin(store)?);
    }
    let of_ledger_store = of_ledger.as_ref().map(|(store, _)| store);
    let in_set = of_ledger.as_ref().zip(changes.first()).map(|((_, own), change)| change.path(own));
    let in_words = |error: LedgerError| match in_set.as_ref().zip(of_ledger_store) {
        Some((path, store)) => FittedSetError::from(error).renamed(&|own| {
            if own == path { kept.ledger.to_path_buf() } else { store.known(own) }
        }),
        None => error.into(),
    };
    let ledger = kept.ledger(in_set.as_deref().unwrap_or(kept.ledger));
    let (ledger, head_before) = ledger.map_err(in_words)?;
    match of_category {
        None => staged
            .push(stage(&Disk, path, ANY_MAGIC, Access::Usual, write).map_err(Unsaved::at(path))?),
        Some((store, own)) => {
            if !of_ledger.as_ref().is_some_and(|(other, _)| other.is(&store)) {
                changes.push(begin(&store)?);
            }
            let target = changes.last().map(|change| change.path(&own)).unwrap_or_default();
            atomic_file::replace(&Unforced, &target, ANY_MAGIC, write)
                .map_err(Unsaved::in_set(path))?;
        }
    }
    let counts_path = counts.as_ref().map(|counts| counts.target.clone());
    staged.extend(counts);
    if let Some(target) = &in_set {
        save(target, &ledger).map_err(in_words)?;
    } else {
        let bytes = ledger.bytes();
        let write = &mut |out: &mut dyn Draft| out.write_all(&bytes);
        let new = stage(&Disk, kept.ledger, MAGIC, Access::Usual, write);
        staged.push(new.map_err(Unsaved::at(kept.ledger))?);
    }
    // Until the ledger is replaced, the next run can put the counts back.
    let before = counts_path.map(|path| {
        let kept = Before::keep(&path, head_before.as_ref(), &ledger.head);
        kept.map_err(|source| Unsaved::File { path, source })
    });
    let mut before = before.transpose()?;
    let mut stays = |is_divided: bool| {
        if let Some(before) = before.take_if(|_| is_divided) {
            before.stay();
        }
    };
    let placed = place(staged).map_err(|error| {
        stays(matches!(error, SaveError::Divided { .. }));
        let own = match &error {
            SaveError::Io { path, .. } | SaveError::Divided { path, .. } => path.clone(),
            _ => path.to_path_buf(),
        };
        Unsaved::File { path: own, source: error.into() }
    })?;
    let mut changed = None;
    // The ledger's comes last.
    for change in changes.into_iter().rev() {
        let folder = change.store.folder.clone();
        match change.publish(Force::All) {
            Ok(warning) => warning.into_iter().for_each(&mut *warnings),
            Err(source) => {
                let new = placed.withdraw().err().or(changed);
                stays(new.is_some());
                return Err(match new {
                    Some(new) => Unsaved::Divided { source, new },
                    None => FittedSetError::from(source).into(),
                });
            }
        }
        changed = Some(folder);
    }
    placed.force().map_err(Unsaved::at(path))
}

/// Begins a change of a set that a power failure may have damaged.
fn begin(store: &Store, warnings: WarningSink<'_>) -> Result<Change, FittedSetError> {
    let change = store.change(&[], warnings)?;
    salvage(&change, warnings).map_err(|error| error.renamed(&|path| store.known(path)))?;
    Ok(change)
}

/// Replaces the category at `path`, in its set if the path is a link into one. The caller holds the
/// set's lock. Warnings are those of [`save_with_documents`].
///
/// # Errors
/// It cannot be written; the old one is kept.
pub fn replace_category(
    path: &Path,
    write: &mut dyn FnMut(&mut dyn Draft) -> io::Result<()>,
    warnings: WarningSink<'_>,
) -> Result<(), Unsaved> {
    let Some((store, member)) = Store::of_link(path) else {
        access::warning_about(path).into_iter().for_each(&mut *warnings);
        return atomic_file::replace(&Disk, path, ANY_MAGIC, write).map_err(Unsaved::at(path));
    };
    let change = begin(&store, warnings)?;
    let target = change.path(&member);
    atomic_file::replace(&Unforced, &target, ANY_MAGIC, write).map_err(Unsaved::in_set(path))?;
    let warning = change.publish(Force::All).map_err(FittedSetError::from)?;
    warning.into_iter().for_each(warnings);
    Ok(())
}
