// SPDX-License-Identifier: GPL-3.0-or-later
//! The list of a generation's files with their lengths, by which truncated files are found, and
//! where the checksums of their blocks are.

use super::ledger_file::HEAD_FILE;
use crate::fit::checksum::Checksum;
use dbacl_files::checked::Blocks;
use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// How the file begins.
pub const MAGIC: &str = "# dbacl generation 3\n";

/// How lists begin that older versions of dbacl wrote, where ledgers have small blocks, and, in the
/// oldest, no file has checksums.
const OLD_MAGICS: [&str; 2] = ["# dbacl generation 2\n", "# dbacl generation 1\n"];

/// Bytes of a block of a ledger. A record is longer than a block of other files, and the checksums
/// of a large ledger are read and written at each change.
const LEDGER_BLOCK: u64 = 1 << 14;

/// How lists of any version begin.
pub const ANY_MAGIC: &str = "# dbacl generation ";

/// The name of the file with the checksums of all blocks, in a generation's folder.
pub const SUMS: &str = "sums";

/// The file's name in a generation's folder. Readers hold a shared lock on it.
pub const NAME: &str = "generation";

/// The files of a generation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Manifest {
    /// Whether all files were synchronised to the device before the generation became current.
    pub is_forced: bool,
    /// The files, in order of their names.
    pub files: Vec<Listed>,
    /// Whether an older version of dbacl wrote the list, so that blocks of ledgers are small.
    pub is_old: bool,
}

/// A file of a generation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    /// Its name.
    pub name: OsString,
    /// Its least length in bytes.
    pub length: u64,
    /// The checksum of its part of [`SUMS`], if it has one.
    pub sum: Option<u64>,
}

impl Listed {
    /// A file without checksums.
    pub const fn new(name: OsString, length: u64) -> Self {
        Self { name, length, sum: None }
    }
}

impl Manifest {
    /// The file: a line for each fact, a checksum in the last one.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.as_bytes().to_vec();
        bytes.extend_from_slice(if self.is_forced { b"forced\n" } else { b"quick\n" });
        for Listed { name, length, sum } in &self.files {
            let sum = sum.map_or_else(|| "-".into(), |sum| format!("{sum:016x}"));
            bytes.extend_from_slice(format!("{length} {sum} ").as_bytes());
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
        let new = facts.strip_prefix(MAGIC.as_bytes());
        let is_old = new.is_none();
        let [second, first] = OLD_MAGICS.map(|magic| facts.strip_prefix(magic.as_bytes()));
        let has_sums = first.is_none();
        let rest = new.or(second).or(first)?;
        let mut lines = rest.split(|&byte| byte == b'\n');
        let is_forced = match lines.next()? {
            b"forced" => true,
            b"quick" => false,
            _ => return None,
        };
        let mut files = Vec::new();
        for line in lines.filter(|line| !line.is_empty()) {
            let (length, mut name) = word(line)?;
            let mut sum = None;
            if has_sums {
                let (text, rest) = word(name)?;
                if text != "-" {
                    sum = Some(u64::from_str_radix(text, 16).ok().filter(|_| text.len() == 16)?);
                }
                name = rest;
            }
            is_plain(name).then_some(())?;
            let (name, length) = (OsString::from_vec(name.to_vec()), length.parse().ok()?);
            files.push(Listed { name, length, sum });
        }
        Some(Self { is_forced, files, is_old })
    }

    /// The length of the file called `name`.
    pub fn length_of(&self, name: &OsStr) -> Option<u64> {
        self.files.iter().find(|file| file.name == name).map(|file| file.length)
    }

    /// The blocks of the file called `name`. Those of a ledger begin behind its head, since another
    /// file has the head that counts.
    pub fn blocks(&self, name: &OsStr) -> Blocks {
        let mut head = name.to_owned();
        head.push(HEAD_FILE);
        match self.length_of(&head) {
            Some(from) if !self.is_old => Blocks { from, size: LEDGER_BLOCK },
            head => Blocks::from(head.unwrap_or(0)),
        }
    }

    /// The file called `name`, and the part of [`SUMS`] that is its own; `None` for a file without
    /// checksums.
    pub fn part_of(&self, name: &OsStr) -> Option<(&Listed, Range<u64>)> {
        let mut start = 0;
        for file in self.files.iter().filter(|file| file.sum.is_some()) {
            let length = self.blocks(&file.name).bytes_for(file.length);
            if file.name == name {
                return Some((file, start..start + length));
            }
            start += length;
        }
        None
    }
}

/// The text before the first blank, and the bytes behind it.
fn word(line: &[u8]) -> Option<(&str, &[u8])> {
    let blank = line.iter().position(|&byte| byte == b' ')?;
    Some((std::str::from_utf8(&line[..blank]).ok()?, &line[blank + 1..]))
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
    /// Changing it: the files from which the others can be made again must be complete.
    Change,
}

impl Purpose {
    /// Whether the file called `name` must be complete.
    pub fn needs(self, name: &OsStr) -> bool {
        let is_fitted = is_fitted(name);
        let name = name.as_bytes();
        match self {
            Self::Read => is_fitted || name == b"order" || name == SUMS.as_bytes(),
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

/// Whether the file of this name has what was learned and corrected, which nothing else has.
pub fn is_of_lessons(name: &OsStr) -> bool {
    let name = name.as_bytes();
    name.starts_with(b"corrections") || matches!(name, b"ledger" | b"ledger.head" | b"order")
}

/// Whether the blocks of the file of this name get checksums: others have their own.
pub fn needs_sums(name: &OsStr) -> bool {
    let name = name.as_bytes();
    let have_own: [&[u8]; 3] = [b".state", b".changes", HEAD_FILE.as_bytes()];
    name != SUMS.as_bytes() && !have_own.iter().any(|ending| name.ends_with(ending))
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
            files: vec![
                Listed { name: "category.a b".into(), length: 12, sum: Some(0x12f) },
                Listed { name: "ledger".into(), length: 16_455, sum: Some(u64::MAX) },
                Listed::new("ledger.head".into(), 70),
                Listed { name: "order".into(), length: 3, sum: Some(0) },
            ],
            is_old: false,
        };
        let part = |name: &str| manifest.part_of(OsStr::new(name)).map(|(_, part)| part);
        assert_eq!(part("category.a b"), Some(0..4));
        assert_eq!(part("ledger"), Some(4..12)); // two blocks behind the head
        assert_eq!((part("ledger.head"), part("order")), (None, Some(12..16)));
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
    fn lists_of_older_versions_have_no_checksums_or_those_of_smaller_blocks() {
        let parse = |old: &str| {
            let sum = Checksum::of(old.as_bytes());
            Manifest::parse(format!("{old}sum {sum:016x}\n").as_bytes())
        };
        let files = vec![Listed::new("category.a b".into(), 12)];
        let first = Manifest { is_forced: false, files, is_old: true };
        assert_eq!(parse("# dbacl generation 1\nquick\n12 category.a b\n"), Some(first));
        let second = "forced\n3000 00000000000000ff ledger\n70 - ledger.head\n";
        let second = parse(&format!("# dbacl generation 2\n{second}")).unwrap();
        assert_eq!(second.part_of(OsStr::new("ledger")).unwrap().1, 0..12);
    }

    #[test]
    fn files_outside_the_folder_are_not_taken() {
        for name in ["", ".", "..", "/ledger", "../../mail", "a/b", NAME] {
            let files = vec![Listed::new(name.into(), 0)];
            let manifest = Manifest { is_forced: true, files, is_old: false };
            assert_eq!(Manifest::parse(&manifest.bytes()), None, "{name:?}");
        }
    }

    #[test]
    fn members_are_names_of_one_line() {
        assert_eq!(member("category.", OsStr::new("a/b\nc")), "category.a_b_c");
    }
}
