// SPDX-License-Identifier: GPL-3.0-or-later
//! Files that are no text.

use crate::corpus::document::DataError;
use dbacl_files::format::{advice, format_of};
use std::path::Path;

/// Refuses what is compressed, a picture or the like by its first bytes.
///
/// # Errors
/// What it is, and what helps.
pub fn check_text(beginning: &[u8], path: &Path) -> Result<(), DataError> {
    let beginning = &beginning[..beginning.len().min(64)];
    let is_binary = |&byte: &u8| byte < 0x20 && !byte.is_ascii_whitespace() || byte >= 0x80;
    let format = format_of(beginning).filter(|_| beginning.iter().any(is_binary));
    format.map_or(Ok(()), |format| Err(DataError::line(path, 1, advice(format))))
}
