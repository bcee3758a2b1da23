// SPDX-License-Identifier: GPL-3.0-or-later
//! Ledgers and states as files: locked while they are changed, replaced whole or added to.

use super::super::MESSAGES;
use super::super::failure::{Failure, Kind};
use crate::error::Error;
use crate::model::settings::{ModelOption, ModelOptions, Scheme};
use crate::refit::checksum::Checksum;
use crate::refit::ledger::{ANY_MAGIC, Fault, Head, Ledger, MAGIC, Name, Record, Settings};
use crate::save::{self, Disk, Storage};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(Kind::NoInput, format!("cannot read {}: {error}", path.display()))
}

fn damaged(path: &Path, fault: Fault) -> Failure {
    Failure::new(Kind::Data, format!("{}: {}", path.display(), fault.text()))
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    let text = format!("cannot write {}: {error}; it is as it was", path.display());
    Failure::new(Kind::Write, text)
}

/// How the features of documents are made with these settings of a model. What concerns only
/// learning or scores is left out.
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
    let mut beginning = [0; ANY_MAGIC.len()];
    path.is_file()
        && File::open(path).is_ok_and(|file| file.read_exact_at(&mut beginning, 0).is_ok())
        && beginning == ANY_MAGIC
}

/// Reads and checks a whole ledger; `None` if there is no file.
///
/// # Errors
/// A ledger that is damaged.
pub fn load(path: &Path) -> Result<Option<Ledger>, Failure> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(path, &error)),
    };
    Ledger::parse(&bytes).map(Some).map_err(|fault| damaged(path, fault))
}

/// Reads a ledger that must be there and fit `settings`.
///
/// # Errors
/// A ledger that is missing, damaged or of other features.
pub fn load_fitting(path: &Path, settings: &Settings) -> Result<Ledger, Failure> {
    let missing = || {
        Failure::new(
            Kind::NoInput,
            format!("there is no ledger {}: learn with --keep", path.display()),
        )
    };
    let ledger = load(path)?.ok_or_else(missing)?;
    check(path, &ledger.head, settings)?;
    Ok(ledger)
}

/// Whether the documents of a ledger have features of `settings`.
///
/// # Errors
/// They have not.
pub fn check(path: &Path, head: &Head, settings: &Settings) -> Result<(), Failure> {
    if head.settings == *settings {
        return Ok(());
    }
    let text = format!(
        "the ledger {} was kept with other options than these categories were learned with",
        path.display()
    );
    Err(Failure::new(Kind::Data, text))
}

/// Removes a file of which a power cut has left nothing, so that it can be replaced.
pub fn remove_empty(path: &Path) {
    if std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() == 0) {
        let _ = std::fs::remove_file(path); // if that fails, replacing it does
    }
}

/// Replaces a ledger.
///
/// # Errors
/// It cannot be written; the old one is kept.
pub fn save(path: &Path, ledger: &Ledger) -> Result<(), Failure> {
    replace(&Disk, path, MAGIC, &ledger.bytes())
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
) -> Result<(), Failure> {
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
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let saved = save::replace(storage, path, ours, write);
    saved.map_err(|error| match error {
        Error::Occupied { .. } => {
            let name = path.display();
            let text = format!("the file {name} is already used for something. Nothing written.");
            Failure::new(Kind::Create, text)
        }
        error => {
            let text = format!("could not save {}: {error}; it is as it was", path.display());
            Failure::new(Kind::Write, text)
        }
    })
}

/// An open ledger that documents are added to, without reading those that are there.
pub struct Open {
    path: PathBuf,
    file: File,
    /// What the file says of itself.
    pub head: Head,
}

impl Open {
    /// Opens a ledger; the caller holds its lock.
    ///
    /// # Errors
    /// A ledger that is missing or damaged.
    pub fn new(path: &Path) -> Result<Self, Failure> {
        let file = OpenOptions::new().read(true).write(true).open(path);
        let file = file.map_err(|error| unreadable(path, &error))?;
        let mut beginning = vec![0; 4096];
        let mut filled = 0;
        while filled < beginning.len() {
            match file.read_at(&mut beginning[filled..], filled as u64) {
                Ok(0) => break,
                Ok(length) => filled += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(path, &error)),
            }
        }
        let head = Head::parse(&beginning[..filled]).map_err(|fault| damaged(path, fault))?;
        let length = file.metadata().map_err(|error| unreadable(path, &error))?.len();
        if length < head.body() + head.length {
            return Err(damaged(path, Fault::Cut));
        }
        Ok(Self { path: path.to_path_buf(), file, head })
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

    /// Adds a record; returns its offset in the body. Nothing is forced onto the device: a power cut
    /// may undo the last additions.
    ///
    /// # Errors
    /// It cannot be written; the ledger is as it was.
    pub fn push(&mut self, record: &[u8]) -> Result<u64, Failure> {
        let offset = self.head.length;
        let mut head = self.head.clone();
        head.add(record);
        let written = self
            .file
            .write_all_at(record, head.body() + offset)
            .and_then(|()| self.file.write_all_at(&head.bytes(), 0));
        written.map_err(|error| unwritable(&self.path, &error))?;
        self.head = head;
        Ok(offset)
    }
}

/// Keeps documents of the category `name` in the ledger at `path`, of which the caller holds the lock:
/// instead of those that it holds of the category, or with `adds` behind them.
///
/// # Errors
/// A ledger that cannot be read, is of other features, or cannot be written.
pub fn keep(
    path: &Path,
    settings: Settings,
    name: &Name,
    adds: bool,
    corpus: &crate::refit::documents::Corpus,
) -> Result<(), Failure> {
    let old = load(path)?.unwrap_or_else(|| Ledger::new(settings, Vec::new()));
    check(path, &old.head, &settings)?;
    let mut head = old.head.clone();
    let label = head.label(&name.name);
    let kept = old.filter(|record| adds || record.label != label);
    let mut ledger = kept.map_err(|fault| damaged(path, fault))?;
    ledger.head.names = head.names;
    if let Some(known) = ledger.head.names.get_mut(label as usize) {
        known.learning = name.learning;
    }
    for (number, document) in corpus.documents.iter().enumerate() {
        ledger.push(label, document.occurrences, corpus.terms_of(number));
    }
    save(path, &ledger)
}

/// Says that a state was not what it should be; it is made anew.
pub fn note_rebuilt(path: &Path) {
    MESSAGES.warning(&format!("{} did not fit its ledger and was made anew", path.display()));
}
