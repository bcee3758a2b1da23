// SPDX-License-Identifier: GPL-3.0-or-later
//! Computes the scores and the grounds of a verdict from a document's features and their weights in
//! the categories of a set.

use super::documents::Term;
use super::grounds::Grounds;
use super::header::RefitLine;
use crate::category::header::Header;

/// The scores and weights of a document in the categories of a set, in the order of the set.
#[derive(Debug, Clone)]
pub struct Weighing {
    /// Scores under the categories.
    pub scores: Vec<f64>,
    /// Weights of the features in the categories, by category and then feature.
    pub weights: Vec<Vec<f32>>,
    /// What the verdict depends on besides the scores.
    pub grounds: Grounds,
}

impl Weighing {
    /// The weighing of a document with these distinct features, in order of first appearance, for
    /// the set with this `line`. Each category comes with the weights of the features in it.
    ///
    /// # Errors
    /// The first error of `categories`.
    pub fn new<'a, E>(
        line: &RefitLine,
        (occurrences, terms): (u32, &[Term]),
        categories: impl Iterator<Item = Result<(&'a Header, Vec<f32>), E>>,
    ) -> Result<Self, E> {
        let (mut scores, mut weights, mut shapes) = (Vec::new(), Vec::new(), Vec::new());
        for category in categories {
            let (header, own) = category?;
            let each = own.iter().copied();
            scores.push(line.scoring.score_by(header, occurrences, terms, each));
            shapes.push((header.log_partition, header.max_order));
            weights.push(own);
        }
        let grounds = Grounds::of(line.looks_at_parts(), terms, &weights, &shapes);
        Ok(Self { scores, weights, grounds })
    }
}
