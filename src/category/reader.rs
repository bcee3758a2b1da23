// SPDX-License-Identifier: GPL-3.0-or-later
//! Reads a category in place. It is checked once when it is opened; after that every look-up is in
//! bounds.

use super::header::{Fault, Header, ParsedHeader};
use super::layout::{ANY_MAGIC, DIGRAM_BYTES, SLOT_BYTES, WEIGHT_BYTES};
use crate::alloc_hints::prefetch;
use crate::error::Error;
use crate::model::digram::{LENGTH_ROW, SYMBOLS, clip};
use crate::token::BOUNDARY;
use crate::token::id::FeatureId;
use byteorder::{BigEndian, ByteOrder};
use dbacl_files::atomic_file::{self, Disk};
use dbacl_numeric::quantize::QuantWeight;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;

/// A learned category over any bytes: a vector, a slice or a memory map.
pub struct Category<D> {
    bytes: D,
    header: Header,
    patterns: Vec<Vec<u8>>,
    digrams: usize,
    slots: usize,
    mask: usize,
}

impl<D> fmt::Debug for Category<D> {
    /// What was learned; the bytes are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Header { documents, features, unique_features, max_order, .. } = &self.header;
        let mut shown = f.debug_struct("Category");
        shown.field("documents", documents).field("features", features);
        shown.field("unique_features", unique_features).field("max_order", max_order);
        shown.finish_non_exhaustive()
    }
}

/// A slot as found in a category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoredSlot {
    /// The feature's id, 0 in an empty slot.
    pub id: FeatureId,
    /// Its weight.
    pub weight: QuantWeight,
}

impl<D: AsRef<[u8]>> Category<D> {
    /// Checks the header and the file's length against it.
    ///
    /// # Errors
    /// [`Fault`] says which part does not hold.
    pub fn new(bytes: D) -> Result<Self, Fault> {
        let all = bytes.as_ref();
        let ParsedHeader { header, patterns, length: digrams } = Header::parse(all)?;
        let slots = digrams + DIGRAM_BYTES;
        if all.len() < slots {
            return Err(Fault::Digrams);
        }
        let length = (all.len() - slots) as u64;
        let size = 1usize << header.bits;
        if length / (SLOT_BYTES as u64) < size as u64 {
            return Err(Fault::Slots);
        }
        Ok(Self { bytes, header, patterns, digrams, slots, mask: size - 1 })
    }

    /// Writes the file, with `name` as the category's name in its first line.
    ///
    /// # Errors
    /// Those of `out`.
    pub(crate) fn write(&self, out: &mut dyn Write, name: &[u8]) -> io::Result<()> {
        let bytes = self.bytes.as_ref();
        let (header, tables) = bytes.split_at(self.digrams);
        let rest = header.iter().position(|&byte| byte == b'\n').unwrap_or(header.len());
        let mark: &[u8] = if self.header.reference_only { b" (ref)" } else { b" " };
        let first = [self.header.magic(), b" ", name, mark].concat();
        out.write_all(&first)?;
        out.write_all(&header[rest..])?;
        out.write_all(tables)
    }

    /// Saves the category so that `path` is whole at every moment: the file is written beside it,
    /// forced onto the device, and renamed.
    ///
    /// # Errors
    /// [`Error::Occupied`] when `path` is a file of something else, [`Error::Temporary`] when
    /// nothing can be created beside it, [`Error::Io`] else; the old file is kept.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let name = path.as_os_str().as_encoded_bytes();
        Ok(atomic_file::replace(&Disk, path, ANY_MAGIC, &mut |out| self.write(out, name))?)
    }

    /// The header's numbers.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Texts of the stored expressions, `EXPRESSION||DIGITS`.
    pub(crate) fn patterns(&self) -> &[Vec<u8>] {
        &self.patterns
    }

    /// Number of slots.
    pub const fn size(&self) -> usize {
        self.mask + 1
    }

    /// The whole file.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// The slot at index `at`, below [`Self::size`].
    pub(crate) fn slot(&self, at: usize) -> StoredSlot {
        let from = self.slots + at * SLOT_BYTES;
        let slot = &self.bytes.as_ref()[from..from + SLOT_BYTES];
        StoredSlot {
            id: FeatureId(BigEndian::read_u32(slot)),
            weight: QuantWeight(BigEndian::read_u16(&slot[4..])),
        }
    }

    /// The slot where the search for `id` ends, whether it holds `id` or is empty; `None` in a full
    /// table without it.
    pub fn find(&self, id: FeatureId) -> Option<StoredSlot> {
        let home = id.0 as usize & self.mask;
        let mut at = home;
        loop {
            let slot = self.slot(at);
            if slot.id == id || slot.id.0 == 0 {
                return Some(slot);
            }
            at = (at + 1) & self.mask;
            if at == home {
                return None;
            }
        }
    }

    /// Prefetches the slots where the searches for `ids` begin.
    #[inline]
    pub(crate) fn prefetch(&self, ids: impl Iterator<Item = FeatureId>) {
        let bytes = self.bytes.as_ref();
        ids.for_each(|id| {
            prefetch(bytes, self.slots + (id.0 as usize & self.mask) * SLOT_BYTES);
        });
    }

    /// The stored digram weights, in row order.
    pub fn digrams(&self) -> impl Iterator<Item = QuantWeight> + '_ {
        let weights = self.digram_bytes().chunks_exact(WEIGHT_BYTES);
        weights.map(|weight| QuantWeight(BigEndian::read_u16(weight)))
    }

    fn digram_bytes(&self) -> &[u8; DIGRAM_BYTES] {
        self.bytes.as_ref()[self.digrams..].first_chunk().expect("a file of that length")
    }

    /// The reference log-probability of a token when scoring, digitised, nats (spec model 12).
    ///
    /// All addends are multiples of 1/32 and their f32 sums stay below 2^24 steps, so whole steps
    /// give the same bits. Carriage returns are skipped. A character adds to the length of the
    /// token unless a boundary mark follows it.
    pub fn log_reference(&self, body: &[u8]) -> f32 {
        let Some((&first, rest)) = body.split_first() else { return 0.0 };
        let digrams = self.digram_bytes();
        let mut from = clip(first);
        let mut steps = 0u32;
        let mut length = 1;
        for (at, &byte) in rest.iter().enumerate() {
            if byte == b'\r' {
                continue;
            }
            let to = clip(byte);
            steps += cost(digrams, from, to);
            from = to;
            length += usize::from(rest.get(at + 1) != Some(&BOUNDARY));
        }
        let length = cost(digrams, LENGTH_ROW, length.min(SYMBOLS - 1));
        let steps = (steps + length).saturating_sub(cost(digrams, LENGTH_ROW, 0));
        #[allow(clippy::cast_precision_loss)] // below 2^24, exact
        let weight = steps as f32 / dbacl_numeric::quantize::STEPS_PER_NAT;
        QuantWeight::from_weight(weight).log_probability()
    }
}

/// Steps of 1/32 nat that `to` after `from` costs.
#[inline]
fn cost(digrams: &[u8; DIGRAM_BYTES], from: usize, to: usize) -> u32 {
    let at = (from * SYMBOLS + to) * WEIGHT_BYTES;
    u32::from(BigEndian::read_u16(&digrams[at..at + WEIGHT_BYTES]))
}
