// SPDX-License-Identifier: GPL-3.0-or-later
//! What can still be had of a set's ledger and corrections after a power failure.
//!
//! ```text
//! last generation, in part truncated ─┐
//! last one that was forced ───────────┴→ ledger, corrections: each made again from the other
//! ```
//!
//! Whatever a mail filter learned since its last full fit is a correction, and a correction is also
//! in the ledger. So a document is lost only if both files are.

use super::error::FittedSetError;
use super::filter_folder::{CORRECTIONS, LEDGER, ORDER};
use crate::error::{Warning, WarningSink};
use crate::store::corrections;
use crate::store::generations::ledger_file::{self, LedgerError, OpenLedger, put, remove_head};
use crate::store::generations::{Change, Generation, Store};
use crate::store::ledger::{Ledger, Record};
use hashbrown::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

type Result<T, E = FittedSetError> = std::result::Result<T, E>;

/// Makes ledger and corrections whole in the generation that `change` makes, if a power failure has
/// damaged the generation that it began with. A warning says so, and what is lost.
pub fn salvage(change: &Change, warnings: WarningSink<'_>) -> Result<()> {
    let Some(base) = &change.base else { return Ok(()) };
    let path = |name: &str| change.path(OsStr::new(name));
    if is_damaged(base, path)? { mend(change, base, warnings) } else { Ok(()) }
}

fn mend(change: &Change, base: &Generation, warnings: WarningSink<'_>) -> Result<()> {
    let path = |name: &str| change.path(OsStr::new(name));
    let (ledger_path, corrections_path) = (path(LEDGER), path(CORRECTIONS));
    let is_torn = |name: &str| base.is_torn(OsStr::new(name));
    let forced = base.forced_before()?;
    let earlier = |name: &str| match &forced {
        Some(forced) => whole(&forced.path(OsStr::new(name))),
        None => Ok(None),
    };
    let mut is_earlier = false;
    let mut ledger = None;
    if ledger_file::exists(&ledger_path)? {
        if !is_torn("ledger.head") {
            ledger = whole(&ledger_path)?;
        }
        if ledger.is_none() {
            // The ledger has a copy of its head.
            remove_head(&ledger_path)?;
            ledger = whole(&ledger_path)?;
        }
        if ledger.is_none() {
            ledger = earlier(LEDGER)?;
            is_earlier = true;
            match &ledger {
                Some(ledger) => put(&ledger_path, ledger)?,
                // Reading it will say what is wrong.
                None => return Ok(()),
            }
        }
    }
    if is_torn(LEDGER)
        && let (Some(ledger), Some(old)) = (&ledger, earlier(LEDGER)?)
    {
        // Generations share the ledger's file, unless there are no links.
        is_earlier |= ledger.head.length == old.head.length;
    }
    let mut is_lost = is_earlier;
    if let Some(ledger) = ledger
        && change.has(OsStr::new(ORDER))?
        && base.has(OsStr::new(CORRECTIONS))
    {
        let mut noted = whole(&corrections_path)?;
        if is_torn(CORRECTIONS) || is_torn("corrections.head") {
            noted = None;
        }
        if let Some(noted) = noted {
            if is_earlier {
                put(&ledger_path, &corrections::apply(&ledger, &noted).ledger)?;
                is_lost = false;
            }
        } else {
            let head = &ledger.head;
            let before = earlier(CORRECTIONS)?;
            let before = before.unwrap_or_else(|| Ledger::new(head.settings, head.names.clone()));
            let taught = match earlier(LEDGER)? {
                Some(old) if !is_earlier => taught_since(&ledger, &old),
                Some(_) => Vec::new(),
                None => {
                    is_lost = true;
                    Vec::new()
                }
            };
            let changes = taught.iter().map(|record| {
                let document = (record.label, record.occurrences, &record.terms[..]);
                (record.fingerprint, Some(document))
            });
            put(&corrections_path, &corrections::with(&before, &changes.collect::<Vec<_>>()))?;
        }
    }
    let what = if is_lost {
        "what was learned since the last fit of all documents is lost"
    } else {
        "it is made anew from what is left, and no document is lost"
    };
    let folder = change.store.folder.display();
    warnings(Warning::new(format!("{folder} was damaged, as by a power failure: {what}")));
    Ok(())
}

/// The ledger at `path`; `None` if it is missing or damaged.
fn whole(path: &Path) -> Result<Option<Ledger>> {
    match ledger_file::load(path) {
        Err(LedgerError::Damaged { .. }) => Ok(None),
        loaded => Ok(loaded?),
    }
}

/// Whether a power failure has damaged a generation whose files have these paths, as far as their
/// lengths and the beginnings of the ledgers tell.
fn is_damaged(base: &Generation, path: impl Fn(&str) -> PathBuf) -> Result<bool> {
    if base.is_forced() || base.has_torn() {
        return Ok(!base.is_forced());
    }
    for path in [LEDGER, CORRECTIONS].map(path) {
        let is_there = match OpenLedger::to_read(&path) {
            Err(LedgerError::Damaged { .. }) => return Ok(true),
            opened => opened?.is_some(),
        };
        if is_there && !ledger_file::is_ledger(&path) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The same, as far as the contents of the ledgers tell.
fn is_damaged_inside(base: &Generation) -> Result<bool> {
    for name in [LEDGER, CORRECTIONS] {
        let path = base.path(OsStr::new(name));
        if !base.is_forced() && ledger_file::exists(&path)? && whole(&path)?.is_none() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The files of the current generation, with what a power failure has damaged made again.
pub struct Present {
    /// The folder that has them.
    pub folder: PathBuf,
    /// This keeps them: the generation, or one that never becomes current.
    _kept: (Option<Generation>, Option<Change>),
}

impl Present {
    /// The files of the set in `store`, of which the caller holds the lock; `None` if it has no
    /// generation yet.
    pub fn of(store: &Store, warnings: WarningSink<'_>) -> Result<Option<Self>> {
        let now = store.open_to_change()?;
        let Some(now) = now else { return Ok(None) };
        if !is_damaged(&now, |name| now.path(OsStr::new(name)))? && !is_damaged_inside(&now)? {
            return Ok(Some(Self { folder: now.folder.clone(), _kept: (Some(now), None) }));
        }
        let change = store.change(&[], &mut |_| {})?;
        if let Some(base) = &change.base {
            mend(&change, base, warnings)?;
        }
        Ok(Some(Self { folder: change.folder.clone(), _kept: (None, Some(change)) }))
    }
}

/// The documents of `ledger` that `before` does not have under the same label.
fn taught_since(ledger: &Ledger, before: &Ledger) -> Vec<Record> {
    let known = before.heads().map(|(record, _)| (record.fingerprint, record.label));
    let known: HashSet<(u64, u32)> = known.collect();
    let mut taught = Vec::new();
    ledger.each(|record, _| {
        if !known.contains(&(record.fingerprint, record.label)) {
            taught.push(record.clone());
        }
    });
    taught
}
