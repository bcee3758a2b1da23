// SPDX-License-Identifier: GPL-3.0-or-later
//! A table in a file, of which only small parts are read and changed at a time. The file has blocks
//! with checksums; another file has the pieces that have changed since it was written.
//!
//! ```text
//! the file      head, its last 8 bytes a checksum of the head and the blocks' sums
//!               a CRC-32 for each block of 1024 bytes; zeros up to a multiple of 1024
//!               blocks
//! the changes   "# dbacl changes 2\n"
//!               CRC-32 u32 of all that follows
//!               checksum u64 at the end of the head that these are changes of
//!               the head as it is now, without its checksum
//!               number u32 of pieces; their numbers u32, in order; the pieces, 16 bytes each
//! ```
//!
//! A block is read and checked when it is used for the first time. A damaged
//! block reads as zeros; [`Pages::is_damaged`] is then true, and results must not be used. When the
//! changes have grown too much, the file should be written again ([`Pages::is_due`]).

use crate::alloc_hints::take_memory;
use crate::fit::checksum::Checksum;
use byteorder::{ByteOrder, LittleEndian};
use std::fmt::Debug;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

/// How changes begin.
pub const CHANGES: &[u8] = b"# dbacl changes 2\n";

/// Bytes of a block, which has a checksum and is read as a whole. Most uses need a few bytes of it.
pub const BLOCK: usize = 1024;

/// Bytes of a piece, which is written as a whole when one of them has changed. Most changes are of
/// a weight, far from others.
const PIECE: usize = 16;

/// Pieces of a block.
const PIECES: usize = BLOCK / PIECE;

/// The file is written again when more than one piece in so many has changed. Each change also
/// writes all pieces that changed before. A larger share would make changes slower; a smaller one
/// would have the file written more often.
const FOLDED: usize = 16;

/// With so few changed pieces the file is never written again.
const FEW: usize = 768;

/// Bytes that are written at a time.
const PART: usize = 1 << 16;

/// Bytes of the checksum at the end of a head.
const SUM: usize = 8;

/// The source from which a table is read.
pub trait ReadAt: Debug + Send + Sync {
    /// Fills `bytes` from `offset` on.
    ///
    /// # Errors
    /// Those of the operating system; [`io::ErrorKind::UnexpectedEof`].
    fn read_at(&self, bytes: &mut [u8], offset: usize) -> io::Result<()>;
}

impl ReadAt for File {
    fn read_at(&self, bytes: &mut [u8], offset: usize) -> io::Result<()> {
        self.read_exact_at(bytes, offset as u64)
    }
}

impl ReadAt for Vec<u8> {
    fn read_at(&self, bytes: &mut [u8], offset: usize) -> io::Result<()> {
        let found = self.get(offset..).and_then(|rest| rest.get(..bytes.len()));
        bytes.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// Where the blocks begin behind a head of so many bytes.
pub const fn blocks_at(head: usize, blocks: usize) -> usize {
    (head + 4 * blocks).next_multiple_of(BLOCK)
}

/// The file that blocks are read from.
#[derive(Debug)]
struct Source {
    file: Box<dyn ReadAt>,
    blocks_at: usize,
    /// Sums of the blocks in the file.
    sums: Vec<u32>,
    /// The checksum at the end of the head, which identifies the file to which changes belong.
    name: u64,
}

/// Changes that were read.
#[derive(Debug, Default)]
struct Old {
    /// Numbers of the pieces, in order.
    numbers: Vec<u32>,
    bytes: Vec<u8>,
    /// Where the pieces begin in the bytes.
    pieces_at: usize,
}

impl Old {
    /// The pieces from number `first` up to `end`, with their numbers.
    #[allow(clippy::cast_possible_truncation)] // numbers of pieces are below 2^32
    fn between(&self, first: usize, end: usize) -> impl Iterator<Item = (usize, &[u8])> {
        let place = |number: usize| self.numbers.partition_point(|&own| own < number as u32);
        let places = place(first)..place(end);
        let pieces = &self.bytes[self.pieces_at..];
        places.map(|at| (self.numbers[at] as usize, &pieces[at * PIECE..][..PIECE]))
    }
}

/// How far a block has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Unread,
    /// It is as in the file, unchecked and without changes.
    Read,
    Ready,
}

/// Blocks of a table.
#[derive(Debug)]
pub struct Pages {
    /// The blocks that were read, one behind the other, as memory that is taken page by page costs
    /// more than reading.
    bytes: Vec<u8>,
    /// Where in the bytes each block is, counted in blocks, if it was read.
    places: Vec<u32>,
    source: Option<Source>,
    old: Old,
    progress: Vec<Progress>,
    /// For each block, which of its pieces differ from the file: a bit for each, the lowest first.
    changed: Vec<u64>,
    /// Whether a block that was used has a wrong checksum, or could not be read.
    pub is_damaged: bool,
}

impl Pages {
    /// A table of so many blocks of zeros, without a file.
    #[allow(clippy::cast_possible_truncation)] // tables of 32-bit numbers
    pub fn new(blocks: usize) -> Self {
        Self {
            bytes: vec![0; blocks * BLOCK],
            places: (0..blocks as u32).collect(),
            source: None,
            old: Old::default(),
            progress: vec![Progress::Ready; blocks],
            changed: vec![u64::MAX; blocks],
            is_damaged: false,
        }
    }

    /// The blocks of a file with this head; `None` if the checksum of head and sums is wrong.
    pub fn open(file: Box<dyn ReadAt>, head: &[u8], blocks: usize) -> Option<Self> {
        let blocks_at = blocks_at(head.len(), blocks);
        let mut sums = vec![0; blocks_at - head.len()];
        file.read_at(&mut sums, head.len()).ok()?;
        let name = LittleEndian::read_u64(&head[head.len() - SUM..]);
        if name != sum_of(head, &sums) {
            return None;
        }
        let sums = sums.chunks_exact(4).take(blocks).map(LittleEndian::read_u32).collect();
        Some(Self {
            bytes: Vec::with_capacity(blocks * BLOCK),
            places: vec![0; blocks],
            source: Some(Source { file, blocks_at, sums, name }),
            old: Old::default(),
            progress: vec![Progress::Unread; blocks],
            changed: vec![0; blocks],
            is_damaged: false,
        })
    }

    /// Applies changes; no block may have been read yet. If the changes are undamaged and belong to
    /// this file, returns the head that they have, with zeros in place of the checksum.
    pub fn take_changes(&mut self, changes: Vec<u8>, head: usize) -> Option<Vec<u8>> {
        let rest = changes.strip_prefix(CHANGES)?;
        let (sum, rest) = rest.split_at_checked(4)?;
        if LittleEndian::read_u32(sum) != crc32fast::hash(rest) {
            return None;
        }
        let (name, rest) = rest.split_at_checked(8)?;
        let source = self.source.as_ref()?;
        if LittleEndian::read_u64(name) != source.name {
            return None;
        }
        let (new, rest) = rest.split_at_checked(head - SUM)?;
        let (number, rest) = rest.split_at_checked(4)?;
        let number = LittleEndian::read_u32(number) as usize;
        let (numbers, pieces) = rest.split_at_checked(number.checked_mul(4)?)?;
        let numbers: Vec<u32> = numbers.chunks_exact(4).map(LittleEndian::read_u32).collect();
        let is_in_order = numbers.is_sorted_by(|one, next| one < next);
        let is_inside =
            numbers.last().is_none_or(|&last| (last as usize) < PIECES * self.changed.len());
        if !is_in_order || !is_inside || pieces.len() != number.checked_mul(PIECE)? {
            return None;
        }
        for &number in &numbers {
            self.change(number as usize);
        }
        let new = [new, &[0; SUM]].concat();
        let pieces_at = changes.len() - pieces.len();
        self.old = Old { numbers, bytes: changes, pieces_at };
        Some(new)
    }

    /// `length` bytes from byte `at` on, which are in one block.
    #[inline]
    pub fn get(&mut self, at: usize, length: usize) -> &[u8] {
        let start = self.need(at);
        &self.bytes[start..start + length]
    }

    /// The bytes at a place, to be changed. Their pieces count as changed.
    #[inline]
    pub fn get_mut(&mut self, at: usize, length: usize) -> &mut [u8] {
        for piece in at / PIECE..=(at + length.max(1) - 1) / PIECE {
            self.change(piece);
        }
        let start = self.need(at);
        &mut self.bytes[start..start + length]
    }

    #[inline]
    fn change(&mut self, piece: usize) {
        self.changed[piece / PIECES] |= 1 << (piece % PIECES);
    }

    /// Takes memory for `length` bytes that are about to be read: page by page this would take
    /// longer.
    pub fn take_memory(&self, length: usize) {
        take_memory(&self.bytes, length);
    }

    /// Whether the file should be written as a whole, because it is new or too much of it has
    /// changed.
    pub fn is_due(&self) -> bool {
        let changed: usize = self.changed.iter().map(|own| own.count_ones() as usize).sum();
        self.source.is_none() || changed > (PIECES * self.changed.len() / FOLDED).max(FEW)
    }

    /// Whether a block is damaged that was read, or that writing the whole file would read.
    pub fn is_damaged_to_write(&mut self) -> bool {
        if self.is_due() {
            self.read_all();
        }
        self.is_damaged
    }

    /// Reads all blocks.
    pub fn read_all(&mut self) {
        self.fetch(0, self.progress.len() * BLOCK);
        for block in 0..self.progress.len() {
            self.prepare(block);
        }
    }

    /// Makes the block of a byte ready to be used; returns where the byte is.
    #[inline]
    fn need(&mut self, at: usize) -> usize {
        let block = at / BLOCK;
        if self.progress[block] != Progress::Ready {
            self.prepare(block);
        }
        self.places[block] as usize * BLOCK + at % BLOCK
    }

    #[cold]
    fn prepare(&mut self, block: usize) {
        if self.progress[block] == Progress::Unread {
            self.read(block, 1);
        }
        if self.progress[block] == Progress::Read {
            self.check(block);
        }
    }

    /// Reads the blocks that these bytes are in, without checking them, where much of them is going
    /// to be used: one read is less than many.
    pub fn fetch(&mut self, at: usize, length: usize) {
        let mut block = at / BLOCK;
        let end = (at + length).div_ceil(BLOCK).min(self.progress.len());
        while block < end {
            let of_unread = |progress: &&Progress| **progress == Progress::Unread;
            let unread = self.progress[block..end].iter().take_while(of_unread).count();
            if unread > 0 {
                self.read(block, unread);
            }
            block += unread.max(1);
        }
    }

    /// Reads `length` blocks, or, if they cannot be read at once, one after the other. Those that
    /// cannot be read become zeros, which fail their check.
    #[allow(clippy::cast_possible_truncation)] // tables of 32-bit numbers
    fn read(&mut self, block: usize, length: usize) {
        let Some(source) = &self.source else { return };
        let start = self.bytes.len();
        self.bytes.resize(start + length * BLOCK, 0);
        let at = source.blocks_at + block * BLOCK;
        let bytes = &mut self.bytes[start..];
        if source.file.read_at(bytes, at).is_err() {
            for (number, bytes) in bytes.chunks_exact_mut(BLOCK).enumerate() {
                if source.file.read_at(bytes, at + number * BLOCK).is_err() {
                    bytes.fill(0);
                }
            }
        }
        for (place, number) in (start / BLOCK..).zip(block..block + length) {
            self.places[number] = place as u32;
            self.progress[number] = Progress::Read;
        }
    }

    /// Checks a block, and applies the changes that it has.
    fn check(&mut self, block: usize) {
        let Some(source) = &self.source else { return };
        let place = self.places[block] as usize * BLOCK;
        let bytes = &mut self.bytes[place..place + BLOCK];
        if crc32fast::hash(bytes) != source.sums[block] {
            self.is_damaged = true;
            bytes.fill(0);
        }
        for (number, piece) in self.old.between(block * PIECES, (block + 1) * PIECES) {
            bytes[number * PIECE - block * BLOCK..][..PIECE].copy_from_slice(piece);
        }
        self.progress[block] = Progress::Ready;
    }

    /// Writes the whole file behind `head`, whose last bytes are for the checksum.
    ///
    /// # Errors
    /// Those of `out`; [`io::ErrorKind::InvalidData`] if a block is damaged.
    pub fn write(&mut self, head: &[u8], out: &mut dyn Write) -> io::Result<()> {
        self.read_all();
        if self.is_damaged {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let blocks = self.progress.len();
        let block = |number: usize| &self.bytes[self.places[number] as usize * BLOCK..][..BLOCK];
        let mut start = head.to_vec();
        for number in 0..blocks {
            let sum = match &self.source {
                Some(source) if self.changed[number] == 0 => source.sums[number],
                _ => crc32fast::hash(block(number)),
            };
            start.extend_from_slice(&sum.to_le_bytes());
        }
        start.resize(blocks_at(head.len(), blocks), 0);
        let (head, sums) = start.split_at_mut(head.len());
        let sum = sum_of(head, sums);
        let end = head.len() - SUM;
        LittleEndian::write_u64(&mut head[end..], sum);
        let mut out = io::BufWriter::with_capacity(PART, out);
        out.write_all(&start)?;
        (0..blocks).try_for_each(|number| out.write_all(block(number)))?;
        out.flush()
    }

    /// Writes the changes behind `head`, whose last bytes are for a checksum; nothing if there is
    /// no file to which they could belong.
    ///
    /// # Errors
    /// Those of `out`.
    #[allow(clippy::cast_possible_truncation)] // numbers of pieces are below 2^32
    pub fn write_changes(&self, head: &[u8], out: &mut dyn Write) -> io::Result<()> {
        let Some(source) = &self.source else { return Ok(()) };
        let changed = self.changed.iter().enumerate().filter(|&(_, &own)| own != 0);
        let pieces = changed.flat_map(|(block, own)| {
            (0..PIECES).filter(move |at| own >> at & 1 == 1).map(move |at| block * PIECES + at)
        });
        let numbers: Vec<usize> = pieces.collect();
        let mut start = source.name.to_le_bytes().to_vec();
        start.extend_from_slice(&head[..head.len() - SUM]);
        start.extend_from_slice(&(numbers.len() as u32).to_le_bytes());
        for &number in &numbers {
            start.extend_from_slice(&(number as u32).to_le_bytes());
        }
        for &number in &numbers {
            start.extend_from_slice(self.piece(number));
        }
        out.write_all(CHANGES)?;
        out.write_all(&crc32fast::hash(&start).to_le_bytes())?;
        out.write_all(&start)
    }

    /// A piece that has changed.
    fn piece(&self, number: usize) -> &[u8] {
        let (block, at) = (number / PIECES, number % PIECES * PIECE);
        if self.progress[block] == Progress::Ready {
            return &self.bytes[self.places[block] as usize * BLOCK + at..][..PIECE];
        }
        // In a block that was not used, only the pieces that the changes brought have changed.
        self.old.between(number, number + 1).next().map_or(&[0; PIECE], |(_, piece)| piece)
    }
}

/// The checksum of a head, but for its last bytes, and of the sums behind it.
fn sum_of(head: &[u8], sums: &[u8]) -> u64 {
    let mut sum = Checksum::default();
    sum.bytes(&head[..head.len() - SUM]);
    sum.bytes(sums);
    sum.value()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: [u8; 16] = *b"the head12345678";

    const BLOCKS: usize = 16;

    /// A file of blocks that are numbered in their first bytes.
    fn file() -> Vec<u8> {
        let mut pages = Pages::new(BLOCKS);
        for number in 0..BLOCKS {
            pages.get_mut(number * BLOCK, 1)[0] = u8::try_from(number + 1).unwrap();
        }
        let mut file = Vec::new();
        pages.write(&HEAD, &mut file).unwrap();
        file
    }

    fn open(file: &[u8]) -> Option<Pages> {
        Pages::open(Box::new(file.to_vec()), &file[..HEAD.len()], BLOCKS)
    }

    fn changes_of(pages: &Pages) -> Vec<u8> {
        let mut changes = Vec::new();
        pages.write_changes(b"new head12345678", &mut changes).unwrap();
        changes
    }

    #[test]
    fn changes_add_up_and_are_folded_into_the_file() {
        let file = file();
        let mut pages = open(&file).unwrap();
        pages.get_mut(3 * BLOCK - 1, 1)[0] = b'a';
        pages.get_mut(3 * BLOCK, 1)[0] = b'b';
        assert!(!pages.is_due());
        let changes = changes_of(&pages);
        assert!(changes.len() < CHANGES.len() + 4 + 8 + HEAD.len() + 4 + 3 * PIECE);
        let mut again = open(&file).unwrap();
        assert_eq!(again.take_changes(changes, HEAD.len()).unwrap()[..8], *b"new head");
        again.get_mut(0, 1)[0] = 9;
        // The piece of the second block is passed on although that block was not used.
        let second = changes_of(&again);
        let mut last = open(&file).unwrap();
        last.take_changes(second.clone(), HEAD.len()).unwrap();
        let both = |pages: &mut Pages| [3 * BLOCK - 1, 3 * BLOCK].map(|at| pages.get(at, 1)[0]);
        assert_eq!(both(&mut last), *b"ab");
        assert!(!last.is_damaged);
        assert_eq!((last.get(0, 1)[0], last.get(BLOCK, 1)[0]), (9, 2));
        let mut whole = Vec::new();
        last.write(&HEAD, &mut whole).unwrap();
        let mut read = open(&whole).unwrap();
        read.read_all();
        assert_eq!(both(&mut read), *b"ab");
        assert!(!read.is_damaged);
        // They are changes of the other file.
        assert!(read.take_changes(second, HEAD.len()).is_none());
        for block in 0..FEW / PIECES {
            read.get_mut(block * BLOCK, BLOCK)[1] = 1;
        }
        assert!(!read.is_due());
        read.get_mut(FEW * PIECE, 1)[0] = 1;
        assert!(read.is_due() && Pages::new(1).is_due());
    }

    #[test]
    fn damage_is_found_in_blocks_that_are_used() {
        let file = file();
        let start = blocks_at(HEAD.len(), BLOCKS);
        for at in [0, HEAD.len() - 1, HEAD.len(), HEAD.len() + 15, start - 1] {
            let mut damaged = file.clone();
            damaged[at] ^= 4;
            assert!(open(&damaged).is_none(), "{at}");
        }
        assert!(open(&file[..start - 1]).is_none());
        let mut damaged = file.clone();
        damaged[start + BLOCK + 77] ^= 1;
        for (file, bad) in [(&damaged[..], 1), (&file[..file.len() - 1], BLOCKS - 1)] {
            for block in 0..BLOCKS {
                let mut pages = open(file).unwrap();
                let found = pages.get(block * BLOCK, 1)[0];
                assert_eq!(pages.is_damaged, block == bad);
                assert_eq!(usize::from(found), if block == bad { 0 } else { block + 1 });
            }
            let mut pages = open(file).unwrap();
            let error = pages.write(&HEAD, &mut Vec::new()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        }
    }

    #[test]
    fn damaged_changes_are_not_taken() {
        let file = file();
        let mut pages = open(&file).unwrap();
        pages.get_mut(BLOCK, 3 * PIECE)[0] = 7;
        let changes = changes_of(&pages);
        let take = |changes: &[u8]| open(&file).unwrap().take_changes(changes.to_vec(), HEAD.len());
        assert!(take(&changes).is_some());
        for at in 0..changes.len() {
            assert!(take(&changes[..at]).is_none(), "cut at {at}");
            let mut damaged = changes.clone();
            damaged[at] ^= 16;
            assert!(take(&damaged).is_none(), "byte {at}");
        }
        // With a checksum that fits: out of order, and outside.
        let numbers = CHANGES.len() + 4 + 8 + HEAD.len() - SUM + 4;
        for number in [70u32, 1024, u32::MAX] {
            let mut wrong = changes.clone();
            LittleEndian::write_u32(
                &mut wrong[numbers + if number == 70 { 0 } else { 8 }..],
                number,
            );
            let sum = crc32fast::hash(&wrong[CHANGES.len() + 4..]);
            LittleEndian::write_u32(&mut wrong[CHANGES.len()..], sum);
            assert!(take(&wrong).is_none(), "{number}");
        }
    }
}
