// SPDX-License-Identifier: GPL-3.0-or-later
//! Who may use the files of a set: a change of the set leaves that as it was.
//!
//! A file that replaces another gets its mode and group, a new file those that all others have in
//! common. What the superuser makes belongs to the owner of the set.

use super::Generation;
use dbacl_files::atomic_file::{Access, folder_of};
use rustix::fs::OFlags;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, fchown, lchown};
use std::path::Path;

/// The mode of new folders.
const FOLDER: u32 = 0o700;

/// The mode of new files.
pub const FILE: u32 = 0o600;

/// Bits of a mode that a new file may have in common with the others.
const COMMON: u32 = 0o064;

/// The bits that matter: a group can be inherited from the folder.
const BITS: u32 = 0o2777;

/// Who may use a file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ownership {
    owner: u32,
    group: u32,
    mode: u32,
}

impl Ownership {
    /// That of a file or folder.
    pub fn of(found: &Metadata) -> Self {
        Self { owner: found.uid(), group: found.gid(), mode: found.mode() & BITS }
    }

    /// That of a new folder beside `anchor` for the files that users know as `files`: whoever could
    /// read or write them can do so in the folder. Without files it is its owner's alone.
    pub fn of_folder<'a>(anchor: &Path, files: impl Iterator<Item = &'a Path>) -> io::Result<Self> {
        let above = fs::metadata(folder_of(anchor))?;
        let mut own = Self { owner: above.uid(), group: above.gid(), mode: FOLDER };
        let mut group = None;
        for file in files {
            let Ok(found) = fs::metadata(file) else { continue };
            own.owner = found.uid();
            if found.mode() & 0o004 != 0 {
                own.mode |= 0o005;
            }
            if found.mode() & 0o040 != 0 {
                // Whoever may write a file could also replace it in the folder above.
                let may_write = found.mode() & above.mode() & 0o020;
                own.mode |= 0o050 | may_write;
                if group.replace(found.gid()).is_some_and(|other| other != found.gid()) {
                    // There is no group that may read them all.
                    return Ok(Self { mode: own.mode & !0o070, ..own });
                }
            }
        }
        own.group = group.unwrap_or(own.group);
        Ok(own)
    }

    /// The same with no wider access than `widest`.
    pub const fn within(self, widest: Self) -> Self {
        Self { mode: self.mode & (widest.mode | 0o2000), ..self }
    }

    /// That of a generation's folder in a set's folder with this ownership: not everybody may write
    /// to it, even if everybody may write to the set's folder.
    pub const fn of_generation(self) -> Self {
        Self { mode: self.mode & !0o002, ..self }
    }

    /// Whether this is the owner of the folder `new`, which this process has just made, and gives
    /// no wider access than it has.
    pub fn is_within(self, new: &Path) -> bool {
        fs::metadata(new)
            .is_ok_and(|new| new.uid() == self.owner && self.mode & 0o777 & !new.mode() == 0)
    }

    /// Gives the folder at `path`, which was found, no wider access than this, if that is
    /// permitted. Returns whether its owner is trusted with the set: the superuser would give the
    /// set to the owner of its files, so the folder must be that user's or the superuser's own.
    pub fn narrow(self, path: &Path) -> io::Result<bool> {
        let path = fs::canonicalize(path)?;
        let found = fs::metadata(&path)?;
        if is_root() && found.uid() != 0 && found.uid() != self.owner {
            return Ok(false);
        }
        let narrow = Self { mode: Self::of(&found).within(self).mode, ..self };
        // Whether it has become narrower is seen later.
        narrow.give(&path, &found).map(|_| true)
    }

    /// That of the file called `name` in a generation after `base`, in the folder of a set with the
    /// ownership `self`.
    pub fn of_file(self, name: &OsStr, base: Option<&Generation>) -> Self {
        let private = Self { mode: FILE, ..self };
        let Some(base) = base else { return private };
        let of = |name: &OsStr| fs::metadata(base.path(name)).map(|found| Self::of(&found));
        if let Ok(replaced) = of(name) {
            return Self { owner: self.owner, mode: replaced.mode & 0o777, ..replaced };
        }
        let mut common: Option<Self> = None;
        for other in base.manifest.files.iter().filter_map(|file| of(&file.name).ok()) {
            let known = common.get_or_insert(Self { owner: self.owner, ..other });
            known.mode &= other.mode;
            if known.group != other.group {
                known.mode &= !0o070;
            }
        }
        common.map_or(private, |common| Self { mode: FILE | common.mode & COMMON, ..common })
    }

    /// The same for the list of files, which everybody reads who reads one of the files.
    pub const fn with_readers(self, mode: u32) -> Self {
        Self { mode: FILE | mode & 0o044, ..self }
    }

    /// Makes a folder.
    pub fn make_folder(self, path: &Path) -> io::Result<bool> {
        // Where this mode is right, it is not set again: that could take away the bit for
        // inheriting the group, which a folder gets from the one that it is made in.
        DirBuilder::new().mode(self.mode & 0o777).create(path)?;
        let found = fs::metadata(path)?;
        let inherited = found.mode() & 0o2000;
        Self { mode: self.mode | inherited, ..self }.give(path, &found)
    }

    /// Gives it to a file or folder that this process made, as far as that is permitted. Returns
    /// whether all was.
    pub fn give(self, path: &Path, found: &Metadata) -> io::Result<bool> {
        let is_group_right = found.gid() == self.group || self.mode & 0o070 == 0;
        let is_right = is_group_right && found.mode() & BITS == self.mode;
        let is_owner_right = found.uid() == self.owner || !is_root();
        if is_right && is_owner_right {
            return Ok(true);
        }
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
            // It is another user's.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(false),
            file => file?,
        };
        let mut found = file.metadata()?;
        // A file with several names may be any file on the disk.
        let is_new = found.uid() == 0 && (found.is_dir() || found.nlink() == 1);
        if !is_owner_right && is_new {
            // Not every file system has owners.
            let _ = fchown(&file, Some(self.owner), Some(self.group));
            found = file.metadata()?;
        }
        if is_right {
            return Ok(true);
        }
        let group = if is_group_right { found.gid() } else { self.group };
        match (Access::Like { mode: self.mode, group }).apply(&file) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(false),
            given => given,
        }
    }

    /// Gives a link its owner if the superuser made it.
    pub fn give_link(self, path: &Path) {
        if is_root() && fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
            // Whose it is matters only to who wants to replace it.
            let _ = lchown(path, Some(self.owner), Some(self.group));
        }
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, chown};

    #[test]
    fn files_of_different_groups_give_no_group_access() {
        let room = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| room.path().join(name));
        for path in [&one, &other] {
            fs::write(path, "").unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o640)).unwrap();
        }
        let mode = || {
            let files = [one.as_path(), other.as_path()].into_iter();
            Ownership::of_folder(&room.path().join("set"), files).unwrap().mode
        };
        assert_eq!(mode(), 0o750);
        if chown(&other, None, Some(65_534)).is_err() {
            return; // only the superuser can give files away
        }
        assert_eq!(mode(), 0o700);
    }
}
