// SPDX-License-Identifier: GPL-3.0-or-later
//! Leads the chains through the tasks of a fit, some labels at a time.
//!
//! ```text
//! count ─→ rounds without what is held out ─→ score ─→ calibration ─┐
//!                 └→ rounds with all documents ────────→ compose ───┴→ categories
//! ```

use super::chain::{Answer, LabelCounts, Round, Task};
use super::compose::{Column, Columns, Composed, Parts, compose, ordinary};
use super::error::BlockError;
use super::frame::Frame;
use super::settings::BlockSettings;
use crate::category::reader::Category;
use crate::joint::blend::Mixing;
use crate::joint::dataset::{BIAS_INPUT, contrast, scale};
use crate::joint::ordinary::{rise, without};
use crate::joint::select::{Form, Quality, Settings, problems};
use crate::numeric::elementary::narrow;
use std::borrow::Cow;
use std::fs::File;
use std::ops::Range;

/// Rounds of a fit.
const ROUNDS: usize = 8;

/// The processes that hold the documents and work on the tasks of a fit.
pub trait Chains {
    /// Has all chains do `task`; `take` gets their answers in the order of the chains.
    ///
    /// # Errors
    /// Those of the work, and those of `take`.
    fn each(
        &mut self,
        task: &Task,
        take: &mut dyn FnMut(Answer) -> Result<(), BlockError>,
    ) -> Result<(), BlockError>;
}

/// What was fitted.
#[derive(Debug)]
pub struct BlockFit {
    /// The categories, in the order of the labels.
    pub categories: Vec<Category<Vec<u8>>>,
    /// Documents of each label with features.
    pub documents: Vec<u64>,
    /// How documents were judged that were held out.
    pub quality: Quality,
    /// How many these were.
    pub judged: usize,
    /// What was said of the documents that are held out, in an order that all fits of the same
    /// documents share.
    pub held_out: HeldOut,
    /// The settings.
    pub settings: Settings,
    /// How many features take part.
    pub features: usize,
}

/// What was said of documents that a fit had not learned.
#[derive(Debug)]
pub struct HeldOut {
    /// By document, then label; NaN for a document without features.
    pub probabilities: Vec<f64>,
    /// The numbers of their labels.
    pub labels: Vec<u32>,
}

/// Fits the categories of all labels.
pub struct Leader<'a, C> {
    frame: &'a Frame,
    settings: &'a BlockSettings,
    chains: &'a mut C,
    /// Labels that are worked on at a time, 1 at least.
    at_a_time: usize,
    columns: Columns,
    /// Documents that contain each feature, all and those that are held out.
    frequencies: [Vec<u32>; 2],
    labels: Vec<LabelCounts>,
}

fn wrong_answer() -> BlockError {
    BlockError::Damaged("an answer")
}

impl<'a, C: Chains> Leader<'a, C> {
    /// A leader of `chains`, which works on so many labels at a time and keeps numbers of features
    /// in `file`.
    pub fn new(
        frame: &'a Frame,
        settings: &'a BlockSettings,
        chains: &'a mut C,
        at_a_time: usize,
        file: File,
    ) -> Self {
        let columns = Columns::new(file, frame.width());
        let frequencies = [vec![0; frame.width()], vec![0; frame.width()]];
        let at_a_time = at_a_time.max(1);
        Self { frame, settings, chains, at_a_time, columns, frequencies, labels: Vec::new() }
    }

    /// Fits the categories.
    ///
    /// # Errors
    /// Labels without documents, and those of the chains.
    pub fn fit(mut self) -> Result<BlockFit, BlockError> {
        super::settings::check(self.settings)?;
        let cost = self.settings.fit.cost.unwrap_or_default();
        let blend = self.settings.fit.blend.unwrap_or_default();
        self.count()?;
        let mut hulls = Vec::new();
        for label in 0..self.frame.labels {
            let counts = self.columns.read(Column::Counts(label))?;
            let (hull, lambdas) = ordinary(self.frame, self.settings, &counts)?;
            self.columns.write(Column::Ordinary(label), &lambdas)?;
            hulls.push(hull);
        }
        let log_partitions: Vec<f64> =
            hulls.iter().map(|hull| hull.header().log_partition).collect();
        let biases = self.rounds(cost, false)?;
        let (mut scores, labels) = self.score(blend, &biases, &log_partitions)?;
        let biases = self.rounds(cost, true)?;
        let (known, labels_of_known) = known(&scores, &labels, self.frame.labels);
        let quality = Quality::of(&known, &labels_of_known, self.frame.labels);
        let judged = labels_of_known.len();
        let settings = Settings { cost, blend, general: 0.0 };
        let documents: Vec<u64> = self.labels.iter().map(|label| label.documents).collect();
        let contrast = self.contrast();
        let parts = Parts {
            frame: self.frame,
            mixing: self.mixing(blend),
            settings,
            contrast,
            hulls: &hulls,
            biases: &biases,
        };
        let Composed { categories, line } =
            compose(&parts, &mut self.columns, (&known, &labels_of_known))?;
        drop((known, labels_of_known));
        for row in scores.chunks_exact_mut(self.frame.labels) {
            let probabilities = line.probabilities(row);
            row.copy_from_slice(&probabilities);
        }
        let held_out = HeldOut { probabilities: scores, labels };
        let features = self.frame.width();
        Ok(BlockFit { categories, documents, quality, judged, held_out, settings, features })
    }

    fn contrast(&self) -> bool {
        self.settings.fit.contrast.unwrap_or(true)
    }

    fn mixing(&self, blend: f64) -> Mixing {
        let form = if self.settings.fit.exact { Form::Exact } else { Form::Sparse };
        let per_fitted = self.frame.length() / f64::from(self.frame.max_order);
        Mixing { form, per_ordinary: blend, per_fitted, once: false }
    }

    fn groups(&self, all: usize) -> Vec<Range<usize>> {
        let starts = (0..all).step_by(self.at_a_time);
        starts.map(|start| start..(start + self.at_a_time).min(all)).collect()
    }

    fn count(&mut self) -> Result<(), BlockError> {
        for group in self.groups(self.frame.labels) {
            let mut all: Option<Vec<LabelCounts>> = None;
            let width = self.frame.width();
            self.chains.each(&Task::Count(group.clone()), &mut |answer| {
                let Answer::Counts(found) = answer else { return Err(wrong_answer()) };
                let is_whole = |own: &LabelCounts| {
                    let lists = [&own.with, &own.with_held_out, &own.counts, &own.counts_held_out];
                    lists.iter().all(|list| list.len() == width)
                };
                if found.len() != group.len() || !found.iter().all(is_whole) {
                    return Err(wrong_answer());
                }
                match &mut all {
                    None => all = Some(found),
                    Some(all) => all.iter_mut().zip(&found).for_each(|(all, own)| add(all, own)),
                }
                Ok(())
            })?;
            for (label, own) in group.zip(all.unwrap_or_default()) {
                if own.documents == 0 {
                    return Err(BlockError::NoDocuments(label));
                }
                let each = self.frequencies.iter_mut().zip([&own.with, &own.with_held_out]);
                for (frequencies, with) in each {
                    add_all(frequencies, with);
                }
                for (column, list) in [
                    (Column::With(label), &own.with),
                    (Column::WithHeldOut(label), &own.with_held_out),
                    (Column::Counts(label), &own.counts),
                    (Column::CountsHeldOut(label), &own.counts_held_out),
                ] {
                    self.columns.write(column, list)?;
                }
                let empty = || Vec::new();
                self.labels.push(LabelCounts {
                    with: empty(),
                    with_held_out: empty(),
                    counts: empty(),
                    counts_held_out: empty(),
                    ..own
                });
            }
        }
        Ok(())
    }

    /// Documents of all labels that take part in a fit.
    fn documents(&self, is_whole: bool) -> usize {
        let taking_part =
            |own: &LabelCounts| own.documents - if is_whole { 0 } else { own.held_out };
        let all: u64 = self.labels.iter().map(taking_part).sum();
        usize::try_from(all).unwrap_or(usize::MAX)
    }

    /// The scales of features in a problem.
    fn scales(&mut self, problem: usize, is_whole: bool) -> Result<Vec<f32>, BlockError> {
        let label = if self.frame.labels == 2 { 1 } else { problem };
        let documents = self.documents(is_whole);
        let own = &self.labels[label];
        let positives = own.documents - if is_whole { 0 } else { own.held_out };
        let positives = usize::try_from(positives).unwrap_or(usize::MAX);
        let has_contrast = self.contrast();
        let (with, held_out): (Vec<u32>, Vec<u32>) = (
            self.columns.read(Column::With(label))?,
            self.columns.read(Column::WithHeldOut(label))?,
        );
        let taking_part = |all: u32, held_out: u32| if is_whole { all } else { all - held_out };
        let [all, all_held_out] = &self.frequencies;
        let scales = all.iter().zip(all_held_out).zip(with.iter().zip(&held_out));
        Ok(scales
            .map(|((&all, &all_held_out), (&with, &held_out))| {
                let (all, with) = (taking_part(all, all_held_out), taking_part(with, held_out));
                let scale = scale(documents, all);
                if !has_contrast || scale == 0.0 {
                    return scale;
                }
                scale * contrast([(with, positives), (all - with, documents - positives)])
            })
            .collect())
    }

    /// Fits all problems; their weights become columns. Returns the biases.
    #[allow(clippy::cast_precision_loss)] // a number of chains
    fn rounds(&mut self, cost: f64, is_whole: bool) -> Result<Vec<f64>, BlockError> {
        let mut biases = Vec::new();
        let width = self.frame.width();
        let share = 1.0 / self.frame.chains() as f64;
        for group in self.groups(problems(self.frame.labels)) {
            let scales = group.clone().map(|problem| self.scales(problem, is_whole));
            let mut round = Round {
                first: group.start,
                is_first: true,
                is_whole,
                cost,
                scales: scales.collect::<Result<_, _>>()?,
                weights: vec![vec![0.0; width]; group.len()],
                biases: vec![0.0; group.len()],
            };
            for number in 0..ROUNDS {
                round.is_first = number == 0;
                let (mut changes, mut bias_changes) =
                    (vec![vec![0.0f32; width]; group.len()], vec![0.0; group.len()]);
                let task = Task::Round(round);
                let Task::Round(old) = &task else { return Err(wrong_answer()) };
                self.chains.each(&task, &mut |answer| {
                    let Answer::Fits(fits) = answer else { return Err(wrong_answer()) };
                    let is_whole = fits.iter().all(|fit| fit.weights.len() == width);
                    if fits.len() != old.weights.len() || !is_whole {
                        return Err(wrong_answer());
                    }
                    for (problem, fit) in fits.iter().enumerate() {
                        let each = fit.weights.iter().zip(&old.weights[problem]);
                        for ((new, old), change) in each.zip(&mut changes[problem]) {
                            *change += new - old;
                        }
                        bias_changes[problem] += fit.bias - old.biases[problem];
                    }
                    Ok(())
                })?;
                let Task::Round(old) = task else { return Err(wrong_answer()) };
                round = old;
                for (weights, changes) in round.weights.iter_mut().zip(&changes) {
                    for (weight, change) in weights.iter_mut().zip(changes) {
                        *weight += change * narrow(share);
                    }
                }
                for (bias, change) in round.biases.iter_mut().zip(&bias_changes) {
                    *bias += change * share;
                }
            }
            for (problem, weights) in group.zip(&round.weights) {
                self.columns.write(Column::Fitted(problem), weights)?;
            }
            biases.extend(round.biases);
        }
        // With two labels the first one's weights are 0.
        Ok(if self.frame.labels == 2 { vec![0.0, biases[0]] } else { biases })
    }

    /// Scores of the documents that are held out, by what was fitted and counted without them, and
    /// their labels.
    fn score(
        &mut self,
        blend: f64,
        biases: &[f64],
        log_partitions: &[f64],
    ) -> Result<(Vec<f64>, Vec<u32>), BlockError> {
        let frame = self.frame;
        let rises: Vec<f64> = self
            .labels
            .iter()
            .map(|own| {
                #[allow(clippy::cast_precision_loss)] // occurrences below 2^53
                let [all, gone] = [own.occurrences, own.occurrences_held_out].map(|it| it as f64);
                rise(all, gone)
            })
            .collect();
        let mixing = self.mixing(blend);
        self.columns.each_row(frame, |feature, row| {
            let order = frame.makeups[feature].order;
            let each = row.lambdas.iter_mut().zip(&mut *row.seen).zip(row.counts).zip(&rises);
            for (((lambda, seen), &[count, gone]), &rise) in each {
                *lambda = narrow(without(*lambda, gone, count, order, rise));
                *seen = count > gone;
            }
            mixing.values(row.fitted, row.lambdas, row.seen)
        })?;
        let bias_input = BIAS_INPUT * mixing.per_fitted;
        let offsets: Vec<f64> = log_partitions
            .iter()
            .zip(biases)
            .map(|(z, bias)| bias_input * bias - blend * z)
            .collect();
        let (mut scores, mut labels) = (Vec::new(), Vec::new());
        for group in self.groups(frame.labels) {
            let values = group.clone().map(|label| self.columns.read(Column::Values(label)));
            let values: Vec<Vec<f32>> = values.collect::<Result<_, _>>()?;
            let task = Task::Score { values, offsets: offsets[group.clone()].to_vec() };
            let mut documents = 0;
            self.chains.each(&task, &mut |answer| {
                let Answer::Scores(found, own) = answer else { return Err(wrong_answer()) };
                if found.len() != own.len() * group.len() {
                    return Err(wrong_answer());
                }
                let rows = found.chunks_exact(group.len());
                for (&label, row) in own.iter().zip(rows) {
                    if group.start == 0 {
                        labels.push(label);
                        scores.resize(labels.len() * frame.labels, 0.0);
                    }
                    let start = documents * frame.labels + group.start;
                    let room = scores.get_mut(start..start + row.len());
                    room.ok_or_else(wrong_answer)?.copy_from_slice(row);
                    documents += 1;
                }
                Ok(())
            })?;
        }
        if labels.iter().any(|&label| label as usize >= frame.labels) {
            return Err(wrong_answer());
        }
        Ok((scores, labels))
    }
}

/// The scores and labels of documents that have features.
fn known<'a>(
    scores: &'a [f64],
    labels: &'a [u32],
    width: usize,
) -> (Cow<'a, [f64]>, Cow<'a, [u32]>) {
    if !scores.iter().any(|score| score.is_nan()) {
        return (scores.into(), labels.into());
    }
    let rows = scores.chunks_exact(width).zip(labels);
    let known: Vec<(&[f64], &u32)> = rows.filter(|(row, _)| !row[0].is_nan()).collect();
    let scores: Vec<f64> = known.iter().flat_map(|(row, _)| row.iter().copied()).collect();
    let labels: Vec<u32> = known.iter().map(|&(_, &label)| label).collect();
    (scores.into(), labels.into())
}

fn add_all(all: &mut [u32], own: &[u32]) {
    for (all, own) in all.iter_mut().zip(own) {
        *all = all.saturating_add(*own);
    }
}

fn add(all: &mut LabelCounts, own: &LabelCounts) {
    all.documents += own.documents;
    all.held_out += own.held_out;
    all.occurrences += own.occurrences;
    all.occurrences_held_out += own.occurrences_held_out;
    add_all(&mut all.with, &own.with);
    add_all(&mut all.with_held_out, &own.with_held_out);
    add_all(&mut all.counts, &own.counts);
    add_all(&mut all.counts_held_out, &own.counts_held_out);
}
