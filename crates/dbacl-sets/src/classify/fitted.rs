// SPDX-License-Identifier: GPL-3.0-or-later
//! Scores of categories that were fitted together: the order of the set, and the scores by counts
//! or by distinct features, as the set asks for.

use dbacl_engine::score::document::CategoryScore;
use dbacl_engine::score::model::Model;
use dbacl_joint::decision::Decision;
use dbacl_joint::documents::{Collector, Term};
use dbacl_joint::header::{Mismatch, RefitLine, set_of};
use dbacl_joint::known::KnownFeatures;
use dbacl_joint::scoring::Scoring;
use dbacl_joint::support::Support;

/// Everything that the verdict on a document depends on.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedScores {
    /// The scores in the order of the set, nats a unit of complexity.
    pub scores: Vec<f64>,
    /// Number of distinct features, where they were collected; else 0.
    pub distinct: u32,
    /// The inputs of known features of text and of headers, where features count by blocks.
    pub inputs: [f64; 2],
    /// What a verdict depends on besides the scores, as far as features were collected.
    pub support: Support,
}

/// The verdict on a document by numbers of categories as they were given, not by the set's order.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedVerdict {
    /// The verdict; its category counts in the order of the set.
    pub decision: Decision,
    /// The number of its category.
    pub category: usize,
    /// The log-odds of each category; NaN for a document without features.
    pub odds: Vec<f64>,
}

/// A whole set of categories that were fitted together.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// The settings by which the set turns scores into verdicts.
    pub line: RefitLine,
    /// Numbers of the categories, in the order of the set.
    pub order: Vec<usize>,
}

impl Fitted {
    /// The set that `models` form; `None` when none of them was fitted.
    ///
    /// # Errors
    /// Why they do not form one set.
    pub fn of<D: AsRef<[u8]>>(models: &[Model<D>]) -> Result<Option<Self>, Mismatch> {
        let line = |model: &Model<D>| RefitLine::find(model.category()?.other_lines());
        Self::of_lines(&models.iter().map(line).collect::<Vec<_>>())
    }

    /// The set that categories with these lines form; `None` when none of them was fitted.
    ///
    /// # Errors
    /// Why they do not form one set.
    pub fn of_lines(lines: &[Option<RefitLine>]) -> Result<Option<Self>, Mismatch> {
        let Some(line) = set_of(lines)? else { return Ok(None) };
        let mut order: Vec<usize> = (0..lines.len()).collect();
        order.sort_by_key(|&at| lines[at].as_ref().map(|line| line.place));
        Ok(Some(Self { line, order }))
    }

    /// Whether verdicts count each feature once, and so need a [`Collector`].
    pub fn needs_features(&self) -> bool {
        self.line.scoring != Scoring::Counts
    }

    /// The verdict on a document. Ends the collector's document.
    pub fn verdict<D: AsRef<[u8]>>(
        &self,
        models: &[Model<D>],
        category_scores: &[CategoryScore],
        collector: Option<&mut Collector>,
    ) -> FittedVerdict {
        let FittedScores { scores, support, .. } = self.scores(models, category_scores, collector);
        self.verdict_of(&scores, support)
    }

    /// The verdict on a document with these scores, in the order of the set.
    pub(crate) fn verdict_of(&self, scores: &[f64], support: Support) -> FittedVerdict {
        let decision = self.line.verdict(scores, support);
        let mut odds = vec![f64::NAN; scores.len()];
        for (&at, own) in self.order.iter().zip(self.line.log_odds(scores)) {
            odds[at] = own;
        }
        FittedVerdict { category: self.order[decision.category], decision, odds }
    }

    /// The scores of a document, and what else its verdict depends on. Ends the collector's
    /// document.
    pub fn scores<D: AsRef<[u8]>>(
        &self,
        models: &[Model<D>],
        category_scores: &[CategoryScore],
        collector: Option<&mut Collector>,
    ) -> FittedScores {
        let means = self.order.iter().map(|&at| (&models[at], category_scores[at].mean()));
        let Some(collector) = collector else {
            let scores = means.map(|(_, mean)| mean).collect();
            return FittedScores {
                scores,
                distinct: 0,
                inputs: [1.0; 2],
                support: Support::default(),
            };
        };
        let (occurrences, terms) = collector.finish();
        let distinct = u32::try_from(terms.len()).unwrap_or(u32::MAX);
        let weight = |model: &Model<D>, term: &Term| {
            let slot = model.category().and_then(|own| own.find(term.id));
            let slot = slot.filter(|slot| slot.id == term.id);
            slot.map_or(0.0, |slot| slot.weight.weight())
        };
        let own = |&at: &usize| terms.iter().map(|term| weight(&models[at], term)).collect();
        let weights: Vec<Vec<f32>> = self.order.iter().map(own).collect();
        let known = KnownFeatures::of(terms, &weights);
        let (scoring, mut shapes) = (self.line.scoring, Vec::new());
        let score = |(at, (model, mean)): (usize, (&Model<D>, f64))| {
            let header = model.header();
            let (partition, order) =
                header.map_or((0.0, 1), |header| (header.log_partition, header.max_order));
            shapes.push((partition, order));
            if let Some(header) = header.filter(|_| scoring == Scoring::Blocks) {
                return scoring.score_known(header, occurrences, &known, at);
            }
            let features = terms.iter().zip(&weights[at]);
            let features = features.map(|(term, own)| (term.count, f64::from(*own)));
            scoring.rescore(mean, features, (distinct, occurrences, order))
        };
        let scores = means.enumerate().map(score).collect();
        let support = Support::of(&self.line, &known, &shapes);
        FittedScores { scores, distinct, inputs: Scoring::inputs(known.by_block()), support }
    }
}
