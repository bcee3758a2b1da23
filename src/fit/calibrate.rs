// SPDX-License-Identifier: GPL-3.0-or-later
//! Calibration of scores: probabilities and thresholds from scores of documents that the fit had
//! not seen (spec refit 4).

use crate::measures::Scored;
use dbacl_numeric::elementary::{exp, log, log_1p, real};
use serde::{Deserialize, Serialize};

/// From a score to the logarithm of the odds: `slope * score + offset`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Calibration {
    /// Log odds per nat of score.
    pub slope: f64,
    /// Log odds of score 0.
    pub offset: f64,
}

impl Calibration {
    /// The score at which the odds are even; 0 if they do not rise with the score.
    pub(crate) fn even(&self) -> f64 {
        self.score_at(0.0)
    }

    /// The score at which the odds have this logarithm; 0 if they do not rise with the score.
    pub(crate) fn score_at(&self, odds: f64) -> f64 {
        if self.slope > 0.0 { (odds - self.offset) / self.slope } else { 0.0 }
    }
}

/// 1/(1 + exp(-x)).
pub(crate) fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + exp(-x))
}

/// The most likely calibration of two categories, by Newton's method. Targets are moved a little
/// from 0 and 1 (Platt 1999), so that perfectly separated scores do not give certainty.
pub(crate) fn platt(scored: &[Scored]) -> Calibration {
    let positives = real(scored.iter().filter(|one| one.positive).count());
    let negatives = real(scored.len()) - positives;
    let high = (positives + 1.0) / (positives + 2.0);
    let low = 1.0 / (negatives + 2.0);
    let deviance = |calibration: Calibration| -> f64 {
        let loss = |one: &Scored| {
            let target = if one.positive { high } else { low };
            let x = calibration.slope * one.score + calibration.offset;
            // log(1 + exp(x)) - target x, without overflow
            x.max(0.0) + log_1p(exp(-x.abs())) - target * x
        };
        scored.iter().map(loss).sum()
    };
    let mut now = Calibration { slope: 0.0, offset: log((positives + 1.0) / (negatives + 1.0)) };
    let mut loss = deviance(now);
    for _ in 0..100 {
        let (mut g_slope, mut g_offset) = (0.0, 0.0);
        let (mut h_ss, mut h_so, mut h_oo) = (1e-9, 0.0, 1e-9);
        for one in scored {
            let p = logistic(now.slope * one.score + now.offset);
            let rest = p - if one.positive { high } else { low };
            let curve = p * (1.0 - p);
            g_slope += rest * one.score;
            g_offset += rest;
            h_ss += curve * one.score * one.score;
            h_so += curve * one.score;
            h_oo += curve;
        }
        let determinant = h_ss * h_oo - h_so * h_so;
        let step = Calibration {
            slope: -(h_oo * g_slope - h_so * g_offset) / determinant,
            offset: -(h_ss * g_offset - h_so * g_slope) / determinant,
        };
        let mut length = 1.0;
        loop {
            let next = Calibration {
                slope: now.slope + length * step.slope,
                offset: now.offset + length * step.offset,
            };
            let next_loss = deviance(next);
            if next_loss < loss {
                let gain = loss - next_loss;
                (now, loss) = (next, next_loss);
                if gain < 1e-9 * (1.0 + loss) {
                    return now;
                }
                break;
            }
            length /= 2.0;
            if length < 1e-10 {
                return now;
            }
        }
    }
    now
}

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
    use dbacl_numeric::random::SplitMix64;

    fn sample() -> Vec<Scored> {
        let mut shuffle = SplitMix64::new(1);
        let mut fraction = || real(shuffle.below(1 << 30)) / real(1 << 30);
        (0..20_000)
            .map(|_| {
                let score = 4.0 * fraction() - 2.0;
                Scored { score, positive: fraction() < logistic(3.0 * score - 1.0) }
            })
            .collect()
    }

    #[test]
    fn calibration_finds_the_odds_that_made_the_sample() {
        let found = platt(&sample());
        assert!((found.slope - 3.0).abs() < 0.15, "{found:?}");
        assert!((found.offset + 1.0).abs() < 0.1, "{found:?}");
    }

    #[test]
    fn separated_scores_give_finite_odds() {
        let scored: Vec<Scored> =
            (0..10).map(|k| Scored { score: real(k) - 4.5, positive: k > 4 }).collect();
        let found = platt(&scored);
        assert!(found.slope > 0.0 && found.slope < 50.0, "{found:?}");
        let odds = platt(&[]);
        assert!(odds.slope.is_finite() && odds.offset.is_finite());
    }

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
