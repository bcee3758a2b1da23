// SPDX-License-Identifier: GPL-3.0-or-later
//! What a chain does with its blocks: counts features, fits, scores what is held out.
//!
//! A round is one step of the communication-efficient dual coordinate ascent of Ma and others
//! (2015): with K chains, each solves the problem in which its own changes count K times, and a
//! K-th of each chain's change is added. In the solver that means scales times K, and bias inputs
//! times the root of K.

use super::coding::{Reader, Writer};
use super::error::BlockError;
use super::frame::{Block, Frame};
use crate::joint::abreast::{Course, Fits, WIDEST};
use crate::joint::solver::Duals;
use crate::joint::stop::Stop;
use crate::numeric::elementary::narrow;
use crate::parallel;
use std::ops::Range;
use std::sync::Mutex;

/// The fewest problems of a processor that are solved side by side.
const FEWEST: usize = 8;
/// Passes of a round over each block.
const PASSES: u32 = 2;

/// The blocks of a chain, with the dual variables of a round: by problem, then document.
pub trait Share {
    /// How many blocks there are.
    fn blocks(&self) -> usize;

    /// The bytes of a block.
    ///
    /// # Errors
    /// Those of where it is kept.
    fn block(&mut self, at: usize) -> Result<Vec<u8>, BlockError>;

    /// The dual variables of a block, `length` numbers; 0 before they have been set.
    ///
    /// # Errors
    /// Those of where they are kept.
    fn duals(&mut self, at: usize, length: usize) -> Result<Vec<Duals>, BlockError>;

    /// Keeps the dual variables of a block.
    ///
    /// # Errors
    /// Those of where they are kept.
    fn set_duals(&mut self, at: usize, duals: &[Duals]) -> Result<(), BlockError>;
}

/// What all chains are to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Task {
    /// Count the features of the documents of these labels.
    Count(Range<usize>),
    /// Fit the blocks in turn.
    Round(Round),
    /// Score the documents that are held out.
    Score {
        /// For each label, the values of features; see `blend::Mixing`.
        values: Vec<Vec<f32>>,
        /// For each label, what is added.
        offsets: Vec<f64>,
    },
}

/// A round of a fit of some problems.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// The first problem; each is one label against the rest.
    pub first: usize,
    /// Whether nothing was fitted before.
    pub is_first: bool,
    /// Whether documents that are held out take part.
    pub is_whole: bool,
    /// The cost C.
    pub cost: f64,
    /// Scales of features by problem.
    pub scales: Vec<Vec<f32>>,
    /// The common weights by problem.
    pub weights: Vec<Vec<f32>>,
    /// The common biases by problem.
    pub biases: Vec<f64>,
}

/// Occurrences of features in the documents of a label.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelCounts {
    /// Documents.
    pub documents: u64,
    /// Those of them that are held out.
    pub held_out: u64,
    /// Occurrences of features, of those that take no part as well.
    pub occurrences: u64,
    /// Those of them in documents that are held out.
    pub occurrences_held_out: u64,
    /// By feature: documents that contain it.
    pub with: Vec<u32>,
    /// Those of them that are held out.
    pub with_held_out: Vec<u32>,
    /// Its occurrences.
    pub counts: Vec<u32>,
    /// Those of them in documents that are held out.
    pub counts_held_out: Vec<u32>,
}

/// Where a chain has come to with a problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The weights by feature.
    pub weights: Vec<f32>,
    /// The bias.
    pub bias: f64,
}

/// What a chain answers.
pub enum Answer {
    /// To [`Task::Count`], by label.
    Counts(Vec<LabelCounts>),
    /// To [`Task::Round`], by problem.
    Fits(Vec<Fitted>),
    /// To [`Task::Score`]: by document, then label; and the labels of the documents. Scores of a
    /// document without features are NaN.
    Scores(Vec<f64>, Vec<u32>),
}

/// Does a task with the blocks of one of `frame.chains()` chains.
///
/// # Errors
/// Damaged blocks, and those of `share`.
pub fn work(frame: &Frame, task: &Task, share: &mut dyn Share) -> Result<Answer, BlockError> {
    match task {
        Task::Count(labels) => count(frame, labels.clone(), share).map(Answer::Counts),
        Task::Round(round) => fit(frame, round, share).map(Answer::Fits),
        Task::Score { values, offsets } => {
            let (scores, labels) = score(frame, values, offsets, share)?;
            Ok(Answer::Scores(scores, labels))
        }
    }
}

fn count(
    frame: &Frame,
    labels: Range<usize>,
    share: &mut dyn Share,
) -> Result<Vec<LabelCounts>, BlockError> {
    let empty = || vec![0u32; frame.width()];
    let none = |_| LabelCounts {
        with: empty(),
        with_held_out: empty(),
        counts: empty(),
        counts_held_out: empty(),
        ..LabelCounts::default()
    };
    let mut found: Vec<LabelCounts> = labels.clone().map(none).collect();
    for at in 0..share.blocks() {
        let Block { data, held_out, .. } = Block::read(frame, &share.block(at)?)?;
        for (document, &is_held_out) in held_out.iter().enumerate() {
            let label = (data.labels[document] as usize).checked_sub(labels.start);
            let Some(own) = label.and_then(|label| found.get_mut(label)) else { continue };
            let occurrences = u64::from(data.occurrences[document]);
            own.documents += 1;
            own.occurrences += occurrences;
            own.held_out += u64::from(is_held_out);
            own.occurrences_held_out += if is_held_out { occurrences } else { 0 };
            for cell in data.row(document) {
                let feature = cell.feature as usize;
                let add = |number: &mut u32, more: u32| *number = number.saturating_add(more);
                add(&mut own.with[feature], 1);
                add(&mut own.counts[feature], cell.count);
                if is_held_out {
                    add(&mut own.with_held_out[feature], 1);
                    add(&mut own.counts_held_out[feature], cell.count);
                }
            }
        }
    }
    Ok(found)
}

#[allow(clippy::cast_precision_loss)] // a number of chains
fn fit(frame: &Frame, round: &Round, share: &mut dyn Share) -> Result<Vec<Fitted>, BlockError> {
    let chains = frame.chains() as f64;
    let widening = chains.sqrt();
    let problems = round.weights.len();
    let groups = groups(problems, parallel::processors());
    let start = |group: &Range<usize>| {
        let first = if frame.labels == 2 { 1 } else { round.first + group.start };
        let biases: Vec<f64> =
            round.biases[group.clone()].iter().map(|bias| bias / widening).collect();
        let weights = &round.weights[group.clone()];
        let scales = (&round.scales[group.clone()], narrow(chains));
        Mutex::new(Fits::resumed(first, (weights, &biases), scales))
    };
    let fits: Vec<Mutex<Fits>> = groups.iter().map(start).collect();
    for at in 0..share.blocks() {
        let Block { data, held_out, .. } = Block::read(frame, &share.block(at)?)?;
        let part: Vec<bool> = held_out.iter().map(|&it| round.is_whole || !it).collect();
        let length = data.len() * problems;
        let old = if round.is_first { vec![[0.0; 2]; length] } else { share.duals(at, length)? };
        let new = parallel::all(groups.len(), |at| {
            let own = groups[at].start * data.len()..groups[at].end * data.len();
            let mut duals = old[own].to_vec();
            let (data, part, cost) = (&data, &part, round.cost);
            let stop = Stop::NEVER;
            let course = Course { data, part, cost, passes: PASSES, widening, stop };
            if let Ok(mut fits) = fits[at].lock() {
                // Nobody stops it.
                let _ = fits.go_over(&course, &mut duals);
            }
            duals
        });
        share.set_duals(at, &new.concat())?;
    }
    let fits = fits.into_iter().filter_map(|fits| fits.into_inner().ok());
    let each = fits.flat_map(Fits::into_weights);
    Ok(each.map(|(weights, bias)| Fitted { weights, bias: bias * widening }).collect())
}

/// Problems that are solved side by side: a power of two each time, so that no lane is idle, and
/// few enough to keep all processors busy. Side by side, few problems take longer than alone.
fn groups(problems: usize, processors: usize) -> Vec<Range<usize>> {
    let each = problems.div_ceil(processors.max(1));
    let widest = if each < FEWEST { 1 } else { (1 << each.ilog2()).min(WIDEST) };
    let mut groups = Vec::new();
    let mut start = 0;
    while start < problems {
        let rest = problems - start;
        let width = match rest {
            _ if rest >= widest => widest,
            1..4 => 1,
            _ => 1 << rest.ilog2(),
        };
        groups.push(start..start + width);
        start += width;
    }
    groups
}

/// Scores, nats a unit of complexity.
fn score(
    frame: &Frame,
    values: &[Vec<f32>],
    offsets: &[f64],
    share: &mut dyn Share,
) -> Result<(Vec<f64>, Vec<u32>), BlockError> {
    let (mut scores, mut labels) = (Vec::new(), Vec::new());
    for at in 0..share.blocks() {
        let Block { data, judged, .. } = Block::read(frame, &share.block(at)?)?;
        for (document, label) in judged {
            labels.push(label);
            let Some(document) = document else {
                scores.resize(scores.len() + values.len(), f64::NAN);
                continue;
            };
            let complexity = data.complexity(data.scoring, document);
            scores.extend(values.iter().zip(offsets).map(|(values, offset)| {
                let cells = data.row(document).iter();
                let sum: f64 = cells
                    .map(|cell| f64::from(values[cell.feature as usize]) * f64::from(cell.count))
                    .sum();
                sum / complexity + offset
            }));
        }
    }
    Ok((scores, labels))
}

impl Task {
    /// The task as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        match self {
            Self::Count(labels) => {
                out.number(0);
                out.number(labels.start as u64);
                out.number(labels.end as u64);
            }
            Self::Round(round) => {
                out.number(1);
                out.number(round.first as u64);
                out.number(u64::from(round.is_first));
                out.number(u64::from(round.is_whole));
                out.real(round.cost);
                out.number(round.weights.len() as u64);
                out.lists(&round.scales);
                out.lists(&round.weights);
                out.reals(&round.biases);
            }
            Self::Score { values, offsets } => {
                out.number(2);
                out.number(values.len() as u64);
                out.lists(values);
                out.reals(offsets);
            }
        }
        out.0
    }

    /// The task of these bytes, which fits `frame`.
    ///
    /// # Errors
    /// [`BlockError::Damaged`].
    pub fn from_bytes(frame: &Frame, bytes: &[u8]) -> Result<Self, BlockError> {
        let mut bytes = Reader::new(bytes, "a task");
        let lists = |bytes: &mut Reader<'_>, number: usize| {
            let lists = (0..number).map(|_| bytes.floats());
            let lists = lists.collect::<Result<Vec<Vec<f32>>, BlockError>>()?;
            let are_whole = lists.iter().all(|list| list.len() == frame.width());
            if are_whole { Ok(lists) } else { Err(bytes.damaged()) }
        };
        let task = match bytes.number()? {
            0 => Self::Count(bytes.size()?..bytes.size()?),
            1 => {
                let (first, is_first) = (bytes.size()?, bytes.number()? == 1);
                let (is_whole, cost) = (bytes.number()? == 1, bytes.real()?);
                let problems = bytes.size()?;
                let (scales, weights) =
                    (lists(&mut bytes, problems)?, lists(&mut bytes, problems)?);
                let biases = bytes.reals()?;
                Self::Round(Round { first, is_first, is_whole, cost, scales, weights, biases })
            }
            2 => {
                let labels = bytes.size()?;
                Self::Score { values: lists(&mut bytes, labels)?, offsets: bytes.reals()? }
            }
            _ => return Err(bytes.damaged()),
        };
        let is_whole = match &task {
            Self::Count(labels) => labels.start <= labels.end && labels.end <= frame.labels,
            Self::Round(round) => round.biases.len() == round.weights.len(),
            Self::Score { values, offsets } => values.len() == offsets.len(),
        };
        if is_whole { Ok(task) } else { Err(bytes.damaged()) }
    }
}

impl Answer {
    /// The answer as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        match self {
            Self::Counts(labels) => {
                out.number(0);
                out.number(labels.len() as u64);
                for own in labels {
                    let LabelCounts { documents, held_out, occurrences, .. } = *own;
                    let numbers = [documents, held_out, occurrences, own.occurrences_held_out];
                    out.numbers(&numbers);
                    for list in [&own.with, &own.with_held_out, &own.counts, &own.counts_held_out] {
                        out.integers(list);
                    }
                }
            }
            Self::Fits(fits) => {
                out.number(1);
                out.number(fits.len() as u64);
                for fit in fits {
                    out.floats(&fit.weights);
                    out.real(fit.bias);
                }
            }
            Self::Scores(scores, labels) => {
                out.number(2);
                out.reals(scores);
                out.integers(labels);
            }
        }
        out.0
    }

    /// The answer of these bytes.
    ///
    /// # Errors
    /// [`BlockError::Damaged`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BlockError> {
        let mut bytes = Reader::new(bytes, "an answer");
        match bytes.number()? {
            0 => {
                let labels = (0..bytes.size()?).map(|_| {
                    Ok(LabelCounts {
                        documents: bytes.number()?,
                        held_out: bytes.number()?,
                        occurrences: bytes.number()?,
                        occurrences_held_out: bytes.number()?,
                        with: bytes.integers()?,
                        with_held_out: bytes.integers()?,
                        counts: bytes.integers()?,
                        counts_held_out: bytes.integers()?,
                    })
                });
                labels.collect::<Result<_, BlockError>>().map(Self::Counts)
            }
            1 => {
                let fits = (0..bytes.size()?)
                    .map(|_| Ok(Fitted { weights: bytes.floats()?, bias: bytes.real()? }));
                fits.collect::<Result<_, BlockError>>().map(Self::Fits)
            }
            2 => Ok(Self::Scores(bytes.reals()?, bytes.integers()?)),
            _ => Err(bytes.damaged()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_divided_into_powers_of_two() {
        let widths = |problems, processors| -> Vec<usize> {
            groups(problems, processors).iter().map(ExactSizeIterator::len).collect()
        };
        assert_eq!(widths(75, 2), [16, 16, 16, 16, 8, 1, 1, 1]);
        assert_eq!(widths(20, 2), [8, 8, 4]);
        assert_eq!(widths(4, 2), [1; 4]);
        assert_eq!(widths(9, 0), [8, 1]);
        assert_eq!(widths(0, 2), [0; 0]);
        assert_eq!(groups(13, 1), [0..8, 8..12, 12..13]);
    }
}
