// SPDX-License-Identifier: GPL-3.0-or-later
//! Ledgers as files: reading, adding documents, replacing. Files of a set are changed in the folder
//! of its next generation ([`super::Change`]); the caller holds the lock.

use crate::error::Error;
use crate::fit::checksum::Checksum;
use crate::fit::documents::Term;
use crate::model::settings::{ModelOption, ModelOptions, Scheme};
use crate::store::ledger::{
    ANY_MAGIC, Fault, HEAD, Head, Ledger, MAGIC, Record, Settings, write_record, write_withdrawal,
};
use dbacl_files::atomic_file::{
    self, Draft, SaveError, Storage, Unforced, beside, remove_if_there,
};
use dbacl_files::checked::{Checked, Sums};
use dbacl_files::reading::{
    SMALL, begins_with, if_there, open_regular, open_to_change, read_beginning, read_regular,
    read_small,
};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Why a ledger, or a file that belongs to it, cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// There is no ledger.
    #[error("there is no ledger {}: learn with --keep", path.display())]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// The operating system refused to read it.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file concerned.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// It is not a ledger of this version, or is damaged.
    #[error("{}: {}", path.display(), fault.text())]
    Damaged {
        /// The file concerned.
        path: PathBuf,
        /// What is wrong with it.
        fault: Fault,
    },
    /// Its documents were read with other settings than those of the categories.
    #[error(
        "the ledger {} was kept with other options than these categories were learned with",
        path.display()
    )]
    OtherOptions {
        /// The ledger.
        path: PathBuf,
    },
    /// A document cannot be added; the ledger is unchanged.
    #[error("cannot write {}: {source}; the old file is unchanged", path.display())]
    Unwritable {
        /// The file concerned.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A file of something else has the name that is to be written.
    #[error("the file {} is already used for something. Nothing written.", path.display())]
    Occupied {
        /// The file concerned.
        path: PathBuf,
    },
    /// A file cannot be replaced; the old one is as it was, unless the source says otherwise.
    #[error("{}", unsaved_text(path, source))]
    Unsaved {
        /// The file concerned.
        path: PathBuf,
        /// Why.
        source: Box<Error>,
    },
}

impl LedgerError {
    /// The path in the error, to be replaced where users know the file by another name.
    pub const fn path_mut(&mut self) -> &mut PathBuf {
        match self {
            Self::Missing { path }
            | Self::Unreadable { path, .. }
            | Self::Damaged { path, .. }
            | Self::OtherOptions { path }
            | Self::Unwritable { path, .. }
            | Self::Occupied { path }
            | Self::Unsaved { path, .. } => path,
        }
    }
}

fn unsaved_text(path: &Path, source: &Error) -> String {
    if let Error::HalfSaved(source) = source {
        return source.to_string();
    }
    format!("could not save {}: {source}; the old file is unchanged", path.display())
}

fn unreadable(path: &Path, source: io::Error) -> LedgerError {
    LedgerError::Unreadable { path: path.to_path_buf(), source }
}

fn damaged(path: &Path, fault: Fault) -> LedgerError {
    LedgerError::Damaged { path: path.to_path_buf(), fault }
}

fn unwritable(path: &Path, source: io::Error) -> LedgerError {
    LedgerError::Unwritable { path: path.to_path_buf(), source }
}

/// The settings that decide the features of documents. Options that concern only learning or scores
/// are left out.
pub fn settings(
    options: ModelOptions,
    scheme: Scheme,
    order: u8,
    patterns: &[Vec<u8>],
) -> Settings {
    let mut options = options;
    for option in [
        ModelOption::Entropy,
        ModelOption::Multinomial,
        ModelOption::Overflow,
        ModelOption::ReferenceOnly,
    ] {
        options.remove(option);
    }
    let mut sum = Checksum::default();
    for pattern in patterns {
        sum.bytes(pattern);
    }
    let patterns = if patterns.is_empty() { 0 } else { sum.value() };
    Settings { options, scheme, order, patterns }
}

/// Whether a file begins as a ledger.
pub fn is_ledger(path: &Path) -> bool {
    begins_with(path, ANY_MAGIC)
}

/// Reads and checks a whole ledger; `None` if there is no file.
///
/// # Errors
/// A ledger that cannot be read or is damaged.
pub fn load(path: &Path) -> Result<Option<Ledger>, LedgerError> {
    let bytes = if_there(read_regular(path)).map_err(|error| unreadable(path, error))?;
    let Some(bytes) = bytes else { return Ok(None) };
    let head = match head_of(path)? {
        Some(head) if bytes.starts_with(MAGIC) => Ok(head),
        _ => Head::parse(&bytes),
    };
    let parsed = head.and_then(|head| Ledger::parse_with(head, &bytes));
    parsed.map(Some).map_err(|fault| damaged(path, fault))
}

/// The ending of the name of a file with a ledger's head. Generations of a set share the ledger's
/// file, and each has a head of its own that says how many documents are in it.
pub const HEAD_FILE: &str = ".head";

/// The head in the file beside a ledger; `None` if there is none.
fn head_of(path: &Path) -> Result<Option<Head>, LedgerError> {
    let path = beside(path, HEAD_FILE);
    let bytes = if_there(read_small(&path)).map_err(|error| unreadable(&path, error))?;
    let head = bytes.map(|bytes| Head::parse(&bytes)).transpose();
    head.map_err(|fault| damaged(&path, fault))
}

/// Reads the head of a ledger.
///
/// # Errors
/// A ledger that is missing or damaged.
pub fn head(path: &Path) -> Result<Head, LedgerError> {
    let file = open_regular(path).map_err(|error| unreadable(path, error))?;
    head_in(path, &file)
}

/// The head of the ledger at `path`, which is open at its beginning.
fn head_in(path: &Path, file: &File) -> Result<Head, LedgerError> {
    if let Some(head) = head_of(path)? {
        return Ok(head);
    }
    let mut beginning = Vec::new();
    let read = file.take(SMALL).read_to_end(&mut beginning);
    read.map_err(|error| unreadable(path, error))?;
    Head::parse(&beginning).map_err(|fault| damaged(path, fault))
}

/// Writes the head of the ledger at `path` beside it.
fn write_head(path: &Path, head: &Head) -> Result<(), LedgerError> {
    replace(&Unforced, &beside(path, HEAD_FILE), ANY_MAGIC, &head.bytes())
}

/// Whether there is a file at `path`.
///
/// # Errors
/// [`LedgerError::Unreadable`] when that cannot be found out.
pub fn exists(path: &Path) -> Result<bool, LedgerError> {
    path.try_exists().map_err(|error| unreadable(path, error))
}

/// The head of the ledger at `path` in the file beside it is removed, so that the head in the
/// ledger itself counts.
///
/// # Errors
/// It cannot be removed.
pub fn remove_head(path: &Path) -> Result<(), LedgerError> {
    let path = beside(path, HEAD_FILE);
    remove_if_there(&path).map_err(|error| unwritable(&path, error))
}

/// Puts a ledger of a set in place of whatever is there.
///
/// # Errors
/// It cannot be written.
pub fn put(path: &Path, ledger: &Ledger) -> Result<(), LedgerError> {
    remove_if_there(path).map_err(|error| unwritable(path, error))?;
    remove_head(path)?;
    save(path, ledger)
}

/// Gives the generation that is being made its own copy of a ledger that has no head file yet.
///
/// # Errors
/// It cannot be copied.
pub fn unshare(path: &Path) -> Result<(), LedgerError> {
    if !exists(path)? || head_of(path)?.is_some() {
        return Ok(());
    }
    let bytes = read_regular(path).map_err(|error| unreadable(path, error))?;
    let removed = std::fs::remove_file(path).and_then(|()| std::fs::write(path, bytes));
    removed.map_err(|error| unwritable(path, error))
}

/// Writes the head from the file beside a ledger into the ledger, for users who copy the ledger.
/// dbacl itself reads the head files of the generations.
pub fn copy_head(path: &Path) {
    let Ok(Some(head)) = head_of(path) else { return };
    let Ok(file) = open_to_change(path) else { return };
    let bytes = head.bytes();
    let mut old = vec![0; bytes.len()];
    let is_old = file.read_exact_at(&mut old, 0).is_ok() && old != bytes;
    // The head is written only if it belongs to the same ledger and its size has not changed.
    if is_old && old[MAGIC.len() + HEAD..] == bytes[MAGIC.len() + HEAD..] {
        let _ = file.write_all_at(&bytes, 0);
    }
}

/// Reads a ledger that must be there and fit `settings`.
///
/// # Errors
/// A ledger that is missing, damaged or of other features.
pub fn load_fitting(path: &Path, settings: &Settings) -> Result<Ledger, LedgerError> {
    let missing = || LedgerError::Missing { path: path.to_path_buf() };
    let ledger = load(path)?.ok_or_else(missing)?;
    check(path, &ledger.head, settings)?;
    Ok(ledger)
}

/// Whether the documents of a ledger have features of `settings`.
///
/// # Errors
/// They have not.
pub fn check(path: &Path, head: &Head, settings: &Settings) -> Result<(), LedgerError> {
    if head.settings == *settings {
        return Ok(());
    }
    Err(LedgerError::OtherOptions { path: path.to_path_buf() })
}

/// Removes a file that a power failure has left empty, or cut within the `magic` that it begins
/// with, so that it can be replaced.
pub fn remove_cut(path: &Path, magic: &[u8]) {
    let size = magic.len() as u64;
    let is_short = std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() < size);
    if is_short && read_beginning(path, size).is_ok_and(|bytes| magic.starts_with(&bytes)) {
        let _ = std::fs::remove_file(path); // if that fails, replacing it does
    }
}

/// Replaces a ledger of a set.
///
/// # Errors
/// It cannot be written.
pub fn save(path: &Path, ledger: &Ledger) -> Result<(), LedgerError> {
    replace(&Unforced, path, ANY_MAGIC, &ledger.bytes())?;
    write_head(path, &ledger.head)
}

/// Replaces a file that begins with `ours`.
///
/// # Errors
/// It cannot be written; the old one is kept.
pub fn replace(
    storage: &dyn Storage,
    path: &Path,
    ours: &[u8],
    bytes: &[u8],
) -> Result<(), LedgerError> {
    replace_with(storage, path, ours, &mut |out| out.write_all(bytes))
}

/// Replaces a file that begins with `ours` by what `write` writes.
///
/// # Errors
/// It cannot be written; the old one is kept.
pub fn replace_with(
    storage: &dyn Storage,
    path: &Path,
    ours: &[u8],
    write: &mut dyn FnMut(&mut dyn Draft) -> io::Result<()>,
) -> Result<(), LedgerError> {
    let path = path.to_path_buf();
    atomic_file::replace(storage, &path, ours, write).map_err(|error| match error {
        SaveError::Occupied { path } => LedgerError::Occupied { path },
        error => LedgerError::Unsaved { path, source: Box::new(error.into()) },
    })
}

/// An open ledger that documents are added to, without reading those that are there.
#[derive(Debug)]
pub struct OpenLedger {
    path: PathBuf,
    /// What was there when it was opened is checked when it is read.
    file: Checked,
    /// Where what counts ended when it was opened.
    end: u64,
    /// The head of the ledger.
    pub head: Head,
}

impl OpenLedger {
    /// Opens a ledger, whose blocks have these checksums if it has any. What a change that failed
    /// has left after its end is cut off.
    ///
    /// # Errors
    /// A ledger that is missing or damaged.
    pub fn new(path: &Path, sums: Option<Sums>) -> Result<Self, LedgerError> {
        let file = open_to_change(path);
        let file = file.map_err(|error| unreadable(path, error))?;
        let (ledger, length) = Self::of(path, file, sums)?;
        if length > ledger.end {
            ledger.cut();
        }
        Ok(ledger)
    }

    /// Opens a ledger that is only read; `None` if there is no file.
    ///
    /// # Errors
    /// A ledger that cannot be read or is damaged.
    pub fn to_read(path: &Path) -> Result<Option<Self>, LedgerError> {
        let file = if_there(open_regular(path)).map_err(|error| unreadable(path, error))?;
        file.map(|file| Self::of(path, file, None).map(|(ledger, _)| ledger)).transpose()
    }

    /// The ledger in a file, and the length of the file.
    fn of(path: &Path, file: File, sums: Option<Sums>) -> Result<(Self, u64), LedgerError> {
        let head = head_in(path, &file)?;
        let length = file.metadata().map_err(|error| unreadable(path, error))?.len();
        let end = head.body() + head.length;
        if length < end {
            return Err(damaged(path, Fault::Cut));
        }
        Ok((Self { path: path.to_path_buf(), file: Checked::new(file, sums), end, head }, length))
    }

    /// Removes what was added since the ledger was opened, so that it takes no room on a full disk.
    fn cut(&self) {
        // What remains does not count.
        let _ = self.file.file.set_len(self.end);
    }

    /// Writes bytes after what is there.
    fn append(&self, bytes: &[u8]) -> Result<(), LedgerError> {
        let written = self.file.file.write_all_at(bytes, self.head.body() + self.head.length);
        written.map_err(|error| {
            self.cut();
            unwritable(&self.path, error)
        })
    }

    /// The record at `offset` in the body.
    pub fn record(&self, offset: u64) -> Option<Record> {
        let start = self.head.body() + offset;
        let left = usize::try_from(self.head.length.checked_sub(offset)?).ok()?;
        let mut length = left.min(8192);
        loop {
            let mut bytes = vec![0; length];
            self.file.read_exact_at(&mut bytes, start).ok()?;
            let mut record = Record::default();
            if record.take(&mut bytes.as_slice()).is_some() {
                return Some(record);
            }
            if length == left {
                return None;
            }
            length = left.min(length * 8);
        }
    }

    /// The label of the record that begins at `start` in the body of a set's ledger.
    pub fn label(&self, start: u64) -> Option<u32> {
        let mut byte = [0; 1];
        self.file.read_exact_at(&mut byte, self.head.body() + start).ok()?;
        // A set has fewer than 128 labels, so a label is one byte.
        (byte[0] < 0x80).then_some(u32::from(byte[0]))
    }

    /// Adds a document; returns the offset of its record in the body. It does not count before
    /// [`Self::write_head`]. Nothing is synchronised to the device.
    ///
    /// # Errors
    /// It cannot be written; the ledger is as it was.
    pub fn push(
        &mut self,
        label: u32,
        occurrences: u32,
        terms: &[Term],
    ) -> Result<u64, LedgerError> {
        let (offset, mut record) = (self.head.length, Vec::new());
        write_record(&mut record, label, occurrences, terms);
        self.append(&record)?;
        self.head.add(&record, 1);
        Ok(offset)
    }

    /// Withdraws a document of category `label`. As with [`Self::push`], it does not count yet.
    ///
    /// # Errors
    /// It cannot be written; the ledger is as it was.
    pub fn withdraw(&mut self, label: u32, fingerprint: u64) -> Result<(), LedgerError> {
        let mut bytes = Vec::new();
        write_withdrawal(&mut bytes, label, self.head.names.len(), fingerprint);
        self.append(&bytes)?;
        self.head.add(&bytes, -1);
        Ok(())
    }

    /// Writes the head for the generation that is being made, so that the added records count in
    /// it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_head(&self) -> Result<(), LedgerError> {
        write_head(&self.path, &self.head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::ledger::tests::ledger;
    use crate::token::id::FeatureId;
    use std::os::unix::fs::MetadataExt;

    /// A ledger of three documents in a folder of its own.
    fn saved() -> (tempfile::TempDir, PathBuf) {
        let room = tempfile::tempdir().unwrap();
        let path = room.path().join("ledger");
        save(&path, &ledger()).unwrap();
        (room, path)
    }

    fn documents(path: &Path) -> u32 {
        load(path).unwrap().unwrap().head.documents
    }

    #[test]
    fn what_is_added_or_withdrawn_counts_once_the_head_is_written() {
        let (_room, path) = saved();
        let mut open = OpenLedger::new(&path, None).unwrap();
        let terms: Vec<Term> = (1..5000).map(|id| Term::new(FeatureId(id << 9), 1, 1)).collect();
        let at = open.push(1, 5000, &terms).unwrap();
        assert!(open.head.length - at > 16_384);
        assert_eq!((documents(&path), open.label(0), open.label(at)), (3, Some(0), Some(1)));
        let found = open.record(at).unwrap();
        assert_eq!((&found.terms, found.label, found.occurrences), (&terms, 1, 5000));
        let (end, beyond) = (open.head.length, open.head.length + 1);
        assert!(open.record(end).is_none() && open.record(beyond).is_none());
        open.write_head().unwrap();
        assert_eq!((documents(&path), head(&path).unwrap().documents), (4, 4));
        open.withdraw(1, found.fingerprint).unwrap();
        open.write_head().unwrap();
        assert_eq!(documents(&path), 3);
        let read = OpenLedger::to_read(&path).unwrap().unwrap();
        assert_eq!(read.head, open.head);
        // The head in the ledger itself is older until it is copied.
        let own_head = || Head::parse(&std::fs::read(&path).unwrap()).unwrap();
        assert_ne!(own_head(), open.head);
        copy_head(&path);
        assert_eq!(own_head(), open.head);
        remove_head(&path).unwrap();
        assert_eq!(documents(&path), 3);
    }

    #[test]
    fn a_ledger_shorter_than_its_head_says_is_cut() {
        let (room, path) = saved();
        let file = open_to_change(&path).unwrap();
        let length = file.metadata().unwrap().len();
        // What does not count goes when the ledger is opened.
        file.write_all_at(&[7; 4096], length).unwrap();
        assert!(OpenLedger::new(&path, None).is_ok());
        assert_eq!(file.metadata().unwrap().len(), length);
        file.set_len(length - 1).unwrap();
        let cut = OpenLedger::new(&path, None);
        assert!(matches!(cut, Err(LedgerError::Damaged { fault: Fault::Cut, .. })));
        let none = room.path().join("none");
        assert!(load(&none).unwrap().is_none() && OpenLedger::to_read(&none).unwrap().is_none());
        assert!(!exists(&none).unwrap() && exists(&path).unwrap());
        assert!(is_ledger(&path) && !is_ledger(&none));
        let settings = ledger().head.settings;
        assert!(matches!(load_fitting(&none, &settings), Err(LedgerError::Missing { .. })));
        put(&path, &ledger()).unwrap();
        assert!(load_fitting(&path, &settings).is_ok());
        let other = Settings { order: settings.order + 1, ..settings };
        assert!(matches!(load_fitting(&path, &other), Err(LedgerError::OtherOptions { .. })));
    }

    #[test]
    fn a_generation_has_a_ledger_of_its_own_unless_each_has_its_head() {
        let (room, path) = saved();
        let other = room.path().join("other");
        std::fs::hard_link(&path, &other).unwrap();
        let links = || std::fs::metadata(&path).unwrap().nlink();
        unshare(&path).unwrap();
        assert_eq!(links(), 2);
        remove_head(&path).unwrap();
        unshare(&path).unwrap();
        assert_eq!((links(), documents(&path)), (1, 3));
    }

    #[test]
    fn only_what_was_cut_within_its_magic_is_removed() {
        let room = tempfile::tempdir().unwrap();
        let path = room.path().join("file");
        for (content, is_removed) in [("", true), ("# dba", true), ("# other", false)] {
            std::fs::write(&path, content).unwrap();
            remove_cut(&path, b"# dbacl");
            assert_eq!(!path.exists(), is_removed, "{content}");
        }
        std::fs::write(&path, "# dbacl").unwrap();
        remove_cut(&path, b"# dbacl");
        assert!(path.exists(), "it is whole");
    }

    #[test]
    fn settings_are_those_of_features_only() {
        let mut options = ModelOptions::default();
        let of = |options, patterns: &[&[u8]]| {
            let patterns: Vec<Vec<u8>> = patterns.iter().map(|own| own.to_vec()).collect();
            settings(options, Scheme::Cef, 1, &patterns)
        };
        let plain = of(options, &[]);
        options.insert(ModelOption::Multinomial);
        assert_eq!((of(options, &[]), plain.patterns), (plain, 0));
        let [one, two] = [&[&b"a"[..], b"b"][..], &[b"b", b"a"]].map(|all| of(options, all));
        assert!(one.patterns != 0 && one.patterns != two.patterns);
    }
}
