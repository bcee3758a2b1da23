// SPDX-License-Identifier: GPL-3.0-or-later
//! Opening and reading files that must be regular ones: those that dbacl itself has written, and
//! those that a user names where no pipe makes sense.
//!
//! Opening a pipe with a name waits until somebody writes into it, and a device such as
//! `/dev/zero` has no end. The functions here wait for nobody, refuse both, and can limit how much
//! is read. Links are followed.

use rustix::fs::OFlags;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The most bytes of a file that is small by nature, such as a list of names or the head of a
/// larger file.
pub const SMALL: u64 = 1 << 20;

/// The options of opening a file without waiting for the other end of a pipe.
fn at_once() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    options
}

/// Opens a file of any kind without waiting, as opening a pipe with a name would.
///
/// # Errors
/// Those of the operating system.
pub fn open_at_once(path: &Path) -> io::Result<File> {
    at_once().open(path)
}

/// Opens a regular file; anything else, such as a pipe with a name, is refused at once.
///
/// # Errors
/// Those of the operating system; [`io::ErrorKind::InvalidInput`] for what is not a regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open_known(path).map(|(file, _)| file)
}

/// Opens a regular file as [`open_regular`] does; also returns its metadata, so that callers need
/// not ask the system again.
///
/// # Errors
/// Those of [`open_regular`].
pub fn open_known(path: &Path) -> io::Result<(File, Metadata)> {
    regular(open_at_once(path)?)
}

/// Opens a regular file to read it and to write into it. It must exist.
///
/// # Errors
/// Those of [`open_regular`].
pub fn open_to_change(path: &Path) -> io::Result<File> {
    // Opening a device to write can have effects, so the file is looked at first.
    open_regular(path)?;
    regular(at_once().write(true).open(path)?).map(|(file, _)| file)
}

fn regular(file: File) -> io::Result<(File, Metadata)> {
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok((file, found))
}

/// All bytes of a regular file.
///
/// # Errors
/// Those of [`open_regular`]; [`io::ErrorKind::OutOfMemory`] when there is no memory.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let (file, found) = open_known(path)?;
    let length = usize::try_from(found.len()).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length.saturating_add(1))?;
    // Reading with a limit does not ask the system once more how long the file is.
    file.take(u64::MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The first bytes of a regular file, at most `length`.
///
/// # Errors
/// Those of [`read_regular`].
pub fn read_beginning(path: &Path, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What was found; `None` if there is no such file.
///
/// # Errors
/// All others.
pub fn if_there<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

/// Whether there is a regular file at `path` that begins with `beginning`.
pub fn begins_with(path: &Path, beginning: &[u8]) -> bool {
    read_beginning(path, beginning.len() as u64).is_ok_and(|found| found == beginning)
}

/// All bytes of a regular file that is small by nature.
///
/// # Errors
/// Those of [`read_regular`]; [`io::ErrorKind::FileTooLarge`] for more than [`SMALL`] bytes.
pub fn read_small(path: &Path) -> io::Result<Vec<u8>> {
    let bytes = read_beginning(path, SMALL + 1)?;
    if bytes.len() as u64 > SMALL {
        let text = "larger than 1 MiB, which such a file never is";
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    Ok(bytes)
}

/// The text of a regular file that is small by nature.
///
/// # Errors
/// Those of [`read_small`]; [`io::ErrorKind::InvalidData`] for what is not UTF-8.
pub fn read_small_text(path: &Path) -> io::Result<String> {
    text(read_small(path)?)
}

/// The text of a regular file.
///
/// # Errors
/// Those of [`read_regular`]; [`io::ErrorKind::InvalidData`] for what is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    text(read_regular(path)?)
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    let not_utf8 = |_| io::Error::new(io::ErrorKind::InvalidData, "the text is not UTF-8");
    String::from_utf8(bytes).map_err(not_utf8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    /// Each function, as one that returns its error.
    type Reader = fn(&Path) -> io::Result<()>;

    const READERS: [Reader; 6] = [
        |path| open_regular(path).map(|_| ()),
        |path| open_to_change(path).map(|_| ()),
        |path| read_regular(path).map(|_| ()),
        |path| read_beginning(path, 3).map(|_| ()),
        |path| read_small(path).map(|_| ()),
        |path| read_small_text(path).map(|_| ()),
    ];

    #[test]
    fn what_is_no_regular_file_is_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        crate::make_pipe(&at("pipe"));
        symlink(at("pipe"), at("link")).unwrap();
        symlink("/dev/zero", at("zeros")).unwrap();
        let odd: [PathBuf; 4] = [at("pipe"), at("link"), at("zeros"), "/dev/null".into()];
        for path in odd {
            for reader in READERS {
                let error = reader(&path).unwrap_err();
                assert_eq!(error.to_string(), "not a regular file", "{}", path.display());
            }
            assert!(!begins_with(&path, b""), "{}", path.display());
        }
        for reader in READERS {
            assert_eq!(reader(&at("nothing")).unwrap_err().kind(), io::ErrorKind::NotFound);
        }
    }

    #[test]
    fn a_small_file_is_read_and_a_larger_one_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let link = folder.path().join("link");
        symlink("file", &link).unwrap();
        fs::write(&path, "# names\n").unwrap();
        assert_eq!(read_small_text(&link).unwrap(), "# names\n");
        assert_eq!(read_regular(&link).unwrap(), b"# names\n");
        assert!(begins_with(&link, b"# names") && !begins_with(&link, b"# names\n\n"));
        fs::write(&path, b"\xff").unwrap();
        assert_eq!(read_small_text(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
        for (length, is_small) in [(SMALL, true), (SMALL + 1, false), (1 << 40, false)] {
            // A file with holes needs no room on the device.
            File::create(&path).unwrap().set_len(length).unwrap();
            assert_eq!(read_small(&path).is_ok(), is_small, "{length}");
        }
        assert_eq!(read_small(&path).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}
