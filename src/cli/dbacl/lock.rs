// SPDX-License-Identifier: GPL-3.0-or-later
//! One process at a time changes a file that is added to: a second one waits, else one update would
//! be lost.
//!
//! Such files are replaced at the end of a run, so the lock is on an empty file beside them.

use super::MESSAGES;
use super::config::Config;
use super::failure::{Failure, Kind};
use super::signals::Signals;
use crate::atomic_file::beside;
use crate::joint::store::Store;
use crate::lock::{Lock, LockError, Patience};
use std::io::{self, IsTerminal};
use std::path::Path;

/// The right to learn into `counts` (`-o`). `None` where there can be no lock: the folder cannot be
/// written, the file system knows no locks, or the lock's name is taken by something else.
///
/// # Errors
/// Somebody else learns into it for too long; a signal.
pub fn of_counts(
    counts: &Path,
    config: &Config,
    signals: &Signals,
) -> Result<Option<Lock>, Failure> {
    match take(counts, ".learning", config, signals) {
        Ok(lock) => Ok(Some(lock.vanishing())),
        Err(LockError::Unusable { .. }) => Ok(None),
        Err(error) => Err(failure(&error, counts, config)),
    }
}

/// The right to change a set, or the ledger beside which it would be.
///
/// # Errors
/// Somebody else has it for too long; a signal; a lock that cannot be made.
pub fn of_set(store: &Store, config: &Config, signals: &Signals) -> Result<Lock, Failure> {
    let anchor = store.anchor();
    take(&anchor, ".lock", config, signals).map_err(|error| failure(&error, &anchor, config))
}

fn take(file: &Path, ending: &str, config: &Config, signals: &Signals) -> Result<Lock, LockError> {
    let patience = Patience { limit: config.lock_timeout, stop: &signals.stop };
    Lock::take(&beside(file, ending), patience, &mut || {
        if io::stderr().is_terminal() {
            MESSAGES.warning(&format!("waiting for another process to change {}", file.display()));
        }
    })
}

fn failure(error: &LockError, file: &Path, config: &Config) -> Failure {
    let name = file.display();
    match error {
        LockError::Held { holder, .. } => {
            let seconds = config.lock_timeout.as_secs();
            let who =
                holder.map_or_else(|| "another process".into(), |pid| format!("process {pid}"));
            let text = format!(
                "{name} is being changed by {who}: nothing was done after a wait of {seconds} s \
                 (--lock-timeout)"
            );
            Failure::new(Kind::Resources, text)
        }
        LockError::Stopped { .. } => {
            let text = format!("stopped while waiting to change {name}; it is as it was");
            Failure::new(Kind::Interrupted, text)
        }
        LockError::Unusable { .. } => {
            Failure::new(Kind::Write, format!("cannot write {error}; {name} is as it was"))
        }
    }
}
