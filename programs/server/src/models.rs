// SPDX-License-Identifier: GPL-3.0-or-later
//! Open filters by their folders. A limited number is kept open; a filter that was changed on disk
//! is opened again.

use crate::memory::lock;
use dbacl::{MailFilter, MailFilterError, MailFilterOptions};
use lru::LruCache;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The filters that are open. The one that was not used for the longest time is closed first.
#[derive(Debug)]
pub(crate) struct Models {
    open: Mutex<LruCache<PathBuf, Arc<MailFilter>>>,
}

impl Models {
    /// Keeps at most so many open.
    pub(crate) fn new(most: usize) -> Self {
        let most = NonZeroUsize::new(most).unwrap_or(NonZeroUsize::MIN);
        Self { open: Mutex::new(LruCache::new(most)) }
    }

    /// The filter in a folder as it is now, and whether it was opened just now. A filter in use
    /// stays whole, whatever happens to its folder.
    pub(crate) fn get(&self, folder: &Path) -> Result<(Arc<MailFilter>, bool), MailFilterError> {
        let known = lock(&self.open).get(folder).cloned();
        if let Some(filter) = known.filter(|filter| filter.is_current()) {
            return Ok((filter, false));
        }
        // The lock is not held while a filter is opened, so that others are served. Opening the
        // same filter twice is harmless.
        match MailFilter::open(folder, &MailFilterOptions::default()) {
            Ok(filter) => {
                let filter = Arc::new(filter);
                lock(&self.open).put(folder.to_path_buf(), Arc::clone(&filter));
                Ok((filter, true))
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
