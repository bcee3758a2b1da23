// SPDX-License-Identifier: GPL-3.0-or-later
//! One row of sums for each column, with the scale in front; margins of documents, and steps.

use crate::linear::documents::Member;
use crate::linear::sums::Sum;
use dbacl_numeric::elementary::narrow;
use std::ops::Range;

/// Terms that are added up in 32 bits before their sum goes into one of 64 bits.
const RUN: usize = 64;
/// Where less than one problem in so many is visited, those are visited one by one.
const SPARSE: usize = 4;

/// Sums of columns for a range of problems; see the [module's page](super).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table<S> {
    first: u32,
    problems: usize,
    /// For each column its scale and a sum for each problem.
    rows: Vec<S>,
    /// The sums of the intercept, whose scale is 1.
    intercept: Vec<S>,
    /// The input of the intercept.
    intercept_input: f32,
}

/// What steps need, to be used again and again.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    margins: Vec<f64>,
    lanes: Vec<f32>,
    /// Problem, dual variable before and after, y.
    changes: Vec<(usize, f32, f32, f64)>,
    /// The problems that are visited.
    open: Vec<usize>,
    is_positive: Vec<bool>,
}

impl<S: Sum> Table<S> {
    /// A table without documents for columns with these scales. `intercept` is the input of the
    /// intercept, 0 for none.
    pub(crate) fn new(problems: Range<u32>, scales: &[f32], intercept: f32) -> Self {
        let number = problems.len();
        let mut rows = vec![S::default(); scales.len() * (number + 1)];
        for (row, &scale) in rows.chunks_exact_mut(number + 1).zip(scales) {
            row[0] = S::of_scale(scale);
        }
        let sums = vec![S::default(); number];
        Self {
            first: problems.start,
            problems: number,
            rows,
            intercept: sums,
            intercept_input: intercept,
        }
    }

    /// The problems.
    #[allow(clippy::cast_possible_truncation)] // they came as a range of such numbers
    pub(crate) const fn problems(&self) -> Range<u32> {
        self.first..self.first + self.problems as u32
    }

    /// Gives a column another scale. Its weights change in proportion.
    pub(crate) fn set_scale(&mut self, column: u32, scale: f32) {
        self.row_mut(column)[0] = S::of_scale(scale);
    }

    /// The sums of a column, to be stored or restored; its scale is not among them.
    pub(crate) fn sums(&mut self, column: u32) -> &mut [S] {
        &mut self.row_mut(column)[1..]
    }

    /// The sums of the intercept, to be stored or restored.
    pub(crate) fn intercept(&mut self) -> &mut [S] {
        &mut self.intercept
    }

    /// Writes the weights of a column.
    pub(crate) fn weights(&self, column: u32, out: &mut [f32]) {
        let row = self.row(column);
        let scale = row[0].scale();
        for (out, sum) in out.iter_mut().zip(&row[1..]) {
            *out = scale * sum.value();
        }
    }

    /// What the intercept adds to the margin of every document, by problem.
    pub(crate) fn intercepts(&self) -> impl Iterator<Item = f64> + '_ {
        self.intercept.iter().map(|sum| f64::from(sum.value()) * f64::from(self.intercept_input))
    }

    fn row(&self, column: u32) -> &[S] {
        let width = self.problems + 1;
        &self.rows[column as usize * width..][..width]
    }

    fn row_mut(&mut self, column: u32) -> &mut [S] {
        let width = self.problems + 1;
        &mut self.rows[column as usize * width..][..width]
    }

    /// The margins of a document, by problem.
    pub(crate) fn margins(&self, member: &Member<'_>, out: &mut [f64]) {
        for (out, intercept) in out.iter_mut().zip(self.intercepts()) {
            *out = intercept;
        }
        for (columns, input) in member.parts() {
            for run in columns.chunks(RUN) {
                let mut rest = &mut out[..self.problems];
                while !rest.is_empty() {
                    let own = rest.len();
                    let width = match own {
                        16.. => self.add_lanes::<16>(run, input, rest),
                        8.. => self.add_lanes::<8>(run, input, rest),
                        4.. => self.add_lanes::<4>(run, input, rest),
                        2.. => self.add_lanes::<2>(run, input, rest),
                        _ => self.add_lanes::<1>(run, input, rest),
                    };
                    rest = &mut rest[width..];
                }
            }
        }
    }

    /// Adds the sums over these columns to the first N numbers of `out`, and returns N. The numbers
    /// of `out` are the margins of the last problems. N sums are taken at once, in registers.
    fn add_lanes<const N: usize>(&self, run: &[u32], input: f32, out: &mut [f64]) -> usize {
        let first = 1 + self.problems - out.len();
        let mut lanes = [0.0f32; N];
        for &column in run {
            let row = self.row(column);
            let scale = row[0].scale();
            for (lane, sum) in lanes.iter_mut().zip(&row[first..][..N]) {
                *lane += scale * sum.value();
            }
        }
        for (out, lane) in out.iter_mut().zip(lanes) {
            *out += f64::from(input) * f64::from(lane);
        }
        N
    }

    /// The margins of a few problems of a document.
    fn few_margins(&self, member: &Member<'_>, open: &[usize], out: &mut [f64], lanes: &mut [f32]) {
        let lanes = &mut lanes[..open.len()];
        for &problem in open {
            let intercept = self.intercept[problem].value();
            out[problem] = f64::from(intercept) * f64::from(self.intercept_input);
        }
        for (columns, input) in member.parts() {
            for run in columns.chunks(RUN) {
                lanes.fill(0.0);
                for &column in run {
                    let row = self.row(column);
                    let scale = row[0].scale();
                    for (lane, &problem) in lanes.iter_mut().zip(open) {
                        *lane += scale * row[1 + problem].value();
                    }
                }
                for (&problem, &lane) in open.iter().zip(lanes.iter()) {
                    out[problem] += f64::from(input) * f64::from(lane);
                }
            }
        }
    }

    /// The scales of all columns, which lie closer together in a list of their own.
    pub(crate) fn scales(&self) -> Vec<f32> {
        self.rows.chunks_exact(self.problems + 1).map(|row| row[0].scale()).collect()
    }

    /// The squared length of a document: each square times the column's scale.
    pub(crate) fn square(&self, member: &Member<'_>, scale: impl Fn(u32) -> f32) -> f64 {
        let intercept = f64::from(self.intercept_input);
        let mut square = intercept * intercept;
        for (columns, input) in member.parts() {
            let scales = columns.iter().map(|&column| f64::from(scale(column)));
            square += f64::from(input) * f64::from(input) * scales.sum::<f64>();
        }
        square
    }

    /// One step for one document: each of its dual variables, one a problem, becomes the one that
    /// is best while all other documents keep theirs,
    ///
    /// ```text
    /// a = max(0, a - (y m - 1 + a/2C) / (Q + 1/2C))        Q: squared length
    /// ```
    ///
    /// A document with the dual variables 0 is learned so; one that has been learned is learned
    /// once more. The cost of `member` is C.
    pub(crate) fn visit(&mut self, member: &Member<'_>, duals: &mut [f32]) {
        let square = self.square(member, |column| self.row(column)[0].scale());
        let cost = f64::from(member.cost);
        self.step(member, square, cost, duals, true, &mut Desk::default());
    }

    /// See [`Self::visit`]. Unless `every` is set, problems whose dual variable is 0 are left out.
    /// Returns whether a dual variable is above 0 afterwards.
    pub(crate) fn step(
        &mut self,
        member: &Member<'_>,
        square: f64,
        cost: f64,
        duals: &mut [f32],
        every: bool,
        desk: &mut Desk,
    ) -> bool {
        let Desk { margins, lanes, changes, open, is_positive } = desk;
        margins.resize(self.problems, 0.0);
        lanes.resize(self.problems, 0.0);
        open.clear();
        open.extend((0..self.problems).filter(|&it| every || duals[it] > 0.0));
        if open.len() * SPARSE < self.problems {
            self.few_margins(member, open, margins, lanes);
        } else {
            self.margins(member, margins);
        }
        is_positive.clear();
        is_positive.resize(self.problems, false);
        for &problem in member.positive {
            if let Some(own) = is_positive.get_mut(problem.wrapping_sub(self.first) as usize) {
                *own = true;
            }
        }
        changes.clear();
        let softness = 1.0 / (2.0 * cost);
        let mut is_active = false;
        for &problem in open.iter() {
            let y = if is_positive[problem] { 1.0 } else { -1.0 };
            let old = duals[problem];
            let new = step(old, y * margins[problem], square, softness);
            is_active |= new > 0.0;
            if new != old {
                duals[problem] = new;
                changes.push((problem, old, new, y));
            }
        }
        self.replace(member, changes);
        is_active
    }

    /// Takes what dual variables added to the sums away, and adds what new ones add.
    fn replace(&mut self, member: &Member<'_>, changes: &[(usize, f32, f32, f64)]) {
        if changes.is_empty() {
            return;
        }
        let part = |dual: f32, y: f64, input: f32| S::of(f64::from(dual) * y * f64::from(input));
        let width = self.problems + 1;
        for (columns, input) in member.parts() {
            if let &[(problem, old, new, y)] = changes {
                let (added, taken) = (part(new, y, input), part(old, y, input));
                let step = added.minus(taken);
                for &column in columns {
                    let sum = &mut self.rows[column as usize * width + 1 + problem];
                    *sum = sum.plus(step);
                }
                continue;
            }
            let step = |&(_, old, new, y): &(usize, f32, f32, f64)| {
                part(new, y, input).minus(part(old, y, input))
            };
            let steps: Vec<S> = changes.iter().map(step).collect();
            let is_every = steps.len() == self.problems;
            for &column in columns {
                let row = &mut self.rows[column as usize * width + 1..][..self.problems];
                if is_every {
                    for (sum, step) in row.iter_mut().zip(&steps) {
                        *sum = sum.plus(*step);
                    }
                } else {
                    for (&(problem, ..), step) in changes.iter().zip(&steps) {
                        row[problem] = row[problem].plus(*step);
                    }
                }
            }
        }
        for &(problem, old, new, y) in changes {
            let input = self.intercept_input;
            let sum = &mut self.intercept[problem];
            *sum = sum.plus(part(new, y, input).minus(part(old, y, input)));
        }
    }
}

/// One step of a dual variable: what is best for it while all others stay, where the document has
/// this margin, as seen from its own side, and squared length, and `softness` is 1/2C.
///
/// ```text
/// a = max(0, a - (y m - 1 + a/2C) / (Q + 1/2C))
/// ```
#[inline]
pub(crate) fn step(dual: f32, own_margin: f64, square: f64, softness: f64) -> f32 {
    let old = f64::from(dual);
    let gradient = own_margin - 1.0 + old * softness;
    narrow((old - gradient / (square + softness)).max(0.0))
}
