// SPDX-License-Identifier: GPL-3.0-or-later
//! What the operands of a command line stand for: files in the documented order.

use super::patient::Patient;
use crate::alloc_hints::{take_memory, try_room};
use crate::error::{Error, Result, Warning, WarningSink};
use dbacl_files::reading::open_at_once;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

pub(crate) use dbacl_files::reading::open_regular;

/// One thing to read.
pub struct Source<'a> {
    /// Its name as reports show it: the operand, or `FOLDER/ENTRY`; `stdin` for standard input.
    pub name: Vec<u8>,
    /// Its bytes.
    pub reader: Box<dyn Read + 'a>,
}

impl<'a> Source<'a> {
    /// A document in memory, without a name.
    pub(crate) fn bytes(document: &'a [u8]) -> Self {
        Self { name: Vec::new(), reader: Box::new(document) }
    }
}

/// What an operand turned out to be.
pub(crate) enum Operand {
    /// A file, opened.
    File(Source<'static>),
    /// A folder; its regular files, sorted by name.
    Folder(Vec<PathBuf>),
}

/// Opens an operand (spec text 1.1).
///
/// # Errors
/// [`Error::Io`] when it cannot be opened; a folder that cannot be listed is only a warning.
pub(crate) fn open(operand: &OsStr, warnings: WarningSink<'_>) -> Result<Operand> {
    let path = Path::new(operand);
    let file = open_at_once(path).map_err(|error| Error::io(path, error))?;
    let metadata = file.metadata().map_err(|error| Error::io(path, error))?;
    if metadata.is_dir() {
        let entries = entries(path).unwrap_or_else(|_| {
            let name = String::from_utf8_lossy(operand.as_bytes());
            warnings(Warning::new(format!("could not open {name}, skipping")));
            Vec::new()
        });
        return Ok(Operand::Folder(entries));
    }
    let name = operand.as_bytes().to_vec();
    let reader: Box<dyn Read> =
        if metadata.is_file() { Box::new(file) } else { Box::new(Patient(file)) };
    Ok(Operand::File(Source { name, reader }))
}

/// Opens an entry of a folder; `None` if that cannot be done, which is passed over in silence.
pub(crate) fn open_entry(path: &Path) -> Option<Source<'static>> {
    let reader = open_regular(path).ok()?;
    Some(Source { name: path.as_os_str().as_bytes().to_vec(), reader: Box::new(reader) })
}

/// All of a regular file, in memory that is taken at once: page by page it costs more than the
/// copy.
///
/// # Errors
/// Those of the operating system; [`io::ErrorKind::OutOfMemory`] when there is no memory.
pub(crate) fn read_whole(file: &File) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    let room = usize::try_from(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let mut bytes = Vec::new();
    if !try_room(&mut bytes, room) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    take_memory(&bytes, room);
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Standard input.
pub(crate) fn standard_input() -> Source<'static> {
    Source { name: b"stdin".to_vec(), reader: Box::new(Patient(io::stdin().lock())) }
}

/// The regular files directly inside `folder`, following links, sorted bytewise by name; also what
/// cannot be reached, since it may be a file.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().into_vec()));
    let mut names = names.collect::<io::Result<Vec<_>>>()?;
    names.sort_unstable();
    let base = folder.as_os_str().as_bytes();
    let slash: &[u8] = if base.ends_with(b"/") { b"" } else { b"/" };
    let paths = names.into_iter().map(|name| {
        PathBuf::from(std::ffi::OsString::from_vec([base, slash, name.as_slice()].concat()))
    });
    let may_be_file = |path: &PathBuf| match fs::metadata(path) {
        Ok(metadata) => metadata.is_file(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    };
    Ok(paths.filter(may_be_file).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_give_their_regular_files_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b", "a", ".c", "B"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        fs::create_dir(folder.path().join("sub")).unwrap();
        std::os::unix::fs::symlink("a", folder.path().join("link")).unwrap();
        std::os::unix::fs::symlink("nowhere", folder.path().join("dangling")).unwrap();
        let Operand::Folder(paths) = open(folder.path().as_os_str(), &mut |_| {}).unwrap() else {
            panic!("a folder")
        };
        let names: Vec<&OsStr> = paths.iter().filter_map(|path| path.file_name()).collect();
        assert_eq!(names, [".c", "B", "a", "b", "link"]);
    }
}
