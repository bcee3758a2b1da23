// SPDX-License-Identifier: GPL-3.0-or-later
//! Documents that are files in folders, which are called like their labels.

use crate::corpus::document::{DataError, Notes, Record, Sink};
use crate::corpus::label;
use crate::corpus::packed::read_text;
use dbacl_files::reading::open_regular;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Folders within folders that are looked into.
const DEEPEST: usize = 32;

/// Reads the files below `path/LABEL`, in the order of their names. Names that begin with a dot are
/// passed over.
pub(crate) fn read(path: &Path, take: Sink<'_>) -> Result<Notes, DataError> {
    let mut has_folder = false;
    for folder in entries(path)? {
        if !is_folder(&folder)? {
            continue;
        }
        has_folder = true;
        let name = folder.file_name().unwrap_or_default();
        let label = label::check(name.as_bytes());
        let label = label.map_err(|fault| DataError::line(&folder, 1, fault.to_string()))?;
        read_files(&folder, label, DEEPEST, take)?;
    }
    if has_folder {
        Ok(Notes::default())
    } else {
        Err(DataError::line(path, 1, "there are no folders in it that could be labels"))
    }
}

fn read_files(folder: &Path, label: &str, deepest: usize, take: Sink<'_>) -> Result<(), DataError> {
    for path in entries(folder)? {
        if is_folder(&path)? {
            if deepest == 0 {
                return Err(DataError::line(&path, 1, "there are too many folders within folders"));
            }
            read_files(&path, label, deepest - 1, take)?;
            continue;
        }
        // Pipes and devices could wait for ever.
        let file = open_regular(&path).map_err(|error| DataError::io(&path, error))?;
        let text = read_text(file, &path)?;
        take(Record { label, id: "", text: &text, line: 1, file: &path })?;
    }
    Ok(())
}

fn is_folder(path: &Path) -> Result<bool, DataError> {
    fs::metadata(path).map(|found| found.is_dir()).map_err(|error| DataError::io(path, error))
}

/// What is in a folder, sorted by name; names that begin with a dot are left out.
///
/// # Errors
/// Those of the operating system.
pub fn entries(folder: &Path) -> Result<Vec<PathBuf>, DataError> {
    let io = |error| DataError::io(folder, error);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(io)? {
        let entry = entry.map_err(io)?;
        if !entry.file_name().as_bytes().starts_with(b".") {
            paths.push(entry.path());
        }
    }
    paths.sort_unstable();
    Ok(paths)
}
