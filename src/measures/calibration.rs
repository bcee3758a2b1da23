// SPDX-License-Identifier: GPL-3.0-or-later
//! Probabilities from scores: the logistic curve that fits scored documents best.

use super::Scored;
use dbacl_numeric::elementary::{exp, log, log_1p, real};
use serde::{Deserialize, Serialize};

/// From a score to the logarithm of the odds: `slope * score + offset`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
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
pub fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + exp(-x))
}

/// The most likely calibration of two categories, by Newton's method. Targets are moved a little
/// from 0 and 1 (Platt 1999), so that perfectly separated scores do not give certainty.
pub fn platt(scored: &[Scored]) -> Calibration {
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use dbacl_numeric::random::SplitMix64;

    /// Scores from -2 to 2; the log odds of each document are 3 times its score minus 1.
    pub(crate) fn sample() -> Vec<Scored> {
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
}
