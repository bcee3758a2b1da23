// SPDX-License-Identifier: GPL-3.0-or-later
//! A filter's verdict in the terms of mail servers: a score beside a threshold.

use std::f64::consts::LN_10;

use dbacl::{MailFilter, MailRole, MailVerdict};
use dbacl_numeric::elementary::log;

/// The score from which mail is spam, in every protocol.
pub(crate) const REQUIRED: f64 = 5.0;

/// The largest decimal logarithm of the odds that a score shows.
const MOST: f64 = 10.0;

/// Scores of unsure mail lie at most so far from the middle between 0 and [`REQUIRED`].
const UNSURE: f64 = 2.4;

/// The verdict on a message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Judged {
    /// The verdict as in the header line `X-DBACL`: `spam 99.12%`.
    pub text: String,
    /// What the filter decided.
    pub decision: Decision,
    /// The probability that the mail is spam, 0 to 1.
    pub spam: f64,
    /// The header line `X-DBACL-Reasons`, where reasons are wanted and the mail has words; folded,
    /// so that a line end stands before a blank.
    pub reasons: Option<String>,
    /// The words that weigh most, with their weights; empty if they are not known.
    pub strongest: String,
}

/// What the filter decided. Counts are in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Mail that must not be lost.
    Ham,
    /// Mail between the filter's thresholds.
    Unsure,
    /// What the filter is there to find.
    Spam,
}

impl Judged {
    /// The verdict of `filter`. It is spam if its category is one of those that have spam.
    pub(crate) fn new(verdict: &MailVerdict, filter: &MailFilter) -> Self {
        let roles = filter.roles();
        let is_bad = |at: &usize| roles.get(*at) == Some(&Some(MailRole::Spam));
        let bad = || (0..roles.len()).filter(is_bad);
        let spam = bad().filter_map(|at| verdict.probabilities.get(at)).sum();
        let is_spam = bad().any(|at| filter.labels().get(at) == Some(&verdict.category));
        let text = verdict.to_string();
        let decision = match (verdict.is_unsure, is_spam) {
            (true, _) => Decision::Unsure,
            (false, true) => Decision::Spam,
            (false, false) => Decision::Ham,
        };
        Self::made_up(decision, spam, &text)
    }

    /// A verdict that no filter made.
    pub(crate) fn made_up(decision: Decision, spam: f64, text: &str) -> Self {
        let strongest = String::new();
        Self { text: text.to_owned(), decision, spam, reasons: None, strongest }
    }

    /// Whether the mail is what the filter is there to find.
    pub(crate) fn is_spam(&self) -> bool {
        self.decision == Decision::Spam
    }

    /// The score: at least [`REQUIRED`] for spam, between 0 and that for mail that the filter is
    /// unsure of, at most 0 for other mail. Within each range it grows with the decimal logarithm
    /// of the odds.
    pub(crate) fn score(&self) -> f64 {
        let odds = log(self.spam / (1.0 - self.spam)) / LN_10;
        let odds = if odds.is_nan() { 0.0 } else { odds.clamp(-MOST, MOST) };
        match self.decision {
            Decision::Ham => odds.min(0.0),
            Decision::Unsure => REQUIRED / 2.0 + odds.clamp(-UNSURE, UNSURE),
            Decision::Spam => REQUIRED + odds.max(0.0),
        }
    }

    /// The verdict as the name of a test, as SpamAssassin and rspamd list the tests that a message
    /// met.
    pub(crate) const fn symbol(&self) -> &'static str {
        ["DBACL_HAM", "DBACL_UNSURE", "DBACL_SPAM"][self.decision as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_lie_on_the_side_of_the_decision() {
        for (decision, spam, expected) in [
            (Decision::Spam, 0.999, 7.9996),
            (Decision::Spam, 1.0, 15.0),
            (Decision::Spam, 0.4, 5.0),
            (Decision::Unsure, 0.5, 2.5),
            (Decision::Unsure, 1.0, 4.9),
            (Decision::Unsure, 0.0, 0.1),
            (Decision::Ham, 0.001, -2.9996),
            (Decision::Ham, 0.0, -10.0),
            (Decision::Ham, 0.6, 0.0),
            (Decision::Spam, f64::NAN, 5.0),
        ] {
            let score = Judged::made_up(decision, spam, "").score();
            assert!((score - expected).abs() < 1e-4, "{decision:?} {spam}: {score}");
        }
    }
}
