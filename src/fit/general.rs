// SPDX-License-Identifier: GPL-3.0-or-later
//! The general model of a filter: another filter, which was learned from mail of other people, and
//! whose scores are added to those of the fit (spec refit 5).
//!
//! ```text
//! score = fitted score + share * score of the general model
//! ```
//!
//! Labels are the same where they have the same name. What the general model knows and the filter
//! does not stands for all that the filter has besides: to a label of another name the general
//! model gives the mean score of those of its own that the filter does not have. If it has none of
//! that kind, it gives the mean of all, and speaks neither for such a label nor against it.
//!
//! A feature is known if either of the two knows it. The general model has not seen the messages of
//! the filter: in cross-validation its scores are the same in every fold.

use crate::fit::blocks::{BLOCKS, inputs, score};
use crate::fit::dataset::Dataset;
use crate::measures::calibration::Calibration;
use dbacl_numeric::elementary::real;

/// Shares of the general model's scores that are tried, the one that is likeliest first: of
/// settings that classify equally well the first is taken.
pub(crate) const SHARES: [f64; 4] = [0.5, 1.0, 0.25, 0.0];

/// The share where there are too few messages to choose one.
pub(crate) const SHARE_OF_FEW: f64 = 0.5;

/// Which labels of a general model are those of a filter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SameLabels(Vec<Option<usize>>);

impl SameLabels {
    /// For each label of the filter the place of the model's own label of the same name.
    pub(crate) fn new<T: AsRef<str>>(own: &[String], labels: &[T]) -> Self {
        let place = |label: &T| own.iter().position(|own| own == label.as_ref());
        Self(labels.iter().map(place).collect())
    }

    /// The values of the model's labels for those of the filter.
    pub(crate) fn of(&self, own: &[f64]) -> Vec<f64> {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / real(values.len());
        let others = (0..own.len()).filter(|at| !self.0.contains(&Some(*at)));
        let others: Vec<f64> = others.map(|at| own[at]).collect();
        let rest = if others.is_empty() { mean(own) } else { mean(&others) };
        self.0.iter().map(|same| same.map_or(rest, |at| own[at])).collect()
    }

    /// The scores of the model for the labels of the filter, from its scores by problem. Of two
    /// labels the first has the score 0.
    pub(crate) fn scores(&self, own: &[f64]) -> Vec<f64> {
        let all = if let [second] = own { self.of(&[0.0, *second]) } else { self.of(own) };
        if let [first, second] = all[..] { vec![0.0, second - first] } else { all }
    }
}

/// What a general model says of the features of messages that are fitted.
#[derive(Debug, Clone, Default)]
pub(crate) struct GeneralModel {
    /// Its labels.
    pub same: SameLabels,
    /// Whether it knows the feature of each column.
    pub knows: Vec<bool>,
    /// Its weights by column and problem of its own.
    pub weights: Vec<f32>,
    /// What its intercept adds to the score in each problem.
    pub intercepts: Vec<f64>,
    /// The logarithm of the odds for one of its scores.
    pub slope: f64,
    /// With two labels of its own, the score at which odds are even.
    pub even: f64,
}

impl GeneralModel {
    /// The odds of scores that hold this share of its own ones and nothing else.
    pub(crate) fn calibration(&self, share: f64) -> Calibration {
        let slope = self.slope.max(0.0) / share;
        Calibration { slope, offset: -slope * share * self.even() }
    }

    /// In a filter of two labels, the score at which the model's odds are even.
    pub(crate) fn even(&self) -> f64 {
        if self.intercepts.len() > 1 {
            return 0.0;
        }
        match self.same.scores(&[self.even])[..] {
            [_, even] => even,
            _ => 0.0,
        }
    }

    /// Its scores of all messages of `data`, message by message. `takes_part` says which columns
    /// the filter itself knows.
    pub(crate) fn opinion(&self, data: &Dataset, takes_part: impl Fn(usize) -> bool) -> Vec<f64> {
        let problems = self.intercepts.len();
        let mut all = Vec::with_capacity(data.len() * data.width);
        for document in 0..data.len() {
            let mut sums = vec![[0.0; BLOCKS]; problems];
            let mut known = [0; BLOCKS];
            let row = data.row(document);
            for (block, columns) in row.into_iter().enumerate() {
                for &column in columns {
                    let column = column as usize;
                    known[block] += usize::from(self.knows[column] || takes_part(column));
                    let own = &self.weights[column * problems..][..problems];
                    for (sum, &weight) in sums.iter_mut().zip(own) {
                        sum[block] += f64::from(weight);
                    }
                }
            }
            let inputs = inputs(known, row.map(<[u32]>::len), data.len()).map(f64::from);
            let each = sums.iter().zip(&self.intercepts);
            let own = each.map(|(sum, intercept)| score(*sum, inputs, *intercept));
            all.extend(self.same.scores(&own.collect::<Vec<f64>>()));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_other_names_get_what_is_left() {
        let names = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (own, labels, values, expected) in [
            ("ham spam", "ham spam", vec![3.0], vec![0.0, 3.0]),
            ("ham spam", "spam ham", vec![3.0], vec![0.0, -3.0]),
            // What is not ham is spam to the general model.
            ("ham spam", "ham junk", vec![3.0], vec![0.0, 3.0]),
            ("ham spam", "ham work spam", vec![3.0], vec![0.0, 1.5, 3.0]),
            ("ham work spam", "ham spam", vec![1.0, 2.0, 5.0], vec![0.0, 4.0]),
            ("ham work lists", "ham new", vec![1.0, 2.0, 4.0], vec![0.0, 2.0]),
        ] {
            let same = SameLabels::new(&names(own), &names(labels));
            assert_eq!(same.scores(&values), expected, "{own} {labels}");
        }
    }
}
