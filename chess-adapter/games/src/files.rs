// SPDX-License-Identifier: GPL-3.0-or-later
//! Files are replaced as a whole.

use std::io;
use std::path::Path;

use anyhow::{Context as _, Error, Result};
use dbacl_cli::output;
use dbacl_files::atomic_file::{SaveError, Storage, replace, write_output};

use crate::cannot::Cannot;

/// Replaces a file, whatever it holds, in one step. Who may read it is said by the old one; a new
/// one is readable to the user and the group, as categories are.
///
/// # Errors
///
/// Those of [`replace`].
pub fn replace_file(storage: &dyn Storage, path: &Path, contents: &[u8]) -> Result<()> {
    named(path, replace(storage, path, b"", &mut |out| out.write_all(contents)))
}

/// Writes what a verb makes into the file or the pipe that the user named, else to standard output.
///
/// # Errors
///
/// Those of [`write_output`].
pub fn write_result(path: Option<&Path>, contents: &[u8]) -> Result<()> {
    match path {
        None => Ok(output::print(contents).map_err(of_output)?),
        Some(path) => named(path, write_output(path, contents)),
    }
}

/// An error of standard output, which says so.
pub fn of_output(error: io::Error) -> io::Error {
    let kind = error.kind();
    output::complaint(&error).map_or(error, |text| io::Error::new(kind, text))
}

/// The same error, which names the file once.
fn named(path: &Path, written: Result<(), SaveError>) -> Result<()> {
    let bare = |error| match error {
        SaveError::Temporary { source, .. } | SaveError::Io { source, .. } => source.into(),
        error => Error::from(error),
    };
    written.map_err(bare).with_context(|| Cannot::Write(path.into()))
}
