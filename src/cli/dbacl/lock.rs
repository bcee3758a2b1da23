// SPDX-License-Identifier: GPL-3.0-or-later
//! One learner at a time for a counts file (`-o`): a second one waits, else one update would be lost.
//!
//! The counts file itself is replaced at the end of a run, so the lock is on an empty file beside it,
//! `NAME.learning`. Whoever holds the lock removes that file; one that a killed learner left is free.

use super::MESSAGES;
use super::signals::Signals;
use crate::save::{beside, is_named};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, IsTerminal};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

/// Time between two tries.
const PAUSE: Duration = Duration::from_millis(20);

/// The right to update a counts file; given back when dropped.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Waits until nobody else learns into `counts`, or a signal asks to stop. `None` where there can
    /// be no lock: the folder cannot be written, the file system knows no locks, or the lock's name
    /// is taken by something else.
    pub fn wait(counts: &Path, signals: &Signals) -> Option<Self> {
        let path = beside(counts, ".learning");
        let mut said = false;
        while !signals.stopped() {
            let file = open(&path).ok()?;
            match file.try_lock() {
                Ok(()) if is_named(&file, &path).unwrap_or(false) => {
                    return Some(Self { path, _file: file });
                }
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    if !said && io::stderr().is_terminal() {
                        said = true;
                        let name = counts.display();
                        MESSAGES.warning(&format!("waiting for another learner of {name}"));
                    }
                    sleep(PAUSE);
                }
                Err(TryLockError::Error(_)) => return None,
            }
        }
        None
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // If it stays it is free: the lock ends with the process.
        let _ = fs::remove_file(&self.path);
    }
}

/// The empty file at `path`, new or already there.
fn open(path: &Path) -> io::Result<File> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if !metadata.is_file() || metadata.len() != 0 => {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        _ => {}
    }
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o640).open(path)
}
