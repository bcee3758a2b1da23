// SPDX-License-Identifier: GPL-3.0-or-later
//! The list of a generation's files with their lengths, by which truncated files are found.

use crate::joint::checksum::Checksum;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// How the file begins.
pub const MAGIC: &str = "# dbacl generation 1\n";

/// The file's name in a generation's folder. Readers hold a shared lock on it.
pub const NAME: &str = "generation";

/// The files of a generation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Manifest {
    /// Whether all files were synchronised to the device before the generation became current.
    pub is_forced: bool,
    /// Each file with its least length in bytes, in order of their names.
    pub files: Vec<(OsString, u64)>,
}

impl Manifest {
    /// The file: a line for each fact, a checksum in the last one.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.as_bytes().to_vec();
        bytes.extend_from_slice(if self.is_forced { b"forced\n" } else { b"quick\n" });
        for (name, length) in &self.files {
            bytes.extend_from_slice(format!("{length} ").as_bytes());
            bytes.extend_from_slice(name.as_bytes());
            bytes.push(b'\n');
        }
        let sum = Checksum::of(&bytes);
        bytes.extend_from_slice(format!("sum {sum:016x}\n").as_bytes());
        bytes
    }

    /// Reads the file; `None` if it is damaged.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let end = bytes.strip_suffix(b"\n")?.iter().rposition(|&byte| byte == b'\n')? + 1;
        let (facts, last) = bytes.split_at(end);
        if last != format!("sum {:016x}\n", Checksum::of(facts)).as_bytes() {
            return None;
        }
        let mut lines = facts.strip_prefix(MAGIC.as_bytes())?.split(|&byte| byte == b'\n');
        let is_forced = match lines.next()? {
            b"forced" => true,
            b"quick" => false,
            _ => return None,
        };
        let mut files = Vec::new();
        for line in lines.filter(|line| !line.is_empty()) {
            let blank = line.iter().position(|&byte| byte == b' ')?;
            let length = std::str::from_utf8(&line[..blank]).ok()?.parse().ok()?;
            let name = &line[blank + 1..];
            if !is_plain(name) {
                return None;
            }
            files.push((OsString::from_vec(name.to_vec()), length));
        }
        Some(Self { is_forced, files })
    }
}

/// Whether a generation can have a file of this name: it is in its folder, and not the list itself.
fn is_plain(name: &[u8]) -> bool {
    !matches!(name, b"" | b"." | b"..") && !name.contains(&b'/') && name != NAME.as_bytes()
}

/// What a generation is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Judging: the categories must be complete.
    Read,
    /// Changing it: the files from which the others can be made anew must be complete.
    Change,
}

impl Purpose {
    /// Whether the file called `name` must be complete.
    pub fn needs(self, name: &OsStr) -> bool {
        let is_fitted = is_fitted(name);
        let name = name.as_bytes();
        match self {
            Self::Read => is_fitted || name == b"order",
            Self::Change => {
                !is_fitted && !name.ends_with(b".state") && !name.ends_with(b".changes")
            }
        }
    }
}

/// Whether this is the name of a fitted category.
pub fn is_fitted(name: &OsStr) -> bool {
    let name = name.as_bytes();
    name.starts_with(b"category.") && !name.ends_with(b".ordinary")
}

/// Whether the file of this name has checksums of its whole content.
pub fn has_checksum(name: &OsStr) -> bool {
    matches!(name.as_bytes(), b"ledger" | b"ledger.head" | b"corrections" | b"corrections.head")
}

/// A name for a file in a generation's folder: `prefix` and what `base` leaves without control
/// characters and slashes.
pub fn member(prefix: &str, base: &OsStr) -> OsString {
    let plain = |&byte: &u8| if byte < b' ' || byte == b'/' { b'_' } else { byte };
    let mut name = prefix.as_bytes().to_vec();
    name.extend(base.as_bytes().iter().map(plain).take(200));
    OsString::from_vec(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_reads_the_same_and_damage_is_found() {
        let manifest = Manifest {
            is_forced: true,
            files: vec![("category.a b".into(), 12), ("ledger".into(), 0)],
        };
        let bytes = manifest.bytes();
        assert_eq!(Manifest::parse(&bytes), Some(manifest));
        for at in 0..bytes.len() {
            assert_eq!(Manifest::parse(&bytes[..at]), None, "cut at {at}");
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(Manifest::parse(&damaged), None, "byte {at}");
        }
    }

    #[test]
    fn files_outside_the_folder_are_not_taken() {
        for name in ["", ".", "..", "/ledger", "../../mail", "a/b", NAME] {
            let manifest = Manifest { is_forced: true, files: vec![(name.into(), 0)] };
            assert_eq!(Manifest::parse(&manifest.bytes()), None, "{name:?}");
        }
    }

    #[test]
    fn members_are_names_of_one_line() {
        assert_eq!(member("category.", OsStr::new("a/b\nc")), "category.a_b_c");
    }
}
