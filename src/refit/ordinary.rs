// SPDX-License-Identifier: GPL-3.0-or-later
//! What the ordinary categories make of the documents that they were learned from, each judged
//! without its own counts.
//!
//! In the category that holds it a document looks far too good; leaving its counts out of the
//! weights mends that: lambda' = max(0, lambda + ln((count - c)/count)/order) (spec refit 3.6).

use super::dataset::Dataset;
use super::index::FeatureIndex;
use super::real;
use crate::category::reader::Category;
use crate::numeric::elementary::log;

/// Weights of one category by feature number.
pub fn weights_of<D: AsRef<[u8]>>(category: &Category<D>, index: &FeatureIndex) -> Vec<f32> {
    let mut weights = vec![0.0; index.len()];
    for at in 0..category.size() {
        let slot = category.slot(at);
        if slot.id.0 != 0
            && let Some(feature) = index.get(slot.id)
        {
            weights[feature] = slot.weight.weight();
        }
    }
    weights
}

/// The weight without `own` of the feature's `count` occurrences.
pub fn without(weight: f32, own: u32, count: u32, order: u8) -> f64 {
    if own >= count {
        return 0.0;
    }
    let change = log(f64::from(count - own) / f64::from(count)) / f64::from(order.max(1));
    (f64::from(weight) + change).max(0.0)
}

/// Occurrences of each feature in the documents of category `label`.
pub fn counts_of(data: &Dataset, label: u32) -> Vec<u32> {
    let mut counts = vec![0u32; data.ids.len()];
    for document in (0..data.len()).filter(|&document| data.labels[document] == label) {
        for cell in data.row(document) {
            let count = &mut counts[cell.feature as usize];
            *count = count.saturating_add(cell.count);
        }
    }
    counts
}

/// Scores of every document under every category, nats a unit of complexity, document by document.
/// `data` still holds its rare features.
pub fn scores<D: AsRef<[u8]>>(data: &Dataset, categories: &[Category<D>]) -> Vec<f64> {
    let index = FeatureIndex::of(data.ids.clone());
    let width = categories.len();
    let mut scores = vec![0.0; data.len() * width];
    for (at, category) in categories.iter().enumerate() {
        let label = u32::try_from(at).unwrap_or(u32::MAX);
        let weights = weights_of(category, &index);
        let counts = counts_of(data, label);
        for document in 0..data.len() {
            let is_own = data.labels[document] == label;
            let mut sum = 0.0;
            for cell in data.row(document) {
                let feature = cell.feature as usize;
                let weight = if is_own {
                    without(weights[feature], cell.count, counts[feature], data.orders[feature])
                } else {
                    f64::from(weights[feature])
                };
                sum += f64::from(cell.count) * weight;
            }
            let number = document * width + at;
            let reference = data.references.get(number).copied().unwrap_or(0.0);
            scores[number] = sum / data.complexity(document) + f64::from(reference)
                - category.header().log_partition;
        }
    }
    scores
}

/// The share of `part` in `whole`, in percent.
pub fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * real(part) / real(whole) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_without_a_documents_own_counts() {
        for (weight, own, count, order, expected) in [
            (2.0, 0, 10, 1, 2.0),
            (2.0, 5, 10, 1, 2.0 + 0.5f64.ln()),
            (2.0, 5, 10, 2, 2.0 + 0.5f64.ln() / 2.0),
            (0.1, 5, 10, 1, 0.0),
            (2.0, 10, 10, 1, 0.0),
            (2.0, 1, 0, 1, 0.0),
        ] {
            assert_eq!(without(weight, own, count, order), expected);
        }
    }
}
