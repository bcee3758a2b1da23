// SPDX-License-Identifier: GPL-3.0-or-later
//! Removes the counts of forgotten documents from an ordinary category that cannot be made again
//! from the remaining documents.

use super::ledger::{Fault, Ledger, Record};
use dbacl_engine::category::reader::Category;
use dbacl_engine::token::id::FeatureId;
use dbacl_joint::blend;
use dbacl_joint::index::FeatureIndex;
use dbacl_joint::ordinary::{rise, without};
use dbacl_numeric::quantize::QuantWeight;

/// The bytes of the ordinary category `old` of `label` without `forgotten`, which are documents of
/// `whole`. Each weight is reduced by the formula of spec refit 3.6; log Z stays.
///
/// # Errors
/// A damaged record.
pub fn without_documents<D: AsRef<[u8]>>(
    old: &Category<D>,
    label: u32,
    whole: &Ledger,
    forgotten: &[&Record],
) -> Result<Vec<u8>, Fault> {
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
        true
    })?;
    let mut lost = vec![0u32; index.ids().len()];
    for term in forgotten.iter().flat_map(|record| &record.terms) {
        if let Some(at) = index.get(term.id) {
            lost[at] = lost[at].saturating_add(term.count);
        }
    }
    let lost_all: f64 = forgotten.iter().map(|record| f64::from(record.occurrences)).sum();
    let rest = rise(all, lost_all);
    Ok(rewrite(old, |id, weight| {
        let Some(at) = index.get(id) else { return weight };
        let new = without(weight.weight(), lost[at], counts[at], orders[at], rest);
        blend::stored(new)
    }))
}

/// A category file's bytes with other weights.
fn rewrite<D: AsRef<[u8]>>(
    category: &Category<D>,
    new: impl Fn(FeatureId, QuantWeight) -> QuantWeight,
) -> Vec<u8> {
    let mut bytes = category.as_bytes().to_vec();
    let slots = category.slots_offset();
    for at in 0..category.size() {
        let slot = category.slot(at);
        if slot.id.0 != 0 {
            let place = slots + at * 6 + 4;
            let weight = new(slot.id, slot.weight).0.to_be_bytes();
            bytes[place..place + 2].copy_from_slice(&weight);
        }
    }
    bytes
}
