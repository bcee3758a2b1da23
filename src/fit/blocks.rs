// SPDX-License-Identifier: GPL-3.0-or-later
//! The blocks of a message, its text, its tags and its tags of agreement, and what the fit, lessons
//! and verdicts share: inputs, scales and costs.
//!
//! ```text
//! input of a feature   v_b / sqrt(k^(1-h) a^h)   k known features of the block, a in all, h to 1/2
//!                                                v: 1, 0.85 and 0.3
//! scale of a feature   ln((N+1)/df)^p         N messages, df of them with the feature, p to 1.5
//! weight               scale * sum            sum over messages of dual variable * y * input
//! ```
//!
//! A *problem* asks whether a message has a label. Two labels need one problem, which asks for the
//! second; of more labels each has a problem of its own, that label against all others.

use crate::linear::scales;
use dbacl_numeric::elementary::{exp, log, narrow, real};

/// Blocks of a message: the text, tags of what the sender's side wrote, and tags that say whether
/// sender, relays and links belong together.
pub(crate) const BLOCKS: usize = 3;

/// The weights of the blocks.
const WEIGHTS: [f64; BLOCKS] = [1.0, 0.85, 0.3];

/// The input of the intercept. The smaller it is, the less a fit learns how much spam there was in
/// the mail that it saw, which other mail does not share.
pub(crate) const INTERCEPT: f64 = 0.1;

/// The power of a feature's rarity in its scale.
const RARITY: f64 = 1.5;

/// The power in a fit of up to [`SMALL`] messages: rarity in so few says little. The power grows
/// up to [`RARITY`], which it has from twice as many messages on.
const RARITY_OF_SMALL: f64 = 1.0;

/// A small number of messages.
const SMALL: usize = 20;

/// Inputs are divided by the length of the message. In fits of up to this many messages, unknown
/// features count as much as known ones in this length; in larger fits they count less.
const NEW_TO_MOST: usize = 400;

/// The cost C of a message within the margin.
pub(crate) const COST: f64 = 1.0;

/// Messages that must contain a feature for it to take part in the fit.
const MIN_DOCUMENTS: u32 = 2;

/// If the smallest label has at most this many messages, every feature takes part.
const FEW: u32 = 20;

/// The input of the intercept, as sums have it.
pub(crate) fn intercept() -> f32 {
    narrow(INTERCEPT)
}

/// The input of a known feature of each block of a message, which has `known` such features and
/// `all` features by block, in a fit of `messages` messages. The more features are unknown, the
/// smaller it is.
pub(crate) fn inputs(
    known: [usize; BLOCKS],
    all: [usize; BLOCKS],
    messages: usize,
) -> [f32; BLOCKS] {
    let share = 0.5 * (real(NEW_TO_MOST) / real(messages.max(1))).min(1.0);
    let length = |block: usize| {
        let [known, all] = [known[block], all[block]].map(|own| real(own.max(1)));
        known * exp(share * log(all / known))
    };
    std::array::from_fn(|block| narrow(WEIGHTS[block] / length(block).sqrt()))
}

/// The score in a problem: `sums` are the weights of each block's features, `intercept` is what the
/// intercept adds.
pub(crate) fn score(sums: [f64; BLOCKS], inputs: [f64; BLOCKS], intercept: f64) -> f64 {
    let mut score = 0.0;
    for (sum, input) in sums.into_iter().zip(inputs) {
        score += sum * input;
    }
    score + intercept
}

/// Number of problems of so many labels.
pub(crate) const fn problems(labels: usize) -> usize {
    if labels == 2 { 1 } else { labels }
}

/// The problems in which messages of a label are on the first side.
pub(crate) fn positive(label: usize, labels: usize) -> Vec<u32> {
    match (labels, label) {
        (2, 0) => Vec::new(),
        (2, _) => vec![0],
        _ => vec![u32::try_from(label).unwrap_or(u32::MAX)],
    }
}

/// What messages cost by label, so that all labels cost the same.
pub(crate) fn costs(documents: &[u32]) -> Vec<f32> {
    scales::balance(documents, 1.0)
}

/// In how many messages a feature must be to take part in the fit, given the number of messages of
/// each label.
pub(crate) fn least_documents(documents: &[u32]) -> u32 {
    let smallest = documents.iter().copied().filter(|&own| own > 0).min().unwrap_or(0);
    if smallest > FEW { MIN_DOCUMENTS } else { 1 }
}

/// The scales of features. Many features have the same, so those of frequent ones are kept.
#[derive(Debug, Clone)]
pub(crate) struct Scales {
    all: usize,
    power: f64,
    least: u32,
    kept: Vec<f32>,
}

impl Scales {
    /// The scales, given the messages of each label, `least` of which must contain a feature.
    pub(crate) fn new(documents: &[u32], least: u32) -> Self {
        let all = messages(documents);
        Self { all, power: power(all), least: least.max(1), kept: Vec::new() }
    }

    /// The scale of a feature that so many messages contain; 0 if it takes no part.
    pub(crate) fn of(&mut self, with: u32) -> f32 {
        const KEPT: usize = 1 << 10;
        if with < self.least {
            return 0.0;
        }
        let at = with as usize;
        if at >= KEPT {
            return scales::rarity(self.all, with, self.power);
        }
        if self.kept.len() <= at {
            self.kept.resize(at + 1, f32::NAN);
        }
        if self.kept[at].is_nan() {
            self.kept[at] = scales::rarity(self.all, with, self.power);
        }
        self.kept[at]
    }
}

/// The number of messages, given that of each label.
pub(crate) fn messages(documents: &[u32]) -> usize {
    documents.iter().map(|&own| own as usize).sum()
}

/// The power of rarity with so many messages.
fn power(messages: usize) -> f64 {
    let growth = log(real(messages.max(SMALL)) / real(SMALL)) / log(2.0);
    RARITY_OF_SMALL + (RARITY - RARITY_OF_SMALL) * growth.min(1.0)
}

/// The number of the greatest score; of equal ones the first.
pub(crate) fn best<T: PartialOrd>(scores: &[T]) -> usize {
    let better = |best: usize, at: usize| if scores[at] > scores[best] { at } else { best };
    (0..scores.len()).reduce(better).unwrap_or(0)
}

/// The number of the greatest score but that of `label`; of equal ones the first.
pub(crate) fn best_other(scores: &[f64], label: usize) -> usize {
    let others = (0..scores.len()).filter(|&at| at != label);
    let better = |best: usize, at: usize| if scores[at] > scores[best] { at } else { best };
    others.reduce(better).unwrap_or(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_take_part_once_enough_messages_have_them() {
        assert_eq!(
            [[20, 400], [21, 400], [0, 9], [0, 99]].map(|it| least_documents(&it)),
            [1, 2, 1, 2]
        );
        let mut scales = Scales::new(&[30, 69], 2);
        let expected = |with: f64| narrow((100.0 / with).ln().powf(1.5));
        assert_eq!(scales.of(1), 0.0);
        for with in [2, 7, 2, 50] {
            assert!((scales.of(with) - expected(f64::from(with))).abs() < 1e-6, "{with}");
        }
    }

    #[test]
    fn rarity_counts_more_once_there_are_many_messages() {
        for (messages, expected) in [(3, 1.0), (20, 1.0), (40, 1.5), (4000, 1.5)] {
            assert!((power(messages) - expected).abs() < 1e-12, "{messages}");
        }
        assert!((power(28) - 1.243).abs() < 1e-3);
    }

    #[test]
    fn known_features_say_less_among_new_ones() {
        assert_eq!(inputs([16, 0, 4], [16, 0, 4], 9), [0.25, 0.85, 0.15]);
        for (messages, expected) in [(0, 0.125), (400, 0.125), (800, 0.176_777), (400_000, 0.25)] {
            let [found, ..] = inputs([16, 1, 1], [256, 1, 1], messages);
            assert!((found - expected).abs() < 1e-3, "{messages} {found}");
        }
    }

    #[test]
    fn two_labels_are_one_problem() {
        assert_eq!([2, 3, 64].map(problems), [1, 3, 64]);
        assert_eq!([positive(0, 2), positive(1, 2), positive(1, 3)], [vec![], vec![0], vec![1]]);
        assert_eq!(best(&[1.0, 2.0, 2.0]), 1);
        assert_eq!([0, 1, 2].map(|label| best_other(&[1.0, 2.0, 2.0], label)), [1, 2, 1]);
    }
}
