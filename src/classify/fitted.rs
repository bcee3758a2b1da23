// SPDX-License-Identifier: GPL-3.0-or-later
//! How categories judge that were fitted together: their order in the set, and their scores as the
//! set counts them.

use crate::joint::documents::Collector;
use crate::joint::header::{Mismatch, RefitLine, set_of};
use crate::joint::scoring::Scoring;
use crate::joint::thresholds::known_share;
use crate::score::document::Standing;
use crate::score::model::Model;

/// What verdicts on a document are made of.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedScores {
    /// The scores in the order of the set, nats a unit of complexity.
    pub scores: Vec<f64>,
    /// Number of distinct features, where they were collected; else 0.
    pub distinct: u32,
    /// Share of them that any category knows; 1 where they were not collected.
    pub known: f64,
}

/// A whole set of categories that were fitted together.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// How the set makes verdicts of scores.
    pub line: RefitLine,
    /// Numbers of the categories, in the order of the set.
    pub order: Vec<usize>,
}

impl Fitted {
    /// The set that `models` make; `None` when none of them was fitted.
    ///
    /// # Errors
    /// What keeps them from making one set.
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

    /// What the verdict on a document is made of. Ends the collector's document.
    pub fn scores<D: AsRef<[u8]>>(
        &self,
        models: &[Model<D>],
        standings: &[Standing],
        collector: Option<&mut Collector>,
    ) -> FittedScores {
        let means = self.order.iter().map(|&at| (&models[at], standings[at].mean()));
        let Some(collector) = collector else {
            let scores = means.map(|(_, mean)| mean).collect();
            return FittedScores { scores, distinct: 0, known: 1.0 };
        };
        let (occurrences, terms) = collector.finish();
        let distinct = u32::try_from(terms.len()).unwrap_or(u32::MAX);
        let mut is_known = vec![false; terms.len()];
        let rescore = |(model, mean): (&Model<D>, f64)| {
            let order = model.category().map_or(1, |category| category.header().max_order);
            let features = terms.iter().zip(&mut is_known).map(|(term, is_known)| {
                let slot = model.find(term.id).filter(|slot| slot.id == term.id);
                let weight = slot.map_or(0.0, |slot| f64::from(slot.weight.weight()));
                *is_known |= weight > 0.0;
                (term.count, weight)
            });
            self.line.scoring.rescore(mean, features, (distinct, occurrences, order))
        };
        let scores = means.map(rescore).collect();
        let known = is_known.iter().filter(|&&is_known| is_known).count();
        FittedScores { scores, distinct, known: known_share(known, terms.len()) }
    }
}
