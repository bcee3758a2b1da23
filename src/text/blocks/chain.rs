// SPDX-License-Identifier: GPL-3.0-or-later
//! What a chain does with its blocks: counts features, fits, scores what is held out.
//!
//! A round is one step of the communication-efficient dual coordinate ascent of Ma and others
//! (2015): with K chains, each solves the problem in which its own changes count K times, so that
//! all changes can be added up. In the fit that means scales times K, and inputs of the intercept
//! times the root of K.

use super::frame::{Frame, Numbered};
use crate::linear::{Table, Training, resume};
use crate::text::bytes::{number, put, words};
use crate::text::learn::INTERCEPT;
use crate::text::threads;
use crate::text::train::TrainError;
use dbacl_numeric::elementary::{narrow, real};
use dbacl_numeric::varint;
use std::borrow::Cow;
use std::ops::Range;

/// Passes of a round over each block.
const PASSES: u32 = 2;
/// Where a fit of some problems has come to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct State<'a> {
    pub problems: Range<usize>,
    /// The scales of the features.
    pub scales: Cow<'a, [f32]>,
    /// The sums: by feature, then problem.
    pub sums: Cow<'a, [f32]>,
    /// The sums of the intercepts.
    pub intercepts: Cow<'a, [f32]>,
}

/// What all chains are to do.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Task<'a> {
    /// Count the documents that have each feature, of each of these labels or of all together.
    Count(Range<usize>, bool),
    /// Fit the blocks in turn.
    Round {
        /// Where to go on from.
        state: State<'a>,
        /// Whether nothing was fitted before.
        is_first: bool,
        /// Whether documents that are held out take part.
        is_whole: bool,
        /// What a document on the wrong side costs, by label.
        costs: Cow<'a, [f32]>,
    },
    /// Score the documents that are held out.
    Score(State<'a>),
}

/// What a chain answers.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    /// To [`Task::Count`]. By label: documents that are learned by the first fit, and that are held
    /// out. Then by label or for all, and by feature: those of them that have it.
    Counts(Vec<[u32; 2]>, Vec<[u32; 2]>),
    /// To [`Task::Round`]: by how much the sums and those of the intercepts grow.
    Changes(Vec<f32>, Vec<f32>),
    /// To [`Task::Score`]: of each document words, label, known features; and its scores.
    Scores(Vec<[u32; 3]>, Vec<f32>),
}

/// A task that is being done: the blocks of a chain come one after the other, in their order.
pub(super) struct Work {
    /// Of a [`Task::Round`]: the problems of each thread.
    ranges: Vec<Range<usize>>,
    /// Their tables, or the one of a [`Task::Score`].
    tables: Vec<Table<f32>>,
    answer: Answer,
}

impl Work {
    /// The work on a task before the first block.
    pub(super) fn new(frame: &Frame, task: &Task<'_>) -> Self {
        let (ranges, tables, answer) = match task {
            Task::Count(labels, is_together) => {
                let rows = if *is_together { 1 } else { labels.len() };
                let with = vec![[0u32; 2]; frame.features.len() * rows];
                (Vec::new(), Vec::new(), Answer::Counts(vec![[0u32; 2]; labels.len()], with))
            }
            Task::Round { state, .. } => {
                let (chains, ranges) =
                    (real(frame.chains()), threads::ranges(state.problems.len()));
                let tables = ranges.iter().map(|own| table(state, own, chains)).collect();
                (ranges, tables, Answer::Changes(Vec::new(), Vec::new()))
            }
            Task::Score(state) => {
                let table = table(state, &(0..state.problems.len()), 1.0);
                (Vec::new(), vec![table], Answer::Scores(Vec::new(), Vec::new()))
            }
        };
        Self { ranges, tables, answer }
    }

    /// Takes the next block. Of a round, returns the bytes of its new dual variables; `old` has
    /// those that the round before has left, as many as it is asked for.
    pub(super) fn add(
        &mut self,
        frame: &Frame,
        task: &Task<'_>,
        block: &[u8],
        old: &mut dyn FnMut(usize) -> Result<Vec<u8>, TrainError>,
    ) -> Result<Option<Vec<u8>>, TrainError> {
        let read = |costs| Numbered::read(frame, costs, block).ok_or(TrainError::Damaged);
        match (task, &mut self.answer) {
            (Task::Count(labels, is_together), Answer::Counts(documents, with)) => {
                count(frame, (labels, *is_together), &read(&[])?, (documents, with));
            }
            (Task::Score(state), Answer::Scores(heads, scores)) => {
                score(state, &read(&[])?, (&self.tables[0], heads, scores));
            }
            (Task::Round { state, is_first, is_whole, costs }, _) => {
                let data = read(costs)?;
                let length = data.documents.len() * state.problems.len();
                let mut duals = vec![0.0; length];
                if !is_first {
                    let old = old(length * 4)?;
                    let old = old.as_chunks().0.iter().map(|&dual| f32::from_le_bytes(dual));
                    duals.iter_mut().zip(old).for_each(|(dual, old)| *dual = old);
                }
                let part = data.part(*is_whole);
                fit(&data, &part, (&self.ranges, &mut self.tables), &mut duals);
                return Ok(Some(duals.iter().flat_map(|dual| dual.to_le_bytes()).collect()));
            }
            _ => return Err(TrainError::Damaged),
        }
        Ok(None)
    }

    /// The answer, after the last block.
    pub(super) fn answer(self, frame: &Frame, task: &Task<'_>) -> Answer {
        match task {
            Task::Round { state, .. } => changes(frame, state, &self.ranges, self.tables),
            _ => self.answer,
        }
    }
}

fn count(
    frame: &Frame,
    (labels, is_together): (&Range<usize>, bool),
    data: &Numbered,
    (documents, with): (&mut [[u32; 2]], &mut [[u32; 2]]),
) {
    let width = frame.features.len();
    let rows = data.kinds.iter().zip(&data.labels).zip(&data.has_features);
    for (at, ((&kind, &label), &has_features)) in (0u32..).zip(rows) {
        let is_original = !kind.is_copy && kind.words == 0 && has_features;
        let own = (label as usize).checked_sub(labels.start).filter(|&at| at < labels.len());
        let Some(own) = own.filter(|_| is_original) else { continue };
        let side = usize::from(kind.is_held_out);
        documents[own][side] += 1;
        let first = if is_together { 0 } else { own * width };
        for &column in data.documents.member(at).columns {
            with[first + column as usize][side] += 1;
        }
    }
}

/// The table of some of the problems of a state. Scales are multiplied by `chains`, and sums
/// divided by it, so that weights are the same.
fn table(state: &State<'_>, own: &Range<usize>, chains: f64) -> Table<f32> {
    let (width, first) = (state.problems.len(), state.problems.start);
    let scales: Vec<f32> =
        state.scales.iter().map(|&scale| narrow(f64::from(scale) * chains)).collect();
    let small = |at: usize| u32::try_from(first + at).unwrap_or(u32::MAX);
    let intercept = narrow(f64::from(INTERCEPT) * chains.sqrt());
    let mut table = Table::new(small(own.start)..small(own.end), &scales, intercept);
    let part = |sum: &f32, by: f64| narrow(f64::from(*sum) / by);
    for (column, row) in (0u32..).zip(state.sums.chunks_exact(width.max(1))) {
        for (sum, start) in table.sums(column).iter_mut().zip(&row[own.clone()]) {
            *sum = part(start, chains);
        }
    }
    for (sum, start) in table.intercept().iter_mut().zip(&state.intercepts[own.clone()]) {
        *sum = part(start, chains.sqrt());
    }
    table
}

/// Fits the documents of a block that are in `part`, the problems of each range by a thread.
fn fit(
    data: &Numbered,
    part: &[u32],
    (ranges, tables): (&[Range<usize>], &mut [Table<f32>]),
    duals: &mut [f32],
) {
    let width = ranges.last().map_or(1, |own| own.end);
    // Duals stand by document; each thread has those of its problems.
    let go = |(table, own): (&mut Table<f32>, &Range<usize>)| {
        let mut mine: Vec<f32> =
            duals.chunks_exact(width).flat_map(|row| &row[own.clone()]).copied().collect();
        let training = Training { part, cost: 1.0, passes: PASSES };
        resume(table, &data.documents, &training, &mut mine, &mut |_| true);
        mine
    };
    let found = threads::each(tables.iter_mut().zip(ranges), go);
    for (own, found) in ranges.iter().zip(found) {
        let rows = duals.chunks_exact_mut(width).zip(found.chunks_exact(own.len()));
        rows.for_each(|(row, found)| row[own.clone()].copy_from_slice(found));
    }
}

/// By how much the sums of a round have grown.
fn changes(
    frame: &Frame,
    state: &State<'_>,
    ranges: &[Range<usize>],
    mut tables: Vec<Table<f32>>,
) -> Answer {
    let (chains, width) = (real(frame.chains()), state.problems.len());
    let mut sums = vec![0.0f32; state.sums.len()];
    let mut intercepts = vec![0.0f32; width];
    let change = |end: f32, start: f32, by: f64| narrow(f64::from(end) - f64::from(start) / by);
    for (table, own) in tables.iter_mut().zip(ranges) {
        let rows = sums.chunks_exact_mut(width).zip(state.sums.chunks_exact(width));
        for (column, (out, start)) in (0u32..).zip(rows) {
            let each = out[own.clone()].iter_mut().zip(table.sums(column)).zip(&start[own.clone()]);
            each.for_each(|((out, end), start)| *out = change(*end, *start, chains));
        }
        let root = chains.sqrt();
        let starts = &state.intercepts[own.clone()];
        let each = intercepts[own.clone()].iter_mut().zip(table.intercept()).zip(starts);
        each.for_each(|((out, end), start)| {
            *out = narrow(f64::from(change(*end, *start, root)) / root);
        });
    }
    Answer::Changes(sums, intercepts)
}

fn score(
    state: &State<'_>,
    data: &Numbered,
    (table, heads, scores): (&Table<f32>, &mut Vec<[u32; 3]>, &mut Vec<f32>),
) {
    let mut margins = vec![0.0; state.problems.len()];
    for (at, (&kind, &label)) in (0u32..).zip(data.kinds.iter().zip(&data.labels)) {
        if kind.is_copy || !kind.is_held_out {
            continue;
        }
        let words = u32::try_from(kind.words).unwrap_or(u32::MAX);
        let member = data.documents.member(at);
        let known = member.columns.iter().filter(|&&it| state.scales[it as usize] > 0.0);
        heads.push([words, label, u32::try_from(known.count()).unwrap_or(u32::MAX)]);
        table.margins(&member, &mut margins);
        scores.extend(margins.iter().map(|&margin| narrow(margin)));
    }
}

fn put_words<const N: usize>(out: &mut Vec<u8>, rows: &[[u32; N]]) {
    varint::append(out, (rows.len() * N) as u64);
    out.extend(rows.as_flattened().iter().flat_map(|number| number.to_le_bytes()));
}

fn put_floats(out: &mut Vec<u8>, numbers: &[f32]) {
    varint::append(out, numbers.len() as u64);
    out.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

fn rows<const N: usize>(rest: &mut &[u8]) -> Option<Vec<[u32; N]>> {
    let length = number(rest)?;
    Some(words(rest, length)?.as_chunks().0.to_vec())
}

fn floats(rest: &mut &[u8]) -> Option<Vec<f32>> {
    Some(rows(rest)?.into_iter().map(|[word]| f32::from_bits(word)).collect())
}

impl State<'_> {
    fn put(&self, out: &mut Vec<u8>) {
        put(out, [self.problems.start, self.problems.end].map(|number| number as u64));
        for numbers in [&self.scales, &self.sums, &self.intercepts] {
            put_floats(out, numbers);
        }
    }

    fn take(frame: &Frame, rest: &mut &[u8]) -> Option<State<'static>> {
        let problems = number(rest)?..number(rest)?;
        let [scales, sums, intercepts] =
            [floats(rest)?, floats(rest)?, floats(rest)?].map(Cow::Owned);
        let state = State { problems, scales, sums, intercepts };
        let (width, features) = (state.problems.len(), frame.features.len());
        let fits = state.problems.end <= frame.problems()
            && state.scales.len() == features
            && state.intercepts.len() == width
            && state.sums.len() == features * width;
        (fits && width > 0).then_some(state)
    }
}

impl Task<'_> {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::Count(labels, is_together) => {
                let numbers = [0, labels.start as u64, labels.end as u64, u64::from(*is_together)];
                put(&mut out, numbers);
            }
            Self::Round { state, is_first, is_whole, costs } => {
                out.extend([1, u8::from(*is_first), u8::from(*is_whole)]);
                put_floats(&mut out, costs);
                state.put(&mut out);
            }
            Self::Score(state) => {
                out.push(2);
                state.put(&mut out);
            }
        }
        out
    }

    /// The task of these bytes, which fits `frame`.
    pub(super) fn from_bytes(frame: &Frame, mut bytes: &[u8]) -> Option<Task<'static>> {
        let rest = &mut bytes;
        match number(rest)? {
            0u8 => {
                let labels: Range<usize> = number(rest)?..number(rest)?;
                let fits = labels.start <= labels.end && labels.end <= frame.labels;
                let is_together = number::<u64>(rest)? == 1;
                fits.then_some(Task::Count(labels, is_together))
            }
            1 => {
                let [is_first, is_whole] =
                    [number::<u64>(rest)?, number(rest)?].map(|flag| flag == 1);
                let costs = Cow::Owned(floats(rest)?);
                let state = State::take(frame, rest)?;
                Some(Task::Round { state, is_first, is_whole, costs })
            }
            2 => Some(Task::Score(State::take(frame, rest)?)),
            _ => None,
        }
    }
}

impl Answer {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::Counts(documents, with) => {
                out.push(0);
                put_words(&mut out, documents);
                put_words(&mut out, with);
            }
            Self::Changes(sums, intercepts) => {
                out.push(1);
                put_floats(&mut out, sums);
                put_floats(&mut out, intercepts);
            }
            Self::Scores(heads, scores) => {
                out.push(2);
                put_words(&mut out, heads);
                put_floats(&mut out, scores);
            }
        }
        out
    }

    pub(super) fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let rest = &mut bytes;
        match number(rest)? {
            0u8 => Some(Self::Counts(rows(rest)?, rows(rest)?)),
            1 => Some(Self::Changes(floats(rest)?, floats(rest)?)),
            2 => Some(Self::Scores(rows(rest)?, floats(rest)?)),
            _ => None,
        }
    }
}
