// SPDX-License-Identifier: GPL-3.0-or-later
//! How a mail filter is opened and changed.

use super::error::MailFilterError;
use crate::store::{Changing, FilterError, FilterFolder};
use dbacl_files::lock::{Patience, USUAL_LIMIT};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A function that is called when a change has to wait for another process.
type WaitNotice = Arc<dyn Fn(&Path) + Send + Sync>;

/// How a mail filter is opened and changed.
///
/// ```
/// use dbacl::MailFilterOptions;
/// use std::time::Duration;
///
/// // For a server that tries again later instead of waiting for long.
/// let options = MailFilterOptions::default().lock_timeout(Duration::from_millis(200));
/// # let _ = options;
/// ```
#[derive(Clone)]
pub struct MailFilterOptions {
    lock_timeout: Duration,
    pub(super) stop: Arc<AtomicBool>,
    on_wait: Option<WaitNotice>,
}

impl std::fmt::Debug for MailFilterOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { lock_timeout, stop, .. } = self;
        let mut shown = f.debug_struct("MailFilterOptions");
        shown.field("lock_timeout", lock_timeout).field("stop", stop);
        shown.finish_non_exhaustive()
    }
}

impl Default for MailFilterOptions {
    /// Locks are waited for ten seconds, and lessons are forced to the device.
    fn default() -> Self {
        let stop = Arc::default();
        Self { lock_timeout: USUAL_LIMIT, stop, on_wait: None }
    }
}

impl MailFilterOptions {
    /// How long a change waits while another process changes the filter (`--lock-timeout`).
    #[must_use]
    pub const fn lock_timeout(mut self, limit: Duration) -> Self {
        self.lock_timeout = limit;
        self
    }

    /// Once `stop` is set, waiting, reading and fitting end, and a change that is not current yet
    /// is given up.
    #[must_use]
    pub fn stop(mut self, stop: Arc<AtomicBool>) -> Self {
        self.stop = stop;
        self
    }

    /// `notice` is called once, with the path of the filter's folder, when a change
    /// has to wait because another process changes the filter.
    #[must_use]
    pub fn on_wait(mut self, notice: impl Fn(&Path) + Send + Sync + 'static) -> Self {
        self.on_wait = Some(Arc::new(notice));
        self
    }

    /// Begins a change of the filter in `folder`.
    pub(super) fn change(&self, folder: &Path) -> Result<Changing, MailFilterError> {
        let patience = Patience { limit: self.lock_timeout, stop: &self.stop };
        let begun = FilterFolder::new(folder).change(patience, &mut || {
            if let Some(notice) = &self.on_wait {
                notice(folder);
            }
        });
        begun.map_err(|error| match error {
            FilterError::Lock(error) => MailFilterError::of_lock(folder, error, self.lock_timeout),
            FilterError::Io { path, source } => MailFilterError::Folder { path, source },
            error => error.into(),
        })
    }
}
