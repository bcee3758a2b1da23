// SPDX-License-Identifier: GPL-3.0-or-later
//! Learning with counts (`-o`) and a ledger (`--keep`) adds documents to both. A process that is
//! killed between the two renames would leave them apart, and a repetition would count documents
//! twice.
//!
//! ```text
//! COUNTS.before-OLD-NEW   made first: the counts as they were, or empty if there were none
//! COUNTS                  replaced
//! LEDGER                  replaced; with this the documents are learned
//! COUNTS.before-OLD-NEW   removed
//! ```
//!
//! `OLD` and `NEW` are checksums of the ledger's head before and after. Where the next run finds
//! such a file and the ledger is the old one, it puts the old counts back.

use dbacl_engine::error::{Error, Result, Warning, WarningSink};
use dbacl_engine::learn::memory_dump;
use dbacl_files::atomic_file::{beside, folder_of, remove_if_there};
use dbacl_files::reading::{SMALL, if_there, read_beginning};
use dbacl_joint::checksum::Checksum;
use dbacl_store::generations::Store;
use dbacl_store::generations::ledger_file::{self, LedgerError};
use dbacl_store::ledger::Head;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What is added to the name of counts.
const ENDING: &str = ".before-";

/// The ledger's head, in the name of a file. Without a ledger it is 0.
fn sum_of(head: Option<&Head>) -> u64 {
    head.map_or(0, |head| Checksum::of(&head.bytes()))
}

/// The counts as they were before documents are learned. The file goes away with this value.
pub(crate) struct Before {
    path: PathBuf,
}

impl Before {
    /// Keeps `counts`, if they are there, while the ledger with the head `old` is replaced by one
    /// with the head `new`.
    pub(crate) fn keep(counts: &Path, old: Option<&Head>, new: &Head) -> Result<Self> {
        let ending = format!("{ENDING}{:016x}-{:016x}", sum_of(old), sum_of(Some(new)));
        let path = beside(counts, &ending);
        let kept = match fs::hard_link(counts, &path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).map(|_| ())
            }
            // A file system that knows no second names.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                fs::copy(counts, &path).map(|_| ())
            }
            linked => linked,
        };
        kept.map_err(|error| Error::io(&path, error))?;
        Ok(Self { path })
    }

    /// The file stays for the next run, which puts the counts back.
    pub(crate) fn stay(self) {
        std::mem::forget(self);
    }
}

impl Drop for Before {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Puts `counts` back if a run was killed after it had replaced them and before it replaced the
/// ledger `keep`. The caller holds the lock of the counts. A warning says what was done, or why
/// that cannot be told; without a ledger, that it is needed.
///
/// # Errors
/// [`Error::Io`].
pub fn put_back(counts: &Path, keep: Option<&Path>, warnings: WarningSink<'_>) -> Result<()> {
    for (path, old, new) in left_of(counts)? {
        let name = counts.display();
        let Some(keep) = keep else {
            warnings(Warning::new(format!(
                "learning into {name} with --keep was interrupted: {name} may have documents that \
                 the ledger does not have, until it is learned with --keep again"
            )));
            return Ok(());
        };
        let Ok(now) = sum_now(keep) else { return Ok(()) };
        let failed = |error| Error::io(&path, error);
        if now == new {
            fs::remove_file(&path).map_err(failed)?;
            continue;
        }
        let ledger = keep.display();
        if now != old {
            warnings(Warning::new(format!(
                "learning into {name} was interrupted, and {ledger} was changed since: one may \
                 have documents that the other does not have. The counts from before are in {0}: \
                 rename it to {name}, or remove it",
                path.display()
            )));
            continue;
        }
        let is_none = fs::metadata(&path).map_err(failed)?.len() == 0;
        if is_none {
            remove_if_there(counts).map_err(|error| Error::io(counts, error))?;
            fs::remove_file(&path).map_err(failed)?;
        } else {
            fs::rename(&path, counts).map_err(failed)?;
            // Two names of one file both stay.
            let _ = fs::remove_file(&path);
        }
        warnings(Warning::new(format!(
            "learning into {name} was interrupted: {name} and {ledger} are as before"
        )));
    }
    Ok(())
}

/// The checksum of the head that the ledger at `keep` has now.
fn sum_now(keep: &Path) -> Result<u64, LedgerError> {
    let of_set =
        Store::of_link(keep).and_then(|(store, member)| Some(store.open().ok()??.path(&member)));
    let path = of_set.as_deref().unwrap_or(keep);
    if !ledger_file::exists(path)? {
        return Ok(sum_of(None));
    }
    ledger_file::head(path).map(|head| sum_of(Some(&head)))
}

/// The files that killed runs have left beside `counts`, each with the checksums in its name.
fn left_of(counts: &Path) -> Result<Vec<(PathBuf, u64, u64)>> {
    let folder = folder_of(counts);
    let beginning = beside(Path::new(counts.file_name().unwrap_or_default()), ENDING);
    let mut left = Vec::new();
    let failed = |error| Error::io(folder, error);
    for entry in if_there(fs::read_dir(folder)).map_err(failed)?.into_iter().flatten() {
        let name = entry.map_err(failed)?.file_name();
        let sums = name.as_bytes().strip_prefix(beginning.as_os_str().as_bytes()).and_then(sums_in);
        let path = counts.with_file_name(&name);
        if let Some((old, new)) = sums
            && is_own(&path)
        {
            left.push((path, old, new));
        }
    }
    left.sort();
    Ok(left)
}

/// The two checksums at the end of a name.
fn sums_in(ending: &[u8]) -> Option<(u64, u64)> {
    let (old, new) = std::str::from_utf8(ending).ok()?.split_once('-')?;
    let sum = |text: &str| u64::from_str_radix(text, 16).ok().filter(|_| text.len() == 16);
    Some((sum(old)?, sum(new)?))
}

/// Whether there are counts at `path` itself, or nothing, that this user has made: others may write
/// in the folder, too.
fn is_own(path: &Path) -> bool {
    let is_own = fs::symlink_metadata(path)
        .is_ok_and(|found| found.is_file() && found.uid() == rustix::process::geteuid().as_raw());
    let is_dump = |bytes: Vec<u8>| bytes.is_empty() || memory_dump::is_dump(&bytes);
    is_own && read_beginning(path, SMALL).is_ok_and(is_dump)
}
