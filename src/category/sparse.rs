// SPDX-License-Identifier: GPL-3.0-or-later
//! Looks up the features of one document in a category's file, without reading the whole file into
//! memory. The parts that are needed are read in order, near ones together, through one buffer.
//!
//! For a single message this takes half the work of reading the whole file, most of which would be
//! to fill new pages. It is as safe: if the file is truncated meanwhile, that is an error.

use super::header::{Header, HeaderFault, ParsedHeader};
use super::layout::{DIGRAM_BYTES, SLOT_BYTES};
use super::mapped::error_of;
use super::reader::Fault;
use crate::error::{Error, Result};
use crate::token::id::FeatureId;
use byteorder::{BigEndian, ByteOrder};
use dbacl_files::checked::{BLOCK, Checked, Window};
use dbacl_files::reading::open_known;
use dbacl_numeric::quantize::QuantWeight;
use std::path::{Path, PathBuf};

/// Bytes in which most headers end.
const BEGINNING: usize = 4096;

/// Bytes in which all headers end.
const LONGEST: usize = 1 << 20;

/// Bytes that are read at a time at most: with more, providing the memory would take longer than
/// the calls.
const PART: u64 = 1 << 17;

/// Bytes between two look-ups that are read rather than skipped. A system call takes as long as
/// copying 10,000 bytes.
const NEAR: u64 = 1 << 14;

/// Slots that are read behind the last one: a chain of taken slots is rarely longer.
const CHAIN: u64 = 16;

/// A category whose tables stay in its file.
#[derive(Debug)]
pub struct SparseCategory {
    path: PathBuf,
    /// The file.
    pub file: Checked,
    /// The header's numbers.
    pub header: Header,
    /// Texts of the stored expressions, `EXPRESSION||DIGITS`.
    pub patterns: Vec<Vec<u8>>,
    /// Header lines that this version does not interpret.
    pub other_lines: Vec<Vec<u8>>,
    /// Where in the file the slots begin.
    pub slots: u64,
}

impl SparseCategory {
    /// Opens the category at `path`.
    ///
    /// # Errors
    /// Those of [`super::mapped::open`].
    pub fn open(path: &Path) -> Result<Self> {
        let (file, found) = open_known(path).map_err(|error| Error::io(path, error))?;
        Self::of(path, Checked::new(file, None), found.len())
    }

    /// Opens the category at `path`, which is the file `file` of `length` bytes.
    ///
    /// # Errors
    /// Those of [`Self::open`]; [`Error::Damaged`] for a block that does not fit its checksum.
    pub fn of(path: &Path, file: Checked, length: u64) -> Result<Self> {
        let io = |error| Error::unreadable(path, error);
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
        if header.large.is_some() {
            return Err(error_of(Fault::Header(HeaderFault::Large), path));
        }
        let slots = (digrams + DIGRAM_BYTES) as u64;
        if length < slots {
            return Err(error_of(Fault::Digrams, path));
        }
        if (length - slots) / (SLOT_BYTES as u64) < 1 << header.bits {
            return Err(error_of(Fault::Slots, path));
        }
        Ok(Self { path: path.to_path_buf(), file, header, patterns, other_lines, slots })
    }

    /// Memory for [`Self::weights`] of one category or of several.
    pub fn window() -> Window {
        let room = PART + CHAIN * SLOT_BYTES as u64 + 2 * BLOCK;
        Window::with_room(usize::try_from(room).unwrap_or_default())
    }

    /// The weights of features in the order of `ids`; 0 for those that the category does not have.
    /// They are read through `window`.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be read (any more).
    pub fn weights(&self, ids: &[FeatureId], window: &mut Window) -> Result<Vec<f32>> {
        window.clear();
        let size = 1usize << self.header.bits;
        let home = |id: FeatureId| id.0 as usize & (size - 1);
        // Look-ups are sorted, so that the file is read once from its beginning to its end.
        let mut order: Vec<usize> = (0..ids.len()).collect();
        order.sort_unstable_by_key(|&at| home(ids[at]));
        let mut weights = vec![0.0; ids.len()];
        let start = |slot: usize| self.slots + (SLOT_BYTES * slot) as u64;
        let chain_end = |from: u64| (from + CHAIN * SLOT_BYTES as u64).min(start(size));
        // Bytes that are read together: from a look-up to the last one near it.
        let mut together = 0..0;
        for (number, &at) in order.iter().enumerate() {
            let id = ids[at];
            let mut place = home(id);
            if start(place) >= together.end {
                together = start(place)..start(place);
                for next in order[number..].iter().map(|&next| start(home(ids[next]))) {
                    if next - together.end > NEAR || next - together.start > PART {
                        break;
                    }
                    together.end = next;
                }
                together.end = chain_end(together.end);
            }
            for _ in 0..size {
                let wanted = start(place)..start(place + 1);
                let is_near = together.contains(&wanted.start);
                let end = if is_near { together.end } else { chain_end(wanted.start) };
                let slot = self.file.read(wanted, end, window);
                let slot = slot.map_err(|error| Error::unreadable(&self.path, error))?;
                let found = FeatureId(BigEndian::read_u32(slot));
                if found == id {
                    weights[at] = QuantWeight(BigEndian::read_u16(&slot[4..])).weight();
                }
                if found == id || found.0 == 0 {
                    break;
                }
                place = (place + 1) & (size - 1);
            }
        }
        Ok(weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::category::{mapped, writer};
    use crate::model::digram::DigramTable;
    use dbacl_files::checked::{Blocks, Sums};

    /// A category of `bits` bits with these ids; the weight of each is its place in `ids`.
    fn file(bits: u8, ids: &[u32]) -> tempfile::NamedTempFile {
        let header = Header { max_order: 1, bits, ..Header::default() };
        let weights = (1u16..).map(|number| QuantWeight(32 * number));
        let slots = writer::table(bits, ids.iter().map(|&id| FeatureId(id)).zip(weights));
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writer::write(&mut file, &header, b"x", &[], &DigramTable::zero(), slots).unwrap();
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
            let length = file.as_file().metadata().unwrap().len();
            let sums =
                Sums::of(file.as_file(), Blocks::from(0), length, None, &mut Vec::new()).unwrap();
            let checked = Checked::new(file.reopen().unwrap(), Some(sums));
            let checked = SparseCategory::of(file.path(), checked, length).unwrap();
            assert_eq!(&sparse.header, whole.header());
            let mut window = SparseCategory::window();
            let mut wanted: Vec<FeatureId> = ids.iter().map(|&id| FeatureId(id)).collect();
            wanted.extend((0..500).map(|n| FeatureId(n * 77_777 + 3)));
            for wanted in [&wanted[..], &wanted[..1], &[]] {
                let expected = wanted.iter().map(|&id| {
                    let slot = whole.find(id).filter(|slot| slot.id == id);
                    slot.map_or(0.0, |slot| slot.weight.weight())
                });
                let expected: Vec<_> = expected.collect();
                assert_eq!(sparse.weights(wanted, &mut window).unwrap(), expected);
                assert_eq!(checked.weights(wanted, &mut window).unwrap(), expected);
            }
        }
    }

    #[test]
    fn a_damaged_block_is_an_error_where_it_is_needed() {
        let file = file(12, &[1, 2, 3]);
        let length = file.as_file().metadata().unwrap().len();
        let sums =
            Sums::of(file.as_file(), Blocks::from(0), length, None, &mut Vec::new()).unwrap();
        let open = || {
            let checked = Checked::new(file.reopen().unwrap(), Some(sums.clone()));
            SparseCategory::of(file.path(), checked, length)
        };
        let mut bytes = std::fs::read(file.path()).unwrap();
        for (at, is_needed) in [(length - 5000, false), (length - 10, true)] {
            bytes[usize::try_from(at).unwrap()] ^= 1;
            std::fs::write(file.path(), &bytes).unwrap();
            let found = open().unwrap();
            let wanted = [FeatureId(4095), FeatureId(1)];
            let found = found.weights(&wanted, &mut Window::default());
            assert_eq!(matches!(found, Err(Error::Damaged { .. })), is_needed, "{at}");
        }
        bytes[30] ^= 1;
        std::fs::write(file.path(), &bytes).unwrap();
        assert!(matches!(open(), Err(Error::Damaged { .. })));
    }

    #[test]
    fn a_file_that_is_cut_short_is_an_error() {
        let file = file(12, &[1, 2, 3]);
        let sparse = SparseCategory::open(file.path()).unwrap();
        let length = file.as_file().metadata().unwrap().len();
        file.as_file().set_len(length - 10).unwrap();
        let found = sparse.weights(&[FeatureId(4095)], &mut Window::default());
        assert!(matches!(found, Err(Error::Io { .. })));
        assert!(matches!(SparseCategory::open(file.path()), Err(Error::CutInTable { .. })));
        for (left, is_digrams) in [(100_000, true), (50, false), (0, false)] {
            file.as_file().set_len(left).unwrap();
            let error = SparseCategory::open(file.path()).unwrap_err();
            assert_eq!(matches!(error, Error::CutInDigrams { .. }), is_digrams, "{error}");
            assert_eq!(error.to_string(), mapped::open(file.path()).unwrap_err().to_string());
        }
    }
}
