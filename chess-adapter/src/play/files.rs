// SPDX-License-Identifier: GPL-3.0-or-later
//! Files are replaced as a whole.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use chess_games::cannot::Cannot;

/// Replaces a file by writing a temporary one and renaming it, so that no reader sees half of it.
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
