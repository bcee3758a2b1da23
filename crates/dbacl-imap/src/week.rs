// SPDX-License-Identifier: GPL-3.0-or-later
//! What happened in a week, which its letter will say.

use crate::moves::Identity;
use dbacl::SetVerdict;
use dbacl_mail::subject::subject;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Seconds from one letter to the next.
pub const WEEK: u64 = 7 * 86_400;

/// Verdicts that a letter names.
pub(crate) const NAMED: usize = 10;

/// Messages moved by the program of which it is noticed when somebody moves them back.
const MOVED: usize = 2000;

/// What the next letter will say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Week {
    /// The second at which it began; 0 if none has begun.
    pub since: u64,
    /// Letters before this one.
    pub(crate) number: u32,
    /// Messages that came to the inbox.
    pub(crate) came: usize,
    /// How many of them the filter was unsure of.
    pub(crate) unsure: usize,
    /// How many of them the program moved, by folder, as people call it.
    pub(crate) moved: BTreeMap<String, usize>,
    /// How many messages that the program had moved were moved elsewhere by somebody.
    pub(crate) corrected: usize,
    /// The messages that the program moved last, also before this week.
    pub(crate) mine: Vec<Identity>,
    /// The most doubtful verdicts, the most doubtful first.
    pub(crate) doubts: Vec<Doubt>,
}

/// A verdict on a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubt {
    pub is_unsure: bool,
    /// The probability of the most probable label, in millionths.
    pub millionths: u32,
    /// The verdict in words.
    pub verdict: String,
    /// The message's subject.
    pub subject: String,
    /// The words that decided.
    pub reasons: String,
}

impl Doubt {
    /// A verdict on a message, without reasons.
    pub fn new(verdict: &SetVerdict, mail: &[u8]) -> Self {
        Self {
            is_unsure: verdict.is_unsure,
            millionths: millionths(verdict.probability),
            verdict: verdict.to_string(),
            subject: subject(mail).unwrap_or_else(|| "no subject".into()),
            reasons: String::new(),
        }
    }

    fn rank(&self) -> (Reverse<bool>, u32) {
        (Reverse(self.is_unsure), self.millionths)
    }
}

impl Week {
    /// Counts a message that came. `reasons` is asked for the words that decided if the letter may
    /// name it.
    pub fn count(&mut self, mut doubt: Doubt, reasons: impl FnOnce() -> String) {
        self.came += 1;
        self.unsure += usize::from(doubt.is_unsure);
        let at = self.doubts.partition_point(|other| other.rank() <= doubt.rank());
        if at < NAMED {
            doubt.reasons = reasons();
            self.doubts.insert(at, doubt);
            self.doubts.truncate(NAMED);
        }
    }

    /// Notes that the program has moved these messages, for good if `is_verdict`.
    pub fn moved(&mut self, folder: String, mails: &[Identity], is_verdict: bool) {
        *self.moved.entry(folder).or_default() += mails.len();
        if is_verdict {
            self.mine.extend(mails);
            self.mine.drain(..self.mine.len().saturating_sub(MOVED));
        }
    }

    /// Notes that somebody has said something else of these messages.
    pub fn taught(&mut self, mails: impl Iterator<Item = Identity>) {
        for mail in mails {
            let before = self.mine.len();
            self.mine.retain(|own| *own != mail);
            self.corrected += usize::from(self.mine.len() < before);
        }
    }

    /// Whether the week is over at this second. The first week begins with the first question.
    pub fn is_over(&mut self, now: u64) -> bool {
        if self.since == 0 {
            self.since = now;
        }
        now.saturating_sub(self.since) >= WEEK
    }

    /// Begins the next week; returns this one unless nothing has happened.
    pub fn end(&mut self, now: u64) -> Option<Self> {
        let is_empty = self.came == 0 && self.corrected == 0;
        let number = self.number + u32::from(!is_empty);
        let next = Self { since: now, number, mine: self.mine.clone(), ..Self::default() };
        let ended = std::mem::replace(self, next);
        (!is_empty).then_some(ended)
    }

    /// The counts, each with what it counts.
    pub(crate) fn counts(&self) -> Vec<(usize, String)> {
        let mut counts = vec![(self.came, "came to the inbox".to_owned())];
        counts.extend(
            self.moved.iter().map(|(folder, count)| (*count, format!("moved to {folder}"))),
        );
        counts.push((self.unsure, "unsure".into()));
        counts.push((self.corrected, "moved elsewhere by you".into()));
        counts
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // from 0 to a million
fn millionths(probability: f64) -> u32 {
    (probability * 1e6).clamp(0.0, 1e6) as u32
}
