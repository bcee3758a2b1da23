// SPDX-License-Identifier: GPL-3.0-or-later
//! The report as one HTML page without scripts, which loads nothing; all text is escaped.

mod chart;

use crate::measures::{Binary, RATES, Rate, rate};
use crate::report::{Entry, Report, interval, percent};
use crate::text;
use chart::{Axis, Chart, Scale, Spot, Unit, Weight, class};
use dbacl::mail::subject::subject;
use dbacl::numeric::elementary::real;
use dbacl::report::html::{self, escape};
use std::fmt::Write;

const STYLE: &str = include_str!("page.css");

/// Bars of a histogram, on each side.
const BARS: usize = 48;
/// Confusions that are listed.
const LISTED: usize = 15;
/// Mistakes that are listed.
const WORST: usize = 8;
/// Tables of more categories have no names at their columns.
const NAMED: usize = 30;

/// The page.
pub fn write(report: &Report) -> String {
    let mut page = format!(
        "<h1>How good is the filter?</h1>\n<p class=\"soft\">{}</p>\n",
        escape(text::heading(report).trim())
    );
    let best = &report.entries[report.best()];
    if report.entries.len() > 1 {
        let rivals: Vec<String> = report.rivals().iter().map(|it| escape(&it.name)).collect();
        let place = if rivals.is_empty() {
            format!("Best of {}", report.entries.len())
        } else {
            format!("Ahead, but within chance of {}", rivals.join("; "))
        };
        let _ = writeln!(
            page,
            "<p>{place}: <strong>{}</strong> &nbsp;<code>{}</code></p>",
            escape(&best.name),
            escape(&best.options)
        );
    } else {
        let _ = writeln!(page, "<p>Options: <code>{}</code></p>", escape(&best.options));
    }
    tiles(&mut page, report, best);
    if report.entries.len() > 1 {
        page.push_str("<h2>Option sets</h2>\n");
        overview(&mut page, report);
    }
    for entry in &report.entries {
        for warning in &entry.findings.warnings {
            let (name, warning) = (escape(&entry.name), escape(warning));
            let _ = writeln!(page, "<p class=\"soft\">Note on {name}: {warning}</p>");
        }
    }
    curves(&mut page, report);
    for at in 0..report.entries.len() {
        let entry = &report.entries[at];
        let is_best = at == report.best();
        if is_best {
            let _ = writeln!(page, "<h2>In detail: {}</h2>", escape(&entry.name));
            details(&mut page, report, at);
        }
    }
    if report.entries.len() > 1 {
        page.push_str("<h2>The other sets</h2>\n");
        for (at, entry) in report.entries.iter().enumerate().filter(|&(at, _)| at != report.best())
        {
            let _ = writeln!(page, "<details><summary>{}</summary>", escape(&entry.name));
            details(&mut page, report, at);
            page.push_str("</details>\n");
        }
    }
    footer(&mut page, report);
    html::page("Filter evaluation", STYLE, &page)
}

fn tiles(page: &mut String, report: &Report, entry: &Entry) {
    let (positive, negative) = report.sides();
    let with_unit = |rate: Rate| format!("{}\u{a0}%", percent(rate.value));
    let limits = |rate: Rate| format!("95\u{a0}%: {}", interval(rate));
    let measures = &entry.measures;
    let mut all =
        vec![(with_unit(measures.error), "wrong verdicts".to_owned(), limits(measures.error))];
    if let Some(binary) = &measures.binary {
        all.push((
            with_unit(binary.false_positives),
            format!("of {negative} lost"),
            limits(binary.false_positives),
        ));
        all.push((
            with_unit(binary.misses),
            format!("of {positive} missed"),
            limits(binary.misses),
        ));
        if !binary.area.value.is_nan() {
            all.push((with_unit(binary.area), "area above ROC".into(), limits(binary.area)));
            all.push((
                with_unit(binary.recalls[1]),
                format!("of {positive} caught at 0.1\u{a0}% of {negative} lost"),
                limits(binary.recalls[1]),
            ));
        }
    } else {
        all.push((
            format!("{}\u{a0}%", percent(measures.macro_f1)),
            "macro-F1".into(),
            format!("over {} categories", report.corpus.categories.len()),
        ));
    }
    if let Some(calibration) = measures.calibrations.last() {
        all.push((
            format!("{}\u{a0}%", percent(calibration.error)),
            "calibration error".into(),
            calibration.what.to_owned(),
        ));
    }
    page.push_str("<div class=\"tiles\">\n");
    for (value, what, more) in &all {
        let _ = writeln!(
            page,
            "<div class=\"tile\"><b>{}</b><span>{}</span><span>{}</span></div>",
            escape(value),
            escape(what),
            escape(more)
        );
    }
    page.push_str("</div>\n");
}

/// A column of the overview: its head, a cell for each entry, and the entries' values.
type Column = (String, fn(&Entry) -> f64, bool);

fn overview(page: &mut String, report: &Report) {
    let (positive, negative) = report.sides();
    let is_binary = report.corpus.categories.len() == 2;
    let mut columns: Vec<Column> =
        vec![("error %".into(), |entry| entry.measures.error.value, false)];
    if is_binary {
        fn of(entry: &Entry, pick: fn(&Binary) -> f64) -> f64 {
            entry.measures.binary.as_ref().map_or(f64::NAN, pick)
        }
        columns.push((format!("{negative} lost %"), |e| of(e, |b| b.false_positives.value), false));
        columns.push((format!("{positive} missed %"), |e| of(e, |b| b.misses.value), false));
        columns.push(("lam %".into(), |e| of(e, |b| b.lam), false));
        columns.push(("(1\u{2212}AUC) %".into(), |e| of(e, |b| b.area.value), false));
        columns.push(("caught at 0.1\u{a0}% lost".into(), |e| of(e, |b| b.recalls[1].value), true));
        columns.push(("caught at 1\u{a0}% lost".into(), |e| of(e, |b| b.recalls[2].value), true));
    }
    columns.push(("macro-F1 %".into(), |entry| entry.measures.macro_f1, true));
    page.push_str("<div class=\"card scroll\"><table>\n<tr><th>options</th>");
    for (head, ..) in &columns {
        let _ = write!(page, "<th>{}</th>", escape(head));
    }
    page.push_str("<th>against the best</th></tr>\n");
    let tops: Vec<f64> = columns
        .iter()
        .map(|&(_, value, larger)| {
            let values = report.entries.iter().map(value).filter(|value| !value.is_nan());
            if larger { values.fold(f64::NAN, f64::max) } else { values.fold(f64::NAN, f64::min) }
        })
        .collect();
    for (at, entry) in report.entries.iter().enumerate() {
        let _ = write!(
            page,
            "<tr><td><span class=\"key {}\"></span>{}<br><code>{}</code></td>",
            class(at),
            escape(&entry.name),
            escape(&entry.options)
        );
        for (number, (&(_, value, _), &top)) in columns.iter().zip(&tops).enumerate() {
            let value = value(entry);
            let mark = if value == top { " class=\"best\"" } else { "" };
            let _ = write!(page, "<td{mark}>{}", percent(value));
            if number == 0 {
                let _ = write!(page, "<br><small>{}</small>", interval(entry.measures.error));
            }
            page.push_str("</td>");
        }
        if at == report.best() {
            page.push_str("<td>the best</td></tr>\n");
        } else {
            let found = report.against_best(at);
            let _ = writeln!(
                page,
                "<td>{} : {}<br><small>p {}</small></td></tr>",
                found.only_this,
                found.only_best,
                if found.chance < 1e-4 {
                    "&lt; 0.0001".to_owned()
                } else {
                    format!("= {:.4}", found.chance)
                }
            );
        }
    }
    page.push_str(
        "</table></div>\n<p class=\"soft\">Green: best of its column. Against the best: documents \
         that only this set, and that only the best set, got wrong; p is the probability of so \
         uneven numbers if both were equally good (McNemar's test).</p>\n",
    );
}

fn figure(page: &mut String, title: &str, svg: &str, caption: &str) {
    let (title, caption) = (escape(title), escape(caption));
    let _ =
        writeln!(page, "<figure><h3>{title}</h3>{svg}<figcaption>{caption}</figcaption></figure>");
}

/// Curves of many sets are drawn light but for the best.
fn weight(report: &Report, number: usize) -> Weight {
    let is_light = report.entries.len() > 3 && number != report.best();
    if is_light { Weight::Light } else { Weight::Full }
}

fn axis(label: impl Into<String>, scale: Scale, unit: Unit) -> Axis {
    Axis { label: label.into(), scale, unit }
}

/// Charts with a curve for every set.
fn curves(page: &mut String, report: &Report) {
    let mut figures = String::new();
    let with_scores: Vec<(usize, &Binary)> = report
        .entries
        .iter()
        .enumerate()
        .filter_map(|(at, entry)| Some((at, entry.measures.binary.as_ref()?)))
        .filter(|(_, binary)| !binary.steps.is_empty())
        .collect();
    if !with_scores.is_empty() {
        roc(&mut figures, report, &with_scores);
        det(&mut figures, report, &with_scores);
    }
    let drawn: Vec<(usize, &Entry)> =
        report.entries.iter().enumerate().filter(|(_, e)| !e.findings.curve.is_empty()).collect();
    if !drawn.is_empty() {
        learning(&mut figures, report, &drawn);
    }
    if report.entries.len() > 1 {
        forest(&mut figures, report);
    }
    if figures.is_empty() {
        return;
    }
    page.push_str("<h2>Curves</h2>\n");
    if report.entries.len() > 1 {
        page.push_str("<div class=\"legend\">");
        for (at, entry) in report.entries.iter().enumerate() {
            let (class, name) = (class(at), escape(&entry.name));
            let _ = write!(page, "<span><span class=\"key {class}\"></span>{name}</span>");
        }
        page.push_str("</div>\n");
    }
    let _ = writeln!(page, "<div class=\"grid\">\n{figures}</div>");
}

/// The smallest rate that a logarithmic axis shows: less than one document, a round number.
fn floor_of(documents: usize) -> f64 {
    let smallest = 1.0 / real(documents.max(1));
    [0.00001, 0.0001, 0.001, 0.01].into_iter().rfind(|&floor| floor < smallest).unwrap_or(0.00001)
}

fn roc(page: &mut String, report: &Report, entries: &[(usize, &Binary)]) {
    let (positive, negative) = report.sides();
    let low = floor_of(entries[0].1.sizes.1);
    // The height of the chart is chosen by the lowest point at which a curve enters on the left.
    let least = entries
        .iter()
        .filter_map(|(_, binary)| {
            let start = binary
                .steps
                .iter()
                .take_while(|step| real(step.false_positives) / real(binary.sizes.1) <= 0.001);
            start.last().map(|step| real(step.caught) / real(binary.sizes.0))
        })
        .fold(1.0, f64::min);
    let bottom = [0.9, 0.8, 0.6, 0.4].into_iter().find(|&bottom| bottom < least).unwrap_or(0.0);
    let mut chart = Chart::new(
        axis(format!("{negative} lost (log scale)"), Scale::Log(low, 1.0), Unit::Percent),
        axis(format!("{positive} caught"), Scale::Linear(bottom, 1.0), Unit::Percent),
    );
    for rate in [0.001, 0.01] {
        chart.guide(&[(rate, bottom), (rate, 1.0)]);
    }
    for &(number, binary) in entries {
        let (positives, negatives) = (real(binary.sizes.0), real(binary.sizes.1));
        let mut spots: Vec<Spot> = Vec::new();
        let mut height = 0.0;
        for step in &binary.steps {
            let x = real(step.false_positives) / negatives;
            if spots.last().is_none_or(|last| last.0 != x) {
                spots.push((x, height));
            }
            height = real(step.caught) / positives;
            spots.push((x, height));
        }
        // Points below the chart would be drawn along its edge, so they are left out.
        let first = spots.iter().position(|spot| spot.1 >= bottom).unwrap_or(0);
        chart.line(number, weight(report, number), &spots[first..]);
    }
    let svg = chart.finish("ROC curves");
    figure(
        page,
        "ROC curve",
        &svg,
        &format!(
            "Share of {positive} caught against share of {negative} lost, for every threshold; \
             up and left is better. Dashed: 0.1\u{a0}% and 1\u{a0}%."
        ),
    );
}

fn det(page: &mut String, report: &Report, entries: &[(usize, &Binary)]) {
    let (positive, negative) = report.sides();
    let low = floor_of(entries[0].1.sizes.1).max(0.0001);
    let mut chart = Chart::new(
        axis(format!("{negative} lost (normal deviates)"), Scale::Probit(low, 0.4), Unit::Percent),
        axis(format!("{positive} missed"), Scale::Probit(low, 0.4), Unit::Percent),
    );
    chart.guide(&[(low, low), (0.4, 0.4)]);
    for &(number, binary) in entries {
        let rates = binary.steps.iter().map(|step| {
            let missed = real(binary.sizes.0 - step.caught) / real(binary.sizes.0);
            (real(step.false_positives) / real(binary.sizes.1), missed)
        });
        let shown = rates.filter(|&(x, y)| x <= 0.4 && y <= 0.4);
        let spots: Vec<Spot> = shown.collect();
        chart.line(number, weight(report, number), &spots);
        let (x, y) = (binary.false_positives, binary.misses);
        let hint = format!(
            "{}: {} % lost, {} % missed",
            report.entries[number].name,
            percent(x.value),
            percent(y.value)
        );
        let at = (x.value.max(low), y.value.max(low));
        chart.dot(number, at, 4.5, (at, at), &hint);
    }
    let svg = chart.finish("DET curves");
    figure(
        page,
        "DET curve",
        &svg,
        "Both kinds of error on scales that make normal scores straight; down and left is better. \
         Dots: where the verdicts are made. Dashed: equal error rates.",
    );
}

/// Ends of a logarithmic axis for error rates: a margin around them, at most all.
fn error_range(rates: impl Iterator<Item = f64>) -> (f64, f64) {
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    for rate in rates.filter(|&rate| rate > 0.0) {
        low = low.min(rate);
        high = high.max(rate);
    }
    if low > high {
        return (0.001, 1.0);
    }
    let high = (high * 1.2).min(1.0);
    ((low * 0.8).min(high / 3.0).max(0.00005), high)
}

/// A chart of error rates with their intervals, one line for each option set.
fn forest(page: &mut String, report: &Report) {
    let rates: Vec<Rate> = report.entries.iter().map(|entry| entry.measures.error).collect();
    let (low, high) = error_range(rates.iter().flat_map(|rate| [rate.low, rate.high]));
    let count = real(rates.len());
    let mut chart = Chart::new(
        axis("wrong verdicts (log scale)", Scale::Log(low, high), Unit::Percent),
        axis("", Scale::Linear(0.0, count), Unit::Hidden),
    );
    for (number, (entry, rate)) in report.entries.iter().zip(&rates).enumerate() {
        let y = count - real(number) - 0.7;
        let hint = format!("{}: {} % ({})", entry.name, percent(rate.value), interval(*rate));
        chart.dot(number, (rate.value, y), 4.5, ((rate.low, y), (rate.high, y)), &hint);
        // the name above its whisker, on the side where there is room
        let is_right = rate.value / low > high / rate.value;
        let at = (if is_right { rate.high } else { rate.low }, y + 0.28);
        chart.word(at, &class(number), is_right, &entry.name);
    }
    let svg = chart.finish("Error rates with intervals");
    figure(page, "Error rates", &svg, "Wrong verdicts of each set, with 95\u{a0}% intervals.");
}

fn learning(page: &mut String, report: &Report, entries: &[(usize, &Entry)]) {
    let points = || entries.iter().flat_map(|(_, entry)| &entry.findings.curve);
    let (least, most) = points().fold((f64::INFINITY, 1.0_f64), |(least, most), point| {
        (least.min(point.learned.max(1.0)), most.max(point.learned))
    });
    let rates = points().map(|point| rate(point.errors, point.judged).value);
    let (bottom, top) = error_range(rates);
    let (x, caption) = if report.is_online {
        (
            axis("documents seen", Scale::Linear(0.0, most), Unit::Plain),
            "Errors in successive parts of the stream. Shaded: 95\u{a0}% intervals.",
        )
    } else {
        (
            axis(
                "documents learned (log scale)",
                Scale::Log(least, most.max(least * 2.0)),
                Unit::Plain,
            ),
            "Errors after learning parts of the documents. Shaded: 95\u{a0}% intervals.",
        )
    };
    let mut chart =
        Chart::new(x, axis("wrong verdicts (log scale)", Scale::Log(bottom, top), Unit::Percent));
    let has_bands = entries.len() <= 3;
    for &(number, entry) in entries {
        let rates: Vec<(f64, Rate)> = entry
            .findings
            .curve
            .iter()
            .map(|point| (point.learned, rate(point.errors, point.judged)))
            .collect();
        if has_bands {
            let low: Vec<Spot> = rates.iter().map(|&(x, rate)| (x, rate.low)).collect();
            let high: Vec<Spot> = rates.iter().map(|&(x, rate)| (x, rate.high)).collect();
            chart.band(number, &low, &high);
        }
        let spots: Vec<Spot> = rates.iter().map(|&(x, rate)| (x, rate.value)).collect();
        chart.line(number, weight(report, number), &spots);
        for &(x, rate) in &rates {
            let hint = format!("{}: {x:.0} learned, {} % wrong", entry.name, percent(rate.value));
            let spot = (x, rate.value);
            chart.dot(number, spot, 3.0, (spot, spot), &hint);
        }
    }
    let svg = chart.finish("Learning curves");
    let caption =
        if has_bands { caption } else { caption.split(" Shaded").next().unwrap_or(caption) };
    figure(page, "Learning curve", &svg, caption);
}

/// Everything about one set.
fn details(page: &mut String, report: &Report, at: usize) {
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
                (dbacl::numeric::elementary::bits(truth - best), one.verdict == Some(one.truth))
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

fn footer(page: &mut String, report: &Report) {
    page.push_str("<footer><dl>\n");
    let (positive, negative) = report.sides();
    let rates: Vec<String> = RATES[1..].iter().map(|&rate| format!("{} %", 100.0 * rate)).collect();
    let mut terms = vec![(
        "Intervals",
        "hold with 95 % if the documents are a random choice of what is to come (Wilson; for the \
         area Hanley and McNeil)."
            .to_owned(),
    )];
    if report.corpus.categories.len() == 2 {
        terms.push((
            "Caught at ... lost",
            format!(
                "share of {positive} caught when the threshold is set so that at most {} of \
                 {negative} is taken for {positive}.",
                rates.join(" or ")
            ),
        ));
        terms.push((
            "(1\u{2212}AUC) %",
            format!(
                "how often a random {negative} looks more like {positive} than a random \
                     {positive} does."
            ),
        ));
        terms.push((
            "lam %",
            "logistic average of both error rates; 0 if one of them is 0.".to_owned(),
        ));
    }
    terms.push((
        "Calibration error",
        "average distance between the probability claimed and the share that came true.".to_owned(),
    ));
    for (term, meaning) in terms {
        let _ = writeln!(page, "<dt>{}</dt><dd>{}</dd>", escape(term), escape(&meaning));
    }
    let _ =
        writeln!(page, "</dl><p>Made by dbacl-eval {}.</p></footer>", env!("CARGO_PKG_VERSION"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_of_errors_have_room_for_any_rates() {
        for (rates, low, high) in [
            (&[][..], 0.001, 1.0),
            (&[0.0, 0.0], 0.001, 1.0),
            (&[1.0], 1.0 / 3.0, 1.0),
            (&[0.01, 0.1], 0.008, 0.12),
            (&[0.1], 0.04, 0.12),
        ] {
            let (found_low, found_high) = error_range(rates.iter().copied());
            assert!((found_low - low).abs() < 1e-12, "{rates:?}");
            assert!((found_high - high).abs() < 1e-12, "{rates:?}");
        }
    }
}
