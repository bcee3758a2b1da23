// SPDX-License-Identifier: GPL-3.0-or-later
//! Finishing a document: entropy, divergence, variance, priors, the best category
//! (spec model 13).

use super::scorer::Scorer;
use crate::numeric::elementary::{exp, log, narrow};

/// A document's result under one category.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Standing {
    /// Log-probability of the document, nats, with the prior if one was asked for.
    pub score: f64,
    /// Complexity: effective number of tokens.
    pub complexity: f64,
    /// Empirical entropy of the document, nats a token; 0 when not measured.
    pub shannon: f64,
    /// Divergence of the document from the category, nats a token; 0 when not measured.
    pub divergence: f64,
    /// Variance of the score.
    pub variance: f64,
}

impl Standing {
    /// Score per unit of complexity, nats; at most about 0.
    pub fn mean(&self) -> f64 {
        mean(self.score, self.complexity)
    }

    /// Standard deviation of [`Self::mean`].
    pub fn deviation(&self) -> f64 {
        root(divide(self.variance, self.complexity))
    }
}

/// `x / n`. It is never inlined: an optimiser that folds a negation into the divisor would change
/// the sign of a NaN, which is printed.
#[inline(never)]
pub fn divide(x: f64, n: f64) -> f64 {
    let quotient = x / n;
    if quotient.is_nan() && !x.is_nan() && !n.is_nan() { NEGATIVE_NAN } else { quotient }
}

/// The result of an invalid operation on x86-64: a NaN with its sign bit set, printed `-nan`. On
/// other machines the bit is not set.
const NEGATIVE_NAN: f64 = f64::from_bits(0xfff8_0000_0000_0000);

/// Square root. That of a negative number, which a variance can become by rounding, is
/// [`NEGATIVE_NAN`].
fn root(x: f64) -> f64 {
    if x < 0.0 { NEGATIVE_NAN } else { x.sqrt() }
}

/// Score per unit of complexity.
fn mean(x: f64, n: f64) -> f64 {
    divide(x, n)
}

/// Variance of a sum of `n` terms with sum `x` and sum of squares `s`.
pub fn variance(s: f64, x: f64, n: f64) -> f64 {
    divide(n * s - x * x, n * (n - 1.0))
}

/// `a + b`; if both are NaN, the result is `a`, as in dbacl 1.14.1. It is never inlined, for the
/// same reason as [`divide`].
#[inline(never)]
fn sum(a: f64, b: f64) -> f64 {
    let sum = if a.is_nan() { a } else { a + b };
    if sum.is_nan() && !a.is_nan() && !b.is_nan() { NEGATIVE_NAN } else { sum }
}

/// The results of the document scored so far. With `priors` the document's length counts as well,
/// if every category has learned documents.
pub fn finish<D: AsRef<[u8]>>(scorer: &Scorer<D>, priors: bool) -> Vec<Standing> {
    let mut standings: Vec<Standing> = scorer
        .tallies()
        .iter()
        .map(|tally| {
            let mut standing = Standing {
                score: tally.score,
                complexity: tally.complexity,
                variance: variance(tally.squares, tally.score, tally.complexity),
                ..Standing::default()
            };
            if scorer.measures_entropy() {
                let tokens = log(f64::from(narrow(tally.complexity)));
                standing.shannon = -sum(mean(tally.shannon, tally.complexity), -tokens);
                standing.divergence = -sum(mean(tally.score, tally.complexity), standing.shannon);
            }
            standing
        })
        .collect();
    if priors && scorer.models().iter().all(|model| model.documents() > 0) {
        for (standing, model) in standings.iter_mut().zip(scorer.models()) {
            standing.score += log_prior(model.features(), model.documents(), standing.complexity);
        }
    }
    standings
}

/// Log prior of a document of `complexity` tokens: Poisson, by Stirling's formula, with the
/// category's mean number of features a document.
fn log_prior(features: u32, documents: u32, complexity: f64) -> f64 {
    let lambda = f64::from(features) / f64::from(documents);
    let c = log(2.0 * core::f64::consts::PI) / 2.0;
    ((-lambda) - c) + complexity * (1.0 + log(lambda / complexity))
}

/// Index of the best category: the highest score, the first of equals.
pub fn best(standings: &[Standing]) -> usize {
    let mut best = 0;
    for (at, standing) in standings.iter().enumerate() {
        if standings[best].score < standing.score {
            best = at;
        }
    }
    best
}

/// Probabilities of the categories given the document, in percent; they add up to 100.
pub fn percentages(standings: &[Standing]) -> Vec<f64> {
    let Some(top) = standings.get(best(standings)) else { return Vec::new() };
    let mut total = 0.0;
    for standing in standings {
        total += exp(standing.score - top.score);
    }
    standings.iter().map(|standing| 100.0 * exp(standing.score - top.score) / total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_first_category() {
        let scores = |values: &[f64]| -> Vec<Standing> {
            values.iter().map(|&score| Standing { score, ..Standing::default() }).collect()
        };
        assert_eq!(best(&scores(&[-2.0, -1.0, -1.0])), 1);
        assert_eq!(best(&scores(&[0.0, 0.0])), 0);
        assert_eq!(best(&scores(&[f64::NAN, 1.0])), 0);
        let shares = percentages(&scores(&[-1.0, -1.0, f64::NEG_INFINITY]));
        assert_eq!(shares, [50.0, 50.0, 0.0]);
    }

    #[test]
    fn nothing_over_nothing_has_its_sign_set() {
        assert!(divide(0.0, 0.0).is_sign_negative());
        assert!(divide(1.0, 0.0).is_infinite());
        assert!(variance(0.0, 0.0, 0.0).is_sign_negative());
    }

    #[test]
    fn a_variance_below_zero_has_a_root_with_its_sign_set_on_every_machine() {
        let deviation =
            |variance| Standing { variance, complexity: 1.0, ..Standing::default() }.deviation();
        assert_eq!(deviation(-1e-17).to_bits(), NEGATIVE_NAN.to_bits());
        assert!(deviation(f64::NAN.copysign(1.0)).is_sign_positive());
        assert_eq!(deviation(4.0), 2.0);
        assert_eq!(sum(f64::INFINITY, f64::NEG_INFINITY).to_bits(), NEGATIVE_NAN.to_bits());
    }
}
