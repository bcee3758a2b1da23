// SPDX-License-Identifier: GPL-3.0-or-later
//! The general model of a set: another set, which was fitted on documents of other people, and
//! whose scores are added to those of the fit (spec refit 3.7).
//!
//! ```text
//! score = fitted score + blend * ordinary score + general * score of the general model
//! ```
//!
//! Categories are the same where they have the same name. What the general model knows and the set
//! does not stands for all that the set has besides: to a category of another name the general
//! model gives the mean score of those of its own that the set does not have. If it has none of
//! that kind, it gives the mean of all, and speaks neither for such a category nor against it.
//!
//! All scores are linear in the features of a document, so the weights are added when the files of
//! the set are written, and verdicts need the general model no more. The general model has not seen
//! the documents of the set: in cross-validation its scores are the same in every fold.

use super::calibrate::Calibration;
use super::dataset::Dataset;
use super::header::{RefitLine, set_of};
use super::scoring::Scoring;
use crate::category::reader::Category;
use crate::token::id::FeatureId;
use dbacl_numeric::elementary::real;

/// Shares of the general model's scores that are tried, the one that is likeliest first: of
/// settings that judge equally well the first is taken.
pub const SHARES: [f64; 4] = [0.5, 1.0, 0.25, 0.0];

/// The share where there are too few documents to choose one.
pub const SHARE_OF_FEW: f64 = 0.5;

/// A general model.
#[derive(Debug)]
pub struct GeneralModel<D> {
    /// Its categories.
    own: Vec<Category<D>>,
    /// For each category of the set that it is added to, the place of its own category of the same
    /// name.
    same: Vec<Option<usize>>,
    /// log Z by category of the set, nats.
    pub log_partitions: Vec<f64>,
    /// The logarithm of the odds for one of its scores.
    slope: f64,
    /// In a set of two categories, the score of the second less that of the first at which the odds
    /// are even.
    pub even: f64,
    /// Numbers of its files for one of its fit.
    unit: f64,
}

impl<D: AsRef<[u8]>> GeneralModel<D> {
    /// The general model of the categories `own` for a set. For each category of the set, `same`
    /// says which of them has the same name.
    ///
    /// # Errors
    /// The reason why they cannot be a general model, in words that follow "cannot be the general
    /// model:".
    pub fn new(own: Vec<Category<D>>, same: Vec<Option<usize>>) -> Result<Self, &'static str> {
        let lines: Vec<Option<RefitLine>> =
            own.iter().map(|category| RefitLine::find(category.other_lines())).collect();
        let line = set_of(&lines).map_err(super::header::Mismatch::text)?;
        let line = line.ok_or("its categories were not fitted together")?;
        if line.scoring == Scoring::Counts || own.iter().any(|own| own.header().max_order != 1) {
            return Err("it is not a mail filter");
        }
        let unit = line.scoring.unit();
        let places: Vec<u32> = lines.iter().flatten().map(|line| line.place).collect();
        // The scores of two categories where their odds are even, up to a number that both share.
        let half = if own.len() == 2 { line.calibration.even() / unit / 2.0 } else { 0.0 };
        let even: Vec<f64> =
            places.iter().map(|&place| if place == 1 { -half } else { half }).collect();
        let partitions: Vec<f64> =
            own.iter().map(|category| category.header().log_partition / unit).collect();
        let log_partitions = for_set(&same, &partitions);
        let even = match *for_set(&same, &even) {
            [first, second] => second - first,
            _ => 0.0,
        };
        let slope = line.calibration.slope * unit;
        Ok(Self { own, same, log_partitions, slope, even, unit })
    }

    /// The bytes of its categories.
    pub fn files(&self) -> impl Iterator<Item = &[u8]> {
        self.own.iter().map(Category::as_bytes)
    }

    /// Its weights of a feature by category of the set, nats, none below 0; `None` for a feature
    /// that no category has.
    pub fn weights(&self, id: FeatureId) -> Option<Vec<f64>> {
        let mut is_known = false;
        let weight = |own: &Category<D>| {
            let slot = own.find(id).filter(|slot| slot.id == id);
            is_known |= slot.is_some();
            slot.map_or(0.0, |slot| f64::from(slot.weight.weight()) / self.unit)
        };
        let own: Vec<f64> = self.own.iter().map(weight).collect();
        is_known.then(|| for_set(&self.same, &own))
    }

    /// The features, many of them several times.
    pub fn features(&self) -> impl Iterator<Item = FeatureId> {
        let slots = self.own.iter().flat_map(|own| (0..own.size()).map(|at| own.slot(at)));
        slots.map(|slot| slot.id).filter(|id| id.0 != 0)
    }

    /// The odds of scores that hold this share of its own ones and nothing else.
    pub fn calibration(&self, share: f64) -> Calibration {
        let slope = self.slope.max(0.0) / share;
        Calibration { slope, offset: -slope * share * self.even }
    }

    /// Whether it knows each feature of `data`.
    pub fn knows(&self, data: &Dataset) -> Vec<bool> {
        data.ids.iter().map(|&id| self.weights(id).is_some()).collect()
    }

    /// What the general model says of the documents of `data`, which still has all features.
    pub fn opinion(&self, data: &Dataset) -> Opinion {
        let width = self.same.len();
        let is_pair = width == 2;
        let weights: Vec<Option<Vec<f64>>> = data.ids.iter().map(|&id| self.weights(id)).collect();
        let score = |document: usize, category: usize| {
            if is_pair && category == 0 {
                return 0.0;
            }
            // Of two categories the difference counts.
            let less = |values: &[f64]| values[category] - if is_pair { values[0] } else { 0.0 };
            if data.scoring == Scoring::Blocks {
                let least = data.least_documents();
                let each = data.row(document).iter().map(|cell| {
                    let feature = cell.feature as usize;
                    let own = weights[feature].as_deref();
                    let is_known = own.is_some() || data.document_frequencies[feature] >= least;
                    (data.is_text[feature], is_known, own.map_or(0.0, less))
                });
                return Scoring::by_blocks(each) - less(&self.log_partitions);
            }
            let row = data.row(document).iter();
            let part = |count: u32, weight: f64| f64::from(data.scoring.count(count)) * weight;
            let own = row.filter_map(|cell| {
                Some(part(cell.count, less(weights[cell.feature as usize].as_deref()?)))
            });
            let mean = own.sum::<f64>() / data.complexity(data.scoring, document);
            (mean - less(&self.log_partitions))
                * data.scoring.length_factor(data.distinct[document])
        };
        let places = (0..data.len()).flat_map(|document| (0..width).map(move |at| (document, at)));
        Opinion {
            scores: places.map(|(document, category)| score(document, category)).collect(),
            knows: weights.iter().map(Option::is_some).collect(),
        }
    }
}

/// The values of a general model's categories for those of a set: for one that it does not know the
/// mean of its other categories, or of all if there are no others.
fn for_set(same: &[Option<usize>], own: &[f64]) -> Vec<f64> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / real(values.len());
    let others = (0..own.len()).filter(|at| !same.contains(&Some(*at)));
    let others: Vec<f64> = others.map(|at| own[at]).collect();
    let rest = if others.is_empty() { mean(own) } else { mean(&others) };
    same.iter().map(|same| same.map_or(rest, |at| own[at])).collect()
}

/// What a general model says of documents.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Opinion {
    /// By document and category of the set; with two categories 0 for the first one.
    pub scores: Vec<f64>,
    /// By feature, whether it is known.
    pub knows: Vec<bool>,
}

impl Opinion {
    /// With two categories: which documents the general model takes for the category that is not
    /// their own. Its odds are even at the score `even`.
    pub fn against(&self, labels: &[u32], even: f64) -> Vec<bool> {
        let each = self.scores.chunks_exact(2).zip(labels);
        each.map(|(scores, &label)| (scores[1] > even) != (label == 1)).collect()
    }

    /// Adds a share of the scores of these documents to `scores`, which has theirs.
    pub fn add(&self, share: f64, documents: &[usize], categories: usize, scores: &mut [f64]) {
        if share > 0.0 {
            for (&document, row) in documents.iter().zip(scores.chunks_exact_mut(categories)) {
                let own = &self.scores[document * categories..][..categories];
                for (score, own) in row.iter_mut().zip(own) {
                    *score += share * own;
                }
            }
        }
    }
}
