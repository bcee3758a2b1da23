// SPDX-License-Identifier: GPL-3.0-or-later
//! The folder in which a simulation keeps everything (spec tools 3.1).
//!
//! ```text
//! FOLDER/0 .. N-1   one for each fold or repetition: mailboxes, models, seed
//! FOLDER/mbox       mailboxes of the online simulations
//! FOLDER/log plots review filters tmp
//! ```

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The folder of a simulation.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    /// Where it is, whether or not it exists.
    pub path: PathBuf,
}

impl Folder {
    pub(super) fn exists(&self) -> bool {
        self.path.is_dir()
    }

    /// Creates it, for `count` folds.
    pub(super) fn create(&self, count: usize) -> io::Result<()> {
        for name in ["tmp", "log", "plots", "mbox", "review", "filters"] {
            std::fs::create_dir_all(self.path.join(name))?;
        }
        (0..count).try_for_each(|fold| std::fs::create_dir_all(self.fold(fold)))
    }

    pub(super) fn fold(&self, fold: usize) -> PathBuf {
        self.path.join(fold.to_string())
    }

    /// Number of folds: those of 0, 1, 2, ... that exist.
    pub(super) fn folds(&self) -> usize {
        let missing = (0..usize::MAX).find(|&fold| !self.fold(fold).is_dir());
        missing.unwrap_or(0)
    }

    /// Names of the categories: the base names of all mailboxes below the folder, sorted bytewise.
    pub(super) fn categories(&self) -> Vec<OsString> {
        let mut names = BTreeSet::new();
        let mut folders = vec![self.path.clone()];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_folder {
                    folders.push(entry.path());
                } else if let Some(name) = entry.file_name().as_bytes().strip_suffix(b".mbox") {
                    names.insert(name.to_vec());
                }
            }
        }
        names.into_iter().map(OsString::from_vec).collect()
    }

    /// The mailbox of a category in one of the folders.
    pub(super) fn mailbox(folder: &Path, category: &OsString) -> PathBuf {
        let mut name = category.clone();
        name.push(".mbox");
        folder.join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_has_folds_and_sorted_categories() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let folder = Folder { path: place.path().join("x.d") };
        assert!(!folder.exists());
        folder.create(3).expect("created");
        assert_eq!(folder.folds(), 3);
        for name in ["0/spam.mbox", "2/good.mbox", "mbox/good.mbox", "1/x.txt"] {
            std::fs::write(folder.path.join(name), "").expect("written");
        }
        assert_eq!(folder.categories(), ["good", "spam"]);
    }
}
