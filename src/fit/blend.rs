// SPDX-License-Identifier: GPL-3.0-or-later
//! Computes the tables of category files from fitted and ordinary weights (spec refit 3.4).
//!
//! Verdicts depend on the fitted margin plus `blend` times the ordinary score. Files hold one
//! weight for each feature and category, none negative. A number that is added to the weights of a
//! feature in all categories changes no verdict; it is chosen so that the smallest weight is 0 and
//! need not be written.

use super::checksum::Checksum;
use super::dataset::Dataset;
use super::general::GeneralModel;
use super::index::FeatureIndex;
use super::scoring::Scoring;
use super::select::{Settings, level_of_unseen};
use super::solver::Fit;
use crate::category::reader::Category;
use crate::model::digram::{DigramTable, FIRST, SYMBOLS};
use crate::token::id::FeatureId;
use dbacl_numeric::elementary::{log, narrow};
use dbacl_numeric::quantize::QuantWeight;

/// The tables of a set, ready to be written.
pub struct Set {
    /// Name of the set: a checksum of all that follows.
    pub name: u64,
    /// Weights by category, empty ones left out.
    pub tables: Vec<Vec<(FeatureId, QuantWeight)>>,
    /// log Z by category, nats; for fitted categories it is only a bias for each unit of
    /// complexity.
    pub log_partitions: Vec<f64>,
    /// Nats in the files for a nat of the score that verdicts depend on.
    pub scale: f64,
    /// A digram table for all categories, where they may not keep their own.
    pub digrams: Option<DigramTable>,
}

/// A weight in nats as files store it: the nearest of the grid, at least 0.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // clipped to the range
pub fn stored(weight: f64) -> QuantWeight {
    QuantWeight((weight * 32.0).round().clamp(0.0, f64::from(u16::MAX)) as u16)
}

/// The stored weight of a feature that a category has learned, where verdicts count features once:
/// at least the smallest weight above 0, so that the file shows that it was learned.
pub fn learned(weight: QuantWeight) -> QuantWeight {
    QuantWeight(weight.0.max(1))
}

/// The weights of a feature in two categories; `difference` is its weight for the second, nats.
/// With `once`, a feature of difference 0 has the smallest weight in both, because verdicts that
/// count features once also depend on whether a feature was learned.
pub fn stored_pair(difference: f64, once: bool) -> [QuantWeight; 2] {
    let weights = [stored(-difference), stored(difference)];
    let is_silent = weights[0].0 == 0 && weights[1].0 == 0;
    if once && is_silent { weights.map(learned) } else { weights }
}

/// The stored weight of a feature in one of more than two categories, from its own weight and the
/// one that a general model adds, nats. What either of them has learned is at least the smallest
/// weight with `once`; `is_learned` says so of the category itself.
pub fn with_general(own: f64, general: f64, is_learned: bool, once: bool) -> QuantWeight {
    let weight = stored(own.max(0.0) + general);
    if is_learned || once && general > 0.0 { learned(weight) } else { weight }
}

/// The weights that a general model adds to those of a set: this multiple of its own.
pub fn scaled(mut weights: Vec<f64>, factor: f64) -> Vec<f64> {
    for weight in &mut weights {
        *weight *= factor;
    }
    weights
}

/// The digram table of the uniform measure.
pub fn uniform_digrams() -> DigramTable {
    let mut digrams = DigramTable::zero();
    let cost = -narrow(log(253.0));
    for from in FIRST..SYMBOLS {
        for to in FIRST..SYMBOLS {
            digrams.set(from, to, cost);
        }
    }
    digrams
}

/// Whether all categories have the same digrams, so that scores can be scaled freely.
pub fn digrams_agree<D: AsRef<[u8]>>(categories: &[Category<D>]) -> bool {
    categories.windows(2).all(|pair| pair[0].digrams().eq(pair[1].digrams()))
}

/// Composes the tables. `fits` are those of `data`, one for two categories, else one each. The
/// share of the general model that the settings say is added to the weights. With `is_sparse`,
/// which needs more than two categories, only those carry a feature that have learned it.
pub fn compose<D: AsRef<[u8]>>(
    categories: &[Category<D>],
    data: &Dataset,
    fits: &[Fit],
    (settings, is_sparse): (Settings, bool),
    general: Option<&GeneralModel<D>>,
) -> Set {
    let width = categories.len();
    let agree = digrams_agree(categories);
    let Settings { blend, general: share, .. } = settings;
    let is_blocks = data.scoring == Scoring::Blocks;
    let scale = if agree || blend == 0.0 { 1.0 } else { 1.0 / blend };
    let scale = scale * data.scoring.unit();
    let per_ordinary = scale * blend;
    let per_general = scale * share;
    let general = general.filter(|_| share > 0.0);
    let per_fitted = scale * data.length / f64::from(data.max_order);
    // Of two categories, one fit is that of the second.
    let fit_of = |category: usize| Some(&fits[category.checked_sub(usize::from(width == 2))?]);
    let fitted = |category: usize, feature: usize| -> f64 {
        let weight = fit_of(category).and_then(|fit| fit.weights.get(feature));
        weight.map_or(0.0, |weight| f64::from(weight.value))
    };
    // All features: those of the fit first, then those that only the ordinary files have, then
    // those that only the general model has.
    let mut index = FeatureIndex::of(data.ids.clone());
    // Which categories have each feature, with its weights there.
    let mut known: Vec<(u32, u32, QuantWeight)> = Vec::new();
    for (at, category) in (0u32..).zip(categories) {
        let own = (0..category.size()).map(|at| category.slot(at)).filter(|slot| slot.id.0 != 0);
        known.extend(own.map(|slot| (index.insert(slot.id), at, slot.weight)));
    }
    known.sort_unstable_by_key(|&(feature, category, _)| (feature, category));
    for id in general.into_iter().flat_map(GeneralModel::features) {
        index.insert(id);
    }
    let mut known = known.as_slice();
    let once = data.scoring != Scoring::Counts;
    let mut tables = vec![Vec::new(); width];
    let mut of_fit = vec![0.0; width];
    let (mut lambdas, mut seen) = (vec![0.0f32; width], vec![false; width]);
    let takes_part = |feature: usize| {
        let weight = |fit: &Fit| fit.weights.get(feature).is_some_and(|weight| weight.scale > 0.0);
        fits.first().is_some_and(weight)
    };
    for (number, &id) in (0u32..).zip(&index.ids) {
        let feature = number as usize;
        let end = known.iter().position(|&(other, ..)| other != number).unwrap_or(known.len());
        let (own, rest) = known.split_at(end);
        known = rest;
        // A block's length is the number of its known features, so what takes no part is not known.
        if is_blocks && !takes_part(feature) && general.is_none_or(|own| own.weights(id).is_none())
        {
            continue;
        }
        lambdas.fill(0.0);
        seen.fill(false);
        for &(_, category, weight) in own {
            lambdas[category as usize] = weight.weight();
            seen[category as usize] = true;
        }
        for (category, weight) in of_fit.iter_mut().enumerate() {
            *weight = fitted(category, feature);
        }
        let sides = of_fit.iter().copied().zip(seen.iter().copied());
        let level = if is_sparse { level_of_unseen(sides) } else { 0.0 };
        // The weight in each category, nats, up to a number that all of them share. Of two
        // categories the first one's fitted weight is 0.
        let each = of_fit.iter().zip(&lambdas).zip(&seen);
        let row = each.map(|((fitted, &ordinary), &seen)| {
            let value = per_ordinary * f64::from(ordinary) + per_fitted * (fitted - level);
            if is_sparse && !seen { 0.0 } else { value }
        });
        let row: Vec<f64> = row.collect();
        // What the general model adds; nothing for a feature that it does not know.
        let of_general = general.and_then(|general| general.weights(id));
        let of_general = of_general.map_or_else(Vec::new, |own| scaled(own, per_general));
        let mut put = |at: usize, weight: QuantWeight| {
            if weight.0 > 0 {
                tables[at].push((id, weight));
            }
        };
        if let [first, second] = row[..] {
            let second =
                if let [one, other] = of_general[..] { second + (other - one) } else { second };
            let weights = stored_pair(second - first, once);
            weights.into_iter().enumerate().for_each(|(at, weight)| put(at, weight));
            continue;
        }
        let lowest =
            if is_sparse { 0.0 } else { row.iter().copied().fold(f64::INFINITY, f64::min) };
        for (at, value) in row.into_iter().enumerate() {
            let general = of_general.get(at).copied().unwrap_or(0.0);
            let is_learned = once && (seen[at] || !is_sparse);
            put(at, with_general(value - lowest, general, is_learned, once));
        }
    }
    // Sorted, so that the order does not depend on the order of the documents.
    for table in &mut tables {
        table.sort_unstable_by_key(|&(id, _)| id);
    }
    let biases = (0..width).map(|category| fit_of(category).map_or(0.0, |fit| fit.bias));
    let biases: Vec<f64> = biases.collect();
    let ordinary: Vec<f64> =
        categories.iter().map(|category| category.header().log_partition).collect();
    let bias_input = data.bias_input();
    let mut log_partitions = log_partitions(&ordinary, &biases, per_ordinary, scale * bias_input);
    match (general.map(|own| own.log_partitions.as_slice()), log_partitions.as_mut_slice()) {
        (Some(&[first, second]), [_, own]) => *own += per_general * (second - first),
        (Some(all), own) => {
            for (own, general) in own.iter_mut().zip(all) {
                *own += per_general * general;
            }
        }
        (None, _) => {}
    }
    let digrams = (!agree && blend == 0.0).then(uniform_digrams);
    let name = name(&tables, &log_partitions);
    Set { name, tables, log_partitions, scale, digrams }
}

/// Biases as log Z, around the mean of the ordinary ones.
pub fn log_partitions(
    ordinary: &[f64],
    biases: &[f64],
    per_ordinary: f64,
    per_bias: f64,
) -> Vec<f64> {
    let each = ordinary.iter().zip(biases);
    let free: Vec<f64> = each.map(|(z, bias)| per_ordinary * z - per_bias * bias).collect();
    let mean = |values: &[f64]| {
        values.iter().sum::<f64>() / dbacl_numeric::elementary::real(values.len().max(1))
    };
    let shift = mean(ordinary) - mean(&free);
    free.into_iter().map(|z| z + shift).collect()
}

/// The name of the set that these tables make.
pub fn name(tables: &[Vec<(FeatureId, QuantWeight)>], log_partitions: &[f64]) -> u64 {
    let mut sum = Checksum::default();
    for (table, z) in tables.iter().zip(log_partitions) {
        sum.word(table.len() as u64);
        sum.word(z.to_bits());
        for (id, weight) in table {
            sum.word(u64::from(id.0) << 16 | u64::from(weight.0));
        }
    }
    sum.value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_rounded_to_the_grid_and_clipped() {
        for (weight, steps) in
            [(0.0, 0), (-1.0, 0), (0.0156, 0), (0.0157, 1), (1.0, 32), (5000.0, u16::MAX)]
        {
            assert_eq!(stored(weight).0, steps, "{weight}");
        }
        for (difference, once, expected) in [
            (1.0, true, [0, 32]),
            (-0.5, true, [16, 0]),
            (0.01, true, [1, 1]),
            (0.01, false, [0, 0]),
        ] {
            assert_eq!(stored_pair(difference, once).map(|weight| weight.0), expected);
        }
    }

    #[test]
    fn the_uniform_table_is_that_of_ordinary_learning() {
        let stored: Vec<u16> = uniform_digrams().stored().map(|weight| weight.0).collect();
        assert_eq!(stored[3 * SYMBOLS + 3], 177);
        assert_eq!(stored[255 * SYMBOLS + 255], 177);
        assert_eq!(stored[2 * SYMBOLS + 3], 0);
    }
}
