// SPDX-License-Identifier: GPL-3.0-or-later
//! Writes a category (spec model 9); saving it safely is [`dbacl_files::atomic_file`]'s part.

use super::header::{Header, LargeSize, add_checksum};
use super::layout::LARGE_SLOT_BYTES;
use crate::model::digram::DigramTable;
use crate::token::id::{FeatureId, WideId};
use byteorder::{BigEndian, WriteBytesExt};
use dbacl_numeric::quantize::QuantWeight;
use std::io::{self, Write};

/// Writes a whole category file: header, digrams, slots.
///
/// `name` is what the first line calls the category, `patterns` the stored expressions
/// (`EXPRESSION||DIGITS`), `slots` the 2^bits slots in order.
///
/// # Errors
/// Those of `out`.
pub(crate) fn write(
    out: &mut dyn Write,
    header: &Header,
    name: &[u8],
    patterns: &[Vec<u8>],
    digrams: &DigramTable,
    slots: impl Iterator<Item = (FeatureId, QuantWeight)>,
) -> io::Result<()> {
    let mut out = io::BufWriter::with_capacity(1 << 16, out);
    out.write_all(&header.text(name, patterns))?;
    for weight in digrams.stored() {
        out.write_u16::<BigEndian>(weight.0)?;
    }
    for (id, weight) in slots {
        out.write_u32::<BigEndian>(id.0)?;
        out.write_u16::<BigEndian>(weight.0)?;
    }
    out.flush()
}

/// A weight of a large category, and the feature that it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LargeSlot {
    /// The feature's id; not 0.
    pub id: WideId,
    /// Its weight.
    pub weight: QuantWeight,
}

/// The table for these ids, which ascend: four of five slots are used.
pub(crate) fn large_size(ids: impl Iterator<Item = WideId> + Clone) -> LargeSize {
    let homes = (ids.clone().count() as u64 * 5 / 4).max(1);
    let size = LargeSize { homes, slots: homes };
    // Features at the end of a table may be moved beyond the last home.
    let end = places(ids, size).last().map_or(0, |(place, _)| place + 1);
    LargeSize { homes, slots: homes.max(end) }
}

/// The slots of ids that ascend: each has the first that is free, from its home on.
fn places(
    ids: impl Iterator<Item = WideId>,
    size: LargeSize,
) -> impl Iterator<Item = (u64, WideId)> {
    let mut free = 0;
    ids.map(move |id| {
        let place = size.home(id).max(free);
        free = place + 1;
        (place, id)
    })
}

/// Writes a whole large category (`docs/spec/category-format.md`). The ids of `slots` ascend; the
/// header has the size that [`large_size`] gives for them.
///
/// # Errors
/// Those of `out`.
pub(crate) fn write_large(
    out: &mut dyn Write,
    header: &Header,
    name: &[u8],
    digrams: &DigramTable,
    slots: impl Iterator<Item = LargeSlot> + Clone,
) -> io::Result<()> {
    let mut text = header.text(name, &[]);
    add_checksum(&mut text);
    out.write_all(&text)?;
    let mut out = io::BufWriter::with_capacity(1 << 16, Summed::new(out));
    for weight in digrams.stored() {
        out.write_u16::<BigEndian>(weight.0)?;
    }
    let size = header.large.unwrap_or(LargeSize { homes: 1, slots: 1 });
    let empty = [0; LARGE_SLOT_BYTES];
    let mut next = 0;
    for ((place, _), slot) in places(slots.clone().map(|slot| slot.id), size).zip(slots) {
        for _ in next..place {
            out.write_all(&empty)?;
        }
        out.write_u64::<BigEndian>(slot.id.0)?;
        out.write_u16::<BigEndian>(slot.weight.0)?;
        next = place + 1;
    }
    for _ in next..size.slots {
        out.write_all(&empty)?;
    }
    let Summed { out, sum } = out.into_inner()?;
    out.write_u32::<BigEndian>(sum.finalize())?;
    out.flush()
}

/// A writer that computes the checksum of what it writes.
pub(crate) struct Summed<W> {
    /// Where it writes.
    pub out: W,
    /// The checksum so far.
    pub sum: crc32fast::Hasher,
}

impl<W> Summed<W> {
    /// Nothing written yet.
    pub(crate) fn new(out: W) -> Self {
        Self { out, sum: crc32fast::Hasher::new() }
    }
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The slots of a category of 2^`bits` slots with these features, each at the end of its chain.
#[cfg(test)]
pub(crate) fn table(
    bits: u8,
    features: impl IntoIterator<Item = (FeatureId, QuantWeight)>,
) -> impl Iterator<Item = (FeatureId, QuantWeight)> {
    let mut slots = vec![(FeatureId(0), QuantWeight(0)); 1 << bits];
    for (id, weight) in features {
        let mut at = id.0 as usize % slots.len();
        while slots[at].0.0 != 0 && slots[at].0 != id {
            at = (at + 1) % slots.len();
        }
        slots[at] = (id, weight);
    }
    slots.into_iter()
}
