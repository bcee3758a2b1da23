// SPDX-License-Identifier: GPL-3.0-or-later
//! Choosing the cost C and the blend by cross-validation, and whether to refit at all
//! (spec refit 3.6).

use super::by_blocks;
use super::calibrate::platt;
use super::dataset::{BIAS_INPUT, Dataset, problems};
use super::general::Opinion;
use super::index::FeatureIndex;
use super::lanewise::{self, PASSES, Training};
pub use super::ordinary::FOLDS;
use super::ordinary::{Without, without_folds};
use super::scoring::Scoring;
use super::solver::Fit;
use super::stop::{Stop, Stopped};
use super::thresholds::{Promise, unsure_of_few};
use crate::category::reader::Category;
use crate::measures::{Scored, area_above, mistakes};
use crate::parallel;
use dbacl_numeric::elementary::real;
use dbacl_numeric::random::SplitMix64;
use std::ops::Range;

/// Costs that are tried.
pub const COSTS: [f64; 3] = [0.05, 0.2, 1.0];

/// Blends that are tried.
pub const BLENDS: [f64; 6] = [0.0, 0.02, 0.05, 0.1, 0.2, 0.4];

/// Settings of a refit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// The cost C of a document within the margin.
    pub cost: f64,
    /// Share of the ordinary scores kept.
    pub blend: f64,
    /// Share of the general model's scores that is added; 0 without a general model.
    #[doc(hidden)]
    pub general: f64,
}

/// How well documents are classified.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quality {
    /// Documents that another category is best for.
    pub errors: usize,
    /// 1 - AUC with two categories, else 0.
    pub area_above: f64,
}

impl Quality {
    /// The quality of scores by document and category.
    #[doc(hidden)]
    pub fn of(scores: &[f64], labels: &[u32], categories: usize) -> Self {
        let rows = scores.chunks_exact(categories).zip(labels);
        let errors = rows.filter(|(row, label)| best(row) != **label as usize).count();
        let area_above =
            if categories == 2 { area_above(&differences(scores, labels)) } else { 0.0 };
        Self { errors, area_above }
    }

    /// The quality of scores whose threshold is at even odds.
    fn by_odds(scores: &[f64], labels: &[u32]) -> Self {
        let scored = differences(scores, labels);
        let (wrong, missed) = mistakes(&scored, platt(&scored).even());
        Self { errors: wrong + missed, area_above: area_above(&scored) }
    }

    /// Whether these scores rank better than `other`, or as well with fewer errors.
    pub(crate) fn ranks_above(&self, other: &Self) -> bool {
        self.area_above < other.area_above
            || self.area_above == other.area_above && self.errors < other.errors
    }

    /// Whether these judgements are better than `other`.
    pub(crate) fn beats(&self, other: &Self) -> bool {
        self.errors < other.errors
            || self.errors == other.errors && self.area_above < other.area_above
    }
}

/// With two categories: by how much the second is better.
pub fn differences(scores: &[f64], labels: &[u32]) -> Vec<Scored> {
    let rows = scores.chunks_exact(2).zip(labels);
    rows.map(|(row, &label)| Scored { score: row[1] - row[0], positive: label == 1 }).collect()
}

/// The first of the highest.
pub(super) fn best(row: &[f64]) -> usize {
    let mut best = 0;
    for (at, &score) in row.iter().enumerate() {
        if score > row[best] {
            best = at;
        }
    }
    best
}

/// What cross-validation found.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The best settings.
    pub settings: Settings,
    /// Their quality out of fold.
    pub quality: Quality,
    /// Scores out of fold with these settings, document by document.
    pub scores: Vec<f64>,
    /// Categories of these documents.
    pub labels: Vec<u32>,
    /// All that was tried.
    pub tried: Vec<(Settings, Quality)>,
}

/// What cross-validation works on.
pub struct Trial<'a> {
    /// The documents, without rare features.
    pub data: &'a Dataset,
    /// The fold of each, see [`folds`].
    pub folds: &'a [usize],
    /// Their ordinary scores, see [`super::ordinary::scores`].
    pub ordinary: &'a [f64],
    /// Costs to try.
    pub costs: &'a [f64],
    /// Blends to try.
    pub blends: &'a [f64],
    /// What the general model says of the documents; nothing without a general model.
    pub general: &'a Opinion,
    /// Shares of these scores to try; 0 without a general model.
    pub shares: &'a [f64],
    /// Folds whose documents are classified: [`FOLDS`] where there is something to choose.
    pub judged: usize,
    /// What is promised of either of two categories, where documents can be unsure.
    pub promises: Option<&'a [Promise]>,
    /// Asked before each pass of a fit.
    pub stop: Stop<'a>,
}

/// Documents that follow each other in the input and come into one fold together. They are often
/// answers to each other or copies; in different folds, one would be classified by what was learned
/// of the other.
const NEIGHBOURS: usize = 16;

/// Documents that are scored at a time.
const PART: usize = 512;

/// A fold for each document, about the same shares of every category in each.
pub fn folds(data: &Dataset) -> Vec<usize> {
    let mut folds = vec![0; data.len()];
    let mut shuffle = SplitMix64::new(2);
    for category in 0..data.categories {
        let own: Vec<usize> =
            (0..data.len()).filter(|&at| data.labels[at] as usize == category).collect();
        let together = (own.len() / (4 * FOLDS)).clamp(1, NEIGHBOURS);
        let mut groups: Vec<&[usize]> = own.chunks(together).collect();
        shuffle.shuffle(&mut groups);
        for (place, group) in groups.into_iter().enumerate() {
            for &document in group {
                folds[document] = place % FOLDS;
            }
        }
    }
    folds
}

/// The problems, each by the category that it distinguishes from the rest, in groups of at most
/// [`lanewise::WIDEST`], which are solved side by side. Of two categories the second is
/// distinguished from the first.
fn blocks(data: &Dataset) -> Vec<Range<usize>> {
    if problems(data.categories) == 1 {
        return std::iter::once(1..2).collect();
    }
    let starts = (0..data.categories).step_by(lanewise::WIDEST);
    starts.map(|start| start..(start + lanewise::WIDEST).min(data.categories)).collect()
}

/// Fits all problems at once, each on its own: the result does not depend on how many run at a
/// time.
///
/// # Errors
/// [`Stopped`]
pub fn fit_all(
    data: &Dataset,
    cost: f64,
    left_out: impl Fn(usize) -> bool + Sync,
    stop: Stop<'_>,
) -> Result<Vec<Fit>, Stopped> {
    if data.scoring == Scoring::Blocks {
        return by_blocks::fit(data, cost, left_out, stop);
    }
    let blocks = blocks(data);
    let part: Vec<bool> = (0..data.len()).map(|document| !left_out(document)).collect();
    let fits = parallel::try_all(blocks.len(), |block| {
        let training = Training { data, cost, passes: PASSES, stop };
        Ok(lanewise::solve(blocks[block].clone(), &part, &training)?.fits())
    });
    Ok(fits?.into_iter().flatten().collect())
}

/// Makes the fits of categories without documents say nothing: no weights, and the mean bias of the
/// others. By the documents of the others alone such a category would never be the most probable
/// one, even where a general model knows its documents.
pub fn silence_empty(fits: &mut [Fit], data: &Dataset) {
    let documents = data.documents_by_category();
    // One fit tells two categories apart.
    let is_pair = problems(data.categories) == 1;
    let is_empty = |at: usize| if is_pair { documents.contains(&0) } else { documents[at] == 0 };
    let others = fits.iter().enumerate().filter(|(at, _)| !is_empty(*at));
    let biases: Vec<f64> = others.map(|(_, fit)| fit.bias).collect();
    let mean = biases.iter().sum::<f64>() / real(biases.len().max(1));
    for (_, fit) in fits.iter_mut().enumerate().filter(|(at, _)| is_empty(*at)) {
        fit.bias = mean;
        for weight in &mut fit.weights {
            weight.value = 0.0;
        }
        fit.duals.fill([0.0; 2]);
    }
}

/// Scores of the fitted part of every document out of fold: one list for each cost.
///
/// With two categories the first one's scores are 0.
///
/// # Errors
/// [`Stopped`]
fn fitted_scores(trial: &Trial<'_>) -> Result<Vec<Vec<f64>>, Stopped> {
    let Trial { data, folds, .. } = *trial;
    let width = data.categories;
    let blocks = &blocks(data);
    let jobs: Vec<(usize, usize, Range<usize>)> = (0..trial.costs.len())
        .flat_map(|cost| (0..trial.judged).map(move |fold| (cost, fold)))
        .flat_map(|(cost, fold)| blocks.iter().map(move |block| (cost, fold, block.clone())))
        .collect();
    let margins: Vec<Vec<Vec<f64>>> = parallel::try_all(jobs.len(), |job| {
        let (cost, fold, block) = jobs[job].clone();
        let cost = trial.costs[cost];
        let part: Vec<bool> = folds.iter().map(|&own| own != fold).collect();
        let own = (0..data.len()).filter(|&document| !part[document]);
        let training = Training { data, cost, passes: PASSES, stop: trial.stop };
        let fits = lanewise::solve(block, &part, &training)?;
        Ok(own.map(|document| fits.margins(data, document)).collect())
    })?;
    let mut scores = vec![vec![0.0; data.len() * width]; trial.costs.len()];
    for ((cost, fold, block), margins) in jobs.iter().zip(&margins) {
        let own = (0..data.len()).filter(|&document| folds[document] == *fold);
        for (document, margins) in own.zip(margins) {
            let scores = &mut scores[*cost][document * width + block.start..];
            scores[..margins.len()].copy_from_slice(margins);
        }
    }
    Ok(scores)
}

/// Tries all settings as they are written in exact form.
///
/// # Errors
/// [`Stopped`]
pub fn choose_exact(trial: &Trial<'_>) -> Result<Option<Choice>, Stopped> {
    let fitted = fitted_scores(trial)?;
    let mut picker = Picker::default();
    for (&cost, fitted) in trial.costs.iter().zip(&fitted) {
        for &blend in trial.blends {
            let each = fitted.iter().zip(trial.ordinary);
            let scores: Vec<f64> = each.map(|(fitted, own)| fitted + blend * own).collect();
            picker.consider(trial, (cost, blend), &scores, trial.judged);
        }
    }
    Ok(picker.finish(trial.promises))
}

/// Chooses the share of the general model, where documents count by blocks and have these scores.
pub fn choose_share(trial: &Trial<'_>, scores: &[f64]) -> Option<Choice> {
    let mut picker = Picker::default();
    picker.consider(trial, (trial.costs[0], 0.0), scores, FOLDS);
    picker.finish(None)
}

/// Collects the settings that were tried and picks the best one.
///
/// With two categories errors are few and much of their difference is chance: of all settings whose
/// errors lie within one standard deviation of the fewest, the one that ranks best is taken. Where
/// documents can be unsure and there are too few to count those that are confidently wrong,
/// settings that leave more than a tenth unsure, and more than twice as many as others, are not
/// considered: a large share of the ordinary scores has long tails, and may leave half of all
/// documents unsure. With more categories the one with the fewest errors is taken.
#[derive(Default)]
struct Picker {
    tried: Vec<(Settings, Quality)>,
    candidates: Vec<Choice>,
}

impl Picker {
    /// Considers a cost and a blend with which all documents have these scores, with each share of
    /// the general model. The documents of the first `judged` folds are judged.
    fn consider(
        &mut self,
        trial: &Trial<'_>,
        (cost, blend): (f64, f64),
        scores: &[f64],
        judged: usize,
    ) {
        let (data, width) = (trial.data, trial.data.categories);
        let is_judged = |&document: &usize| trial.folds[document] < judged;
        let judged: Vec<usize> = (0..data.len()).filter(is_judged).collect();
        for &general in trial.shares {
            let labels: Vec<u32> = judged.iter().map(|&document| data.labels[document]).collect();
            let rows = judged.iter().flat_map(|&document| &scores[document * width..][..width]);
            let mut scores: Vec<f64> = rows.copied().collect();
            trial.general.add(general, &judged, width, &mut scores);
            let quality = match (width, data.scoring) {
                (2, Scoring::Once | Scoring::Blocks) => Quality::by_odds(&scores, &labels),
                _ => Quality::of(&scores, &labels, width),
            };
            let settings = Settings { cost, blend, general };
            self.tried.push((settings, quality));
            let choice = Choice { settings, quality, scores, labels, tried: Vec::new() };
            if width == 2 {
                self.candidates.push(choice);
            } else if self.candidates.first().is_none_or(|best| quality.beats(&best.quality)) {
                self.candidates = vec![choice];
            }
        }
    }

    fn finish(self, promises: Option<&[Promise]>) -> Option<Choice> {
        let unsure = |choice: &Choice| {
            let scored = || differences(&choice.scores, &choice.labels);
            promises.map_or(0, |promises| unsure_of_few(&scored(), promises))
        };
        let fewest = self.candidates.iter().map(|choice| choice.quality.errors).min()?;
        // No error at all is hardly fewer than one.
        let allowed = real(fewest) + real(fewest.max(1)).sqrt();
        let candidates = self.candidates.into_iter();
        let candidates: Vec<(usize, Choice)> = candidates
            .filter(|choice| real(choice.quality.errors) <= allowed)
            .map(|choice| (unsure(&choice), choice))
            .collect();
        let fewest = candidates.iter().map(|(unsure, _)| *unsure).min()?;
        let is_useful = |unsure: usize, of: usize| unsure <= 2 * fewest || 10 * unsure <= of;
        let best = candidates
            .into_iter()
            .filter(|(unsure, choice)| is_useful(*unsure, choice.labels.len()))
            .map(|(_, choice)| choice)
            .reduce(|best, next| if next.quality.ranks_above(&best.quality) { next } else { best });
        best.map(|choice| Choice { tried: self.tried, ..choice })
    }
}

/// The weight that categories which have not learned a feature share in the sparse form: the mean
/// of their fitted weights.
pub fn level_of_unseen(weights: impl Iterator<Item = (f64, bool)>) -> f64 {
    let (mut sum, mut number) = (0.0, 0.0);
    for (weight, seen) in weights {
        if !seen {
            sum += weight;
            number += 1.0;
        }
    }
    if number > 0.0 { sum / number } else { 0.0 }
}

/// Tries all settings as they are written in sparse form.
///
/// # Errors
/// [`Stopped`]
pub fn choose_sparse<D: AsRef<[u8]> + Sync>(
    trial: &Trial<'_>,
    categories: &[Category<D>],
) -> Result<Option<Choice>, Stopped> {
    let data = trial.data;
    let width = data.categories;
    let Trial { folds, costs, blends, .. } = *trial;
    let index = FeatureIndex::of(data.ids.clone());
    let learned = parallel::all(width, |at| {
        let label = u32::try_from(at).unwrap_or(u32::MAX);
        without_folds(data, &index, &categories[at], label, (folds, trial.judged))
    });
    let per_weight = data.length / f64::from(data.max_order);
    let bias_input = BIAS_INPUT * per_weight;
    let mut picker = Picker::default();
    for &cost in costs {
        let mut by_blend = vec![vec![0.0; data.len() * width]; blends.len()];
        for fold in 0..trial.judged {
            let mut fits = fit_all(data, cost, |document| folds[document] == fold, trial.stop)?;
            if !trial.general.scores.is_empty() {
                silence_empty(&mut fits, data);
            }
            let learned: Vec<&Without> = learned.iter().map(|folds| &folds[fold]).collect();
            let levels = levels(&fits, &learned);
            let own: Vec<usize> =
                (0..data.len()).filter(|&document| folds[document] == fold).collect();
            let parts: Vec<&[usize]> = own.chunks(PART).collect();
            let found = parallel::all(blends.len() * parts.len(), |at| {
                let blend = blends[at / parts.len()];
                let score = |document: usize, category: usize| {
                    let (fit, learned) = (&fits[category], learned[category]);
                    let mut sum = 0.0;
                    for cell in data.row(document) {
                        let feature = cell.feature as usize;
                        if !learned.is_seen[feature] {
                            continue;
                        }
                        let weight = f64::from(learned.weights[feature]);
                        let fitted = f64::from(fit.weights[feature].value) - levels[feature];
                        let written = (blend * weight + per_weight * fitted).max(0.0);
                        sum += f64::from(data.scoring.count(cell.count)) * written;
                    }
                    let number = document * width + category;
                    let reference = data.references.get(number).copied().unwrap_or(0.0);
                    let partition = categories[category].header().log_partition;
                    let mean = sum / data.complexity(data.scoring, document)
                        + blend * (f64::from(reference) - partition)
                        + fit.bias * bias_input;
                    mean * data.scoring.length_factor(data.distinct[document])
                };
                parts[at % parts.len()]
                    .iter()
                    .flat_map(|&document| (0..width).map(move |category| (document, category)))
                    .map(|(document, category)| score(document, category))
                    .collect::<Vec<f64>>()
            });
            for (at, found) in found.iter().enumerate() {
                let scores = &mut by_blend[at / parts.len()];
                for (document, row) in parts[at % parts.len()].iter().zip(found.chunks_exact(width))
                {
                    scores[document * width..][..width].copy_from_slice(row);
                }
            }
        }
        for (&blend, scores) in blends.iter().zip(&by_blend) {
            picker.consider(trial, (cost, blend), scores, trial.judged);
        }
    }
    Ok(picker.finish(trial.promises))
}

fn levels(fits: &[Fit], learned: &[&Without]) -> Vec<f64> {
    let features = fits.first().map_or(0, |fit| fit.weights.len());
    let level = |feature: usize| {
        let sides = fits.iter().zip(learned);
        let weights = sides.map(|(fit, learned)| {
            (f64::from(fit.weights[feature].value), learned.is_seen[feature])
        });
        level_of_unseen(weights)
    };
    (0..features).map(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quality_counts_errors_and_ranks() {
        let scores = [1.0, 0.0, 0.0, 1.0, 0.0, 0.5];
        let quality = Quality::of(&scores, &[0, 1, 0], 2);
        assert_eq!(quality, Quality { errors: 1, area_above: 0.0 });
        let worse = Quality { errors: 1, area_above: 0.1 };
        assert!(quality.beats(&worse) && !worse.beats(&quality) && !quality.beats(&quality));
    }

    #[test]
    fn a_shift_of_all_scores_is_no_error_by_odds() {
        let scores: Vec<f64> = (0..40).flat_map(|k| [0.0, 5.0 + 0.1 * f64::from(k)]).collect();
        let labels: Vec<u32> = (0..40).map(|k| u32::from(k >= 20)).collect();
        assert_eq!(Quality::of(&scores, &labels, 2).errors, 20);
        assert_eq!(Quality::by_odds(&scores, &labels), Quality { errors: 0, area_above: 0.0 });
    }

    #[test]
    fn the_best_ranking_wins_among_those_with_hardly_more_errors() {
        let choice = |errors, area_above, cost| Choice {
            settings: Settings { cost, blend: 0.0, general: 0.0 },
            quality: Quality { errors, area_above },
            scores: Vec::new(),
            labels: Vec::new(),
            tried: Vec::new(),
        };
        let candidates = vec![choice(9, 0.5, 1.0), choice(12, 0.2, 2.0), choice(13, 0.1, 3.0)];
        let picker = Picker { tried: Vec::new(), candidates };
        assert_eq!(picker.finish(None).map(|choice| choice.settings.cost), Some(2.0));
        assert!(Picker::default().finish(None).is_none());
    }

    #[test]
    fn level_is_the_mean_of_those_that_do_not_know_the_feature() {
        assert_eq!(level_of_unseen([(1.0, true), (2.0, false), (4.0, false)].into_iter()), 3.0);
        assert_eq!(level_of_unseen([(1.0, true)].into_iter()), 0.0);
    }
}
