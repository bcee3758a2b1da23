// SPDX-License-Identifier: GPL-3.0-or-later
//! Files that are whole at every moment, locks that let one process at a time change what belongs
//! together, and a way to read files that waits for nobody.
//!
//! ```
//! use dbacl_files::atomic_file::{Disk, SaveError, replace};
//! use dbacl_files::lock::{Lock, Patience, USUAL_LIMIT};
//! use std::fs;
//! use std::sync::atomic::AtomicBool;
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! let stop = AtomicBool::new(false); // a handler of signals would set it
//! let patience = Patience { limit: USUAL_LIMIT, stop: &stop };
//! let _lock = Lock::take(&folder.join("words.lock"), patience, &mut || eprintln!("waiting"))?;
//!
//! // Until the end the old file stays; what does not begin as our files do is never replaced.
//! let path = folder.join("words");
//! replace(&Disk, &path, b"# words", &mut |out| out.write_all(b"# words\nwhale\n"))?;
//! assert_eq!(fs::read(&path)?, b"# words\nwhale\n");
//! fs::write(&path, "a letter")?;
//! let refused = replace(&Disk, &path, b"# words", &mut |out| out.write_all(b"# words\n"));
//! assert!(matches!(refused, Err(SaveError::Occupied { .. })));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`atomic_file`] writes beside the target, forces the bytes onto the device, renames, and forces
//! the folder. [`lock`] takes locks that end with their process. Both follow no link that somebody
//! else may have put into a shared folder. They need a Unix system; the number of a lock's holder
//! is known on Linux only. [`reading`] opens regular files and refuses pipes and devices,
//! [`mod@format`] names what is not text, and [`access`] warns of files that anybody may write
//! to.

#![warn(missing_docs)]

#[cfg(not(unix))]
compile_error!("dbacl needs a Unix system, such as Linux, macOS, or WSL on Windows");

pub mod access;
pub mod atomic_file;
pub mod format;
pub mod lock;
pub mod reading;

/// Makes a named pipe that has no reader and no writer.
#[cfg(test)]
fn make_pipe(path: &std::path::Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.expect("mkfifo starts").success());
}
