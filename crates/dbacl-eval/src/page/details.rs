// SPDX-License-Identifier: GPL-3.0-or-later
//! What one option set did: scores, calibration, confusions and mistakes.

use super::chart::{Chart, Scale, Spot, Unit, Weight, axis, class, figure};
use crate::report::{Entry, Report, percent};
use dbacl_engine::report::html::escape;
use dbacl_mail::subject::subject;
use dbacl_numeric::elementary::real;
use std::fmt::Write;

/// Bars of a histogram, on each side.
const BARS: usize = 48;
/// Confusions that are listed.
const LISTED: usize = 15;
/// Mistakes that are listed.
const WORST: usize = 8;
/// Tables of more categories have no names at their columns.
const NAMED: usize = 30;

/// Everything about one set.
pub fn details(page: &mut String, report: &Report, at: usize) {
    let entry = &report.entries[at];
    page.push_str("<div class=\"grid\">\n");
    histogram(page, report, entry);
    calibration(page, entry);
    confusion(page, report, entry);
    mistakes(page, report, entry);
    page.push_str("</div>\n");
    if report.corpus.categories.len() > 2 {
        pairs(page, report, entry);
        classes(page, report, entry);
    }
}

fn histogram(page: &mut String, report: &Report, entry: &Entry) {
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
                       cannot be told apart. Scores beyond the ends are in the last bars.";
        bars(page, &sides, label, (positive, negative), !decides, caption);
    } else {
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
        let caption = "How much better the true category's score is than the best other: documents \
                       to the right of 0 are recognised.";
        let label = "score of the truth over the best other, bits a token".to_owned();
        bars(page, &margins, label, ("right", "wrong"), true, caption);
    }
}

/// A histogram of two groups, one up, one down.
fn bars(
    page: &mut String,
    values: &[(f64, bool)],
    label: String,
    (up, down): (&str, &str),
    has_zero: bool,
    caption: &str,
) {
    if values.is_empty() {
        return;
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
    let svg = chart.finish("Histogram of scores");
    figure(page, "Scores", &svg, caption);
}

fn calibration(page: &mut String, entry: &Entry) {
    let all = &entry.measures.calibrations;
    if all.is_empty() {
        return;
    }
    let mut chart = Chart::new(
        axis("probability claimed", Scale::Linear(0.0, 1.0), Unit::Percent),
        axis("came true", Scale::Linear(0.0, 1.0), Unit::Percent),
    );
    chart.guide(&[(0.0, 0.0), (1.0, 1.0)]);
    let mut legend = String::from("<div class=\"legend\">");
    for (number, calibration) in all.iter().enumerate() {
        let colour = [7, 2][number.min(1)];
        let total = real(calibration.bins.iter().map(|bin| bin.count).sum());
        // Bins of few documents are uncertain: they are drawn as dots, and the line leaves them
        // out.
        let firm = calibration.bins.iter().filter(|bin| bin.count >= 10);
        let spots: Vec<Spot> = firm.map(|bin| (bin.claimed, bin.found.value)).collect();
        chart.line(colour, Weight::Full, &spots);
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
        let (class, what) = (class(colour), escape(calibration.what));
        let _ = write!(legend, "<span><span class=\"key {class}\"></span>{what}</span>");
    }
    legend.push_str("</div>");
    let svg = legend + &chart.finish("Calibration");
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
    figure(page, "Can the probabilities be believed?", &svg, &caption);
}

fn confusion(page: &mut String, report: &Report, entry: &Entry) {
    let names = &report.corpus.categories;
    let confusion = &entry.measures.confusion;
    let undecided = confusion.iter().any(|row| row.last() != Some(&0));
    let columns = names.len() + usize::from(undecided);
    let cell = (420.0 / real(columns)).clamp(8.0, 90.0);
    let font = (cell * 0.8).min(14.0);
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(1).min(26);
    let side = real(longest) * font * 0.62 + 16.0;
    let has_heads = columns <= NAMED;
    let slanted = columns > 4;
    let head = match (has_heads, slanted) {
        (true, true) => side,
        (true, false) => 30.0,
        _ => 8.0,
    };
    let (width, height) =
        (side + cell * real(columns) + 8.0, head + cell * real(names.len()) + 8.0);
    let wide = width.max(560.0);
    let mut svg = format!(
        "<svg viewBox=\"0 0 {wide:.0} {height:.0}\" role=\"img\" aria-label=\"Verdicts by true \
         category\">"
    );
    let clip = |name: &str| -> String {
        let short: String = name.chars().take(25).collect();
        if short.len() < name.len() { short + "\u{2026}" } else { short }
    };
    for column in 0..columns {
        let name = names.get(column).map_or("?", String::as_str);
        let x = side + cell * (real(column) + 0.5);
        let name = escape(&clip(name));
        if has_heads && slanted {
            let _ = write!(
                svg,
                "<text font-size=\"{font:.1}\" style=\"font-size:{font:.1}px\" \
                 transform=\"translate({:.1} {:.1}) rotate(-90)\">{name}</text>",
                x + font * 0.35,
                head - 8.0
            );
        } else if has_heads {
            let _ = write!(
                svg,
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{name}</text>",
                head - 10.0
            );
        }
    }
    for (row, (name, counts)) in names.iter().zip(confusion).enumerate() {
        let y = head + cell * real(row);
        let total: usize = counts.iter().sum();
        let _ = write!(
            svg,
            "<text style=\"font-size:{font:.1}px\" x=\"{:.1}\" y=\"{:.1}\" \
             text-anchor=\"end\">{}</text>",
            side - 8.0,
            y + cell / 2.0 + font * 0.35,
            escape(&clip(name))
        );
        for (column, &count) in counts[..columns].iter().enumerate() {
            let x = side + cell * real(column);
            let share = real(count) / real(total.max(1));
            let class = if row == column { "cell" } else { "cell wrong" };
            let verdict = report.category((column < names.len()).then_some(column));
            let hint = escape(&format!("{name} taken for {verdict}: {count}"));
            // Colour with full names only where there is something to see.
            let opacity = if count == 0 { 0.05 } else { 0.12 + 0.63 * share.sqrt() };
            let _ = write!(
                svg,
                "<rect class=\"{class}\" opacity=\"{opacity:.2}\" x=\"{x:.1}\" y=\"{y:.1}\" \
                 width=\"{0:.1}\" height=\"{0:.1}\">",
                cell - 1.0
            );
            let _ = write!(svg, "<title>{hint}</title></rect>");
            if cell >= 20.0 && count > 0 {
                let size = (cell * 0.36).clamp(8.5, 18.0);
                let _ = write!(
                    svg,
                    "<text class=\"count\" style=\"font-size:{size:.1}px\" x=\"{:.1}\" y=\"{:.1}\" \
                     text-anchor=\"middle\">{count}</text>",
                    x + cell / 2.0 - 0.5,
                    y + cell / 2.0 + size * 0.35
                );
            }
        }
    }
    svg.push_str("</svg>");
    figure(
        page,
        "Verdicts",
        &svg,
        "Rows: true categories. Columns: what they were taken for, in the same order.",
    );
}

/// The most frequent confusions.
fn pairs(page: &mut String, report: &Report, entry: &Entry) {
    let mut pairs: Vec<(usize, usize, usize)> = Vec::new();
    for (truth, row) in entry.measures.confusion.iter().enumerate() {
        for (verdict, &count) in row.iter().enumerate() {
            if truth != verdict && count > 0 {
                pairs.push((count, truth, verdict));
            }
        }
    }
    pairs.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    pairs.truncate(LISTED);
    if pairs.is_empty() {
        return;
    }
    page.push_str(
        "<h3>Most frequent confusions</h3><div class=\"card scroll\"><table><tr><th>true</th>\
         <th class=\"left\">taken for</th><th>documents</th><th>of the category</th></tr>\n",
    );
    for (count, truth, verdict) in pairs {
        let total = entry.measures.classes[truth].documents;
        let known = (verdict < report.corpus.categories.len()).then_some(verdict);
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td class=\"left\">{}</td><td>{count}</td><td>{}\u{a0}%</td></tr>",
            escape(report.category(Some(truth))),
            escape(report.category(known)),
            percent(real(count) / real(total))
        );
    }
    page.push_str("</table></div>\n");
}

fn classes(page: &mut String, report: &Report, entry: &Entry) {
    page.push_str(
        "<details><summary>By category</summary><div class=\"card \
         scroll\"><table><tr><th>category</th>\
         <th>documents</th><th>recall %</th><th>precision %</th><th>F1 %</th></tr>\n",
    );
    for (name, class) in report.corpus.categories.iter().zip(&entry.measures.classes) {
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(name),
            class.documents,
            percent(class.recall),
            percent(class.precision),
            percent(class.f1)
        );
    }
    page.push_str("</table></div></details>\n");
}

fn mistakes(page: &mut String, report: &Report, entry: &Entry) {
    let wrong = Report::mistakes(entry);
    if wrong.is_empty() {
        return;
    }
    page.push_str(
        "<figure><h3>The surest mistakes</h3><div class=\"scroll\"><table><tr><th>document</th>\
         <th class=\"left\">true</th><th class=\"left\">taken for</th><th>by</th></tr>\n",
    );
    for judged in wrong.iter().take(WORST) {
        let document = &report.corpus.documents[judged.document];
        let name = escape(&document.name);
        let shown = subject(&document.bytes).map_or_else(
            || format!("<code>{name}</code>"),
            |subject| format!("<span title=\"{name}\">{}</span>", escape(&subject)),
        );
        let _ = writeln!(
            page,
            "<tr><td>{shown}</td><td class=\"left\">{}</td><td class=\"left\">{}</td>\
             <td>{:.3}</td></tr>",
            escape(report.category(Some(judged.truth))),
            escape(report.category(judged.verdict)),
            judged.sureness()
        );
    }
    page.push_str(
        "</table></div><figcaption>By: how much better the wrong category's score is, bits a \
         token.</figcaption></figure>\n",
    );
}
