// SPDX-License-Identifier: GPL-3.0-or-later
//! Files of models: members with checksums, described in `docs/spec/model-format.md`.
//!
//! ```text
//! members (kind, bytes) ─→ save ─→ file ─→ Container ─→ members
//! ```

use crate::error::{Error, Result};
use crate::input::source::{open_regular, read_whole};
use dbacl_files::atomic_file::{self, Disk};
use dbacl_files::reading::begins_with;
use std::fmt;
use std::ops::Range;
use std::path::Path;

/// The beginning of all such files, up to the version.
const KIND: &[u8] = b"# dbacl model ";
/// The first line.
const MAGIC: &[u8] = b"# dbacl model 2\n";
/// Bytes before the members.
const HEAD: usize = MAGIC.len() + 8;
/// Bytes before those of a member.
const ENTRY: usize = 1 + 8 + 4;

/// Whether the file at `path` is of this kind, of any version.
pub(crate) fn is_model(path: &Path) -> bool {
    begins_with(path, KIND)
}

/// What a member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberKind {
    /// Lines `NAME: VALUE` that say how the model was made.
    About,
    /// The documents that the model was learned from.
    Documents,
    /// A table of weights for all labels.
    Table,
    /// A kind that this version does not know and ignores.
    Other(u8),
}

impl MemberKind {
    const fn number(self) -> u8 {
        match self {
            Self::About => 0,
            Self::Documents => 2,
            Self::Table => 3,
            Self::Other(number) => number,
        }
    }

    const fn by_number(number: u8) -> Self {
        match number {
            0 => Self::About,
            2 => Self::Documents,
            3 => Self::Table,
            other => Self::Other(other),
        }
    }
}

/// The bytes of a file with these members, in their order.
pub fn bytes(members: &[(MemberKind, &[u8])]) -> Vec<u8> {
    let length = HEAD + members.iter().map(|(_, bytes)| ENTRY + bytes.len()).sum::<usize>();
    let mut out = Vec::with_capacity(length);
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&(length as u64).to_le_bytes());
    for (kind, bytes) in members {
        let entry = out.len();
        out.push(kind.number());
        out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        let mut sum = crc32fast::Hasher::new();
        sum.update(&out[entry..]);
        sum.update(bytes);
        out.extend_from_slice(&sum.finalize().to_le_bytes());
        out.extend_from_slice(bytes);
    }
    out
}

/// Saves a file with these members so that `path` is whole at every moment.
///
/// # Errors
/// [`Error::Occupied`] when `path` is a file of something else, [`Error::Temporary`] when nothing
/// can be created beside it, [`Error::Io`] else; the old file is kept.
pub fn save(path: &Path, members: &[(MemberKind, &[u8])]) -> Result<()> {
    let bytes = bytes(members);
    Ok(atomic_file::replace(&Disk, path, KIND, &mut |out| out.write_all(&bytes))?)
}

/// Checks that [`save`] may write to `path`, before there is anything to save.
///
/// # Errors
/// [`Error::Occupied`] and [`Error::Io`], as of [`save`].
pub fn check_target(path: &Path) -> Result<()> {
    atomic_file::check_target(&Disk, path, KIND)?;
    Ok(())
}

/// An open file of members, over any bytes, all of which were checked.
///
/// ```
/// use dbacl::{Container, MemberKind, save_container};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("model");
/// save_container(&path, &[(MemberKind::About, b"purpose: an example\n")])?;
/// let model = Container::open(&path)?;
/// let members: Vec<_> = model.members().collect();
/// assert_eq!(members, [(MemberKind::About, &b"purpose: an example\n"[..])]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Container<D = Vec<u8>> {
    bytes: D,
    members: Vec<(MemberKind, Range<usize>)>,
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
    /// The first line, or that of a member, says another version.
    #[error("the model is of another version")]
    Version,
    /// The file is shorter or longer than it says.
    #[error("the model is cut short, or something stands behind it")]
    Length,
    /// The checksum of a member is wrong.
    #[error("the checksum of a member of the model is wrong")]
    Member,
}

impl ContainerFault {
    /// The error for the file at `path`.
    pub(crate) fn at(self, path: &Path) -> Error {
        match self {
            Self::Foreign => Error::NotAModel { path: path.to_path_buf() },
            Self::Version => Error::ModelVersion { path: path.to_path_buf() },
            fault => Error::damaged(path, fault.to_string()),
        }
    }
}

impl Container<Vec<u8>> {
    /// Opens the file at `path` and reads it into memory.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be read, [`Error::NotAModel`] when it is none,
    /// [`Error::ModelVersion`] when another version of dbacl made it, [`Error::Damaged`].
    pub fn open(path: &Path) -> Result<Self> {
        let bytes = open_regular(path).and_then(|file| read_whole(&file));
        let bytes = bytes.map_err(|error| Error::io(path, error))?;
        Self::new(bytes).map_err(|fault| fault.at(path))
    }
}

impl<D: AsRef<[u8]>> Container<D> {
    /// Checks first line, length and members.
    ///
    /// # Errors
    /// What does not hold.
    pub fn new(bytes: D) -> Result<Self, ContainerFault> {
        let all = bytes.as_ref();
        let Some(rest) = all.strip_prefix(MAGIC) else {
            let is_ours = all.len() > KIND.len() && all.starts_with(KIND);
            return Err(if is_ours { ContainerFault::Version } else { ContainerFault::Foreign });
        };
        let mut rest = match rest.split_first_chunk() {
            Some((length, rest)) if u64::from_le_bytes(*length) == all.len() as u64 => rest,
            _ => return Err(ContainerFault::Length),
        };
        let mut members = Vec::new();
        while !rest.is_empty() {
            let start = all.len() - rest.len() + ENTRY;
            let (kind, length, others) = member(rest).ok_or(ContainerFault::Member)?;
            members.push((kind, start..start + length));
            rest = others;
        }
        Ok(Self { bytes, members })
    }

    /// The members, in their order.
    pub fn members(&self) -> impl Iterator<Item = (MemberKind, &[u8])> {
        let all = self.bytes.as_ref();
        self.members.iter().map(|(kind, place)| (*kind, all.get(place.clone()).unwrap_or_default()))
    }
}

/// Kind and length of the first member of these bytes, if its checksum is right, and what follows.
fn member(bytes: &[u8]) -> Option<(MemberKind, usize, &[u8])> {
    let (head, rest) = bytes.split_at_checked(ENTRY - 4)?;
    let (sum, rest) = rest.split_first_chunk()?;
    let length = u64::from_le_bytes(head[1..].try_into().ok()?);
    let (own, others) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    let mut found = crc32fast::Hasher::new();
    found.update(head);
    found.update(own);
    let is_right = found.finalize() == u32::from_le_bytes(*sum);
    is_right.then_some((MemberKind::by_number(head[0]), own.len(), others))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Vec<u8> {
        bytes(&[
            (MemberKind::About, b"a: b\n"),
            (MemberKind::Other(9), b""),
            (MemberKind::Table, b"t"),
        ])
    }

    #[test]
    fn what_was_saved_is_read_back() {
        let container = Container::new(good()).unwrap();
        let members: Vec<_> = container.members().collect();
        let expected: [(MemberKind, &[u8]); 3] = [
            (MemberKind::About, b"a: b\n"),
            (MemberKind::Other(9), b""),
            (MemberKind::Table, b"t"),
        ];
        assert_eq!(members, expected);
    }

    #[test]
    fn a_changed_byte_is_found_wherever_it_is() {
        for at in 0..good().len() {
            let mut damaged = good();
            damaged[at] ^= 0x21;
            assert!(Container::new(&damaged).is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_cut_or_longer_file_is_refused() {
        let good = good();
        for length in 0..good.len() {
            assert!(Container::new(&good[..length]).is_err(), "{length}");
        }
        let longer = [&good[..], b"x"].concat();
        assert_eq!(Container::new(longer).unwrap_err(), ContainerFault::Length);
        let other = [b"# dbacl model 3\n", &good[MAGIC.len()..]].concat();
        assert_eq!(Container::new(other).unwrap_err(), ContainerFault::Version);
        assert_eq!(Container::new(b"spam\thello\n").unwrap_err(), ContainerFault::Foreign);
    }
}
