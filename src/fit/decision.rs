// SPDX-License-Identifier: GPL-3.0-or-later
//! Scores and support → the verdict on a document.

use super::calibrate::{Calibration, logistic, probabilities};
use super::header::RefitLine;
use super::select::best;
use super::support::Support;
use super::thresholds::{is_sure, is_unusual};
use dbacl_numeric::cformat;

/// The verdict of a set on a document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decision {
    /// Number of the more probable category, from 0.
    pub category: usize,
    /// Its probability.
    pub probability: f64,
    /// Whether the verdict is unsure.
    pub is_unsure: bool,
}

/// What can make a verdict unsure besides the odds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// A part of the document is of the second category.
    Part,
    /// Much of its text was never learned.
    New,
}

impl Decision {
    /// Appends `NAME PROBABILITY%`, or `unsure PROBABILITY% NAME`; `name` is that of the category.
    pub fn write(&self, out: &mut Vec<u8>, name: &[u8]) {
        out.extend_from_slice(if self.is_unsure { b"unsure" } else { name });
        out.push(b' ');
        cformat::fixed(out, 100.0 * self.probability, 0, 2);
        out.push(b'%');
        if self.is_unsure {
            out.push(b' ');
            out.extend_from_slice(name);
        }
    }
}

impl RefitLine {
    /// The verdict on a document, from its scores under the categories in the order of the set,
    /// nats a unit of complexity, see [`Scoring`], and the support. The verdict on a document
    /// without tokens, which has no scores, is unsure.
    ///
    /// [`Scoring`]: super::scoring::Scoring
    pub fn verdict(&self, scores: &[f64], support: Support) -> Decision {
        let Calibration { slope, offset } = self.calibration;
        if scores.iter().any(|score| !score.is_finite()) {
            let share = 1.0 / dbacl_numeric::elementary::real(scores.len().max(1));
            return Decision { category: 0, probability: share, is_unsure: true };
        }
        let is_unusual = is_unusual(support.known, support.texts, self.known);
        if let [first, second] = scores {
            let score = second - first;
            let probability = logistic(slope * score + offset);
            let (low, high) = self.band;
            let is_divided = self.is_divided(score, support);
            let is_unsure = is_unusual || is_divided || low < high && score > low && score <= high;
            let is_second = if is_unsure { probability > 0.5 } else { score > high };
            return Decision {
                category: usize::from(is_second),
                probability: if is_second { probability } else { 1.0 - probability },
                is_unsure,
            };
        }
        let probabilities = probabilities(scores, slope);
        let category = best(&probabilities);
        let probability = probabilities.get(category).copied().unwrap_or(0.0);
        let is_told = self.limits.is_empty() || {
            let odds: Vec<f64> = scores.iter().map(|score| slope * score).collect();
            is_sure(&odds, category, &self.limits)
        };
        Decision { category, probability, is_unsure: is_unusual || !is_told }
    }

    /// Whether a document whose score of the second category less that of the first is `score` is
    /// confidently of the first category, and a part of it certainly of the second.
    fn is_divided(&self, score: f64, support: Support) -> bool {
        score <= self.band.0 && self.limit_of_parts().is_some_and(|it| support.part > it)
    }

    /// What makes a verdict unsure, whatever the odds.
    pub fn doubt(&self, scores: &[f64], support: Support) -> Option<Doubt> {
        let is_divided =
            matches!(scores, [first, second] if self.is_divided(second - first, support));
        let is_unusual = is_unusual(support.known, support.texts, self.known);
        if is_divided { Some(Doubt::Part) } else { is_unusual.then_some(Doubt::New) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::header::tests::line;
    use crate::fit::scoring::Scoring;

    #[test]
    fn verdicts_follow_band_and_odds() {
        let line = line(1, 1);
        for (score, category, is_unsure) in
            [(-1.0, 0, false), (-0.25, 0, false), (0.0, 0, true), (0.4, 1, true), (0.6, 1, false)]
        {
            let verdict = line
                .verdict(&[0.0, score], Support { texts: 1000, known: 0.0, ..Support::default() });
            assert_eq!((verdict.category, verdict.is_unsure), (category, is_unsure), "{score}");
        }
        assert!(line.verdict(&[f64::NAN, f64::NAN], Support::default()).is_unsure);
        let careful = RefitLine { known: 0.5, ..line.clone() };
        for (score, known, category, is_unsure) in
            [(9.0, 0.4, 1, true), (9.0, 0.5, 1, false), (-9.0, 0.4, 0, true), (-9.0, 0.6, 0, false)]
        {
            let verdict = careful
                .verdict(&[0.0, score], Support { texts: 1000, known, ..Support::default() });
            assert_eq!((verdict.category, verdict.is_unsure), (category, is_unsure), "{score}");
        }
        let divided = RefitLine { wants_unsure: true, scoring: Scoring::Once, ..line.clone() };
        for (score, part, category, is_unsure) in [
            (-1.0, 0.6, 0, true),
            (-1.0, 0.5, 0, false),
            (0.6, 0.7, 1, false),
            (0.6, -9.0, 1, false),
        ] {
            let support = Support { part, ..Support::default() };
            let verdict = divided.verdict(&[0.0, score], support);
            assert_eq!((verdict.category, verdict.is_unsure), (category, is_unsure), "{score}");
            assert!(!line.verdict(&[0.0, -1.0], support).is_unsure);
        }
        let odds = line.log_odds(&[1.0, 1.5]);
        assert_eq!(odds, [-6.25 * 0.5 + 0.5, 6.25 * 0.5 - 0.5]);
        assert!(line.log_odds(&[f64::NAN, 1.0]).iter().all(|odds| odds.is_nan()));
        let scores = [1.0, 3.0, 2.0];
        let shares: f64 = line.probabilities(&scores).iter().sum();
        assert!((shares - 1.0).abs() < 1e-12, "{shares}");
        let verdict = line.verdict(&scores, Support::default());
        assert_eq!((verdict.category, verdict.is_unsure), (1, false));
        assert!(verdict.probability > 0.99);
        // The second is 12.5 nats ahead of the first, and 6.25 ahead of the third.
        for (limits, is_unsure) in
            [([13.0, 9.0, 6.0], true), ([12.0, 99.0, 6.0], false), ([12.0, 6.0, 7.0], true)]
        {
            let line = RefitLine { limits: limits.to_vec(), ..line.clone() };
            assert_eq!(
                line.verdict(&scores, Support::default()).is_unsure,
                is_unsure,
                "{limits:?}"
            );
        }
    }
}
