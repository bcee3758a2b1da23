// SPDX-License-Identifier: GPL-3.0-or-later
//! Opens a category: its file is read into memory, or mapped, so that look-ups read only the pages
//! that they touch.
//!
//! One of two modules with `unsafe`: a map is sound as long as nobody changes or truncates the file
//! while it is mapped. dbacl's programs never do that, since they replace a category by renaming a
//! new file over it. Other programs may, and a process that reads what was cut off is killed. So
//! files of any size are read unless a map is asked for.

use super::header::Fault;
use super::reader::Category;
use crate::alloc_hints::is_available;
use crate::error::{Error, Result};
use dbacl_files::reading::open_known;
use memmap2::{Mmap, MmapMut, MmapOptions};
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

/// A category in anonymous memory, or in a memory map.
pub type MappedCategory = Category<Mmap>;

/// Opens the category at `path` and reads it into memory.
///
/// # Errors
/// [`Error::Io`] when the file cannot be read, is not a regular file or finds no memory,
/// [`Error::NotACategory`] when its first line is not that of a category, [`Error::Damaged`] and
/// its like when it is truncated or has impossible values.
pub fn open(path: &Path) -> Result<MappedCategory> {
    open_seen(path, |_| {})
}

/// The same; `see` gets what is known of the file.
///
/// # Errors
/// Those of [`open`].
pub(crate) fn open_seen(path: &Path, see: impl FnOnce(&Metadata)) -> Result<MappedCategory> {
    Category::new(read(path, see)?).map_err(|fault| error_of(fault, path))
}

fn read(path: &Path, see: impl FnOnce(&Metadata)) -> Result<Mmap> {
    let read = open_known(path).and_then(|(file, found)| {
        see(&found);
        copy(&file, found.len())?.make_read_only()
    });
    read.map_err(|error| Error::io(path, error))
}

/// Opens the category at `path` as a memory map; `see` gets what is known of the file.
///
/// # Errors
/// Those of [`open`].
///
/// # Safety
/// Nobody may change or truncate the file as long as the category lives: data that was read may
/// change, and reading what was cut off ends the process. Replacing the file by renaming another
/// over it is not a change in this sense.
#[allow(unsafe_code)]
pub(crate) unsafe fn map(path: &Path, see: impl FnOnce(&Metadata)) -> Result<MappedCategory> {
    let (file, found) = open_known(path).map_err(|error| Error::io(path, error))?;
    see(&found);
    // SAFETY: `Mmap::map` demands that the file does not change, and so does this function.
    let map = unsafe { Mmap::map(&file) };
    Category::new(map.map_err(|error| Error::io(path, error))?)
        .map_err(|fault| error_of(fault, path))
}

/// The error that says what is wrong with the file at `path`.
pub(crate) fn error_of(fault: Fault, path: &Path) -> Error {
    match fault {
        Fault::Foreign => Error::NotACategory { path: path.to_path_buf() },
        Fault::Line(line) => Error::BadHeader { path: path.to_path_buf(), line },
        Fault::Digrams => Error::CutInDigrams { path: path.to_path_buf() },
        Fault::Slots => Error::CutInTable { path: path.to_path_buf() },
    }
}

/// Copies a file's bytes to anonymous memory. Its pages are provided at once, because one by one
/// they would take longer than the copy. If the file is truncated meanwhile, the copy ends where
/// the file ended.
fn copy(mut file: &File, length: u64) -> io::Result<MmapMut> {
    let too_large = || io::Error::from(io::ErrorKind::OutOfMemory);
    if !is_available(length) {
        return Err(too_large());
    }
    let length = usize::try_from(length).map_err(|_| too_large())?;
    let mut memory = MmapOptions::new().len(length).populate().map_anon()?;
    file.read_exact(&mut memory).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => io::ErrorKind::UnexpectedEof.into(),
        _ => error,
    })?;
    Ok(memory)
}

#[cfg(test)]
/// Opens a category from its bytes, which are copied into anonymous memory.
///
/// # Errors
/// [`Error::Damaged`] when the bytes are not a category, [`Error::Io`] when there is no memory.
pub(crate) fn from_bytes(bytes: &[u8]) -> Result<MappedCategory> {
    let refused = |error| Error::io(Path::new(IN_MEMORY), error);
    let mut memory = MmapMut::map_anon(bytes.len()).map_err(refused)?;
    memory.copy_from_slice(bytes);
    in_memory(memory.make_read_only().map_err(refused)?)
}

/// What errors call a category that is not in a file.
const IN_MEMORY: &str = "category in memory";

/// The category that has these bytes.
///
/// # Errors
/// [`Error::Damaged`] when the bytes are not a category.
pub(crate) fn in_memory<D: AsRef<[u8]>>(bytes: D) -> Result<Category<D>> {
    Category::new(bytes).map_err(|fault| Error::damaged(Path::new(IN_MEMORY), format!("{fault:?}")))
}
