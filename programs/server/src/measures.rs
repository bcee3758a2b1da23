// SPDX-License-Identifier: GPL-3.0-or-later
//! The server's counters, in the form that Prometheus reads.

use crate::listen::Protocol;
use dbacl_cli::listen::measures::{self, Times, one};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// What messages are counted as: a decision by its number, or [`ERROR`] without a verdict.
pub(crate) const OUTCOMES: [&str; 4] = ["ham", "unsure", "spam", "error"];

/// The outcome of a message without a verdict.
pub(crate) const ERROR: usize = 3;

/// Everything that is counted.
#[derive(Debug, Default)]
pub(crate) struct Measures {
    mails: [[AtomicU64; OUTCOMES.len()]; Protocol::OF_MAIL.len()],
    times: Times,
    lessons: [AtomicU64; LESSONS.len()],
    /// Connections that were closed without being served.
    pub refused: Arc<AtomicU64>,
    /// Requests that violate the protocol.
    pub malformed: AtomicU64,
    /// Filters opened, new generations included.
    pub opened: AtomicU64,
}

/// The result of a request to learn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taught {
    /// Learned as ham.
    Ham,
    /// Learned as spam.
    Spam,
    /// The filter knew the message under another label.
    Corrected,
    Forgotten,
    /// The message was known with the same label.
    Known,
    /// It is not mail, or has no word.
    Unusable,
    /// Whoever asked is not allowed to, or there is no filter that could learn.
    Refused,
    Failed,
}

/// What the status page calls those, in their order.
pub(crate) const LESSONS: [&str; 8] = [
    "taught as ham",
    "taught as spam",
    "corrected",
    "forgotten",
    "known before",
    "not mail",
    "refused",
    "failed",
];

impl Taught {
    /// Whether the filter has changed.
    pub(crate) const fn is_change(self) -> bool {
        matches!(self, Self::Ham | Self::Spam | Self::Corrected | Self::Forgotten)
    }
}

impl Measures {
    /// Counts a message and the time that its verdict took.
    pub(crate) fn mail(&self, wire: Protocol, outcome: usize, time: Duration) {
        self.mails[wire as usize][outcome].fetch_add(1, Relaxed);
        self.times.add(time);
    }

    /// Counts a request to learn or to forget.
    pub(crate) fn taught(&self, taught: Taught) {
        self.lessons[taught as usize].fetch_add(1, Relaxed);
    }

    /// Messages by outcome, all protocols together: ham, unsure, spam, error.
    pub(crate) fn outcomes(&self) -> [u64; OUTCOMES.len()] {
        let mut sums = [0; OUTCOMES.len()];
        for wire in &self.mails {
            for (sum, count) in sums.iter_mut().zip(wire) {
                *sum += count.load(Relaxed);
            }
        }
        sums
    }

    /// Requests to learn or to forget, by what came of them.
    pub(crate) fn lessons(&self) -> [u64; LESSONS.len()] {
        std::array::from_fn(|kind| self.lessons[kind].load(Relaxed))
    }

    /// Those that changed something.
    pub(crate) fn changes(&self) -> u64 {
        self.lessons()[..Taught::Known as usize].iter().sum()
    }

    /// The text for Prometheus; `open` is the number of filters that are open.
    pub(crate) fn text(&self, open: usize) -> String {
        let mails = Protocol::OF_MAIL.into_iter().flat_map(|wire| {
            OUTCOMES.iter().zip(&self.mails[wire as usize]).map(move |(outcome, count)| {
                let labels = format!("{{wire=\"{}\",verdict=\"{outcome}\"}}", wire.name());
                (labels, count.load(Relaxed).to_string())
            })
        });
        let [.., known, unusable, refused, failed] = self.lessons();
        let learned = [
            ("changed", self.changes()),
            ("known", known),
            ("failed", failed),
            ("refused", refused + unusable),
        ];
        let learned = learned
            .iter()
            .map(|(result, count)| (format!("{{result=\"{result}\"}}"), count.to_string()));
        let refused = "Connections closed because there were too many.";
        let malformed = "Requests that were none of their protocol.";
        let opened = "Filters opened, new generations included.";
        let lessons = "Requests to learn or forget, by what came of them.";
        measures::text(vec![
            ("mails_total", "counter", "Mails by protocol and verdict.", mails.collect()),
            ("verdict_seconds", "histogram", "Time for a verdict.", self.times.samples()),
            ("learned_total", "counter", lessons, learned.collect()),
            ("refused_connections_total", "counter", refused, one(self.refused.load(Relaxed))),
            ("malformed_requests_total", "counter", malformed, one(self.malformed.load(Relaxed))),
            ("filters_opened_total", "counter", opened, one(self.opened.load(Relaxed))),
            ("filters_open", "gauge", "Filters that are open.", one(open as u64)),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Decision;

    #[test]
    fn steps_add_up() {
        let measures = Measures::default();
        measures.mail(Protocol::Spamc, Decision::Spam as usize, Duration::from_micros(900));
        measures.mail(Protocol::Milter, ERROR, Duration::from_secs(60));
        let text = measures.text(2);
        for line in [
            "dbacl_mails_total{wire=\"spamc\",verdict=\"spam\"} 1",
            "dbacl_mails_total{wire=\"milter\",verdict=\"error\"} 1",
            "dbacl_verdict_seconds_bucket{le=\"0.001\"} 1",
            "dbacl_verdict_seconds_bucket{le=\"10\"} 1",
            "dbacl_verdict_seconds_bucket{le=\"+Inf\"} 2",
            "dbacl_verdict_seconds_count 2",
            "dbacl_filters_open 2",
        ] {
            assert!(text.lines().any(|other| other == line), "{line} is not in {text}");
        }
    }
}
