// SPDX-License-Identifier: GPL-3.0-or-later
//! Checksums of the blocks of a file, and reading that checks each block.
//!
//! The sums are kept in another file. Whoever reads a little of a large file reads and checks only
//! the blocks that it lies in.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Bytes of a block. A look-up in a table reads one block, and larger ones would take longer.
pub const BLOCK: u64 = 1024;

/// Bytes that are read at a time where all of a file is.
const PART: u64 = 64 * BLOCK;

/// Checksums (CRC-32) of a file's blocks, of which the first begins at byte `from`. Bytes behind
/// `length` have none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sums {
    from: u64,
    length: u64,
    blocks: Vec<u32>,
}

impl Sums {
    /// Bytes of the sums of a file of `length` bytes with blocks from byte `from` on.
    pub const fn bytes_for(from: u64, length: u64) -> u64 {
        4 * length.saturating_sub(from).div_ceil(BLOCK)
    }

    /// The sums of the first `length` bytes of a file. With `known` sums of a shorter beginning
    /// only the rest is read, through `buffer`: new memory takes longer than reading.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn of(
        file: &File,
        from: u64,
        length: u64,
        known: Option<Self>,
        buffer: &mut Vec<u8>,
    ) -> io::Result<Self> {
        let known = known.filter(|known| known.from == from && known.length <= length);
        let mut sums = known.map_or_else(Vec::new, |mut known| {
            if known.length < length && !known.length.saturating_sub(from).is_multiple_of(BLOCK) {
                known.blocks.pop();
            }
            known.blocks
        });
        let mut at = from + BLOCK * sums.len() as u64;
        while at < length {
            let part = PART.min(length - at);
            let bytes = room(buffer, part)?;
            file.read_exact_at(bytes, at)?;
            sums.extend(blocks_of(bytes).map(crc32fast::hash));
            at += part;
        }
        Ok(Self { from, length, blocks: sums })
    }

    /// Sums that were written by [`Self::bytes`]; `None` if they are not of so many blocks.
    pub fn parse(bytes: &[u8], from: u64, length: u64) -> Option<Self> {
        let (words, rest) = bytes.as_chunks();
        let is_right = rest.is_empty() && bytes.len() as u64 == Self::bytes_for(from, length);
        let blocks = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        is_right.then_some(Self { from, length, blocks })
    }

    /// The sums, four bytes each.
    pub fn bytes(&self) -> Vec<u8> {
        self.blocks.iter().flat_map(|sum| sum.to_le_bytes()).collect()
    }

    /// The bytes that have to be read to check those of `wanted`.
    fn around(&self, wanted: &Range<u64>) -> Range<u64> {
        let start = wanted.start.saturating_sub(self.from) / BLOCK * BLOCK + self.from;
        let end = wanted.end.saturating_sub(self.from).next_multiple_of(BLOCK) + self.from;
        start.min(wanted.start)..end.min(self.length).max(wanted.end)
    }

    /// The sums of `bytes`, which only in these places differ from what the sums are of; `None` if
    /// their number differs.
    pub fn changed(
        mut self,
        bytes: &[u8],
        places: impl Iterator<Item = Range<usize>>,
    ) -> Option<Self> {
        let from = usize::try_from(self.from).ok()?;
        let size = usize::try_from(BLOCK).ok()?;
        if bytes.len() as u64 != self.length {
            return None;
        }
        let mut is_changed = vec![false; self.blocks.len()];
        for place in places {
            let blocks = place.start.saturating_sub(from) / size;
            let end = place.end.saturating_sub(from).div_ceil(size);
            is_changed.get_mut(blocks..end)?.fill(true);
        }
        let blocks = bytes.get(from..)?.chunks(size);
        for (block, (sum, is_changed)) in blocks.zip(self.blocks.iter_mut().zip(is_changed)) {
            if is_changed {
                *sum = crc32fast::hash(block);
            }
        }
        Some(self)
    }

    /// The number of the block that a byte is in.
    const fn number(&self, at: u64) -> u64 {
        at.saturating_sub(self.from) / BLOCK
    }
}

fn blocks_of(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.chunks(usize::try_from(BLOCK).unwrap_or(usize::MAX))
}

/// The first `length` bytes of a buffer, which grows if it must.
fn room(buffer: &mut Vec<u8>, length: u64) -> io::Result<&mut [u8]> {
    let length = usize::try_from(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
    if buffer.len() < length {
        *buffer = vec![0; length];
    }
    Ok(&mut buffer[..length])
}

/// Bytes of a [`Checked`] file in memory. A block is checked when it is used for the first time.
#[derive(Debug, Default)]
pub struct Window {
    buffer: Vec<u8>,
    /// The bytes of the file that are in the buffer.
    range: Range<u64>,
    /// The number of the block in which the range begins.
    first: u64,
    /// Of the blocks from there on, whether they were checked.
    is_checked: Vec<bool>,
}

impl Window {
    /// A window with memory for so many bytes; it grows where more are wanted.
    pub fn with_room(bytes: usize) -> Self {
        Self { buffer: vec![0; bytes], ..Self::default() }
    }

    /// Forgets what it has, as is needed before bytes of another file are read into it.
    pub fn clear(&mut self) {
        self.range = 0..0;
    }

    fn bytes(&self, part: Range<u64>) -> &[u8] {
        let place = |at: u64| usize::try_from(at - self.range.start).unwrap_or(usize::MAX);
        &self.buffer[place(part.start)..place(part.end)]
    }

    fn check(&mut self, sums: &Sums, wanted: &Range<u64>) -> io::Result<()> {
        let end = wanted.end.min(sums.length).saturating_sub(sums.from).div_ceil(BLOCK);
        for number in sums.number(wanted.start)..end {
            let at = usize::try_from(number - self.first).unwrap_or(usize::MAX);
            if self.is_checked[at] {
                continue;
            }
            let start = sums.from + BLOCK * number;
            let sum = crc32fast::hash(self.bytes(start..(start + BLOCK).min(sums.length)));
            let own = usize::try_from(number).ok().and_then(|number| sums.blocks.get(number));
            if own != Some(&sum) {
                return Err(damaged());
            }
            self.is_checked[at] = true;
        }
        Ok(())
    }
}

/// A file whose blocks are checked when they are used, if there are sums of them.
#[derive(Debug)]
pub struct Checked {
    file: File,
    sums: Option<Sums>,
}

impl Checked {
    /// A file and the sums of its blocks.
    pub const fn new(file: File, sums: Option<Sums>) -> Self {
        Self { file, sums }
    }

    /// The file.
    pub const fn file(&self) -> &File {
        &self.file
    }

    /// The bytes of `wanted`. Those that `window` does not have are read into it, and with them the
    /// bytes up to `end`, which will be wanted next.
    ///
    /// # Errors
    /// Those of the operating system; [`io::ErrorKind::InvalidData`] for a damaged block.
    #[inline]
    pub fn read<'a>(
        &self,
        wanted: Range<u64>,
        end: u64,
        window: &'a mut Window,
    ) -> io::Result<&'a [u8]> {
        if wanted.start < window.range.start || wanted.end > window.range.end {
            self.fill(wanted.start..end.max(wanted.end), window)?;
        }
        if let Some(sums) = &self.sums {
            window.check(sums, &wanted)?;
        }
        Ok(window.bytes(wanted))
    }

    /// Reads `wanted` into `window`, with the bytes around it that share its blocks.
    fn fill(&self, wanted: Range<u64>, window: &mut Window) -> io::Result<()> {
        let all = self.sums.as_ref().map_or_else(|| wanted.clone(), |sums| sums.around(&wanted));
        window.range = 0..0;
        self.file.read_exact_at(room(&mut window.buffer, all.end - all.start)?, all.start)?;
        if let Some(sums) = &self.sums {
            window.first = sums.number(all.start);
            let blocks = usize::try_from(sums.number(all.end) + 1 - window.first);
            window.is_checked.clear();
            window.is_checked.resize(blocks.map_err(|_| io::ErrorKind::OutOfMemory)?, false);
        }
        window.range = all;
        Ok(())
    }

    /// Fills `bytes` from position `at` on.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    pub fn read_exact_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        if self.sums.is_none() {
            return self.file.read_exact_at(bytes, at);
        }
        let end = at + bytes.len() as u64;
        bytes.copy_from_slice(self.read(at..end, end, &mut Window::default())?);
        Ok(())
    }

    /// Checks all blocks; returns the positions of the damaged ones, or where the file ends too
    /// early.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn check(&self) -> io::Result<Vec<u64>> {
        let Some(sums) = &self.sums else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        let mut buffer = Vec::new();
        let now = match Sums::of(&self.file, sums.from, sums.length, None, &mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Ok(vec![self.file.metadata()?.len()]);
            }
            now => now?,
        };
        for (number, (now, sum)) in (0..).zip(now.blocks.iter().zip(&sums.blocks)) {
            if now != sum {
                found.push(sums.from + BLOCK * number);
            }
        }
        Ok(found)
    }
}

/// The error of a block that does not fit its checksum.
pub fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it does not fit its checksums")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::iter::once;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn text(length: u32) -> Vec<u8> {
        (0..length).map(|at| (at * 7 % 251) as u8).collect()
    }

    fn sums_of(file: &File, from: u64, length: u64, known: Option<Sums>) -> Sums {
        Sums::of(file, from, length, known, &mut Vec::new()).unwrap()
    }

    #[test]
    fn every_flipped_bit_is_found_where_it_is_read_and_nowhere_else() {
        for (from, length) in [(0, 5000), (81, 5000), (81, 81), (0, 2048), (100, 40)] {
            let bytes = text(length);
            let sums = sums_of(&file(&bytes), from, length.into(), None);
            assert_eq!(Sums::parse(&sums.bytes(), from, length.into()), Some(sums.clone()));
            for at in (0..length as usize).step_by(97) {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1;
                let is_covered = at as u64 >= from;
                let checked = Checked::new(file(&damaged), Some(sums.clone()));
                let block = (at as u64).saturating_sub(from) / BLOCK * BLOCK + from;
                let expected = if is_covered { vec![block] } else { Vec::new() };
                assert_eq!(checked.check().unwrap(), expected);
                // A window that reads further finds damage only where it is used.
                let (mut window, end) = (Window::default(), u64::from(length));
                for begin in (0..end).step_by(331) {
                    let wanted = begin..(begin + 100).min(end);
                    let is_near = is_covered && wanted.end > block && begin < block + BLOCK;
                    let read = checked.read(wanted, end, &mut window);
                    assert_eq!(read.is_err(), is_near, "{at} {begin}");
                }
                for begin in (0..length as usize).step_by(331) {
                    let mut read = vec![0; 100.min(length as usize - begin)];
                    let end = (begin + read.len()) as u64;
                    let done = checked.read_exact_at(&mut read, begin as u64);
                    let is_near = is_covered && end > block && (begin as u64) < block + BLOCK;
                    assert_eq!(done.is_err(), is_near, "{at} {begin}");
                    if done.is_ok() {
                        assert_eq!(read, damaged[begin..][..read.len()]);
                    }
                }
            }
        }
    }

    #[test]
    fn sums_go_on_where_a_file_grows() {
        let bytes = text(9000);
        for (old, new) in [(0, 9000), (81, 81), (2129, 9000), (3000, 3001), (3000, 9000)] {
            let known = sums_of(&file(&bytes[..old]), 81, old as u64, None);
            let file = file(&bytes[..new]);
            let sums = sums_of(&file, 81, new as u64, None);
            assert_eq!(sums_of(&file, 81, new as u64, Some(known.clone())), sums);
            // What is added later is read unchecked.
            let mut read = vec![0; new - 80.min(new)];
            Checked::new(file, Some(known)).read_exact_at(&mut read, 80).unwrap();
            assert_eq!(read, bytes[80..new]);
        }
    }

    #[test]
    fn sums_are_made_again_where_bytes_have_changed() {
        for (from, start) in [(0, 0), (81, 81)] {
            let mut bytes = text(5000);
            let sums = sums_of(&file(&bytes), from, 5000, None);
            let places = [start..200, 2000..2002, 2047..2049, 4999..5000, 300..300];
            for place in &places {
                bytes[place.clone()].fill(1);
            }
            let changed = sums.clone().changed(&bytes, places.into_iter());
            assert_eq!(changed, Some(sums_of(&file(&bytes), from, 5000, None)));
            assert_ne!(changed, sums.clone().changed(&bytes, once(2000..2002)));
            assert_eq!(sums.clone().changed(&bytes[1..], [].into_iter()), None);
            assert_eq!(sums.changed(&bytes, once(4999..9000)), None);
        }
    }

    #[test]
    fn sums_of_another_length_are_not_taken() {
        assert_eq!(Sums::parse(&[0; 8], 0, 1024), None);
        assert_eq!(Sums::parse(&[0; 7], 0, 1025), None);
        assert!(Sums::parse(&[0; 8], 0, 1025).is_some());
        let file = file(&text(100));
        let sums = sums_of(&file, 0, 100, None);
        file.set_len(50).unwrap();
        let error = Checked::new(file, Some(sums)).read_exact_at(&mut [0; 10], 0).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
