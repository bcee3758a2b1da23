// SPDX-License-Identifier: GPL-3.0-or-later
//! The report as text.

use crate::report::{CLASS_HEADS, Report, interval, percent};
use std::fmt::Write;

/// Confusion tables of more categories are only in the JSON and HTML reports.
const WIDEST: usize = 12;
/// The longest name of an option set in the tables; longer ones are cut.
const LONGEST_NAME: usize = 28;

/// Lines up a table: the first column to the left, the others to the right.
fn align(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            rows.iter()
                .filter_map(|row| row.get(column))
                .map(|c| c.chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let pad = " ".repeat(width - cell.chars().count());
            line.push_str(if column == 0 { "" } else { "  " });
            let (first, second) = if column == 0 { (cell, &pad) } else { (&pad, cell) };
            line.push_str(first);
            line.push_str(second);
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

fn short(name: &str) -> String {
    if name.chars().count() <= LONGEST_NAME {
        return name.to_owned();
    }
    name.chars().take(LONGEST_NAME - 1).chain(['\u{2026}']).collect()
}

/// The report.
pub fn write(report: &Report) -> String {
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
        let mut rows = vec![vec![
            String::new(),
            "calibration error %".into(),
            "log loss, bits".into(),
            "Brier".into(),
        ]];
        for calibration in &entry.measures.calibrations {
            rows.push(vec![
                calibration.what.to_owned(),
                percent(calibration.error),
                format!("{:.4}", calibration.log_loss),
                format!("{:.4}", calibration.brier),
            ]);
        }
        out.push_str(&align(&rows));
    }
    if !entry.findings.curve.is_empty() {
        let _ = writeln!(out, "\nLearning curve{of}");
        let mut rows = vec![vec!["learned".to_owned(), "error %".into(), "(95 %)".into()]];
        for point in &entry.findings.curve {
            let rate = crate::measures::rate(point.errors, point.judged);
            rows.push(vec![format!("{:.0}", point.learned), percent(rate.value), interval(rate)]);
        }
        out.push_str(&align(&rows));
    }
    out
}

/// What was evaluated, and how.
pub fn heading(report: &Report) -> String {
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
    let mut rows = vec![head];
    rows.extend(report.entries.iter().map(|entry| {
        let error = entry.measures.error;
        let others = columns[1..].iter().map(|column| percent((column.value)(entry)));
        [short(&entry.name), percent(error.value), interval(error)]
            .into_iter()
            .chain(others)
            .collect()
    }));
    align(&rows)
}

fn comparisons(report: &Report) -> String {
    let mut rows = vec![vec![
        "against it".to_owned(),
        "only it wrong".into(),
        "only the best wrong".into(),
        "chance of that".into(),
    ]];
    for (at, entry) in report.entries.iter().enumerate().filter(|&(at, _)| at != report.best()) {
        let found = report.against_best(at);
        rows.push(vec![
            short(&entry.name),
            found.only_this.to_string(),
            found.only_best.to_string(),
            found.chance_text(),
        ]);
    }
    align(&rows)
}

fn confusion(report: &Report, at: usize) -> String {
    let measures = &report.entries[at].measures;
    let names = &report.corpus.categories;
    let undecided = measures.confusion.iter().any(|row| row.last() != Some(&0));
    let columns = names.len() + usize::from(undecided);
    let mut head = vec![String::new()];
    head.extend(names.iter().cloned());
    if undecided {
        head.push("no verdict".into());
    }
    let mut rows = vec![head];
    for (name, counts) in names.iter().zip(&measures.confusion) {
        let cells = counts[..columns].iter().map(ToString::to_string);
        rows.push(std::iter::once(name.clone()).chain(cells).collect());
    }
    align(&rows)
}

fn classes(report: &Report, at: usize) -> String {
    let mut rows = vec![CLASS_HEADS.map(str::to_owned).to_vec()];
    rows.extend(report.class_rows(at));
    align(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows: Vec<Vec<String>> = [["", "b\u{e9}"], ["long", "1"], ["x", "100"]]
            .map(|row| row.map(str::to_owned).to_vec())
            .to_vec();
        assert_eq!(align(&rows), "       b\u{e9}\nlong    1\nx     100\n");
        assert_eq!(short("abc"), "abc");
        assert_eq!(short(&"x".repeat(40)).chars().count(), LONGEST_NAME);
    }
}
