// SPDX-License-Identifier: GPL-3.0-or-later
//! Warnings about files that decide verdicts and that anybody may write to.

use crate::error::Warning;
use dbacl_files::access::{is_open_to_all, open_to_all, text};
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// Warns of a file or folder that anybody may write to. Permission for a group counts as intended.
pub(crate) fn warning_about(path: &Path) -> Option<Warning> {
    open_to_all(path).map(Warning::new)
}

/// The warning about a file or folder whose `metadata` were read before, and which users know as
/// `name`.
pub(crate) fn warning_of(name: impl FnOnce() -> PathBuf, metadata: &Metadata) -> Option<Warning> {
    is_open_to_all(metadata).then(|| Warning::new(text(&name())))
}
