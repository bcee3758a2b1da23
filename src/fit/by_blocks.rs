// SPDX-License-Identifier: GPL-3.0-or-later
//! The fit of mail in two blocks, and what it says of documents that it has not seen (spec refit
//! 3.9).
//!
//! Documents whose own category is clearly not the best for them are left out: people's folders
//! have some mail of the other kind. They are found by a fit of the documents of other folds, and
//! once more by one without those that were found at first.

use super::dataset::{Dataset, problems};
use super::scoring::{INTERCEPT, Scoring, WEIGHTS};
use super::solver::{Fit, Weight};
use super::stop::{Stop, Stopped};
use crate::fit::ordinary::FOLDS;
use crate::parallel;
use dbacl_linear::{Block, Documents, Member, Table, Training, scales, solve};
use dbacl_numeric::elementary::real;

/// The power of a feature's rarity in its scale.
pub const RARITY: f64 = 1.5;

/// Passes over the documents.
const PASSES: u32 = 10;

/// How far a document must be on the other side to be left out.
const WRONG: f64 = 0.4;

/// The share of all documents that must speak against their categories before any is left out:
/// good folders, too, have some mail that is odd, and it is worth learning.
const SOME: f64 = 0.005;

/// Documents of each category with which some can be left out.
const ENOUGH: usize = 100;

/// The share of the documents of a category that are left out at most; if there are more, none is.
const MOST: f64 = 0.3;

/// What documents cost by category, so that all categories cost the same.
pub fn costs(documents: &[u32]) -> Vec<f32> {
    scales::balance(documents, 1.0)
}

/// Fits all problems on the documents that are not `left_out`.
///
/// # Errors
/// [`Stopped`]
pub fn fit(
    data: &Dataset,
    cost: f64,
    left_out: impl Fn(usize) -> bool,
    stop: Stop<'_>,
) -> Result<Vec<Fit>, Stopped> {
    let part: Vec<u32> = (0..).take(data.len()).filter(|&at| !left_out(at as usize)).collect();
    let mut with = vec![0u32; data.ids.len()];
    let mut sizes = vec![0u32; data.categories];
    for &at in &part {
        sizes[data.labels[at as usize] as usize] += 1;
        for cell in data.row(at as usize) {
            with[cell.feature as usize] += 1;
        }
    }
    let least = data.least_documents();
    let scale = |&with: &u32| {
        if with < least { 0.0 } else { scales::rarity(part.len(), with, RARITY) }
    };
    let scales: Vec<f32> = with.iter().map(scale).collect();
    let costs = costs(&sizes);
    let mut documents = Documents::default();
    let mut columns = Vec::new();
    for &at in &part {
        let at = at as usize;
        let (own, known) = row(data, &scales, at, &mut columns);
        let blocks = [0, 1].map(|block| Block::new(own[block], WEIGHTS[block], known[block]));
        let label = data.labels[at];
        let positive = positive(label, data.categories);
        let cost = costs[label as usize];
        let columns = columns.as_slice();
        documents
            .push(data.names[at], &Member { columns, blocks: &blocks, positive: &positive, cost });
    }
    let width = problems(data.categories);
    let number = u32::try_from(width).unwrap_or(u32::MAX);
    let mut table = Table::<f32>::new(0..number, &scales, intercept());
    let training = Training { part: &documents.all(), cost, passes: PASSES };
    let duals = solve(&mut table, &documents, &training, &mut |_| stop.check().is_ok());
    let duals = duals.ok_or(Stopped)?;
    let mut row = vec![0.0; width];
    let mut fits: Vec<Fit> = table
        .intercepts()
        .map(|intercept| Fit {
            weights: Vec::with_capacity(scales.len()),
            bias: intercept / INTERCEPT,
            duals: vec![[0.0; 2]; data.len()],
        })
        .collect();
    for (column, &scale) in (0..).zip(&scales) {
        table.weights(column, &mut row);
        for (fit, &value) in fits.iter_mut().zip(&row) {
            fit.weights.push(Weight { value, scale });
        }
    }
    for (&at, duals) in part.iter().zip(duals.chunks_exact(width)) {
        for (fit, &dual) in fits.iter_mut().zip(duals) {
            fit.duals[at as usize][0] = dual;
        }
    }
    Ok(fits)
}

/// The input of the bias.
#[allow(clippy::cast_possible_truncation)] // a constant
pub const fn intercept() -> f32 {
    INTERCEPT as f32
}

/// The problems in which documents of a category are on the first side.
pub fn positive(label: u32, categories: usize) -> Vec<u32> {
    match (categories, label) {
        (2, 0) => Vec::new(),
        (2, _) => vec![0],
        _ => vec![label],
    }
}

/// The columns of a document in `columns`, block by block: how many each block has, and how many of
/// its features are known.
fn row(
    data: &Dataset,
    scales: &[f32],
    document: usize,
    columns: &mut Vec<u32>,
) -> ([usize; 2], [usize; 2]) {
    columns.clear();
    let (mut own, mut known) = ([0; 2], [0; 2]);
    for block in [0, 1] {
        for cell in data.row(document) {
            let feature = cell.feature as usize;
            if Scoring::block(data.is_text[feature]) != block {
                continue;
            }
            let takes_part = scales[feature] > 0.0;
            if takes_part {
                columns.push(cell.feature);
                own[block] += 1;
            }
            known[block] += usize::from(takes_part || data.known.get(feature) == Some(&true));
        }
    }
    (own, known)
}

/// The score of a document by category; with two categories 0 for the first one.
fn scores(data: &Dataset, fits: &[Fit], document: usize) -> Vec<f64> {
    let each = fits.iter().map(|fit| {
        let features = data.row(document).iter().map(|cell| {
            let feature = cell.feature as usize;
            let Weight { value, scale } = fit.weights[feature];
            let is_known = scale > 0.0 || data.known.get(feature) == Some(&true);
            (data.is_text[feature], is_known, f64::from(value))
        });
        Scoring::by_blocks(features) + fit.bias * INTERCEPT
    });
    if data.categories == 2 { [0.0].into_iter().chain(each).collect() } else { each.collect() }
}

/// A document that is left out of a fit: how far it is on the other side, and the category that it
/// looks as if it were of.
pub type LeftOut = Option<(f64, usize)>;

/// Classifies each document by a fit of the documents of other folds. Returns scores by document
/// and category, and which documents are left out.
///
/// # Errors
/// [`Stopped`]
pub fn judge(
    data: &Dataset,
    cost: f64,
    folds: &[usize],
    stop: Stop<'_>,
) -> Result<(Vec<f64>, Vec<LeftOut>), Stopped> {
    let width = data.categories;
    let round = |left_out: &[LeftOut]| -> Result<Vec<f64>, Stopped> {
        let parts = parallel::try_all(FOLDS, |fold| {
            let is_out = |at: usize| folds[at] == fold || left_out[at].is_some();
            let fits = fit(data, cost, is_out, stop)?;
            let own = (0..data.len()).filter(|&at| folds[at] == fold);
            Ok(own.map(|at| (at, scores(data, &fits, at))).collect::<Vec<_>>())
        })?;
        let mut all = vec![0.0; data.len() * width];
        for (at, scores) in parts.into_iter().flatten() {
            all[at * width..][..width].copy_from_slice(&scores);
        }
        Ok(all)
    };
    let scores = round(&vec![None; data.len()])?;
    let left_out = wrong(data, &scores);
    if left_out.iter().all(Option::is_none) {
        return Ok((scores, left_out));
    }
    let scores = round(&left_out)?;
    let left_out = wrong(data, &scores);
    Ok((scores, left_out))
}

/// The documents whose scores speak clearly against their category.
fn wrong(data: &Dataset, scores: &[f64]) -> Vec<LeftOut> {
    let sizes = data.documents_by_category();
    let mut found = vec![None; data.len()];
    if sizes.iter().any(|&own| own < ENOUGH) {
        return found;
    }
    let mut numbers = vec![0; data.categories];
    // The scores of two categories are those of one fit; of more, each has its own.
    let limit = if data.categories == 2 { WRONG } else { 2.0 * WRONG };
    for (document, scores) in scores.chunks_exact(data.categories).enumerate() {
        let label = data.labels[document] as usize;
        let others = (0..scores.len()).filter(|&at| at != label);
        let Some(best) = others.max_by(|&a, &b| scores[a].total_cmp(&scores[b])) else { continue };
        let excess = scores[best] - scores[label];
        if excess > limit {
            found[document] = Some((excess, best));
            numbers[label] += 1;
        }
    }
    let is_odd = real(numbers.iter().sum()) < SOME * real(data.len());
    for (document, found) in found.iter_mut().enumerate() {
        let label = data.labels[document] as usize;
        if is_odd || real(numbers[label]) > MOST * real(sizes[label]) {
            *found = None;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::documents::{Corpus, FeatureKind, Term};
    use crate::fit::select::folds;
    use crate::token::id::FeatureId;
    use dbacl_numeric::random::SplitMix64;

    /// Documents of two categories, of which some have the wrong label; each has words of its kind,
    /// tags of its kind, and words of its own.
    fn data(each: u32, wrong: u32) -> Dataset {
        let mut corpus = Corpus::default();
        let mut random = SplitMix64::new(4);
        for number in 0..2 * each {
            let kind = number % 2;
            let label = if number / 2 < wrong { 1 - kind } else { kind };
            let mut terms = Vec::new();
            for medium in [3, 4] {
                for _ in 0..12 {
                    let word = u32::try_from(random.below(40)).unwrap();
                    let shared = u32::try_from(random.below(40)).unwrap();
                    terms.push((1 + word + 100 * kind + 1000 * u32::from(medium), medium));
                    terms.push((300 + shared + 1000 * u32::from(medium), medium));
                }
                terms.push((100_000 + number * 10 + u32::from(medium), medium));
            }
            terms.sort_unstable();
            terms.dedup();
            let term = |&(id, medium): &(u32, u8)| {
                let kind = FeatureKind { order: 1, medium, ..FeatureKind::default() };
                Term { id: FeatureId(id), count: 1, kind }
            };
            let terms: Vec<Term> = terms.iter().map(term).collect();
            corpus.push(label, 50, &terms);
        }
        let mut data = Dataset::new(corpus, 2, 1);
        data.scoring = Scoring::Blocks;
        data
    }

    #[test]
    fn documents_with_wrong_labels_are_left_out_and_others_are_not() {
        for (wrong, expected) in [(0, 0), (3, 6)] {
            let data = data(150, wrong);
            let (_, left_out) = judge(&data, 1.0, &folds(&data), Stop::NEVER).unwrap();
            let found: Vec<usize> = (0..data.len()).filter(|&at| left_out[at].is_some()).collect();
            assert_eq!(found, (0..expected).collect::<Vec<_>>());
        }
        // With few documents none is.
        let few = data(50, 2);
        let (_, left_out) = judge(&few, 1.0, &folds(&few), Stop::NEVER).unwrap();
        assert!(left_out.iter().all(Option::is_none));
    }

    #[test]
    fn what_is_left_out_might_as_well_not_be_there() {
        let all = data(30, 0);
        let without = fit(&all, 1.0, |at| at >= 50, Stop::NEVER).unwrap();
        let mut corpus = Corpus::default();
        for at in 0..50 {
            let term = |cell: &crate::fit::dataset::Cell| Term {
                id: all.ids[cell.feature as usize],
                count: cell.count,
                kind: FeatureKind {
                    order: 1,
                    medium: if all.is_text[cell.feature as usize] { 3 } else { 4 },
                    ..FeatureKind::default()
                },
            };
            let terms: Vec<Term> = all.row(at).iter().map(term).collect();
            corpus.push(all.labels[at], 50, &terms);
        }
        let mut data = Dataset::new(corpus, 2, 1);
        data.scoring = Scoring::Blocks;
        let alone = fit(&data, 1.0, |_| false, Stop::NEVER).unwrap();
        assert_eq!(alone[0].bias.to_bits(), without[0].bias.to_bits());
        for (at, weight) in alone[0].weights.iter().enumerate() {
            assert_eq!(weight, &without[0].weights[at]);
        }
        assert_eq!(alone[0].duals[..], without[0].duals[..50]);
    }
}
