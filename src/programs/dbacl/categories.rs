// SPDX-License-Identifier: GPL-3.0-or-later
//! Opening the categories that a command line names, with the messages of dbacl 1.14.1.

use super::failure::{Failure, not_loaded};
use super::messages::MESSAGES;
use crate::category::access;
use crate::category::mapped::{self, MappedCategory};
use crate::error::Error;
use crate::score::model::Model;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// Opens a category, with dbacl 1.14.1's messages when that fails.
///
/// # Errors
/// What to print.
pub fn load(path: &Path) -> Result<MappedCategory, Failure> {
    let opened = mapped::open_seen(path, |found| warn_of_writers(path, found));
    checked(opened, path)
}

/// The category at `path` if it can be used by itself.
fn checked(opened: Result<MappedCategory, Error>, path: &Path) -> Result<MappedCategory, Failure> {
    opened.map_err(|error| not_loaded(error, path))
}

/// Opens a category as [`load`] does, but maps it into memory (`-m`).
pub(super) fn load_mapped(path: &Path) -> Result<MappedCategory, Failure> {
    #[allow(unsafe_code)]
    // SAFETY: who asks for `-m` promises that nobody changes the file in place while it is in use,
    // as for dbacl 1.14.1, which maps it then, too.
    let mapped = unsafe { mapped::map(path, |found| warn_of_writers(path, found)) };
    checked(mapped, path)
}

/// Warns of the file `path` of a category if anybody may write to it.
fn warn_of_writers(path: &Path, found: &Metadata) {
    if let Some(warning) = access::warning_of(|| path.to_path_buf(), found) {
        MESSAGES.warning(&warning.0);
    }
}

/// Loads the categories `old` again from where they came from, `None` for random text. If one
/// cannot be loaded, this warns, and all stay as they are.
pub(super) fn reload(paths: &[Option<PathBuf>], old: &[Model]) -> Option<Vec<Model>> {
    MESSAGES.signal("caught SIGUSR1 request, reloading categories asap");
    let each = paths.iter().zip(old).map(|(path, old)| match path {
        None => Ok(Model::random()),
        Some(path) => Ok(Model::learned(old.name.clone(), load(path)?, old.patterns)),
    });
    match each.collect::<Result<_, Failure>>() {
        Ok(models) => Some(models),
        Err(failure) => {
            for line in &failure.lines {
                MESSAGES.warning(&format!("{line}; keeping the old one"));
            }
            None
        }
    }
}
