// SPDX-License-Identifier: GPL-3.0-or-later
//! The report as text.

use crate::report::{CLASS_HEADS, Report, interval, percent};
use dbacl_cli::table::aligned;
use std::fmt::Write;

/// Confusion tables of more categories are only in the JSON and HTML reports.
const WIDEST: usize = 12;
/// The longest name of an option set in the tables; longer ones are cut.
const LONGEST_NAME: usize = 28;

fn short(name: &str) -> String {
    if name.chars().count() <= LONGEST_NAME {
        return name.to_owned();
    }
    name.chars().take(LONGEST_NAME - 1).chain(['\u{2026}']).collect()
}

pub(crate) fn write(report: &Report) -> String {
    let mut out = heading(report);
    out.push('\n');
    out.push_str(&overview(report));
    let best = report.best();
    if report.entries.len() > 1 {
        let entry = &report.entries[best];
        let _ = write!(out, "\n{}: {}", report.place(), entry.name);
        if entry.is_mail_filter() {
            let [learn, filter] = report.filter_commands();
            let _ = writeln!(out, "\n  {learn}\n  {filter}");
        } else {
            let program = if entry.is_own { "dbacl " } else { "" };
            let _ = writeln!(out, " ({program}{})", entry.options);
        }
        let rivals: Vec<String> = report.rivals().iter().map(|it| short(&it.name)).collect();
        if !rivals.is_empty() {
            let _ = writeln!(out, "Within chance of it: {}", rivals.join("; "));
        }
        out.push('\n');
        out.push_str(&comparisons(report));
    }
    for entry in &report.entries {
        for warning in &entry.findings.warnings {
            let _ = writeln!(out, "\nNote on {}: {warning}", entry.name);
        }
    }
    let entry = &report.entries[best];
    let of = if report.entries.len() > 1 { format!(" ({})", entry.name) } else { String::new() };
    if report.corpus.categories.len() <= WIDEST {
        let _ = writeln!(out, "\nVerdicts by true category{of}");
        out.push_str(&confusion(report, best));
    }
    if report.corpus.categories.len() > 2 {
        let _ = writeln!(out, "\nBy category{of}");
        out.push_str(&classes(report, best));
    }
    if !entry.measures.calibrations.is_empty() {
        let _ = writeln!(out, "\nProbabilities{of}");
        let rows = entry.measures.calibrations.iter().map(|calibration| {
            vec![
                calibration.what.to_owned(),
                percent(calibration.error),
                format!("{:.4}", calibration.log_loss),
                format!("{:.4}", calibration.brier),
            ]
        });
        out.push_str(&aligned(["", "calibration error %", "log loss, bits", "Brier"], rows));
    }
    if !entry.findings.curve.is_empty() {
        let _ = writeln!(out, "\nLearning curve{of}");
        let rows = entry.findings.curve.iter().map(|point| {
            let rate = crate::measures::rate(point.errors, point.judged);
            vec![format!("{:.0}", point.learned), percent(rate.value), interval(rate)]
        });
        out.push_str(&aligned(["learned", "error %", "(95 %)"], rows));
    }
    out
}

/// What was evaluated, and how.
pub(crate) fn heading(report: &Report) -> String {
    let corpus = &report.corpus;
    let count = corpus.categories.len();
    let mut out = format!("{} documents in {count} categories", corpus.documents.len());
    if count <= WIDEST {
        let sizes: Vec<String> = corpus
            .categories
            .iter()
            .enumerate()
            .map(|(number, name)| {
                let size = corpus.documents.iter().filter(|one| one.truth == number).count();
                format!("{name} {size}")
            })
            .collect();
        let _ = write!(out, " ({})", sizes.join(", "));
    }
    let _ = writeln!(out, "; {}.", report.plan);
    out
}

fn overview(report: &Report) -> String {
    let columns = report.columns();
    let mut head: Vec<String> = vec!["options".into(), columns[0].head.clone(), "(95 %)".into()];
    head.extend(columns[1..].iter().map(|column| column.head.clone()));
    let rows = report.entries.iter().map(|entry| {
        let error = entry.measures.error;
        let others = columns[1..].iter().map(|column| percent((column.value)(entry)));
        [short(&entry.name), percent(error.value), interval(error)]
            .into_iter()
            .chain(others)
            .collect()
    });
    aligned(head, rows)
}

fn comparisons(report: &Report) -> String {
    let others = report.entries.iter().enumerate().filter(|&(at, _)| at != report.best());
    let rows = others.map(|(at, entry)| {
        let found = report.against_best(at);
        vec![
            short(&entry.name),
            found.only_first.to_string(),
            found.only_second.to_string(),
            found.chance_text(),
        ]
    });
    aligned(["against it", "only it wrong", "only the best wrong", "chance of that"], rows)
}

fn confusion(report: &Report, at: usize) -> String {
    let confusion = &report.entries[at].measures.confusion;
    let (names, columns) = (&report.corpus.categories, report.columns_of_verdicts(at));
    let mut head = vec![String::new()];
    head.extend(names.iter().cloned());
    if columns > names.len() {
        head.push("no verdict".into());
    }
    let rows = names.iter().zip(confusion.rows()).map(|(name, counts)| {
        let cells = counts[..columns].iter().map(ToString::to_string);
        std::iter::once(name.clone()).chain(cells).collect()
    });
    aligned(head, rows)
}

fn classes(report: &Report, at: usize) -> String {
    aligned(CLASS_HEADS, report.class_rows(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut() {
        assert_eq!(short("abc"), "abc");
        assert_eq!(short(&"x".repeat(40)).chars().count(), LONGEST_NAME);
    }
}
