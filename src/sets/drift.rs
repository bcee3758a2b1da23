// SPDX-License-Identifier: GPL-3.0-or-later
//! Notices that mail has changed since a filter was learned: the filter is unsure about more of the
//! mail that came since, or knows fewer of its words, than it did with the mail that it was learned
//! from.
//!
//! ```text
//! filter in service, its ledger ─┐
//! ledger of the next filter ─────┴→ new messages, judged ─→ beyond chance? ─→ one warning
//! ```

use super::filter_folder::LEDGER;
use super::open_set::MailFilter;
use crate::error::{Warning, WarningSink};
use crate::fit::header::Usual;
use crate::measures::chance::{Direction, is_rare};
use crate::store::generations::ledger_file;
use crate::store::ledger::Ledger;
use dbacl_numeric::elementary::real;
use hashbrown::HashSet;
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::Path;

/// New messages of a category that are classified, the last ones. More would tell hardly more.
const JUDGED: usize = 500;

/// Chance alone makes a warning as seldom as this for each category and share.
const LEVEL: f64 = 0.001;

/// Messages that follow each other are often of one kind, and no two months are alike: shares of
/// unsure messages up to this many times the usual one, and a little more, are no change.
const TIMES: f64 = 1.5;

/// What is added to that.
const MORE: f64 = 0.05;

/// The share of messages with more new words than the usual mail, where it is still no change. Half
/// of all are expected.
const UNFAMILIAR: f64 = 0.7;

/// What became of the mail of one category.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
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
pub fn expected(set: &MailFilter, unsure: usize, all: usize) -> Option<f64> {
    let usual = set.fitted.line.usual.iter().map(|usual| usual.unsure).reduce(f64::max)?;
    is_beyond(unsure, all, TIMES * usual + MORE).then(|| (usual * real(all)).round())
}

/// Whether so many of all are more than this share by more than chance.
fn is_beyond(part: usize, whole: usize, share: f64) -> bool {
    share < 1.0 && is_rare(real(part), real(whole), share, Direction::Many, LEVEL)
}

/// What has changed in the mail of each category since the filter in `folder` was learned, judging
/// by those messages of the ledger of the `next` filter that it does not know. Nothing is found
/// where there is no filter yet, where it reads mail in another way, or where it cannot be read:
/// learning replaces it anyhow.
pub fn changes(folder: &Path, next: &Ledger) -> Vec<Change> {
    let Some((set, known)) = in_service(folder, next) else { return Vec::new() };
    let places: Vec<Option<usize>> =
        next.head.names.iter().map(|name| set.place_of(&name.name)).collect();
    let mut new = vec![0usize; places.len()];
    // Messages, those that the filter is unsure about, and those with unfamiliar words.
    let mut found = vec![[0; 3]; places.len()];
    let is_new = |id: u64| !known.contains(&id);
    for (record, _) in next.heads().filter(|(record, _)| is_new(record.fingerprint)) {
        new[record.label as usize] += 1;
    }
    let mut is_readable = true;
    next.each(|record, _| {
        let label = record.label as usize;
        if !is_readable || !is_new(record.fingerprint) {
            return;
        }
        new[label] -= 1;
        let usual = places[label].and_then(|place| set.fitted.line.usual.get(place));
        let Some(usual) = usual.filter(|_| is_among_last(new[label])) else { return };
        let Ok(weighing) = set.weighing(record.occurrences, &record.terms) else {
            is_readable = false;
            return;
        };
        let is_unsure = set.fitted.line.verdict(&weighing.scores, weighing.support).is_unsure;
        let is_unfamiliar = weighing.support.known < usual.known;
        let [messages, unsure, unfamiliar] = &mut found[label];
        *messages += 1;
        *unsure += usize::from(is_unsure);
        *unfamiliar += usize::from(is_unfamiliar);
    });
    if !is_readable {
        return Vec::new();
    }
    let each = next.head.names.iter().zip(places).zip(found);
    let changes = each.filter_map(|((name, place), [mails, unsure, unfamiliar])| {
        let usual = *set.fitted.line.usual.get(place?)?;
        let label = String::from_utf8_lossy(&name.name).into_owned();
        Some(Change { label, mails, unsure, unfamiliar, usual })
    });
    changes.filter(|change| change.is_less_sure() || change.is_less_familiar()).collect()
}

/// Whether a new message is among those that are classified, if so many come after it.
const fn is_among_last(left: usize) -> bool {
    left < JUDGED
}

/// The filter in `folder`, if it reads mail as the `next` one, and the messages that it knows.
fn in_service(folder: &Path, next: &Ledger) -> Option<(MailFilter, HashSet<u64>)> {
    let set = MailFilter::open(folder, &mut |_| {}).ok()?;
    let path = set.generation.as_ref()?.path(OsStr::new(LEDGER));
    let ledger = ledger_file::load(&path).ok()??;
    if ledger.head.settings != next.head.settings || set.fitted.line.usual.is_empty() {
        return None;
    }
    let known = ledger.heads().map(|(record, _)| record.fingerprint).collect();
    Some((set, known))
}

/// Says that mail has changed since the filter in `folder` was learned.
pub fn tell(folder: &Path, changes: &[Change], warnings: WarningSink<'_>) {
    if changes.is_empty() {
        return;
    }
    let mut text =
        format!("mail has changed since the filter in {} was learned: ", folder.display());
    for (at, change) in changes.iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = write!(text, "{}{}", if at > 0 { ", " } else { "" }, change.text());
    }
    text.push_str("; these messages are learned now. ");
    text.push_str("Learn again more often, or leave old mail out with --window DAYS");
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
    fn only_the_last_messages_are_classified() {
        assert_eq!([0, 499, 500, 9000].map(is_among_last), [true, true, false, false]);
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
