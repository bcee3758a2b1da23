// SPDX-License-Identifier: GPL-3.0-or-later
//! Corrections: a ledger of the documents that users have corrected, beside the ledger of all
//! documents. They override the folders from which documents are learned, until the folders agree.
//! Of several corrections of one document the last one counts.
//!
//! A correction to a label that no folder has cannot be applied. It is kept until there is such a
//! folder again, since the missing label may be an oversight.

use super::ledger::{Ledger, MAX_NAMES};
use crate::fit::documents::Term;
use hashbrown::HashMap;

/// The result of applying corrections to a ledger.
#[derive(Debug, Clone)]
pub struct Corrected {
    /// The ledger.
    pub ledger: Ledger,
    /// Corrections that are still needed, and those that were not applied. Its names are those of
    /// the ledger, in their order, and behind them the labels that the ledger does not have.
    pub corrections: Ledger,
    /// How many corrections are still needed and were applied.
    pub applied: usize,
    /// The labels that the ledger does not have, each with the number of corrections to it that
    /// were not applied.
    pub unplaced: Vec<(Vec<u8>, usize)>,
    /// How many of these corrections are not kept, because a ledger cannot have so many labels.
    pub lost: usize,
}

/// Applies `corrections` to a ledger that was made from folders. A document that is found under its
/// corrected label, and under no other, needs its correction no longer.
pub fn apply(ledger: &Ledger, corrections: &Ledger) -> Corrected {
    // Labels are places in the ledger's names.
    let place = |name: &[u8]| ledger.head.names.iter().position(|known| known.name == name);
    let places: Vec<Option<usize>> =
        corrections.head.names.iter().map(|name| place(&name.name)).collect();
    let place = |label: u32| places.get(label as usize).copied().flatten();
    let mut wanted: HashMap<u64, usize> = HashMap::new();
    // How many corrections there are of each document.
    let mut times: HashMap<u64, usize> = HashMap::new();
    for (record, _) in corrections.heads() {
        *times.entry(record.fingerprint).or_default() += 1;
        match place(record.label) {
            Some(label) => wanted.insert(record.fingerprint, label),
            None => wanted.remove(&record.fingerprint),
        };
    }
    // How often each is found under its label, and under others.
    let mut found: HashMap<u64, [usize; 2]> = HashMap::new();
    for (record, _) in ledger.heads() {
        if let Some(&label) = wanted.get(&record.fingerprint) {
            let is_other = record.label as usize != label;
            found.entry(record.fingerprint).or_default()[usize::from(is_other)] += 1;
        }
    }
    let mut corrected = ledger.filter(|record, _| {
        wanted.get(&record.fingerprint).is_none_or(|&label| record.label as usize == label)
    });
    let (mut applied, mut lost) = (0, 0);
    let mut unplaced: Vec<(Vec<u8>, usize)> = Vec::new();
    let mut kept = Ledger::new(ledger.head.settings, ledger.head.names.clone());
    corrections.each(|record, _| {
        if let Some(left) = times.get_mut(&record.fingerprint) {
            *left -= 1;
            if *left > 0 {
                return;
            }
        }
        let Some(label) = place(record.label) else {
            let name = corrections.head.names.get(record.label as usize);
            let name = name.map_or_else(Vec::new, |name| name.name.clone());
            let at = unplaced.iter().position(|(known, _)| *known == name);
            let at = at.unwrap_or_else(|| {
                unplaced.push((name.clone(), 0));
                unplaced.len() - 1
            });
            unplaced[at].1 += 1;
            if ledger.head.names.len() + at < MAX_NAMES {
                let label = kept.head.label(&name);
                kept.push(label, record.occurrences, &record.terms);
            } else {
                lost += 1;
            }
            return;
        };
        let [same, other] = found.get(&record.fingerprint).copied().unwrap_or_default();
        if other == 0 && same > 0 {
            return;
        }
        applied += 1;
        let label = u32::try_from(label).unwrap_or(u32::MAX);
        kept.push(label, record.occurrences, &record.terms);
        if same == 0 {
            corrected.push(label, record.occurrences, &record.terms);
        }
    });
    Corrected { ledger: corrected, corrections: kept, applied, unplaced, lost }
}

/// A correction of a document: its label, the occurrences of its features, and its terms.
pub type Correction<'a> = (u32, u32, &'a [Term]);

/// The same corrections with those of `changes`, in place of earlier ones for the same documents;
/// `None` removes the correction of a document.
pub fn with(corrections: &Ledger, changes: &[(u64, Option<Correction<'_>>)]) -> Ledger {
    let numbered = changes.iter().enumerate();
    let last: HashMap<u64, usize> = numbered.map(|(number, (id, _))| (*id, number)).collect();
    let mut kept = corrections.filter(|record, _| !last.contains_key(&record.fingerprint));
    for (number, (fingerprint, correction)) in changes.iter().enumerate() {
        if let Some((label, occurrences, terms)) = *correction
            && last.get(fingerprint) == Some(&number)
        {
            kept.push(label, occurrences, terms);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::documents::fingerprint;
    use crate::model::settings::{ModelOptions, Scheme};
    use crate::store::ledger::{Name, Settings};
    use crate::token::id::FeatureId;

    fn terms(id: u32) -> Vec<Term> {
        vec![Term::new(FeatureId(id), 1, 2)]
    }

    /// A ledger with a document for each pair of label and feature.
    fn ledger(names: &[&str], documents: &[(u32, u32)]) -> Ledger {
        let options = ModelOptions::from_bits(8);
        let settings = Settings { options, scheme: Scheme::Cef, order: 1, patterns: 0 };
        let names = names.iter().map(|name| Name::new(name.as_bytes())).collect();
        let mut ledger = Ledger::new(settings, names);
        for &(label, id) in documents {
            ledger.push(label, 2, &terms(id));
        }
        ledger
    }

    fn documents(ledger: &Ledger) -> Vec<(u32, u32)> {
        let mut documents = Vec::new();
        ledger.each(|record, _| documents.push((record.label, record.terms[0].id.0)));
        documents
    }

    #[test]
    fn corrections_override_folders_until_these_agree() {
        let pairs = |text: &str| -> Vec<(u32, u32)> {
            let numbers = text.split_whitespace().map(|pair| pair.parse::<u32>().unwrap());
            numbers.map(|pair| (pair / 10, pair % 10)).collect()
        };
        // Each number is a label and a document: 12 is document 2 as spam.
        for cases in [
            // In the wrong folder.
            ["01 02 13", "12", "01 13 12", "12"],
            // In none.
            ["01 13", "09", "01 13 09", "09"],
            // Moved to the right one.
            ["01 12 13", "12", "01 12 13", ""],
            // Copied there, and left in the wrong one.
            ["02 12 13", "12", "12 13", "12"],
            // Corrected twice: the last time counts.
            ["01 02", "11 12 01", "01 12", "12"],
            ["01", "", "01", ""],
        ] {
            let [folders, corrections, expected, still] = cases.map(pairs);
            let folders = ledger(&["ham", "spam"], &folders);
            let done = apply(&folders, &ledger(&["ham", "spam"], &corrections));
            assert_eq!(documents(&done.ledger), expected);
            assert_eq!(documents(&done.corrections), still);
            assert_eq!(done.applied, still.len());
            // With the labels in the other order the result is the same.
            let turned: Vec<_> = corrections.iter().map(|&(label, id)| (1 - label, id)).collect();
            let done = apply(&folders, &ledger(&["spam", "ham"], &turned));
            assert_eq!(documents(&done.ledger), expected);
        }
    }

    #[test]
    fn corrections_to_labels_without_a_folder_wait_for_one() {
        // Labels of the corrections are ham, spam, junk; the folders are ham and junk.
        let folders = ledger(&["ham", "junk"], &[(0, 1), (0, 2), (0, 3), (0, 4), (1, 5)]);
        let all =
            ledger(&["ham", "spam", "junk"], &[(2, 1), (1, 2), (2, 3), (1, 3), (1, 4), (2, 4)]);
        let done = apply(&folders, &all);
        // The last correction of document 3 is to a label without a folder, so none is applied.
        assert_eq!(documents(&done.ledger), [(0, 2), (0, 3), (1, 5), (1, 1), (1, 4)]);
        assert_eq!((done.applied, done.lost), (2, 0));
        assert_eq!(done.unplaced, [(b"spam".to_vec(), 2)]);
        assert_eq!(documents(&done.corrections), [(1, 1), (2, 2), (2, 3), (1, 4)]);
        assert!(done.corrections.head.are_named(&["ham", "junk", "spam"].map(Vec::from)));
        // What was kept can be written and read, and is applied when there is such a folder.
        let kept = Ledger::parse(&done.corrections.bytes()).unwrap();
        let folders = ledger(&["spam", "ham"], &[(1, 1), (1, 2), (1, 3), (0, 5)]);
        let done = apply(&folders, &kept);
        assert_eq!(documents(&done.ledger), [(1, 1), (0, 5), (0, 2), (0, 3)]);
        assert_eq!(done.unplaced, [(b"junk".to_vec(), 2)]);
        assert_eq!(documents(&done.corrections), [(2, 1), (0, 2), (0, 3), (2, 4)]);
    }

    #[test]
    fn a_ledger_of_corrections_has_no_more_names_than_can_be_read() {
        let labels: Vec<String> = (0..MAX_NAMES).map(|number| format!("n{number}")).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let each: Vec<(u32, u32)> =
            (0..u32::try_from(MAX_NAMES).unwrap()).map(|number| (number, number + 100)).collect();
        let done = apply(&ledger(&["ham", "spam"], &[(0, 1)]), &ledger(&labels, &each));
        assert_eq!((done.applied, done.unplaced.len(), done.lost), (0, MAX_NAMES, 2));
        let kept = Ledger::parse(&done.corrections.bytes()).unwrap();
        assert_eq!(documents(&kept).len(), MAX_NAMES - 2);
    }

    #[test]
    fn a_document_has_one_correction() {
        let all = ledger(&["ham", "spam"], &[(0, 1), (1, 2)]);
        let terms = terms(1);
        let of = fingerprint(&terms);
        let changed = with(&all, &[(of, Some((1, 2, &terms)))]);
        assert_eq!(documents(&changed), [(1, 2), (1, 1)]);
        assert_eq!(documents(&with(&changed, &[(of, None)])), [(1, 2)]);
        let twice = [(of, Some((0, 2, &terms[..]))), (of, Some((1, 2, &terms[..])))];
        assert_eq!(documents(&with(&all, &twice)), [(1, 2), (1, 1)], "the last one counts");
    }
}
