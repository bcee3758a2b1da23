// SPDX-License-Identifier: GPL-3.0-or-later
//! Begins a mail filter as a copy of another one.

use super::error::FittedSetError;
use super::files::{SetNames, check_paths};
use super::filter_folder::{FilterPlace, MailFilterError};
use super::learn_folders::private_folder;
use super::open_set::MailFilter;
use super::options::FittedSetOptions;
use crate::error::Error;
use crate::store::generations::{Force, Generation};
use dbacl_files::atomic_file::{Disk, Storage as _, folder_of};
use std::fs;
use std::path::Path;

impl MailFilter {
    /// Begins a filter in the folder `to` as a copy of the one in `from`, as a user's filter on a
    /// server begins. The two share files until they are changed, and each learns for itself. There
    /// is no filter in `to` before all of it is there ([`FilterPlace`]); then it is on the disk.
    /// What an interrupted copy has left there is replaced, and a filter stays as it is.
    ///
    /// # Errors
    /// [`FittedSetError::Open`] if there is no sound filter in `from`, [`FittedSetError::Folder`],
    /// [`FittedSetError::Generation`]; nothing new is in `to` then.
    #[doc(hidden)]
    pub fn copy(from: &Path, to: &Path, options: &FittedSetOptions) -> Result<(), FittedSetError> {
        let filter = Self::open(from, &mut |_| {})?;
        let old = "a version of dbacl before this one made it: learn the mail folders again";
        let old = || MailFilterError::Generation(Error::damaged(from, old));
        let generation = filter.generation.as_ref().ok_or_else(old)?;
        let is_new = fs::symlink_metadata(to).is_err();
        let copied = copy(generation, SetNames::in_folder(to, &filter.names), to, options);
        if copied.is_err() && is_new {
            // It stays if another process has put something into it.
            let _ = fs::remove_dir(to);
        }
        copied
    }
}

fn copy(
    generation: &Generation,
    set: SetNames,
    to: &Path,
    options: &FittedSetOptions,
) -> Result<(), FittedSetError> {
    check_paths(&set.names)?;
    private_folder(to)?;
    let store = set.store();
    let lock = options.lock(&store)?;
    if FilterPlace::of(to) == FilterPlace::Filter {
        return Ok(());
    }
    let change = store.copy_of(generation)?;
    set.files(change, lock).publish(Force::All, &options.stop)?;
    for folder in [to, folder_of(to)] {
        let forced = Disk.sync_folder(folder);
        forced.map_err(|source| FittedSetError::Folder { path: folder.into(), source })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sets::{FittedSet, MailFolder, MailLearnOptions, Outcome};
    use std::os::unix::fs::MetadataExt as _;

    #[test]
    fn a_copy_shares_files_and_learns_for_itself() {
        let room = tempfile::tempdir().unwrap();
        let path = |name: &str| room.path().join(name);
        let folders = ["ham", "spam"].map(|label| {
            fs::create_dir(path(label)).unwrap();
            for number in 0..5 {
                let mail = format!("Subject: {label} {number}\n\nwords about {label}\n");
                fs::write(path(label).join(number.to_string()), mail).unwrap();
            }
            MailFolder::new(label, path(label))
        });
        FittedSet::learn_folders(&path("one"), &folders, &MailLearnOptions::default()).unwrap();
        let options = FittedSetOptions::default();
        MailFilter::copy(&path("one"), &path("other"), &options).unwrap();
        let inode = |filter: &str, file: &str| fs::metadata(path(filter).join(file)).unwrap().ino();
        assert_eq!(inode("one", "spam"), inode("other", "spam"));
        assert_ne!(inode("one", "ledger"), inode("other", "ledger"));
        let documents = || {
            ["one", "other"].map(|name| FittedSet::open(&path(name), &options).unwrap().documents())
        };
        for (learns, expected) in [("other", [10, 11]), ("one", [11, 11]), ("one", [12, 11])] {
            let mail = format!("Subject: {expected:?}\n\nnews for {learns}\n");
            let report = FittedSet::open(&path(learns), &options).unwrap().correct("spam", mail);
            assert_eq!(report.unwrap().documents[0].outcome, Outcome::Learned);
            assert_eq!(documents(), expected);
            let findings =
                ["one", "other"].map(|name| crate::sets::check::examine(&path(name)).unwrap());
            assert_eq!(findings, [[], []]);
        }
        // What is there already stays.
        MailFilter::copy(&path("one"), &path("other"), &options).unwrap();
        assert_eq!(documents(), [12, 11]);
        let refused = MailFilter::copy(&path("ham"), &path("third"), &options);
        assert!(matches!(refused, Err(FittedSetError::Open(_))) && !path("third").exists());
    }
}
