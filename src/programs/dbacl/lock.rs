// SPDX-License-Identifier: GPL-3.0-or-later
//! Locks. Only one process at a time may add to a file: a second one waits, because otherwise one
//! update would be lost.
//!
//! Such files are replaced at the end of a run, so the lock is on an empty file beside them.

use super::failure::Failure;
use super::messages::MESSAGES;
use super::signals::Signals;
use crate::sets::MailFilterError;
use crate::sets::error::lock;
use dbacl_files::lock::{Lock, Patience};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// The right to learn into `counts` (`-o`), waited for up to `limit`. `None` where there can be no
/// lock: the folder cannot be written, the file system knows no locks, or the lock's name is taken
/// by something else, which gives a warning.
pub(super) fn of_counts(
    counts: &Path,
    limit: Duration,
    signals: &Signals,
) -> Result<Option<Lock>, Failure> {
    let patience = Patience { limit, stop: &signals.stop };
    match lock(counts, ".learning", patience, &mut || MESSAGES.waiting(counts)) {
        Ok(lock) => Ok(Some(lock.vanishing())),
        Err(MailFilterError::Unlockable { lock, .. }) => {
            if std::fs::symlink_metadata(&lock).is_ok_and(|found| !is_own_lock(&found)) {
                MESSAGES.warning(&format!(
                    "{} is used for something else: nothing keeps another process from learning \
                     into {} at the same time",
                    lock.display(),
                    counts.display()
                ));
            }
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether this can be the lock of a process of the same user: an empty file.
fn is_own_lock(found: &Metadata) -> bool {
    let is_own = found.uid() == rustix::process::geteuid().as_raw();
    is_own && found.is_file() && found.len() == 0
}
