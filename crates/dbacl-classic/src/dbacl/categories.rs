// SPDX-License-Identifier: GPL-3.0-or-later
//! Opening the categories that a command line names, with the messages of dbacl 1.14.1.

use super::failure::{Failure, Kind, not_loaded};
use super::messages::MESSAGES;
use dbacl_engine::category::access;
use dbacl_engine::category::mapped::{self, AnyMapped};
use dbacl_engine::score::model::Model;
use dbacl_store::generations::Generation;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// Opens a category, with dbacl 1.14.1's messages when that fails.
///
/// # Errors
/// What to print.
pub fn load(path: &Path) -> Result<AnyMapped, Failure> {
    load_as(path, path)
}

/// Opens the category in the file at `path`; messages call it `name`.
pub fn load_as(path: &Path, name: &Path) -> Result<AnyMapped, Failure> {
    mapped::open_seen(path, |found| warn_of_writers(path, name, found))
        .map_err(|error| not_loaded(error, path, name))
}

/// Opens a category as [`load_as`] does, but maps it into memory (`-m`).
pub fn load_mapped(path: &Path, name: &Path) -> Result<AnyMapped, Failure> {
    #[allow(unsafe_code)]
    // SAFETY: who asks for `-m` promises that nobody changes the file in place while it is in use,
    // as for dbacl 1.14.1, which maps it then, too.
    let mapped = unsafe { mapped::map(path, |found| warn_of_writers(path, name, found)) };
    mapped.map_err(|error| not_loaded(error, path, name))
}

/// Warns of the file `path` of the category `name` if anybody may write to it. Of a set the folder
/// tells.
fn warn_of_writers(path: &Path, name: &Path, found: &Metadata) {
    if path == name
        && let Some(warning) = access::warning_of(|| path.to_path_buf(), found)
    {
        MESSAGES.warning(&warning.0);
    }
}

/// The sets that a run has opened.
#[derive(Debug, Default)]
pub struct OpenSets(dbacl_store::generations::Opened);

impl OpenSets {
    /// The file that a category is read from: itself, or what it is in its set.
    pub fn place_of(&mut self, path: &Path) -> Result<PathBuf, Failure> {
        self.place(path, note_about)
    }

    /// The same for a set that is going to be changed, which tells then what there is to know.
    pub fn place_to_change(&mut self, path: &Path) -> Result<PathBuf, Failure> {
        self.place(path, |_| {})
    }

    fn place(&mut self, path: &Path, note: impl Fn(&Generation)) -> Result<PathBuf, Failure> {
        let found = self.0.file(path);
        let (file, generation) = found.map_err(|error| {
            let last = format!("could not load category {}", path.display());
            Failure { kind: Kind::NoInput, lines: vec![error.to_string(), last] }
        })?;
        if let Some(generation) = generation {
            note(generation);
        }
        Ok(file)
    }

    /// Opens the category at `path`.
    pub fn load(&mut self, path: &Path) -> Result<AnyMapped, Failure> {
        load_as(&self.place_of(path)?, path)
    }
}

/// Loads the categories `old` again from where they came from, `None` for random text. If one
/// cannot be loaded, this warns, and all stay as they are.
pub fn reload(paths: &[Option<PathBuf>], old: &[Model]) -> Option<(Vec<Model>, OpenSets)> {
    MESSAGES.signal("caught SIGUSR1 request, reloading categories asap");
    let mut opened = OpenSets::default();
    let each = paths.iter().zip(old).map(|(path, old)| match path {
        None => Ok(Model::random()),
        Some(path) => Ok(Model::learned(old.name.clone(), opened.load(path)?, old.patterns)),
    });
    match each.collect::<Result<_, Failure>>() {
        Ok(models) => Some((models, opened)),
        Err(failure) => {
            for line in &failure.lines {
                MESSAGES.warning(&format!("{line}; keeping the old one"));
            }
            None
        }
    }
}

/// Says what users should know of a set that is read.
fn note_about(generation: &Generation) {
    generation.warnings().iter().for_each(|warning| MESSAGES.warning(&warning.0));
}
