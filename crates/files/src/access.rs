// SPDX-License-Identifier: GPL-3.0-or-later
//! Tells of files and folders that anybody may write to.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The bit of a mode that lets everybody write.
const ANYBODY: u32 = 0o002;
/// The bit of a folder's mode that lets only owners replace files.
const STICKY: u32 = 0o1000;

/// Says that anybody may write to the file or folder at `path`, if that is so. Permission for a
/// group counts as intended, and in a folder such as `/tmp` nobody can replace the files of others.
///
/// ```
/// use dbacl_files::access::open_to_all;
/// use std::fs::{self, Permissions};
/// use std::os::unix::fs::PermissionsExt;
///
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("words");
/// fs::write(&path, "whale")?;
/// fs::set_permissions(&path, Permissions::from_mode(0o660))?;
/// assert_eq!(open_to_all(&path), None);
/// fs::set_permissions(&path, Permissions::from_mode(0o666))?;
/// assert_eq!(open_to_all(&path), Some(format!("anybody may write to {}", path.display())));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn open_to_all(path: &Path) -> Option<String> {
    is_open_to_all(&fs::metadata(path).ok()?).then(|| text(path))
}

/// Whether anybody may write to the file or folder with this metadata.
pub fn is_open_to_all(metadata: &Metadata) -> bool {
    let mode = metadata.mode() & (ANYBODY | STICKY);
    metadata.is_file() && mode & ANYBODY != 0 || metadata.is_dir() && mode == ANYBODY
}

/// What is said of the file or folder that users know as `name` if anybody may write to it.
pub fn text(name: &Path) -> String {
    format!("anybody may write to {}", name.display())
}
