// SPDX-License-Identifier: GPL-3.0-or-later
//! Writes a fitted set as category files: the ordinary files with other weights, another log Z and
//! one more line in the header.

use super::header::RefitLine;
use crate::category::header::{Header, add_checksum};
use crate::category::layout::{DIGRAM_BYTES, SLOT_BYTES};
use crate::category::reader::{Category, Fault};
use crate::model::digram::DigramTable;
use crate::token::id::FeatureId;
use byteorder::{BigEndian, ByteOrder};
use dbacl_numeric::quantize::QuantWeight;
use std::collections::BTreeMap;
use std::ops::Range;

/// Up to three quarters of a table's slots are filled. So look-ups stay short, and dbacl 1.14.1,
/// which ends a search at an empty slot, finds one.
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
    let from = (ordinary.header(), ordinary.patterns(), ordinary.other_lines());
    let mut bytes = head(from, name, line, log_partition, bits, table.len());
    let mut append = |weight: QuantWeight| bytes.extend_from_slice(&weight.0.to_be_bytes());
    match digrams {
        Some(digrams) => digrams.stored().for_each(&mut append),
        None => ordinary.digrams().for_each(&mut append),
    }
    let slots = bytes.len();
    bytes.resize(slots + (SLOT_BYTES << bits), 0);
    for &(id, weight) in table {
        set(&mut bytes[slots..], bits, id, weight);
    }
    bytes
}

/// The header.
fn head(
    (header, patterns, other_lines): (&Header, &[Vec<u8>], &[Vec<u8>]),
    name: &[u8],
    line: &RefitLine,
    log_partition: f64,
    bits: u8,
    features: usize,
) -> Vec<u8> {
    let mut header = header.clone();
    header.log_partition = log_partition;
    header.bits = bits;
    header.unique_features = u32::try_from(features).unwrap_or(u32::MAX);
    let mut bytes = Vec::new();
    header.write_numbers(&mut bytes, name);
    debug_assert!(bytes.starts_with(header.magic()));
    // The masses of the media are not read back; their line stays as it was.
    let media = other_lines.iter().find(|line| line.starts_with(b"# medialp"));
    if let Some(media) = media {
        let end = bytes.len() - 1;
        let start = bytes[..end].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        bytes.truncate(start);
        bytes.extend_from_slice(media);
        bytes.push(b'\n');
    }
    line.write(&mut bytes);
    header.write_settings(&mut bytes, patterns);
    add_checksum(&mut bytes);
    bytes
}

/// Sets a weight in a table of 2^`bits` slots that has room.
pub fn set(slots: &mut [u8], bits: u8, id: FeatureId, weight: QuantWeight) {
    let mask = (1usize << bits) - 1;
    let mut at = home(id, bits);
    loop {
        let slot = &mut slots[SLOT_BYTES * at..][..SLOT_BYTES];
        let found = BigEndian::read_u32(slot);
        if found == id.0 || found == 0 {
            put(slot, id, weight);
            return;
        }
        at = (at + 1) & mask;
    }
}

fn put(slot: &mut [u8], id: FeatureId, weight: QuantWeight) {
    BigEndian::write_u32(slot, id.0);
    BigEndian::write_u16(&mut slot[4..], weight.0);
}

/// The file of a fitted category with other weights for some features, and the same digrams.
///
/// # Errors
/// The bytes are not a category.
pub fn patch(
    mut bytes: Vec<u8>,
    name: &[u8],
    line: &RefitLine,
    changes: &[(FeatureId, QuantWeight)],
    log_partition: f64,
) -> Result<Vec<u8>, Fault> {
    let old = Category::new(bytes.as_slice())?;
    let mut patch = Patch::new(old.header(), changes);
    let slots = old.slots_offset()..old.slots_offset() + SLOT_BYTES * old.size();
    let parts = (old.header().clone(), old.patterns().to_vec(), old.other_lines().to_vec());
    // Searches that do not end before the end of the table go on at its beginning.
    patch.part(&mut bytes[slots.clone()], 0, |_| {});
    patch.part(&mut bytes[slots.clone()], 0, |_| {});
    if patch.is_full() {
        let old = Category::new(bytes.as_slice())?;
        let kept = (0..old.size()).map(|at| old.slot(at)).filter(|slot| slot.id.0 != 0);
        let mut table: BTreeMap<FeatureId, QuantWeight> =
            kept.map(|slot| (slot.id, slot.weight)).collect();
        table.extend(changes.iter().copied());
        table.retain(|_, weight| weight.0 > 0);
        let table: Vec<_> = table.into_iter().collect();
        return Ok(file(&old, name, line, &table, log_partition, None));
    }
    bytes.truncate(slots.end);
    let (header, patterns, other_lines) = parts;
    let head = patch.head((&header, &patterns, &other_lines), name, line, log_partition);
    Ok([&head, &bytes[slots.start - DIGRAM_BYTES..]].concat())
}

/// New weights on their way into the slots of a category, which are passed in parts, from the first
/// slot to the last one. A search that does not end in a part goes on in the next one, and after
/// the last one in the first again.
pub struct Patch {
    bits: u8,
    /// Features of the table.
    features: usize,
    /// The changes, sorted by the slot where the search for them begins, and the next of them.
    changes: Vec<(FeatureId, QuantWeight)>,
    next: usize,
    /// Changes whose searches have not ended.
    waiting: Vec<(FeatureId, QuantWeight)>,
}

impl Patch {
    /// These changes of a category with this header.
    pub fn new(header: &Header, changes: &[(FeatureId, QuantWeight)]) -> Self {
        let bits = header.bits;
        let mut changes = changes.to_vec();
        changes.sort_by_key(|&(id, _)| home(id, bits));
        let features = header.unique_features as usize;
        Self { bits, features, changes, next: 0, waiting: Vec::new() }
    }

    /// Puts weights into `slots`, of which the first has the number `first`. `changed` is told
    /// which of the bytes have changed. New features without weight are left out.
    pub fn part(&mut self, slots: &mut [u8], first: usize, mut changed: impl FnMut(Range<usize>)) {
        let end = first + slots.len() / SLOT_BYTES;
        let waiting = std::mem::take(&mut self.waiting);
        for change in waiting {
            self.put(slots, 0, change, &mut changed);
        }
        // In a table that is almost full searches would take long.
        while let Some(&change) = self.changes.get(self.next).filter(|_| !self.is_crowded()) {
            let home = home(change.0, self.bits);
            if home >= end {
                break;
            }
            self.next += 1;
            self.put(slots, home - first, change, &mut changed);
        }
    }

    fn put(
        &mut self,
        slots: &mut [u8],
        start: usize,
        (id, weight): (FeatureId, QuantWeight),
        changed: &mut impl FnMut(Range<usize>),
    ) {
        let each = slots.chunks_exact_mut(SLOT_BYTES).enumerate().skip(start);
        for (at, slot) in each {
            let found = BigEndian::read_u32(slot);
            if found == id.0 || found == 0 {
                if found == id.0 || weight.0 > 0 {
                    self.features += usize::from(found == 0);
                    put(slot, id, weight);
                    changed(at * SLOT_BYTES..(at + 1) * SLOT_BYTES);
                }
                return;
            }
        }
        self.waiting.push((id, weight));
    }

    /// Whether a search has not ended.
    pub const fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    const fn is_crowded(&self) -> bool {
        bits_for(self.features) > self.bits
    }

    /// Whether there are too many features for the table: then not all were put there.
    pub const fn is_full(&self) -> bool {
        self.is_crowded() || self.is_waiting()
    }

    /// The head of the file when all slots have been passed; settings are those of the old file,
    /// whose header, expressions and other lines are given.
    pub fn head(
        &self,
        from: (&Header, &[Vec<u8>], &[Vec<u8>]),
        name: &[u8],
        line: &RefitLine,
        log_partition: f64,
    ) -> Vec<u8> {
        head(from, name, line, log_partition, self.bits, self.features)
    }
}

/// The slot where the search for a feature begins.
const fn home(id: FeatureId, bits: u8) -> usize {
    id.0 as usize & ((1 << bits) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::category::header::Header;
    use crate::category::writer;
    use crate::fit::blend::uniform_digrams;
    use crate::model::settings::Scheme;

    /// A category with the features of `table`, as it is read back.
    fn category(table: &[(FeatureId, QuantWeight)]) -> Category<Vec<u8>> {
        let digrams = uniform_digrams();
        let scheme = Some(Scheme::Cef);
        let header =
            Header { log_partition: 3.0, max_order: 1, bits: 4, scheme, ..Header::default() };
        let mut bytes = Vec::new();
        let empty = std::iter::repeat_n((FeatureId(0), QuantWeight(0)), 16);
        writer::write(&mut bytes, &header, b"old", &[], &digrams, empty).unwrap();
        let ordinary = Category::new(bytes).unwrap();
        Category::new(file(&ordinary, b"own", &line(), table, 1.5, None)).unwrap()
    }

    fn line() -> RefitLine {
        let text = b"# refit 1 set 0123456789abcdef place 2 of 2 cost 1 blend 0.05 documents 3692 \
                     slope 6.1 offset 0.02 low 0 high 0 end";
        RefitLine::parse(text).unwrap()
    }

    fn patched(old: &[u8], changes: &[(FeatureId, QuantWeight)]) -> Category<Vec<u8>> {
        Category::new(patch(old.to_vec(), b"own", &line(), changes, 1.25).unwrap()).unwrap()
    }

    #[test]
    fn patching_a_file_is_writing_it_with_other_weights() {
        // Features of one slot; one goes, one comes, one is new without weight.
        let size = 1u32 << 16;
        let features: Vec<u32> = (1..40_000).collect();
        let old: Vec<_> = features.iter().map(|&k| (FeatureId(k), QuantWeight(5))).collect();
        let old = category(&old);
        assert_eq!(old.size(), size as usize);
        let changes = [
            (7, 0),
            (8, 9),
            (39_000, 11),
            (45_000, 3),
            (45_000 + size, 4),
            (45_000 + 2 * size, 0),
            (8 + size, 2),
        ];
        let changes = changes.map(|(id, weight)| (FeatureId(id), QuantWeight(weight)));
        let new = patched(old.as_bytes(), &changes);
        let weight = |id: u32| {
            let slot = new.find(FeatureId(id)).filter(|slot| slot.id.0 == id);
            slot.map(|slot| slot.weight.0)
        };
        assert_eq!((new.header().unique_features, new.header().log_partition), (40_002, 1.25));
        for (id, weight_of) in [
            (7, Some(0)),
            (8, Some(9)),
            (9, Some(5)),
            (39_000, Some(11)),
            (45_000, Some(3)),
            (45_000 + size, Some(4)),
            (45_000 + 2 * size, None),
            (8 + size, Some(2)),
        ] {
            assert_eq!(weight(id), weight_of, "{id}");
        }
        // More features than fit make a larger table, without those that weigh nothing.
        let more: Vec<_> = (40_000..60_000).map(|k| (FeatureId(k), QuantWeight(1))).collect();
        let larger = patched(new.as_bytes(), &more);
        assert_eq!((larger.header().bits, larger.header().unique_features), (17, 60_000));
        // Many more than all slots: none of them is looked for in a full table.
        let many: Vec<_> = (0..400_000).map(|k| (FeatureId(k * 64 + 1), QuantWeight(1))).collect();
        assert_eq!(patched(new.as_bytes(), &many).header().bits, 20);
    }

    #[test]
    fn tables_are_never_full() {
        for features in [0, 1, 12, 13, 24, 25, 100_000] {
            let size = 1usize << bits_for(features);
            assert!(features * 4 <= size * 3 && (size == 16 || features * 4 > size / 2 * 3));
        }
    }
}
