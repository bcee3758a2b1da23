// SPDX-License-Identifier: GPL-3.0-or-later
//! Categories that belong together, in one file: version 1, described in `docs/model-format.md`.
//!
//! ```text
//! members (kind, name, documents, bytes) ─→ save ─→ file ─→ Container ─→ members
//! ```
//!
//! A file is read whole and checked when it is opened; the checksum of a member is checked when its
//! bytes are asked for. Pieces that several members have in common are stored once: categories that
//! were fitted together have the same digrams, 128 KiB each.

use crate::atomic_file::{self, Disk};
use crate::category::layout::DIGRAM_BYTES;
use crate::category::reader::Category;
use crate::error::{Error, Result};
use crate::input::source::{open_regular, read_whole};
use byteorder::{ByteOrder, LittleEndian};
use hashbrown::HashMap;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::path::Path;

/// The beginning of all such files, up to the version.
const KIND: &[u8] = b"# dbacl model ";
/// The first line of this version.
const MAGIC: &[u8] = b"# dbacl model 1\n";
/// Bytes before the table of members.
const HEAD: usize = MAGIC.len() + 8 + 4 + 4;
/// Bytes of an entry without name and pieces.
const ENTRY: usize = 1 + 2 + 8 + 4 + 2;
/// Bytes of a piece in the table.
const PIECE: usize = 8 + 8;
/// Shorter pieces are stored even if an equal one is stored already.
const SHARED: usize = 4096;

/// What a member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberKind {
    /// Lines `NAME: VALUE` that say how the model was made; the member's name is empty.
    About,
    /// A category file; the member's name is its label.
    Category,
    /// The documents that the model was learned from; the member's name is empty.
    Documents,
    /// A kind that this version does not know and ignores.
    Other(u8),
}

impl MemberKind {
    const fn number(self) -> u8 {
        match self {
            Self::About => 0,
            Self::Category => 1,
            Self::Documents => 2,
            Self::Other(number) => number,
        }
    }

    const fn by_number(number: u8) -> Self {
        match number {
            0 => Self::About,
            1 => Self::Category,
            2 => Self::Documents,
            other => Self::Other(other),
        }
    }
}

/// A member that is to be saved.
#[derive(Debug, Clone)]
pub struct NewMember<'a> {
    kind: MemberKind,
    name: String,
    documents: u64,
    pieces: Vec<Cow<'a, [u8]>>,
}

impl<'a> NewMember<'a> {
    /// A member of one piece.
    pub fn new(kind: MemberKind, name: impl Into<String>, bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Self { kind, name: name.into(), documents: 0, pieces: vec![bytes.into()] }
    }

    /// A category that was learned from `documents` documents with the label `name`.
    pub fn category<D: AsRef<[u8]>>(
        name: impl Into<String>,
        documents: u64,
        category: &'a Category<D>,
    ) -> Self {
        let (rest, slots) = category.as_bytes().split_at(category.slots_offset());
        let (header, digrams) = rest.split_at(rest.len() - DIGRAM_BYTES);
        let pieces = [header, digrams, slots].map(Cow::Borrowed).into();
        Self { kind: MemberKind::Category, name: name.into(), documents, pieces }
    }
}

/// The bytes of a file with these members, in their order.
pub fn bytes(members: &[NewMember<'_>]) -> Vec<u8> {
    let names: usize = members.iter().map(|member| member.name.len()).sum();
    let pieces: usize = members.iter().map(|member| member.pieces.len()).sum();
    let start = HEAD + 4 + members.len() * ENTRY + names + pieces * PIECE;
    let (mut table, mut body) = (Vec::new(), Vec::new());
    let mut known: HashMap<&[u8], usize> = HashMap::new();
    put_u32(&mut table, members.len());
    for member in members {
        table.push(member.kind.number());
        // Names are labels, whose length is limited.
        put_u16(&mut table, member.name.len());
        table.extend_from_slice(member.name.as_bytes());
        table.extend_from_slice(&member.documents.to_le_bytes());
        let mut sum = crc32fast::Hasher::new();
        for piece in &member.pieces {
            sum.update(piece);
        }
        table.extend_from_slice(&sum.finalize().to_le_bytes());
        put_u16(&mut table, member.pieces.len());
        for piece in &member.pieces {
            let place = if let Some(&place) = known.get(&**piece) {
                place
            } else {
                let place = start + body.len();
                body.extend_from_slice(piece);
                if piece.len() >= SHARED {
                    known.insert(piece, place);
                }
                place
            };
            put_u64(&mut table, place);
            put_u64(&mut table, piece.len());
        }
    }
    let mut out = Vec::with_capacity(start + body.len());
    out.extend_from_slice(MAGIC);
    put_u64(&mut out, start + body.len());
    put_u32(&mut out, table.len());
    out.extend_from_slice(&crc32fast::hash(&table).to_le_bytes());
    out.extend_from_slice(&table);
    debug_assert_eq!(out.len(), start);
    out.extend_from_slice(&body);
    out
}

fn put_u64(out: &mut Vec<u8>, number: usize) {
    out.extend_from_slice(&(number as u64).to_le_bytes());
}

fn put_u32(out: &mut Vec<u8>, number: usize) {
    out.extend_from_slice(&u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
}

fn put_u16(out: &mut Vec<u8>, number: usize) {
    out.extend_from_slice(&u16::try_from(number).unwrap_or(u16::MAX).to_le_bytes());
}

/// Saves a file with these members so that `path` is whole at every moment.
///
/// # Errors
/// [`Error::Occupied`] when `path` is a file of something else, [`Error::Temporary`] when nothing
/// can be created beside it, [`Error::Io`] else; the old file is kept.
pub fn save(path: &Path, members: &[NewMember<'_>]) -> Result<()> {
    let bytes = bytes(members);
    Ok(atomic_file::replace(&Disk, path, KIND, &mut |out| out.write_all(&bytes))?)
}

/// A member of an open file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// What it is.
    pub kind: MemberKind,
    /// Its name: the label of a category.
    pub name: String,
    /// Documents that a category was learned from.
    pub documents: u64,
    checksum: u32,
    pieces: Vec<Range<usize>>,
}

/// An open file of members, over any bytes.
///
/// ```
/// use dbacl::{Container, LearnOptions, Learner, MemberKind, NewMember, save_container};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("model");
/// let mut sea = Learner::new(&LearnOptions::text())?;
/// sea.learn(b"the whale and the ship");
/// let sea = sea.finish()?;
/// save_container(&path, &[NewMember::category("sea", 1, &sea)])?;
///
/// let model = Container::open(&path)?;
/// let member = &model.members()[0];
/// assert_eq!((member.kind, member.name.as_str()), (MemberKind::Category, "sea"));
/// assert_eq!(*model.bytes_of(member)?, *sea.as_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Container<D = Vec<u8>> {
    bytes: D,
    members: Vec<Member>,
}

impl<D> fmt::Debug for Container<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Container").field("members", &self.members).finish_non_exhaustive()
    }
}

/// Why bytes are no such file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContainerFault {
    /// The first line says something else.
    #[error("it is not a model of dbacl")]
    Foreign,
    /// The first line says another version.
    #[error("the model is of another version")]
    Version,
    /// The file is shorter or longer than it says.
    #[error("the model is cut short, or something stands behind it")]
    Length,
    /// The checksum of the table of members is wrong, or the table has impossible values.
    #[error("the model's table of members is damaged")]
    Table,
    /// The checksum of a member is wrong.
    #[error("the checksum of a member of the model is wrong")]
    Member,
}

impl ContainerFault {
    /// The error for the file at `path`.
    #[doc(hidden)]
    pub fn at(self, path: &Path) -> Error {
        match self {
            Self::Foreign => Error::NotAModel { path: path.to_path_buf() },
            fault => Error::damaged(path, fault.to_string()),
        }
    }
}

impl Container<Vec<u8>> {
    /// Opens the file at `path` and reads it into memory.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be read, [`Error::NotAModel`] when it is none,
    /// [`Error::Damaged`] when it is damaged or of another version.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes = open_regular(path).and_then(|file| read_whole(&file));
        let bytes = bytes.map_err(|error| Error::io(path, error))?;
        Self::new(bytes).map_err(|fault| fault.at(path))
    }
}

impl<D: AsRef<[u8]>> Container<D> {
    /// Checks first line, length and table of members.
    ///
    /// # Errors
    /// What does not hold.
    pub fn new(bytes: D) -> Result<Self, ContainerFault> {
        let all = bytes.as_ref();
        if !all.starts_with(MAGIC) {
            let known = all.len().min(KIND.len());
            let is_ours = all.len() > KIND.len() && all[..known] == KIND[..known];
            return Err(if is_ours { ContainerFault::Version } else { ContainerFault::Foreign });
        }
        let mut head = Fields { rest: all.get(MAGIC.len()..).unwrap_or_default() };
        let (Some(length), Some(size), Some(sum)) = (head.u64(), head.u32(), head.u32()) else {
            return Err(ContainerFault::Length);
        };
        if length != all.len() {
            return Err(ContainerFault::Length);
        }
        let table = head.take(size as usize).ok_or(ContainerFault::Table)?;
        if crc32fast::hash(table) != sum {
            return Err(ContainerFault::Table);
        }
        let start = HEAD + table.len();
        let members = read_table(table, start..length).ok_or(ContainerFault::Table)?;
        Ok(Self { bytes, members })
    }

    /// The members, in their order.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The bytes of a member: those of the file where it is stored in one piece, else a copy.
    ///
    /// # Errors
    /// [`ContainerFault::Member`] when their checksum is wrong.
    pub fn bytes_of(&self, member: &Member) -> Result<Cow<'_, [u8]>, ContainerFault> {
        let all = self.bytes.as_ref();
        let piece = |range: &Range<usize>| all.get(range.clone()).unwrap_or_default();
        let bytes = match member.pieces.as_slice() {
            [one] => Cow::Borrowed(piece(one)),
            pieces => {
                let mut bytes = Vec::with_capacity(pieces.iter().map(Range::len).sum());
                for range in pieces {
                    bytes.extend_from_slice(piece(range));
                }
                Cow::Owned(bytes)
            }
        };
        if crc32fast::hash(&bytes) == member.checksum {
            Ok(bytes)
        } else {
            Err(ContainerFault::Member)
        }
    }
}

/// The entries of the table; their pieces lie within `body`.
fn read_table(table: &[u8], body: Range<usize>) -> Option<Vec<Member>> {
    let mut fields = Fields { rest: table };
    let number = fields.u32()? as usize;
    let mut members = Vec::new();
    // A damaged table must not make many copies of one piece, so their total length is limited.
    let mut room = body.len().checked_add(number.checked_mul(DIGRAM_BYTES)?)?;
    for _ in 0..number {
        let kind = MemberKind::by_number(fields.take(1)?[0]);
        let length = fields.u16()?;
        let name = String::from_utf8(fields.take(length.into())?.to_vec()).ok()?;
        let documents = fields.u64()? as u64;
        let checksum = fields.u32()?;
        let mut pieces = Vec::new();
        for _ in 0..fields.u16()? {
            let (from, length) = (fields.u64()?, fields.u64()?);
            let to = from.checked_add(length)?;
            room = room.checked_sub(length)?;
            if from < body.start || to > body.end {
                return None;
            }
            pieces.push(from..to);
        }
        members.push(Member { kind, name, documents, checksum, pieces });
    }
    fields.rest.is_empty().then_some(members)
}

/// Takes fields off the front of bytes.
struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (own, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(own)
    }

    fn u64(&mut self) -> Option<usize> {
        usize::try_from(LittleEndian::read_u64(self.take(8)?)).ok()
    }

    fn u32(&mut self) -> Option<u32> {
        Some(LittleEndian::read_u32(self.take(4)?))
    }

    fn u16(&mut self) -> Option<u16> {
        Some(LittleEndian::read_u16(self.take(2)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members() -> Vec<NewMember<'static>> {
        let common = vec![7; SHARED];
        let about = NewMember::new(MemberKind::About, "", b"documents: 3\n".as_slice());
        let with = |name: &str, own: &[u8]| NewMember {
            kind: MemberKind::Category,
            name: name.into(),
            documents: 2,
            pieces: vec![own.to_vec().into(), common.clone().into()],
        };
        vec![about, with("a b", b"one"), with("\u{e4}/..", b"two"), with("", b"")]
    }

    #[test]
    fn what_was_saved_is_read_back_and_common_pieces_are_stored_once() {
        let bytes = bytes(&members());
        assert!(bytes.len() < 2 * SHARED, "{}", bytes.len());
        let container = Container::new(&bytes).unwrap();
        assert_eq!(container.members().len(), 4);
        for (member, new) in container.members().iter().zip(members()) {
            assert_eq!((member.kind, &member.name), (new.kind, &new.name));
            assert_eq!(member.documents, new.documents);
            assert_eq!(*container.bytes_of(member).unwrap(), *new.pieces.concat());
        }
    }

    #[test]
    fn a_changed_byte_is_found_wherever_it_is() {
        let good = bytes(&members());
        for at in 0..good.len() {
            let mut damaged = good.clone();
            damaged[at] ^= 0x21;
            let Ok(container) = Container::new(&damaged) else { continue };
            let members = container.members();
            let faults = members.iter().filter(|member| container.bytes_of(member).is_err());
            assert!(faults.count() > 0, "byte {at}");
        }
    }

    #[test]
    fn a_cut_or_longer_file_is_refused() {
        let good = bytes(&members());
        for length in 0..good.len() {
            assert!(Container::new(&good[..length]).is_err(), "{length}");
        }
        let longer = [&good[..], b"x"].concat();
        assert_eq!(Container::new(longer).unwrap_err(), ContainerFault::Length);
        let other = [b"# dbacl model 2\n", &good[MAGIC.len()..]].concat();
        assert_eq!(Container::new(other).unwrap_err(), ContainerFault::Version);
        assert_eq!(Container::new(b"spam\thello\n").unwrap_err(), ContainerFault::Foreign);
    }

    #[test]
    fn a_small_file_cannot_cause_large_allocations() {
        let common = vec![1; DIGRAM_BYTES * 2];
        let member = NewMember::new(MemberKind::Documents, "", common.as_slice());
        let bytes = bytes(&vec![member; 100]);
        assert_eq!(Container::new(bytes).unwrap_err(), ContainerFault::Table);
    }
}
