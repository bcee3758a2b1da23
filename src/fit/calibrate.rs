// SPDX-License-Identifier: GPL-3.0-or-later
//! Calibration of scores: probabilities and thresholds from scores of documents that the fit had
//! not seen (spec refit 4).

use crate::measures::Scored;
use crate::measures::calibration::{Calibration, platt};
use dbacl_numeric::elementary::{exp, log, real};

/// The calibration for few documents: odds are even at score `even`, and the slope is that of
/// [`platt`].
/// With very few documents that slope may be negative, because a fit without a document is moved
/// away from it; the slope is then one over the mean absolute score.
pub(crate) fn platt_of_few(scored: &[Scored], even: f64) -> Calibration {
    let slope = platt(scored).slope;
    let sizes: f64 = scored.iter().map(|one| one.score.abs()).sum();
    let weak = real(scored.len()) / sizes.max(1e-9);
    let slope = if slope > 0.0 { slope } else { weak };
    Calibration { slope, offset: if even == 0.0 { 0.0 } else { -slope * even } }
}

/// The most likely slope of more than two categories: probabilities are proportional to
/// `exp(slope * score)`. `scores` go document by document.
pub(crate) fn temperature(scores: &[f64], labels: &[usize]) -> f64 {
    if labels.is_empty() {
        return 1.0;
    }
    let width = scores.len() / labels.len();
    let loss = |slope: f64| -> f64 {
        let rows = scores.chunks_exact(width).zip(labels);
        rows.map(|(row, &label)| -log(probabilities(row, slope)[label].max(1e-300))).sum()
    };
    // The loss has one minimum: search its logarithm by golden section.
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = (log(0.01), log(1000.0));
    let mut inner = (high - ratio * (high - low), low + ratio * (high - low));
    let mut losses = (loss(exp(inner.0)), loss(exp(inner.1)));
    for _ in 0..30 {
        if losses.0 < losses.1 {
            high = inner.1;
            inner = (high - ratio * (high - low), inner.0);
            losses = (loss(exp(inner.0)), losses.0);
        } else {
            low = inner.0;
            inner = (inner.1, low + ratio * (high - low));
            losses = (losses.1, loss(exp(inner.1)));
        }
    }
    exp(f64::midpoint(low, high))
}

/// Shares proportional to `exp(slope * score)`.
pub(crate) fn probabilities(scores: &[f64], slope: f64) -> Vec<f64> {
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let shares: Vec<f64> = scores.iter().map(|score| exp(slope * (score - highest))).collect();
    let sum: f64 = shares.iter().sum();
    shares.into_iter().map(|share| share / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measures::calibration::tests::sample;

    #[test]
    fn few_documents_have_even_odds_at_zero() {
        let scored = |scores: [f64; 4]| {
            let each = scores.into_iter().enumerate();
            each.map(|(at, score)| Scored { score, positive: at > 1 }).collect::<Vec<_>>()
        };
        let found = platt_of_few(&scored([-3.0, -1.0, 2.0, 2.0]), 0.0);
        assert!(found.slope > 0.0 && found.offset == 0.0);
        let found = platt_of_few(&scored([3.0, 1.0, -2.0, -2.0]), 0.0);
        assert_eq!(found, Calibration { slope: 0.5, offset: 0.0 });
        assert!(platt_of_few(&[], 0.0).slope.is_finite());
        // A general model says where odds are even.
        let moved = platt_of_few(&scored([-3.0, -1.0, 2.0, 2.0]), 0.5);
        assert_eq!(moved.even(), 0.5);
    }

    #[test]
    fn temperature_of_two_categories_is_the_slope() {
        let scored = sample();
        let scores: Vec<f64> = scored.iter().flat_map(|one| [1.0 / 3.0, one.score]).collect();
        let labels: Vec<usize> = scored.iter().map(|one| usize::from(one.positive)).collect();
        let found = temperature(&scores, &labels);
        assert!((found - 3.0).abs() < 0.15, "{found}");
    }
}
