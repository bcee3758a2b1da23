// SPDX-License-Identifier: GPL-3.0-or-later
//! The folder of a mail filter: opening it, and changing it so that each change happens at one
//! moment. [`super`] has the steps.

use super::TIERS;
use super::build::{write_entry, write_single};
use super::document::Document;
use super::frames::{self, Frames};
use super::head::{Head, Reading, ledger_name};
use super::journal::{self, Journal};
use super::open::OpenTables;
use super::table::{self, Fault, Sections, TableFile};
use crate::fit::checksum::{Checksum, Summing};
use byteorder::{ByteOrder, LittleEndian};
use dbacl_files::atomic_file::{
    self, Access, Disk, SaveError, Storage, is_at, private_folder, remove_if_there,
};
use dbacl_files::lock::{Lock, LockError, Patience};
use dbacl_files::reading::{if_there, open_known, open_regular, open_to_change, read_regular};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The table's file.
pub(crate) const TABLE: &str = "table";
/// The table before the last change of the whole filter.
pub(crate) const BEFORE: &str = "table.before";
/// The journal's file.
pub(crate) const JOURNAL: &str = "journal";
/// The lock's file.
pub(crate) const LOCK: &str = "lock";
/// The list of messages to review.
pub(crate) const REVIEW: &str = "review.txt";
/// How names of ledgers begin.
const LEDGER: &str = "ledger.";
/// How a ledger begins.
const LEDGER_MAGIC: &[u8] = b"# dbacl ledger 5\n";
/// How names of general models begin.
const GENERAL: &str = "general.";
/// What older versions of dbacl kept a filter in: a folder, or files beside a list of them.
const OLDER: [&str; 2] = ["ledger.set", "order"];
/// How often a reader begins again when the filter is replaced meanwhile.
pub(super) const TRIES: usize = 20;

/// Why a filter cannot be opened or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// There is no filter in the folder.
    #[error("{} is not a mail filter (no file {})", folder.display(), folder.join(TABLE).display())]
    NoFilter {
        /// The folder.
        folder: PathBuf,
    },
    /// Another version of dbacl made it.
    #[error(
        "{} is a mail filter of another version of dbacl: learn the mail folders again",
        folder.display()
    )]
    Version {
        /// The folder.
        folder: PathBuf,
    },
    /// A file of the filter is damaged.
    #[error("{} is damaged: learn the mail folders again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// Something else has the name of one of the filter's files.
    #[error("the file {} is already used for something", path.display())]
    Occupied {
        /// The file.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// A file could not be written.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// Another process changes the filter.
    #[error(transparent)]
    Lock(#[from] LockError),
}

impl FilterError {
    fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_path_buf(), source }
    }
}

type Result<T, E = FilterError> = std::result::Result<T, E>;

/// The folder of a mail filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilterFolder {
    path: PathBuf,
}

/// What tells one state of a filter from another: the table's and the journal's file, and the
/// journal's length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stamp([u64; 8]);

impl FilterFolder {
    /// The folder at `path`, which may hold no filter yet.
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_path_buf() }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The file of this name in it.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Whether there is a filter, which may be damaged, or of an older version of dbacl.
    pub(crate) fn is_filter(&self) -> bool {
        [TABLE].into_iter().chain(OLDER).any(|name| fs::symlink_metadata(self.file(name)).is_ok())
    }

    /// Whether there is what a filter leaves whose making was interrupted.
    pub(crate) fn is_begun(&self) -> bool {
        [LOCK, JOURNAL].iter().any(|name| fs::symlink_metadata(self.file(name)).is_ok())
            || !self.ledgers().is_empty()
    }

    /// The names of the ledgers that are there.
    pub(crate) fn ledgers(&self) -> Vec<String> {
        self.names(LEDGER, LEDGER_MAGIC)
    }

    /// The names in the folder that begin like this, of files that begin so.
    fn names(&self, beginning: &str, magic: &[u8]) -> Vec<String> {
        let mut names = self.all_names();
        names.retain(|name| {
            name.starts_with(beginning)
                && dbacl_files::reading::begins_with(&self.file(name), magic)
        });
        names
    }

    fn all_names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// A mark of the present state, which is the same as long as the filter has not changed.
    ///
    /// # Errors
    /// [`FilterError::NoFilter`], [`FilterError::Io`].
    pub(crate) fn stamp(&self) -> Result<Stamp> {
        let found = |name: &str| {
            let path = self.file(name);
            if_there(fs::metadata(&path)).map_err(|error| FilterError::io(&path, error))
        };
        let table = found(TABLE)?.ok_or_else(|| self.nothing())?;
        let journal = found(JOURNAL)?;
        let facts = |found: fs::Metadata| {
            let [seconds, nanoseconds] = [found.ctime(), found.ctime_nsec()];
            [found.ino(), found.len(), seconds.cast_unsigned(), nanoseconds.cast_unsigned()]
        };
        let [a, b, c, d] = facts(table);
        let [e, f, g, h] = journal.map_or([0; 4], facts);
        Ok(Stamp([a, b, c, d, e, f, g, h]))
    }

    fn nothing(&self) -> FilterError {
        let folder = self.path.clone();
        let is_older = OLDER.iter().any(|name| fs::symlink_metadata(self.file(name)).is_ok());
        if is_older { FilterError::Version { folder } } else { FilterError::NoFilter { folder } }
    }

    /// The error of a table of the filter that cannot be used.
    pub(crate) fn fault(&self, name: &str, fault: Fault) -> FilterError {
        let path = self.file(name);
        match fault {
            Fault::Io(error) if error.kind() == io::ErrorKind::NotFound => self.nothing(),
            Fault::Io(source) => FilterError::Io { path, source },
            Fault::Version => FilterError::Version { folder: self.path.clone() },
            Fault::Foreign => FilterError::Occupied { path },
            Fault::Damaged => FilterError::Damaged { path },
        }
    }

    /// Opens the filter as it is now.
    ///
    /// # Errors
    /// [`FilterError`]
    pub(crate) fn open<R: DeserializeOwned>(&self) -> Result<OpenTables<R>> {
        let path = self.file(TABLE);
        for _ in 0..TRIES {
            let table = TableFile::<R>::open(&path).map_err(|fault| self.fault(TABLE, fault))?;
            let bytes = self.journal_bytes()?;
            let journal = Journal::parse(&bytes, table.id, table.head.problems());
            // The journal of a newer table says nothing of this one.
            let is_current = journal.length > 0 || is_at(&table.found, &path).unwrap_or(true);
            if is_current {
                return Ok(OpenTables::new(table, journal));
            }
        }
        Err(FilterError::io(&path, io::ErrorKind::ResourceBusy.into()))
    }

    /// Opens the state before the last change of the whole filter, `None` if there is none.
    pub(crate) fn open_before<R: DeserializeOwned>(&self) -> Option<OpenTables<R>> {
        let table = TableFile::open(&self.file(BEFORE)).ok()?;
        Some(OpenTables::new(table, Journal::default()))
    }

    /// Opens the general model of a filter; `None` if it has none.
    ///
    /// # Errors
    /// [`FilterError`]
    pub(crate) fn open_general<R: DeserializeOwned>(
        &self,
        tables: &OpenTables<R>,
    ) -> Result<Option<OpenTables<R>>> {
        let Some(name) = &tables.table.head.general else { return Ok(None) };
        let opened = TableFile::open(&self.file(name)).map_err(|fault| match fault {
            Fault::Io(error) if error.kind() == io::ErrorKind::NotFound => Fault::Damaged,
            fault => fault,
        });
        let table = opened.map_err(|fault| self.fault(name, fault))?;
        Ok(Some(OpenTables::new(table, Journal::default())))
    }

    pub(super) fn journal_bytes(&self) -> Result<Vec<u8>> {
        let path = self.file(JOURNAL);
        let bytes = if_there(read_regular(&path)).map_err(|error| FilterError::io(&path, error))?;
        Ok(bytes.unwrap_or_default())
    }

    /// Begins a change, which waits for other processes as `patience` says. The folder is made if
    /// it is not there; it is its owner's alone.
    ///
    /// # Errors
    /// [`FilterError::Lock`], [`FilterError::Io`].
    pub(crate) fn change(
        &self,
        patience: Patience<'_>,
        waits: &mut dyn FnMut(),
    ) -> Result<Changing> {
        if !self.path.is_dir() {
            private_folder(&self.path).map_err(|error| FilterError::io(&self.path, error))?;
        }
        let lock = Lock::take(&self.file(LOCK), patience, waits)?.provisional();
        let names = self.all_names();
        let is_ours = dbacl_files::reading::begins_with(&self.file(TABLE), table::ANY_MAGIC)
            || !self.ledgers().is_empty();
        let changing = Changing { folder: self.clone(), is_ours, lock };
        let ledgers = names.iter().filter(|name| name.starts_with(LEDGER)).count();
        if ledgers > 2 || names.iter().any(|name| is_temporary(name)) {
            // A process was killed.
            changing.tidy();
        }
        Ok(changing)
    }

    /// Who may use a new file: whoever may use the table, or else the user alone.
    pub(crate) fn access(&self) -> Access {
        let table = fs::metadata(self.file(TABLE)).ok();
        table.map_or(Access::Private, |found| Access::Like {
            mode: found.mode() & 0o666,
            group: found.gid(),
        })
    }

    /// Makes the folder's owner the owner of a file in it that the superuser has made.
    pub(crate) fn give(&self, path: &Path) {
        if rustix::process::geteuid().is_root()
            && let Ok(folder) = fs::metadata(&self.path)
        {
            let _ = std::os::unix::fs::lchown(path, Some(folder.uid()), None);
        }
    }

    /// The documents of the filter's ledger, in their order, without those that were withdrawn.
    ///
    /// # Errors
    /// [`FilterError`]
    pub(crate) fn documents<R: DeserializeOwned>(
        &self,
        tables: &OpenTables<R>,
    ) -> Result<Vec<Document>> {
        let head = &tables.table.head;
        let mut documents = self.ledger(&head.ledger, head.ledger_bytes)?;
        for lesson in &tables.journal.lessons {
            if let Some((number, _)) = lesson.withdrawn
                && let Some(own) = documents.get_mut(number as usize)
            {
                *own = None;
            }
            documents.push(Some(lesson.document.clone()));
        }
        Ok(documents.into_iter().flatten().collect())
    }

    /// The documents of a ledger by their numbers; `None` for those that were withdrawn.
    fn ledger(&self, name: &str, length: u64) -> Result<Vec<Option<Document>>> {
        let path = self.file(name);
        let damaged = || FilterError::Damaged { path: path.clone() };
        let bytes = read_regular(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => damaged(),
            _ => FilterError::io(&path, error),
        })?;
        let bytes = usize::try_from(length).ok().and_then(|length| bytes.get(..length));
        let (_, documents, end) = bytes.and_then(read_ledger).ok_or_else(damaged)?;
        if end < bytes.unwrap_or_default().len() { Err(damaged()) } else { Ok(documents) }
    }
}

/// What a ledger holds as far as it is whole: how mail was read, the documents by their numbers,
/// and where the last whole record ends.
pub(super) fn read_ledger(bytes: &[u8]) -> Option<(Reading, Vec<Option<Document>>, usize)> {
    let mut records = Frames::new(bytes, LEDGER_MAGIC.len());
    if !bytes.starts_with(LEDGER_MAGIC) {
        return None;
    }
    let reading = serde_json::from_slice(records.next()?).ok()?;
    let (mut documents, mut end) = (Vec::new(), records.end());
    while let Some(mut record) = records.next() {
        if let Some(number) = withdrawal(record) {
            let Some(own) = documents.get_mut(number as usize) else { break };
            *own = None;
        } else {
            let Some(document) = Document::take(&mut record) else { break };
            documents.push(Some(document));
        }
        end = records.end();
    }
    Some((reading, documents, end))
}

/// Whether a file of this name is one that was to become one of the filter's.
fn is_temporary(name: &str) -> bool {
    let is_ours = [TABLE, JOURNAL, REVIEW, LEDGER, GENERAL].iter().any(|own| name.starts_with(own));
    is_ours && name.contains(".tmp.")
}

/// The number of the document that a record of a ledger withdraws.
fn withdrawal(record: &[u8]) -> Option<u32> {
    let (&[table::WITHDRAWN, 0], number) = record.split_first_chunk::<2>()? else { return None };
    (number.len() == 4).then(|| LittleEndian::read_u32(number))
}

/// Writes a new ledger with these documents.
fn write_ledger(reading: &Reading, documents: &[Document], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(LEDGER_MAGIC)?;
    let mut record = Vec::new();
    let head = serde_json::to_vec(reading)?;
    frames::append(&mut record, |out| out.extend_from_slice(&head));
    out.write_all(&record)?;
    for document in documents {
        record.clear();
        frames::append(&mut record, |out| document.write(out));
        out.write_all(&record)?;
    }
    Ok(())
}

/// The sum and the length of what `write` writes.
fn sum_of(write: impl FnOnce(&mut Summing) -> io::Result<()>) -> io::Result<(u64, u64)> {
    let mut summing = Summing::default();
    write(&mut summing)?;
    let length = summing.length;
    Ok((summing.value(), length))
}

/// A change of a filter, while which nobody else changes it.
#[derive(Debug)]
pub(crate) struct Changing {
    /// The filter.
    pub folder: FilterFolder,
    /// Whether a table or a ledger was there, so that a damaged file with a filter's name is the
    /// filter's.
    is_ours: bool,
    pub(super) lock: Lock,
}

/// What becomes of the table before when a table is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    /// It is the one that is replaced.
    Kept,
    /// There is none: nothing is to be left of what was forgotten.
    Forgotten,
    /// It stays, since the one that is replaced is damaged.
    Stays,
}

impl Changing {
    /// Learns documents: appends the last `number` lessons of `tables`, whose journal is otherwise
    /// as it is now, and forces them to the device. Returns the bytes of the journal.
    ///
    /// # Errors
    /// [`FilterError`]; no lesson has happened.
    pub(crate) fn learn<R>(&self, tables: &OpenTables<R>, number: usize) -> Result<u64> {
        let path = self.folder.file(JOURNAL);
        let failed = |error| FilterError::io(&path, error);
        let mut record = Vec::new();
        let lessons = &tables.journal.lessons;
        lessons[lessons.len() - number..].iter().for_each(|lesson| lesson.write(&mut record));
        if tables.journal.length == 0 {
            self.clear(JOURNAL, journal::MAGIC);
            self.new_journal(tables.table.id, &record)?;
            return Ok(record.len() as u64);
        }
        let mut file = open_to_change(&path).map_err(failed)?;
        // What a killed process left of a record goes.
        file.set_len(tables.journal.length).map_err(failed)?;
        file.seek(SeekFrom::Start(tables.journal.length)).map_err(failed)?;
        let done = file.write_all(&record).and_then(|()| file.sync_data());
        done.map_err(|error| {
            // A record that is not on the device must not come back.
            let _ = file.set_len(tables.journal.length);
            failed(error)
        })?;
        Ok(tables.journal.length + record.len() as u64)
    }

    pub(super) fn new_journal(&self, id: u64, lessons: &[u8]) -> Result<()> {
        let bytes = [&journal::new(id), lessons].concat();
        self.save(JOURNAL, journal::MAGIC, &bytes)
    }

    /// Replaces one of the filter's files, with the mode of the table where it is new.
    pub(super) fn save(&self, name: &str, ours: &[u8], bytes: &[u8]) -> Result<()> {
        self.save_written(name, ours, |out| out.write_all(bytes))
    }

    /// Saves what `write` writes.
    fn save_written(
        &self,
        name: &str,
        ours: &[u8],
        write: impl Fn(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        let path = self.folder.file(name);
        let access = self.folder.access();
        atomic_file::replace_with_access(&Disk, &path, ours, access, &mut |out| write(out))?;
        self.folder.give(&path);
        Ok(())
    }

    /// Removes a file that does not begin as one of the filter, where the filter's ledgers are:
    /// whatever a power failure has made of it, it would not be replaced.
    fn clear(&self, name: &str, ours: &[u8]) {
        let path = self.folder.file(name);
        if self.is_ours && !dbacl_files::reading::begins_with(&path, ours) {
            let _ = fs::remove_file(&path);
        }
    }

    /// Replaces the whole filter: a new ledger with `documents`, and a table with the records of
    /// `sections`.
    ///
    /// # Errors
    /// [`FilterError`]; the filter is as it was.
    pub(crate) fn replace<R: Serialize + DeserializeOwned>(
        &mut self,
        mut head: Head<R>,
        sections: &Sections,
        documents: &[Document],
        before: Before,
    ) -> Result<()> {
        let reading = head.reading.clone();
        let ledger = |out: &mut dyn Write| write_ledger(&reading, documents, out);
        let failed = |error| FilterError::io(self.folder.path(), error);
        let (sum, length) = sum_of(|out| ledger(out)).map_err(failed)?;
        head.ledger = ledger_name(sum);
        head.ledger_bytes = length;
        let name = head.ledger.clone();
        let path = self.folder.file(&name);
        // The present table may have the same ledger, with documents that were appended later.
        let known = if_there(open_known(&path)).map_err(|error| FilterError::io(&path, error))?;
        let is_longer = known.as_ref().is_some_and(|(_, found)| found.len() > length);
        let beginning =
            known.map(|(file, _)| sum_of(|out| io::copy(&mut file.take(length), out).map(|_| ())));
        let beginning = beginning.transpose().map_err(|error| FilterError::io(&path, error))?;
        if beginning != Some((sum, length)) {
            self.clear(&name, LEDGER_MAGIC);
            self.save_written(&name, LEDGER_MAGIC, ledger)?;
        }
        // The ledger that is there has documents that were forgotten: it is replaced, but only once
        // the new table is in service.
        let is_shortened = before == Before::Forgotten && is_longer;
        let written = self.write_table(head, sections, before);
        if written.is_ok() && is_shortened {
            self.save_written(&name, LEDGER_MAGIC, ledger)?;
        }
        if written.is_err() && !self.in_use().contains(&name) {
            let _ = fs::remove_file(self.folder.file(&name));
        }
        written
    }

    /// Folds the journal into the table: appends its documents to the ledger.
    ///
    /// # Errors
    /// [`FilterError`]; the filter is as it was.
    pub(crate) fn fold<R: Serialize + DeserializeOwned + Clone>(
        &mut self,
        tables: &OpenTables<R>,
    ) -> Result<()> {
        let fault = |fault| self.folder.fault(TABLE, fault);
        let sections = folded(tables).map_err(fault)?;
        let mut head = tables.table.head.clone();
        let mut records = Vec::new();
        for lesson in &tables.journal.lessons {
            if let Some((number, _)) = lesson.withdrawn {
                frames::append(&mut records, |out| {
                    out.extend_from_slice(&[table::WITHDRAWN, 0]);
                    out.extend_from_slice(&number.to_le_bytes());
                });
            }
            frames::append(&mut records, |out| lesson.document.write(out));
        }
        let path = self.folder.file(&head.ledger);
        let append = || -> io::Result<bool> {
            let mut file = open_to_change(&path)?;
            let found = file.metadata()?;
            if found.len() < head.ledger_bytes {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if found.nlink() > 1 {
                return Ok(false);
            }
            file.set_len(head.ledger_bytes)?;
            file.seek(SeekFrom::End(0))?;
            file.write_all(&records)?;
            file.sync_data()?;
            Ok(true)
        };
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::NotFound => {
                FilterError::Damaged { path: path.clone() }
            }
            _ => FilterError::io(&path, error),
        };
        if !append().map_err(failed)? {
            // Another filter has the same ledger: this one gets its own.
            let mut bytes = read_regular(&path).map_err(failed)?;
            bytes.truncate(usize::try_from(head.ledger_bytes).unwrap_or(usize::MAX));
            bytes.extend_from_slice(&records);
            head.ledger = ledger_name(Checksum::of(&bytes));
            self.save(&head.ledger, LEDGER_MAGIC, &bytes)?;
        }
        head.ledger_bytes += records.len() as u64;
        self.write_table(head, &sections, Before::Kept)
    }

    /// Makes a table current. Its ledger is on the device.
    fn write_table<R: Serialize + DeserializeOwned>(
        &mut self,
        mut head: Head<R>,
        sections: &Sections,
        before: Before,
    ) -> Result<()> {
        let path = self.folder.file(TABLE);
        let (bytes, id) = sections.file(&mut head);
        let access = self.folder.access();
        self.clear(TABLE, table::ANY_MAGIC);
        self.clear(JOURNAL, journal::MAGIC);
        atomic_file::check_target(&Disk, &self.folder.file(JOURNAL), journal::MAGIC)?;
        let staged = atomic_file::stage(&Disk, &path, table::ANY_MAGIC, access, &mut |out| {
            out.write_all(&bytes)
        })?;
        self.announce(id)?;
        self.keep_before(before)?;
        let is_forced = atomic_file::place(vec![staged])?.force().is_ok();
        self.lock.vanishes = false;
        self.folder.give(&path);
        // From here on the change has happened; what follows only tidies up. Where a power cut may
        // bring the old table back, its journal and its ledger stay.
        if is_forced {
            let _ = self.new_journal(id, &[]);
            self.tidy();
        }
        Ok(())
    }

    /// Says in the journal which table comes next.
    pub(super) fn announce(&self, id: u64) -> Result<()> {
        let path = self.folder.file(JOURNAL);
        let failed = |error| FilterError::io(&path, error);
        let Some(mut file) = if_there(open_to_change(&path)).map_err(failed)? else {
            return Ok(());
        };
        let bytes = self.folder.journal_bytes()?;
        // What a killed process left of a record would hide this one.
        let end = if bytes.starts_with(journal::MAGIC) {
            let mut records = Frames::new(&bytes, journal::MAGIC.len());
            records.by_ref().for_each(|_| {});
            records.end() as u64
        } else {
            return Ok(());
        };
        file.set_len(end).map_err(failed)?;
        file.seek(SeekFrom::Start(end)).map_err(failed)?;
        let written = file.write_all(&journal::announcement(id)).and_then(|()| file.sync_data());
        written.map_err(failed)
    }

    /// Keeps the present table under its second name, or removes what has that name.
    fn keep_before(&self, what: Before) -> Result<()> {
        let (now, before) = (self.folder.file(TABLE), self.folder.file(BEFORE));
        let failed = |error| FilterError::io(&before, error);
        if what == Before::Stays {
            return Ok(());
        }
        remove_if_there(&before).map_err(failed)?;
        if what == Before::Kept {
            // A file system without second names for files keeps no table before.
            let _ = if_there(Disk.link(&now, &before));
        }
        Ok(())
    }

    /// The ledgers and general models that tables name.
    fn in_use(&self) -> Vec<String> {
        let named = |name: &str| {
            let table = TableFile::<serde::de::IgnoredAny>::open(&self.folder.file(name)).ok()?;
            Some([Some(table.head.ledger), table.head.general])
        };
        [TABLE, BEFORE].into_iter().filter_map(named).flatten().flatten().collect()
    }

    /// Removes files that no table names, and what a process that was killed has left.
    fn tidy(&self) {
        let used = self.in_use();
        let general = self.folder.names(GENERAL, table::ANY_MAGIC);
        for name in self.folder.ledgers().into_iter().chain(general) {
            if !used.contains(&name) {
                let _ = fs::remove_file(self.folder.file(&name));
            }
        }
        for name in self.folder.all_names().iter().filter(|name| is_temporary(name)) {
            let path = self.folder.file(name);
            let is_empty =
                fs::symlink_metadata(&path).is_ok_and(|it| it.is_file() && it.len() == 0);
            let is_ours = is_empty || dbacl_files::reading::begins_with(&path, b"# dbacl");
            // A process that still writes the file has locked it: the list for review is written
            // without the lock of the filter.
            let is_free = || open_regular(&path).is_ok_and(|file| file.try_lock().is_ok());
            if is_ours && is_free() {
                let _ = fs::remove_file(path);
            }
        }
    }

    /// Saves a filter with its lessons, to be a general model; returns the name of its file, which
    /// the next table has to name.
    ///
    /// # Errors
    /// [`FilterError`]
    pub(crate) fn save_general<R: Serialize + Clone>(
        &self,
        from: &OpenTables<R>,
    ) -> Result<String> {
        let failed = |fault| self.folder.fault(GENERAL, fault);
        let sections = folded(from).map_err(failed)?;
        let mut head = from.table.head.clone();
        let (bytes, id) = sections.file(&mut head);
        let name = format!("{GENERAL}{id:016x}");
        self.save(&name, table::ANY_MAGIC, &bytes)?;
        Ok(name)
    }

    /// Removes what an older version of dbacl has left in the folder: its generations, and the
    /// files and links that its list of categories names.
    pub(crate) fn remove_older(&self) {
        let labels = dbacl_files::reading::read_small_text(&self.folder.file("order"));
        let labels = labels.unwrap_or_default();
        let names = labels.lines().filter(|line| !line.starts_with('#') && !line.contains('/'));
        let ordinary = names.clone().map(|name| format!("{name}.ordinary"));
        let others = ["order", "ledger", "ledger.state", "ledger.lock"].map(str::to_owned);
        for name in names.map(str::to_owned).chain(ordinary).chain(others) {
            if ![TABLE, BEFORE, JOURNAL, LOCK].contains(&name.as_str()) {
                let _ = fs::remove_file(self.folder.file(&name));
            }
        }
        let _ = fs::remove_dir_all(self.folder.file("ledger.set"));
    }
}

/// The records of a table after the lessons of its journal: rows of features that occur in lessons
/// are made again, all others are copied.
fn folded<R>(tables: &OpenTables<R>) -> Result<Sections, Fault> {
    let head = &tables.table.head;
    let (labels, problems) = (head.reading.labels.len(), head.problems());
    let lessons = &tables.journal.lessons;
    let mut changed: Vec<u32> =
        lessons.iter().flat_map(|it| it.document.features.iter().flatten()).copied().collect();
    changed.sort_unstable();
    changed.dedup();
    let rows = tables.look_up(&changed, true)?;
    let old = tables.table.sections()?;
    let base = head.entries;
    let mut new = Sections::default();
    // A feature that one document has stays without a row as long as it never had one.
    let mut had_row = vec![false; changed.len()];
    tables.table.rows(&changed, |at, _| had_row[at] = true)?;
    // The last lesson with a feature, which has it alone if only one document does.
    let withdrawn = tables.journal.withdrawn();
    let mut last = vec![None; changed.len()];
    for (at, number, block) in tables.in_lessons(&changed) {
        let document = base + u32::try_from(number).unwrap_or(u32::MAX);
        if withdrawn.binary_search(&document).is_err() && !lessons[number].effect.is_left_out {
            last[at] = Some((document, block));
        }
    }
    for (at, &id) in changed.iter().enumerate() {
        let all = rows.all(at);
        if all == 0 {
            continue;
        }
        if all == 1
            && !had_row[at]
            && let Some((document, block)) = last[at]
        {
            write_single(&mut new.singles, id, document, block);
        } else {
            let tier = table::tier(all);
            table::write_row(&mut new.tiers[tier], id, rows.documents(at), rows.sums(at));
        }
    }
    let width = table::row_bytes(labels, problems);
    let tiers: [Vec<u8>; TIERS] =
        std::array::from_fn(|tier| merged(&old.tiers[tier], &new.tiers[tier], &changed, width));
    let singles = merged(&old.singles, &new.singles, &changed, 8);
    let mut documents = old.documents;
    for lesson in lessons {
        write_entry(&mut documents, lesson.document.name(), &lesson.effect);
    }
    let width = table::entry_bytes(problems);
    for number in withdrawn {
        if let Some(entry) = documents.chunks_exact_mut(width).nth(number as usize) {
            entry.fill(0);
            entry[8] = table::WITHDRAWN;
        }
    }
    debug_assert_eq!(documents.len(), (base as usize + lessons.len()) * width);
    Ok(Sections { tiers, singles, documents })
}

/// The records of `old`, without those of the ids `changed`, and those of `new`, by rising id.
fn merged(old: &[u8], new: &[u8], changed: &[u32], width: usize) -> Vec<u8> {
    let id = |record: &[u8]| LittleEndian::read_u32(record);
    let mut out = Vec::with_capacity(old.len() + new.len());
    let (mut old, mut new) =
        (old.chunks_exact(width).peekable(), new.chunks_exact(width).peekable());
    let mut at = 0;
    loop {
        let is_old = match (old.peek(), new.peek()) {
            (Some(one), Some(other)) => id(one) <= id(other),
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => return out,
        };
        if !is_old {
            out.extend(new.next().into_iter().flatten());
            continue;
        }
        if let Some(record) = old.next() {
            while changed.get(at).is_some_and(|&own| own < id(record)) {
                at += 1;
            }
            if changed.get(at) != Some(&id(record)) {
                out.extend_from_slice(record);
            }
        }
    }
}
