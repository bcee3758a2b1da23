// SPDX-License-Identifier: GPL-3.0-or-later
//! Finds the files of a mail folder, in the order in which they are read.
//!
//! | given | read |
//! |---|---|
//! | a file | its messages, if it is an mbox file, else one message |
//! | a Maildir: a folder with `cur` and `new` | the files in these two, one message each |
//! | an MH folder: a folder with `.mh_sequences` | files with numbers as names, one message each |
//! | any other folder | its files, each a mailbox or one message, and its folders likewise |
//!
//! Files of a folder that hold no mail, by their first bytes ([`crate::mail::contents`]), are left
//! out when they are read, and named.
//!
//! What cannot be read is an error and never passed over: a filter without a part of its mail would
//! look like one that was learned from all of it. Only what is not there (any more) is left out,
//! because mail programs move and remove mail at any time.

use crate::error::{Error, Result};
use hashbrown::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file with mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MailFile {
    /// Where it is.
    pub path: PathBuf,
    /// Whether it may hold several messages.
    pub may_be_mailbox: bool,
    /// Whether it was found in a listing: if it is gone when it is to be read, or is not mail, it
    /// is left out.
    pub is_listed: bool,
}

impl MailFile {
    /// A file that a user has named.
    pub(crate) const fn named(path: PathBuf) -> Self {
        Self { path, may_be_mailbox: true, is_listed: false }
    }

    /// What to call its message with this number, from 1; 0 is the only one.
    pub(crate) fn name_of(&self, number: u32) -> String {
        let place = self.path.display();
        if self.may_be_mailbox && number > 0 {
            format!("{place}, message {number}")
        } else {
            place.to_string()
        }
    }
}

/// The files of the mail folder at `path`; none if there is no mail in it.
pub(super) fn files_of(path: &Path) -> Result<Vec<MailFile>> {
    let found = fs::metadata(path).map_err(|error| Error::io(path, error))?;
    let mut list = List::default();
    if found.is_dir() {
        list.read(path)?;
    } else {
        list.files.push(MailFile::named(path.to_path_buf()));
    }
    Ok(list.files)
}

/// Files of mail folders, as they are found.
#[derive(Default)]
struct List {
    files: Vec<MailFile>,
    /// Devices and numbers of the folders that were read: links may lead to one twice.
    seen: HashSet<(u64, u64)>,
}

impl List {
    /// Adds the files of a folder, and of the folders in it.
    fn read(&mut self, path: &Path) -> Result<()> {
        let own = fs::metadata(path).map_err(|error| Error::io(path, error))?;
        if !self.seen.insert((own.dev(), own.ino())) {
            return Ok(());
        }
        if let Some(parts) = maildir(path)? {
            for part in parts {
                self.add(files_and_folders(&part)?.0, false);
            }
            return Ok(());
        }
        let (mut files, folders) = files_and_folders(path)?;
        if is_mh(&files) {
            files.retain(|path| is_number(path));
            self.add(files, false);
            return Ok(());
        }
        self.add(files, true);
        folders.iter().try_for_each(|folder| self.read(folder))
    }

    fn add(&mut self, paths: Vec<PathBuf>, may_be_mailbox: bool) {
        let file = |path| MailFile { path, may_be_mailbox, is_listed: true };
        self.files.extend(paths.into_iter().map(file));
    }
}

/// Whether files below the folder at `path` are read as its mail: it is neither a Maildir nor an MH
/// folder.
pub(super) fn reads_folders_of(path: &Path) -> Result<bool> {
    let is_folder = found(path)?.is_some_and(|found| found.is_dir());
    Ok(is_folder && maildir(path)?.is_none() && !is_mh(&files_and_folders(path)?.0))
}

/// The two folders with the messages of a Maildir; `None` if `path` is not a Maildir.
fn maildir(path: &Path) -> Result<Option<[PathBuf; 2]>> {
    let parts = ["cur", "new"].map(|part| path.join(part));
    for part in &parts {
        if !found(part)?.is_some_and(|found| found.is_dir()) {
            return Ok(None);
        }
    }
    Ok(Some(parts))
}

fn is_mh(files: &[PathBuf]) -> bool {
    files.iter().any(|path| path.file_name() == Some(OsStr::new(".mh_sequences")))
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

/// The files and the folders in a folder, following links, sorted bytewise by name.
fn files_and_folders(folder: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
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
    Ok((files, folders))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_all_kinds_are_found() {
        let room = tempfile::tempdir().unwrap();
        let at = |name: &str| room.path().join(name);
        let files = "plain/b plain/a plain/sub/c mh/.mh_sequences mh/10 mh/9 mh/,8 \
                     maildir/cur/1:2,S maildir/new/0 maildir/tmp/2 maildir/.Junk/cur/3 \
                     maildir/dovecot-uidlist parent/one/cur/a parent/one/tmp/no parent/two/cur/d \
                     parent/two/new/c parent/three/12 parent/three/notes parent/.hidden/cur/z";
        for file in files.split(' ') {
            fs::create_dir_all(at(file).parent().unwrap()).unwrap();
            fs::write(at(file), "Subject: x\n").unwrap();
        }
        for folder in ["parent/one/new", "parent/.hidden/new", "empty/sub", "maildir/.Junk/new"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for (given, expected) in [
            ("plain", "a b sub/c"),
            ("mh", "10 9"),
            ("maildir", "cur/1:2,S new/0"),
            ("parent", ".hidden/cur/z one/cur/a three/12 three/notes two/cur/d two/new/c"),
            ("empty", ""),
        ] {
            let reads_folders = !matches!(given, "mh" | "maildir");
            assert_eq!(reads_folders_of(&at(given)).unwrap(), reads_folders, "{given}");
            let found = files_of(&at(given)).unwrap();
            assert!(found.iter().all(|file| file.is_listed));
            for file in &found {
                let parent = file.path.parent().unwrap().file_name().unwrap();
                let is_single = ["cur", "new", "mh"].iter().any(|name| parent == *name);
                assert_eq!(file.may_be_mailbox, !is_single, "{file:?}");
            }
            let found: Vec<PathBuf> = found.into_iter().map(|file| file.path).collect();
            let expected = expected.split_whitespace().map(|name| at(given).join(name));
            let expected: Vec<PathBuf> = expected.collect();
            assert_eq!(found, expected, "{given}");
        }
        // A link to a folder above is not followed again.
        std::os::unix::fs::symlink("../..", at("plain/sub/up")).unwrap();
        std::os::unix::fs::symlink(".", at("plain/sub/self")).unwrap();
        assert_eq!(files_of(&at("plain")).unwrap().len(), 13);
        let file = files_of(&at("plain/a")).unwrap();
        assert_eq!(file, [MailFile::named(at("plain/a"))]);
        assert!(matches!(files_of(&at("none")), Err(Error::Io { .. })));
    }
}
