// SPDX-License-Identifier: GPL-3.0-or-later
//! What one option set did: scores, calibration, confusions and mistakes.

use super::chart::{Chart, Scale, Spot, Unit, axis, class, figure};
use super::curves::legend;
use super::markup::{t, table};
use crate::report::{CLASS_HEADS, Entry, Report, percent};
use dbacl::mail::subject::subject;
use dbacl_numeric::elementary::real;
use maud::{Markup, html};

/// Bars of a histogram, on each side.
const BARS: usize = 48;
/// Confusions that are listed.
const LISTED: usize = 15;
/// Mistakes that are listed.
const WORST: usize = 8;
/// Tables of more categories have no names at their columns.
const NAMED: usize = 30;

/// Series of the calibration of stated and of corrected probabilities.
const COLOURS: [usize; 2] = [7, 2];

/// Everything about one set.
pub(super) fn details(report: &Report, at: usize) -> Markup {
    let entry = &report.entries[at];
    let is_many = report.corpus.categories.len() > 2;
    html! {
        div.grid {
            (histogram(report, entry))
            (calibration(entry))
            (confusion(report, at))
            (mistakes(report, entry))
        }
        @if is_many {
            (pairs(report, entry))
            details { summary { "By category" } div.card { (classes(report, at)) } }
        }
    }
}

fn histogram(report: &Report, entry: &Entry) -> Markup {
    let judged = &entry.findings.judged;
    if let Some(binary) = &entry.measures.binary {
        let (positive, negative) = report.sides();
        let sides = binary.scored.iter().map(|one| (one.score, one.positive)).collect::<Vec<_>>();
        let decides = entry.measures.calibrations.is_empty();
        let label = if decides {
            format!("score (more {positive} to the right)")
        } else {
            format!("score of {positive} over {negative}, bits a token")
        };
        let caption = "Share of documents at each score, above and below the line: what overlaps \
                       cannot be distinguished. Scores beyond the ends are in the last bars.";
        return bars(&sides, label, (positive, negative), !decides, caption);
    }
    let margins: Vec<(f64, bool)> = judged
        .iter()
        .filter(|one| !one.means.is_empty())
        .map(|one| {
            let truth = one.means[one.truth];
            let others = one.means.iter().enumerate().filter(|&(at, _)| at != one.truth);
            let best = others.map(|(_, &mean)| mean).fold(f64::NEG_INFINITY, f64::max);
            (dbacl_numeric::elementary::bits(truth - best), one.verdict == Some(one.truth))
        })
        .filter(|(margin, _)| margin.is_finite())
        .collect();
    let caption = "How much better the true category's score is than the best other: documents to \
                   the right of 0 are recognised.";
    let label = "score of the truth over the best other, bits a token".to_owned();
    bars(&margins, label, ("right", "wrong"), true, caption)
}

/// A histogram of two groups, one up, one down.
fn bars(
    values: &[(f64, bool)],
    label: String,
    (up, down): (&str, &str),
    has_zero: bool,
    caption: &str,
) -> Markup {
    if values.is_empty() {
        return Markup::default();
    }
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for side in [true, false] {
        let mut sorted: Vec<f64> =
            values.iter().filter(|value| value.1 == side).map(|value| value.0).collect();
        sorted.sort_by(f64::total_cmp);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // an index
        let quantile = |share: f64| {
            sorted.get((real(sorted.len().saturating_sub(1)) * share).round() as usize)
        };
        low = quantile(0.05).map_or(low, |&value| value.min(low));
        high = quantile(0.95).map_or(high, |&value| value.max(high));
    }
    if has_zero {
        low = low.min(0.0);
        high = high.max(0.0);
    }
    if high - low <= 1e-9 {
        (low, high) = (low - 0.5, high + 0.5);
    }
    let width = (high - low) / real(BARS);
    let mut counts = vec![[0usize; 2]; BARS];
    let mut totals = [0usize; 2];
    for &(value, is_up) in values {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // clamped
        let bar = (((value - low) / width).max(0.0) as usize).min(BARS - 1);
        counts[bar][usize::from(!is_up)] += 1;
        totals[usize::from(!is_up)] += 1;
    }
    let share = |count: usize, side: usize| real(count) / real(totals[side].max(1));
    let most =
        counts.iter().flat_map(|pair| [share(pair[0], 0), share(pair[1], 1)]).fold(0.0, f64::max);
    let mut chart = Chart::new(
        axis(label, Scale::Linear(low, high), Unit::Plain),
        axis("share of documents", Scale::Linear(-most * 1.12, most * 1.12), Unit::Share),
    );
    for (bar, pair) in counts.iter().enumerate() {
        let (from, to) = (low + real(bar) * width, low + real(bar + 1) * width);
        for (side, (name, class)) in [(up, "s1"), (down, "s0")].into_iter().enumerate() {
            if pair[side] > 0 {
                let height = share(pair[side], side) * if side == 0 { 1.0 } else { -1.0 };
                let hint = format!("{name}: {} from {from:.2} to {to:.2}", pair[side]);
                chart.bar(class, (from, 0.0), (to, height), &hint);
            }
        }
    }
    chart.guide(&[(low, 0.0), (high, 0.0)]);
    if has_zero {
        chart.guide(&[(0.0, -most * 1.12), (0.0, most * 1.12)]);
    }
    chart.word((low + width / 2.0, most), "s1", false, &format!("{up} \u{2191}"));
    chart.word((high - width / 2.0, -most), "s0", true, &format!("{down} \u{2193}"));
    chart.figure("Scores", caption)
}

fn calibration(entry: &Entry) -> Markup {
    let all = &entry.measures.calibrations;
    if all.is_empty() {
        return Markup::default();
    }
    let mut chart = Chart::new(
        axis("probability claimed", Scale::Linear(0.0, 1.0), Unit::Percent),
        axis("came true", Scale::Linear(0.0, 1.0), Unit::Percent),
    );
    chart.guide(&[(0.0, 0.0), (1.0, 1.0)]);
    for (number, calibration) in all.iter().enumerate() {
        let colour = COLOURS[number.min(1)];
        let total = real(calibration.bins.iter().map(|bin| bin.count).sum());
        // Bins of few documents are uncertain: they are drawn as dots, and the line leaves them
        // out.
        let firm = calibration.bins.iter().filter(|bin| bin.count >= 10);
        let spots: Vec<Spot> = firm.map(|bin| (bin.claimed, bin.found.value)).collect();
        chart.line(colour, false, &spots);
        for bin in &calibration.bins {
            let hint = format!(
                "{}: {} documents, claimed {} %, came true {} %",
                calibration.what,
                bin.count,
                percent(bin.claimed),
                percent(bin.found.value)
            );
            let x = bin.claimed;
            let whisker = ((x, bin.found.low), (x, bin.found.high));
            let radius = 2.5 + 5.0 * (real(bin.count) / total).sqrt();
            chart.dot(colour, (x, bin.found.value), radius, whisker, &hint);
        }
    }
    let errors: Vec<String> = all
        .iter()
        .map(|one| {
            format!(
                "{}: average error {} %, log loss {:.3} bits",
                one.what,
                percent(one.error),
                one.log_loss
            )
        })
        .collect();
    let caption = format!(
        "On the dashed line, probabilities come true as often as they say. {}.",
        errors.join("; ")
    );
    let series = all.iter().zip(COLOURS).map(|(one, colour)| (class(colour), one.what));
    let picture = html! { (legend(series)) (chart.picture("Calibration")) };
    figure("Can the probabilities be believed?", &picture, &caption)
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
