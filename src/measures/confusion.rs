// SPDX-License-Identifier: GPL-3.0-or-later
//! Which labels documents get, and how well each label is recognised.

use crate::measures::{Rate, rate};
use dbacl_numeric::elementary::real;
use std::cmp::Reverse;

/// How well the documents of a label are recognised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PerLabel {
    /// Documents of the label.
    pub documents: usize,
    /// Share of what was called so that is of it.
    pub precision: Rate,
    /// Share of them that was recognised.
    pub recall: Rate,
    /// Harmonic mean of both; 0 if nothing was right.
    pub f1: f64,
}

impl PerLabel {
    /// Of the documents of the label, those that were called so, and those of which both is true.
    pub(crate) fn of([documents, called, hits]: [usize; 3]) -> Self {
        let both = real(documents + called);
        let f1 = if both > 0.0 { 2.0 * real(hits) / both } else { 0.0 };
        Self { documents, precision: rate(hits, called), recall: rate(hits, documents), f1 }
    }
}

/// Average F1 of the labels that have documents.
pub fn mean_f1(labels: impl IntoIterator<Item = PerLabel>) -> f64 {
    let seen = labels.into_iter().filter(|one| one.documents > 0);
    let seen: Vec<f64> = seen.map(|one| one.f1).collect();
    seen.iter().sum::<f64>() / real(seen.len())
}

/// Numbers of documents by label and verdict. Either may be none that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confusion {
    labels: usize,
    /// `cells[label * (labels + 1) + verdict]`; the last row and column are of what is not known.
    cells: Vec<usize>,
}

impl Confusion {
    /// Nothing counted yet, of so many labels.
    pub fn new(labels: usize) -> Self {
        Self { labels, cells: vec![0; (labels + 1) * (labels + 1)] }
    }

    /// Counts a document.
    pub fn add(&mut self, label: Option<usize>, verdict: Option<usize>) {
        let [label, verdict] = [label, verdict].map(|own| own.unwrap_or(self.labels));
        self.cells[label * (self.labels + 1) + verdict] += 1;
    }

    /// The documents of a label by verdict, last those without one that is known.
    pub fn row(&self, label: usize) -> &[usize] {
        &self.cells[label * (self.labels + 1)..][..=self.labels]
    }

    /// The rows of all labels.
    pub fn rows(&self) -> impl Iterator<Item = &[usize]> {
        (0..self.labels).map(|label| self.row(label))
    }

    /// All documents.
    pub(crate) fn documents(&self) -> usize {
        self.cells.iter().sum()
    }

    /// Documents whose verdict is their label.
    pub fn right(&self) -> usize {
        (0..self.labels).map(|label| self.row(label)[label]).sum()
    }

    /// Documents with a verdict.
    pub fn called(&self, verdict: usize) -> usize {
        (0..=self.labels).map(|label| self.row(label)[verdict]).sum()
    }

    /// Precision, recall and F1 of each label.
    pub fn each(&self) -> impl Iterator<Item = PerLabel> {
        let of = |label| [self.row(label).iter().sum(), self.called(label), self.row(label)[label]];
        (0..self.labels).map(of).map(PerLabel::of)
    }

    /// The wrong verdicts on documents of known labels, the most frequent ones first: label,
    /// verdict, documents.
    pub fn worst(&self) -> Vec<(usize, usize, usize)> {
        let cells = self.rows().enumerate().flat_map(|(label, row)| {
            row.iter().enumerate().map(move |(verdict, &count)| (label, verdict, count))
        });
        let is_wrong =
            |&(label, verdict, count): &(usize, usize, usize)| label != verdict && count > 0;
        let mut worst: Vec<(usize, usize, usize)> = cells.filter(is_wrong).collect();
        worst.sort_by_key(|&(label, verdict, count)| (Reverse(count), label, verdict));
        worst
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_counted() {
        let mut found = Confusion::new(2);
        for (label, verdict) in [(0, 0), (0, 1), (1, 1), (1, 1), (1, 2), (2, 1)] {
            let known = |own| Some(own).filter(|&own| own < 2);
            found.add(known(label), known(verdict));
        }
        assert_eq!(found.rows().collect::<Vec<_>>(), [[1, 1, 0], [0, 2, 1]]);
        assert_eq!((found.documents(), found.right(), found.called(1)), (6, 3, 4));
        let [first, second] = found.each().collect::<Vec<_>>()[..] else { panic!("two labels") };
        assert_eq!((first.documents, first.precision.value, first.recall.value), (2, 1.0, 0.5));
        assert_eq!((second.precision.value, second.f1), (0.5, 4.0 / 7.0));
        assert_eq!(mean_f1([first, second]), f64::midpoint(2.0 / 3.0, 4.0 / 7.0));
        assert_eq!(found.worst(), [(0, 1, 1), (1, 2, 1)]);
    }
}
