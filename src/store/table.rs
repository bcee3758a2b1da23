// SPDX-License-Identifier: GPL-3.0-or-later
//! The file `table`: rows of features by id, and the entries of documents.
//!
//! ```text
//! 17       # dbacl filter 2\n
//! u32      bytes of the head
//! u32      CRC-32 of the head
//! head     a JSON object, see Head
//! u32, u32 for each block: the id in its first row, and its CRC-32
//! u32      CRC-32 of all these
//! blocks   4096 bytes each
//! ```
//!
//! The blocks hold five sections, each of which begins with a block of its own: three tiers of
//! rows, by how many documents have the feature (64 or more, 8 or more, others), features that a
//! single document has, and documents. Rows of a tier and singles have rising ids. No record lies
//! in two blocks; unused bytes of a block are zero.
//!
//! ```text
//! row       u32 id; for each label u24 documents; for each problem i48 sum in steps of 2^-32
//! single    u32 id; u32 number of the document, times four, plus the block of the feature
//! document  u64 name; effect: u8 label (255: withdrawn), u8 1 if it is left out of the fit,
//!           2 bytes 0; f32 input of each block;
//!           f32 dual variable of each problem
//! ```
//!
//! Frequent features come first so that most look-ups of a message read few blocks.

use super::TIERS;
use super::document::Effect;
use super::head::Head;
use crate::fit::checksum::Checksum;
use crate::linear::Exact;
use byteorder::{ByteOrder, LittleEndian};
use dbacl_files::reading::open_known;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{File, Metadata};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::OnceLock;

/// How a table begins.
pub(crate) const MAGIC: &[u8] = b"# dbacl filter 2\n";

/// How tables of any version begin.
pub(crate) const ANY_MAGIC: &[u8] = b"# dbacl filter ";

/// The fewest documents of a feature in each tier.
const LEAST: [u32; TIERS] = [64, 8, 0];

/// Sections: the tiers, singles, documents.
const SECTIONS: usize = TIERS + 2;
const SINGLES: usize = TIERS;
const DOCUMENTS: usize = TIERS + 1;

/// Bytes of a block.
const BLOCK: usize = 4096;

/// The label of an entry whose document was withdrawn.
pub(crate) const WITHDRAWN: u8 = 255;

/// Bytes of a single.
const SINGLE: usize = 8;

/// In a single, the number of bits that hold the number of a block.
pub(super) const SINGLE_BITS: u32 = 2;

/// Bytes that are read at first, in which most heads end.
const BEGINNING: usize = 8192;

/// Blocks between two look-ups that are read rather than skipped: a system call takes as long as
/// copying them.
const NEAR: usize = 8;

/// Blocks that are read at a time at most. New memory costs more than system calls.
const RUN: usize = 16;

/// The tier of a feature that so many documents have.
pub(crate) fn tier(documents: u32) -> usize {
    LEAST.iter().position(|&least| documents >= least).unwrap_or(TIERS - 1)
}

/// Bytes of a row.
pub(crate) const fn row_bytes(labels: usize, problems: usize) -> usize {
    4 + 3 * labels + 6 * problems
}

/// Bytes of a document's entry.
pub(crate) const fn entry_bytes(problems: usize) -> usize {
    8 + Effect::bytes(problems)
}

/// Appends a row.
pub(crate) fn write_row(out: &mut Vec<u8>, id: u32, documents: &[u32], sums: &[Exact]) {
    out.extend_from_slice(&id.to_le_bytes());
    for number in documents {
        out.extend_from_slice(&number.min(&0xff_ffff).to_le_bytes()[..3]);
    }
    for sum in sums {
        out.extend_from_slice(&sum.0.to_le_bytes()[..6]);
    }
}

/// Reads a row after its id.
pub(crate) fn read_row(row: &[u8], documents: &mut [u32], sums: &mut [Exact]) {
    let (counts, values) = row[4..].split_at(3 * documents.len());
    for (number, bytes) in documents.iter_mut().zip(counts.chunks_exact(3)) {
        *number = LittleEndian::read_u24(bytes);
    }
    for (sum, bytes) in sums.iter_mut().zip(values.chunks_exact(6)) {
        *sum = Exact(LittleEndian::read_i48(bytes));
    }
}

/// The records of each section of a table, one after the other, rows and singles by rising id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sections {
    /// The rows of each tier.
    pub tiers: [Vec<u8>; TIERS],
    /// Features that one document has.
    pub singles: Vec<u8>,
    /// Entries of the documents, in the ledger's order.
    pub documents: Vec<u8>,
}

impl Sections {
    /// The bytes of a table with these records, and its name. Numbers of records in `head` are set.
    pub(crate) fn file<R: Serialize>(&self, head: &mut Head<R>) -> (Vec<u8>, u64) {
        let (labels, problems) = (head.reading.labels.len(), head.problems());
        let [a, b, c] = &self.tiers;
        let all = [a, b, c, &self.singles, &self.documents];
        let widths = widths(labels, problems);
        let number = |section: usize| {
            u32::try_from(all[section].len() / widths[section]).unwrap_or(u32::MAX)
        };
        head.rows = [0, 1, 2].map(number);
        (head.singles, head.entries) = (number(SINGLES), number(DOCUMENTS));
        let (mut index, mut body) = (Vec::new(), Vec::new());
        for (section, (bytes, width)) in all.iter().zip(widths).enumerate() {
            for own in bytes.chunks(BLOCK / width * width) {
                let start = body.len();
                body.extend_from_slice(own);
                body.resize(start + BLOCK, 0);
                let first = if section == DOCUMENTS { &[0; 4] } else { &own[..4] };
                index.extend_from_slice(first);
                index.extend_from_slice(&crc32fast::hash(&body[start..]).to_le_bytes());
            }
        }
        let head = serde_json::to_vec(head).unwrap_or_default();
        let mut file = MAGIC.to_vec();
        file.extend_from_slice(&u32::try_from(head.len()).unwrap_or(u32::MAX).to_le_bytes());
        file.extend_from_slice(&crc32fast::hash(&head).to_le_bytes());
        file.extend_from_slice(&head);
        file.extend_from_slice(&index);
        file.extend_from_slice(&crc32fast::hash(&index).to_le_bytes());
        let id = Checksum::of(&file[MAGIC.len() + 8..]);
        file.extend_from_slice(&body);
        (file, id)
    }
}

fn widths(labels: usize, problems: usize) -> [usize; SECTIONS] {
    let row = row_bytes(labels, problems);
    [row, row, row, SINGLE, entry_bytes(problems)]
}

/// Why a table cannot be used.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The operating system refused.
    Io(io::Error),
    /// It is not a table.
    Foreign,
    /// Another version of dbacl wrote it.
    Version,
    /// It is cut short, or its checksums are wrong.
    Damaged,
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::UnexpectedEof { Self::Damaged } else { Self::Io(error) }
    }
}

/// An open table. Only the parts that are needed are read; a part that was read is checked.
#[derive(Debug)]
pub(crate) struct TableFile<R> {
    file: File,
    /// The head.
    pub head: Head<R>,
    /// A checksum of the whole table, which names it.
    pub id: u64,
    /// First id and checksum of each block.
    index: Vec<(u32, u32)>,
    /// Where the blocks begin in the file.
    body: u64,
    sections: [Section; SECTIONS],
    /// Names and labels of the documents, once they were needed: each look-up goes through all.
    names: OnceLock<Vec<(u64, u8)>>,
    /// What the system says of the file.
    pub found: Metadata,
}

/// Where a section is.
#[derive(Debug, Clone, Default)]
struct Section {
    blocks: Range<usize>,
    records: usize,
    width: usize,
}

impl<R: DeserializeOwned> TableFile<R> {
    /// Opens the table at `path`.
    ///
    /// # Errors
    /// [`Fault`]
    pub(crate) fn open(path: &Path) -> Result<Self, Fault> {
        let (file, found) = open_known(path)?;
        let length = found.len();
        let mut start = vec![0; usize::try_from(length).unwrap_or(BEGINNING).min(BEGINNING)];
        file.read_exact_at(&mut start, 0)?;
        if !start.starts_with(MAGIC) {
            let is_ours = start.starts_with(ANY_MAGIC);
            return Err(if is_ours { Fault::Version } else { Fault::Foreign });
        }
        let sizes = start.get(MAGIC.len()..MAGIC.len() + 8).ok_or(Fault::Damaged)?;
        let (from, sum) = (MAGIC.len() + 8, LittleEndian::read_u32(&sizes[4..]));
        let end = from + LittleEndian::read_u32(sizes) as usize;
        let mut part = Beginning { file: &file, bytes: start, length };
        let head = part.get(from..end)?;
        if crc32fast::hash(head) != sum {
            return Err(Fault::Damaged);
        }
        let head: Head<R> = serde_json::from_slice(head).map_err(|_| Fault::Damaged)?;
        let sections = sections(&head).ok_or(Fault::Damaged)?;
        let blocks = sections[DOCUMENTS].blocks.end;
        let body = end + 8 * blocks + 4;
        if length != (body + BLOCK * blocks) as u64 {
            return Err(Fault::Damaged);
        }
        let index = part.get(end..body)?;
        let (index, sum) = index.split_at(8 * blocks);
        if crc32fast::hash(index) != LittleEndian::read_u32(sum) {
            return Err(Fault::Damaged);
        }
        let pair =
            |entry: &[u8]| (LittleEndian::read_u32(entry), LittleEndian::read_u32(&entry[4..]));
        let index = index.chunks_exact(8).map(pair).collect();
        let id = Checksum::of(part.get(from..body)?);
        let (body, names) = (body as u64, OnceLock::new());
        Ok(Self { file, head, id, index, body, sections, names, found })
    }
}

/// The beginning of a file, of which more is read as it is needed.
struct Beginning<'a> {
    file: &'a File,
    bytes: Vec<u8>,
    length: u64,
}

impl Beginning<'_> {
    fn get(&mut self, range: Range<usize>) -> Result<&[u8], Fault> {
        if range.end as u64 > self.length {
            return Err(Fault::Damaged);
        }
        let known = self.bytes.len();
        if range.end > known {
            self.bytes.resize(range.end, 0);
            self.file.read_exact_at(&mut self.bytes[known..], known as u64)?;
        }
        self.bytes.get(range).ok_or(Fault::Damaged)
    }
}

/// Where the sections of a table with this head are; `None` if its numbers do not belong together.
fn sections<R>(head: &Head<R>) -> Option<[Section; SECTIONS]> {
    let (labels, problems) = (head.reading.labels.len(), head.problems());
    let is_sound = (2..=64).contains(&labels)
        && head.documents.len() == labels
        && head.intercepts.len() == problems;
    if !is_sound {
        return None;
    }
    let [a, b, c] = head.rows;
    let numbers = [a, b, c, head.singles, head.entries];
    let mut found: [Section; SECTIONS] = Default::default();
    let mut start = 0;
    for (section, (number, width)) in
        found.iter_mut().zip(numbers.into_iter().zip(widths(labels, problems)))
    {
        let blocks = (number as usize).div_ceil(BLOCK / width);
        *section = Section { blocks: start..start + blocks, records: number as usize, width };
        start += blocks;
    }
    Some(found)
}

impl<R> TableFile<R> {
    /// Reads blocks into `room`, and checks those of `wanted`.
    fn read(
        &self,
        blocks: Range<usize>,
        wanted: &[usize],
        room: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        room.resize(blocks.len() * BLOCK, 0);
        self.file.read_exact_at(room, self.body + (blocks.start * BLOCK) as u64)?;
        for &block in wanted {
            let own = &room[(block - blocks.start) * BLOCK..][..BLOCK];
            if crc32fast::hash(own) != self.index[block].1 {
                return Err(Fault::Damaged);
            }
        }
        Ok(())
    }

    /// Calls `found` with the place in `ids`, which rise, and the record of each id that a section
    /// has. A place for which `is_open` says no is passed over.
    fn look_up(
        &self,
        section: usize,
        ids: &[u32],
        is_open: impl Fn(usize) -> bool,
        room: &mut Vec<u8>,
        mut found: impl FnMut(usize, &[u8]),
    ) -> Result<(), Fault> {
        let Section { ref blocks, records, width } = self.sections[section];
        let index = &self.index[blocks.clone()];
        // The block that has an id, if the section does.
        let mut places: Vec<(usize, usize)> = Vec::new();
        let mut block = 0;
        for at in (0..ids.len()).filter(|&at| is_open(at)) {
            block +=
                index[block..].partition_point(|&(first, _)| first <= ids[at]).saturating_sub(1);
            if index.get(block).is_some_and(|&(first, _)| first <= ids[at]) {
                places.push((blocks.start + block, at));
            }
        }
        let per_block = BLOCK / width;
        let mut rest = places.as_slice();
        while let Some(&(first, _)) = rest.first() {
            let (mut number, mut end) = (1, first);
            while let Some(&(next, _)) = rest.get(number)
                && next - end <= NEAR
                && next - first < RUN
            {
                end = next;
                number += 1;
            }
            let (own, others) = rest.split_at(number);
            rest = others;
            let mut wanted: Vec<usize> = own.iter().map(|&(block, _)| block).collect();
            wanted.dedup();
            self.read(first..end + 1, &wanted, room)?;
            for &(block, at) in own {
                let before = (block - blocks.start) * per_block;
                let number = (records - before).min(per_block);
                let bytes = &room[(block - first) * BLOCK..][..number * width];
                let (mut low, mut high) = (0, number);
                while low < high {
                    let middle = usize::midpoint(low, high);
                    let record = &bytes[middle * width..][..width];
                    match LittleEndian::read_u32(record).cmp(&ids[at]) {
                        std::cmp::Ordering::Less => low = middle + 1,
                        std::cmp::Ordering::Greater => high = middle,
                        std::cmp::Ordering::Equal => {
                            found(at, record);
                            break;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Calls `found` with the place in `ids`, which rise, and the row of each of them that has one.
    ///
    /// # Errors
    /// [`Fault`]
    pub(crate) fn rows(
        &self,
        ids: &[u32],
        mut found: impl FnMut(usize, &[u8]),
    ) -> Result<(), Fault> {
        let is_found = std::cell::RefCell::new(vec![false; ids.len()]);
        let mut room = Vec::new();
        for tier in 0..TIERS {
            let mut new = Vec::new();
            self.look_up(
                tier,
                ids,
                |at| !is_found.borrow()[at],
                &mut room,
                |at, row| {
                    new.push(at);
                    found(at, row);
                },
            )?;
            let mut all = is_found.borrow_mut();
            for at in new {
                all[at] = true;
            }
        }
        Ok(())
    }

    /// Calls `found` with the place in `ids`, which rise, of each that one document has, the number
    /// of the document, and the block of the feature.
    ///
    /// # Errors
    /// [`Fault`]
    pub(crate) fn singles(
        &self,
        ids: &[u32],
        mut found: impl FnMut(usize, u32, usize),
    ) -> Result<(), Fault> {
        self.look_up(
            SINGLES,
            ids,
            |_| true,
            &mut Vec::new(),
            |at, record| {
                let single = LittleEndian::read_u32(&record[4..]);
                found(at, single >> SINGLE_BITS, single as usize & ((1 << SINGLE_BITS) - 1));
            },
        )
    }

    /// The effect of document `number`.
    ///
    /// # Errors
    /// [`Fault`]
    pub(crate) fn effect(&self, number: u32) -> Result<Effect, Fault> {
        let Section { blocks, records, width } = &self.sections[DOCUMENTS];
        let (number, per_block) = (number as usize, BLOCK / width);
        if number >= *records {
            return Err(Fault::Damaged);
        }
        let block = blocks.start + number / per_block;
        let mut room = Vec::new();
        self.read(block..block + 1, &[block], &mut room)?;
        let entry = &room[number % per_block * width..][..*width];
        Effect::take(&mut &entry[8..], self.head.problems()).ok_or(Fault::Damaged)
    }

    /// The records of a section.
    fn section(&self, section: usize) -> Result<Vec<u8>, Fault> {
        let Section { ref blocks, records, width } = self.sections[section];
        let (mut room, mut all) = (Vec::new(), Vec::with_capacity(records * width));
        for start in blocks.clone().step_by(RUN) {
            let run = start..blocks.end.min(start + RUN);
            let wanted: Vec<usize> = run.clone().collect();
            self.read(run, &wanted, &mut room)?;
            for block in room.chunks_exact(BLOCK) {
                let left = records * width - all.len();
                all.extend_from_slice(&block[..(BLOCK / width * width).min(left)]);
            }
        }
        Ok(all)
    }

    /// All records.
    ///
    /// # Errors
    /// [`Fault`]
    pub(crate) fn sections(&self) -> Result<Sections, Fault> {
        let [a, b, c] = [0, 1, 2].map(|tier| self.section(tier));
        let (singles, documents) = (self.section(SINGLES)?, self.section(DOCUMENTS)?);
        Ok(Sections { tiers: [a?, b?, c?], singles, documents })
    }

    /// The names of the documents, in their order, and their labels.
    ///
    /// # Errors
    /// [`Fault`]
    pub(crate) fn names(&self) -> Result<&[(u64, u8)], Fault> {
        if let Some(names) = self.names.get() {
            return Ok(names);
        }
        let documents = self.section(DOCUMENTS)?;
        let entry = |entry: &[u8]| (LittleEndian::read_u64(entry), entry[8]);
        let entries = documents.chunks_exact(entry_bytes(self.head.problems())).map(entry);
        Ok(self.names.get_or_init(|| entries.collect()))
    }

    /// Checks every block.
    ///
    /// # Errors
    /// [`Fault`]
    pub(crate) fn check(&self) -> Result<(), Fault> {
        self.sections().map(|_| ())
    }
}
