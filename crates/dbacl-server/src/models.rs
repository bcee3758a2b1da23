// SPDX-License-Identifier: GPL-3.0-or-later
//! Open filters by their folders. A limited number is kept open; a filter that was changed on disk
//! is opened again.

use dbacl::{MailFilter, MailFilterError};
use lru::LruCache;
use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The filters that are open. The one that was not used for the longest time is closed first.
#[derive(Debug)]
pub struct Models {
    open: Mutex<LruCache<PathBuf, Open>>,
}

#[derive(Debug, Clone)]
struct Open {
    filter: Arc<MailFilter>,
    stamp: Option<Vec<Stamp>>,
}

/// Identifies a version of a filter's file, which is never changed in place: the device and the
/// number of the file there, its size, and the second and nanosecond of its last change.
type Stamp = (u64, u64, u64, i64, i64);

/// A filter that changes so many times while it is being opened is opened again for the next mail.
const TRIES: u32 = 5;

/// A filter, and whether it was opened just now.
#[derive(Debug)]
pub struct Found {
    pub filter: Arc<MailFilter>,
    /// Warnings about the files of a filter that was opened just now; `None` if it was open.
    pub opened: Option<Vec<String>>,
}

impl Models {
    /// Keeps at most so many open.
    pub fn new(most: usize) -> Self {
        let most = NonZeroUsize::new(most).unwrap_or(NonZeroUsize::MIN);
        Self { open: Mutex::new(LruCache::new(most)) }
    }

    /// The filter in a folder as it is now. A filter in use stays whole, whatever happens to its
    /// folder.
    pub fn get(&self, folder: &Path) -> Result<Found, MailFilterError> {
        let known = self.lock().get(folder).cloned();
        if let Some(open) = &known
            && open.stamp.is_some()
            && stamp(folder, open.filter.names()).ok() == open.stamp
        {
            return Ok(Found { filter: Arc::clone(&open.filter), opened: None });
        }
        // The lock is not held while a filter is opened, so that others are served. Opening the
        // same filter twice is harmless.
        let mut warnings = Vec::new();
        match open_steadily(folder, &mut warnings) {
            Ok(open) => {
                let filter = Arc::clone(&open.filter);
                self.lock().put(folder.to_path_buf(), open);
                Ok(Found { filter, opened: Some(warnings) })
            }
            Err(error) => {
                self.lock().pop(folder);
                Err(error)
            }
        }
    }

    /// How many are open.
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<PathBuf, Open>> {
        // A panic never leaves the table half changed.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens a filter. If its files change meanwhile, it is opened again, so that the stamp belongs to
/// them.
fn open_steadily(folder: &Path, warnings: &mut Vec<String>) -> Result<Open, MailFilterError> {
    let mut before = None;
    let mut tries = 0;
    loop {
        warnings.clear();
        let filter = MailFilter::open(folder, &mut |warning| warnings.push(warning.to_string()))?;
        let after = stamp(folder, filter.names()).ok();
        let filter = Arc::new(filter);
        tries += 1;
        if before == after || tries == TRIES {
            let stamp = after.filter(|after| Some(after) == before.as_ref());
            return Ok(Open { filter, stamp });
        }
        before = after;
    }
}

fn stamp(folder: &Path, names: &[String]) -> io::Result<Vec<Stamp>> {
    let of = |name: &String| {
        let file = fs::metadata(folder.join(name))?;
        Ok((file.dev(), file.ino(), file.size(), file.mtime(), file.mtime_nsec()))
    };
    names.iter().map(of).collect()
}
