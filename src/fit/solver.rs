// SPDX-License-Identifier: GPL-3.0-or-later
//! The joint fit of two sides and one step of it: squared hinge loss, ridge penalty scaled by
//! feature, solved by dual coordinate descent (Hsieh et al. 2008; spec refit 3.2 and 3.3).
//!
//! ```text
//! minimise  1/2 (sum_t w_t²/f_t + v²) + C sum over documents and views max(0, 1 - y (w·x + v q))²
//! ```
//!
//! [`super::lanewise`] goes over the documents. A set on disk takes one step for a document, or
//! takes it back.

use super::dataset::{Cell, Row};
use dbacl_linear::step;
use dbacl_numeric::elementary::narrow;

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
    /// One step for one document on side `y` (1 or -1): both views, one after the other.
    pub fn step(&mut self, document: usize, cells: &[Cell], row: &Row, y: f64, cost: f64) {
        let softness = 1.0 / (2.0 * cost);
        let (ones, counts) = sums(&self.weights, cells);
        let [old_presence, old_counts] = self.duals[document];
        let margin = ones * row.presence + self.bias * row.presence_bias;
        let presence = step(old_presence, y * margin, row.presence_square, softness);
        let s_presence = (f64::from(presence) - f64::from(old_presence)) * y;
        let margin = counts * row.counts + self.bias * row.counts_bias + s_presence * row.product;
        let count = step(old_counts, y * margin, row.counts_square, softness);
        let s_counts = (f64::from(count) - f64::from(old_counts)) * y;
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
            weight.value += weight.scale * (one + each * count_of(*cell));
        }
        self.bias += s_presence * row.presence_bias + s_counts * row.counts_bias;
    }
}

#[allow(clippy::cast_precision_loss)] // counts beyond 2^24 in one document may round
pub(super) const fn count_of(cell: Cell) -> f32 {
    cell.count as f32
}

/// Sums of the weights over distinct features and over occurrences.
fn sums(weights: &[Weight], cells: &[Cell]) -> (f64, f64) {
    let (mut ones, mut counts) = (0.0f64, 0.0f64);
    for cell in cells {
        let value = weights[cell.feature as usize].value;
        ones += f64::from(value);
        counts += f64::from(value * count_of(*cell));
    }
    (ones, counts)
}
