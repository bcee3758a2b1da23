// SPDX-License-Identifier: GPL-3.0-or-later
//! Looks up the features of one document in a category's file, without reading the whole file into
//! memory. The parts that are needed are read through one small buffer.
//!
//! For a single mail this takes half the work of reading the whole file, most of which would be to
//! fill new pages. It is as safe: if the file is truncated meanwhile, that is an error.

use super::header::{Header, ParsedHeader};
use super::layout::{DIGRAM_BYTES, SLOT_BYTES};
use super::mapped::error_of;
use super::reader::{Fault, StoredSlot};
use crate::error::{Error, Result};
use crate::input::source::open_regular;
use crate::numeric::quantize::QuantWeight;
use crate::token::id::FeatureId;
use byteorder::{BigEndian, ByteOrder};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Bytes in which most headers end.
const BEGINNING: usize = 4096;

/// Bytes in which all headers end.
const LONGEST: usize = 1 << 20;

/// Slots that are read at a time where look-ups are dense.
const MANY: usize = 2730;

/// Slots that are read at a time where they are far apart: a chain of taken slots is rarely longer.
const FEW: usize = 64;

/// A category whose tables stay in its file.
#[derive(Debug)]
pub struct SparseCategory {
    path: PathBuf,
    file: File,
    header: Header,
    patterns: Vec<Vec<u8>>,
    other_lines: Vec<Vec<u8>>,
    /// Where the slots begin.
    slots: u64,
}

impl SparseCategory {
    /// Opens the category at `path`.
    ///
    /// # Errors
    /// Those of [`super::mapped::open`].
    pub fn open(path: &Path) -> Result<Self> {
        let io = |error| Error::io(path, error);
        let file = open_regular(path).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        let mut size = BEGINNING;
        let beginning = loop {
            let mut beginning = vec![0; usize::try_from(length).unwrap_or(size).min(size)];
            file.read_exact_at(&mut beginning, 0).map_err(io)?;
            let is_whole = memchr::memmem::find(&beginning, b"\n#\n").is_some();
            if is_whole || beginning.len() < size || size >= LONGEST {
                break beginning;
            }
            size *= 4;
        };
        let ParsedHeader { header, patterns, other_lines, length: digrams } =
            Header::parse(&beginning).map_err(|fault| error_of(Fault::Header(fault), path))?;
        let slots = (digrams + DIGRAM_BYTES) as u64;
        if length < slots {
            return Err(error_of(Fault::Digrams, path));
        }
        if (length - slots) / (SLOT_BYTES as u64) < 1 << header.bits {
            return Err(error_of(Fault::Slots, path));
        }
        Ok(Self { path: path.to_path_buf(), file, header, patterns, other_lines, slots })
    }

    /// The header's numbers.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Texts of the stored expressions, `EXPRESSION||DIGITS`.
    pub fn patterns(&self) -> &[Vec<u8>] {
        &self.patterns
    }

    /// Header lines that this version does not interpret.
    pub fn other_lines(&self) -> &[Vec<u8>] {
        &self.other_lines
    }

    /// The weights of features in the order of `ids`; 0 for those that the category does not have.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be read (any more).
    pub fn weights(&self, ids: &[FeatureId]) -> Result<Vec<f32>> {
        let size = 1usize << self.header.bits;
        let home = |id: FeatureId| id.0 as usize & (size - 1);
        // Look-ups are sorted, so that the file is read once from its beginning to its end.
        let mut order: Vec<usize> = (0..ids.len()).collect();
        order.sort_unstable_by_key(|&at| home(ids[at]));
        let is_dense = size / ids.len().max(1) < MANY / 4;
        let mut window = Window {
            bytes: vec![0; SLOT_BYTES * size.min(if is_dense { MANY } else { FEW })],
            first: 0,
            filled: 0,
        };
        let mut weights = vec![0.0; ids.len()];
        for at in order {
            let id = ids[at];
            let mut place = home(id);
            for _ in 0..size {
                let slot = self.slot(place, &mut window)?;
                if slot.id == id {
                    weights[at] = slot.weight.weight();
                }
                if slot.id == id || slot.id.0 == 0 {
                    break;
                }
                place = (place + 1) & (size - 1);
            }
        }
        Ok(weights)
    }

    fn slot(&self, at: usize, window: &mut Window) -> Result<StoredSlot> {
        if !(window.first..window.first + window.filled).contains(&at) {
            let left = (1usize << self.header.bits) - at;
            window.filled = left.min(window.bytes.len() / SLOT_BYTES);
            window.first = at;
            let bytes = &mut window.bytes[..SLOT_BYTES * window.filled];
            let read = self.file.read_exact_at(bytes, self.slots + (SLOT_BYTES * at) as u64);
            read.map_err(|error| Error::io(&self.path, error))?;
        }
        let slot = &window.bytes[SLOT_BYTES * (at - window.first)..][..SLOT_BYTES];
        Ok(StoredSlot {
            id: FeatureId(BigEndian::read_u32(slot)),
            weight: QuantWeight(BigEndian::read_u16(&slot[4..])),
        })
    }
}

/// Slots of the file in memory.
struct Window {
    bytes: Vec<u8>,
    first: usize,
    filled: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::category::mapped;
    use std::io::Write;

    /// A category of `bits` bits with these ids, each at the end of its chain; its weight is its
    /// place in `ids`.
    fn file(bits: u8, ids: &[u32]) -> tempfile::NamedTempFile {
        let mut bytes = format!(
            "# dbacl 1.14.1 dlw portable category x \n# entropy 1.0 logZ 1.0 max_order 1 type \
             hierarchical\n# hash_size {bits} features 3 unique_features 3 documents 0\n\
             # shannon 0.0 shannon_s2 0.0\n# alpha 0.0 beta 0.0 mu 0.0 s2 0.0\n\
             # options 8388612 2 0 (x)\n#\n"
        )
        .into_bytes();
        bytes.resize(bytes.len() + DIGRAM_BYTES, 0);
        let start = bytes.len();
        bytes.resize(start + (SLOT_BYTES << bits), 0);
        for (number, &id) in ids.iter().enumerate() {
            let mut at = id as usize & ((1 << bits) - 1);
            while bytes[start + SLOT_BYTES * at..][..4] != [0; 4] {
                at = (at + 1) & ((1 << bits) - 1);
            }
            let slot = &mut bytes[start + SLOT_BYTES * at..][..SLOT_BYTES];
            BigEndian::write_u32(slot, id);
            BigEndian::write_u16(&mut slot[4..], 32 * u16::try_from(number + 1).unwrap());
        }
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&bytes).unwrap();
        file
    }

    #[test]
    fn it_finds_what_a_category_in_memory_finds() {
        let full: Vec<u32> = (1..=16).map(|n| n * 5).collect();
        let spread: Vec<u32> = (1..=1500u32).map(|n| n.wrapping_mul(0x9e37_79b1)).collect();
        let chained: Vec<u32> = (1..=80).map(|n| n << 14 | 0x3ff0).collect();
        for (bits, ids) in [(4, full), (11, spread.clone()), (14, chained), (14, spread)] {
            let file = file(bits, &ids);
            let whole = mapped::open(file.path()).unwrap();
            let sparse = SparseCategory::open(file.path()).unwrap();
            assert_eq!(sparse.header(), whole.header());
            let mut wanted: Vec<FeatureId> = ids.iter().map(|&id| FeatureId(id)).collect();
            wanted.extend((0..500).map(|n| FeatureId(n * 77_777 + 3)));
            for wanted in [&wanted[..], &wanted[..1], &[]] {
                let expected = wanted.iter().map(|&id| {
                    let slot = whole.find(id).filter(|slot| slot.id == id);
                    slot.map_or(0.0, |slot| slot.weight.weight())
                });
                assert_eq!(sparse.weights(wanted).unwrap(), expected.collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_file_that_is_cut_short_is_an_error() {
        let file = file(12, &[1, 2, 3]);
        let sparse = SparseCategory::open(file.path()).unwrap();
        let length = file.as_file().metadata().unwrap().len();
        file.as_file().set_len(length - 10).unwrap();
        assert!(matches!(sparse.weights(&[FeatureId(4095)]), Err(Error::Io { .. })));
        assert!(matches!(SparseCategory::open(file.path()), Err(Error::CutInTable { .. })));
        for (left, is_digrams) in [(100_000, true), (50, false), (0, false)] {
            file.as_file().set_len(left).unwrap();
            let error = SparseCategory::open(file.path()).unwrap_err();
            assert_eq!(matches!(error, Error::CutInDigrams { .. }), is_digrams, "{error}");
            assert_eq!(error.to_string(), mapped::open(file.path()).unwrap_err().to_string());
        }
    }
}
