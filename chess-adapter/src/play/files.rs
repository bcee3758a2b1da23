// SPDX-License-Identifier: GPL-3.0-or-later
//! Files of a model folder: read and written as JSON, and replaced as a whole.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use chess_games::cannot::Cannot;
use dbacl_files::reading::read_regular;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Reads a file of JSON.
///
/// # Errors
///
/// It cannot be read, or is damaged.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = read_regular(path).with_context(|| Cannot::read(path))?;
    serde_json::from_slice(&text).with_context(|| format!("{} is damaged", path.display()))
}

/// Replaces a file by a value as JSON, which ends with a line end.
///
/// # Errors
///
/// A file cannot be written.
pub fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<()> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    replace_file(path, &text)
}

/// Replaces a file by writing a temporary one and renaming it, so that no reader sees half of it.
///
/// # Errors
///
/// A file cannot be written.
pub fn replace_file(path: &Path, contents: &[u8]) -> Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.tmp", std::process::id()));
    let beside = PathBuf::from(beside);
    let written = std::fs::write(&beside, contents).and_then(|()| std::fs::rename(&beside, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written.with_context(|| Cannot::write(path))
}
