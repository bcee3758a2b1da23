// SPDX-License-Identifier: GPL-3.0-or-later
//! Replacing files so that each is whole at every moment: written beside the target, synced,
//! renamed over it, the folder synced. Of files that belong together all are replaced or none.
//!
//! All file operations go through [`Storage`], so that tests can let each of them fail in turn.
//!
//! The folder may belong to several users. Nothing is followed or written that another of them has
//! put in the place of a temporary; a file that is replaced keeps its mode and, where that can be,
//! its group.

use crate::reading::if_there;
use rustix::fs::OFlags;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

/// Why a file could not be replaced; the old one is kept.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// The target exists and is none of ours.
    #[error("the file {} is already used for something", path.display())]
    Occupied {
        /// The target.
        path: PathBuf,
    },
    /// No temporary file can be created beside the target.
    #[error("cannot open tempfile for writing {}: {source}", path.display())]
    Temporary {
        /// The target.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The operating system refused to read or write a file.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder concerned.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The file was replaced, but its folder could not be forced onto the device.
    #[error(
        "{} was replaced, but a power cut may bring the old file back, because its folder cannot \
         be forced onto the device: {source}",
        path.display()
    )]
    Unforced {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// Of files that belong together one could not be replaced, and another one, which had been
    /// replaced before, could not get its old content back.
    #[error("{}: {source}; {} has its new content all the same", path.display(), new.display())]
    Divided {
        /// The file that has its old content.
        path: PathBuf,
        /// A file that has its new content.
        new: PathBuf,
        /// What the operating system said about the first.
        source: io::Error,
    },
}

impl SaveError {
    fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_path_buf(), source }
    }
}

/// Temporary names tried: `TARGET.tmp.0` to `TARGET.tmp.99`.
const TEMPORARIES: u32 = 100;

/// Who may use a file that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// As the reference creates files: mode 0640, less the umask.
    Usual,
    /// The user alone, whatever the umask.
    Private,
    /// As the file that it replaces.
    Like {
        /// The permission bits.
        mode: u32,
        /// The number of the group.
        group: u32,
    },
}

impl Access {
    /// The widest mode that a file with this access has.
    const fn mode(self) -> u32 {
        match self {
            Self::Usual => 0o640,
            Self::Private => 0o600,
            Self::Like { mode, .. } => mode,
        }
    }

    /// Gives a file that was just created its mode and group. A group that it may not have gets no
    /// access. Returns whether it has the group.
    ///
    /// # Errors
    /// The mode cannot be set.
    pub fn apply(self, file: &File) -> io::Result<bool> {
        let (mode, is_in_group) = match self {
            Self::Usual => return Ok(true),
            Self::Private => (0o600, true),
            Self::Like { mode, group } => {
                let is_in_group = file.metadata().is_ok_and(|file| file.gid() == group)
                    || fchown(file, None, Some(group)).is_ok();
                // Another group gets no more than all others had.
                let others = mode & !0o070 | (mode & 0o007) << 3 & mode;
                (if is_in_group { mode } else { others }, is_in_group || mode == others)
            }
        };
        file.set_permissions(Permissions::from_mode(mode)).map(|()| is_in_group)
    }
}

/// An open temporary file. Errors are those of the operating system.
#[allow(clippy::missing_errors_doc)]
pub trait Draft: Write {
    /// Forces what was written onto the device.
    fn sync(&mut self) -> io::Result<()>;
}

/// The file operations of saving: those of the operating system with its errors, unless they are
/// replaced.
#[allow(clippy::missing_errors_doc)]
pub trait Storage {
    /// The first bytes, up to `length`, of what is at `path`, and who may use it; no bytes if it is
    /// no regular file, and `None` when there is nothing.
    fn beginning(&self, path: &Path, length: usize) -> io::Result<Option<(Vec<u8>, Access)>> {
        let Some(entry) = entry(path)? else { return Ok(None) };
        let (mut beginning, mut access) = (Vec::new(), Access::Usual);
        if entry.is_file()
            && let Some(file) = open_as_is(path)?
        {
            let metadata = file.metadata()?;
            access = Access::Like { mode: metadata.mode() & 0o777, group: metadata.gid() };
            file.take(length as u64).read_to_end(&mut beginning)?;
        }
        Ok(Some((beginning, access)))
    }

    /// Creates the file `path`, which must not exist, or be what a killed learner left: a regular
    /// file of our own with one name, no wider mode than `access`, that nobody holds and that is
    /// empty or begins with `ours`. Such a file goes away; the new one is always new.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] when the name is taken.
    fn create(&self, path: &Path, ours: &[u8], access: Access) -> io::Result<Box<dyn Draft>> {
        let mode = if access == Access::Usual { access.mode() } else { 0o600 };
        let open = || OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
        let file = match open() {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if !remove_stale(path, ours, access)? {
                    return Err(error);
                }
                open()?
            }
            opened => opened?,
        };
        // The lock shows other learners that this temporary is in use. Until it is taken another
        // may take the name over, even save a file of its own under the final name.
        let taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        if taken || !is_named(&file, path)? {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        // What the file system does not let us do leaves the file to the user alone.
        let _ = access.apply(&file);
        Ok(Box::new(file))
    }

    /// Gives the file `from` the name `to`, replacing what had it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    /// Gives the file `from` a second name `to`, which must be free.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    /// Forces what was written to a temporary file onto the device.
    fn force(&self, draft: &mut dyn Draft) -> io::Result<()> {
        draft.sync()
    }

    /// Forces the folder's entries onto the device.
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        match File::open(folder)?.sync_all() {
            // Some file systems cannot sync a folder and say so.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            done => done,
        }
    }

    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
}

/// The real thing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl Draft for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

impl Storage for Disk {}

/// The disk without forcing anything onto the device: for files that can be made again from others,
/// and are replaced often. A killed process leaves them whole; a power cut may not.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unforced;

impl Storage for Unforced {
    fn force(&self, _: &mut dyn Draft) -> io::Result<()> {
        Ok(())
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// `path` with `ending` after it.
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// The folder that `path` is in.
pub fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Removes a file, if it is there.
///
/// # Errors
/// Those of the operating system.
pub fn remove_if_there(path: &Path) -> io::Result<()> {
    if_there(fs::remove_file(path)).map(|_| ())
}

/// What is at `path`, itself if it is a link; `None` when there is nothing (any more).
fn entry(path: &Path) -> io::Result<Option<fs::Metadata>> {
    if_there(fs::symlink_metadata(path))
}

/// Whether `path` is (still) a name of the open `file`.
///
/// # Errors
/// Those of the operating system.
pub fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    is_at(&file.metadata()?, path)
}

/// The same for a file of which this is known.
///
/// # Errors
/// Those of the operating system.
pub fn is_at(held: &fs::Metadata, path: &Path) -> io::Result<bool> {
    Ok(entry(path)?.is_some_and(|named| held.ino() == named.ino() && held.dev() == named.dev()))
}

/// The regular file at `path` itself, open for reading; `None` if there is something else: no link
/// is followed, and nothing is waited for.
fn open_as_is(path: &Path) -> io::Result<Option<File>> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    Ok(file.metadata()?.is_file().then_some(file))
}

/// Removes what a killed learner left at `path`; returns whether that is done. All is looked at on
/// the open file, which is locked, so that the name cannot be given to another of ours meanwhile. A
/// file that goes away was in use: its learner has ended.
fn remove_stale(path: &Path, ours: &[u8], access: Access) -> io::Result<bool> {
    // Opening a device can have effects.
    if !entry(path)?.is_some_and(|found| found.is_file()) {
        return Ok(false);
    }
    let Ok(Some(mut file)) = open_as_is(path) else {
        return Ok(false);
    };
    let found = file.metadata()?;
    let is_own = found.uid() == rustix::process::geteuid().as_raw()
        && found.nlink() == 1
        && found.mode() & 0o7777 & !access.mode() == 0;
    if !is_own || file.try_lock().is_err() {
        return Ok(false);
    }
    let mut beginning = Vec::new();
    (&mut file).take(ours.len() as u64).read_to_end(&mut beginning)?;
    if !is_named(&file, path)? || !ours.starts_with(&beginning) {
        return Ok(false);
    }
    Ok(fs::remove_file(path).is_ok())
}

/// Makes a folder, and those that it is in, unless they are there. The names of new ones are forced
/// onto the device, so that a power cut does not take what is written into them.
///
/// # Errors
/// Those of the operating system.
pub fn make_folder(path: &Path) -> io::Result<()> {
    let is_new = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
    let new: Vec<&Path> = path.ancestors().take_while(is_new).collect();
    fs::create_dir_all(path)?;
    new.iter().rev().try_for_each(|folder| force_name(folder))
}

/// Forces the name of a new folder onto the device.
fn force_name(folder: &Path) -> io::Result<()> {
    match Disk.sync_folder(folder_of(folder)) {
        // A folder that others own may be entered, but not read.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        forced => forced,
    }
}

/// Makes a folder that is the user's alone, whatever the umask, and those above it as usual. A
/// folder that is there stays as it is.
///
/// # Errors
/// Those of the operating system.
pub fn private_folder(path: &Path) -> io::Result<()> {
    make_folder(folder_of(path))?;
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => {
            fs::set_permissions(path, Permissions::from_mode(0o700)).and_then(|()| force_name(path))
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Whether `target` may be replaced: it does not exist, or begins with `ours`. Who may use it if it
/// is there.
///
/// # Errors
/// [`SaveError::Occupied`] when it may not, [`SaveError::Io`] when it cannot be told.
pub fn check_target(
    storage: &dyn Storage,
    target: &Path,
    ours: &[u8],
) -> Result<Option<Access>, SaveError> {
    let found = storage.beginning(target, ours.len());
    match found.map_err(|error| SaveError::io(target, error))? {
        Some((beginning, _)) if beginning != ours => {
            Err(SaveError::Occupied { path: target.to_path_buf() })
        }
        found => Ok(found.map(|(_, access)| access)),
    }
}

/// Replaces `target` by what `write` writes. Until the very end the old file stays as it is; when
/// anything fails the temporary is removed. The new file has the old one's mode, or the usual one
/// if there was none.
///
/// # Errors
/// [`SaveError::Occupied`] when `target` exists and does not begin with `ours`;
/// [`SaveError::Temporary`] when no temporary can be created beside it; [`SaveError::Io`] else.
pub fn replace(
    storage: &dyn Storage,
    target: &Path,
    ours: &[u8],
    write: &mut dyn FnMut(&mut dyn Draft) -> io::Result<()>,
) -> Result<(), SaveError> {
    replace_with_access(storage, target, ours, Access::Usual, write)
}

/// Writes a program's result to the path that its user named. A file is replaced as a whole, so it
/// is never half written; a pipe, a device, or the file that a link leads to is written into.
///
/// # Errors
/// Those of [`replace`].
pub fn write_output(path: &Path, bytes: &[u8]) -> Result<(), SaveError> {
    if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
        let written = fs::write(path, bytes);
        return written.map_err(|source| SaveError::Io { path: path.to_path_buf(), source });
    }
    replace(&Disk, path, b"", &mut |out| out.write_all(bytes))
}

/// As [`replace`], with `access` if there is no old file.
///
/// # Errors
/// Those of [`replace`].
pub fn replace_with_access(
    storage: &dyn Storage,
    target: &Path,
    ours: &[u8],
    access: Access,
    write: &mut dyn FnMut(&mut dyn Draft) -> io::Result<()>,
) -> Result<(), SaveError> {
    let staged = stage(storage, target, ours, access, write)?;
    // Nothing can fail afterwards for which the old content would be needed.
    place_by(vec![staged], |_| Old::Unknown)?.force()
}

/// A new content that is on the device and does not have its file's name yet. If it is dropped, the
/// file stays as it is.
pub struct Staged<'a> {
    storage: &'a dyn Storage,
    /// The file that gets the new content.
    pub target: PathBuf,
    temporary: PathBuf,
    /// Holds the lock that shows other learners that the temporary is in use.
    draft: Box<dyn Draft>,
    is_placed: bool,
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if !self.is_placed {
            // What stays behind is harmless: the next learner takes it over.
            let _ = self.storage.remove(&self.temporary);
        }
    }
}

/// Writes the new content of `target` beside it, with `access` if there is no old file.
///
/// # Errors
/// Those of [`replace`].
pub fn stage<'a>(
    storage: &'a dyn Storage,
    target: &Path,
    ours: &[u8],
    access: Access,
    write: &mut dyn FnMut(&mut dyn Draft) -> io::Result<()>,
) -> Result<Staged<'a>, SaveError> {
    let access = check_target(storage, target, ours)?.unwrap_or(access);
    let (temporary, draft) = temporary(storage, target, ours, access)?;
    let target = target.to_path_buf();
    let mut staged = Staged { storage, target, temporary, draft, is_placed: false };
    let draft = &mut staged.draft;
    let written = write(&mut **draft).and_then(|()| storage.force(&mut **draft));
    written.map_err(|error| SaveError::io(&staged.target, error))?;
    Ok(staged)
}

/// Replaces files that belong together, in their order. If one cannot be replaced, those before it
/// get their old contents back, as far as the file system knows second names for files. A process
/// that is killed in between leaves the first of them new and the others old.
///
/// # Errors
/// [`SaveError::Io`]: no file was replaced; [`SaveError::Divided`].
pub fn place(staged: Vec<Staged<'_>>) -> Result<Placed<'_>, SaveError> {
    place_by(staged, |file| keep(file.storage, &file.target))
}

/// Replaces files; `keep` says what is known of each file as it was.
fn place_by<'a>(
    staged: Vec<Staged<'a>>,
    keep: impl Fn(&Staged<'a>) -> Old,
) -> Result<Placed<'a>, SaveError> {
    let mut placed = Placed { files: Vec::new() };
    for file in staged {
        let old = keep(&file);
        if let Err(error) = file.storage.rename(&file.temporary, &file.target) {
            if let Old::Kept(path) = &old {
                let _ = file.storage.remove(path);
            }
            let (path, source) = (file.target.clone(), error);
            // If a file keeps its new content, the error says so.
            return Err(match placed.withdraw() {
                Ok(()) => SaveError::Io { path, source },
                Err(new) => SaveError::Divided { path, new, source },
            });
        }
        placed.files.push((file, old));
        if let Some((file, _)) = placed.files.last_mut() {
            file.is_placed = true;
        }
    }
    Ok(placed)
}

/// What a file was before it was replaced.
enum Old {
    /// It was not there.
    Nothing,
    /// It has this name now.
    Kept(PathBuf),
    /// It is gone.
    Unknown,
}

/// Gives the file `target` a second name, if there is one.
fn keep(storage: &dyn Storage, target: &Path) -> Old {
    match entry(target) {
        Ok(None) => return Old::Nothing,
        Ok(Some(_)) => {}
        Err(_) => return Old::Unknown,
    }
    for number in 0..TEMPORARIES {
        let path = beside(target, &format!(".tmp.{number}"));
        match storage.link(target, &path) {
            Ok(()) => return Old::Kept(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(_) => break,
        }
    }
    Old::Unknown
}

/// Files that were replaced and can still be given their old contents back.
pub struct Placed<'a> {
    files: Vec<(Staged<'a>, Old)>,
}

impl Placed<'_> {
    /// Gives all files their old contents back.
    ///
    /// # Errors
    /// The path of a file that keeps its new content.
    pub fn withdraw(mut self) -> Result<(), PathBuf> {
        let mut done = Ok(());
        for (file, old) in self.files.drain(..).rev() {
            let undone = match &old {
                Old::Nothing => file.storage.remove(&file.target).is_ok(),
                Old::Kept(path) => file.storage.rename(path, &file.target).is_ok(),
                Old::Unknown => false,
            };
            if !undone {
                done = Err(file.target.clone());
            }
        }
        done
    }

    /// Forces the folders of the files onto the device; the old contents go away.
    ///
    /// # Errors
    /// [`SaveError::Unforced`]
    pub fn force(self) -> Result<(), SaveError> {
        let mut forced: Vec<&Path> = Vec::new();
        for (file, _) in &self.files {
            let folder = folder_of(&file.target);
            if !forced.contains(&folder) {
                let path = || file.target.clone();
                let done = file.storage.sync_folder(folder);
                done.map_err(|source| SaveError::Unforced { path: path(), source })?;
                forced.push(folder);
            }
        }
        Ok(())
    }
}

impl Drop for Placed<'_> {
    fn drop(&mut self) {
        for (file, old) in &self.files {
            if let Old::Kept(path) = old {
                let _ = file.storage.remove(path);
            }
        }
    }
}

fn temporary(
    storage: &dyn Storage,
    target: &Path,
    ours: &[u8],
    access: Access,
) -> Result<(PathBuf, Box<dyn Draft>), SaveError> {
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for number in 0..TEMPORARIES {
        let path = beside(target, &format!(".tmp.{number}"));
        match storage.create(&path, ours, access) {
            Ok(draft) => return Ok((path, draft)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => {
                last = error;
                break;
            }
        }
    }
    Err(SaveError::Temporary { path: target.to_path_buf(), source: last })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// A disk on which the n-th operation fails.
    struct Failing {
        left: Cell<u32>,
    }

    impl Failing {
        fn step(&self) -> io::Result<()> {
            let left = self.left.get();
            self.left.set(left.saturating_sub(1));
            if left == 1 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
    }

    struct FailingDraft<'a>(Box<dyn Draft>, &'a Failing);

    impl Write for FailingDraft<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1.step()?;
            self.0.write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            self.0.flush()
        }
    }

    impl Draft for FailingDraft<'_> {
        fn sync(&mut self) -> io::Result<()> {
            self.1.step()?;
            self.0.sync()
        }
    }

    impl Storage for &'static Failing {
        fn beginning(&self, path: &Path, length: usize) -> io::Result<Option<(Vec<u8>, Access)>> {
            self.step()?;
            Disk.beginning(path, length)
        }
        fn create(&self, path: &Path, ours: &[u8], access: Access) -> io::Result<Box<dyn Draft>> {
            self.step()?;
            Ok(Box::new(FailingDraft(Disk.create(path, ours, access)?, self)))
        }
        fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
            self.step()?;
            Disk.rename(from, to)
        }
        fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
            self.step()?;
            Disk.link(from, to)
        }
        fn sync_folder(&self, folder: &Path) -> io::Result<()> {
            self.step()?;
            Disk.sync_folder(folder)
        }
    }

    const OURS: &[u8] = b"# dbacl 1.";

    fn save(storage: &dyn Storage, target: &Path, text: &[u8]) -> Result<(), SaveError> {
        replace(storage, target, OURS, &mut |out| {
            text.chunks(4).try_for_each(|piece| out.write_all(piece))
        })
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn whichever_operation_fails_the_file_is_old_or_new_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("cat");
        let (old, new) = (b"# dbacl 1.old".as_slice(), b"# dbacl 1.new and longer".as_slice());
        for (failures, n) in (1..100).enumerate() {
            fs::write(&target, old).unwrap();
            let storage: &'static Failing = Box::leak(Box::new(Failing { left: Cell::new(n) }));
            let result = save(&storage, &target, new);
            let found = fs::read(&target).unwrap();
            assert_eq!(names(folder.path()), ["cat"], "operation {n}");
            if result.is_ok() {
                assert_eq!(found, new);
                assert_eq!(failures + 1, n as usize, "each operation before failed the save");
                assert!(n > 8);
                return;
            }
            // Only the sync of the folder comes after the rename.
            assert!(found == old || found == new, "operation {n}");
        }
        panic!("never succeeded");
    }

    #[test]
    fn of_files_that_belong_together_all_are_replaced_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let old = |name: &str| [OURS, b"old ", name.as_bytes()].concat();
        let new = |name: &str| [OURS, b"new ", name.as_bytes()].concat();
        let all = ["a", "b", "c"];
        for (failures, n) in (1..100).enumerate() {
            // The second is new.
            for name in ["a", "c"] {
                fs::write(at(name), old(name)).unwrap();
            }
            let _ = fs::remove_file(at("b"));
            let storage: &'static Failing = Box::leak(Box::new(Failing { left: Cell::new(n) }));
            let staged: Result<Vec<_>, _> = all
                .iter()
                .map(|name| {
                    let mut write = |out: &mut dyn Draft| out.write_all(&new(name));
                    stage(&storage, &at(name), OURS, Access::Usual, &mut write)
                })
                .collect();
            let result = staged.and_then(place).and_then(Placed::force);
            let is_new = all.map(|name| fs::read(at(name)).is_ok_and(|found| found == new(name)));
            match &result {
                Ok(()) | Err(SaveError::Unforced { .. }) => assert_eq!(is_new, [true; 3], "{n}"),
                // The file system has refused a second name, and the last rename has failed.
                Err(SaveError::Divided { .. }) => panic!("operation {n}: only one fails"),
                Err(_) => {
                    assert_eq!(is_new, [false; 3], "operation {n}");
                    assert_eq!(fs::read(at("a")).unwrap(), old("a"), "operation {n}");
                    assert!(!at("b").exists(), "operation {n}");
                }
            }
            let left: Vec<String> =
                names(folder.path()).into_iter().filter(|name| name.len() > 1).collect();
            assert_eq!(left, [""; 0], "operation {n}");
            if result.is_ok() && storage.left.get() > 0 {
                assert!(failures > 15, "{failures}");
                return;
            }
        }
        panic!("never succeeded");
    }

    #[test]
    fn what_cannot_be_put_back_is_told() {
        struct NoLinks(Cell<u32>);
        impl Storage for NoLinks {
            fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
                self.0.set(self.0.get() + 1);
                if self.0.get() == 2 {
                    Err(io::ErrorKind::StorageFull.into())
                } else {
                    Disk.rename(from, to)
                }
            }
            fn link(&self, _: &Path, _: &Path) -> io::Result<()> {
                Err(io::ErrorKind::Unsupported.into())
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let storage = NoLinks(Cell::new(0));
        let staged = ["a", "b"].map(|name| {
            let path = folder.path().join(name);
            fs::write(&path, OURS).unwrap();
            let mut write = |out: &mut dyn Draft| out.write_all(b"# dbacl 1.new");
            stage(&storage, &path, OURS, Access::Usual, &mut write).unwrap()
        });
        let error = place(staged.into()).err().unwrap();
        assert!(
            matches!(&error, SaveError::Divided { path, new, .. }
                if path.ends_with("b") && new.ends_with("a")),
            "{error}"
        );
        assert_eq!(names(folder.path()), ["a", "b"]);
    }

    #[test]
    fn a_foreign_file_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        for content in ["precious", "", "# dbacl 2.0"] {
            let target = folder.path().join("data");
            fs::write(&target, content).unwrap();
            assert!(matches!(save(&Disk, &target, OURS), Err(SaveError::Occupied { .. })));
            assert_eq!(fs::read_to_string(&target).unwrap(), content);
        }
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("nowhere", &link).unwrap();
        assert!(matches!(save(&Disk, &link, OURS), Err(SaveError::Occupied { .. })));
        assert!(matches!(save(&Disk, folder.path(), OURS), Err(SaveError::Occupied { .. })));
        let refused = save(&Disk, &folder.path().join("none/cat"), OURS).unwrap_err();
        assert!(refused.to_string().contains("none/cat: No such file"), "{refused}");
    }

    #[test]
    fn taken_temporary_names_are_passed_over_and_stale_ones_taken() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("cat.tmp.0"), "somebody's notes").unwrap();
        std::os::unix::fs::symlink("nowhere", at("cat.tmp.1")).unwrap();
        fs::write(at("cat.tmp.2"), "# dbacl 1.14.1 half a file").unwrap();
        fs::set_permissions(at("cat.tmp.2"), Permissions::from_mode(0o640)).unwrap();
        save(&Disk, &at("cat"), b"# dbacl 1.x").unwrap();
        assert_eq!(names(folder.path()), ["cat", "cat.tmp.0", "cat.tmp.1"]);
        assert_eq!(fs::read(at("cat")).unwrap(), b"# dbacl 1.x");
    }

    #[test]
    fn temporaries_that_others_could_reach_are_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let left = b"# dbacl 1.14.1 half a file";
        let precious = at("precious");
        fs::write(&precious, left).unwrap();
        fs::hard_link(&precious, at("cat.tmp.0")).unwrap();
        fs::write(at("cat.tmp.1"), left).unwrap();
        fs::set_permissions(at("cat.tmp.1"), Permissions::from_mode(0o666)).unwrap();
        crate::make_pipe(&at("cat.tmp.2"));
        std::os::unix::fs::symlink(&precious, at("cat.tmp.3")).unwrap();
        save(&Disk, &at("cat"), b"# dbacl 1.x").unwrap();
        assert_eq!(fs::read(&precious).unwrap(), left);
        assert_eq!(fs::read(at("cat.tmp.1")).unwrap(), left);
        assert_eq!(fs::metadata(at("cat")).unwrap().nlink(), 1);
        assert_eq!(names(folder.path()).len(), 6);
        // Only root can leave a file that is another user's.
        if rustix::process::geteuid().is_root() {
            fs::write(at("cat.tmp.4"), left).unwrap();
            fs::set_permissions(at("cat.tmp.4"), Permissions::from_mode(0o640)).unwrap();
            std::os::unix::fs::chown(at("cat.tmp.4"), Some(12345), None).unwrap();
            save(&Disk, &at("cat"), b"# dbacl 1.y").unwrap();
            assert_eq!(fs::read(at("cat.tmp.4")).unwrap(), left);
            assert_eq!(fs::metadata(at("cat")).unwrap().uid(), 0);
        }
    }

    #[test]
    fn a_file_that_is_replaced_keeps_its_mode_and_new_ones_have_theirs() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("cat");
        let mode = || fs::metadata(&target).unwrap().mode() & 0o7777;
        save(&Disk, &target, b"# dbacl 1.x").unwrap();
        let usual = mode();
        assert_eq!(usual & !0o640, 0);
        for mode_then in [0o600, 0o640, 0o644, 0o660, 0o400] {
            fs::set_permissions(&target, Permissions::from_mode(mode_then)).unwrap();
            // What a killed learner left does not change that.
            fs::write(beside(&target, ".tmp.0"), "# dbacl 1.half").unwrap();
            let left = Permissions::from_mode(mode_then & 0o600);
            fs::set_permissions(beside(&target, ".tmp.0"), left).unwrap();
            save(&Disk, &target, b"# dbacl 1.y").unwrap();
            assert_eq!(mode(), mode_then);
            assert_eq!(names(folder.path()), ["cat"]);
        }
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&target, None, Some(12345)).unwrap();
            save(&Disk, &target, b"# dbacl 1.z").unwrap();
            assert_eq!(fs::metadata(&target).unwrap().gid(), 12345);
        }
        fs::remove_file(&target).unwrap();
        let mut write = |out: &mut dyn Draft| out.write_all(OURS);
        replace_with_access(&Disk, &target, OURS, Access::Private, &mut write).unwrap();
        assert_eq!(mode(), 0o600);
        let private = folder.path().join("a/b");
        private_folder(&private).unwrap();
        private_folder(&private).unwrap();
        assert_eq!(fs::metadata(&private).unwrap().mode() & 0o7777, 0o700);
        assert!(private_folder(&target).is_err());
    }

    #[test]
    fn a_temporary_that_is_being_written_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("cat");
        let mut first = Disk.create(&folder.path().join("cat.tmp.0"), OURS, Access::Usual).unwrap();
        first.write_all(b"# dbacl 1.first").unwrap();
        save(&Disk, &target, b"# dbacl 1.second").unwrap();
        assert_eq!(names(folder.path()), ["cat", "cat.tmp.0"]);
        // One that goes away while it is looked at was in use.
        assert!(!remove_stale(&folder.path().join("cat.tmp.1"), OURS, Access::Usual).unwrap());
    }

    #[test]
    fn an_open_file_is_told_from_another_of_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("cat.tmp.0"), folder.path().join("cat"));
        let file = File::create(&first).unwrap();
        assert!(is_named(&file, &first).unwrap());
        fs::rename(&first, &second).unwrap();
        assert!(!is_named(&file, &first).unwrap());
        File::create(&first).unwrap();
        assert!(!is_named(&file, &first).unwrap());
    }

    #[test]
    fn output_replaces_files_and_is_written_into_what_is_none() {
        let room = tempfile::tempdir().unwrap();
        let at = |name: &str| room.path().join(name);
        for name in ["page", "behind"] {
            fs::write(at(name), "old").unwrap();
            fs::hard_link(at(name), at(&format!("{name} before"))).unwrap();
        }
        std::os::unix::fs::symlink("behind", at("link")).unwrap();
        for name in ["page", "new", "link"] {
            write_output(&at(name), b"new").unwrap();
            assert_eq!(fs::read(at(name)).unwrap(), b"new", "{name}");
        }
        write_output(Path::new("/dev/null"), b"new").unwrap();
        assert!(at("link").is_symlink() && fs::read(at("behind before")).unwrap() == b"new");
        assert_eq!(fs::read(at("page before")).unwrap(), b"old");
    }

    #[test]
    fn savers_at_the_same_time_all_end_well_and_leave_one_whole_file() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("cat");
        let texts: Vec<Vec<u8>> =
            (b'a'..b'g').map(|letter| [OURS, [letter; 40].as_slice()].concat()).collect();
        std::thread::scope(|scope| {
            for text in &texts {
                let target = &target;
                scope.spawn(move || {
                    for _ in 0..300 {
                        save(&Unforced, target, text).unwrap();
                        assert_eq!(fs::read(target).unwrap().len(), text.len());
                    }
                });
            }
        });
        assert!(texts.contains(&fs::read(&target).unwrap()));
        assert_eq!(names(folder.path()), ["cat"]);
    }
}
