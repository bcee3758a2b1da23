// SPDX-License-Identifier: GPL-3.0-or-later
//! Warnings about files that decide verdicts and that anybody may write to.

use crate::error::Warning;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The bit of a mode that lets everybody write.
const ANYBODY: u32 = 0o002;
/// The bit of a folder's mode that lets only owners replace files.
const STICKY: u32 = 0o1000;

/// Warns of a file or folder that anybody may write to. Permission for a group counts as intended.
pub fn warning_about(path: &Path) -> Option<Warning> {
    warning_of(path, &fs::metadata(path).ok()?)
}

/// The warning about the file at `path`, whose `metadata` were read before.
pub fn warning_of(path: &Path, metadata: &Metadata) -> Option<Warning> {
    let mode = metadata.mode() & (ANYBODY | STICKY);
    let is_open = metadata.is_file() && mode & ANYBODY != 0 || metadata.is_dir() && mode == ANYBODY;
    is_open.then(|| Warning::new(format!("anybody may write to {}", path.display())))
}
