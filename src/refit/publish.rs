// SPDX-License-Identifier: GPL-3.0-or-later
//! A set → category files: the ordinary files with other weights, another log Z and one line more
//! in the header.

use super::header::RefitLine;
use crate::category::layout::{DIGRAM_BYTES, MAGIC, SLOT_BYTES};
use crate::category::reader::Category;
use crate::model::digram::DigramTable;
use crate::numeric::quantize::QuantWeight;
use crate::token::id::FeatureId;
use byteorder::{BigEndian, ByteOrder};

/// Slots of a table may be filled to three quarters: look-ups stay short and the old program, which
/// ends a search at an empty slot, finds one.
const fn bits_for(features: usize) -> u8 {
    let mut bits = 4;
    while features * 4 > (1 << bits) * 3 {
        bits += 1;
    }
    bits
}

/// The bytes of a category file. `ordinary` gives name, options, expressions and, unless `digrams`
/// replaces them, digrams.
pub fn file<D: AsRef<[u8]>>(
    ordinary: &Category<D>,
    name: &[u8],
    line: &RefitLine,
    table: &[(FeatureId, QuantWeight)],
    log_partition: f64,
    digrams: Option<&DigramTable>,
) -> Vec<u8> {
    let bits = bits_for(table.len());
    let mut bytes = head(ordinary, name, line, log_partition, bits, table.len());
    let mut put = |weight: QuantWeight| bytes.extend_from_slice(&weight.0.to_be_bytes());
    match digrams {
        Some(digrams) => digrams.stored().for_each(&mut put),
        None => ordinary.digrams().for_each(&mut put),
    }
    let slots = bytes.len();
    bytes.resize(slots + (SLOT_BYTES << bits), 0);
    for &(id, weight) in table {
        set(&mut bytes[slots..], bits, id, weight);
    }
    bytes
}

/// The header.
fn head<D: AsRef<[u8]>>(
    from: &Category<D>,
    name: &[u8],
    line: &RefitLine,
    log_partition: f64,
    bits: u8,
    features: usize,
) -> Vec<u8> {
    let mut header = from.header().clone();
    header.log_partition = log_partition;
    header.bits = bits;
    header.unique_features = u32::try_from(features).unwrap_or(u32::MAX);
    let mut bytes = Vec::new();
    header.write_numbers(&mut bytes, name);
    debug_assert!(bytes.starts_with(MAGIC));
    // The masses of the media are not read back; their line stays as it was.
    let media = from.other_lines().iter().find(|line| line.starts_with(b"# medialp"));
    if let Some(media) = media {
        let end = bytes.len() - 1;
        let start = bytes[..end].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        bytes.truncate(start);
        bytes.extend_from_slice(media);
        bytes.push(b'\n');
    }
    line.write(&mut bytes);
    header.write_settings(&mut bytes, from.patterns());
    bytes
}

/// Sets a weight in a table that has room; returns whether the feature is new there. A new feature
/// without weight is left out.
fn set(slots: &mut [u8], bits: u8, id: FeatureId, weight: QuantWeight) -> bool {
    let mask = (1usize << bits) - 1;
    let mut at = id.0 as usize & mask;
    loop {
        let slot = &mut slots[SLOT_BYTES * at..][..SLOT_BYTES];
        let found = BigEndian::read_u32(slot);
        if found == id.0 || found == 0 {
            if found == 0 && weight.0 == 0 {
                return false;
            }
            BigEndian::write_u32(slot, id.0);
            BigEndian::write_u16(&mut slot[4..], weight.0);
            return found == 0;
        }
        at = (at + 1) & mask;
    }
}

/// The bytes of a fitted category file with some weights changed. `buffer` is memory to use: new memory
/// costs more than what is done with it.
pub fn patched<D: AsRef<[u8]>>(
    mut buffer: Vec<u8>,
    old: &Category<D>,
    name: &[u8],
    line: &RefitLine,
    changes: impl Iterator<Item = (FeatureId, QuantWeight)> + Clone,
    log_partition: f64,
) -> Vec<u8> {
    let used = old.header().unique_features as usize;
    let bits = old.header().bits;
    let new = changes
        .clone()
        .filter(|(id, weight)| weight.0 > 0 && old.find(*id).is_none_or(|slot| slot.id != *id));
    let features = used + new.count();
    if bits_for(features) > bits {
        let kept = (0..old.size()).map(|at| old.slot(at)).filter(|slot| slot.id.0 != 0);
        let mut table: std::collections::BTreeMap<FeatureId, QuantWeight> =
            kept.map(|slot| (slot.id, slot.weight)).collect();
        table.extend(changes);
        table.retain(|_, weight| weight.0 > 0);
        let table: Vec<_> = table.into_iter().collect();
        return file(old, name, line, &table, log_partition, None);
    }
    let head = head(old, name, line, log_partition, bits, features);
    let start = old.slots_offset();
    let all = &old.as_bytes()[start - DIGRAM_BYTES..start + (SLOT_BYTES << bits)];
    buffer.clear();
    buffer.reserve(head.len() + all.len());
    buffer.extend_from_slice(&head);
    buffer.extend_from_slice(all);
    let slots = head.len() + DIGRAM_BYTES;
    for (id, weight) in changes {
        set(&mut buffer[slots..], bits, id, weight);
    }
    buffer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_never_full() {
        for features in [0, 1, 12, 13, 24, 25, 100_000] {
            let size = 1usize << bits_for(features);
            assert!(features * 4 <= size * 3 && (size == 16 || features * 4 > size / 2 * 3));
        }
    }
}
