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

/// How a file is divided into blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocks {
    /// Where the first one begins.
    pub from: u64,
    /// Bytes of each.
    pub size: u64,
}

impl Blocks {
    /// Blocks of [`BLOCK`] bytes from this byte on.
    pub const fn from(from: u64) -> Self {
        Self { from, size: BLOCK }
    }

    /// Bytes of the sums of a file of `length` bytes.
    pub const fn bytes_for(self, length: u64) -> u64 {
        4 * length.saturating_sub(self.from).div_ceil(self.size)
    }

    /// The number of the block that a byte is in.
    const fn number(self, at: u64) -> u64 {
        at.saturating_sub(self.from) / self.size
    }

    fn of(self, bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
        bytes.chunks(usize::try_from(self.size).unwrap_or(usize::MAX))
    }
}

/// Checksums (CRC-32) of a file's blocks. Bytes after `length` have none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sums {
    grid: Blocks,
    length: u64,
    blocks: Vec<u32>,
}

impl Sums {
    /// The sums of the first `length` bytes of a file. With `known` sums of a shorter beginning
    /// only the rest is read, through `buffer`: new memory takes longer than reading.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn of(
        file: &File,
        grid: Blocks,
        length: u64,
        known: Option<Self>,
        buffer: &mut Vec<u8>,
    ) -> io::Result<Self> {
        let Blocks { from, size } = grid;
        let known = known.filter(|known| known.grid == grid && known.length <= length);
        let mut sums = known.map_or_else(Vec::new, |mut known| {
            if known.length < length && !known.length.saturating_sub(from).is_multiple_of(size) {
                known.blocks.pop();
            }
            known.blocks
        });
        let mut at = from + size * sums.len() as u64;
        while at < length {
            let part = PART.min(length - at);
            let bytes = room(buffer, part)?;
            file.read_exact_at(bytes, at)?;
            sums.extend(grid.of(bytes).map(crc32fast::hash));
            at += part;
        }
        Ok(Self { grid, length, blocks: sums })
    }

    /// Sums that were written by [`Self::bytes`]; `None` if they are not of so many blocks.
    pub fn parse(bytes: &[u8], grid: Blocks, length: u64) -> Option<Self> {
        let (words, rest) = bytes.as_chunks();
        let is_right = rest.is_empty() && bytes.len() as u64 == grid.bytes_for(length);
        let blocks = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        is_right.then_some(Self { grid, length, blocks })
    }

    /// The sums, four bytes each.
    pub fn bytes(&self) -> Vec<u8> {
        self.blocks.iter().flat_map(|sum| sum.to_le_bytes()).collect()
    }

    /// The bytes that have to be read to check those of `wanted`.
    fn around(&self, wanted: &Range<u64>) -> Range<u64> {
        let Blocks { from, size } = self.grid;
        let start = wanted.start.saturating_sub(from) / size * size + from;
        let end = wanted.end.saturating_sub(from).next_multiple_of(size) + from;
        start.min(wanted.start)..end.min(self.length).max(wanted.end)
    }

    /// Makes the sums of the blocks of `bytes`, which begin with the first one, again.
    pub fn renew(&mut self, bytes: &[u8]) {
        for (sum, block) in self.blocks.iter_mut().zip(self.grid.of(bytes)) {
            *sum = crc32fast::hash(block);
        }
    }
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
        let Blocks { from, size } = sums.grid;
        let end = wanted.end.min(sums.length).saturating_sub(from).div_ceil(size);
        for number in sums.grid.number(wanted.start)..end {
            let at = usize::try_from(number - self.first).unwrap_or(usize::MAX);
            if self.is_checked[at] {
                continue;
            }
            let start = from + size * number;
            let sum = crc32fast::hash(self.bytes(start..(start + size).min(sums.length)));
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
    /// The file.
    pub file: File,
    sums: Option<Sums>,
}

impl Checked {
    /// A file and the sums of its blocks.
    pub const fn new(file: File, sums: Option<Sums>) -> Self {
        Self { file, sums }
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
            window.first = sums.grid.number(all.start);
            let blocks = usize::try_from(sums.grid.number(all.end) + 1 - window.first);
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
        let now = match Sums::of(&self.file, sums.grid, sums.length, None, &mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Ok(vec![self.file.metadata()?.len()]);
            }
            now => now?,
        };
        for (number, (now, sum)) in (0..).zip(now.blocks.iter().zip(&sums.blocks)) {
            if now != sum {
                found.push(sums.grid.from + sums.grid.size * number);
            }
        }
        Ok(found)
    }

    /// Copies the file from the beginning to the end in parts of whole blocks: each part is read
    /// and checked, [`Parts::change`] may change it, and [`Parts::write`] writes it. Returns the
    /// sums of the copy; `None`, before anything is written, if some bytes have no sums.
    ///
    /// # Errors
    /// Those of the operating system and of the caller's functions; [`io::ErrorKind::InvalidData`]
    /// for a damaged block.
    pub fn copy(&self, parts: &mut dyn Parts) -> io::Result<Option<Sums>> {
        let Some(mut sums) = self.sums.clone().filter(|sums| sums.grid.from == 0) else {
            return Ok(None);
        };
        let (size, length) = (sums.grid.size, sums.length);
        if self.file.metadata()?.len() != length {
            return Ok(None);
        }
        let place =
            |at: u64| usize::try_from(at).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory));
        let mut is_changed = vec![false; sums.blocks.len()];
        let mut buffer = vec![0; place(PART + size)?];
        // The buffer has the bytes of the file from `start` up to `end`.
        let (mut start, mut end) = (0, 0);
        while end < length {
            let (old, part) = (end, (PART / size * size).max(size).min(length - end));
            end += part;
            self.file.read_exact_at(&mut buffer[place(old - start)?..place(end - start)?], old)?;
            let new = &buffer[place(old - start)?..place(end - start)?];
            let known = sums.blocks.iter().skip(place(old / size)?);
            if !sums
                .grid
                .of(new)
                .map(crc32fast::hash)
                .eq(known.copied().take(place(part.div_ceil(size))?))
            {
                return Err(damaged());
            }
            let bytes = &mut buffer[..place(end - start)?];
            let done = parts.change(start, bytes, &mut |range| {
                let blocks =
                    (start + range.start as u64) / size..(start + range.end as u64).div_ceil(size);
                for block in blocks {
                    is_changed[usize::try_from(block).unwrap_or(usize::MAX)] = true;
                }
            });
            // A block that is not done is a part of the next part.
            let done = if end == length { end } else { (start + done as u64) / size * size };
            let whole = &bytes[..place(done - start)?];
            let numbers = place(start / size)?..;
            for (number, block) in numbers.zip(sums.grid.of(whole)) {
                if is_changed[number] {
                    sums.blocks[number] = crc32fast::hash(block);
                }
            }
            parts.write(start, whole)?;
            buffer.copy_within(place(done - start)?..place(end - start)?, 0);
            start = done;
        }
        Ok(Some(sums))
    }
}

/// What becomes of the parts of a file that is copied.
pub trait Parts {
    /// Changes bytes, which begin at position `at` of the file. Those after the returned number
    /// come once more, if there are more; `changed` is called with the places of changed bytes.
    fn change(&mut self, at: u64, bytes: &mut [u8], changed: &mut dyn FnMut(Range<usize>))
    -> usize;

    /// Writes bytes, which begin at position `at`.
    ///
    /// # Errors
    /// Those of the operating system.
    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()>;
}

/// The error of a block that does not fit its checksum.
pub fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it does not fit its checksums")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn text(length: u32) -> Vec<u8> {
        (0..length).map(|at| (at * 7 % 251) as u8).collect()
    }

    fn sums_of(file: &File, from: u64, length: u64, known: Option<Sums>) -> Sums {
        Sums::of(file, Blocks::from(from), length, known, &mut Vec::new()).unwrap()
    }

    #[test]
    fn every_flipped_bit_is_found_where_it_is_read_and_nowhere_else() {
        for (from, length) in [(0, 5000), (81, 5000), (81, 81), (0, 2048), (100, 40)] {
            let bytes = text(length);
            let sums = sums_of(&file(&bytes), from, length.into(), None);
            assert_eq!(
                Sums::parse(&sums.bytes(), Blocks::from(from), length.into()),
                Some(sums.clone())
            );
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

    /// Copies into memory; sets some bytes to 1, which are done when the byte behind them is there.
    struct Copy {
        places: Vec<Range<usize>>,
        bytes: Vec<u8>,
    }

    impl Parts for Copy {
        fn change(
            &mut self,
            at: u64,
            bytes: &mut [u8],
            changed: &mut dyn FnMut(Range<usize>),
        ) -> usize {
            let at = usize::try_from(at).unwrap();
            let mut done = bytes.len();
            for place in &self.places {
                if place.start >= at && place.end < at + bytes.len() {
                    bytes[place.start - at..place.end - at].fill(1);
                    changed(place.start - at..place.end - at);
                } else if (at..at + bytes.len()).contains(&place.start) {
                    done = done.min(place.start - at);
                }
            }
            done
        }

        fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
            assert_eq!(at, self.bytes.len() as u64);
            self.bytes.extend_from_slice(bytes);
            Ok(())
        }
    }

    #[test]
    fn a_copy_has_the_changes_and_sums_that_fit() {
        let length = 3 * 65_536 + 777;
        let bytes = text(length);
        let sums = sums_of(&file(&bytes), 0, length.into(), None);
        let places = [0..3, 1000..1100, 65_530..65_540, 131_071..131_072, 150_000..150_006];
        let mut copy = Copy { places: places.to_vec(), bytes: Vec::new() };
        let found = Checked::new(file(&bytes), Some(sums.clone())).copy(&mut copy).unwrap();
        let mut expected = bytes.clone();
        for place in places {
            expected[place].fill(1);
        }
        assert!(copy.bytes == expected);
        assert_eq!(found, Some(sums_of(&file(&expected), 0, length.into(), None)));
        let mut copied = |bytes: &[u8], sums: Option<Sums>| {
            copy.bytes.clear();
            Checked::new(file(bytes), sums).copy(&mut copy)
        };
        assert_eq!(copied(&bytes[1..], Some(sums.clone())).unwrap(), None);
        assert_eq!(copied(&bytes, None).unwrap(), None);
        for at in (0..bytes.len()).step_by(1021) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            let error = copied(&damaged, Some(sums.clone())).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{at}");
        }
    }

    #[test]
    fn sums_of_another_length_are_not_taken() {
        assert_eq!(Sums::parse(&[0; 8], Blocks::from(0), 1024), None);
        assert_eq!(Sums::parse(&[0; 7], Blocks::from(0), 1025), None);
        assert!(Sums::parse(&[0; 8], Blocks::from(0), 1025).is_some());
        let file = file(&text(100));
        let sums = sums_of(&file, 0, 100, None);
        file.set_len(50).unwrap();
        let error = Checked::new(file, Some(sums)).read_exact_at(&mut [0; 10], 0).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
