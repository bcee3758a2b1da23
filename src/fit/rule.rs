// SPDX-License-Identifier: GPL-3.0-or-later
//! Scores and support → the verdict on a message. A filter keeps its [`Rule`] beside its sums.

use crate::fit::blocks::{best, best_other};
use crate::fit::calibrate::probabilities;
use crate::fit::thresholds::{Caution, is_unusual};
use crate::measures::calibration::{Calibration, logistic};
use dbacl_numeric::cformat;
use dbacl_numeric::elementary::{exp, log, real};
use serde::{Deserialize, Serialize};

/// How far a part of the text must be spam, as a share of how far a whole message must be. Larger
/// shares leave less good mail unsure, but more spam passes with a quoted good message.
const SHARE_OF_PARTS: f64 = 0.375;

/// How scores become verdicts: what the last fit of all messages has found, and what users want.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rule {
    /// The calibration of scores: of two labels, of the difference of the second and the first; of
    /// more, its slope is that of each.
    pub calibration: Calibration,
    /// With two labels: scores up to the first are of the first label, scores above the second of
    /// the second, between them the verdict is *unsure*.
    pub band: (f64, f64),
    /// With more: for each label the gap to the next one, log odds, above which it is sure.
    pub gaps: Vec<f64>,
    /// With more: for each protected label the log odds against it above which another is sure.
    pub limits: Vec<Option<f64>>,
    /// The least share of known features with which a verdict can be sure; 0 if any share is
    /// enough.
    pub known: f64,
    /// What was usual among the messages of each label, by which later ones can be distinguished;
    /// empty if that is not known.
    pub usual: Vec<Usual>,
    /// How sure verdicts must be.
    pub caution: Caution,
    /// The shares of the messages of each label that may confidently be called another, where the
    /// label is protected.
    pub protected: Vec<Option<f64>>,
    /// Whether the user has asked for such a share.
    pub is_asked: bool,
    /// Share of the general model's scores.
    pub general: f64,
    /// Labels of corrections for which there is no mail folder now. They are numbered after the
    /// filter's own labels.
    pub others: Vec<String>,
}

/// What is usual among the messages of a label, each classified by a fit that has not seen it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Usual {
    /// The share of them about which the verdict is unsure.
    pub unsure: f64,
    /// The share of known features of the message in the middle.
    pub known: f64,
}

/// What a verdict depends on besides the scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Support {
    /// How many of its different features come from text.
    pub texts: usize,
    /// The share of these that the filter knows.
    pub known: f64,
    /// With two labels, the highest score of a part of the text. Minus infinity if there is none.
    pub part: f64,
}

impl Default for Support {
    /// All features are known, and there are no parts.
    fn default() -> Self {
        Self { texts: 0, known: 1.0, part: f64::NEG_INFINITY }
    }
}

/// The verdict on a message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Decision {
    /// Number of the most probable label, from 0.
    pub label: usize,
    /// Its probability.
    pub probability: f64,
    /// Whether the verdict is unsure.
    pub is_unsure: bool,
}

/// What can make a verdict unsure besides the odds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// A part of the message is of the second label.
    Part,
    /// Much of its text was never learned.
    New,
}

impl Decision {
    /// Appends `NAME PROBABILITY%`, or `unsure PROBABILITY% NAME`; `name` is that of the label.
    pub(crate) fn write(&self, out: &mut Vec<u8>, name: &[u8]) {
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

impl Rule {
    /// The score above which a part of a message, by itself, makes the verdict unsure where the
    /// whole is confidently of the first label.
    fn limit_of_parts(&self) -> f64 {
        let even = self.calibration.even();
        even + SHARE_OF_PARTS * (self.band.1 - even) / self.caution.factor()
    }

    /// The verdict on a message, from its scores by label and the support. The verdict on a message
    /// without features, which has no scores, is unsure.
    pub(crate) fn verdict(&self, scores: &[f64], support: Support) -> Decision {
        let Calibration { slope, offset } = self.calibration;
        if scores.iter().any(|score| !score.is_finite()) {
            let probability = 1.0 / real(scores.len().max(1));
            return Decision { label: 0, probability, is_unsure: true };
        }
        let is_doubtful = self.doubt(scores, support).is_some();
        if let [first, second] = scores {
            let score = second - first;
            let probability = logistic(slope * score + offset);
            let (low, high) = self.band;
            let is_unsure = is_doubtful || low < high && score > low && score <= high;
            let is_second = if is_unsure { probability > 0.5 } else { score > high };
            return Decision {
                label: usize::from(is_second),
                probability: if is_second { probability } else { 1.0 - probability },
                is_unsure,
            };
        }
        let probabilities = probabilities(scores, slope);
        let label = best(&probabilities);
        let probability = probabilities.get(label).copied().unwrap_or(0.0);
        Decision { label, probability, is_unsure: is_doubtful || !self.is_sure(scores, label) }
    }

    /// Whether, of more than two labels, this one is far enough ahead of the others.
    fn is_sure(&self, scores: &[f64], label: usize) -> bool {
        let ahead = |at: usize| self.calibration.slope * (scores[label] - scores[at]);
        let gap = self.gaps.get(label).copied().unwrap_or_default();
        let mut others = (0..scores.len()).filter(|&at| at != label);
        others.all(|at| {
            let limit = self.limits.get(at).copied().flatten();
            ahead(at) > gap && limit.is_none_or(|limit| ahead(at) > limit)
        })
    }

    /// What makes a verdict unsure, whatever the odds.
    pub(crate) fn doubt(&self, scores: &[f64], support: Support) -> Option<Doubt> {
        if let [first, second] = scores
            && second - first <= self.band.0
            && support.part > self.limit_of_parts()
        {
            return Some(Doubt::Part);
        }
        is_unusual(support.known, support.texts, self.known).then_some(Doubt::New)
    }

    /// Logarithms of the odds (nats) of each label against all others; NaN for a message without
    /// features. Thresholds play no part in them.
    pub(crate) fn log_odds(&self, scores: &[f64]) -> Vec<f64> {
        let Calibration { slope, offset } = self.calibration;
        if scores.iter().any(|score| !score.is_finite()) {
            return vec![f64::NAN; scores.len()];
        }
        if let [first, second] = scores {
            let odds = slope * (second - first) + offset;
            return vec![-odds, odds];
        }
        let against = |own: usize| {
            let highest = scores[best_other(scores, own)];
            let others = (0..scores.len()).filter(|&at| at != own).map(|at| scores[at]);
            let sum: f64 = others.map(|score| exp(slope * (score - highest))).sum();
            slope * (scores[own] - highest) - log(sum)
        };
        (0..scores.len()).map(against).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A rule of two labels.
    pub(crate) fn rule() -> Rule {
        Rule {
            calibration: Calibration { slope: 6.25, offset: -0.5 },
            band: (-0.25, 0.5),
            gaps: Vec::new(),
            limits: Vec::new(),
            known: 0.0,
            usual: Vec::new(),
            caution: Caution::Normal,
            protected: vec![Some(0.001), None],
            is_asked: false,
            general: 0.0,
            others: Vec::new(),
        }
    }

    #[test]
    fn verdicts_on_two_labels_follow_band_and_odds() {
        let verdict = |rule: &Rule, score: f64, support: Support| {
            let found = rule.verdict(&[0.0, score], support);
            (found.label, found.is_unsure)
        };
        let rule = rule();
        for (score, label, is_unsure) in
            [(-1.0, 0, false), (-0.25, 0, false), (0.0, 0, true), (0.4, 1, true), (0.6, 1, false)]
        {
            assert_eq!(verdict(&rule, score, Support::default()), (label, is_unsure), "{score}");
        }
        assert!(rule.verdict(&[f64::NAN; 2], Support::default()).is_unsure);
        let careful = Rule { known: 0.5, ..rule.clone() };
        for (score, known, label, is_unsure) in
            [(9.0, 0.4, 1, true), (9.0, 0.5, 1, false), (-9.0, 0.4, 0, true), (-9.0, 0.6, 0, false)]
        {
            let support = Support { texts: 1000, known, ..Support::default() };
            assert_eq!(verdict(&careful, score, support), (label, is_unsure), "{score}");
        }
        // A score of 0.08 has even odds. A part counts if its score is at least 0.08 + 0.42 * 3/8.
        for (score, part, label, is_unsure) in
            [(-1.0, 0.24, 0, true), (-1.0, 0.23, 0, false), (0.6, 0.7, 1, false)]
        {
            let support = Support { part, ..Support::default() };
            assert_eq!(verdict(&rule, score, support), (label, is_unsure), "{score} {part}");
        }
        let odds = rule.log_odds(&[1.0, 1.5]);
        assert_eq!(odds, [-6.25 * 0.5 + 0.5, 6.25 * 0.5 - 0.5]);
        assert!(rule.log_odds(&[f64::NAN, 1.0]).iter().all(|odds| odds.is_nan()));
    }

    #[test]
    fn of_many_labels_one_is_sure_far_ahead_of_the_others() {
        let scores = [1.0, 3.0, 2.0];
        let shares: f64 = rule().log_odds(&scores).into_iter().map(logistic).sum();
        assert!((shares - 1.0).abs() < 1e-12, "{shares}");
        // The second is 12.5 nats ahead of the first, and 6.25 ahead of the third.
        for (gap, limits, is_unsure) in [
            (6.0, vec![], false),
            (6.5, vec![], true),
            (6.0, vec![Some(12.0), None, None], false),
            (6.0, vec![Some(13.0), None, None], true),
            (6.0, vec![Some(12.0), Some(99.0), Some(7.0)], true),
        ] {
            let rule = Rule { gaps: vec![99.0, gap, 99.0], limits, ..rule() };
            let found = rule.verdict(&scores, Support::default());
            assert_eq!((found.label, found.is_unsure), (1, is_unsure), "{gap} {:?}", rule.limits);
        }
    }
}
