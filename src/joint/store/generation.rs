// SPDX-License-Identifier: GPL-3.0-or-later
//! Reading a set: all files come from one generation.

use super::Store;
use super::manifest::{self, Manifest, Purpose};
use crate::atomic_file::is_named;
use crate::category::access;
use crate::error::{Error, Result, Warning};
use crate::input::source::open_regular;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// How often a reader follows `current` again when the generation was removed meanwhile.
const TRIES: u32 = 1000;

/// An open generation. It is not removed while this lives.
#[derive(Debug)]
pub struct Generation {
    store: Store,
    folder: PathBuf,
    number: u64,
    manifest: Manifest,
    /// Whether this generation stands in for a later one that is torn.
    is_earlier: bool,
    _lock: Option<File>,
}

/// Why a generation cannot be opened.
enum Missing {
    /// It is being removed, or has been.
    Gone,
    /// It is incomplete. `true` if it was synchronised to the device, so that a power failure is
    /// not the reason.
    Torn(bool),
    /// The operating system refused.
    Refused(Error),
}

impl Store {
    /// Opens the current generation; `None` when there is none. If a power failure has torn it, the
    /// last one that was synchronised to the device is opened.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Damaged`].
    pub fn open(&self) -> Result<Option<Generation>> {
        self.open_to(Purpose::Read)
    }

    /// The same for a purpose.
    pub(super) fn open_to(&self, purpose: Purpose) -> Result<Option<Generation>> {
        let mut last = None;
        for _ in 0..TRIES {
            let Some(number) = self.current()? else { return Ok(None) };
            match self.generation(number, purpose) {
                Ok(generation) => return Ok(Some(generation)),
                Err(Missing::Refused(error)) => return Err(error),
                Err(Missing::Torn(true)) => return self.as_it_is(number).map(Some),
                Err(Missing::Torn(false)) => return self.earlier(number, purpose).map(Some),
                // A program that removes a generation has made another one current before.
                Err(Missing::Gone) if last == Some(number) => std::thread::yield_now(),
                Err(Missing::Gone) => last = Some(number),
            }
        }
        match last {
            Some(number) => self.earlier(number, purpose).map(Some),
            None => Ok(None),
        }
    }

    /// The last whole generation before `torn`.
    fn earlier(&self, torn: u64, purpose: Purpose) -> Result<Generation> {
        let numbers = self.numbers()?;
        for number in numbers.into_iter().rev().filter(|&number| number < torn) {
            match self.generation(number, purpose) {
                Ok(mut generation) if generation.manifest.is_forced => {
                    generation.is_earlier = true;
                    return Ok(generation);
                }
                Err(Missing::Refused(error)) => return Err(error),
                _ => {}
            }
        }
        self.as_it_is(torn)
    }

    /// Opens a damaged generation as it is, so that reading its files reports what is wrong.
    fn as_it_is(&self, number: u64) -> Result<Generation> {
        let folder = self.folder.join(number.to_string());
        let entries = fs::read_dir(&folder).map_err(|error| Error::io(&folder, error))?;
        let names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
        let files = names.filter(|name| name != manifest::NAME).map(|name| (name, 0)).collect();
        let manifest = Manifest { is_forced: false, files };
        let store = self.clone();
        Ok(Generation { store, folder, number, manifest, is_earlier: false, _lock: None })
    }

    fn generation(&self, number: u64, purpose: Purpose) -> Result<Generation, Missing> {
        let folder = self.folder.join(number.to_string());
        let path = folder.join(manifest::NAME);
        let gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        let mut file = match open_regular(&path) {
            Ok(file) => file,
            Err(error) if gone(&error) => return Err(Missing::Gone),
            Err(error) => return Err(Missing::Refused(Error::io(&path, error))),
        };
        let is_locked = match file.try_lock_shared() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => return Err(Missing::Gone),
            // A file system without locks: see `tidy`.
            Err(TryLockError::Error(_)) => false,
        };
        if !is_named(&file, &path).unwrap_or(false) {
            return Err(Missing::Gone);
        }
        let mut bytes = Vec::new();
        let read = file.read_to_end(&mut bytes);
        read.map_err(|error| Missing::Refused(Error::io(&path, error)))?;
        let manifest = Manifest::parse(&bytes).ok_or(Missing::Torn(false))?;
        for (name, length) in manifest.files.iter().filter(|(name, _)| purpose.needs(name)) {
            let whole = fs::metadata(folder.join(name)).is_ok_and(|file| file.len() >= *length);
            if !whole {
                return Err(Missing::Torn(manifest.is_forced));
            }
        }
        let lock = is_locked.then_some(file);
        let store = self.clone();
        Ok(Generation { store, folder, number, manifest, is_earlier: false, _lock: lock })
    }

    /// Whether generation `number` is complete and was synchronised to the device.
    pub(super) fn is_forced(&self, number: u64) -> bool {
        let folder = self.folder.join(number.to_string());
        let Ok(mut list) = open_regular(&folder.join(manifest::NAME)) else { return false };
        let mut bytes = Vec::new();
        let read = list.read_to_end(&mut bytes);
        let manifest = read.ok().and_then(|_| Manifest::parse(&bytes));
        manifest.is_some_and(|manifest| {
            let needed = |name: &OsStr| Purpose::Read.needs(name) || Purpose::Change.needs(name);
            let mut files = manifest.files.iter().filter(|(name, _)| needed(name));
            let is_whole = |(name, length): &(OsString, u64)| {
                fs::metadata(folder.join(name)).is_ok_and(|file| file.len() >= *length)
            };
            manifest.is_forced && files.all(is_whole)
        })
    }
}

impl Generation {
    /// The file called `name` in it.
    pub fn path(&self, name: &OsStr) -> PathBuf {
        self.folder.join(name)
    }

    /// Whether it has a file called `name`.
    pub fn has(&self, name: &OsStr) -> bool {
        self.manifest.files.iter().any(|(file, _)| file == name)
    }

    /// The store to which it belongs.
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its number.
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// Whether it stands for a later one that is torn.
    pub const fn is_earlier(&self) -> bool {
        self.is_earlier
    }

    /// Its files.
    pub(super) const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Warnings about the set.
    pub fn warnings(&self) -> Vec<Warning> {
        let name = self.store.folder.display();
        let torn = self.is_earlier.then(|| {
            format!("the last changes of {name} are damaged: what was before them is used")
        });
        let torn = torn.map(Warning::new).into_iter();
        torn.chain(self.open_to_others()).collect()
    }

    /// Warns of the first of its folders and files that anybody may write to, or that is another
    /// user's.
    fn open_to_others(&self) -> Option<Warning> {
        let own = rustix::process::geteuid().as_raw();
        let is_foreign = |uid: u32| uid != own && uid != 0 && own != 0;
        let folders = [self.store.folder.clone(), self.folder.clone()];
        let files = self.manifest.files.iter().map(|(name, _)| self.path(name));
        folders.into_iter().chain(files).find_map(|path| {
            let found = fs::metadata(&path).ok()?;
            access::warning_of(&path, &found).or_else(|| {
                let text = || format!("{} belongs to another user", path.display());
                is_foreign(found.uid()).then(|| Warning::new(text()))
            })
        })
    }
}

/// Opened generations. All names of one set lead into the same generation.
#[derive(Debug, Default)]
pub struct Opened {
    generations: Vec<Generation>,
}

impl Opened {
    /// The file that `name` stands for: itself, unless it is a link into a set. The generation is
    /// opened at the first such name; the second value says whether this was the first.
    ///
    /// # Errors
    /// Those of [`Store::open`].
    pub fn file(&mut self, name: &Path) -> Result<(PathBuf, Option<&Generation>)> {
        let Some((store, member)) = Store::of_link(name) else {
            return Ok((name.to_path_buf(), None));
        };
        if let Some(known) = self.generations.iter().find(|known| known.store.is(&store)) {
            return Ok((known.path(&member), None));
        }
        let Some(generation) = store.open()? else { return Ok((name.to_path_buf(), None)) };
        let file = generation.path(&member);
        self.generations.push(generation);
        Ok((file, self.generations.last()))
    }
}
