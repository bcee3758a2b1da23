// SPDX-License-Identifier: GPL-3.0-or-later
//! What one option set did: confusions, mistakes, calibration, errors as it learned.

use super::markup::{figure, t, table};
use crate::measures::rate;
use crate::report::{CLASS_HEADS, Entry, Report, interval, percent};
use dbacl::mail::subject::subject;
use dbacl_numeric::elementary::real;
use maud::{Markup, html};

/// Confusions that are listed.
const LISTED: usize = 15;
/// Mistakes that are listed.
const WORST: usize = 8;
/// Tables of more categories have no names at their columns.
const NAMED: usize = 30;

/// Everything about one set.
pub(super) fn details(report: &Report, at: usize) -> Markup {
    let entry = &report.entries[at];
    let is_many = report.corpus.categories.len() > 2;
    html! {
        div.grid {
            (calibration(entry))
            (confusion(report, at))
            (mistakes(report, entry))
            (learning(report, entry))
        }
        @if is_many {
            (pairs(report, entry))
            details { summary { "By category" } div.card { (classes(report, at)) } }
        }
    }
}

/// How often probabilities came true, by what was claimed.
fn calibration(entry: &Entry) -> Markup {
    let rows = entry.measures.calibrations.iter().flat_map(|calibration| {
        calibration.bins.iter().map(|bin| {
            vec![
                t(calibration.what),
                html! { (percent(bin.claimed)) "\u{a0}%" },
                html! { (percent(bin.found.value)) "\u{a0}%" br; small { (interval(bin.found)) } },
                html! { (bin.count) },
            ]
        })
    });
    let errors = entry.measures.calibrations.iter().map(|one| {
        let (error, loss) = (percent(one.error), one.log_loss);
        format!("{}: average error {error} %, log loss {loss:.3} bits.", one.what)
    });
    let heads = ["probability", "claimed", "came true", "documents"];
    shown("Can the probabilities be believed?", &table(1, &heads, rows), errors)
}

/// Errors after learning parts of the documents, or along the stream.
fn learning(report: &Report, entry: &Entry) -> Markup {
    let rows = entry.findings.curve.iter().map(|point| {
        let wrong = rate(point.errors, point.judged);
        let learned = format!("{:.0}", point.learned);
        vec![
            t(&learned),
            html! { (percent(wrong.value)) "\u{a0}%" br; small { (interval(wrong)) } },
        ]
    });
    let seen = if report.is_online { "documents seen" } else { "documents learned" };
    let caption = (!entry.findings.curve.is_empty())
        .then(|| "If errors still fall at the end, more documents help most.".to_owned());
    shown("Learning curve", &table(0, &[seen, "wrong"], rows), caption)
}

/// A table as a figure, if there is something to say about it.
fn shown(title: &str, picture: &Markup, captions: impl IntoIterator<Item = String>) -> Markup {
    let caption = captions.into_iter().collect::<Vec<_>>().join(" ");
    if caption.is_empty() { Markup::default() } else { figure(title, picture, &caption) }
}

fn confusion(report: &Report, at: usize) -> Markup {
    let (confusion, columns) =
        (&report.entries[at].measures.confusion, report.columns_of_verdicts(at));
    let name = |column: usize| report.category(Some(column));
    let (is_dense, is_turned) = (columns > NAMED, columns > 4);
    // Full colour only where there is something to see.
    let shade = |count: usize, total: f64| {
        let share = if count == 0 { 3.0 } else { 12.0 + 63.0 * (real(count) / total).sqrt() };
        format!("--share:{share:.0}%")
    };
    let picture = html! {
        div.scroll { table.confusion.dense[is_dense] {
            @if !is_dense {
                tr { th {} @for column in 0..columns {
                    th { span.turned[is_turned] { (t(name(column))) } }
                } }
            }
            @for (row, counts) in confusion.rows().enumerate() {
                @let total = real(counts.iter().sum::<usize>().max(1));
                tr {
                    th.left { (t(name(row))) }
                    @for (column, &count) in counts[..columns].iter().enumerate() {
                        @let hint = format!("{} taken for {}: {count}", name(row), name(column));
                        td.wrong[row != column] style=(shade(count, total)) title=(t(&hint)) {
                            @if count > 0 && !is_dense { (count) }
                        }
                    }
                }
            }
        } }
    };
    let caption = "Rows: true categories. Columns: what they were taken for, in the same order.";
    figure("Verdicts", &picture, caption)
}

/// The most frequent confusions.
fn pairs(report: &Report, entry: &Entry) -> Markup {
    let mut pairs = entry.measures.confusion.worst();
    pairs.truncate(LISTED);
    if pairs.is_empty() {
        return Markup::default();
    }
    let rows = pairs.into_iter().map(|(truth, verdict, count)| {
        let share = percent(real(count) / real(entry.measures.classes[truth].documents));
        let [truth, verdict] = [truth, verdict].map(|it| t(report.category(Some(it))));
        vec![truth, verdict, html! { (count) }, html! { (share) "\u{a0}%" }]
    });
    let heads = ["true", "taken for", "documents", "of the category"];
    html! { h3 { "Most frequent confusions" } div.card { (table(2, &heads, rows)) } }
}

fn classes(report: &Report, at: usize) -> Markup {
    let rows = report.class_rows(at).into_iter();
    table(1, &CLASS_HEADS, rows.map(|row| row.iter().map(|cell| t(cell)).collect()))
}

fn mistakes(report: &Report, entry: &Entry) -> Markup {
    let wrong = Report::mistakes(entry);
    if wrong.is_empty() {
        return Markup::default();
    }
    let rows = wrong.iter().take(WORST).map(|judged| {
        let document = &report.corpus.documents[judged.document];
        let name = t(&document.name);
        let shown = match subject(&document.bytes) {
            None => html! { code { (name) } },
            Some(subject) => html! { span title=(name) { (t(&subject)) } },
        };
        let [truth, verdict] =
            [Some(judged.truth), judged.verdict].map(|it| t(report.category(it)));
        vec![shown, truth, verdict, html! { (format!("{:.3}", judged.sureness())) }]
    });
    let picture = table(3, &["document", "true", "taken for", "by"], rows);
    let caption = "By: how much better the wrong category's score is, bits a token.";
    figure("The surest mistakes", &picture, caption)
}
