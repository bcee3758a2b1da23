// SPDX-License-Identifier: GPL-3.0-or-later
//! The temperature and the curvature that calibrate probabilities, and the calibration error.
//!
//! A model may state too high a probability for likely alternatives and for very unlikely ones at
//! once. A temperature corrects one of these errors and makes the other larger. So there is a
//! second number, the curvature c: each probability p becomes p^(1 + c ln(1/p)), and all are then
//! divided by their sum. This makes very small probabilities smaller than any temperature would
//! that suits the large ones.

use super::fit::{Tally, probabilities};
use dbacl_numeric::elementary::{exp, log};

/// Scores of groups whose choice is known, for calibration. The fit must not have learned these
/// groups.
#[derive(Debug, Clone, Default)]
pub struct Judged {
    scores: Vec<f64>,
    /// Where each group ends in `scores`, and which was chosen.
    ends: Vec<(usize, usize)>,
}

/// How well groups were classified that were not learned.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Quality {
    /// Choices and bits.
    pub tally: Tally,
    /// Expected calibration error, from 0 to 1.
    pub calibration_error: f64,
}

impl Quality {
    /// In words for the user, in which a choice has this name.
    pub fn describe(&self, choice: &str) -> String {
        let Self { tally, calibration_error } = self;
        format!(
            "first choice {:.1} %, among five {:.1} %, {:.3} bits a {choice}, calibration error \
             {:.1} %",
            tally.percent(tally.first),
            tally.percent(tally.first_five),
            tally.mean_bits(),
            100.0 * calibration_error
        )
    }
}

/// How scores become probabilities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// What scores, in nats, are divided by.
    pub temperature: f64,
    /// From 0 on; 0 leaves probabilities as the temperature makes them.
    pub curvature: f64,
}

impl From<f64> for Calibration {
    fn from(temperature: f64) -> Self {
        Self { temperature, curvature: 0.0 }
    }
}

impl Calibration {
    /// Turns the scores of a group, in nats, into others, of which the softmax is the calibrated
    /// probabilities. The order of the alternatives stays.
    pub(crate) fn apply(&self, scores: &mut [f64]) {
        for score in &mut *scores {
            *score /= self.temperature;
        }
        if self.curvature > 0.0 {
            normalise(scores);
            for score in scores {
                *score -= self.curvature * *score * *score;
            }
        }
    }
}

/// Turns scores, in nats, into the logarithms of their softmax.
pub(crate) fn normalise(scores: &mut [f64]) {
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = scores.iter().map(|score| exp(score - highest)).sum();
    let whole = highest + log(sum);
    for score in scores {
        *score -= whole;
    }
}

/// The highest temperature that is considered; the lowest is one over it.
const HIGHEST: f64 = 20.0;

/// Steps of the search: the interval left is below 1e-4.
const STEPS: usize = 24;

/// The highest curvature that is considered.
const MOST_CURVED: f64 = 2.0;

/// The most steps of Newton's method for the curvature.
const NEWTON_STEPS: usize = 12;

/// Bins of probabilities.
const BINS: usize = 10;

impl Judged {
    /// Adds a group: its scores, nats, and the number of the chosen alternative.
    pub fn push(&mut self, scores: &[f64], chosen: usize) {
        self.scores.extend_from_slice(scores);
        self.ends.push((self.scores.len(), chosen));
    }

    /// Number of groups.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn each(&self, calibration: Calibration, mut take: impl FnMut(&[f64], usize)) {
        let mut shares = Vec::new();
        self.each_scores(calibration, |scores, chosen| {
            probabilities(scores, &mut shares);
            take(&shares, chosen);
        });
    }

    fn each_scores(&self, calibration: Calibration, mut take: impl FnMut(&[f64], usize)) {
        let (mut start, mut scores) = (0, Vec::new());
        for &(end, chosen) in &self.ends {
            scores.clear();
            scores.extend_from_slice(&self.scores[start..end]);
            calibration.apply(&mut scores);
            take(&scores, chosen);
            start = end;
        }
    }

    /// How well the groups are classified with a temperature or a [`Calibration`].
    pub(crate) fn quality(&self, calibration: impl Into<Calibration>) -> Quality {
        let calibration = calibration.into();
        let calibration_error = self.calibration_error(calibration);
        Quality { tally: self.tally(calibration), calibration_error }
    }

    /// Choices and bits with a temperature or a [`Calibration`].
    pub(crate) fn tally(&self, calibration: impl Into<Calibration>) -> Tally {
        let mut tally = Tally::default();
        self.each(calibration.into(), |shares, chosen| tally.add(shares, chosen));
        tally
    }

    /// Sum over the groups of minus the logarithm of the chosen alternative's probability, nats,
    /// with a temperature or a [`Calibration`].
    pub(crate) fn cost(&self, calibration: impl Into<Calibration>) -> f64 {
        let mut sum = 0.0;
        self.each(calibration.into(), |shares, chosen| {
            sum -= log(shares[chosen].max(f64::MIN_POSITIVE));
        });
        sum
    }

    /// The temperature and the curvature that have the lowest cost together; 1 and 0 without
    /// groups.
    pub(crate) fn calibration(&self) -> Calibration {
        if self.is_empty() {
            return 1.0.into();
        }
        let curved =
            |temperature| Calibration { temperature, curvature: self.curvature(temperature) };
        curved(least(STEPS, |temperature| self.cost(curved(temperature))))
    }

    /// The curvature with the lowest cost at a temperature. With x the logarithm of an
    /// alternative's probability there, its score is x - c x^2; so the cost is convex in c, with
    /// the slope x^2 of the chosen one less the mean of x^2, and the variance of x^2 as its change.
    fn curvature(&self, temperature: f64) -> f64 {
        let mut curvature = 0.0;
        let (mut squares, mut scores, mut shares) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..NEWTON_STEPS {
            let (mut slope, mut change) = (0.0, 0.0);
            self.each_scores(temperature.into(), |scaled, chosen| {
                scores.clear();
                scores.extend_from_slice(scaled);
                normalise(&mut scores);
                squares.clear();
                squares.extend(scores.iter().map(|x| x * x));
                for (score, square) in scores.iter_mut().zip(&squares) {
                    *score -= curvature * square;
                }
                probabilities(&scores, &mut shares);
                let weighed = || shares.iter().zip(&squares);
                let mean: f64 = weighed().map(|(p, square)| p * square).sum();
                slope += squares[chosen] - mean;
                change += weighed().map(|(p, square)| p * (square - mean).powi(2)).sum::<f64>();
            });
            let before = curvature;
            if change > f64::MIN_POSITIVE {
                curvature = (curvature - slope / change).clamp(0.0, MOST_CURVED);
            }
            if (curvature - before).abs() < 1e-9 {
                break;
            }
        }
        curvature
    }

    /// Expected calibration error, from 0 to 1: how far the stated probability of the likeliest
    /// alternative is from how often it was chosen, in bins of a tenth, weighted by the groups in
    /// each.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // from 0 to 10
    #[allow(clippy::cast_precision_loss)] // numbers of groups are far below 2^52
    pub fn calibration_error(&self, calibration: impl Into<Calibration>) -> f64 {
        let mut bins = [(0.0, 0.0); BINS];
        self.each(calibration.into(), |shares, chosen| {
            let mut best = 0;
            for (at, share) in shares.iter().enumerate() {
                if *share > shares[best] {
                    best = at;
                }
            }
            let bin = ((shares[best] * BINS as f64) as usize).min(BINS - 1);
            bins[bin].0 += shares[best];
            bins[bin].1 += f64::from(u8::from(best == chosen));
        });
        let sum: f64 = bins.iter().map(|(stated, right): &(f64, f64)| (stated - right).abs()).sum();
        sum / self.len().max(1) as f64
    }
}

/// The temperature at which the cost is least, by golden-section search over its logarithm.
fn least(steps: usize, cost: impl Fn(f64) -> f64) -> f64 {
    let golden = (5f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = (-log(HIGHEST), log(HIGHEST));
    let cost = |logarithm: f64| cost(exp(logarithm));
    let mut left = high - golden * (high - low);
    let mut right = low + golden * (high - low);
    let (mut at_left, mut at_right) = (cost(left), cost(right));
    for _ in 0..steps {
        if at_left <= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - golden * (high - low);
            at_left = cost(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + golden * (high - low);
            at_right = cost(right);
        }
    }
    exp(f64::midpoint(low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 10 groups of two, `right` choose the one that has a lead of `score`.
    fn judged(score: f64, right: usize) -> Judged {
        let mut judged = Judged::default();
        (0..10).for_each(|at| judged.push(&[score, 0.0], usize::from(at >= right)));
        judged
    }

    #[test]
    fn the_temperature_makes_stated_probabilities_true() {
        // 8 of 10: the odds should be 4, a lead of ln 4.
        let all = judged(6.0, 8);
        let temperature = 6.0 / 4f64.ln();
        assert!(all.calibration_error(temperature) < 1e-6);
        assert!((all.calibration_error(1.0) - 0.1975).abs() < 1e-3);
        assert!(all.cost(temperature) < all.cost(1.0));
    }

    #[test]
    fn the_curvature_is_found_that_made_the_choices() {
        let truth = Calibration { temperature: 1.5, curvature: 0.2 };
        let mut judged = Judged::default();
        for group in [&[0.0, -1.0, -2.5, -6.0][..], &[0.0, -0.5, -4.0], &[0.0, -3.0, -3.5]] {
            let (mut scores, mut shares) = (group.to_vec(), Vec::new());
            truth.apply(&mut scores);
            probabilities(&scores, &mut shares);
            for (chosen, share) in shares.iter().enumerate() {
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // up to 10000
                let times = (share * 10_000.0).round() as usize;
                (0..times).for_each(|_| judged.push(group, chosen));
            }
        }
        let found = judged.calibration();
        assert!((found.curvature - truth.curvature).abs() < 0.01, "{found:?}");
        assert!((found.temperature - truth.temperature).abs() < 0.03, "{found:?}");
        assert!(judged.calibration_error(found) < 1e-3, "{found:?}");
        let temperature = least(STEPS, |temperature| judged.cost(temperature));
        assert!(judged.calibration_error(temperature) > 5e-3, "{temperature}");
        assert!(judged.cost(found) < judged.cost(temperature));
        assert_eq!(judged.tally(found).first, judged.tally(temperature).first);
    }

    #[test]
    fn without_groups_nothing_is_changed() {
        assert_eq!(Judged::default().calibration(), Calibration::from(1.0));
        assert_eq!(Judged::default().calibration_error(1.0), 0.0);
    }
}
