// SPDX-License-Identifier: GPL-3.0-or-later
//! Writes a category (spec model 9); saving it safely is [`dbacl_files::atomic_file`]'s part.

use super::header::Header;
use crate::model::digram::DigramTable;
use crate::token::id::FeatureId;
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

/// A category's 2^`bits` slots with these features, each in the first free slot from its place on.
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
