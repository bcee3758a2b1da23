// SPDX-License-Identifier: GPL-3.0-or-later
//! Opens a category by memory map: only the pages that look-ups touch are read.
//!
//! One of two modules with `unsafe`: a map is sound as long as nobody changes or cuts the file while it
//! is mapped. Our own programs never do - a category is replaced by renaming a new file over it.

use super::reader::{Category, Fault};
use crate::error::{Error, Result};
use memmap2::{Mmap, MmapMut, MmapOptions};
use std::fs::File;
use std::io;
use std::path::Path;

/// A category in a memory map.
pub type MappedCategory = Category<Mmap>;

/// Opens the category at `path`.
///
/// # Errors
/// [`Error::Io`] when the file cannot be read or is no regular file, [`Error::NotACategory`] when its
/// first line says something else, [`Error::Damaged`] when it is cut short or says impossible things.
pub fn open(path: &Path) -> Result<MappedCategory> {
    // A pipe would block in `open`; look before.
    let metadata = std::fs::metadata(path).map_err(|error| Error::io(path, error))?;
    if !metadata.is_file() {
        let error = io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
        return Err(Error::io(path, error));
    }
    let file = File::open(path).map_err(|error| Error::io(path, error))?;
    let map = map(&file).map_err(|error| Error::io(path, error))?;
    Category::new(map).map_err(|fault| match fault {
        Fault::Header(super::header::HeaderFault::Foreign) => {
            Error::NotACategory { path: path.to_path_buf() }
        }
        Fault::Header(super::header::HeaderFault::Line(line)) => {
            Error::BadHeader { path: path.to_path_buf(), line }
        }
        Fault::Digrams => Error::CutInDigrams { path: path.to_path_buf() },
        Fault::Slots => Error::CutInTable { path: path.to_path_buf() },
    })
}

/// Opens a category that was never a file: its bytes are copied into anonymous memory.
///
/// # Errors
/// [`Error::Damaged`] when the bytes are no category, [`Error::Io`] when there is no memory.
pub fn from_bytes(bytes: &[u8]) -> Result<MappedCategory> {
    let place = Path::new("category in memory");
    let refused = |error| Error::io(place, error);
    let mut memory = MmapMut::map_anon(bytes.len()).map_err(refused)?;
    memory.copy_from_slice(bytes);
    let map = memory.make_read_only().map_err(refused)?;
    Category::new(map).map_err(|fault| Error::damaged(place, format!("{fault:?}")))
}

/// A file in memory that can be changed without changing the file; what is not changed is not copied.
pub type PrivateCopy = MmapMut;

/// A private copy of a file, of which nobody changes what is not changed in the copy: for files that
/// only the holder of a lock writes to.
///
/// # Errors
/// Those of the operating system.
#[allow(unsafe_code)]
pub fn private_copy(file: &File) -> io::Result<PrivateCopy> {
    // SAFETY: the contract above. The holder of the lock writes the parts that it has changed in its
    // copy back into the file; these lie in memory of their own by then.
    unsafe { MmapOptions::new().map_copy(file) }
}

#[allow(unsafe_code)]
fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the caller's contract, stated in the module's documentation: the file is not changed
    // or truncated while it is mapped. Programs that replace categories rename a new file over the
    // old one, which leaves the mapped pages alone.
    unsafe { Mmap::map(file) }
}
