// SPDX-License-Identifier: GPL-3.0-or-later
//! Changing a set: a new generation is made in a folder of its own, and becomes current by one
//! rename.

use super::ledger_file;
use super::manifest::{self, Listed, Manifest, Purpose};
use super::ownership::{FILE, Ownership};
use super::{CURRENT, Generation, NEW, Store, entries, is_foreign_link, number};
use crate::category::access;
use crate::error::{Error, Result, Warning, WarningSink};
use crate::fit::checksum::Checksum;
use dbacl_files::atomic_file::{Disk, Storage, beside, folder_of, remove_if_there};
use dbacl_files::checked::{Checked, Sums};
use dbacl_files::reading::{if_there, open_regular, read_beginning};
use rustix::fs::{AtFlags, CWD, linkat};
#[cfg(target_os = "linux")]
use rustix::fs::{RenameFlags, renameat_with};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The name of the link that is going to replace the one to the current generation.
pub(super) const CURRENT_NEW: &str = "current.new";

/// The name that a folder gets which stands in place of the link to the current generation.
const REPLACED: &str = "new.replaced";

/// What of a generation is forced to the device before it becomes current.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Force {
    /// Everything.
    All,
    /// The documents that were learned or corrected. All else can be made again from them.
    Lessons,
}

/// The usual number of generations: the current one, the one before, and the last that was
/// synchronised to the device.
const USUAL: usize = 3;

/// A path by which users know a file of the set.
#[derive(Debug, Clone)]
pub struct Name {
    /// The name.
    pub path: PathBuf,
    /// The name of the file in the set.
    pub member: OsString,
    /// How the file must begin to be replaced.
    pub ours: &'static [u8],
}

/// What is at a name.
enum Found {
    /// The link to its file in the set.
    Link,
    /// A file that is not in the set yet.
    File,
    /// Nothing.
    Nothing,
}

/// A generation that is being made. It is removed if this is dropped before it is published.
#[derive(Debug)]
pub struct Change {
    /// The set that is changed.
    pub store: Store,
    /// The folder in which the generation is being made.
    pub folder: PathBuf,
    /// The list of files, locked while the folder is being filled.
    list: File,
    /// The generation that it began with; `None` if there was none, or if the change replaces the
    /// whole set.
    pub base: Option<Generation>,
    /// Whether everybody can use its folder who may use the set's folder.
    is_accessible: bool,
    /// Whether all names that the change began with are links to the set.
    pub is_linked: bool,
    /// Whether its files came into the set unchanged, so that they keep their access.
    is_taken_over: bool,
    is_current: bool,
    /// Files whose checksums are known, each open, so that no other file can be taken for it.
    known: Mutex<Vec<(File, Sums)>>,
}

impl Store {
    /// Begins a change of the set with these names; the caller holds the lock. Files that are not
    /// in the set yet are in the generation that is being made; [`Self::take_over`] must be called
    /// before it becomes current. Warnings tell of files that others may write to.
    ///
    /// # Errors
    /// [`Error::Occupied`] when a name is taken by something else, [`Error::OpenToOthers`],
    /// [`Error::Io`].
    pub fn change(&self, names: &[Name], warnings: WarningSink<'_>) -> Result<Change> {
        let mut foreign = Vec::new();
        let mut is_linked = true;
        for name in names {
            let found = self.look(name)?;
            is_linked &= matches!(found, Found::Link);
            if let Found::File = found {
                foreign.push(name);
            }
        }
        let mut change = self.begin(true, &foreign)?;
        self.warn_of_access(change.base.as_ref(), &foreign, warnings);
        change.is_linked = is_linked;
        for name in &foreign {
            let target = change.path(&name.member);
            remove_if_there(&target).map_err(|error| Error::io(&target, error))?;
            same_file(&name.path, &target).map_err(|error| Error::io(&name.path, error))?;
        }
        Ok(change)
    }

    /// Begins a change that replaces the whole set, which has these names now: the generation is
    /// empty. Warnings tell of files that others may write to.
    ///
    /// # Errors
    /// [`Error::Occupied`], [`Error::OpenToOthers`], [`Error::Io`].
    pub fn replacement(&self, names: &[Name], warnings: WarningSink<'_>) -> Result<Change> {
        let change = self.begin(false, &[])?;
        // What is damaged is replaced.
        let now = self.open_to_change().ok().flatten();
        self.warn_of_access(now.as_ref(), &self.foreign(names)?, warnings);
        Ok(change)
    }

    /// Begins a change that gives the set, which is new, the files of `other`, a generation of
    /// another set, with their access. Files are shared with it; ledgers, to which documents are
    /// added in place, are copied, and so are files of other users.
    ///
    /// # Errors
    /// [`Error::Occupied`], [`Error::OpenToOthers`], [`Error::Damaged`], [`Error::Io`].
    pub fn copy_of(&self, other: &Generation) -> Result<Change> {
        let mut change = self.begin(false, &[])?;
        let own = rustix::process::geteuid().as_raw();
        for name in other.names().filter(|name| *name != manifest::SUMS) {
            let (from, to) = (other.path(name), change.path(name));
            let is_own = fs::metadata(&from).is_ok_and(|found| found.uid() == own);
            let is_shared = is_own && !ledger_file::is_ledger(&from);
            let made = if is_shared { same_file(&from, &to) } else { copy(&from, &to) };
            made.map_err(|error| Error::io(&from, error))?;
            // What is damaged does not become right by being copied.
            if let Some(sums) = other.sums(name)? {
                change.know(name, sums)?;
            }
        }
        change.is_taken_over = true;
        Ok(change)
    }

    /// Warns of what others may write to: the files of a generation, or the folder that it is going
    /// to be in, and files that are not in the set yet.
    fn warn_of_access(
        &self,
        now: Option<&Generation>,
        foreign: &[&Name],
        warnings: WarningSink<'_>,
    ) {
        match now {
            Some(now) => now.warn_of_access(warnings),
            None => {
                access::warning_about(folder_of(&self.folder)).into_iter().for_each(&mut *warnings);
            }
        }
        for name in foreign {
            access::warning_about(&name.path).into_iter().for_each(&mut *warnings);
        }
    }

    /// Moves files into the set that stand at its names and are not links to it yet. They become
    /// its current generation unchanged, then their names become links to it.
    ///
    /// # Errors
    /// Those of [`Self::change`].
    pub fn take_over(&self, names: &[Name]) -> Result<()> {
        let foreign = self.foreign(names)?;
        if foreign.is_empty() {
            return Ok(());
        }
        let mut change = self.change(names, &mut |_| {})?;
        change.is_taken_over = true;
        // A warning comes with the change that follows.
        change.publish(Force::All)?;
        foreign.into_iter().try_for_each(|name| self.link(name))
    }

    /// The names that are files and not links to the set.
    fn foreign<'a>(&self, names: &'a [Name]) -> Result<Vec<&'a Name>> {
        let mut foreign = Vec::new();
        for name in names {
            if let Found::File = self.look(name)? {
                foreign.push(name);
            }
        }
        Ok(foreign)
    }

    /// Makes links to the files of the set at names where nothing stands yet.
    ///
    /// # Errors
    /// [`Error::Occupied`] when a name is taken by something else, [`Error::Io`].
    pub fn link_names<'a>(&self, names: impl IntoIterator<Item = &'a Name>) -> Result<()> {
        for name in names {
            if !matches!(self.look(name)?, Found::Link) {
                self.link(name)?;
            }
        }
        Ok(())
    }

    /// Removes links to files that the current generation does not have.
    pub fn unlink_names<'a>(&self, names: impl IntoIterator<Item = &'a Name>) {
        for name in names {
            if matches!(self.look(name), Ok(Found::Link)) && !name.path.exists() {
                // A link that cannot be removed leads nowhere.
                let _ = fs::remove_file(&name.path);
            }
        }
    }

    fn look(&self, name: &Name) -> Result<Found> {
        let failed = |error| Error::io(&name.path, error);
        let found = if_there(fs::symlink_metadata(&name.path)).map_err(failed)?;
        let Some(found) = found else { return Ok(Found::Nothing) };
        let occupied = || Error::Occupied { path: name.path.clone() };
        if found.is_symlink()
            && let Some((store, member)) = Self::of_link(&name.path)
        {
            if member == name.member && store.is(self) {
                return Ok(Found::Link);
            }
            return if name.path.is_file() { Ok(Found::File) } else { Ok(Found::Nothing) };
        }
        // A link of the user's own, as to a file on another disk, is followed.
        if is_foreign_link(&found) {
            return Err(occupied());
        }
        let beginning = match read_beginning(&name.path, name.ours.len() as u64) {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Err(occupied()),
            read => if_there(read).map_err(failed)?.ok_or_else(occupied)?,
        };
        if name.ours.starts_with(&beginning) { Ok(Found::File) } else { Err(occupied()) }
    }

    /// Makes `name` a link to its file in the set, in place of what is there.
    fn link(&self, name: &Name) -> Result<()> {
        let place = |path: &Path| fs::canonicalize(folder_of(path));
        let (own, others) = (place(&self.folder), place(&name.path));
        let folder = match (own, others, self.folder.file_name()) {
            (Ok(own), Ok(other), Some(folder)) if own == other => PathBuf::from(folder),
            (Ok(own), _, Some(folder)) => own.join(folder),
            _ => self.folder.clone(),
        };
        let target = folder.join(CURRENT).join(&name.member);
        let ownership = self.ownership()?;
        let temporary = beside(&name.path, ".link");
        let failed = |error| Error::io(&name.path, error);
        // A link that a killed process has left.
        if fs::read_link(&temporary).is_ok_and(|found| found == target) {
            fs::remove_file(&temporary).map_err(failed)?;
        }
        symlink(&target, &temporary).map_err(|error| Error::io(&temporary, error))?;
        ownership.give_link(&temporary);
        fs::rename(&temporary, &name.path).map_err(|error| {
            let _ = fs::remove_file(&temporary);
            failed(error)
        })
    }

    /// Makes the store's folder, with access for all who may read the `files`. A folder that is
    /// there and has no set yet gets no wider access than that; then this access is returned.
    ///
    /// # Errors
    /// Those of [`Self::check_folder`]; [`Error::OpenToOthers`].
    fn make_folder(&self, files: &[&Name]) -> Result<Option<Ownership>> {
        let failed = |error| Error::io(&self.folder, error);
        let files = files.iter().map(|name| name.path.as_path());
        let wanted = Ownership::of_folder(&self.folder, files).map_err(failed)?;
        match wanted.make_folder(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|_| None).map_err(failed),
        }
        if self.check_folder()? {
            return Ok(None);
        }
        let is_right = wanted.narrow(&self.folder).map_err(failed)?;
        let open = || Error::OpenToOthers { path: self.folder.clone() };
        if is_right { Ok(Some(wanted)) } else { Err(open()) }
    }

    /// Who may use the store's folder.
    fn ownership(&self) -> Result<Ownership> {
        let found = fs::metadata(&self.folder).map_err(|error| Error::io(&self.folder, error))?;
        Ok(Ownership::of(&found))
    }

    /// Whether a set is in the folder that is already there. A set can be put into a folder that
    /// holds nothing but what an unfinished change has left.
    ///
    /// # Errors
    /// [`Error::Occupied`] when it holds something else: it is the user's own. [`Error::Io`].
    fn check_folder(&self) -> Result<bool> {
        let failed = |error| Error::io(&self.folder, error);
        let occupied = || Error::Occupied { path: self.folder.clone() };
        if !fs::metadata(&self.folder).map_err(failed)?.is_dir() {
            return Err(occupied());
        }
        if fs::symlink_metadata(self.current_link()).is_ok() {
            return Ok(true);
        }
        for entry in entries(&self.folder)? {
            let (name, path) = (entry.file_name(), entry.path());
            let is_ours = match number(&name) {
                // Another process may have put a set into the folder since the look at it.
                _ if name == CURRENT_NEW || name == CURRENT => {
                    entry.file_type().map_err(failed)?.is_symlink()
                }
                None if !name.as_bytes().starts_with(NEW.as_bytes()) => false,
                _ => list_in(&path).is_some() || is_empty_folder(&path),
            };
            if !is_ours {
                return Err(occupied());
            }
        }
        Ok(false)
    }

    /// Begins a change, with the files of the current generation or without them. `foreign` are
    /// files of the set that are not in it yet.
    fn begin(&self, with_files: bool, foreign: &[&Name]) -> Result<Change> {
        self.refuse_foreign_link()?;
        let is_found = self.make_folder(foreign)?;
        let base = if with_files { self.open_to_change()? } else { None };
        let numbers = self.remove_unfinished()?;
        if numbers.len() > USUAL {
            // What cannot be removed now is removed at the next change.
            let _ = self.tidy(None);
        }
        let own = self.ownership()?;
        let ownership = is_found.map_or(own, |wanted| own.within(wanted));
        let none = || Err(Error::io(&self.folder, io::ErrorKind::AlreadyExists.into()));
        let mut folders = (0..1000).map(|number| self.folder.join(format!("{NEW}{number}")));
        let made =
            folders.find_map(|folder| match ownership.of_generation().make_folder(&folder) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
                Err(error) => Some(Err(Error::io(&folder, error))),
                Ok(is_right) => Some(Ok((folder, is_right))),
            });
        let (folder, is_accessible) = made.unwrap_or_else(none)?;
        // Who owns a new folder, and what modes there are, depends on the file system.
        if is_found.is_some() && !own.is_within(&folder) {
            let _ = fs::remove_dir(&folder);
            return Err(Error::OpenToOthers { path: self.folder.clone() });
        }
        let path = folder.join(manifest::NAME);
        let list = OpenOptions::new().write(true).create_new(true).mode(FILE).open(&path);
        let list = list.map_err(|error| {
            let _ = fs::remove_dir(&folder);
            Error::io(&path, error)
        })?;
        let _ = list.try_lock(); // where there are no locks nobody else tidies up
        let store = self.clone();
        let mut change = Change {
            store,
            folder,
            list,
            base: None,
            is_accessible,
            is_linked: false,
            is_taken_over: false,
            known: Mutex::default(),
            is_current: false,
        };
        if let Some(base) = &base {
            let files = base.manifest.files.iter().filter(|file| file.name != manifest::SUMS);
            for Listed { name, .. } in files {
                if fs::symlink_metadata(base.path(name)).is_ok_and(|found| found.is_symlink()) {
                    return Err(Error::damaged(&base.path(name), "it is a link out of its folder"));
                }
                let (from, to) = (base.path(name), change.path(name));
                match same_file(&from, &to) {
                    // A file that is missing and not indispensable is made again.
                    Err(error)
                        if error.kind() == io::ErrorKind::NotFound
                            && (base.has_torn() || !Purpose::Change.needs(name)) => {}
                    done => done.map_err(|error| Error::io(&from, error))?,
                }
            }
        }
        change.base = base;
        Ok(change)
    }

    /// Renames a link to generation `number` over the one to the current generation.
    fn make_current(&self, number: u64) -> Result<()> {
        let (link, new) = (self.current_link(), self.folder.join(CURRENT_NEW));
        let rename = || match fs::rename(&new, &link) {
            // A copy for which links were followed has a folder there, which the next change
            // removes.
            Err(_) if fs::symlink_metadata(&link).is_ok_and(|found| found.is_dir()) => {
                exchange(&new, &link, &self.folder.join(REPLACED))
            }
            renamed => renamed,
        };
        let ownership = self.ownership()?;
        let linked = symlink(number.to_string(), &new).and_then(|()| {
            ownership.give_link(&new);
            rename()
        });
        linked.map_err(|error| {
            let _ = fs::remove_file(&new);
            Error::io(&link, error)
        })
    }

    /// Removes changes that were not finished. Returns the numbers of all generations, in order.
    fn remove_unfinished(&self) -> Result<Vec<u64>> {
        for entry in entries(&self.folder)? {
            let name = entry.file_name();
            if name == CURRENT_NEW {
                let _ = fs::remove_file(entry.path());
            } else if name.as_bytes().starts_with(NEW.as_bytes()) {
                remove_unused(&entry.path());
            }
        }
        self.numbers()
    }

    /// Removes what is no longer needed: changes that were not finished, and generations that are
    /// not the current one, nor the one before (a program that takes no locks, such as dbacl
    /// 1.14.1, may be about to open it), nor the last that was synchronised to the device, nor in
    /// use. `just` is the one before if it is known.
    fn tidy(&self, just: Option<u64>) -> Result<()> {
        let current = self.current()?;
        let mut numbers = self.remove_unfinished()?;
        let Some((current, _)) = current else { return Ok(()) };
        // Folders of the user that are named with a number are not counted.
        numbers.retain(|number| list_in(&self.folder_of(*number)).is_some());
        let before = numbers.iter().rev().copied().find(|&number| number < current);
        let before = just.or(before);
        if numbers.iter().all(|&number| number == current || Some(number) == before) {
            return Ok(());
        }
        let mut forced = None;
        for &number in numbers.iter().rev().filter(|&&number| number <= current) {
            if self.is_forced(number)? {
                forced = Some(number);
                break;
            }
        }
        let needed = [Some(current), before, forced];
        for number in numbers {
            if !needed.contains(&Some(number)) {
                remove_unused(&self.folder_of(number));
            }
        }
        Ok(())
    }
}

impl Change {
    /// The path of the file called `name` while the generation is being made. Other generations may
    /// share the file, so it must be replaced and not changed.
    pub fn path(&self, name: &OsStr) -> PathBuf {
        self.folder.join(name)
    }

    /// Whether there is a file called `name`.
    ///
    /// # Errors
    /// [`Error::Io`] when that cannot be found out.
    pub fn has(&self, name: &OsStr) -> Result<bool> {
        let path = self.path(name);
        path.try_exists().map_err(|error| Error::io(&path, error))
    }

    /// Makes this the current generation, after forcing to the device what `force` says. Returns a
    /// warning if others who could use the set may be unable to use this generation.
    ///
    /// # Errors
    /// [`Error::Io`]; then the set is unchanged.
    pub fn publish(mut self, force: Force) -> Result<Option<Warning>> {
        let is_forced = force == Force::All;
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            move |error| Error::io(&path, error)
        };
        // Nothing more is needed of it, and what is in use cannot be removed.
        self.base = None;
        let base = self.store.open()?;
        let set = self.store.ownership()?;
        let mut manifest = Manifest { is_forced, ..Manifest::default() };
        let mut readers = 0;
        let mut forced = Vec::new();
        for entry in entries(&self.folder)? {
            let found = entry.metadata().map_err(failed(&entry.path()))?;
            let name = entry.file_name();
            if name == manifest::NAME || !found.is_file() {
                continue;
            }
            let mut own = found.mode();
            if !self.is_taken_over {
                let wanted = set.of_file(&name, base.as_ref());
                let given = wanted.give(&entry.path(), &found);
                self.is_accessible &= given.map_err(failed(&entry.path()))?;
                own = fs::metadata(entry.path()).map_err(failed(&entry.path()))?.mode();
            }
            readers |= own;
            let is_lesson = manifest::is_of_lessons(&name) && !is_old(&found, &name, base.as_ref());
            if is_forced || is_lesson {
                forced.push(entry.path());
            }
            manifest.files.push(Listed::new(name, found.len()));
        }
        manifest.files.sort();
        let mut open = OpenOptions::new();
        let open = open.write(true).create_new(true).mode(FILE);
        let path = self.folder.join(manifest::SUMS);
        let bytes = self.sums(&mut manifest, base.as_ref())?;
        let made = open.open(&path).and_then(|mut file| file.write_all(&bytes).map(|()| file));
        let sums = made.map_err(failed(&path))?;
        manifest.files.push(Listed::new(manifest::SUMS.into(), bytes.len() as u64));
        let list_path = self.folder.join(manifest::NAME);
        self.list.write_all(&manifest.bytes()).map_err(failed(&list_path))?;
        for (path, file) in [(&path, &sums), (&list_path, &self.list)] {
            let found = file.metadata();
            let given = found.and_then(|found| set.with_readers(readers).give(path, &found));
            self.is_accessible &= given.map_err(failed(path))?;
        }
        forced.extend([path, list_path, self.folder.clone()]);
        sync_all(&forced)?;
        let last = self.store.numbers()?.last().copied().unwrap_or(0);
        let number = last.checked_add(1).ok_or_else(|| {
            let last = self.store.folder_of(last);
            Error::damaged(&last, "no generation can come after this one")
        })?;
        let numbered = self.store.folder_of(number);
        fs::rename(&self.folder, &numbered).map_err(failed(&numbered))?;
        self.folder = numbered;
        sync(&self.store.folder).map_err(failed(&self.store.folder))?;
        // Readers take a lock, too.
        let _ = self.list.unlock();
        self.store.make_current(number)?;
        self.is_current = true;
        // The change is made; only its survival of a power failure may fail to be ensured.
        let _ = sync(&self.store.folder);
        // Files that cannot be removed now are removed at the next change.
        let _ = self.store.tidy(base.map(|base| base.number));
        let text = || {
            let folder = self.store.folder.display();
            format!("{folder}: its files cannot be given to the group that they belonged to")
        };
        Ok((!self.is_accessible).then(|| Warning::new(text())))
    }
}

/// What fails is reading or writing a file ([`Error::Io`]).
#[allow(clippy::missing_errors_doc)]
impl Change {
    /// The checksums of the blocks of all files, whose own checksums it puts into the list. A file
    /// that was there before keeps the checksums that it had.
    fn sums(&self, manifest: &mut Manifest, base: Option<&Generation>) -> Result<Vec<u8>> {
        let (mut bytes, mut buffer) = (Vec::new(), Vec::new());
        for at in 0..manifest.files.len() {
            let name = manifest.files[at].name.clone();
            if !manifest::needs_sums(&name) {
                continue;
            }
            let path = self.path(&name);
            let failed = |error| Error::io(&path, error);
            let file = open_regular(&path).map_err(failed)?;
            let blocks = manifest.blocks(&name);
            if blocks.from > 0
                && let Ok(head) = ledger_file::head(&path)
            {
                // The next addition overwrites what a killed process has left behind the records.
                let length = &mut manifest.files[at].length;
                *length = (head.body() + head.length).min(*length);
            }
            let noted = |of: &Mutex<Vec<(File, Sums)>>| {
                let all = of.lock().unwrap_or_else(PoisonError::into_inner);
                all.iter().find(|(file, _)| is_same(file, &path)).map(|(_, sums)| sums.clone())
            };
            let known = noted(&self.known).or_else(|| {
                let base = base.filter(|base| is_same(&file, &base.path(&name)))?;
                base.sums(&name).ok()?
            });
            let length = manifest.files[at].length;
            let sums = Sums::of(&file, blocks, length, known, &mut buffer).map_err(failed)?;
            let own = sums.bytes();
            manifest.files[at].sum = Some(Checksum::of(&own));
            bytes.extend_from_slice(&own);
        }
        Ok(bytes)
    }

    /// Notes the checksums of the file called `name` as it is now, so that it is not read again.
    pub fn know(&self, name: &OsStr, sums: Sums) -> Result<()> {
        let path = self.path(name);
        let file = open_regular(&path).map_err(|error| Error::io(&path, error))?;
        self.known.lock().unwrap_or_else(PoisonError::into_inner).push((file, sums));
        Ok(())
    }

    /// The checksums of the file called `name`, if it is still the one that the change began with.
    pub fn sums_of(&self, name: &OsStr) -> Result<Option<Sums>> {
        let Some(base) = &self.base else { return Ok(None) };
        let path = self.path(name);
        let file = open_regular(&path).map_err(|error| Error::io(&path, error))?;
        if !is_same(&file, &base.path(name)) {
            return Ok(None);
        }
        match base.sums(name) {
            // The change makes them again.
            Err(Error::Damaged { .. }) => Ok(None),
            sums => sums,
        }
    }

    /// Whether the file called `name` is the one that the change began with, and damaged.
    pub fn is_damaged(&self, name: &OsStr) -> Result<bool> {
        let path = self.path(name);
        let failed = |error| Error::io(&path, error);
        let sums = self.sums_of(name)?;
        let file = open_regular(&path).map_err(failed)?;
        Ok(!Checked::new(file, sums).check().map_err(failed)?.is_empty())
    }

    /// Puts an empty file in place of the one called `name`, which is damaged.
    pub fn empty(&self, name: &OsStr) -> Result<()> {
        let path = self.path(name);
        remove_if_there(&path).map_err(|error| Error::io(&path, error))?;
        let made = OpenOptions::new().write(true).create_new(true).mode(FILE).open(&path);
        made.map(|_| ()).map_err(|error| Error::io(&path, error))
    }
}

/// Whether `file` is the one at `path`.
fn is_same(file: &File, path: &Path) -> bool {
    let of = |found: fs::Metadata| (found.dev(), found.ino());
    let own = file.metadata().map(of);
    own.is_ok_and(|own| fs::metadata(path).is_ok_and(|found| of(found) == own))
}

impl Drop for Change {
    fn drop(&mut self) {
        if !self.is_current {
            remove_folder(&self.folder);
            // The set has no generation, so its folder is removed.
            let _ = fs::remove_dir(&self.store.folder);
        }
    }
}

/// Gives the link at `new` the name of the folder at `link`, which gets the name `replaced`: at
/// once where the system can do that.
fn exchange(new: &Path, link: &Path, replaced: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if renameat_with(CWD, new, CWD, link, RenameFlags::EXCHANGE).is_ok() {
        return fs::rename(new, replaced);
    }
    fs::rename(link, replaced)?;
    fs::rename(new, link)
}

/// Makes `to` another name of the file at `from`, links followed; where that is impossible, a copy.
fn same_file(from: &Path, to: &Path) -> io::Result<()> {
    if linkat(CWD, from, CWD, to, AtFlags::SYMLINK_FOLLOW).is_ok() {
        return Ok(());
    }
    copy(from, to)
}

/// Copies a file with its mode.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    // Copying would wait for a pipe.
    open_regular(from)?;
    fs::copy(from, to).map(|_| ())
}

/// Whether the file called `name`, which was found in a new generation, is as it was in `base`.
fn is_old(found: &fs::Metadata, name: &OsStr, base: Option<&Generation>) -> bool {
    let Some(base) = base else { return false };
    let length = base.manifest.length_of(name);
    let is_same = fs::metadata(base.path(name)).is_ok_and(|old| old.ino() == found.ino());
    is_same && length.is_some_and(|length| length >= found.len())
}

#[cfg(test)]
thread_local! {
    /// What was forced to the device.
    pub(super) static FORCED: std::cell::RefCell<Vec<PathBuf>> = const {
        std::cell::RefCell::new(Vec::new())
    };
}

/// Forces files and folders to the device, all at the same time: most file systems force what was
/// written to all of them at once, so one waits hardly longer for many than for one.
fn sync_all(paths: &[PathBuf]) -> Result<()> {
    #[cfg(test)]
    FORCED.with_borrow_mut(|forced| forced.extend_from_slice(paths));
    let done: Vec<io::Result<()>> = std::thread::scope(|scope| {
        let begin =
            |path| std::thread::Builder::new().spawn_scoped(scope, move || Disk.sync_folder(path));
        let begun: Vec<_> = paths.iter().map(|path| (path, begin(path))).collect();
        let end = |(path, begun): (&PathBuf, io::Result<std::thread::ScopedJoinHandle<'_, _>>)| {
            // Where there can be no more threads, this one waits.
            let waited = begun.ok().and_then(|thread| thread.join().ok());
            waited.unwrap_or_else(|| Disk.sync_folder(path))
        };
        begun.into_iter().map(end).collect()
    });
    for (path, done) in paths.iter().zip(done) {
        done.map_err(|error| Error::io(path, error))?;
    }
    Ok(())
}

/// Forces a file or folder to the device.
fn sync(path: &Path) -> io::Result<()> {
    #[cfg(test)]
    FORCED.with_borrow_mut(|forced| forced.push(path.to_path_buf()));
    Disk.sync_folder(path)
}

/// The list of files in a generation's folder, open; `None` where there is none. If a named pipe
/// stands there, opening does not wait.
fn list_in(folder: &Path) -> Option<File> {
    if !fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir()) {
        return None;
    }
    let file = open_regular(&folder.join(manifest::NAME)).ok()?;
    // It is empty while the folder is being filled, and may be empty after a power failure.
    let mut beginning = Vec::new();
    (&file).take(manifest::ANY_MAGIC.len() as u64).read_to_end(&mut beginning).ok()?;
    manifest::ANY_MAGIC.as_bytes().starts_with(&beginning).then_some(file)
}

fn is_empty_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
        && fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

/// Removes a generation's folder unless it is in use. A link in its place is left alone, and so is
/// a folder without the list of files: it is not a generation but the user's own.
fn remove_unused(folder: &Path) {
    let Some(list) = list_in(folder) else {
        if is_empty_folder(folder) {
            // A process that was killed may have left it.
            let _ = fs::remove_dir(folder);
        }
        return;
    };
    // The lock is held until the folder is removed.
    if list.try_lock().is_ok() {
        remove_folder(folder);
    }
}

/// Removes a folder and the files in it, as far as possible. The list of files is removed last,
/// because a folder without it is taken for a foreign one.
fn remove_folder(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name() != manifest::NAME {
            let _ = fs::remove_file(entry.path());
        }
    }
    let _ = fs::remove_file(folder.join(manifest::NAME));
    let _ = fs::remove_dir(folder);
}
