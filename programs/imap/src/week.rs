// SPDX-License-Identifier: GPL-3.0-or-later
//! What happened in a week, which its letter will say.

use dbacl::MailVerdict;
use dbacl::mail::subject::{sender, subject};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Seconds from one letter to the next.
pub const WEEK: u64 = 7 * 86_400;

/// Verdicts that a letter names.
pub(crate) const NAMED: usize = 10;

/// What the next letter will say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Week {
    /// The second at which it began; 0 if none has begun.
    pub since: u64,
    /// Letters before this one.
    pub(crate) number: u32,
    /// Messages that came to the inbox.
    pub(crate) came: usize,
    /// How many of them the filter was unsure of, and how many of these the program moved.
    pub(crate) unsure: usize,
    pub(crate) moved_unsure: usize,
    /// How many of them the program moved, by folder, as people call it.
    pub(crate) moved: BTreeMap<String, usize>,
    /// How many messages were learned from what somebody said.
    pub(crate) learned: usize,
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
    /// The message's subject and sender.
    pub about: String,
    /// The words that decided.
    pub reasons: String,
}

impl Doubt {
    /// A verdict on a message, without reasons; the user calls its label `name`.
    pub fn new(verdict: &MailVerdict, name: &str, mail: &[u8]) -> Self {
        Self {
            is_unsure: verdict.is_unsure,
            millionths: millionths(verdict.probability),
            verdict: in_words(verdict, name),
            about: about(mail),
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

    /// Notes that the program moves so many messages to a folder.
    pub fn moved(&mut self, folder: String, count: usize, is_unsure: bool) {
        *self.moved.entry(folder).or_default() += count;
        self.moved_unsure += if is_unsure { count } else { 0 };
    }

    /// Whether the week is over at this second. The first week begins with the first question.
    pub fn is_over(&mut self, now: u64) -> bool {
        if self.since == 0 {
            self.since = now;
        }
        now.saturating_sub(self.since) >= WEEK
    }

    /// Begins the next week; returns this one unless nothing has happened and `always` is false.
    pub fn end(&mut self, now: u64, always: bool) -> Option<Self> {
        let is_told = always || self.came > 0 || self.learned > 0;
        let number = self.number + u32::from(is_told);
        let ended = std::mem::replace(self, Self { since: now, number, ..Self::default() });
        is_told.then_some(ended)
    }

    /// The counts, each with what it counts.
    pub(crate) fn counts(&self) -> Vec<(usize, String)> {
        let mut counts = vec![(self.came, "came to the inbox".to_owned())];
        counts.extend(
            self.moved.iter().map(|(folder, count)| (*count, format!("moved to {folder}"))),
        );
        let left = self.unsure.saturating_sub(self.moved_unsure);
        if left > 0 || self.moved_unsure == 0 {
            counts.push((left, "unsure, left in the inbox".into()));
        }
        counts.push((self.learned, "learned from what you moved or marked".into()));
        counts
    }
}

/// A verdict for people, who call its label `name`.
pub(crate) fn in_words(verdict: &MailVerdict, name: &str) -> String {
    if verdict.is_unsure {
        // The thresholds of labels differ, so that a percentage would only puzzle.
        return format!("unsure, rather {name}");
    }
    let mut shown = verdict.clone();
    name.clone_into(&mut shown.category);
    shown.to_string()
}

/// The subject of a message, and who sent it.
pub(crate) fn about(mail: &[u8]) -> String {
    let subject = subject(mail).unwrap_or_else(|| "no subject".into());
    sender(mail).map_or(subject.clone(), |sender| format!("{subject}, from {sender}"))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // from 0 to a million
fn millionths(probability: f64) -> u32 {
    (probability * 1e6).clamp(0.0, 1e6) as u32
}
