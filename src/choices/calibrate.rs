// SPDX-License-Identifier: GPL-3.0-or-later
//! The temperature that calibrates probabilities, and the calibration error.

use super::fit::{Tally, probabilities};
use crate::numeric::elementary::log;

/// Scores of groups whose choice is known, for calibration. The fit must not have learned these
/// groups.
#[derive(Debug, Clone, Default)]
pub struct Judged {
    scores: Vec<f64>,
    /// Where each group ends in `scores`, and which was chosen.
    ends: Vec<(usize, usize)>,
}

/// The highest temperature that is considered; the lowest is one over it.
const HIGHEST: f64 = 20.0;

/// Steps of the search. Each removes about three eighths of the interval, so that the remainder is
/// below 1e-8.
const STEPS: usize = 45;

/// Bins of probabilities.
const BINS: usize = 10;

impl Judged {
    /// Adds a group: its scores, nats, and the number of the chosen alternative.
    pub fn push(&mut self, scores: &[f64], chosen: usize) {
        self.scores.extend_from_slice(scores);
        self.ends.push((self.scores.len(), chosen));
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn each(&self, temperature: f64, mut take: impl FnMut(&[f64], usize)) {
        let (mut start, mut scaled, mut shares) = (0, Vec::new(), Vec::new());
        for &(end, chosen) in &self.ends {
            scaled.clear();
            scaled.extend(self.scores[start..end].iter().map(|score| score / temperature));
            probabilities(&scaled, &mut shares);
            take(&shares, chosen);
            start = end;
        }
    }

    /// How well the groups are judged when their scores are divided by `temperature`.
    pub fn tally(&self, temperature: f64) -> Tally {
        let mut tally = Tally::default();
        self.each(temperature, |shares, chosen| tally.add(shares, chosen, shares[chosen]));
        tally
    }

    /// Sum over the groups of minus the logarithm of the chosen alternative's probability, nats,
    /// where scores are divided by `temperature`.
    pub fn cost(&self, temperature: f64) -> f64 {
        let mut sum = 0.0;
        self.each(temperature, |shares, chosen| {
            sum -= log(shares[chosen].max(f64::MIN_POSITIVE));
        });
        sum
    }

    /// The temperature with the lowest cost, by golden-section search over its logarithm (the cost
    /// is convex in one over the temperature); 1 without groups.
    pub fn temperature(&self) -> f64 {
        if self.is_empty() {
            return 1.0;
        }
        let golden = (5f64.sqrt() - 1.0) / 2.0;
        let (mut low, mut high) = (-HIGHEST.ln(), HIGHEST.ln());
        let cost = |logarithm: f64| self.cost(logarithm.exp());
        let mut left = high - golden * (high - low);
        let mut right = low + golden * (high - low);
        let (mut at_left, mut at_right) = (cost(left), cost(right));
        for _ in 0..STEPS {
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
        f64::midpoint(low, high).exp()
    }

    /// Expected calibration error, from 0 to 1: how far the stated probability of the likeliest
    /// alternative is from how often it was chosen, in bins of a tenth, weighted by the groups in
    /// each.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // from 0 to 10
    #[allow(clippy::cast_precision_loss)] // numbers of groups are far below 2^52
    pub fn calibration_error(&self, temperature: f64) -> f64 {
        let mut bins = [(0.0, 0.0); BINS];
        self.each(temperature, |shares, chosen| {
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
        let temperature = all.temperature();
        assert!((temperature - 6.0 / 4f64.ln()).abs() < 1e-5, "{temperature}");
        assert!(all.calibration_error(temperature) < 1e-6);
        assert!((all.calibration_error(1.0) - 0.1975).abs() < 1e-3);
        assert!(all.cost(temperature) < all.cost(1.0));
    }

    #[test]
    fn without_groups_nothing_is_changed() {
        assert_eq!(Judged::default().temperature(), 1.0);
        assert_eq!(Judged::default().calibration_error(1.0), 0.0);
    }
}
