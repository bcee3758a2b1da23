// SPDX-License-Identifier: GPL-3.0-or-later
//! Scores of the ordinary categories for the documents that they were learned from, each judged
//! without the counts of its fold.
//!
//! A document's score under the category that learned it is far too high. Therefore its counts are
//! taken out of the weights: lambda' = max(0, lambda + ln((count - c)/count)/order) (spec refit
//! 3.6). The counts of its whole fold are taken out, as they are in the fit. Otherwise copies and
//! answers, which are in the same fold, would favour the ordinary scores, and too large a share of
//! these would be kept.

use super::dataset::Dataset;
use super::index::FeatureIndex;
use super::scoring::Scoring;
use crate::category::reader::Category;
use crate::parallel;
use dbacl_numeric::elementary::{log, narrow, real};

/// Parts that documents are divided into.
pub const FOLDS: usize = 4;

/// The weight without `own` of the feature's `count` occurrences. `rest` is ln(N/(N - n)), where n
/// of all N occurrences of the category are taken out.
pub fn without(weight: f32, own: u32, count: u32, order: u8, rest: f64) -> f64 {
    if own >= count || weight == 0.0 {
        return 0.0;
    }
    let change = log(f64::from(count - own) / f64::from(count)) + rest;
    (f64::from(weight) + change / f64::from(order.max(1))).max(0.0)
}

/// ln(N/(N - n)): by how much weights rise when n of N occurrences are taken out, nats.
pub fn rise(all: f64, gone: f64) -> f64 {
    if gone < all { -log((all - gone) / all) } else { 0.0 }
}

/// Occurrences of each feature in the documents of category `label` that `takes_part` holds for,
/// and of all features together.
fn counts_in(data: &Dataset, label: u32, takes_part: impl Fn(usize) -> bool) -> (Vec<u32>, f64) {
    let mut counts = vec![0u32; data.ids.len()];
    let mut all = 0.0;
    for document in 0..data.len() {
        if data.labels[document] != label || !takes_part(document) {
            continue;
        }
        all += f64::from(data.occurrences[document]);
        for cell in data.row(document) {
            let count = &mut counts[cell.feature as usize];
            *count = count.saturating_add(cell.count);
        }
    }
    (counts, all)
}

/// A category as it would have been learned without the documents of one fold.
#[derive(Debug, Clone)]
pub struct Without {
    /// Weights by feature, nats; 0 where no document is left.
    pub weights: Vec<f32>,
    /// Whether a document with the feature is left.
    pub is_seen: Vec<bool>,
}

/// A category without each of the first `wanted` folds: weights fall with the counts of their
/// features, and rise because fewer occurrences remain.
pub fn without_folds<D: AsRef<[u8]>>(
    data: &Dataset,
    index: &FeatureIndex,
    category: &Category<D>,
    label: u32,
    (folds, wanted): (&[usize], usize),
) -> Vec<Without> {
    let mut weights = vec![0.0; index.ids.len()];
    for slot in (0..category.size()).map(|at| category.slot(at)) {
        // There is no feature 0, which empty slots have.
        if let Some(feature) = index.get(slot.id) {
            weights[feature] = slot.weight.weight();
        }
    }
    let (counts, all) = counts_in(data, label, |_| true);
    let fold = |fold: usize| {
        let (gone, gone_all) = counts_in(data, label, |document| folds[document] == fold);
        let rest = rise(all, gone_all);
        let left = |feature: usize| {
            let (gone, count) = (gone[feature], counts[feature]);
            if count == 0 {
                return weights[feature]; // no document accounts for it
            }
            narrow(without(weights[feature], gone, count, data.orders[feature], rest))
        };
        Without {
            weights: (0..index.ids.len()).map(left).collect(),
            is_seen: counts.iter().zip(&gone).map(|(count, gone)| count > gone).collect(),
        }
    };
    (0..wanted).map(fold).collect()
}

/// Scores of every document under every category as learned without the document's fold, document
/// by document. `data` still holds its rare features.
pub fn scores<D: AsRef<[u8]> + Sync>(
    data: &Dataset,
    categories: &[Category<D>],
    folds: &[usize],
    scoring: Scoring,
) -> Vec<f64> {
    let index = FeatureIndex::of(data.ids.clone());
    let width = categories.len();
    let columns = parallel::all(width, |at| {
        let category = &categories[at];
        let label = u32::try_from(at).unwrap_or(u32::MAX);
        let left = without_folds(data, &index, category, label, (folds, FOLDS));
        let score = |document: usize| {
            let weights = &left[folds[document]].weights;
            let sum: f64 = data
                .row(document)
                .iter()
                .map(|cell| {
                    f64::from(scoring.count(cell.count)) * f64::from(weights[cell.feature as usize])
                })
                .sum();
            let reference = data.references.get(document * width + at).copied().unwrap_or(0.0);
            let mean = sum / data.complexity(scoring, document) + f64::from(reference)
                - category.header().log_partition;
            mean * scoring.length_factor(data.distinct[document])
        };
        (0..data.len()).map(score).collect::<Vec<f64>>()
    });
    (0..data.len() * width).map(|place| columns[place % width][place / width]).collect()
}

/// The share of `part` in `whole`, in percent.
pub fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * real(part) / real(whole) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_of_nothing_is_nothing() {
        assert_eq!([(1, 4), (0, 4), (0, 0)].map(|(a, b)| percent(a, b)), [25.0, 0.0, 0.0]);
    }

    #[test]
    fn weights_without_a_documents_own_counts() {
        for (weight, own, count, order, rest, expected) in [
            (2.0, 0, 10, 1, 0.0, 2.0),
            (2.0, 0, 10, 2, 0.5, 2.25),
            (2.0, 5, 10, 1, 0.0, 2.0 + 0.5f64.ln()),
            (2.0, 5, 10, 1, 2f64.ln(), 2.0),
            (2.0, 5, 10, 2, 0.0, 2.0 + 0.5f64.ln() / 2.0),
            (0.1, 5, 10, 1, 0.0, 0.0),
            (0.0, 0, 10, 1, 0.5, 0.0),
            (2.0, 10, 10, 1, 0.5, 0.0),
            (2.0, 1, 0, 1, 0.0, 0.0),
        ] {
            assert_eq!(without(weight, own, count, order, rest), expected);
        }
        assert_eq!(rise(100.0, 50.0), 2f64.ln());
        assert_eq!((rise(10.0, 10.0), rise(0.0, 0.0)), (0.0, 0.0));
    }
}
