// SPDX-License-Identifier: GPL-3.0-or-later
//! dbacl's mail filter on the same folds: it learns the training documents as `--mail-learn` does,
//! and classifies the others.

use crate::protocol::{Findings, Judged, Run};
use dbacl::{MailFilter, MailFilterOptions, MailFolder, MailLearnOptions};
use dbacl_numeric::elementary::log;
use std::fs;
use std::io;
use std::sync::atomic::Ordering;

/// What it is called in reports.
pub(crate) const NAME: &str = "mail filter";

/// The options that make and use it.
pub(crate) const OPTIONS: &str = "--mail-learn, --mail-filter";

/// The most categories that a mail filter can have.
const MOST: usize = 64;

/// Learns and classifies mail with the mail filter. Unsure verdicts count as the most probable
/// category.
pub(crate) fn perform(run: &Run<'_>) -> io::Result<Findings> {
    let &Run { documents, categories, positive, plan, meter, .. } = run;
    if categories > MOST {
        return Err(io::Error::other(format!("it has {MOST} folders at most")));
    }
    let mut findings = Findings::default();
    let mut unsure = 0;
    // The names of the corpus may not be valid names for a filter, so these are used in their
    // place.
    let labels: Vec<String> = (0..categories).map(|category| format!("c{category}")).collect();
    let parts =
        plan.parts(documents.len()).ok_or_else(|| io::Error::other("it learns all at once"))?;
    for (fold, (training, testing)) in parts.into_iter().enumerate() {
        let work = tempfile::tempdir()?;
        let mut folders = Vec::new();
        for (category, label) in labels.iter().enumerate() {
            let folder = work.path().join(format!("mail-{label}"));
            fs::create_dir(&folder)?;
            let own = training.iter().filter(|&&document| documents[document].truth == category);
            for &document in own {
                fs::write(folder.join(format!("{document:08}")), &documents[document].bytes)?;
            }
            folders.push(MailFolder::new(label, folder));
        }
        let options = MailLearnOptions::default();
        let options = match labels.as_slice() {
            [first, second] => options.protect(if positive == 0 { second } else { first }),
            _ => options,
        };
        let set = work.path().join("filter");
        MailFilter::learn_folders(&set, &folders, &options).map_err(io::Error::other)?;
        let set =
            MailFilter::open(&set, &MailFilterOptions::default()).map_err(io::Error::other)?;
        meter.fetch_add(training.len(), Ordering::Relaxed);
        for document in testing {
            let verdict = set.classify(&documents[document].bytes).map_err(io::Error::other)?;
            unsure += usize::from(verdict.is_unsure);
            let place = set.labels().iter().position(|own| *own == labels[positive]);
            let share = place.filter(|_| categories == 2).map(|at| verdict.probabilities[at]);
            let verdict = labels.iter().position(|label| *label == verdict.category);
            let margin = share.map_or(f64::NAN, |share| log(share / (1.0 - share)));
            let truth = documents[document].truth;
            let judged = Judged { document, fold, truth, verdict, margin, ..Judged::default() };
            findings.judged.push(judged);
            meter.fetch_add(1, Ordering::Relaxed);
        }
    }
    if unsure > 0 {
        let text = format!("unsure of {unsure} messages, which count as the more probable label");
        findings.warnings.insert(text);
    }
    findings.judged.sort_by_key(|judged| judged.document);
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Document, Feedback, Plan};
    use std::sync::atomic::AtomicUsize;

    fn perform(
        documents: &[Document],
        (categories, positive): (usize, usize),
        plan: &Plan,
    ) -> io::Result<Findings> {
        let meter = &AtomicUsize::default();
        super::perform(&Run { documents, categories, positive, plan, threads: 1, meter })
    }

    #[test]
    fn mail_is_learned_and_judged_fold_by_fold() {
        let document = |number: usize| {
            let truth = number % 2;
            let words = ["meeting agenda minutes", "cheap pills offer"][truth];
            let text =
                format!("From: a{number}@example.org\nSubject: {words}\n\n{words} {number}\n");
            Document { name: String::new(), truth, bytes: text.into_bytes() }
        };
        let documents: Vec<Document> = (0..40).map(document).collect();
        let folds: Vec<usize> = (0..40).map(|number| usize::from(number >= 20)).collect();
        let plan = Plan::Folds { folds, count: 2 };
        for positive in [0, 1] {
            let findings = perform(&documents, (2, positive), &plan).expect("findings");
            assert_eq!(findings.judged.len(), 40);
            for judged in &findings.judged {
                assert_eq!(judged.verdict, Some(judged.truth), "{judged:?}");
                assert_eq!(judged.margin > 0.0, judged.truth == positive, "{judged:?}");
            }
        }
        let online = Plan::Online { order: vec![0], feedback: Feedback::Immediate, refresh: 0.0 };
        assert!(perform(&documents, (2, 0), &online).is_err());
        assert!(perform(&documents, (MOST + 1, 0), &plan).is_err());
    }

    #[test]
    fn more_than_two_categories_have_no_positive_one() {
        let words = ["meeting agenda minutes", "cheap pills offer", "patch kernel review"];
        let document = |number: usize| {
            let text =
                format!("Subject: {}\n\n{} {number}\n", words[number % 3], words[number % 3]);
            Document { name: String::new(), truth: number % 3, bytes: text.into_bytes() }
        };
        let documents: Vec<Document> = (0..60).map(document).collect();
        let findings = perform(&documents, (3, 0), &Plan::Split(45));
        let judged = findings.expect("findings").judged;
        assert_eq!(judged.len(), 15);
        for judged in judged {
            assert!(judged.verdict == Some(judged.truth) && judged.margin.is_nan(), "{judged:?}");
        }
    }
}
