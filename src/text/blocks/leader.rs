// SPDX-License-Identifier: GPL-3.0-or-later
//! Leads the chains from counts to a table: scales, rounds, calibration.

use super::chain::{Answer, State, Task};
use super::frame::Frame;
use super::{BlockPlan, Done};
use crate::linear::scales;
use crate::text::calibrate::{Cut, scale};
use crate::text::learn::{INTERCEPT, Learned, told};
use crate::text::none::NONE;
use crate::text::table::{Fitted, LOSS, Table};
use crate::text::train::TrainError;
use dbacl_numeric::elementary::{narrow, real};
use std::borrow::Cow;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Rounds of the first fit, and of the one that goes on with all documents.
const ROUNDS: u32 = 8;
const MORE_ROUNDS: u32 = 4;

/// Hands a task to all chains, wherever they are, and their answers in their order to the function.
pub(super) type Chains<'a> = dyn FnMut(&Task<'_>, &mut dyn FnMut(Answer) -> Done) -> Done + 'a;

/// Documents with features by label, and by label or for all those with each feature: both of the
/// first fit and in all.
type Counts = (Vec<[u32; 2]>, Vec<[u32; 2]>);

pub(super) struct Leader<'a> {
    pub plan: &'a BlockPlan,
    pub frame: &'a Frame,
    /// Labels with their documents.
    pub labels: &'a [(String, u64)],
    pub chains: &'a mut Chains<'a>,
    /// How many labels are worked on at a time.
    pub at_a_time: usize,
    /// Makes a file for weights.
    pub file: &'a mut dyn FnMut() -> std::io::Result<File>,
    /// Told how much is done, from 0 to 1; ends the work by `false`.
    pub go_on: &'a dyn Fn(f64) -> bool,
}

fn parts(all: usize, width: usize) -> impl Iterator<Item = Range<usize>> {
    let width = width.max(1);
    (0..all).step_by(width).map(move |start| start..(start + width).min(all))
}

fn real_sum(counts: &[[u32; 2]], side: usize) -> f64 {
    counts.iter().map(|own| f64::from(own[side])).sum()
}

impl Leader<'_> {
    fn counts(&mut self, labels: Range<usize>, is_together: bool) -> Result<Counts, TrainError> {
        let (mut documents, mut with): Counts = (Vec::new(), Vec::new());
        (self.chains)(&Task::Count(labels, is_together), &mut |answer| {
            let Answer::Counts(own, own_with) = answer else { return Err(TrainError::Damaged) };
            for (sums, own) in [(&mut documents, own), (&mut with, own_with)] {
                sums.resize(own.len(), [0; 2]);
                // What is held out is part of all.
                for (sum, [learned, held_out]) in sums.iter_mut().zip(own) {
                    sum[0] += learned;
                    sum[1] += learned + held_out;
                }
            }
            Ok(())
        })?;
        Ok((documents, with))
    }

    /// The scales of the first fit and of all documents.
    fn scales(
        &mut self,
        documents: &[[u32; 2]],
        with: &[[u32; 2]],
    ) -> Result<[Vec<f32>; 2], TrainError> {
        let any = [0, 1].map(|side| real_sum(documents, side));
        let mut largest = [vec![1.0f64; with.len()], vec![1.0; with.len()]];
        if self.plan.settings.contrast {
            for labels in parts(documents.len(), self.at_a_time) {
                let (own, rows) = self.counts(labels, false)?;
                for (own, row) in own.iter().zip(rows.chunks_exact(with.len().max(1))) {
                    for ((at, row), with) in row.iter().enumerate().zip(with) {
                        for side in 0..2 {
                            let of = (row[side], f64::from(own[side]));
                            let quotient = scales::quotient(of, (with[side], any[side]));
                            largest[side][at] = largest[side][at].max(quotient);
                        }
                    }
                }
            }
        }
        let least = self.frame.least;
        let of = |side: usize| {
            let number: usize = documents.iter().map(|own| own[side] as usize).sum();
            let each = with.iter().zip(&largest[side]).map(|(with, &largest)| {
                let own = with[side];
                let scale = if own < least { 0.0 } else { scales::rarity(number, own, 1.0) };
                if self.plan.settings.contrast { scale * scales::contrast(largest) } else { scale }
            });
            each.collect()
        };
        Ok([of(0), of(1)])
    }

    pub(super) fn fit(mut self) -> Result<Learned, TrainError> {
        let (labels, problems) = (self.frame.labels, self.frame.problems());
        let (documents, with) = self.counts(0..labels, true)?;
        if let Some(at) = documents.iter().position(|own| own[1] == 0) {
            let label = self.labels.get(at).map_or_else(String::new, |(label, _)| label.clone());
            return Err(TrainError::NoWords { label });
        }
        let sizes: Vec<u32> = documents.iter().map(|own| own[1]).collect();
        let cost = self.plan.settings.cost;
        let balance = scales::balance(&sizes, self.plan.recipe.balance.unwrap_or(0.0));
        let costs: Vec<f32> = balance.iter().map(|&it| narrow(cost * f64::from(it))).collect();
        let [first, whole] = self.scales(&documents, &with)?;
        let (mut heads, mut scores): (Vec<[u32; 3]>, Vec<Vec<f32>>) = (Vec::new(), Vec::new());
        let (mut weights, mut intercepts) = (Vec::new(), Vec::new());
        let fits = problems.div_ceil(self.at_a_time.max(1));
        for (fit, own) in parts(problems, self.at_a_time).enumerate() {
            let mut state = State {
                problems: own.clone(),
                scales: Cow::Borrowed(&first[..]),
                sums: Cow::Owned(vec![0.0; first.len() * own.len()]),
                intercepts: Cow::Owned(vec![0.0; own.len()]),
            };
            for round in 0..ROUNDS + MORE_ROUNDS {
                let done = f64::from(round) / f64::from(ROUNDS + MORE_ROUNDS);
                if !(self.go_on)((real(fit) + done) / real(fits)) {
                    return Err(TrainError::Stopped);
                }
                if round == ROUNDS {
                    let task = Task::Score(state);
                    self.score(&task, &mut heads, &mut scores, fit == 0)?;
                    let Task::Score(scored) = task else { return Err(TrainError::Damaged) };
                    state = State { scales: Cow::Borrowed(&whole[..]), ..scored };
                }
                let (is_first, is_whole) = (round == 0, round >= ROUNDS);
                let costs = Cow::Borrowed(&costs[..]);
                state = self.round(Task::Round { state, is_first, is_whole, costs })?;
            }
            let file = (self.file)()?;
            let rows = state.sums.chunks_exact(own.len()).zip(&whole);
            let bytes: Vec<u8> = rows
                .flat_map(|(row, &scale)| {
                    row.iter().flat_map(move |&it| (it * scale).to_le_bytes())
                })
                .collect();
            file.write_all_at(&bytes, 0)?;
            weights.push((own, file));
            intercepts.extend(state.intercepts.iter().map(|sum| sum * INTERCEPT));
        }
        let all = real_sum(&documents, 1);
        let priors = sizes.iter().map(|&own| f64::from(own) / all).collect();
        let labels: Vec<[u32; 1]> = heads.iter().map(|head| [head[1]]).collect();
        let cut = |((head, mut scores), labels): (([u32; 3], Vec<f32>), _)| {
            if problems == 1 {
                scores.insert(0, 0.0);
            }
            Cut { words: head[0] as usize, scores, known: head[2], labels }
        };
        let labels = labels.iter().map(<[u32; 1]>::as_slice);
        let cuts: Vec<Cut<'_>> = heads.into_iter().zip(scores).zip(labels).map(cut).collect();
        // Blocks refuse documents of several labels.
        let has_several = false;
        let none = self.labels.iter().position(|(label, _)| label == NONE);
        let scale = scale(has_several, &cuts, priors, self.plan.recipe.for_f1, none);
        let is_whole = |cut: &&Cut<'_>| cut.words == 0;
        let judged = cuts.iter().filter(is_whole).count();
        let right = cuts.iter().filter(is_whole).filter(|cut| cut.is_right(has_several)).count();
        let failure = std::cell::Cell::new(None);
        let table = {
            let read = |at: usize, out: &mut [f32]| {
                for (own, file) in &weights {
                    let mut bytes = vec![0; own.len() * 4];
                    let place = (at * bytes.len()) as u64;
                    if let Err(error) = file.read_exact_at(&mut bytes, place) {
                        failure.set(Some(error));
                    }
                    for (out, bytes) in out[own.clone()].iter_mut().zip(bytes.as_chunks::<4>().0) {
                        *out = f32::from_le_bytes(*bytes);
                    }
                }
            };
            let importance =
                |at: usize| (f64::from(whole[at]) * f64::from(with[at][1].max(1))).sqrt();
            let fitted = Fitted {
                problems,
                features: &self.frame.features,
                weights: &read,
                importance: &importance,
                intercepts,
            };
            Table::new(&fitted, has_several, (self.plan.layout.kinds(), 0), scale, LOSS)
        };
        if let Some(error) = failure.take() {
            return Err(error.into());
        }
        let BlockPlan { recipe, layout, settings, .. } = self.plan;
        let chosen = told(layout, *settings, &[], &table.scale, recipe.for_f1);
        let documents = sizes.into_iter().map(u64::from).collect();
        Ok(Learned { table, errors: judged - right, judged, chosen, documents })
    }

    /// Has all chains do a round, and adds their changes up in their order.
    fn round<'a>(&mut self, task: Task<'a>) -> Result<State<'a>, TrainError> {
        let Task::Round { state, .. } = &task else { return Err(TrainError::Damaged) };
        let (mut sums, mut intercepts) = (state.sums.to_vec(), state.intercepts.to_vec());
        (self.chains)(&task, &mut |answer| {
            let Answer::Changes(own, own_intercepts) = answer else {
                return Err(TrainError::Damaged);
            };
            let pairs = [(&mut sums, own), (&mut intercepts, own_intercepts)];
            for (sums, own) in pairs {
                if sums.len() != own.len() {
                    return Err(TrainError::Damaged);
                }
                sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
            }
            Ok(())
        })?;
        let Task::Round { state, .. } = task else { return Err(TrainError::Damaged) };
        Ok(State { sums: Cow::Owned(sums), intercepts: Cow::Owned(intercepts), ..state })
    }

    fn score(
        &mut self,
        task: &Task<'_>,
        heads: &mut Vec<[u32; 3]>,
        scores: &mut Vec<Vec<f32>>,
        is_first: bool,
    ) -> Result<(), TrainError> {
        let Task::Score(State { problems, .. }) = task else { return Err(TrainError::Damaged) };
        let mut before = 0;
        (self.chains)(task, &mut |answer| {
            let Answer::Scores(own, own_scores) = answer else { return Err(TrainError::Damaged) };
            if is_first {
                scores.resize(before + own.len(), Vec::new());
                heads.extend_from_slice(&own);
            }
            let rows = own_scores.chunks_exact(problems.len());
            let places = scores.get_mut(before..before + own.len());
            if rows.len() != own.len() {
                return Err(TrainError::Damaged);
            }
            places
                .ok_or(TrainError::Damaged)?
                .iter_mut()
                .zip(rows)
                .for_each(|(all, row)| all.extend(row));
            before += own.len();
            Ok(())
        })
    }
}
