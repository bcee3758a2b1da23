// SPDX-License-Identifier: GPL-3.0-or-later
//! What an evaluation found, for all forms of output.

use crate::corpus::Corpus;
use crate::mail_filter;
use crate::measures::{Binary, Comparison, Measures, RATES, Rate};
use crate::protocol::{Findings, Judged};
use dbacl::measures::confusion::PerLabel;

/// A difference counts if its probability by chance alone is smaller than this.
pub(crate) const CHANCE: f64 = 0.05;

/// An option set or another filter, and how good it is.
#[derive(Debug)]
pub(crate) struct Entry {
    pub name: String,
    /// Options of `dbacl`; for another filter what it says about itself.
    pub options: String,
    /// Whether it is a set of options of `dbacl`.
    pub is_own: bool,
    pub findings: Findings,
    pub measures: Measures,
}

impl Entry {
    /// Whether it is dbacl's mail filter.
    pub(crate) fn is_mail_filter(&self) -> bool {
        !self.is_own && self.name == mail_filter::NAME
    }
}

/// The whole evaluation.
#[derive(Debug)]
pub(crate) struct Report {
    pub corpus: Corpus,
    /// How they were divided, in words.
    pub plan: String,
    /// Whether learning curves follow time rather than the size of the training set.
    pub is_online: bool,
    /// Number of the positive category.
    pub positive: usize,
    /// The option sets, in the order given.
    pub entries: Vec<Entry>,
}

/// A column of the overview of all entries.
pub(crate) struct Column {
    /// What stands above it.
    pub head: String,
    /// Its value, a share.
    pub value: fn(&Entry) -> f64,
    pub is_more_better: bool,
}

/// The headings of the columns of [`Report::class_rows`].
pub(crate) const CLASS_HEADS: [&str; 5] =
    ["category", "documents", "recall %", "precision %", "F1 %"];

impl Report {
    /// The columns of the overview, the error rate first.
    pub(crate) fn columns(&self) -> Vec<Column> {
        fn of(entry: &Entry, pick: fn(&Binary) -> f64) -> f64 {
            entry.measures.binary.as_ref().map_or(f64::NAN, pick)
        }
        let column = |head: String, value, is_more_better| Column { head, value, is_more_better };
        let mut columns = vec![column("error %".into(), |it| it.measures.error.value, false)];
        if self.corpus.categories.len() == 2 {
            let (positive, negative) = self.sides();
            let caught = |rate: f64| format!("caught at {} %", 100.0 * rate);
            columns.extend([
                column(
                    format!("{negative} lost %"),
                    |it| of(it, |b| b.false_positives.value),
                    false,
                ),
                column(format!("{positive} missed %"), |it| of(it, |b| b.misses.value), false),
                column("lam %".into(), |it| of(it, |b| b.lam), false),
                column("(1-AUC) %".into(), |it| of(it, |b| b.area.value), false),
                column(caught(RATES[1]), |it| of(it, |b| b.recalls[1].value), true),
                column(caught(RATES[2]), |it| of(it, |b| b.recalls[2].value), true),
            ]);
        }
        columns.push(column("macro-F1".into(), |it| it.measures.macro_f1, true));
        columns
    }

    /// A row for each category, by the verdicts of an entry.
    pub(crate) fn class_rows(&self, at: usize) -> Vec<Vec<String>> {
        let classes = self.corpus.categories.iter().zip(&self.entries[at].measures.classes);
        let row = |(name, class): (&String, &PerLabel)| {
            let shares = [class.recall.value, class.precision.value, class.f1].map(percent);
            [name.clone(), class.documents.to_string()].into_iter().chain(shares).collect()
        };
        classes.map(row).collect()
    }

    /// Number of the best entry: the mail filter, unless the leader is clearly better; else the
    /// leader. The mail filter comes with thresholds and corrections, which the others lack.
    pub(crate) fn best(&self) -> usize {
        let leader = self.leader();
        let filter = self.entries.iter().position(Entry::is_mail_filter);
        filter.filter(|&filter| !self.is_clearly_worse(filter, leader)).unwrap_or(leader)
    }

    /// Whether an entry makes more errors than another, by more than chance.
    fn is_clearly_worse(&self, entry: usize, other: usize) -> bool {
        let found = self.compared(entry, other);
        found.only_first > found.only_second && found.chance < CHANCE
    }

    fn compared(&self, entry: usize, other: usize) -> Comparison {
        let [entry, other] = [entry, other].map(|at| &self.entries[at].findings.judged);
        Comparison::of(entry, other)
    }

    /// What to call the best entry, where there are several.
    pub(crate) fn place(&self) -> &'static str {
        match self.rivals().is_empty() {
            _ if self.entries[self.best()].is_mail_filter() => "Recommended",
            true => "Best",
            false => "Ahead",
        }
    }

    /// The commands that make and use the mail filter.
    pub(crate) fn filter_commands(&self) -> [String; 2] {
        let folders: Vec<String> =
            self.corpus.categories.iter().map(|name| format!("{name}=MAIL")).collect();
        let learn = format!("dbacl --mail-learn DIR {}", folders.join(" "));
        [learn, "dbacl --mail-filter DIR MESSAGE".to_owned()]
    }

    /// Number of the entry with the smallest area above the curve if all have one, else with the
    /// fewest errors; the first of equals.
    fn leader(&self) -> usize {
        let area = |entry: &Entry| {
            let area = entry.measures.binary.as_ref()?.area.value;
            (!area.is_nan()).then_some(area)
        };
        let areas: Option<Vec<f64>> = self.entries.iter().map(area).collect();
        let errors = || self.entries.iter().map(|entry| entry.measures.error.value).collect();
        let values: Vec<f64> = areas.unwrap_or_else(errors);
        let by = |a: &usize, b: &usize| values[*a].total_cmp(&values[*b]);
        (0..values.len()).min_by(by).unwrap_or(0)
    }

    /// Entries whose difference from the best one may be chance.
    pub(crate) fn rivals(&self) -> Vec<&Entry> {
        let best = self.best();
        let others = self.entries.iter().enumerate().filter(|&(at, _)| at != best);
        let rivals = others.filter(|&(at, _)| self.against_best(at).chance >= CHANCE);
        rivals.map(|(_, entry)| entry).collect()
    }

    /// Compares an entry with the best one.
    pub(crate) fn against_best(&self, at: usize) -> Comparison {
        self.compared(at, self.best())
    }

    /// How many columns of verdicts an entry has: the categories, and one for documents without
    /// verdict, if there are any.
    pub(crate) fn columns_of_verdicts(&self, at: usize) -> usize {
        let mut rows = self.entries[at].measures.confusion.rows();
        let is_undecided = rows.any(|row| row.last() != Some(&0));
        self.corpus.categories.len() + usize::from(is_undecided)
    }

    /// Name of a category; `?` for no verdict.
    pub(crate) fn category(&self, number: Option<usize>) -> &str {
        number.and_then(|number| self.corpus.categories.get(number)).map_or("?", String::as_str)
    }

    /// Names of the positive and of the negative category.
    pub(crate) fn sides(&self) -> (&str, &str) {
        (self.category(Some(self.positive)), self.category(Some(1_usize.abs_diff(self.positive))))
    }

    /// Documents of a category that were classified.
    pub(crate) fn judged_of(&self, category: usize) -> usize {
        let judged = self.entries.first().map_or(&[][..], |entry| &entry.findings.judged);
        judged.iter().filter(|judged| judged.truth == category).count()
    }

    /// The wrong verdicts of an entry, the surest first.
    pub(crate) fn mistakes(entry: &Entry) -> Vec<&Judged> {
        let mut wrong: Vec<&Judged> =
            entry.findings.judged.iter().filter(|one| one.verdict != Some(one.truth)).collect();
        wrong.sort_by(|a, b| b.sureness().total_cmp(&a.sureness()));
        wrong
    }
}

impl Judged {
    /// How much better the verdict's score is than the true category's, bits a token; the size of
    /// the margin where there are no such scores.
    pub(crate) fn sureness(&self) -> f64 {
        let mean = |number: Option<usize>| number.and_then(|number| self.means.get(number));
        let difference = match (mean(self.verdict), mean(Some(self.truth))) {
            (Some(verdict), Some(truth)) => dbacl_numeric::elementary::bits(verdict - truth),
            _ => self.margin.abs(),
        };
        if difference.is_nan() { 0.0 } else { difference }
    }
}

/// A rate as a percentage of about three digits.
pub(crate) fn percent(value: f64) -> String {
    let percentage = 100.0 * value;
    if value.is_nan() {
        "-".to_owned()
    } else if percentage == 0.0 || percentage == 100.0 {
        format!("{percentage:.0}")
    } else if percentage < 0.1 {
        format!("{percentage:.4}")
    } else if percentage < 1.0 {
        format!("{percentage:.3}")
    } else {
        format!("{percentage:.2}")
    }
}

/// The interval of a rate in percent.
pub(crate) fn interval(rate: Rate) -> String {
    format!("{}\u{2013}{}", percent(rate.low), percent(rate.high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measures::measure;
    use crate::protocol::Document;

    /// A report on 40 documents, of which each of these sets gets so many wrong, the first ones.
    fn report(sets: &[(&str, usize)]) -> Report {
        let document =
            |number: usize| Document { name: String::new(), truth: number % 2, bytes: Vec::new() };
        let corpus = Corpus {
            categories: ["ham", "spam"].map(str::to_owned).to_vec(),
            documents: (0..40).map(document).collect(),
            ..Corpus::default()
        };
        let judged = |number: usize, wrong: usize| {
            let verdict = if number < wrong { 1 - number % 2 } else { number % 2 };
            let (truth, verdict) = (number % 2, Some(verdict));
            Judged { document: number, truth, verdict, margin: f64::NAN, ..Judged::default() }
        };
        let entry = |&(name, wrong): &(&str, usize)| {
            let judged: Vec<Judged> = (0..40).map(|number| judged(number, wrong)).collect();
            let measures = measure(&judged, 2, 1);
            let is_own = name != mail_filter::NAME;
            let findings = Findings { judged, ..Findings::default() };
            Entry { name: name.into(), options: String::new(), is_own, findings, measures }
        };
        let entries = sets.iter().map(entry).collect();
        Report { corpus, plan: String::new(), is_online: false, positive: 1, entries }
    }

    #[test]
    fn the_mail_filter_is_recommended_unless_it_is_clearly_worse() {
        let filter = mail_filter::NAME;
        for (sets, best, place) in [
            (&[("a", 3), (filter, 1)][..], filter, "Recommended"),
            (&[("a", 1), (filter, 3)], filter, "Recommended"),
            (&[("a", 1), (filter, 20), ("b", 2)], "a", "Ahead"),
            (&[("a", 1), (filter, 20)], "a", "Best"),
            (&[("a", 1), ("b", 2)], "a", "Ahead"),
        ] {
            let report = report(sets);
            assert_eq!(report.entries[report.best()].name, best, "{sets:?}");
            assert_eq!(report.place(), place, "{sets:?}");
        }
        let commands = report(&[(filter, 0)]).filter_commands();
        assert_eq!(commands[0], "dbacl --mail-learn DIR ham=MAIL spam=MAIL");
    }

    #[test]
    fn percentages_have_three_digits_or_so() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "100"),
            (0.9876, "98.76"),
            (0.00512, "0.512"),
            (0.000216, "0.0216"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(percent(value), text);
        }
        assert_eq!(interval(Rate { value: 0.1, low: 0.0, high: 0.25 }), "0\u{2013}25.00");
    }
}
