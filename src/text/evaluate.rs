// SPDX-License-Identifier: GPL-3.0-or-later
//! Predictions of texts whose labels are known → how good they are.

pub use crate::measures::confusion::PerLabel;
use crate::measures::confusion::{Confusion, mean_f1};
use crate::measures::{Rate, rate};
use crate::text::model::Prediction;
use crate::text::shorten;
use dbacl_numeric::elementary::{log2, real};
use std::collections::BTreeSet;

/// Bins of claims, for the calibration error.
const BINS: usize = 10;
/// Claims are bounded away from 0 in the log loss.
const SMALLEST: f64 = 1e-6;

/// The negative logarithm of the probability of the truth, bits; claims are bounded to 10^-6. A
/// label that the model does not know has the probability 0.
fn loss(truth: Option<usize>, prediction: &Prediction) -> f64 {
    let claim = truth.map_or(0.0, |truth| prediction.probabilities()[truth]);
    -log2(claim.max(SMALLEST))
}

/// Gathers predictions and measures them.
#[derive(Debug, Clone)]
pub struct Evaluation {
    /// Verdicts by label; there are labels that the model does not know.
    confusion: Confusion,
    /// Sum of claimed probabilities, documents that came true, documents; by bin.
    bins: [(f64, usize, usize); BINS],
    log_loss: f64,
    /// Claims, right ones, log loss and documents by [`LENGTHS`].
    lengths: [(f64, usize, f64, usize); LENGTHS.len()],
    /// Documents and right ones whose label has at least the probability of [`BOUNDS`], but not the
    /// next one.
    claims: [(usize, usize); BOUNDS.len()],
    unknown: BTreeSet<String>,
}

/// Probabilities below which a text may be called unsure.
const BOUNDS: [f64; 7] = [0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99];

/// What remains where texts whose label is less probable are unsure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AtLeast {
    /// The least probability.
    pub probability: f64,
    /// Share of the texts that get an answer.
    pub answered: Rate,
    /// Share of the answers that are wrong.
    pub wrong: Rate,
}

/// The fewest words of the groups in which lengths are distinguished.
const LENGTHS: [usize; 7] = [0, 2, 3, 5, 10, 20, 50];

/// How well texts of a length are classified.
#[derive(Debug, Clone, PartialEq)]
pub struct ByLength {
    /// How many words they have, such as `5-9`.
    pub words: String,
    /// Texts.
    pub documents: usize,
    /// Share of them that got the right label.
    pub right: f64,
    /// Mean probability of the labels that they got.
    pub claimed: f64,
    /// Mean log loss, bits.
    pub log_loss: f64,
}

impl Evaluation {
    /// Nothing measured yet, with a model of so many labels.
    pub fn new(labels: usize) -> Self {
        let lengths = [(0.0, 0, 0.0, 0); LENGTHS.len()];
        let (bins, claims) = ([(0.0, 0, 0); BINS], [(0, 0); BOUNDS.len()]);
        let (confusion, unknown) = (Confusion::new(labels), BTreeSet::new());
        Self { confusion, bins, log_loss: 0.0, lengths, claims, unknown }
    }

    /// Notes a label of texts that the model does not know; its F1 is 0.
    pub fn note_unknown(&mut self, label: &str) {
        note(&mut self.unknown, label);
    }

    /// Takes the prediction of a text; `truth` is the number of its label, `None` if the model does
    /// not know it.
    pub fn add(&mut self, truth: Option<usize>, prediction: &Prediction, text: &[u8]) {
        let best = prediction.best();
        let claim = prediction.probabilities()[best];
        let (hit, loss) = (usize::from(truth == Some(best)), loss(truth, prediction));
        self.confusion.add(truth, Some(best));
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0..=BINS
        let bin = &mut self.bins[((claim * 10.0) as usize).min(BINS - 1)];
        *bin = (bin.0 + claim, bin.1 + hit, bin.2 + 1);
        let bound = BOUNDS.iter().rposition(|&bound| claim >= bound).unwrap_or(0);
        let claims = &mut self.claims[bound];
        *claims = (claims.0 + 1, claims.1 + hit);
        self.log_loss += loss;
        let words = shorten::words(text);
        let group = LENGTHS.iter().rposition(|&fewest| fewest <= words).unwrap_or(0);
        let own = &mut self.lengths[group];
        *own = (own.0 + claim, own.1 + hit, own.2 + loss, own.3 + 1);
    }

    /// How well texts of each length are classified.
    pub fn by_length(&self) -> Vec<ByLength> {
        let each = self.lengths.iter().enumerate().filter(|(_, own)| own.3 > 0);
        each.map(|(group, &(claimed, right, loss, documents))| {
            let first = LENGTHS[group];
            let words = match LENGTHS.get(group + 1) {
                None => format!("{first}-"),
                Some(&next) if next == first + 1 => first.to_string(),
                Some(&next) => format!("{first}-{}", next - 1),
            };
            let [right, claimed, log_loss] =
                [real(right), claimed, loss].map(|sum| sum / real(documents));
            ByLength { words, documents, right, claimed, log_loss }
        })
        .collect()
    }

    /// For each bound above 0, how many texts are answered if an answer must be so probable, and
    /// how many of these answers are wrong.
    pub fn at_least(&self) -> Vec<AtLeast> {
        let one = |at: usize| {
            let above = &self.claims[at..];
            let (answers, right) =
                above.iter().fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
            let answered = rate(answers, self.documents());
            AtLeast { probability: BOUNDS[at], answered, wrong: rate(answers - right, answers) }
        };
        (1..BOUNDS.len()).map(one).collect()
    }

    /// Texts that were classified.
    pub fn documents(&self) -> usize {
        self.confusion.documents()
    }

    /// Share of right verdicts.
    pub fn accuracy(&self) -> Rate {
        rate(self.confusion.right(), self.confusion.documents())
    }

    /// Precision, recall and F1 of each label.
    pub fn labels(&self) -> Vec<PerLabel> {
        self.confusion.each().collect()
    }

    /// Average F1 of the labels that have texts, those included that the model does not know.
    pub fn macro_f1(&self) -> f64 {
        mean_f1(self.confusion.each().chain(without_any(&self.unknown)))
    }

    /// Average negative logarithm of the probability of the truth, bits; claims are bounded to
    /// 10^-6.
    pub fn log_loss(&self) -> f64 {
        self.log_loss / real(self.documents())
    }

    /// Expected calibration error: average distance of the claimed probability of verdicts and the
    /// share that came true, in ten bins.
    pub fn calibration_error(&self) -> f64 {
        let distances = self.bins.iter().map(|&(claimed, right, _)| (claimed - real(right)).abs());
        distances.sum::<f64>() / real(self.documents())
    }

    /// The most frequent errors: truth, verdict, texts; at most `limit` of them.
    pub fn worst(&self, limit: usize) -> Vec<(usize, usize, usize)> {
        let mut worst = self.confusion.worst();
        worst.truncate(limit);
        worst
    }
}

/// Gathers predictions of texts that may have several labels, and measures them.
#[derive(Debug, Clone)]
pub struct SeveralEvaluation {
    /// Texts with the label, texts that were called so, texts of which both is true; by label.
    counts: Vec<[usize; 3]>,
    documents: usize,
    exact: usize,
    log_loss: f64,
    unknown: BTreeSet<String>,
}

fn note(unknown: &mut BTreeSet<String>, label: &str) {
    if !unknown.contains(label) {
        unknown.insert(label.to_owned());
    }
}

/// What is measured of labels that have texts and are never recognised.
fn without_any(unknown: &BTreeSet<String>) -> impl Iterator<Item = PerLabel> {
    std::iter::repeat_n(PerLabel::of([1, 0, 0]), unknown.len())
}

impl SeveralEvaluation {
    /// Nothing measured yet, with a model of so many labels.
    pub fn new(labels: usize) -> Self {
        let counts = vec![[0; 3]; labels];
        Self { counts, documents: 0, exact: 0, log_loss: 0.0, unknown: BTreeSet::new() }
    }

    /// Notes a label of texts that the model does not know; its F1 is 0.
    pub fn note_unknown(&mut self, label: &str) {
        note(&mut self.unknown, label);
    }

    /// Takes a prediction; `truth` are the numbers of the text's labels, rising. A label that the
    /// model does not know is `None` and makes the text wrong.
    pub fn add(&mut self, truth: &[Option<usize>], prediction: &Prediction) {
        let found = prediction.labels();
        for (label, counts) in self.counts.iter_mut().enumerate() {
            let (is_own, is_called) = (truth.contains(&Some(label)), found.contains(&label));
            counts[0] += usize::from(is_own);
            counts[1] += usize::from(is_called);
            counts[2] += usize::from(is_own && is_called);
            let p = prediction.probabilities()[label];
            self.log_loss -= log2((if is_own { p } else { 1.0 - p }).max(SMALLEST));
        }
        self.documents += 1;
        let is_exact =
            found.len() == truth.len() && found.iter().all(|&it| truth.contains(&Some(it)));
        self.exact += usize::from(is_exact);
    }

    /// Texts that were classified.
    pub const fn documents(&self) -> usize {
        self.documents
    }

    /// Share of texts that got all of their labels and no others.
    pub fn exact(&self) -> Rate {
        rate(self.exact, self.documents)
    }

    /// Precision, recall and F1 of each label.
    pub fn labels(&self) -> Vec<PerLabel> {
        self.counts.iter().map(|&counts| PerLabel::of(counts)).collect()
    }

    /// F1 of all labels of all texts together.
    pub fn micro_f1(&self) -> f64 {
        let add = |sum: [usize; 3], own: &[usize; 3]| [0, 1, 2].map(|at| sum[at] + own[at]);
        PerLabel::of(self.counts.iter().fold([0; 3], add)).f1
    }

    /// Average F1 of the labels that have texts, those included that the model does not know.
    pub fn macro_f1(&self) -> f64 {
        mean_f1(self.labels().into_iter().chain(without_any(&self.unknown)))
    }

    /// Average negative logarithm of the probability that was given to the truth, for each label
    /// of each text, bits.
    pub fn log_loss(&self) -> f64 {
        self.log_loss / real(self.documents * self.counts.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_leave_out_what_is_less_probable() {
        let mut found = Evaluation::new(2);
        for (truth, claim) in [(0, 0.995), (1, 0.95), (0, 0.9), (0, 0.6), (1, 0.51)] {
            found.add(Some(truth), &Prediction::of(vec![claim, 1.0 - claim]), b"");
        }
        let shares = |at: usize| {
            let AtLeast { probability, answered, wrong } = found.at_least()[at];
            (probability, answered.value, wrong.value)
        };
        assert_eq!(shares(0), (0.5, 1.0, 0.4));
        assert_eq!(shares(3), (0.9, 0.6, 1.0 / 3.0));
        assert_eq!(shares(4), (0.95, 0.4, 0.5));
        assert_eq!(shares(5), (0.99, 0.2, 0.0));
        assert!(Evaluation::new(2).at_least()[0].wrong.value.is_nan());
    }

    #[test]
    fn lengths_are_told_apart() {
        let mut found = Evaluation::new(2);
        for (text, truth) in [("one", 0), ("two", 1), ("of five words or six", 0)] {
            found.add(Some(truth), &Prediction::of(vec![0.75, 0.25]), text.as_bytes());
        }
        let lengths = found.by_length();
        assert_eq!(lengths.len(), 2);
        assert_eq!(
            (lengths[0].words.as_str(), lengths[0].right, lengths[0].claimed),
            ("0-1", 0.5, 0.75)
        );
        assert_eq!((lengths[1].words.as_str(), lengths[1].documents), ("5-9", 1));
        assert!((lengths[0].log_loss - (2.0 - 0.75f64.log2()) / 2.0).abs() < 1e-12);
    }

    #[test]
    fn verdicts_are_counted() {
        let mut found = Evaluation::new(3);
        for (truth, probabilities) in [
            (Some(0), [0.8, 0.1, 0.1]),
            (Some(0), [0.2, 0.5, 0.3]),
            (Some(1), [0.1, 0.8, 0.1]),
            (Some(1), [0.1, 0.8, 0.1]),
            (None, [0.0, 0.0, 1.0]),
        ] {
            found.add(truth, &Prediction::of(probabilities.to_vec()), b"");
        }
        assert_eq!(found.documents(), 5);
        assert_eq!(found.accuracy().value, 0.6);
        assert_eq!(found.worst(5), [(0, 1, 1)]);
        let first = found.labels()[0];
        assert_eq!((first.documents, first.recall.value, first.precision.value), (2, 0.5, 1.0));
        assert!((found.macro_f1() - f64::midpoint(2.0 / 3.0, 0.8)).abs() < 1e-12);
        found.note_unknown("other");
        found.note_unknown("other");
        assert!((found.macro_f1() - (2.0 / 3.0 + 0.8) / 3.0).abs() < 1e-12);
        // 0.8 three times and right each time, 0.5 and 1.0 wrong
        assert!((found.calibration_error() - (0.6 + 0.5 + 1.0) / 5.0).abs() < 1e-12);
        let loss = -(3.0 * 0.8f64.log2() + 0.2f64.log2() + 1e-6f64.log2()) / 5.0;
        assert!((found.log_loss() - loss).abs() < 1e-12);
    }
}
