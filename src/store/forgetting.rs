// SPDX-License-Identifier: GPL-3.0-or-later
//! Removes the counts of forgotten documents from an ordinary category that cannot be made again
//! from the remaining documents.

use super::ledger::{Ledger, Record};
use crate::category::layout::SLOT_BYTES;
use crate::category::reader::Category;
use crate::fit::blend;
use crate::fit::index::FeatureIndex;
use crate::fit::ordinary::{rise, without};

/// The bytes of the ordinary category `old` of `label` without `forgotten`, which are documents of
/// `whole`. Each weight is reduced by the formula of spec refit 3.6; log Z stays.
pub fn without_documents<D: AsRef<[u8]>>(
    old: &Category<D>,
    label: u32,
    whole: &Ledger,
    forgotten: &[&Record],
) -> Vec<u8> {
    // All features of the category change, since each remaining one has a larger share.
    let mut index = FeatureIndex::default();
    let (mut counts, mut orders): (Vec<u32>, Vec<u8>) = (Vec::new(), Vec::new());
    let mut all = 0.0;
    whole.each(|record, _| {
        if record.label == label {
            all += f64::from(record.occurrences);
            for term in &record.terms {
                let at = index.insert(term.id) as usize;
                if at == counts.len() {
                    counts.push(0);
                    orders.push(term.kind.order);
                }
                counts[at] = counts[at].saturating_add(term.count);
            }
        }
    });
    let mut lost = vec![0u32; index.ids.len()];
    for term in forgotten.iter().flat_map(|record| &record.terms) {
        if let Some(at) = index.get(term.id) {
            lost[at] = lost[at].saturating_add(term.count);
        }
    }
    let lost_all: f64 = forgotten.iter().map(|record| f64::from(record.occurrences)).sum();
    let rest = rise(all, lost_all);
    let mut bytes = old.as_bytes().to_vec();
    for place in 0..old.size() {
        let slot = old.slot(place);
        // There is no feature 0, which empty slots have.
        if let Some(at) = index.get(slot.id) {
            let new = without(slot.weight.weight(), lost[at], counts[at], orders[at], rest);
            let start = old.slots_offset() + place * SLOT_BYTES + 4;
            bytes[start..start + 2].copy_from_slice(&blend::stored(new).0.to_be_bytes());
        }
    }
    bytes
}
