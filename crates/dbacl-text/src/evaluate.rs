// SPDX-License-Identifier: GPL-3.0-or-later
//! Predictions of texts whose labels are known → how good they are.

use crate::model::Prediction;
use dbacl::measures::{Rate, rate};
use dbacl_numeric::elementary::log2;

/// Bins of claims, for the calibration error.
const BINS: usize = 10;
/// Claims are bounded away from 0 in the log loss.
const SMALLEST: f64 = 1e-6;

/// `part` of `whole`, with its interval of 95 %.
fn share(part: u64, whole: u64) -> Rate {
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    rate(count(part), count(whole))
}

/// The negative logarithm of the probability of the truth, bits; claims are bounded to 10^-6. A
/// label that the model does not know has the probability 0.
pub(crate) fn loss(truth: Option<usize>, prediction: &Prediction) -> f64 {
    let claim = truth.map_or(0.0, |truth| prediction.probabilities()[truth]);
    -log2(claim.max(SMALLEST))
}

#[allow(clippy::cast_precision_loss)] // numbers of documents
const fn real(count: u64) -> f64 {
    count as f64
}

/// How well the texts of a label are told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PerLabel {
    /// Texts of the label.
    pub documents: u64,
    /// Share of what was called so that is of it.
    pub precision: Rate,
    /// Share of them that was recognised.
    pub recall: Rate,
    /// Harmonic mean of both; 0 if nothing was right.
    pub f1: f64,
}

/// Gathers predictions and measures them.
#[derive(Debug, Clone)]
pub struct Evaluation {
    labels: usize,
    /// `confusion[truth * labels + verdict]`; the last row is of labels that the model does not
    /// know.
    confusion: Vec<u64>,
    /// Sum of claimed probabilities, documents that came true, documents; by bin.
    bins: [(f64, u64, u64); BINS],
    log_loss: f64,
}

impl Evaluation {
    /// Nothing measured yet, with a model of so many labels.
    pub fn new(labels: usize) -> Self {
        let confusion = vec![0; (labels + 1) * labels];
        Self { labels, confusion, bins: [(0.0, 0, 0); BINS], log_loss: 0.0 }
    }

    /// Takes a prediction; `truth` is the number of the text's label, `None` if the model does not
    /// know it.
    pub fn add(&mut self, truth: Option<usize>, prediction: &Prediction) {
        let best = prediction.best();
        let claim = prediction.probabilities()[best];
        self.confusion[truth.unwrap_or(self.labels) * self.labels + best] += 1;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0..=BINS
        let bin = &mut self.bins[((claim * 10.0) as usize).min(BINS - 1)];
        bin.0 += claim;
        bin.1 += u64::from(truth == Some(best));
        bin.2 += 1;
        self.log_loss += loss(truth, prediction);
    }

    /// Texts that were judged.
    pub fn documents(&self) -> u64 {
        self.confusion.iter().sum()
    }

    fn cell(&self, truth: usize, verdict: usize) -> u64 {
        self.confusion[truth * self.labels + verdict]
    }

    /// Share of right verdicts.
    pub fn accuracy(&self) -> Rate {
        let right = (0..self.labels).map(|label| self.cell(label, label)).sum();
        share(right, self.documents())
    }

    /// Precision, recall and F1 of a label.
    pub fn of_label(&self, label: usize) -> PerLabel {
        let documents = (0..self.labels).map(|verdict| self.cell(label, verdict)).sum();
        let called = (0..=self.labels).map(|truth| self.cell(truth, label)).sum();
        let hits = self.cell(label, label);
        let both = documents + called;
        PerLabel {
            documents,
            precision: share(hits, called),
            recall: share(hits, documents),
            f1: if both > 0 { 2.0 * real(hits) / real(both) } else { 0.0 },
        }
    }

    /// Average F1 of the labels that have texts.
    pub fn macro_f1(&self) -> f64 {
        let labels = (0..self.labels).map(|label| self.of_label(label));
        let seen: Vec<f64> = labels.filter(|one| one.documents > 0).map(|one| one.f1).collect();
        seen.iter().sum::<f64>() / real(seen.len() as u64)
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
    pub fn worst(&self, limit: usize) -> Vec<(usize, usize, u64)> {
        let all = (0..self.labels).flat_map(|truth| (0..self.labels).map(move |it| (truth, it)));
        let wrong = all.filter(|(truth, verdict)| truth != verdict);
        let counted = wrong.map(|(truth, verdict)| (truth, verdict, self.cell(truth, verdict)));
        let mut worst: Vec<_> = counted.filter(|one| one.2 > 0).collect();
        worst.sort_by_key(|&(truth, verdict, texts)| (std::cmp::Reverse(texts), truth, verdict));
        worst.truncate(limit);
        worst
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            found.add(truth, &Prediction::of(probabilities.to_vec()));
        }
        assert_eq!(found.documents(), 5);
        assert_eq!(found.accuracy().value, 0.6);
        assert_eq!(found.worst(5), [(0, 1, 1)]);
        let first = found.of_label(0);
        assert_eq!((first.documents, first.recall.value, first.precision.value), (2, 0.5, 1.0));
        assert!((found.macro_f1() - f64::midpoint(2.0 / 3.0, 0.8)).abs() < 1e-12);
        // 0.8 three times and right each time, 0.5 and 1.0 wrong
        assert!((found.calibration_error() - (0.6 + 0.5 + 1.0) / 5.0).abs() < 1e-12);
        let loss = -(3.0 * 0.8f64.log2() + 0.2f64.log2() + 1e-6f64.log2()) / 5.0;
        assert!((found.log_loss() - loss).abs() < 1e-12);
    }
}
