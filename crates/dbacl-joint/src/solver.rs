// SPDX-License-Identifier: GPL-3.0-or-later
//! The joint fit of two sides: squared hinge loss, ridge penalty scaled by feature, solved by dual
//! coordinate descent (Hsieh et al. 2008; spec refit 3.2 and 3.3).
//!
//! ```text
//! minimise  1/2 (sum_t w_t²/f_t + v²) + C sum over documents and views max(0, 1 - y (w·x + v q))²
//! ```
//!
//! The same documents give the same weights to the bit, in whatever order they come.

use super::dataset::{Cell, Dataset, Row, Views};
use super::scoring::Scoring;
use super::stop::{Stop, Stopped};
use dbacl_numeric::elementary::narrow;
use dbacl_numeric::random::SplitMix64;

/// Passes over the documents.
pub const PASSES: u32 = 10;

/// A weight and its feature's scale, side by side because they are needed together.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Weight {
    /// The weight.
    pub value: f32,
    /// The feature's scale, 0 for features that take no part.
    pub scale: f32,
}

/// The dual variables of a document: presence view, counts view.
pub type Duals = [f32; 2];

/// A fitted side.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The weights by feature.
    pub weights: Vec<Weight>,
    /// The weight v of the bias input.
    pub bias: f64,
    /// Dual variables by document; 0 where a document lies beyond the margin.
    pub duals: Vec<Duals>,
}

impl Fit {
    /// Nothing learned yet.
    pub fn zero(views: &Views, documents: usize) -> Self {
        let weights = views.scales.iter().map(|&scale| Weight { value: 0.0, scale }).collect();
        Self { weights, bias: 0.0, duals: vec![[0.0; 2]; documents] }
    }

    /// The margin of a document in the counts view.
    pub fn counts_margin(&self, cells: &[Cell], row: &Row) -> f64 {
        sums(&self.weights, cells).1 * row.counts + self.bias * row.counts_bias
    }

    /// The document's score by this fit, as files are scored (see [`Scoring`]).
    pub fn margin(&self, data: &Dataset, document: usize, row: &Row) -> f64 {
        let cells = data.row(document);
        if data.scoring == Scoring::Counts {
            return self.counts_margin(cells, row);
        }
        let distinct = data.distinct[document];
        let mean = sums(&self.weights, cells).0 * data.length / f64::from(distinct)
            + self.bias * row.counts_bias;
        mean * data.scoring.length_factor(distinct)
    }

    /// One step for one document on side `y` (1 or -1): both views, one after the other.
    pub fn step(&mut self, document: usize, cells: &[Cell], row: &Row, y: f64, cost: f64) {
        let softness = 1.0 / (2.0 * cost);
        let (ones, counts) = sums(&self.weights, cells);
        let [old_presence, old_counts] = self.duals[document];
        let advance = |old: f32, margin: f64, square: f64| -> (f32, f64) {
            let old_wide = f64::from(old);
            let gradient = y * margin - 1.0 + old_wide * softness;
            let new = narrow((old_wide - gradient / (square + softness)).max(0.0));
            (new, (f64::from(new) - old_wide) * y)
        };
        let margin = ones * row.presence + self.bias * row.presence_bias;
        let (presence, s_presence) = advance(old_presence, margin, row.presence_square);
        let margin = counts * row.counts + self.bias * row.counts_bias + s_presence * row.product;
        let (count, s_counts) = advance(old_counts, margin, row.counts_square);
        if s_presence == 0.0 && s_counts == 0.0 {
            return;
        }
        self.duals[document] = [presence, count];
        self.add(cells, row, s_presence, s_counts);
    }

    /// Adds `s_presence` times the presence view and `s_counts` times the counts view.
    pub fn add(&mut self, cells: &[Cell], row: &Row, s_presence: f64, s_counts: f64) {
        let one = narrow(s_presence * row.presence);
        let each = narrow(s_counts * row.counts);
        for cell in cells {
            let weight = &mut self.weights[cell.feature as usize];
            weight.value += weight.scale * (one + each * count(*cell));
        }
        self.bias += s_presence * row.presence_bias + s_counts * row.counts_bias;
    }
}

#[allow(clippy::cast_precision_loss)] // counts beyond 2^24 in one document may round
fn count(cell: Cell) -> f32 {
    cell.count as f32
}

/// Sums of the weights over distinct features and over occurrences.
fn sums(weights: &[Weight], cells: &[Cell]) -> (f64, f64) {
    let (mut ones, mut counts) = (0.0f64, 0.0f64);
    for cell in cells {
        let value = weights[cell.feature as usize].value;
        ones += f64::from(value);
        counts += f64::from(value * count(*cell));
    }
    (ones, counts)
}

/// Documents, and how a fit goes over them.
pub struct Training<'a> {
    /// The documents.
    pub data: &'a Dataset,
    /// The cost C.
    pub cost: f64,
    /// How often the fit goes over them.
    pub passes: u32,
    /// Asked before each pass.
    pub stop: Stop<'a>,
}

/// Fits the documents. `sides` are 1 or -1 for each, 0 for those that take no part.
///
/// # Errors
/// [`Stopped`]
pub fn solve(views: &Views, sides: &[i8], training: &Training<'_>) -> Result<Fit, Stopped> {
    let mut fit = Fit::zero(views, training.data.len());
    improve(&mut fit, views, sides, training)?;
    Ok(fit)
}

/// Continues a fit for some more passes.
///
/// # Errors
/// [`Stopped`]; the fit has then made fewer passes.
pub fn improve(
    fit: &mut Fit,
    views: &Views,
    sides: &[i8],
    training: &Training<'_>,
) -> Result<(), Stopped> {
    let Training { data, cost, passes, stop } = *training;
    let mut order: Vec<usize> = (0..data.len()).filter(|&at| sides[at] != 0).collect();
    // Sorting makes the fit independent of the order of the documents.
    order.sort_by_key(|&at| (data.names[at], sides[at]));
    let mut shuffle = SplitMix64::new(1);
    for _ in 0..passes {
        stop.check()?;
        shuffle.shuffle(&mut order);
        for &document in &order {
            let y = f64::from(sides[document]);
            fit.step(document, data.row(document), &views.rows[document], y, cost);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::{Corpus, Term};
    use dbacl_engine::token::id::FeatureId;

    /// Four documents on two sides; feature 5 is on both, features 1 and 2 tell them apart.
    fn data() -> Dataset {
        let mut corpus = Corpus::default();
        let term = |id, count| Term::new(FeatureId(id), 1, count);
        for (label, own) in [(0, 1), (1, 2), (0, 1), (1, 2)] {
            corpus.push(label, 4, &[term(own, 1), term(5, 3)]);
        }
        Dataset::new(corpus, 2, 1)
    }

    const SIDES: [i8; 4] = [-1, 1, -1, 1];

    fn solve(data: &Dataset, views: &Views, sides: &[i8], cost: f64, passes: u32) -> Fit {
        let stop = Stop::NEVER;
        super::solve(views, sides, &Training { data, cost, passes, stop }).unwrap()
    }

    #[test]
    fn sides_that_can_be_told_apart_are() {
        let data = data();
        let views = Views::new(&data, &SIDES);
        let fit = solve(&data, &views, &SIDES, 10.0, 50);
        for (document, &side) in SIDES.iter().enumerate() {
            let margin = fit.counts_margin(data.row(document), &views.rows[document]);
            assert!(margin * f64::from(side) > 0.5, "{document}: {margin}");
        }
        assert!(fit.weights[1].value.abs() < 1e-3, "the shared feature weighs nothing");
    }

    #[test]
    fn weights_are_the_sum_of_what_documents_added() {
        let data = data();
        let views = Views::new(&data, &SIDES);
        let fit = solve(&data, &views, &SIDES, 1.0, 10);
        let mut sum = Fit::zero(&views, data.len());
        for document in 0..data.len() {
            let y = f64::from(SIDES[document]);
            let [p, c] = fit.duals[document].map(f64::from);
            sum.add(data.row(document), &views.rows[document], p * y, c * y);
        }
        for (a, b) in fit.weights.iter().zip(&sum.weights) {
            assert!((a.value - b.value).abs() < 1e-5);
        }
        assert!((fit.bias - sum.bias).abs() < 1e-6);
    }

    #[test]
    fn the_solution_satisfies_the_optimality_conditions() {
        let data = data();
        let views = Views::new(&data, &SIDES);
        let cost = 0.5;
        let fit = solve(&data, &views, &SIDES, cost, 500);
        for (document, &side) in SIDES.iter().enumerate() {
            // alpha = 2C max(0, 1 - y margin)
            let margin = fit.counts_margin(data.row(document), &views.rows[document]);
            let loss = (1.0 - f64::from(side) * margin).max(0.0);
            assert!((f64::from(fit.duals[document][1]) - 2.0 * cost * loss).abs() < 1e-4);
        }
    }

    #[test]
    fn the_order_of_documents_plays_no_part() {
        let fit_in = |order: [usize; 4]| {
            let mut corpus = Corpus::default();
            let documents = [(0, 1, 1), (1, 2, 1), (0, 1, 2), (1, 2, 1)];
            for (label, own, count) in order.map(|at| documents[at]) {
                let term = |id, count| Term::new(FeatureId(id), 1, count);
                corpus.push(label, 4, &[term(own, count), term(5, 3)]);
            }
            let data = Dataset::new(corpus, 2, 1);
            let sides: Vec<i8> =
                data.labels.iter().map(|&label| if label == 1 { 1 } else { -1 }).collect();
            let fit = solve(&data, &Views::new(&data, &sides), &sides, 1.0, 3);
            let mut weights: Vec<_> = data
                .ids
                .iter()
                .zip(&fit.weights)
                .map(|(id, w)| (id.0, w.value.to_bits()))
                .collect();
            weights.sort_unstable();
            (weights, fit.bias.to_bits())
        };
        let fit = fit_in([0, 1, 2, 3]);
        for order in [[3, 2, 1, 0], [1, 0, 3, 2], [2, 3, 1, 0]] {
            assert_eq!(fit_in(order), fit, "{order:?}");
        }
    }

    #[test]
    fn the_same_documents_give_the_same_bits() {
        let data = data();
        let views = Views::new(&data, &SIDES);
        let fits = [0, 1].map(|_| solve(&data, &views, &SIDES, 1.0, 10));
        assert_eq!(fits[0], fits[1]);
    }
}
