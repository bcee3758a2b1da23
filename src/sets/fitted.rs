// SPDX-License-Identifier: GPL-3.0-or-later
//! The settings of categories that were fitted together, and their order in the fit.

use crate::fit::decision::Decision;
use crate::fit::header::{Mismatch, RefitLine, set_of};
use crate::fit::support::Support;

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

    /// The verdict on a document with these scores, in the order of the set.
    pub(crate) fn verdict_of(&self, scores: &[f64], support: Support) -> FittedVerdict {
        let decision = self.line.verdict(scores, support);
        let mut odds = vec![f64::NAN; scores.len()];
        for (&at, own) in self.order.iter().zip(self.line.log_odds(scores)) {
            odds[at] = own;
        }
        FittedVerdict { category: self.order[decision.category], decision, odds }
    }
}
