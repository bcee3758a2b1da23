// SPDX-License-Identifier: GPL-3.0-or-later
//! Records that are appended to a file, each with its length and its checksum, so that a record of
//! which only a part reached the disk is recognised.
//!
//! ```text
//! u32     bytes of the content
//! u32     CRC-32 of the content
//! bytes   the content
//! ```

use byteorder::{ByteOrder, LittleEndian};

/// Bytes before the content.
pub(crate) const HEAD: usize = 8;

/// Appends a record whose content `write` appends.
pub(crate) fn append(bytes: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = bytes.len();
    bytes.extend_from_slice(&[0; HEAD]);
    write(bytes);
    let content = &bytes[start + HEAD..];
    let (length, sum) = (u32::try_from(content.len()), crc32fast::hash(content));
    LittleEndian::write_u32(&mut bytes[start..], length.unwrap_or(u32::MAX));
    LittleEndian::write_u32(&mut bytes[start + 4..], sum);
}

/// The contents of the records in `bytes`, up to the first one that is incomplete or damaged.
#[derive(Debug, Clone)]
pub(crate) struct Frames<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Frames<'a> {
    /// The records that begin at `from`.
    pub(crate) const fn new(bytes: &'a [u8], from: usize) -> Self {
        Self { bytes, at: from }
    }

    /// Where the records that were returned end.
    pub(crate) const fn end(&self) -> usize {
        self.at
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (head, rest) = self.bytes.get(self.at..)?.split_at_checked(HEAD)?;
        let length = LittleEndian::read_u32(head) as usize;
        let content = rest.get(..length)?;
        if crc32fast::hash(content) != LittleEndian::read_u32(&head[4..]) {
            return None;
        }
        self.at += HEAD + length;
        Some(content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_end_at_the_first_damaged_one() {
        let mut bytes = b"x".to_vec();
        for content in [&b"one"[..], b"", b"three"] {
            append(&mut bytes, |out| out.extend_from_slice(content));
        }
        let all: Vec<&[u8]> = Frames::new(&bytes, 1).collect();
        assert_eq!(all, [&b"one"[..], b"", b"three"]);
        for at in 1..bytes.len() {
            let whole = [12, 20, 33].into_iter().filter(|&end| end <= at).count();
            assert_eq!(Frames::new(&bytes[..at], 1).count(), whole, "cut at {at}");
            let mut damaged = bytes.clone();
            damaged[at] ^= 4;
            assert_eq!(Frames::new(&damaged, 1).count(), whole, "flipped at {at}");
        }
    }
}
