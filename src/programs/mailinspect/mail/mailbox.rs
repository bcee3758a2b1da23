// SPDX-License-Identifier: GPL-3.0-or-later
//! The files of a mailbox: one mbox, or the messages of a folder.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Take};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::index::{Entry, Sink, index};
use super::judge::Judge;
use super::select::Selection;
use crate::error::{Error, Result, Warning, WarningSink};
use crate::input::source::{self, Operand};

/// A mailbox, whose files are opened when they are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mailbox {
    /// In their order.
    pub files: Vec<PathBuf>,
    is_folder: bool,
}

impl Mailbox {
    /// The mailbox at `path`: an mbox file; or a folder, whose files are messages or mboxes, those
    /// of its `cur` and `new` if it has these.
    pub(crate) fn new(path: &Path, warnings: WarningSink<'_>) -> Result<Self> {
        let one = Self { files: vec![path.to_path_buf()], is_folder: false };
        let metadata = path.metadata().map_err(|error| Error::io(path, error))?;
        // A pipe that is opened twice loses its writer in between.
        if !metadata.is_dir() && !metadata.is_file() {
            return Ok(one);
        }
        let Operand::Folder(mut files) = source::open(path.as_os_str(), warnings)? else {
            return Ok(one);
        };
        let (cur, new) = (path.join("cur"), path.join("new"));
        if cur.is_dir() && new.is_dir() {
            files.clear();
            for folder in [cur, new] {
                if let Operand::Folder(entries) = source::open(folder.as_os_str(), warnings)? {
                    files.extend(entries);
                }
            }
        }
        Ok(Self { files, is_folder: true })
    }

    /// Bytes of all files together, for a progress report.
    pub(crate) fn size(&self) -> u64 {
        let size = |path: &PathBuf| path.metadata().map_or(0, |metadata| metadata.len());
        self.files.iter().map(size).sum()
    }

    /// Calls `sink` for each message, in their order. A file that cannot be read to its end gives a
    /// warning.
    pub(crate) fn index(
        &self,
        judge: &mut Judge,
        selection: &mut Selection,
        warnings: WarningSink<'_>,
        sink: Sink<'_>,
    ) {
        for (number, path) in self.files.iter().enumerate() {
            let name = self.is_folder.then(|| OsStr::as_bytes(path.as_os_str()));
            let mut next = ControlFlow::Continue(());
            let mut watch = |entry| {
                next = sink(entry);
                next
            };
            let result = File::open(path).and_then(|file| {
                index(Box::new(file), number, name, judge, selection, warnings, &mut watch)
            });
            if let Err(error) = result {
                let path = path.display();
                warnings(Warning::new(format!("{path}: {error}, reading stopped there")));
            }
            if next.is_break() {
                return;
            }
        }
    }

    /// A message's bytes.
    pub(crate) fn open(&self, entry: &Entry) -> io::Result<Take<File>> {
        let path = self.files.get(entry.file).ok_or(io::ErrorKind::NotFound)?;
        let mut file = source::open_regular(path)?;
        file.seek(SeekFrom::Start(entry.place.start))?;
        Ok(file.take(entry.place.end.saturating_sub(entry.place.start)))
    }

    /// The first `limit` bytes of a message.
    pub(crate) fn read(&self, entry: &Entry, limit: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open(entry)?.take(limit).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::mailinspect::mail::sample;
    use std::fs;

    #[test]
    fn folders_and_files_are_read_and_messages_found_again() {
        let place = tempfile::tempdir().expect("a temporary folder");
        for folder in ["mail/cur", "mail/new", "mail/tmp"] {
            fs::create_dir_all(place.path().join(folder)).expect("a folder");
        }
        fs::write(place.path().join("mail/new/2"), "Subject: two\n\nb\n").expect("written");
        fs::write(place.path().join("mail/cur/1"), "Subject: one\n\na\n").expect("written");
        fs::write(place.path().join("mail/tmp/3"), "Subject: three\n\na\n").expect("written");
        fs::write(place.path().join("mbox"), "From a\n\none\n\nFrom b\n\ntwo\n").expect("written");
        for (name, expected) in [
            ("mail", ["Subject: one\n\na\n", "Subject: two\n\nb\n"]),
            ("mbox", ["From a\n\none\n\n", "From b\n\ntwo\n"]),
        ] {
            let mailbox = Mailbox::new(&place.path().join(name), &mut |_| {}).expect("it is there");
            let mut found = Vec::new();
            let mut judge = sample::judge(&[], false);
            mailbox.index(&mut judge, &mut Selection::default(), &mut |_| {}, &mut |entry| {
                found.push(mailbox.read(&entry, 1000).expect("readable"));
                ControlFlow::Continue(())
            });
            assert_eq!(found, expected.map(|text| text.as_bytes().to_vec()), "{name}");
        }
        assert!(Mailbox::new(&place.path().join("nothing"), &mut |_| {}).is_err());
    }
}
