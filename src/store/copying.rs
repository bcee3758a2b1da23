// SPDX-License-Identifier: GPL-3.0-or-later
//! A filter that begins as a copy of another one, as a user's filter on a server does: both share
//! the files that do not change in place.

use super::folder::{Changing, FilterError, FilterFolder, TABLE, TRIES};
use super::table;
use dbacl_files::atomic_file::{Disk, Storage as _, folder_of, remove_if_there};
use dbacl_files::reading::read_regular;
use serde::de::IgnoredAny;
use std::fs;
use std::io;

/// The table, until it has its name.
const NEW: &str = "table.new";

impl Changing {
    /// Makes the filter a copy of `from`. There is no filter before all of it is there; what an
    /// interrupted copy has left is replaced.
    ///
    /// # Errors
    /// [`FilterError`]; there is no filter then.
    pub(crate) fn copy_from(&mut self, from: &FilterFolder) -> Result<(), FilterError> {
        for _ in 0..TRIES {
            match self.try_copy(from) {
                Ok(true) => {
                    self.lock.vanishes = false;
                    return Ok(());
                }
                Err(FilterError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                }
                Ok(false) => {}
                Err(error) => return Err(error),
            }
        }
        let source = io::ErrorKind::ResourceBusy.into();
        Err(FilterError::Io { path: from.path().to_path_buf(), source })
    }

    /// Returns false if the other filter has changed meanwhile.
    fn try_copy(&mut self, from: &FilterFolder) -> Result<bool, FilterError> {
        let tables = from.open::<IgnoredAny>()?;
        let ledger = &tables.table.head.ledger;
        self.share(from, ledger, ledger)?;
        if let Some(general) = &tables.table.head.general {
            self.share(from, general, general)?;
        }
        self.share(from, TABLE, NEW)?;
        let (new, own) = (self.folder.file(NEW), self.folder.file(TABLE));
        let opened = table::TableFile::<IgnoredAny>::open(&new);
        if opened.is_ok_and(|opened| opened.id != tables.table.id) {
            return Ok(false);
        }
        let mut lessons = Vec::new();
        tables.journal.lessons.iter().for_each(|lesson| lesson.write(&mut lessons));
        self.new_journal(tables.table.id, &lessons)?;
        let failed = |source| FilterError::Io { path: own.clone(), source };
        fs::rename(&new, &own).map_err(failed)?;
        for folder in [self.folder.path(), folder_of(self.folder.path())] {
            Disk.sync_folder(folder).map_err(failed)?;
        }
        Ok(true)
    }

    /// Gives a file of another filter a name in this one, or copies it where there are no second
    /// names.
    fn share(&self, from: &FilterFolder, name: &str, own_name: &str) -> Result<(), FilterError> {
        let (theirs, own) = (from.file(name), self.folder.file(own_name));
        let failed = |source| FilterError::Io { path: own.clone(), source };
        remove_if_there(&own).map_err(failed)?;
        if Disk.link(&theirs, &own).is_ok() {
            return Ok(());
        }
        let bytes = read_regular(&theirs)
            .map_err(|source| FilterError::Io { path: theirs.clone(), source })?;
        self.save(own_name, b"", &bytes)
    }
}
