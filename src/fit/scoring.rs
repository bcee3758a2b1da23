// SPDX-License-Identifier: GPL-3.0-or-later
//! How a document's score counts its features: all occurrences, or each feature once.
//!
//! ```text
//! counts   sum over t of c_t lambda_t / (n/max order)  - log Z
//! once    (sum over t of     lambda_t / (u/max order)  - log Z) u^(1/4)
//! ```
//!
//! with `c_t` occurrences of feature t, n of all, and u distinct features. dbacl 1.14.1 and
//! ordinary categories count all occurrences. But a word that is repeated a hundred times is hardly
//! more evidence than one that is repeated ten times, and long documents give more evidence than
//! short ones. Verdicts of a fitted set can take that into account (spec refit 1, *once*). The
//! power of u was chosen by cross-validation between 0, which gives the mean, and 1/2, with which
//! the margin of the presence view grows.

use super::known::KnownFeatures;
use crate::category::header::Header;

/// How a document's features are counted when it is classified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scoring {
    /// As often as they occur.
    #[default]
    Counts,
    /// Once.
    Once,
    /// Once, in two blocks: what a message says, and what its sender's side wrote. Each block is
    /// divided by the root of the number of its known features (spec refit 3.9).
    Blocks,
}

/// Weights of the two blocks.
pub const WEIGHTS: [f64; 2] = [1.0, 0.85];

/// The input of the bias where there are blocks. The smaller it is, the less a fit learns how much
/// spam there was in the mail that it saw, which other mail does not share.
pub const INTERCEPT: f64 = 0.1;

impl Scoring {
    /// How much a feature that occurs `count` times counts.
    pub const fn count(self, count: u32) -> u32 {
        match self {
            Self::Counts => count,
            Self::Once | Self::Blocks => 1,
        }
    }

    /// The divisor that turns sums over a document into nats a unit of complexity.
    pub fn complexity(self, distinct: u32, occurrences: u32, max_order: u8) -> f64 {
        let features = match self {
            Self::Counts => occurrences,
            Self::Once => distinct,
            Self::Blocks => 1,
        };
        f64::from(features) / f64::from(max_order)
    }

    /// The factor of the mean score of a document with `distinct` features.
    pub fn length_factor(self, distinct: u32) -> f64 {
        match self {
            Self::Counts | Self::Blocks => 1.0,
            Self::Once => f64::from(distinct).sqrt().sqrt(),
        }
    }

    /// Numbers of files for one of the fit. With blocks they make the grid of files fine enough.
    pub const fn unit(self) -> f64 {
        match self {
            Self::Counts | Self::Once => 1.0,
            Self::Blocks => 256.0,
        }
    }

    /// The number of the block of a feature.
    pub const fn block(is_text: bool) -> usize {
        if is_text { 0 } else { 1 }
    }

    /// The inputs of the features of each block, where so many of them are known.
    pub fn inputs(known: [usize; 2]) -> [f64; 2] {
        [0, 1].map(|block| f64::from(dbacl_linear::input(WEIGHTS[block], known[block])))
    }

    /// The score of a document under a category, from the features that the set knows and their
    /// weights in the category.
    pub fn score_known(
        self,
        header: &Header,
        occurrences: u32,
        known: &KnownFeatures,
        category: usize,
    ) -> f64 {
        let features = known.features.iter().zip(&known.weights[category]);
        let features = features.map(|(feature, &weight)| (feature, f64::from(weight)));
        if self == Self::Blocks {
            let each = features.map(|(feature, weight)| (feature.is_text, true, weight));
            return Self::by_blocks(each) - header.log_partition;
        }
        let parts = features.map(|(own, weight)| f64::from(self.count(own.count)) * weight);
        // A sum of nothing would be negative zero, and one of zeros is not.
        let sum = parts.fold(0.0, |sum, part| sum + part);
        let mean = sum / self.complexity(known.distinct, occurrences, header.max_order);
        (mean - header.log_partition) * self.length_factor(known.distinct)
    }

    /// The score by blocks of a document with these features: whether each is text, whether it is
    /// known, and its weight.
    pub fn by_blocks(features: impl Iterator<Item = (bool, bool, f64)>) -> f64 {
        let (mut sums, mut known) = ([0.0; 2], [0; 2]);
        for (is_text, is_known, weight) in features {
            let block = Self::block(is_text);
            known[block] += usize::from(is_known);
            sums[block] += weight;
        }
        let inputs = Self::inputs(known);
        sums[0] * inputs[0] + sums[1] * inputs[1]
    }

    /// Length of a document in the presence view of the fit: about that of the counts view where
    /// documents are classified by presence, and 1 where they are classified by counts.
    pub const fn presence_length(self) -> f64 {
        match self {
            Self::Counts | Self::Blocks => 1.0,
            Self::Once => 2.0,
        }
    }

    /// The score of a document from its mean score by counts, and the weights of its features with
    /// their occurrences: removes the repetitions from the mean.
    pub fn rescore(
        self,
        mean: f64,
        features: impl Iterator<Item = (u32, f64)>,
        (distinct, occurrences, max_order): (u32, u32, u8),
    ) -> f64 {
        if self == Self::Counts {
            return mean;
        }
        let by_counts = Self::Counts.complexity(distinct, occurrences, max_order);
        let own = self.complexity(distinct, occurrences, max_order);
        let change: f64 = features
            .map(|(count, weight)| {
                weight * (f64::from(self.count(count)) / own - f64::from(count) / by_counts)
            })
            .sum();
        (mean + change) * self.length_factor(distinct)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rescoring_counts_each_feature_once() {
        // lambda 2 three times, lambda -1 once; reference and log Z add 0.5
        let features = [(3, 2.0), (1, -1.0)];
        let mean = (3.0 * 2.0 - 1.0) / 4.0 + 0.5;
        let shape = (2, 4, 1);
        assert_eq!(Scoring::Counts.rescore(mean, features.into_iter(), shape), mean);
        let once = Scoring::Once.rescore(mean, features.into_iter(), shape);
        let expected = ((2.0 - 1.0) / 2.0 + 0.5) * 2f64.powf(0.25);
        assert!((once - expected).abs() < 1e-12, "{once} {expected}");
    }

    #[test]
    fn once_counts_a_repeated_feature_once() {
        assert_eq!((Scoring::Counts.count(7), Scoring::Once.count(7)), (7, 1));
        assert_eq!(Scoring::Counts.complexity(10, 30, 2), 15.0);
        assert_eq!(Scoring::Once.complexity(10, 30, 2), 5.0);
        assert_eq!(
            (Scoring::Counts.length_factor(16), Scoring::Once.length_factor(16)),
            (1.0, 2.0)
        );
    }
}
