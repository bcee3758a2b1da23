// SPDX-License-Identifier: GPL-3.0-or-later
//! Writes a category (spec model 9); saving it safely is [`dbacl_files::atomic_file`]'s part.

use super::header::Header;
use crate::token::id::FeatureId;
use byteorder::{BigEndian, WriteBytesExt};
use dbacl_model::digram::DigramTable;
use dbacl_numeric::quantize::QuantWeight;
use std::io::{self, Write};

/// Writes a whole category file: header, digrams, slots.
///
/// `name` is what the first line calls the category, `patterns` the stored expressions
/// (`EXPRESSION||DIGITS`), `slots` the 2^bits slots in order.
///
/// # Errors
/// Those of `out`.
pub fn write(
    out: &mut dyn Write,
    header: &Header,
    name: &[u8],
    patterns: &[Vec<u8>],
    digrams: &DigramTable,
    slots: impl Iterator<Item = (FeatureId, QuantWeight)>,
) -> io::Result<()> {
    let mut text = Vec::new();
    header.write_numbers(&mut text, name);
    header.write_settings(&mut text, patterns);
    let mut out = io::BufWriter::with_capacity(1 << 16, out);
    out.write_all(&text)?;
    for weight in digrams.stored() {
        out.write_u16::<BigEndian>(weight.0)?;
    }
    for (id, weight) in slots {
        out.write_u32::<BigEndian>(id.0)?;
        out.write_u16::<BigEndian>(weight.0)?;
    }
    out.flush()
}
