// SPDX-License-Identifier: GPL-3.0-or-later
//! Replacing a file so that it is whole at every moment: written beside the target, synced, renamed
//! over it, the folder synced.
//!
//! All file operations go through [`Storage`], so that tests can let each of them fail in turn.

use crate::error::{Error, Result};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Temporary names tried: `TARGET.tmp.0` to `TARGET.tmp.99`.
const TEMPORARIES: u32 = 100;

/// Permissions of new files, less the umask.
const MODE: u32 = 0o640;

/// An open temporary file.
pub trait Draft: Write {
    /// Forces what was written onto the device.
    ///
    /// # Errors
    /// Those of the operating system.
    fn sync(&mut self) -> io::Result<()>;
}

/// The file operations of saving.
pub trait Storage {
    /// The first bytes of the file at `path`, up to `length`; `None` when there is no file.
    ///
    /// # Errors
    /// Those of the operating system; also when something else than a regular file is there.
    fn beginning(&self, path: &Path, length: usize) -> io::Result<Option<Vec<u8>>>;

    /// Creates the file `path`, which must not exist, or takes over one that a killed learner left:
    /// a regular file that nobody holds and that is empty or begins with `ours`.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] when the name is taken; others of the operating system.
    fn create(&self, path: &Path, ours: &[u8]) -> io::Result<Box<dyn Draft>>;

    /// Gives the file `from` the name `to`, replacing what had it.
    ///
    /// # Errors
    /// Those of the operating system.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Forces the folder's entries onto the device.
    ///
    /// # Errors
    /// Those of the operating system.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// Those of the operating system.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// The real thing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl Draft for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

impl Storage for Disk {
    fn beginning(&self, path: &Path, length: usize) -> io::Result<Option<Vec<u8>>> {
        let Some(found) = entry(path)? else {
            return Ok(None);
        };
        if !found.is_file() {
            return Ok(Some(Vec::new()));
        }
        let mut bytes = Vec::new();
        File::open(path)?.take(length as u64).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    fn create(&self, path: &Path, ours: &[u8]) -> io::Result<Box<dyn Draft>> {
        let created = OpenOptions::new().write(true).create_new(true).mode(MODE).open(path);
        let file = match created {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Ok(Box::new(stale(path, ours)?.ok_or(error)?));
            }
            Err(error) => return Err(error),
        };
        // The lock tells other learners that this temporary is in use. Until it is taken another may
        // take the file over, even save it under its final name.
        let taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        if taken || !is_named(&file, path)? {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Ok(Box::new(file))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        match File::open(folder)?.sync_all() {
            // Some file systems cannot sync a folder and say so.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            done => done,
        }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
}

/// The disk without forcing anything onto the device: for files that can be made anew from others, and
/// are replaced often. A killed process leaves them whole; a power cut may not.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unforced;

/// A draft whose bytes reach the device when the system likes.
struct UnforcedDraft(Box<dyn Draft>);

impl Write for UnforcedDraft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Draft for UnforcedDraft {
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Storage for Unforced {
    fn beginning(&self, path: &Path, length: usize) -> io::Result<Option<Vec<u8>>> {
        Disk.beginning(path, length)
    }

    fn create(&self, path: &Path, ours: &[u8]) -> io::Result<Box<dyn Draft>> {
        Ok(Box::new(UnforcedDraft(Disk.create(path, ours)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        Disk.rename(from, to)
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        Disk.remove(path)
    }
}

/// `path` with `ending` behind it.
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// What is at `path`, itself if it is a link; `None` when there is nothing (any more).
fn entry(path: &Path) -> io::Result<Option<fs::Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether `path` is (still) a name of the open `file`.
///
/// # Errors
/// Those of the operating system.
pub(crate) fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    let held = file.metadata()?;
    Ok(entry(path)?.is_some_and(|named| held.ino() == named.ino() && held.dev() == named.dev()))
}

/// The file at `path`, locked and emptied, if it is what a killed learner left. A file that goes away meanwhile
/// was in use: its learner has ended.
fn stale(path: &Path, ours: &[u8]) -> io::Result<Option<File>> {
    if !entry(path)?.is_some_and(|found| found.is_file()) {
        return Ok(None);
    }
    let Ok(mut file) = OpenOptions::new().read(true).write(true).open(path) else {
        return Ok(None);
    };
    if file.try_lock().is_err() {
        return Ok(None);
    }
    let mut beginning = Vec::new();
    (&mut file).take(ours.len() as u64).read_to_end(&mut beginning)?;
    if !is_named(&file, path)? || !ours.starts_with(&beginning) {
        return Ok(None);
    }
    file.set_len(0)?;
    io::Seek::rewind(&mut file)?;
    Ok(Some(file))
}

/// Whether `target` may be replaced: it does not exist, or begins with `ours`.
///
/// # Errors
/// [`Error::Occupied`] when it may not, [`Error::Io`] when it cannot be told.
pub fn check_target(storage: &dyn Storage, target: &Path, ours: &[u8]) -> Result<()> {
    let beginning =
        storage.beginning(target, ours.len()).map_err(|error| Error::io(target, error))?;
    match beginning {
        Some(beginning) if beginning != ours => Err(Error::Occupied { path: target.to_path_buf() }),
        _ => Ok(()),
    }
}

/// Replaces `target` by what `write` writes. Until the very end the old file stays as it is; when
/// anything fails the temporary is removed.
///
/// # Errors
/// [`Error::Occupied`] when `target` exists and does not begin with `ours`;
/// [`Error::Temporary`] when no temporary can be created beside it; [`Error::Io`] else.
pub fn replace(
    storage: &dyn Storage,
    target: &Path,
    ours: &[u8],
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    check_target(storage, target, ours)?;
    let (temporary, mut draft) = temporary(storage, target, ours)?;
    let written = write(&mut AsWrite(&mut *draft)).and_then(|()| draft.sync());
    let done = written.and_then(|()| storage.rename(&temporary, target));
    if let Err(error) = done {
        // What stays behind is harmless: the next learner takes it over.
        let _ = storage.remove(&temporary);
        return Err(Error::io(target, error));
    }
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    storage.sync_folder(folder).map_err(|error| Error::io(folder, error))
}

/// A draft as a plain writer.
struct AsWrite<'a>(&'a mut dyn Draft);

impl Write for AsWrite<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn temporary(
    storage: &dyn Storage,
    target: &Path,
    ours: &[u8],
) -> Result<(PathBuf, Box<dyn Draft>)> {
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for number in 0..TEMPORARIES {
        let path = beside(target, &format!(".tmp.{number}"));
        match storage.create(&path, ours) {
            Ok(draft) => return Ok((path, draft)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => {
                last = error;
                break;
            }
        }
    }
    Err(Error::Temporary { path: target.to_path_buf(), source: last })
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
        fn beginning(&self, path: &Path, length: usize) -> io::Result<Option<Vec<u8>>> {
            self.step()?;
            Disk.beginning(path, length)
        }
        fn create(&self, path: &Path, ours: &[u8]) -> io::Result<Box<dyn Draft>> {
            self.step()?;
            Ok(Box::new(FailingDraft(Disk.create(path, ours)?, self)))
        }
        fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
            self.step()?;
            Disk.rename(from, to)
        }
        fn sync_folder(&self, folder: &Path) -> io::Result<()> {
            self.step()?;
            Disk.sync_folder(folder)
        }
        fn remove(&self, path: &Path) -> io::Result<()> {
            Disk.remove(path)
        }
    }

    const OURS: &[u8] = b"# dbacl 1.";

    fn save(storage: &dyn Storage, target: &Path, text: &[u8]) -> Result<()> {
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
    fn a_foreign_file_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        for content in ["precious", "", "# dbacl 2.0"] {
            let target = folder.path().join("data");
            fs::write(&target, content).unwrap();
            assert!(matches!(save(&Disk, &target, OURS), Err(Error::Occupied { .. })));
            assert_eq!(fs::read_to_string(&target).unwrap(), content);
        }
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("nowhere", &link).unwrap();
        assert!(matches!(save(&Disk, &link, OURS), Err(Error::Occupied { .. })));
        assert!(matches!(save(&Disk, folder.path(), OURS), Err(Error::Occupied { .. })));
    }

    #[test]
    fn taken_temporary_names_are_passed_over_and_stale_ones_taken() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("cat.tmp.0"), "somebody's notes").unwrap();
        std::os::unix::fs::symlink("nowhere", at("cat.tmp.1")).unwrap();
        fs::write(at("cat.tmp.2"), "# dbacl 1.14.1 half a file").unwrap();
        save(&Disk, &at("cat"), b"# dbacl 1.x").unwrap();
        assert_eq!(names(folder.path()), ["cat", "cat.tmp.0", "cat.tmp.1"]);
        assert_eq!(fs::read(at("cat")).unwrap(), b"# dbacl 1.x");
    }

    #[test]
    fn a_temporary_that_is_being_written_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("cat");
        let mut first = Disk.create(&folder.path().join("cat.tmp.0"), OURS).unwrap();
        first.write_all(b"# dbacl 1.first").unwrap();
        save(&Disk, &target, b"# dbacl 1.second").unwrap();
        assert_eq!(names(folder.path()), ["cat", "cat.tmp.0"]);
    }

    #[test]
    fn a_temporary_that_goes_away_while_it_is_looked_at_was_in_use() {
        let folder = tempfile::tempdir().unwrap();
        assert!(stale(&folder.path().join("cat.tmp.0"), OURS).unwrap().is_none());
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
