// SPDX-License-Identifier: GPL-3.0-or-later
//! Opens files of games, and names those that must be unpacked first.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use anyhow::{Context as _, Result};
use dbacl_files::format::{advice, format_of};

use crate::cannot::Cannot;

/// Opens a file of games.
///
/// # Errors
///
/// The file cannot be read, or what it holds is not text.
pub fn open(path: &Path) -> Result<impl BufRead> {
    let file = File::open(path).with_context(|| Cannot::Read(path.into()))?;
    let input = BufReader::with_capacity(1 << 16, file);
    plain(input).with_context(|| Cannot::Read(path.into()))
}

/// The input, if it begins as text in UTF-8 or a similar encoding does.
pub(super) fn plain<R: BufRead>(mut input: R) -> io::Result<R> {
    let beginning = input.fill_buf()?;
    let format = match beginning {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "text in UTF-16",
        _ => match format_of(beginning) {
            None => return Ok(input),
            Some(format) => format,
        },
    };
    Err(io::Error::new(io::ErrorKind::InvalidData, advice(format)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_named() {
        for (bytes, expected) in [
            (&b"[Event \"x\"]"[..], ""),
            (b"", ""),
            (b"\xef\xbb\xbf1. e4", ""),
            (b"\x1f\x8b\x08", "`gzip -dc FILE`"),
            (b"BZh9", "`bzip2 -dc FILE`"),
            (b"\x28\xb5\x2f\xfd", "compressed by zstd"),
            (b"PK\x03\x04", "a zip archive"),
            (b"\xff\xfe[\0", "UTF-16"),
        ] {
            let told = plain(bytes).err().map_or_else(String::new, |error| error.to_string());
            assert!(told.contains(expected) && told.is_empty() == expected.is_empty(), "{told}");
        }
    }
}
