// SPDX-License-Identifier: GPL-3.0-or-later
//! Scores of categories that were fitted together: the order of the set, and the scores by counts
//! or by distinct features, as the set asks for.

use crate::category::reader::Category;
use crate::joint::documents::{Collector, Term};
use crate::joint::grounds::Grounds;
use crate::joint::header::{Mismatch, RefitLine, set_of};
use crate::joint::known::KnownFeatures;
use crate::joint::scoring::Scoring;
use crate::score::document::Standing;
use crate::score::model::Model;

/// Everything that the verdict on a document depends on.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedScores {
    /// The scores in the order of the set, nats a unit of complexity.
    pub scores: Vec<f64>,
    /// Number of distinct features, where they were collected; else 0.
    pub distinct: u32,
    /// What a verdict depends on besides the scores, as far as features were collected.
    pub grounds: Grounds,
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
        let lines: Vec<Option<RefitLine>> =
            models.iter().map(|model| RefitLine::find(model.category()?.other_lines())).collect();
        let Some(line) = set_of(&lines)? else { return Ok(None) };
        let mut order: Vec<usize> = (0..lines.len()).collect();
        order.sort_by_key(|&at| lines[at].as_ref().map(|line| line.place));
        Ok(Some(Self { line, order }))
    }

    /// Whether verdicts count each feature once, and so need a [`Collector`].
    pub fn needs_features(&self) -> bool {
        self.line.scoring == Scoring::Once
    }

    /// The scores of a document, and what else its verdict depends on. Ends the collector's
    /// document.
    pub fn scores<D: AsRef<[u8]>>(
        &self,
        models: &[Model<D>],
        standings: &[Standing],
        collector: Option<&mut Collector>,
    ) -> FittedScores {
        let means = self.order.iter().map(|&at| (&models[at], standings[at].mean()));
        let Some(collector) = collector else {
            let scores = means.map(|(_, mean)| mean).collect();
            return FittedScores { scores, distinct: 0, grounds: Grounds::default() };
        };
        let (occurrences, terms) = collector.finish();
        let distinct = u32::try_from(terms.len()).unwrap_or(u32::MAX);
        let (mut weights, mut shapes) = (Vec::new(), Vec::new());
        let rescore = |(model, mean): (&Model<D>, f64)| {
            let header = model.category().map(Category::header);
            let (partition, order) =
                header.map_or((0.0, 1), |header| (header.log_partition, header.max_order));
            let weight = |term: &Term| {
                let slot = model.find(term.id).filter(|slot| slot.id == term.id);
                slot.map_or(0.0, |slot| slot.weight.weight())
            };
            let own: Vec<f32> = terms.iter().map(weight).collect();
            let features = terms.iter().zip(&own).map(|(term, own)| (term.count, f64::from(*own)));
            let shape = (distinct, occurrences, order);
            let score = self.line.scoring.rescore(mean, features, shape);
            weights.push(own);
            shapes.push((partition, order));
            score
        };
        let scores = means.map(rescore).collect();
        let known = KnownFeatures::of(terms, &weights);
        let grounds = Grounds::of(self.line.looks_at_parts(), &known, &shapes);
        FittedScores { scores, distinct, grounds }
    }
}
