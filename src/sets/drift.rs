// SPDX-License-Identifier: GPL-3.0-or-later
//! Notices that mail has changed since a filter was learned: the filter is unsure about more of the
//! mail that came since, or knows fewer of its words, than it did with the mail that it was learned
//! from.
//!
//! ```text
//! filter in service ─────┐
//! messages of the next ──┴→ new messages, classified ─→ beyond chance? ─→ one warning
//! ```

use super::mail_reading::MailReading;
use super::open_filter::OpenFilter;
use crate::error::{Warning, WarningSink};
use crate::fit::rule::Usual;
use crate::measures::chance::{Direction, is_rare};
use crate::store::Document;
use dbacl_numeric::elementary::real;
use hashbrown::HashSet;
use std::fmt::Write;
use std::path::Path;

/// New messages of a category that are classified, the last ones. More would tell hardly more.
const JUDGED: usize = 500;

/// The probability with which chance alone makes a warning, for each category and share.
const LEVEL: f64 = 0.001;

/// Messages that follow each other are often of one kind, and no two months are alike: mail has
/// changed only if the share of unsure messages is more than this many times the usual share, with
/// [`MORE`] added.
const TIMES: f64 = 1.5;

/// What is added to that.
const MORE: f64 = 0.05;

/// The share of messages with more new words than the usual mail, where it is still no change. Half
/// of all are expected.
const UNFAMILIAR: f64 = 0.7;

/// What became of the mail of one category.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Change {
    label: String,
    /// New messages.
    mails: usize,
    /// Those that the filter is unsure about.
    unsure: usize,
    /// Those of which it knows a smaller share of the words than is usual.
    unfamiliar: usize,
    /// The shares among the messages that the filter was learned from.
    usual: Usual,
}

impl Change {
    fn is_less_sure(&self) -> bool {
        is_beyond(self.unsure, self.mails, TIMES * self.usual.unsure + MORE)
    }

    fn is_less_familiar(&self) -> bool {
        is_beyond(self.unfamiliar, self.mails, UNFAMILIAR)
    }

    /// What is said of it.
    fn text(&self) -> String {
        let Self { label, mails, unsure, unfamiliar, usual } = self;
        if self.is_less_sure() {
            let expected = (usual.unsure * real(*mails)).round();
            format!(
                "it was unsure about {unsure} of {mails} new messages of {label} \
                 ({expected} expected)"
            )
        } else {
            let expected = mails / 2;
            format!(
                "{unfamiliar} of {mails} new messages of {label} have more new words than usual \
                 ({expected} expected)"
            )
        }
    }
}

/// Of how many of `all` messages `set` was expected to be unsure, if it was unsure of so many that
/// mail must have changed; `None` if not, or if the filter does not say what is usual.
pub(super) fn expected(set: &OpenFilter, unsure: usize, all: usize) -> Option<f64> {
    let usual = set.rule().usual.iter().map(|usual| usual.unsure).reduce(f64::max)?;
    is_beyond(unsure, all, TIMES * usual + MORE).then(|| (usual * real(all)).round())
}

/// Whether `part` of `whole` is a larger share than `share`, by more than chance.
fn is_beyond(part: usize, whole: usize, share: f64) -> bool {
    share < 1.0 && is_rare(real(part), real(whole), share, Direction::Many, LEVEL)
}

/// What has changed in the mail of each category since the filter `now` was learned, by the
/// verdicts on those of `documents` that it does not know; they have these `labels`. Nothing is
/// found where there is no filter yet, or where it reads mail in another way: learning replaces it
/// anyhow.
pub(super) fn changes(
    now: Option<&OpenFilter>,
    reading: MailReading,
    labels: &[String],
    documents: &[Document],
) -> Vec<Change> {
    let is_same =
        |now: &&OpenFilter| MailReading::of(&now.tables.table.head.reading) == Some(reading);
    let Some(now) = now.filter(is_same) else { return Vec::new() };
    let Ok(names) = now.tables.table.names() else { return Vec::new() };
    let mut known: HashSet<u64> = names.iter().map(|&(name, _)| name).collect();
    known.extend(now.tables.journal.lessons.iter().map(|lesson| lesson.document.name()));
    let new: Vec<&Document> = documents.iter().filter(|own| !known.contains(&own.name())).collect();
    let of = |(at, label): (usize, &String)| {
        let place = now.names().iter().position(|own| own == label)?;
        let usual = *now.rule().usual.get(place)?;
        let own = new.iter().filter(|document| usize::from(document.label) == at);
        let own: Vec<&&Document> = own.collect();
        let (mut unsure, mut unfamiliar) = (0, 0);
        let last = &own[own.len().saturating_sub(JUDGED)..];
        for document in last {
            let weighing = now.weigh_document(document)?;
            let verdict = now.rule().verdict(&weighing.scores, weighing.support);
            unsure += usize::from(verdict.is_unsure);
            unfamiliar += usize::from(weighing.support.known < usual.known);
        }
        Some(Change { label: label.clone(), mails: last.len(), unsure, unfamiliar, usual })
    };
    let changes = labels.iter().enumerate().filter_map(of);
    changes.filter(|change| change.is_less_sure() || change.is_less_familiar()).collect()
}

/// Says that mail has changed since the filter in `folder` was learned.
pub(super) fn tell(folder: &Path, changes: &[Change], warnings: WarningSink<'_>) {
    if changes.is_empty() {
        return;
    }
    let mut text =
        format!("mail has changed since the filter in {} was learned: ", folder.display());
    for (at, change) in changes.iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = write!(text, "{}{}", if at > 0 { ", " } else { "" }, change.text());
    }
    text.push_str("; these messages are learned now. Thirty answers about other new mail teach ");
    text.push_str("most (--mail-ask), or leave old mail out with --window DAYS");
    warnings(Warning::new(text));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(mails: usize, unsure: usize, unfamiliar: usize) -> Change {
        let usual = Usual { unsure: 0.06, known: 0.8 };
        Change { label: "ham".into(), mails, unsure, unfamiliar, usual }
    }

    #[test]
    fn only_what_is_beyond_chance_is_a_change() {
        for (mails, unsure, unfamiliar, expected) in [
            (0, 0, 0, (false, false)),
            (3, 3, 3, (false, false)),
            (100, 6, 50, (false, false)),
            // More than usual, but no more than other months may have.
            (1000, 140, 700, (false, false)),
            (100, 28, 80, (true, false)),
            (100, 14, 80, (false, false)),
            (100, 14, 90, (false, true)),
            (1000, 220, 800, (true, true)),
        ] {
            let change = change(mails, unsure, unfamiliar);
            let found = (change.is_less_sure(), change.is_less_familiar());
            assert_eq!(found, expected, "{mails} {unsure} {unfamiliar}");
        }
        let always = Change { usual: Usual { unsure: 1.0, known: 0.5 }, ..change(100, 100, 0) };
        assert!(!always.is_less_sure());
    }

    #[test]
    fn one_line_tells_what_has_changed() {
        let said = |changes: &[Change]| {
            let mut said = Vec::new();
            tell(Path::new("f"), changes, &mut |warning| said.push(warning.0));
            said.join("\n")
        };
        assert_eq!(said(&[]), "");
        let spam = Change { label: "spam".into(), ..change(50, 2, 49) };
        let text = said(&[change(100, 31, 90), spam]);
        assert_eq!(
            text.split_once("; ").unwrap().0,
            "mail has changed since the filter in f was learned: it was unsure about 31 of 100 new \
             messages of ham (6 expected), 49 of 50 new messages of spam have more new words than \
             usual (25 expected)"
        );
        assert!(text.contains("--window DAYS") && !text.contains('\n'), "{text}");
    }
}
