// SPDX-License-Identifier: GPL-3.0-or-later
//! Finds the decision with the smallest expected loss, from scores, priors and losses (spec tools
//! 1.7).

use std::cmp::Ordering;

use dbacl_numeric::elementary::{exp, log};

/// What a classifier said about the document, one entry a category.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Scores {
    /// Effective number of tokens.
    pub complexity: Vec<f64>,
    /// Cross-entropy, cost per token. bayesol 1.14.1 takes the number as nats although dbacl prints
    /// bits; this is kept, since the loss matrices in use are tuned to it.
    pub cross_entropy: Vec<f64>,
}

impl Scores {
    /// Zero scores for `count` categories.
    pub(crate) fn zero(count: usize) -> Self {
        Self { complexity: vec![0.0; count], cross_entropy: vec![0.0; count] }
    }

    /// Whether the complexities differ by more than a tenth, which makes the categories' scores
    /// hard to compare.
    pub(crate) fn are_disparate(&self) -> bool {
        let least = self.complexity.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.complexity.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        least < 0.9 * most
    }
}

/// Logarithms of the losses: row = true category, column = decision.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LossMatrix {
    rows: Vec<Vec<f64>>,
}

impl LossMatrix {
    /// A matrix for `order` categories in which everything costs 1, which is what a missing column
    /// means.
    pub(crate) fn ones(order: usize) -> Self {
        Self { rows: vec![vec![0.0; order]; order] }
    }

    /// The log losses of `category` being the true one, by decision.
    pub(crate) fn row(&self, category: usize) -> &[f64] {
        &self.rows[category]
    }

    /// Sets the first columns of the row of `category`; surplus values are dropped.
    pub(crate) fn set_row(&mut self, category: usize, values: &[f64]) {
        for (cell, &value) in self.rows[category].iter_mut().zip(values) {
            *cell = value;
        }
    }

    /// Replaces infinite diagonal cells by 0, as a ranking needs it. A right decision without cost
    /// has a log loss of minus infinity; several such decisions could not be ranked.
    pub(crate) fn finite_diagonal(&mut self) {
        for (at, row) in self.rows.iter_mut().enumerate() {
            if row[at].is_infinite() {
                row[at] = 0.0;
            }
        }
    }

    /// Excludes a decision from the following rounds.
    pub(crate) fn exclude(&mut self, decision: usize) {
        self.rows[decision].fill(f64::NEG_INFINITY);
        for row in &mut self.rows {
            row[decision] = f64::NEG_INFINITY;
        }
        self.rows[decision][decision] = f64::INFINITY;
    }
}

/// What one decision is expected to cost.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ExpectedLoss {
    /// Log joint probability and loss of each true category, in decreasing order.
    pub terms: Vec<f64>,
    /// Logarithm of the expected loss, up to the scores' common factor: the log-sum of the terms.
    pub log_risk: f64,
}

/// One round of decision.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Round {
    /// The expected loss of each decision.
    pub expected_losses: Vec<ExpectedLoss>,
    /// Index of the best one.
    pub best: usize,
}

/// A score, a prior or their sum is not a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("scores are not numbers, cannot decide")]
pub(crate) struct NotANumber;

/// Decides among the categories; there are as many as priors.
///
/// The largest terms are compared, not the sums: lists of terms in decreasing order, first
/// difference decides, the earlier decision wins a tie. The sums are for display.
///
/// # Errors
/// If a term is not a number.
pub(crate) fn decide(
    scores: &Scores,
    log_priors: &[f64],
    losses: &LossMatrix,
) -> Result<Round, NotANumber> {
    let count = log_priors.len();
    let mut expected_losses: Vec<ExpectedLoss> = Vec::with_capacity(count);
    let mut best: Option<usize> = None;
    for decision in 0..count {
        let mut terms = Vec::with_capacity(count);
        for (truth, log_prior) in log_priors.iter().enumerate() {
            let mut term = -scores.complexity[truth] * scores.cross_entropy[truth] + log_prior;
            // An impossible category stays impossible, whatever the loss.
            if !term.is_infinite() {
                term += losses.row(truth)[decision];
            }
            if term.is_nan() {
                return Err(NotANumber);
            }
            terms.push(term);
        }
        let log_risk = log_sum(&terms);
        terms.sort_by(|a, b| b.partial_cmp(a).unwrap_or(Ordering::Equal));
        let is_better = match best {
            Some(best) => is_less(&terms, &expected_losses[best].terms),
            None => terms.iter().any(|&term| term < f64::INFINITY),
        };
        expected_losses.push(ExpectedLoss { terms, log_risk });
        if is_better {
            best = Some(decision);
        }
    }
    Ok(Round { expected_losses, best: best.unwrap_or(0) })
}

/// Whether the first difference of two lists is downwards.
fn is_less(terms: &[f64], best: &[f64]) -> bool {
    let different = terms.iter().zip(best).find(|(a, b)| a != b);
    different.is_some_and(|(a, b)| a < b)
}

/// `log(sum of exp(t))`, relative to the largest finite term.
fn log_sum(terms: &[f64]) -> f64 {
    let finite = terms.iter().copied().filter(|term| !term.is_infinite());
    let largest = finite.fold(f64::NEG_INFINITY, f64::max);
    let base = if largest.is_infinite() { 0.0 } else { largest };
    let mut sum = 0.0;
    for term in terms {
        sum += exp(term - base);
    }
    log(sum) + base
}

#[cfg(test)]
mod tests {
    use super::*;

    const INF: f64 = f64::INFINITY;

    fn scores(pairs: &[(f64, f64)]) -> Scores {
        Scores {
            cross_entropy: pairs.iter().map(|pair| pair.0).collect(),
            complexity: pairs.iter().map(|pair| pair.1).collect(),
        }
    }

    fn matrix(rows: &[&[f64]]) -> LossMatrix {
        let mut losses = LossMatrix::ones(rows.len());
        for (index, row) in rows.iter().enumerate() {
            let logs: Vec<f64> = row.iter().map(|loss: &f64| loss.ln()).collect();
            losses.set_row(index, &logs);
        }
        losses
    }

    #[test]
    fn decision_compares_largest_terms_first() {
        let near = [(5.20, 412.0), (5.31, 412.0)];
        for (pairs, priors, rows, best) in [
            (near, [0.0, 0.0], [[0.0, 1.0], [1.0, 0.0]], 0),
            (near, [0.0, 50.0], [[0.0, 1.0], [1.0, 0.0]], 1),
            // free decisions tie, so the first stays
            (near, [0.0, 0.0], [[0.0, 0.0], [0.0, 0.0]], 0),
            (near, [0.0, 0.0], [[1.0, 1.0], [1.0, 1.0]], 0),
            (near, [0.0, 0.0], [[3.0, 2.0], [1.0, 1.0]], 1),
            // equal largest terms: the next ones decide
            (near, [0.0, 0.0], [[1.0, 1.0], [2.0, 1.0]], 1),
            (near, [0.0, 0.0], [[INF, INF], [INF, INF]], 0),
            (near, [0.0, 0.0], [[INF, 1.0], [INF, INF]], 1),
            // an impossible category's losses do not count
            (near, [-INF, 0.0], [[0.0, INF], [1.0, 0.0]], 1),
        ] {
            let losses = matrix(&[&rows[0], &rows[1]]);
            let round = decide(&scores(&pairs), &priors, &losses).expect("numbers");
            assert_eq!(round.best, best, "{pairs:?} {priors:?} {rows:?}");
        }
    }

    #[test]
    fn log_risk_is_the_log_sum_of_the_terms() {
        let losses = matrix(&[&[1.0, 1.0], &[1.0, 1.0]]);
        let round = decide(&scores(&[(1.0, 1.0), (1.0, 1.0)]), &[0.0, 0.0], &losses);
        let expected = &round.expect("numbers").expected_losses[0];
        assert!((expected.log_risk - (2.0_f64.ln() - 1.0)).abs() < 1e-15);
        for (terms, expected) in
            [(&[-INF, -INF][..], -INF), (&[INF, 3.0], INF), (&[-INF, -7.0], -7.0), (&[INF], INF)]
        {
            assert_eq!(log_sum(terms), expected, "{terms:?}");
        }
    }

    #[test]
    fn ranking_excludes_the_best_of_each_round() {
        let mut losses = matrix(&[&[0.0, 1.0, 1.0], &[1.0, 0.0, 1.0], &[1.0, 1.0, 0.0]]);
        losses.finite_diagonal();
        assert_eq!(losses.row(1), [0.0; 3]);
        losses.set_row(0, &[-1.0]);
        let scores = scores(&[(2.0, 10.0), (3.0, 10.0), (1.0, 10.0)]);
        let mut order = Vec::new();
        for _ in 0..3 {
            let best = decide(&scores, &[0.0; 3], &losses).expect("numbers").best;
            losses.exclude(best);
            order.push(best);
        }
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2]);
    }

    #[test]
    fn scores_that_are_not_numbers_are_refused() {
        let losses = LossMatrix::ones(2);
        for pairs in [[(f64::NAN, 1.0), (1.0, 1.0)], [(INF, 0.0), (1.0, 1.0)]] {
            assert_eq!(decide(&scores(&pairs), &[0.0, 0.0], &losses), Err(NotANumber));
        }
    }

    #[test]
    fn complexities_a_tenth_apart_are_disparate() {
        for (first, second, expected) in
            [(100.0, 100.0, false), (90.0, 100.0, false), (89.9, 100.0, true), (0.0, 0.0, false)]
        {
            assert_eq!(scores(&[(1.0, first), (1.0, second)]).are_disparate(), expected);
        }
    }
}
