// SPDX-License-Identifier: GPL-3.0-or-later
//! How good scores of labelled documents are: the area above the ROC curve, recall at a rate of
//! false positives, errors, confidence intervals of rates, verdicts by label ([`confusion`]), tests
//! of shares ([`chance`]), probabilities from scores ([`calibration`]), and labels that look wrong
//! ([`misfiled`]).
//!
//! ```
//! use dbacl::measures::{Scored, area_above, mistakes, rate};
//!
//! // Scores of a filter for two spams and two hams: higher means spam.
//! let scored = [(2.5, true), (-0.5, true), (0.1, false), (-3.0, false)]
//!     .map(|(score, positive)| Scored { score, positive });
//! assert_eq!(mistakes(&scored, 0.0), (1, 1));
//! assert_eq!(area_above(&scored), 0.25); // one pair of four is in the wrong order
//! let errors = rate(2, 4);
//! assert!(errors.value == 0.5 && errors.low > 0.1 && errors.high < 0.9);
//! ```

pub mod calibration;
pub mod chance;
pub mod confusion;
pub mod misfiled;

use dbacl_numeric::elementary::real;

/// A score, higher for documents that look positive, and whether the document is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// The score.
    pub score: f64,
    /// Whether the document is positive.
    pub positive: bool,
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { f64::NAN }
}

/// A threshold of the ROC curve, from the strictest on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Documents at or above this score are taken for positive.
    pub threshold: f64,
    /// Negative documents among them.
    pub false_positives: usize,
    /// Positive documents among them.
    pub caught: usize,
}

/// The steps of the ROC curve, one for each different score.
pub fn steps(scored: &[Scored]) -> Vec<Step> {
    let mut sorted = scored.to_vec();
    sorted.sort_by(|a, b| b.score.total_cmp(&a.score));
    let (mut false_positives, mut caught) = (0, 0);
    sorted
        .chunk_by(|a, b| a.score == b.score)
        .map(|tied| {
            let positives = tied.iter().filter(|one| one.positive).count();
            caught += positives;
            false_positives += tied.len() - positives;
            Step { threshold: tied[0].score, false_positives, caught }
        })
        .collect()
}

/// 1 - AUC: the share of pairs of a negative and a positive document in which the negative one
/// scores higher, ties counted half; between 0 and 1. NaN unless there are documents of both kinds.
pub fn area_above(scored: &[Scored]) -> f64 {
    let (mut negatives, mut positives, mut wrong) = (0, 0, 0.0);
    for step in steps(scored) {
        let [others, here] = [step.false_positives - negatives, step.caught - positives];
        wrong += real(here) * (real(negatives) + real(others) / 2.0);
        (negatives, positives) = (step.false_positives, step.caught);
    }
    ratio(wrong, real(positives) * real(negatives))
}

/// The most positive documents that are caught at a threshold with at most this share of the
/// `negatives` above it.
pub fn caught_at(steps: &[Step], negatives: usize, rate: f64) -> usize {
    let allowed = rate * real(negatives);
    let within = steps.iter().take_while(|step| real(step.false_positives) <= allowed);
    within.last().map_or(0, |step| step.caught)
}

/// Share of positive documents above the lowest threshold that at most the share `rate` of the
/// negative ones exceeds.
pub fn recall_at(scored: &[Scored], rate: f64) -> f64 {
    let positives = scored.iter().filter(|one| one.positive).count();
    let caught = caught_at(&steps(scored), scored.len() - positives, rate);
    ratio(real(caught), real(positives))
}

/// Negative documents above `threshold`, and positive ones not above it.
pub fn mistakes(scored: &[Scored], threshold: f64) -> (usize, usize) {
    let above = |one: &&Scored| one.score > threshold;
    let false_positives = scored.iter().filter(|one| !one.positive).filter(above).count();
    let missed = scored.iter().filter(|one| one.positive).filter(|one| !above(one)).count();
    (false_positives, missed)
}

/// The 97.5 % point of the normal distribution: an interval of so many standard deviations on
/// either side has a confidence of 95 %.
pub const Z: f64 = 1.959963984540054;

/// A rate with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// The rate, 0..=1; NaN if there are no documents.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// The rate of `part` in `whole`, with Wilson's interval, which has a confidence of 95 % if the
/// documents are a random choice. If `whole` is 0, the rate is NaN and the interval 0 to 1.
pub fn rate(part: usize, whole: usize) -> Rate {
    let (k, n) = (real(part), real(whole));
    if whole == 0 {
        return Rate { value: f64::NAN, low: 0.0, high: 1.0 };
    }
    let p = k / n;
    let scale = 1.0 + Z * Z / n;
    let centre = (p + Z * Z / (2.0 * n)) / scale;
    let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt() / scale;
    let low = if part == 0 { 0.0 } else { (centre - half).max(0.0) };
    let high = if part == whole { 1.0 } else { (centre + half).min(1.0) };
    Rate { value: p, low, high }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(text: &str) -> Vec<Scored> {
        let scores = text.split(' ').map(|item| Scored {
            score: item[1..].parse().expect("a number"),
            positive: item.starts_with('+'),
        });
        scores.collect()
    }

    #[test]
    fn known_curves() {
        for (text, area, recall) in [
            ("+3 +2 -1 -0", 0.0, 1.0),
            ("-3 +2 +1 -0", 0.5, 0.0),
            ("+3 -2 +1 -0", 0.25, 0.5),
            ("+1 -1", 0.5, 0.0),
        ] {
            let scored = scored(text);
            assert_eq!(area_above(&scored), area, "{text}");
            assert_eq!(recall_at(&scored, 0.4), recall, "{text}");
        }
        assert_eq!(recall_at(&scored("+3 -2 +1 -0"), 0.5), 1.0);
        assert!(area_above(&scored("+1 +2")).is_nan());
        assert_eq!(mistakes(&scored("+3 -2 +1 -0"), 1.5), (1, 1));
    }

    #[test]
    fn wilson_intervals_are_the_published_ones() {
        for (part, whole, low, high) in [
            (0, 10, 0.0, 0.2775),
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (5, 5, 0.5655, 1.0),
        ] {
            let rate = rate(part, whole);
            assert!((rate.low - low).abs() < 1e-4, "{rate:?}");
            assert!((rate.high - high).abs() < 1e-4, "{rate:?}");
        }
        assert!(rate(0, 0).value.is_nan());
    }
}
