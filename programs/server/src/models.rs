// SPDX-License-Identifier: GPL-3.0-or-later
//! Open filters by their folders. A limited number is kept open; a filter that was changed on disk
//! is opened again.

use crate::memory::lock;
use dbacl::{FilterStamp, MailFilter, MailFilterError};
use lru::LruCache;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The filters that are open. The one that was not used for the longest time is closed first.
#[derive(Debug)]
pub(crate) struct Models {
    open: Mutex<LruCache<PathBuf, Open>>,
}

#[derive(Debug, Clone)]
struct Open {
    filter: Arc<MailFilter>,
    /// The version of its files, if that is known.
    stamp: Option<FilterStamp>,
}

/// A filter that changes so many times while it is being opened is opened again for the next mail.
const TRIES: u32 = 5;

impl Models {
    /// Keeps at most so many open.
    pub(crate) fn new(most: usize) -> Self {
        let most = NonZeroUsize::new(most).unwrap_or(NonZeroUsize::MIN);
        Self { open: Mutex::new(LruCache::new(most)) }
    }

    /// The filter in a folder as it is now, and warnings about its files if it was opened just now.
    /// A filter in use stays whole, whatever happens to its folder.
    pub(crate) fn get(
        &self,
        folder: &Path,
    ) -> Result<(Arc<MailFilter>, Option<Vec<String>>), MailFilterError> {
        let known = lock(&self.open).get(folder).cloned();
        if let Some(Open { filter, stamp: known @ Some(_) }) = known
            && MailFilter::stamp(folder) == known
        {
            return Ok((filter, None));
        }
        // The lock is not held while a filter is opened, so that others are served. Opening the
        // same filter twice is harmless.
        let mut warnings = Vec::new();
        match open_steadily(folder, &mut warnings) {
            Ok(open) => {
                let filter = Arc::clone(&open.filter);
                lock(&self.open).put(folder.to_path_buf(), open);
                Ok((filter, Some(warnings)))
            }
            Err(error) => {
                lock(&self.open).pop(folder);
                Err(error)
            }
        }
    }

    /// How many are open.
    pub(crate) fn count(&self) -> usize {
        lock(&self.open).len()
    }
}

/// Opens a filter. If its files change meanwhile, it is opened again, so that the stamp belongs to
/// them.
fn open_steadily(folder: &Path, warnings: &mut Vec<String>) -> Result<Open, MailFilterError> {
    let mut tries = 0;
    loop {
        warnings.clear();
        let before = MailFilter::stamp(folder);
        let filter = MailFilter::open(folder, &mut |warning| warnings.push(warning.to_string()))?;
        let filter = Arc::new(filter);
        tries += 1;
        if before == MailFilter::stamp(folder) {
            return Ok(Open { filter, stamp: before });
        }
        if tries == TRIES {
            return Ok(Open { filter, stamp: None });
        }
    }
}
