// SPDX-License-Identifier: GPL-3.0-or-later
//! Finds the files of a mail folder, in the order in which they are read.
//!
//! | given | read |
//! |---|---|
//! | a file | its messages, if it is an mbox file, else one message |
//! | a Maildir: a folder with `cur` and `new` | the files in these two |
//! | an MH folder: a folder with `.mh_sequences` | files whose names are numbers |
//! | a folder with files | each file is one message |
//! | a folder with nothing but folders | those of its folders that are Maildirs or MH folders |
//!
//! What cannot be read is an error and never passed over: a filter without a part of its mail would
//! look like one that was learned from all of it. Only what is not there (any more) is left out,
//! because mail programs move and remove mail at any time.

use crate::error::{Error, Result};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A file with mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailFile {
    /// Where it is.
    pub path: PathBuf,
    /// Whether it may hold several messages.
    pub may_be_mailbox: bool,
    /// Whether it was found in a listing: if it is gone when it is to be read, it is left out.
    pub may_be_gone: bool,
}

impl MailFile {
    /// A file that a user has named.
    pub const fn named(path: PathBuf) -> Self {
        Self { path, may_be_mailbox: true, may_be_gone: false }
    }

    /// A message in a folder.
    pub const fn in_folder(path: PathBuf) -> Self {
        Self { path, may_be_mailbox: false, may_be_gone: true }
    }
}

/// The files of the mail folder at `path`; none if there is no mail in it.
///
/// # Errors
/// [`Error::Io`] with the path of what cannot be listed, or of a file that cannot be reached.
pub fn files_of(path: &Path) -> Result<Vec<MailFile>> {
    let found = fs::metadata(path).map_err(|error| Error::io(path, error))?;
    if !found.is_dir() {
        return Ok(vec![MailFile::named(path.to_path_buf())]);
    }
    let messages = if let Some(messages) = maildir(path)? {
        messages
    } else {
        let Folder { files, folders } = Folder::read(path)?;
        let files = messages_among(files);
        if files.is_empty() { messages_below(&folders)? } else { files }
    };
    Ok(messages.into_iter().map(MailFile::in_folder).collect())
}

/// The messages of a Maildir; `None` if `path` is not a Maildir.
fn maildir(path: &Path) -> Result<Option<Vec<PathBuf>>> {
    let parts = ["cur", "new"].map(|part| path.join(part));
    for part in &parts {
        if !found(part)?.is_some_and(|found| found.is_dir()) {
            return Ok(None);
        }
    }
    let mut messages = Vec::new();
    for part in &parts {
        messages.extend(Folder::read(part)?.files);
    }
    Ok(Some(messages))
}

/// The messages in Maildirs and MH folders among `folders`.
fn messages_below(folders: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut messages = Vec::new();
    for folder in folders {
        if let Some(found) = maildir(folder)? {
            messages.extend(found);
        } else {
            let files = Folder::read(folder)?.files;
            messages.extend(files.into_iter().filter(|path| is_number(path)));
        }
    }
    Ok(messages)
}

/// The files of a folder that are messages.
fn messages_among(mut files: Vec<PathBuf>) -> Vec<PathBuf> {
    if files.iter().any(|path| path.file_name() == Some(OsStr::new(".mh_sequences"))) {
        files.retain(|path| is_number(path));
    }
    files
}

/// What is at `path`, links followed; `None` if there is nothing.
fn found(path: &Path) -> Result<Option<fs::Metadata>> {
    use io::ErrorKind::{NotADirectory, NotFound};
    match fs::metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => Ok(None),
        Err(error) => Err(Error::io(path, error)),
    }
}

fn is_number(path: &Path) -> bool {
    let name = path.file_name().map_or(&[][..], OsStr::as_bytes);
    !name.is_empty() && name.iter().all(u8::is_ascii_digit)
}

/// The contents of a folder, following links, sorted bytewise by name.
struct Folder {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

impl Folder {
    fn read(folder: &Path) -> Result<Self> {
        let failed = |error: io::Error| Error::io(folder, error);
        let mut names = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            names.push(entry.map_err(failed)?.file_name().into_vec());
        }
        names.sort_unstable();
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        for name in names {
            let path = folder.join(OsString::from_vec(name));
            match found(&path)? {
                Some(found) if found.is_file() => files.push(path),
                Some(found) if found.is_dir() => folders.push(path),
                // The file was removed meanwhile, is a link to a file that does not exist, or is a
                // pipe.
                _ => {}
            }
        }
        Ok(Self { files, folders })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_all_kinds_are_found() {
        let room = tempfile::tempdir().unwrap();
        let at = |name: &str| room.path().join(name);
        for file in [
            "plain/b",
            "plain/a",
            "plain/sub/c",
            "mh/.mh_sequences",
            "mh/10",
            "mh/9",
            "mh/,8",
            "maildir/cur/1:2,S",
            "maildir/new/0",
            "maildir/tmp/2",
            "maildir/.Junk/cur/3",
            "maildir/dovecot-uidlist",
            "parent/one/cur/a",
            "parent/one/tmp/no",
            "parent/two/cur/d",
            "parent/two/new/c",
            "parent/three/12",
            "parent/three/notes",
            "parent/.hidden/cur/z",
        ] {
            fs::create_dir_all(at(file).parent().unwrap()).unwrap();
            fs::write(at(file), "Subject: x\n").unwrap();
        }
        for folder in ["parent/one/new", "parent/.hidden/new", "empty/sub", "maildir/.Junk/new"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for (given, expected) in [
            ("plain", &["plain/a", "plain/b"][..]),
            ("mh", &["mh/10", "mh/9"]),
            ("maildir", &["maildir/cur/1:2,S", "maildir/new/0"]),
            (
                "parent",
                &[
                    "parent/.hidden/cur/z",
                    "parent/one/cur/a",
                    "parent/three/12",
                    "parent/two/cur/d",
                    "parent/two/new/c",
                ],
            ),
            ("empty", &[]),
        ] {
            let found = files_of(&at(given)).unwrap();
            assert!(found.iter().all(|file| !file.may_be_mailbox));
            let found: Vec<PathBuf> = found.into_iter().map(|file| file.path).collect();
            let expected: Vec<PathBuf> = expected.iter().map(|name| at(name)).collect();
            assert_eq!(found, expected, "{given}");
        }
        let file = files_of(&at("plain/a")).unwrap();
        assert_eq!(file, [MailFile::named(at("plain/a"))]);
        assert!(matches!(files_of(&at("none")), Err(Error::Io { .. })));
    }
}
