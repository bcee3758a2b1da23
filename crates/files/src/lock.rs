// SPDX-License-Identifier: GPL-3.0-or-later
//! Locks between processes: one at a time changes what belongs together.
//!
//! A lock is an empty file beside what it protects, which its holder has locked. Nobody waits for
//! ever: there is a limit, a signal ends the wait, and whoever waits in vain learns which process
//! holds it.

use crate::atomic_file::{folder_of, is_named};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time between two tries.
const PAUSE: Duration = Duration::from_millis(20);

/// How long programs wait if nothing else is said.
pub const USUAL_LIMIT: Duration = Duration::from_secs(10);

/// How long to wait for a lock.
#[derive(Debug, Clone, Copy)]
pub struct Patience<'a> {
    /// The longest wait.
    pub limit: Duration,
    /// Ends the wait early once it is set.
    pub stop: &'a AtomicBool,
}

/// Why there is no lock.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody else has it.
    #[error("{} is held by {}", path.display(), holder_text(*holder))]
    Held {
        /// The lock's file.
        path: PathBuf,
        /// Number of the process that has it, if the system says.
        holder: Option<u32>,
    },
    /// A signal ended the wait.
    #[error("stopped while waiting for {}", path.display())]
    Stopped {
        /// The lock's file.
        path: PathBuf,
    },
    /// The lock's file cannot be made or used, or the file system has no locks.
    #[error("{}: {source}", path.display())]
    Unusable {
        /// The lock's file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

/// How messages name the holder of a lock: `process 4242`.
pub fn holder_text(holder: Option<u32>) -> String {
    holder.map_or_else(|| "another process".into(), |pid| format!("process {pid}"))
}

/// A lock that is held; it ends with its value, or with the process.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    _file: File,
    /// Whether this process has made the file.
    is_new: bool,
    /// Whether its file goes away at the end.
    pub vanishes: bool,
}

impl Lock {
    /// Takes the lock with the file `path`, which is made if it is not there. `waits` is called
    /// once if somebody else has it.
    ///
    /// # Errors
    /// [`LockError`]
    pub fn take(
        path: &Path,
        patience: Patience<'_>,
        waits: &mut dyn FnMut(),
    ) -> Result<Self, LockError> {
        let unusable = |source| LockError::Unusable { path: path.to_path_buf(), source };
        let start = Instant::now();
        let mut waited = false;
        loop {
            if patience.stop.load(Ordering::Relaxed) {
                return Err(LockError::Stopped { path: path.to_path_buf() });
            }
            let (file, is_new) = open(path).map_err(unusable)?;
            match file.try_lock() {
                // A holder that has gone may have taken the file's name with it.
                Ok(()) if is_named(&file, path).map_err(unusable)? => {
                    let path = path.to_path_buf();
                    return Ok(Self { path, _file: file, is_new, vanishes: false });
                }
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    if start.elapsed() >= patience.limit {
                        let holder = holder(&file);
                        return Err(LockError::Held { path: path.to_path_buf(), holder });
                    }
                    if !std::mem::replace(&mut waited, true) {
                        waits();
                    }
                    sleep(PAUSE.min(patience.limit.saturating_sub(start.elapsed())));
                }
                Err(TryLockError::Error(error)) => return Err(unusable(error)),
            }
        }
    }

    /// The same lock, whose file goes away at the end.
    #[must_use]
    pub const fn vanishing(mut self) -> Self {
        self.vanishes = true;
        self
    }

    /// The same lock, whose file goes away at the end if it was made for this lock, so that a
    /// change that is refused leaves nothing behind. After a change [`Self::vanishes`] must be set
    /// to false.
    #[must_use]
    pub const fn provisional(mut self) -> Self {
        self.vanishes = self.is_new;
        self
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.vanishes {
            // If it stays it is free: the lock ends with the process.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The empty regular file at `path` itself, and whether it is new: no link is followed.
fn open(path: &Path) -> io::Result<(File, bool)> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(flags);
    let (file, is_new) = loop {
        match options.open(path) {
            // Another user's file can be locked without being written to.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
                break (opened.map_err(|_| error)?, false);
            }
            Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
                return Err(taken());
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => break (opened?, false),
        }
        match options.clone().create_new(true).mode(ALONE).open(path) {
            // Another process has made it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => {
                let file = made?;
                give_access(&file, path);
                break (file, true);
            }
        }
    };
    let metadata = file.metadata()?;
    if metadata.is_file() && metadata.len() == 0 { Ok((file, is_new)) } else { Err(taken()) }
}

/// The mode of a lock that its owner alone may take.
const ALONE: u32 = 0o600;

/// Gives a new lock its mode, whatever the umask, and its group and owner. It is its owner's alone,
/// unless the folder's group may write in the folder: then this group may take the lock, and has to
/// open it for that. A lock that the superuser makes belongs to the owner of the folder. Where that
/// is not permitted the lock is its maker's alone.
fn give_access(file: &File, path: &Path) {
    let mut mode = ALONE;
    if let Ok(folder) = fs::metadata(folder_of(path)) {
        if rustix::process::geteuid().is_root() && folder.uid() != 0 {
            let _ = fchown(file, Some(folder.uid()), Some(folder.gid()));
        }
        let is_shared = folder.mode() & 0o020 != 0;
        if is_shared && fchown(file, None, Some(folder.gid())).is_ok() {
            mode |= 0o040;
        }
    }
    let _ = file.set_permissions(Permissions::from_mode(mode));
}

fn taken() -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, "the name of the lock is used for something else")
}

/// How often the list of locks is read before the holder counts as unknown. Linux hands the list
/// out in pages, and leaves out lines when other locks come and go between two pages: with three
/// busy processes, 0.7 % of the readings lacked a lock that was held all the time.
#[cfg(target_os = "linux")]
const READINGS: usize = 8;

/// The process that has locked `file`; only Linux says which one.
#[cfg(not(target_os = "linux"))]
const fn holder(_: &File) -> Option<u32> {
    None
}

/// The process that has locked `file`, as Linux reports in `/proc/locks`.
#[cfg(target_os = "linux")]
fn holder(file: &File) -> Option<u32> {
    use rustix::fs::{major, minor};
    let metadata = file.metadata().ok()?;
    let device = (major(metadata.dev()), minor(metadata.dev()));
    (0..READINGS).find_map(|_| {
        let locks = fs::read_to_string("/proc/locks").ok()?;
        holder_in(&locks, device, metadata.ino())
    })
}

/// Looks for the holder in lines such as `1: FLOCK  ADVISORY  WRITE 4242 08:01:131 0 EOF`. Some
/// file systems have other numbers of devices there: the file's number on any will do if there is
/// one only.
#[cfg(any(target_os = "linux", test))]
fn holder_in(locks: &str, device: (u32, u32), number: u64) -> Option<u32> {
    let mut found = Vec::new();
    for line in locks.lines() {
        let mut fields = line.split_ascii_whitespace().skip(1);
        if fields.next() != Some("FLOCK") {
            continue;
        }
        let (Some(pid), Some(place)) = (fields.nth(2), fields.next()) else { continue };
        let mut parts = place.split(':');
        let mut hexadecimal = || u32::from_str_radix(parts.next()?, 16).ok();
        let (Some(major), Some(minor)) = (hexadecimal(), hexadecimal()) else { continue };
        let is_number = parts.next().and_then(|text| text.parse().ok()) == Some(number);
        if let (true, Ok(pid @ 1..)) = (is_number, pid.parse()) {
            found.push(((major, minor) == device, pid));
        }
    }
    match found.iter().find(|(is_device, _)| *is_device) {
        Some(&(_, pid)) => Some(pid),
        None if found.len() == 1 => Some(found[0].1),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static FREE: AtomicBool = AtomicBool::new(false);

    fn take(path: &Path, limit: Duration, stop: &AtomicBool) -> Result<Lock, LockError> {
        Lock::take(path, Patience { limit, stop }, &mut || {})
    }

    #[test]
    fn a_lock_is_private_unless_the_group_may_write_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        for (of_folder, expected) in [(0o700, 0o600), (0o755, 0o600), (0o770, 0o640)] {
            fs::set_permissions(folder.path(), Permissions::from_mode(of_folder)).unwrap();
            let path = folder.path().join("x.lock");
            let lock = take(&path, Duration::ZERO, &FREE).unwrap();
            let mode = fs::metadata(&path).unwrap().mode() & 0o777;
            assert_eq!(mode, expected, "{mode:o} in {of_folder:o}");
            drop(lock.vanishing());
        }
    }

    #[test]
    fn a_lock_that_the_superuser_makes_belongs_to_the_owner_of_the_folder() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::chown(folder.path(), Some(12345), Some(12346)).unwrap();
        let path = folder.path().join("x.lock");
        let _lock = take(&path, Duration::ZERO, &FREE).unwrap();
        let found = fs::metadata(&path).unwrap();
        assert_eq!((found.uid(), found.gid()), (12345, 12346));
    }

    #[test]
    fn a_lock_is_waited_for_within_limits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.lock");
        let stop = AtomicBool::new(false);
        let held = take(&path, Duration::ZERO, &stop).unwrap();
        let error = take(&path, Duration::from_millis(50), &stop).unwrap_err();
        let LockError::Held { holder, .. } = error else { panic!("{error}") };
        if Path::new("/proc/locks").exists() {
            assert_eq!(holder, Some(std::process::id()));
        }
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| take(&path, Duration::from_secs(60), &stop).map(|_| ()));
            sleep(Duration::from_millis(50));
            drop(held);
            waits.join().unwrap().unwrap();
        });
        assert!(path.exists());
        drop(take(&path, Duration::ZERO, &stop).unwrap().vanishing());
        assert!(!path.exists());
    }

    #[test]
    fn a_lock_of_a_refused_change_leaves_no_file_unless_it_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.lock");
        let lock = || take(&path, Duration::ZERO, &FREE).unwrap().provisional();
        drop(lock());
        assert!(!path.exists());
        lock().vanishes = false;
        assert!(path.exists());
        drop(lock());
        assert!(path.exists());
    }

    #[test]
    fn a_signal_ends_the_wait() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.lock");
        let stop = AtomicBool::new(false);
        let _held = take(&path, Duration::ZERO, &stop).unwrap();
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| take(&path, Duration::from_secs(60), &stop).map(|_| ()));
            sleep(Duration::from_millis(50));
            stop.store(true, Ordering::Relaxed);
            assert!(matches!(waits.join().unwrap(), Err(LockError::Stopped { .. })));
        });
    }

    #[test]
    fn what_is_no_empty_file_is_no_lock() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::os::unix::fs::symlink(at("nowhere"), at("dangling")).unwrap();
        fs::write(at("text"), "precious").unwrap();
        fs::write(at("empty"), "").unwrap();
        std::os::unix::fs::symlink(at("empty"), at("link")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        crate::make_pipe(&at("fifo"));
        for name in ["dangling", "text", "link", "folder", "fifo"] {
            let error = take(&at(name), Duration::ZERO, &FREE).unwrap_err();
            assert!(matches!(error, LockError::Unusable { .. }), "{name}: {error}");
        }
        assert!(!at("nowhere").exists());
    }

    #[test]
    fn holders_are_found_by_device_and_number() {
        let locks = "1: POSIX  ADVISORY  WRITE 11 08:01:131 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 12 08:02:131 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 13 08:02:131 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 14 fd:0a:131 0 EOF\n\
                     4: FLOCK  ADVISORY  WRITE 15 08:02:7 0 EOF\n\
                     5: FLOCK  ADVISORY  WRITE 0 08:02:9 0 EOF\nodd\n5: FLOCK\n";
        for (device, number, expected) in [
            ((8, 2), 131, Some(12)),
            ((0xfd, 10), 131, Some(14)),
            ((1, 1), 131, None),
            ((1, 1), 7, Some(15)),
            ((8, 2), 9, None),
            ((8, 2), 8, None),
        ] {
            assert_eq!(holder_in(locks, device, number), expected, "{device:?} {number}");
        }
    }
}
