// SPDX-License-Identifier: GPL-3.0-or-later
//! What a filter's tables say of a message: weights, scores and support.

use super::message::Message;
use crate::fit::blocks::{
    BLOCKS, Scales, inputs, intercept, least_documents, messages, problems, score,
};
use crate::fit::dataset::share;
use crate::fit::general::SameLabels;
use crate::fit::rule::{Rule, Support};
use crate::linear::Sum;
use crate::store::OpenTables;
use crate::store::table::Fault;

/// Known features of the text in a part that is classified by itself: about 400 bytes. A spammer
/// can add so much text of good mail to a spam that it prevails in the whole message, but the
/// spam's own text still stands in one place. Each part begins in the middle of the one before.
const PART: usize = 256;

/// What a table says of features, in the order of the ids that were asked for.
pub(super) struct Weights {
    /// Whether each feature takes part in the fit.
    pub known: Vec<bool>,
    /// The weights by feature and problem.
    pub each: Vec<f32>,
    /// What the intercept adds to the score in each problem.
    pub intercepts: Vec<f64>,
}

impl Weights {
    /// Looks up the features with these ids, which rise.
    pub(super) fn of(tables: &OpenTables<Rule>, ids: &[u32]) -> Result<Self, Fault> {
        let least = least_documents(&tables.table.head.documents);
        let rows = tables.look_up(ids, least == 1)?;
        let mut scales = Scales::new(&tables.table.head.documents, least);
        let mut known = Vec::with_capacity(ids.len());
        let mut each = Vec::with_capacity(ids.len() * rows.problems);
        for at in 0..ids.len() {
            let scale = scales.of(rows.all(at));
            known.push(scale > 0.0);
            each.extend(rows.sums(at).iter().map(|sum| scale * sum.value()));
        }
        Ok(Self { known, each, intercepts: intercepts(tables) })
    }
}

/// What the intercept adds to the score in each problem. That of a label without messages says
/// nothing, so it is the mean of the others.
fn intercepts(tables: &OpenTables<Rule>) -> Vec<f64> {
    let input = f64::from(intercept());
    let mut all: Vec<f64> =
        tables.table.head.intercepts.iter().map(|sum| f64::from(sum.value()) * input).collect();
    if all.len() > 1 {
        let (mut sum, mut number) = (0.0, 0.0f64);
        for (own, _) in all.iter().zip(&tables.table.head.documents).filter(|(_, own)| **own > 0) {
            sum += own;
            number += 1.0;
        }
        let mean = sum / number.max(1.0);
        for (own, _) in
            all.iter_mut().zip(&tables.table.head.documents).filter(|(_, own)| **own == 0)
        {
            *own = mean;
        }
    }
    all
}

/// A general model that is open, and its labels for those of the filter.
pub(crate) struct OpenGeneral {
    pub tables: OpenTables<Rule>,
    pub same: SameLabels,
}

impl OpenGeneral {
    /// The general model of a filter with these labels.
    pub(crate) fn new<T: AsRef<str>>(tables: OpenTables<Rule>, labels: &[T]) -> Self {
        let same = SameLabels::new(&tables.table.head.reading.labels, labels);
        Self { tables, same }
    }
}

/// What the tables of a filter say of a message.
pub(crate) struct Weighing {
    /// Whether each feature is known to the filter or its general model.
    pub known: Vec<bool>,
    /// Weights by feature and problem, with those of the general model.
    pub weights: Vec<f32>,
    /// The input of the features of each block.
    pub inputs: [f64; BLOCKS],
    /// The scores by label.
    pub scores: Vec<f64>,
    /// What the verdict depends on besides the scores.
    pub support: Support,
}

impl Weighing {
    /// Weighs a message.
    pub(crate) fn of(
        tables: &OpenTables<Rule>,
        general: Option<&OpenGeneral>,
        message: &Message,
    ) -> Result<Self, Fault> {
        let ids = message.ids();
        let Weights { mut known, mut each, mut intercepts } = Weights::of(tables, &ids)?;
        if let Some(general) = general {
            let own = Weights::of(&general.tables, &ids)?;
            let rule = &tables.table.head.rule;
            let width = own.intercepts.len();
            for (at, weights) in own.each.chunks_exact(width).enumerate() {
                known[at] |= own.known[at];
                if own.known[at] && rule.general > 0.0 {
                    let mine = &mut each[at * intercepts.len()..][..intercepts.len()];
                    let theirs: Vec<f64> = weights.iter().map(|&one| f64::from(one)).collect();
                    for (one, other) in mine.iter_mut().zip(for_problems(&general.same, &theirs)) {
                        *one = dbacl_numeric::elementary::narrow(
                            f64::from(*one) + rule.general * other,
                        );
                    }
                }
            }
            for (one, other) in
                intercepts.iter_mut().zip(for_problems(&general.same, &own.intercepts))
            {
                *one += rule.general * other;
            }
        }
        Ok(Self::new(message, messages(&tables.table.head.documents), known, each, &intercepts))
    }

    fn new(
        message: &Message,
        learned: usize,
        known: Vec<bool>,
        weights: Vec<f32>,
        intercepts: &[f64],
    ) -> Self {
        let width = intercepts.len();
        let (mut counts, mut all) = ([0; BLOCKS], [0; BLOCKS]);
        let mut sums = vec![[0.0; BLOCKS]; width];
        for (at, own) in weights.chunks_exact(width).enumerate() {
            let block = message.block(at);
            all[block] += 1;
            counts[block] += usize::from(known[at]);
            for (sum, &weight) in sums.iter_mut().zip(own) {
                sum[block] += f64::from(weight);
            }
        }
        let inputs = inputs(counts, all, learned).map(f64::from);
        let each = sums.iter().zip(intercepts);
        let each = each.map(|(sum, own)| score(*sum, inputs, *own));
        let mut scores: Vec<f64> = each.collect();
        let part = match intercepts {
            [intercept] => highest_part(message, learned, &known, &weights, *intercept),
            _ => f64::NEG_INFINITY,
        };
        if width == problems(2) {
            scores.insert(0, 0.0);
        }
        let [texts, ..] = all;
        let support = Support { texts, known: share(counts[0], texts), part };
        Self { known, weights, inputs, scores, support }
    }
}

/// The scores of a general model for the problems of a filter.
fn for_problems(same: &SameLabels, own: &[f64]) -> Vec<f64> {
    let mut scores = same.scores(own);
    if scores.len() == 2 {
        scores.remove(0);
    }
    scores
}

/// The highest score of a part of the text.
fn highest_part(
    message: &Message,
    learned: usize,
    known: &[bool],
    weights: &[f32],
    intercept: f64,
) -> f64 {
    let (mut texts, new): (Vec<usize>, Vec<usize>) =
        (0..message.len()).filter(|&at| message.block(at) == 0).partition(|&at| known[at]);
    let all = texts.len() + new.len();
    texts.sort_unstable_by_key(|&at| message.place(at));
    let last = texts.len().saturating_sub(PART / 2).max(1);
    let parts = (0..last).step_by(PART / 2).map(|start| {
        let part = &texts[start..texts.len().min(start + PART)];
        // New features are assumed to be spread evenly over the text.
        let in_part = part.len() * all / texts.len().max(1);
        let [input, ..] = inputs([part.len(), 0, 0], [in_part, 0, 0], learned);
        part.iter().map(|&at| f64::from(weights[at])).sum::<f64>() * f64::from(input) + intercept
    });
    parts.fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::medium::Medium;
    use crate::sets::message::Gathering;
    use crate::token::Feature;
    use crate::token::id::FeatureId;

    /// A message of so many words, and 100 tags, with the place of each word.
    fn message(words: usize) -> (Message, Vec<usize>) {
        let mut gathering = Gathering::default();
        let mut ids = Vec::new();
        for number in 0..words + 100 {
            let medium = Medium::new(if number < words { 3 } else { 4 });
            let body = format!("\x03{number}\x03");
            let feature = Feature { body: body.as_bytes(), medium, order: 1, pattern: None };
            gathering.add(&feature);
            ids.push(FeatureId::of(feature.body, medium).0);
        }
        let message = gathering.finish().unwrap();
        let all = message.ids();
        (message, ids.iter().map(|id| all.binary_search(id).unwrap()).collect())
    }

    #[test]
    fn a_part_of_the_text_is_found_without_the_tags() {
        let part = |words: usize, spam: std::ops::Range<usize>| {
            let (message, places) = message(words);
            let mut weights = vec![-2.0; message.len()];
            spam.for_each(|number| weights[places[number]] = 3.0);
            let known = vec![true; message.len()];
            Weighing::new(&message, 99, known, weights, &[-0.5]).support.part
        };
        let run = |weight: f64, features: f64| weight * features.sqrt() - 0.5;
        assert!((part(1000, 0..0) - run(-2.0, 1000.0 - 768.0)).abs() < 1e-4);
        // Wherever the spam's text is, it fills most of a part.
        for start in [0, 300, 700] {
            assert!(part(1000, start..start + 256) > run(1.75, 256.0), "{start}");
        }
        // A short text is one part.
        assert!((part(100, 0..100) - run(3.0, 100.0)).abs() < 1e-4);
    }

    #[test]
    fn known_features_are_counted_by_block() {
        let (message, places) = message(16);
        let mut weights = vec![0.0; message.len()];
        weights[places[3]] = 1.0;
        weights[places[20]] = 2.0;
        let known = (0..message.len()).map(|at| at != places[0]).collect();
        let found = Weighing::new(&message, usize::MAX, known, weights, &[0.25]);
        let score = 1.0 / 15f64.sqrt() + 2.0 * 0.85 / 10.0 + 0.25;
        assert!((found.scores[1] - score).abs() < 1e-6 && found.scores[0] == 0.0);
        assert_eq!((found.support.texts, found.support.known), (16, 15.0 / 16.0));
    }
}
