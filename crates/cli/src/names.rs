// SPDX-License-Identifier: GPL-3.0-or-later
//! Names of files and categories.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The path of a category or dump: below `folder`, the value of `DBACL_PATH`, unless it begins with
/// `/` or `.`.
pub fn resolve(folder: Option<&OsStr>, name: &[u8]) -> PathBuf {
    let mut path = Vec::new();
    if let Some(folder) = folder
        && !matches!(name.first(), Some(b'/' | b'.'))
    {
        path.extend_from_slice(folder.as_bytes());
        if !path.ends_with(b"/") {
            path.push(b'/');
        }
    }
    path.extend_from_slice(name);
    PathBuf::from(OsString::from_vec(path))
}

/// The part of a path after its last slash.
pub fn base_name(path: &Path) -> Vec<u8> {
    let bytes = path.as_os_str().as_bytes();
    bytes.rsplit(|&byte| byte == b'/').next().unwrap_or(bytes).to_vec()
}

/// Bytes as text, for messages.
pub fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
