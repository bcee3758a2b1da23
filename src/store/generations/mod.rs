// SPDX-License-Identifier: GPL-3.0-or-later
//! Stores files that are changed together: the categories of a set, its ledger and its state.
//!
//! ```text
//! ham ──────→ ledger.set/current/category.ham      names of the set are links
//! ledger ───→ ledger.set/current/ledger
//! ledger.set/
//!     current ──→ 7                                replaced by one rename
//!     7/          category.ham, category.spam, ..., generation
//!     6/          the one before
//!     new.0/      one that is being made
//! ```
//!
//! A change makes a new folder with links to the present files, replaces in it those that change,
//! and renames a new link `current` over the old one. Before the rename nothing has changed,
//! afterwards everything has. Files of a generation are never changed, except the ledger: several
//! generations share it, and documents are added behind those that older generations know.
//!
//! A reader follows `current` once and keeps to that folder ([`Generation`]); a lock on the
//! folder's list of files keeps it from being removed. Writers must hold a lock of their own, which
//! is taken elsewhere.

mod change;
mod generation;
pub mod ledger_file;
mod manifest;
mod ownership;

pub use change::{Change, Force, Name};
pub use generation::{Generation, Opened};
pub use manifest::{is_fitted, member};

use crate::error::{Error, Result};
use dbacl_files::atomic_file::{beside, folder_of};
use dbacl_files::reading::if_there;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The name of the link to the current generation.
const CURRENT: &str = "current";

/// The beginning of the names of folders that are being made.
const NEW: &str = "new.";

/// The folder with the generations of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// Where the store is.
    pub folder: PathBuf,
}

impl Store {
    /// The store that belongs to the file at `anchor`: a set's ledger, or its first category.
    pub fn beside(anchor: &Path) -> Self {
        Self { folder: beside(anchor, ".set") }
    }

    /// The store and the file in it that `name` is a link to; `None` if it is no such link, or one
    /// that somebody has put there who is neither this user nor the owner of the store.
    pub fn of_link(name: &Path) -> Option<(Self, OsString)> {
        let target = fs::read_link(name).ok()?;
        let member = target.file_name()?.to_owned();
        let current = target.parent()?;
        if current.file_name() != Some(OsStr::new(CURRENT)) {
            return None;
        }
        let folder = current.parent()?;
        folder.file_name()?.as_bytes().strip_suffix(b".set")?;
        let folder = folder_of(name).join(folder);
        let link = fs::symlink_metadata(name).ok()?;
        let is_owner = || fs::metadata(&folder).is_ok_and(|found| found.uid() == link.uid());
        (!is_foreign_link(&link) || is_owner()).then_some((Self { folder }, member))
    }

    /// The file that the store belongs to, beside which writers have their lock.
    pub fn anchor(&self) -> PathBuf {
        let bytes = self.folder.as_os_str().as_bytes();
        PathBuf::from(OsStr::from_bytes(bytes.strip_suffix(b".set").unwrap_or(bytes)))
    }

    /// The link to the current generation. Every change of the set makes it again.
    pub fn current_link(&self) -> PathBuf {
        self.folder.join(CURRENT)
    }

    /// What users call the file or folder at `path`: if generation `number` is the current one, its
    /// files are named by way of the link to it.
    fn in_current(&self, number: u64, path: &Path) -> PathBuf {
        let inside = path.strip_prefix(self.folder_of(number)).ok();
        let link = self.current_link();
        match inside.filter(|_| fs::read_link(&link).is_ok_and(|to| to == *number.to_string())) {
            Some(inside) if inside.as_os_str().is_empty() => link,
            Some(inside) => link.join(inside),
            None => path.to_path_buf(),
        }
    }

    /// The path that a file of a generation that is being made has in the current one; other paths
    /// stay as they are.
    pub fn known(&self, path: &Path) -> PathBuf {
        let is_new = |made: &Path| {
            made.parent() == Some(&self.folder)
                && made.file_name().is_some_and(|name| name.as_bytes().starts_with(NEW.as_bytes()))
        };
        match (path.parent(), path.file_name()) {
            (Some(made), Some(name)) if is_new(made) => self.current_link().join(name),
            _ => path.to_path_buf(),
        }
    }

    /// Whether both are the same folder.
    pub fn is(&self, other: &Self) -> bool {
        let place = |store: &Self| fs::canonicalize(&store.folder);
        self == other || place(self).is_ok_and(|one| place(other).is_ok_and(|other| one == other))
    }

    /// The current generation, its number and its folder; `None` when there is none.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Damaged`] when `current` is something else.
    fn current(&self) -> Result<Option<(u64, PathBuf)>> {
        self.refuse_foreign_link()?;
        let path = self.current_link();
        match fs::read_link(&path) {
            Ok(target) => {
                let number = number(target.as_os_str()).filter(|number| {
                    let found = fs::symlink_metadata(self.folder_of(*number));
                    !found.is_ok_and(|found| found.is_symlink())
                });
                let out = || Error::damaged(&path, "it leads out of its folder");
                number.map(|number| Some((number, self.folder_of(number)))).ok_or_else(out)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            // A copy for which links were followed has a folder in place of the link. It counts as
            // the last generation.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                if !path.is_dir() {
                    let what = "it is no link; copy the folder with its links, as cp -a does";
                    return Err(Error::damaged(&path, what));
                }
                let last = self.numbers()?.last().copied().unwrap_or(0);
                Ok(Some((last.saturating_add(1), path)))
            }
            Err(error) => Err(Error::io(&path, error)),
        }
    }

    /// The folder may be a link of the user's own, but not one that somebody else has put there.
    fn refuse_foreign_link(&self) -> Result<()> {
        if is_at_foreign_link(&self.folder) {
            return Err(Error::damaged(&self.folder, "it is a link of another user"));
        }
        Ok(())
    }

    /// The folder of generation `number`.
    fn folder_of(&self, number: u64) -> PathBuf {
        self.folder.join(number.to_string())
    }

    /// The numbers of all generations, in order.
    fn numbers(&self) -> Result<Vec<u64>> {
        let entries = if_there(fs::read_dir(&self.folder).and_then(Iterator::collect));
        let entries: Option<Vec<fs::DirEntry>> =
            entries.map_err(|error| Error::io(&self.folder, error))?;
        let names = entries.into_iter().flatten().map(|entry| entry.file_name());
        let mut numbers: Vec<u64> = names.filter_map(|name| number(&name)).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }
}

/// What is in a folder.
fn entries(folder: &Path) -> Result<Vec<fs::DirEntry>> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect);
    entries.map_err(|error| Error::io(folder, error))
}

/// The number in the name of a generation's folder.
fn number(name: &OsStr) -> Option<u64> {
    let text = name.to_str()?;
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain && !text.starts_with('0'))
}

/// Whether a link is at `path` that belongs to neither this user nor the superuser.
pub fn is_at_foreign_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| is_foreign_link(&found))
}

/// Whether this is a link that belongs to neither this user nor the superuser.
fn is_foreign_link(found: &fs::Metadata) -> bool {
    let own = rustix::process::geteuid().as_raw();
    found.is_symlink() && found.uid() != own && found.uid() != 0
}

#[cfg(test)]
mod tests {
    use super::change::{CURRENT_NEW, FORCED};
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::os::unix::fs::symlink;

    /// A set with a category, which a change has made.
    fn set() -> (tempfile::TempDir, Store) {
        let room = tempfile::tempdir().unwrap();
        let store = Store::beside(&room.path().join("ledger"));
        publish(&store);
        (room, store)
    }

    fn replacement(store: &Store) -> Result<Change> {
        store.replacement(&[], &mut |_| {})
    }

    fn begin(store: &Store) -> Result<Change> {
        store.change(&[], &mut |_| {})
    }

    fn now(store: &Store) -> Generation {
        store.open().unwrap().unwrap()
    }

    fn publish(store: &Store) {
        let change = replacement(store).unwrap();
        fs::write(change.path(OsStr::new("category.ham")), "ham").unwrap();
        change.publish(Force::Lessons).unwrap();
    }

    #[test]
    fn what_links_lead_to_is_not_removed() {
        let (room, store) = set();
        let outside = room.path().join("mail");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("kept"), "mail").unwrap();
        for name in ["new.0", "7", "8"] {
            symlink("../mail", store.folder.join(name)).unwrap();
        }
        for _ in 0..4 {
            publish(&store);
        }
        assert_eq!(fs::read(outside.join("kept")).unwrap(), b"mail");
    }

    #[test]
    fn folders_of_the_user_are_left_alone() {
        let (_room, store) = set();
        let kept = [store.folder.join("1700/letter"), store.folder.join("new.text/letter")];
        for path in &kept {
            fs::create_dir(path.parent().unwrap()).unwrap();
            fs::write(path, "the only copy").unwrap();
        }
        for _ in 0..5 {
            publish(&store);
        }
        assert!(kept.iter().all(|path| path.exists()));
        // The generation before is kept, although the user's folder has a number just below.
        let generations = store.numbers().unwrap();
        assert_eq!(generations, [1700, 1704, 1705]);
    }

    #[test]
    fn a_folder_of_the_user_is_not_made_a_set() {
        let room = tempfile::tempdir().unwrap();
        let store = Store::beside(&room.path().join("train"));
        let occupied = || {
            let refused = replacement(&store);
            assert!(matches!(refused, Err(Error::Occupied { path }) if path == store.folder));
        };
        fs::write(&store.folder, "notes").unwrap();
        occupied();
        fs::remove_file(&store.folder).unwrap();
        for name in ["1/essay", "new.0/essay", "essay"] {
            let path = store.folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "the only copy").unwrap();
            occupied();
            assert_eq!(fs::read(&path).unwrap(), b"the only copy");
            fs::remove_dir_all(&store.folder).unwrap();
        }
        // What a killed change leaves is a set's.
        fs::create_dir_all(store.folder.join("new.0")).unwrap();
        fs::create_dir_all(store.folder.join("new.1")).unwrap();
        fs::write(store.folder.join("new.1/generation"), "").unwrap();
        fs::write(store.folder.join("new.1/category.ham"), "half").unwrap();
        symlink("1", store.folder.join(CURRENT_NEW)).unwrap();
        publish(&store);
        assert_eq!(fs::read_dir(&store.folder).unwrap().count(), 2);
    }

    #[test]
    fn pipes_in_place_of_lists_are_not_waited_for() {
        let (_room, store) = set();
        for name in ["1", "new.0"] {
            let folder = store.folder.join(name);
            let list = folder.join("generation");
            if folder.is_dir() {
                fs::remove_file(&list).unwrap();
            } else {
                fs::create_dir(&folder).unwrap();
            }
            mknodat(CWD, &list, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        }
        assert!(matches!(store.open(), Err(Error::Io { .. })));
        assert!(matches!(
            replacement(&store).unwrap().publish(Force::Lessons),
            Err(Error::Io { .. })
        ));
    }

    #[test]
    fn lessons_are_forced_to_the_device_before_they_count() {
        let (_room, store) = set();
        let forced = |force, length: usize| {
            let change = begin(&store).unwrap();
            for name in ["ledger", "corrections"] {
                let path = change.path(OsStr::new(name));
                let file = fs::OpenOptions::new().create(true).append(true).open(path);
                file.unwrap().set_len(if name == "ledger" { length as u64 } else { 7 }).unwrap();
            }
            FORCED.take();
            change.publish(force).unwrap();
            let forced = FORCED.take();
            let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
            forced.iter().map(name).collect::<std::collections::BTreeSet<_>>()
        };
        forced(Force::All, 10);
        let ledger = forced(Force::Lessons, 20);
        for name in ["ledger", "generation", "sums", "ledger.set"] {
            assert!(ledger.contains(name), "{name}: {ledger:?}");
        }
        assert!(!ledger.contains("corrections") && !ledger.contains("category.ham"), "{ledger:?}");
        assert!(!forced(Force::Lessons, 20).contains("ledger"));
        assert!(
            forced(Force::All, 20).is_superset(&["category.ham".into(), "ledger".into()].into())
        );
    }

    #[test]
    fn links_in_a_set_are_refused() {
        let (room, store) = set();
        let other = room.path().join("other");
        fs::write(&other, "another's").unwrap();
        for name in ["ledger", "order", "category.spam.ordinary"] {
            let change = begin(&store).unwrap();
            fs::write(change.path(OsStr::new(name)), "another's").unwrap();
            change.publish(Force::Lessons).unwrap();
            let path = store.current_link().join(name);
            let bytes = fs::read(&path).unwrap();
            fs::remove_file(&path).unwrap();
            symlink(&other, &path).unwrap();
            assert!(matches!(begin(&store), Err(Error::Damaged { .. })), "{name}");
            fs::remove_file(&path).unwrap();
            fs::write(&path, bytes).unwrap();
        }
        let number = now(&store).number;
        let own = store.folder_of(number);
        fs::rename(&own, room.path().join("moved")).unwrap();
        symlink(room.path().join("moved"), &own).unwrap();
        assert!(matches!(store.open(), Err(Error::Damaged { .. })));
        assert_eq!(fs::read(&other).unwrap(), b"another's");
    }

    #[test]
    fn a_set_is_no_link_of_another_user() {
        let (room, store) = set();
        let moved = room.path().join("elsewhere.set");
        fs::rename(&store.folder, &moved).unwrap();
        symlink(&moved, &store.folder).unwrap();
        // One's own link is followed, as to another disk.
        assert!(store.open().unwrap().is_some());
        if std::os::unix::fs::lchown(&store.folder, Some(65_534), None).is_err() {
            return; // only the superuser can give links away
        }
        assert!(matches!(store.open(), Err(Error::Damaged { .. })));
        assert!(matches!(begin(&store), Err(Error::Damaged { .. })));
        assert!(matches!(replacement(&store), Err(Error::Damaged { .. })));
    }

    #[test]
    fn numbers_have_an_end() {
        let (_room, store) = set();
        fs::create_dir_all(store.folder.join(u64::MAX.to_string()).join("not-empty")).unwrap();
        let change = replacement(&store).unwrap();
        assert!(matches!(change.publish(Force::Lessons), Err(Error::Damaged { .. })));
        assert_eq!(now(&store).number, 1);
    }

    /// A set of two generations, of which only the first was forced to the device; each file says
    /// in which one it was written.
    fn two_generations() -> (tempfile::TempDir, Store) {
        let room = tempfile::tempdir().unwrap();
        let store = Store::beside(&room.path().join("ledger"));
        for (number, force) in [("one", Force::All), ("two", Force::Lessons)] {
            let change = replacement(&store).unwrap();
            for name in ["category.a", "category.b", "a.state", "order", "ledger"] {
                fs::write(change.path(OsStr::new(name)), format!("{name} {number}")).unwrap();
            }
            change.publish(force).unwrap();
        }
        (room, store)
    }

    #[test]
    fn in_place_of_what_a_power_failure_has_cut_stands_what_was_forced_before() {
        // To read: the generation, and whether it stands for a later one. To change: what is cut.
        for (cut, read, torn) in [
            (&[][..], (2, false), &[][..]),
            (&["category.a"], (1, true), &["category.a", "category.b"]),
            (&["order"], (1, true), &["order"]),
            (&["ledger"], (2, false), &["ledger"]),
            (&["a.state"], (2, false), &[]),
            (&["sums", "ledger"], (1, true), &["ledger", "sums"]),
            // The list itself: all that has no checksum of its own.
            (&["generation"], (1, true), &["a.state", "category.a", "category.b", "order", "sums"]),
        ] {
            let (_room, store) = two_generations();
            for name in cut {
                let length = if *name == "generation" { 20 } else { 0 };
                let file = fs::OpenOptions::new().write(true).open(store.current_link().join(name));
                file.unwrap().set_len(length).unwrap();
            }
            let found = now(&store);
            assert_eq!((found.number, found.is_earlier), read, "{cut:?}");
            assert_eq!(found.warning_of_damage().is_some(), found.is_earlier);
            let found = store.open_to_change().unwrap().unwrap();
            let mut names: Vec<&str> =
                ["category.a", "category.b", "a.state", "order", "ledger", "sums"]
                    .into_iter()
                    .filter(|name| found.is_torn(OsStr::new(name)))
                    .collect();
            names.sort_unstable();
            assert_eq!(
                (names, found.has_torn(), found.number),
                (torn.to_vec(), !torn.is_empty(), 2),
                "{cut:?}"
            );
            let content = |name: &str| fs::read_to_string(found.path(OsStr::new(name))).unwrap();
            if torn.contains(&"category.a") {
                assert_eq!(content("category.b"), "category.b one");
            }
        }
    }

    #[test]
    fn changed_blocks_are_found_and_not_read() {
        let (_room, store) = two_generations();
        let name = OsStr::new("category.a");
        let open = || now(&store);
        assert_eq!(open().read(name).unwrap(), b"category.a two");
        assert!(open().damaged_blocks(name).unwrap().is_empty() && open().has(name));
        fs::write(store.current_link().join(name), "category.a too").unwrap();
        assert!(matches!(open().read(name), Err(Error::Damaged { .. })));
        assert_eq!(open().damaged_blocks(name).unwrap(), [0]);
        let change = begin(&store).unwrap();
        assert!(change.is_damaged(name).unwrap());
        assert!(!change.is_damaged(OsStr::new("category.b")).unwrap());
        change.empty(name).unwrap();
        assert_eq!(fs::read(change.path(name)).unwrap(), b"");
        drop(change);
        fs::write(store.current_link().join("sums"), vec![0; 4096]).unwrap();
        assert!(matches!(open().read(name), Err(Error::Damaged { .. })));
        assert_eq!(store.numbers().unwrap(), [1, 2], "the change was given up");
    }

    #[test]
    fn names_become_links_to_files_of_the_set() {
        let room = tempfile::tempdir().unwrap();
        let store = Store::beside(&room.path().join("ledger"));
        let name =
            |own: &str| Name { path: room.path().join(own), member: own.into(), ours: b"# dbacl" };
        let names = ["category.a", "category.b", "category.c"].map(name);
        let is_link =
            |name: &Name| fs::symlink_metadata(&name.path).is_ok_and(|found| found.is_symlink());
        for own in &names[..2] {
            fs::write(&own.path, "# dbacl x").unwrap();
        }
        store.take_over(&names).unwrap();
        assert_eq!(names.each_ref().map(is_link), [true, true, false]);
        assert_eq!(fs::read(&names[0].path).unwrap(), b"# dbacl x");
        assert_eq!(Store::of_link(&names[1].path), Some((store.clone(), "category.b".into())));
        let change = store.change(&names, &mut |_| {}).unwrap();
        assert!(!change.is_linked, "the third is no link");
        let made = change.path(&names[2].member);
        assert_eq!(store.known(&made), store.current_link().join("category.c"));
        assert_eq!(store.known(&names[0].path), names[0].path);
        fs::write(made, "# dbacl z").unwrap();
        fs::remove_file(change.path(&names[1].member)).unwrap();
        change.publish(Force::All).unwrap();
        store.link_names(&names).unwrap();
        store.unlink_names(&names);
        assert_eq!(names.each_ref().map(is_link), [true, false, true]);
        let shown = now(&store);
        let order = shown.folder.join("order");
        let known = store.in_current(shown.number, &order);
        assert_eq!(known, store.current_link().join("order"));
        assert_eq!(store.in_current(1, &order), order);
        // Another file is not replaced, neither is a folder.
        fs::write(&names[1].path, "mine").unwrap();
        assert!(matches!(store.change(&names, &mut |_| {}), Err(Error::Occupied { .. })));
        fs::remove_file(&names[1].path).unwrap();
        fs::create_dir(&names[1].path).unwrap();
        assert!(matches!(store.change(&names, &mut |_| {}), Err(Error::Occupied { .. })));
    }

    #[test]
    fn a_copy_with_a_folder_in_place_of_the_link_is_a_set() {
        let (_room, store) = two_generations();
        let folder = store.folder_of(now(&store).number);
        fs::remove_file(store.current_link()).unwrap();
        fs::rename(folder, store.current_link()).unwrap();
        assert_eq!(now(&store).read(OsStr::new("ledger")).unwrap(), b"ledger two");
        publish(&store);
        assert!(fs::symlink_metadata(store.current_link()).unwrap().is_symlink());
        assert_eq!(now(&store).read(OsStr::new("category.ham")).unwrap(), b"ham");
    }
}
