// SPDX-License-Identifier: GPL-3.0-or-later
//! Writes the files of a learned category, which may belong to a set, as may its ledger.

use super::error::FittedSetError;
use crate::atomic_file::{self, Disk, Unforced};
use crate::error::Error;
use crate::joint::documents::Corpus;
use crate::joint::ledger::{Ledger, MAGIC, Name, Settings};
use crate::joint::store::Store;
use crate::joint::store::ledger_file::{LedgerError, check, load, replace, save};
use std::io::{self, Write};
use std::path::Path;

/// Keeps documents of the category `name` in the ledger at `path`, whose lock the caller holds.
/// They replace the category's documents, or with `adds` follow them.
///
/// # Errors
/// A ledger that cannot be read, is of other features, or cannot be written.
pub fn keep(
    path: &Path,
    settings: Settings,
    name: &Name,
    adds: bool,
    corpus: &Corpus,
) -> Result<(), FittedSetError> {
    let set = Store::of_link(path);
    let change = set.map(|(store, member)| Ok((store.change(&[])?, member)));
    let change = change.transpose().map_err(FittedSetError::generation)?;
    let name_of_file = path;
    let in_set = change.as_ref().map(|(change, member)| change.path(member));
    let path = in_set.as_deref().unwrap_or(path);
    let old = load(path)?.unwrap_or_else(|| Ledger::new(settings, Vec::new()));
    check(path, &old.head, &settings)?;
    let mut head = old.head.clone();
    let label = head.label(&name.name);
    let kept = old.filter(|record, _| adds || record.label != label);
    let damaged = |fault| LedgerError::Damaged { path: path.to_path_buf(), fault };
    let mut ledger = kept.map_err(damaged)?;
    ledger.head.names = head.names;
    if let Some(known) = ledger.head.names.get_mut(label as usize) {
        known.learning = name.learning;
    }
    for (number, document) in corpus.documents.iter().enumerate() {
        ledger.push(label, document.occurrences, corpus.terms_of(number));
    }
    let Some((change, _)) = change else {
        return Ok(replace(&Disk, name_of_file, MAGIC, &ledger.bytes())?);
    };
    save(path, &ledger)?;
    change.publish(true).map_err(FittedSetError::generation)
}

/// Replaces the category at `path`, in its set if the path is a link into one. The caller holds the
/// set's lock.
///
/// # Errors
/// It cannot be written; the old one is kept.
pub fn replace_category(
    path: &Path,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    let magic = crate::category::layout::ANY_MAGIC;
    let Some((store, member)) = Store::of_link(path) else {
        return Ok(atomic_file::replace(&Disk, path, magic, write)?);
    };
    let change = store.change(&[])?;
    atomic_file::replace(&Unforced, &change.path(&member), magic, write)?;
    change.publish(true)
}
