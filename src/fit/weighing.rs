// SPDX-License-Identifier: GPL-3.0-or-later
//! Computes the scores and the support of a verdict from a document's features and their weights in
//! the categories of a set.

use super::header::RefitLine;
use super::known::KnownFeatures;
use super::support::Support;
use crate::category::header::Header;

/// The scores of a document in the categories of a set, in the order of the set.
#[derive(Debug, Clone)]
pub struct Weighing {
    /// Scores under the categories.
    pub scores: Vec<f64>,
    /// The features that categories know, with their weights.
    pub known: KnownFeatures,
    /// What the verdict depends on besides the scores.
    pub support: Support,
}

impl Weighing {
    /// The weighing of a document of which this is `known`, for the set with this `line` and these
    /// `headers` of categories.
    pub fn of(
        line: &RefitLine,
        occurrences: u32,
        known: KnownFeatures,
        headers: &[&Header],
    ) -> Self {
        let each = headers.iter().enumerate();
        let scores =
            each.map(|(at, header)| line.scoring.score_known(header, occurrences, &known, at));
        let scores = scores.collect();
        let shapes: Vec<_> =
            headers.iter().map(|header| (header.log_partition, header.max_order)).collect();
        let support = Support::of(line, &known, &shapes);
        Self { scores, known, support }
    }
}
