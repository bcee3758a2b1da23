// SPDX-License-Identifier: GPL-3.0-or-later
//! A table, and its bytes in a file.

use std::fmt;

use crate::endgame::index::Numbering;
use crate::endgame::material::Material;

/// First bytes of a table's file.
const MAGIC: &[u8; 16] = b"chess table 1\n\0\0";
/// Bytes of the material's name, zeros behind it.
const NAME: usize = 8;
/// Bytes of the checksum.
const CHECK: usize = 4;

/// Stands for a draw.
pub const DRAW: u8 = 254;
/// Stands for a position that cannot be, or that is kept at the place of a symmetric one.
pub const NONE: u8 = 255;

/// Half-moves until mate for every position of a material: even for the side that is mated, odd for
/// the one that mates.
#[derive(Clone, PartialEq, Eq)]
pub struct Table {
    material: Material,
    pub(super) numbering_cache: NumberingCell,
    /// White to move, then Black to move.
    pub(super) values: Vec<u8>,
}

/// A numbering, which its material determines.
#[derive(Clone)]
pub(super) struct NumberingCell(pub Numbering);

impl PartialEq for NumberingCell {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for NumberingCell {}

/// Why bytes cannot be read as a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileError {
    /// They do not begin as a table of this format.
    NotATable,
    /// They were changed or truncated.
    Damaged,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotATable => "is no endgame table of format 1",
            Self::Damaged => "is damaged: make it again",
        })
    }
}

impl std::error::Error for FileError {}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({})", self.material)
    }
}

impl Table {
    pub(super) fn new(material: Material, values: Vec<u8>) -> Self {
        let numbering_cache = NumberingCell(Numbering::new(&material));
        Self { material, numbering_cache, values }
    }

    /// What the table is for.
    pub const fn material(&self) -> &Material {
        &self.material
    }

    pub(super) const fn numbering(&self) -> &Numbering {
        &self.numbering_cache.0
    }

    /// How many half-moves the longest mate in the table takes: when White moves first, and when
    /// Black does.
    pub fn longest(&self) -> [Option<u8>; 2] {
        let half = self.values.len() / 2;
        let longest =
            |values: &[u8]| values.iter().copied().filter(|&v| v < DRAW && v % 2 == 1).max();
        [longest(&self.values[..half]), longest(&self.values[half..])]
    }

    /// The table's file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(MAGIC.len() + NAME + self.values.len() + CHECK);
        bytes.extend_from_slice(MAGIC);
        let mut name = self.material.to_string().into_bytes();
        name.resize(NAME, 0);
        bytes.extend_from_slice(&name);
        bytes.extend_from_slice(&self.values);
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    /// Reads a table's file.
    ///
    /// # Errors
    ///
    /// The bytes are no table of this format, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FileError> {
        if !bytes.starts_with(MAGIC) {
            return Err(FileError::NotATable);
        }
        let Some((content, check)) = bytes.split_last_chunk::<CHECK>() else {
            return Err(FileError::Damaged);
        };
        if content.len() < MAGIC.len() + NAME
            || crc32fast::hash(content) != u32::from_le_bytes(*check)
        {
            return Err(FileError::Damaged);
        }
        let (name, values) = content[MAGIC.len()..].split_at(NAME);
        let name = String::from_utf8_lossy(name);
        let material =
            Material::parse(name.trim_end_matches('\0')).map_err(|_| FileError::Damaged)?;
        let table = Self::new(material, values.to_vec());
        if table.values.len() != 2 * table.numbering().places() {
            return Err(FileError::Damaged);
        }
        Ok(table)
    }
}
