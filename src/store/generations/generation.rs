// SPDX-License-Identifier: GPL-3.0-or-later
//! Reading a set: all files come from one generation.

use super::manifest::{self, Listed, Manifest, Purpose};
use super::{Store, entries};
use crate::alloc_hints::try_room;
use crate::category::access;
use crate::error::{Error, Result, Warning, WarningSink};
use crate::fit::checksum::Checksum;
use dbacl_files::atomic_file::{folder_of, is_at};
use dbacl_files::checked::{Checked, Sums};
use dbacl_files::reading::{if_there, open_known, open_regular, read_regular};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// How often a reader follows `current` again when the generation was removed meanwhile.
const TRIES: u32 = 1000;

/// An open generation. It is not removed while this lives.
#[derive(Debug)]
pub struct Generation {
    /// The store to which it belongs.
    pub store: Store,
    /// Its folder.
    pub folder: PathBuf,
    /// Its number.
    pub number: u64,
    /// Its files.
    pub(super) manifest: Manifest,
    /// Whether this generation stands in for a later one that is torn.
    pub is_earlier: bool,
    /// The files that a power failure has truncated, if the generation is opened to be changed.
    torn: Vec<OsString>,
    /// In their place the files of this generation are used: the last one that was synchronised to
    /// the device.
    forced: Option<Box<Generation>>,
    /// The file with the checksums of blocks, once it was needed.
    sums: OnceLock<File>,
    /// What is known of the list, and of the first files in its order, as far as they were looked
    /// at when it was opened.
    seen: (Option<Metadata>, Vec<Option<Metadata>>),
    _lock: Option<File>,
}

/// Why a generation cannot be opened.
enum Missing {
    /// It is being removed, or has been.
    Gone,
    /// Files are truncated.
    Torn(Torn),
    /// The operating system refused.
    Refused(Error),
}

/// What is known of a truncated generation.
enum Torn {
    /// It was synchronised to the device, so that a power failure is not the reason.
    Forced,
    /// These files are truncated.
    Files(Vec<OsString>),
    /// The list of its files is truncated.
    List,
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

    /// Opens the current generation to change it. A file that a power failure has truncated is
    /// replaced by that of the last generation that was synchronised to the device.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Damaged`].
    pub fn open_to_change(&self) -> Result<Option<Generation>> {
        self.open_to(Purpose::Change)
    }

    fn open_to(&self, purpose: Purpose) -> Result<Option<Generation>> {
        let mut last: Option<(u64, PathBuf)> = None;
        for _ in 0..TRIES {
            let Some((number, folder)) = self.current()? else { return Ok(None) };
            match self.generation(number, &folder, purpose) {
                Ok(generation) => return Ok(Some(generation)),
                Err(Missing::Refused(error)) => return Err(error),
                Err(Missing::Torn(torn)) => {
                    return self.instead(number, folder, torn, purpose).map(Some);
                }
                // A program that removes a generation has made another one current before.
                Err(Missing::Gone) if last.as_ref().is_some_and(|last| last.0 == number) => {
                    std::thread::yield_now();
                }
                Err(Missing::Gone) => last = Some((number, folder)),
            }
        }
        match last {
            Some((number, folder)) => self.instead(number, folder, Torn::List, purpose).map(Some),
            None => Ok(None),
        }
    }

    /// What is used instead of a truncated generation.
    fn instead(
        &self,
        number: u64,
        folder: PathBuf,
        torn: Torn,
        purpose: Purpose,
    ) -> Result<Generation> {
        match (torn, purpose) {
            (Torn::Forced, _) => {
                let mut generation = self.as_it_is(number, folder)?;
                generation.manifest.is_forced = true;
                Ok(generation)
            }
            (_, Purpose::Read) => match self.forced_before(number)? {
                Some(earlier) => Ok(Generation { is_earlier: true, ..earlier }),
                None => self.as_it_is(number, folder),
            },
            (Torn::Files(files), Purpose::Change) => self.remains(number, folder, Some(files)),
            (Torn::List, Purpose::Change) => self.remains(number, folder, None),
        }
    }

    /// The last whole generation before `number` that was synchronised to the device.
    fn forced_before(&self, number: u64) -> Result<Option<Generation>> {
        self.last_before(number, |earlier| self.is_forced(earlier))
    }

    /// The last generation before `number` that seems whole, to be used where that one is found to
    /// be damaged.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn earlier_than(&self, number: u64) -> Result<Option<Generation>> {
        let found = self.last_before(number, |_| Ok(true))?;
        Ok(found.map(|found| Generation { is_earlier: true, ..found }))
    }

    /// The last whole generation before `number` that is wanted.
    fn last_before(
        &self,
        number: u64,
        is_wanted: impl Fn(u64) -> Result<bool>,
    ) -> Result<Option<Generation>> {
        for earlier in self.numbers()?.into_iter().rev().filter(|&earlier| earlier < number) {
            if !is_wanted(earlier)? {
                continue;
            }
            match self.generation(earlier, &self.folder_of(earlier), Purpose::Read) {
                Ok(generation) => return Ok(Some(generation)),
                Err(Missing::Refused(error)) => return Err(error),
                Err(Missing::Gone | Missing::Torn(_)) => {}
            }
        }
        Ok(None)
    }

    /// What a power failure has left of generation `number`, of which the files `torn` are known to
    /// be truncated; without a list of its files, all may be of which the content does not tell.
    fn remains(
        &self,
        number: u64,
        folder: PathBuf,
        torn: Option<Vec<OsString>>,
    ) -> Result<Generation> {
        let forced = self.forced_before(number)?;
        let mut generation = match self.as_it_is(number, folder.clone()) {
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Generation::bare(self.clone(), folder, number)
            }
            found => found?,
        };
        let files = &mut generation.manifest.files;
        if let Some(forced) = &forced {
            let is_known = |name: &OsStr| files.iter().any(|own| own.name == name);
            let others = forced.manifest.files.iter().filter(|file| !is_known(&file.name));
            let others: Vec<_> = others.cloned().collect();
            files.extend(others);
        }
        let mut torn = torn.unwrap_or_else(|| {
            let all = files.iter().map(|file| &file.name);
            all.filter(|name| !manifest::has_checksum(name)).cloned().collect()
        });
        for Listed { name, .. } in files.iter() {
            let is_empty = || {
                let found = found(&generation.folder.join(name))?;
                Ok::<_, Error>(found.is_none_or(|found| found.len() == 0))
            };
            if !torn.contains(name) && manifest::has_checksum(name) && is_empty()? {
                torn.push(name.clone());
            }
        }
        // Fitted categories belong together.
        if torn.iter().any(|name| manifest::is_fitted(name)) {
            let fitted =
                files.iter().map(|file| &file.name).filter(|name| manifest::is_fitted(name));
            let others: Vec<_> = fitted.filter(|name| !torn.contains(name)).cloned().collect();
            torn.extend(others);
        }
        (generation.torn, generation.forced) = (torn, forced.map(Box::new));
        Ok(generation)
    }

    /// Opens a damaged generation as it is, so that reading its files reports what is wrong.
    fn as_it_is(&self, number: u64, folder: PathBuf) -> Result<Generation> {
        let names = entries(&folder)?.into_iter().map(|entry| entry.file_name());
        let mut generation = Generation::bare(self.clone(), folder, number);
        let files = names.filter(|name| name != manifest::NAME).map(|name| Listed::new(name, 0));
        generation.manifest.files.extend(files);
        Ok(generation)
    }

    fn generation(
        &self,
        number: u64,
        folder: &Path,
        purpose: Purpose,
    ) -> Result<Generation, Missing> {
        let path = folder.join(manifest::NAME);
        let refused = |error| Missing::Refused(Error::io(&path, error));
        let known = if_there(open_known(&path)).map_err(refused)?;
        let (file, found) = known.ok_or(Missing::Gone)?;
        let is_locked = match file.try_lock_shared() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => return Err(Missing::Gone),
            // A file system without locks: see `tidy`.
            Err(TryLockError::Error(_)) => false,
        };
        if !is_at(&found, &path).unwrap_or(false) {
            return Err(Missing::Gone);
        }
        let read = filled(found.len(), |bytes| file.read_exact_at(bytes, 0));
        let bytes = read.map_err(refused)?;
        let manifest = Manifest::parse(&bytes).ok_or(Missing::Torn(Torn::List))?;
        let is_needed = |name: &OsStr| {
            Purpose::Read.needs(name) || purpose == Purpose::Change && purpose.needs(name)
        };
        let (seen, torn) = look_at(folder, &manifest, is_needed).map_err(Missing::Refused)?;
        if !torn.is_empty() {
            let what = if manifest.is_forced { Torn::Forced } else { Torn::Files(torn) };
            return Err(Missing::Torn(what));
        }
        let lock = is_locked.then_some(file);
        let bare = Generation::bare(self.clone(), folder.to_path_buf(), number);
        Ok(Generation { manifest, seen: (Some(found), seen), _lock: lock, ..bare })
    }

    /// Whether generation `number` is complete and was synchronised to the device.
    ///
    /// # Errors
    /// [`Error::Io`] when that cannot be found out.
    pub(super) fn is_forced(&self, number: u64) -> Result<bool> {
        let folder = self.folder_of(number);
        let path = folder.join(manifest::NAME);
        let bytes = if_there(read_regular(&path)).map_err(|error| Error::io(&path, error))?;
        let manifest = bytes.and_then(|bytes| Manifest::parse(&bytes));
        let Some(manifest) = manifest else { return Ok(false) };
        let is_needed = |name: &OsStr| Purpose::Read.needs(name) || Purpose::Change.needs(name);
        Ok(manifest.is_forced && look_at(&folder, &manifest, is_needed)?.1.is_empty())
    }
}

/// What is known of the files in `folder` that are needed, in the order of the list, and those that
/// are shorter than the list says or missing.
fn look_at(
    folder: &Path,
    manifest: &Manifest,
    is_needed: impl Fn(&OsStr) -> bool,
) -> Result<(Vec<Option<Metadata>>, Vec<OsString>)> {
    let (mut seen, mut torn) = (Vec::new(), Vec::new());
    for Listed { name, length, .. } in &manifest.files {
        let is_needed = is_needed(name);
        let found = if is_needed { found(&folder.join(name))? } else { None };
        if is_needed && found.as_ref().is_none_or(|found| found.len() < *length) {
            torn.push(name.clone());
        }
        seen.push(found);
    }
    Ok((seen, torn))
}

/// What is known of the file at `path`, if there is one.
fn found(path: &Path) -> Result<Option<Metadata>> {
    if_there(fs::metadata(path)).map_err(|error| Error::io(path, error))
}

/// So many bytes, which `read` fills.
fn filled(length: u64, read: impl FnOnce(&mut [u8]) -> io::Result<()>) -> io::Result<Vec<u8>> {
    let length = usize::try_from(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let mut bytes = Vec::new();
    if !try_room(&mut bytes, length) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    bytes.resize(length, 0);
    read(&mut bytes)?;
    Ok(bytes)
}

impl Generation {
    /// A generation of which no file is known.
    fn bare(store: Store, folder: PathBuf, number: u64) -> Self {
        Self {
            store,
            folder,
            number,
            manifest: Manifest::default(),
            is_earlier: false,
            torn: Vec::new(),
            forced: None,
            sums: OnceLock::new(),
            seen: (None, Vec::new()),
            _lock: None,
        }
    }

    /// The file called `name` in it, or what stands in for it.
    pub fn path(&self, name: &OsStr) -> PathBuf {
        match &self.forced {
            Some(forced) if self.is_torn(name) => forced.path(name),
            _ => self.folder.join(name),
        }
    }

    /// Whether a power failure has truncated the file called `name`. This is known of generations
    /// that are opened to be changed.
    pub fn is_torn(&self, name: &OsStr) -> bool {
        self.torn.iter().any(|torn| torn == name)
    }

    /// Whether a power failure has truncated files.
    pub fn has_torn(&self) -> bool {
        !self.torn.is_empty()
    }

    /// Whether it was synchronised to the device.
    pub const fn is_forced(&self) -> bool {
        self.manifest.is_forced
    }

    /// The last whole generation before it that was synchronised to the device.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn forced_before(&self) -> Result<Option<Self>> {
        self.store.forced_before(self.number)
    }

    /// The checksums of the blocks of the file called `name`; `None` if it has none, as in sets of
    /// older versions.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Damaged`] where the checksums themselves are damaged.
    pub fn sums(&self, name: &OsStr) -> Result<Option<Sums>> {
        if let Some(forced) = self.forced.as_ref().filter(|_| self.is_torn(name)) {
            return forced.sums(name);
        }
        let Some((listed, part)) = self.manifest.part_of(name) else { return Ok(None) };
        let path = self.folder.join(manifest::SUMS);
        let failed = |error| Error::io(&path, error);
        let file = if let Some(file) = self.sums.get() {
            file
        } else {
            let file = open_regular(&path).map_err(failed)?;
            self.sums.get_or_init(|| file)
        };
        let length = usize::try_from(part.end - part.start);
        let mut bytes = vec![0; length.map_err(|_| failed(io::ErrorKind::OutOfMemory.into()))?];
        file.read_exact_at(&mut bytes, part.start).map_err(failed)?;
        let is_right = listed.sum == Some(Checksum::of(&bytes));
        let blocks = self.manifest.blocks(name);
        let sums = Sums::parse(&bytes, blocks, listed.length).filter(|_| is_right);
        let damaged = || Error::damaged(&path, "it does not fit the list of the set's files");
        sums.map(Some).ok_or_else(damaged)
    }

    /// Opens the file called `name`, whose blocks are checked when they are read; also returns its
    /// length.
    ///
    /// # Errors
    /// Those of [`Self::sums`].
    pub fn open_file(&self, name: &OsStr) -> Result<(Checked, u64)> {
        let path = self.path(name);
        let (file, found) = open_known(&path).map_err(|error| Error::io(&path, error))?;
        Ok((Checked::new(file, self.sums(name)?), found.len()))
    }

    /// The bytes of the file called `name`, which were checked.
    ///
    /// # Errors
    /// Those of [`Self::sums`]; [`Error::Damaged`].
    pub fn read(&self, name: &OsStr) -> Result<Vec<u8>> {
        let (file, length) = self.open_file(name)?;
        let read = filled(length, |bytes| file.read_exact_at(bytes, 0));
        read.map_err(|error| Error::unreadable(&self.path(name), error))
    }

    /// The names of its files.
    pub fn names(&self) -> impl Iterator<Item = &OsStr> {
        self.manifest.files.iter().map(|file| file.name.as_os_str())
    }

    /// Checks all blocks of the file called `name`; returns the positions of those that are
    /// damaged.
    ///
    /// # Errors
    /// Those of [`Self::open_file`].
    pub fn damaged_blocks(&self, name: &OsStr) -> Result<Vec<u64>> {
        let checked = self.open_file(name)?.0.check();
        checked.map_err(|error| Error::io(&self.path(name), error))
    }

    /// Whether a file called `name` belongs to it.
    pub fn has(&self, name: &OsStr) -> bool {
        self.manifest.files.iter().any(|file| file.name == name)
    }

    /// Warnings about the set.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings: Vec<Warning> = self.warning_of_damage().into_iter().collect();
        self.warn_of_access(&mut |warning| warnings.push(warning));
        warnings
    }

    /// The warning that it stands for a later one that is damaged.
    pub fn warning_of_damage(&self) -> Option<Warning> {
        let name = self.store.folder.display();
        let text = format!("the last changes of {name} are damaged: what was before them is used");
        self.is_earlier.then(|| Warning::new(text))
    }

    /// Warns of each of its folders and files that anybody may write to, of the folder that the set
    /// is in, and of the first that is another user's.
    pub fn warn_of_access(&self, warnings: WarningSink<'_>) {
        access::warning_about(folder_of(&self.store.folder)).into_iter().for_each(&mut *warnings);
        let own = rustix::process::geteuid().as_raw();
        let is_foreign = |uid: u32| uid != own && uid != 0 && own != 0;
        let (list, seen) = &self.seen;
        let seen = seen.iter().map(Option::as_ref).chain(std::iter::repeat(None));
        let files = self.manifest.files.iter().map(|file| self.path(&file.name)).zip(seen);
        let own_files = [self.store.folder.clone(), self.folder.clone()].map(|path| (path, None));
        let list = (self.folder.join(manifest::NAME), list.as_ref());
        let mut foreign = None;
        for (path, seen) in own_files.into_iter().chain([list]).chain(files) {
            let found = seen.cloned().map_or_else(|| fs::metadata(&path), Ok);
            let Ok(found) = found else { continue };
            // Its name takes a look at the link, and is seldom needed.
            let name = || self.store.in_current(self.number, &path);
            access::warning_of(name, &found).into_iter().for_each(&mut *warnings);
            if is_foreign(found.uid()) {
                foreign.get_or_insert_with(name);
            }
        }
        if let Some(name) = foreign {
            warnings(Warning::new(format!("{} belongs to another user", name.display())));
        }
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
