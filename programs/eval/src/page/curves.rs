// SPDX-License-Identifier: GPL-3.0-or-later
//! Charts that compare option sets: a curve or an interval for each.

use super::chart::{Chart, Scale, Spot, Unit, axis, class};
use super::markup::t;
use crate::measures::{Binary, Rate, rate};
use crate::report::{Entry, Report, interval, percent};
use dbacl_numeric::elementary::real;
use maud::{Markup, html};

/// Curves of many sets are drawn light but for the best.
fn is_light(report: &Report, number: usize) -> bool {
    report.entries.len() > 3 && number != report.best()
}

/// Charts with a curve for every set.
pub(super) fn curves(report: &Report) -> Markup {
    let entries = || report.entries.iter().enumerate();
    let with_scores: Vec<(usize, &Binary)> = entries()
        .filter_map(|(at, entry)| Some((at, entry.measures.binary.as_ref()?)))
        .filter(|(_, binary)| !binary.steps.is_empty())
        .collect();
    let drawn: Vec<(usize, &Entry)> =
        entries().filter(|(_, entry)| !entry.findings.curve.is_empty()).collect();
    let mut figures = Vec::new();
    if !with_scores.is_empty() {
        figures.extend([roc(report, &with_scores), det(report, &with_scores)]);
    }
    if !drawn.is_empty() {
        figures.push(learning(report, &drawn));
    }
    if report.entries.len() > 1 {
        figures.push(forest(report));
    }
    let series = entries().map(|(at, entry)| (class(at), entry.name.as_str()));
    html! {
        @if !figures.is_empty() {
            h2 { "Curves" }
            @if report.entries.len() > 1 { (legend(series)) }
            div.grid { @for figure in figures { (figure) } }
        }
    }
}

/// The colours and names of series.
pub(super) fn legend<'a>(series: impl Iterator<Item = (String, &'a str)>) -> Markup {
    html! {
        div.legend { @for (class, name) in series {
            span { span class={ "key " (class) } {} (t(name)) }
        } }
    }
}

/// The smallest rate that a logarithmic axis shows: less than one document, a round number.
fn floor_of(documents: usize) -> f64 {
    let smallest = 1.0 / real(documents.max(1));
    [0.00001, 0.0001, 0.001, 0.01].into_iter().rfind(|&floor| floor < smallest).unwrap_or(0.00001)
}

fn roc(report: &Report, entries: &[(usize, &Binary)]) -> Markup {
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
        chart.line(number, is_light(report, number), &spots[first..]);
    }
    let caption = format!(
        "Share of {positive} caught against share of {negative} lost, for every threshold; up and \
         left is better. Dashed: 0.1\u{a0}% and 1\u{a0}%."
    );
    chart.figure("ROC curve", &caption)
}

fn det(report: &Report, entries: &[(usize, &Binary)]) -> Markup {
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
        chart.line(number, is_light(report, number), &spots);
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
    chart.figure(
        "DET curve",
        "Both kinds of error on scales that make normal scores straight; down and left is better. \
         Dots: where the verdicts are made. Dashed: equal error rates.",
    )
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
fn forest(report: &Report) -> Markup {
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
    chart.figure("Error rates", "Wrong verdicts of each set, with 95\u{a0}% intervals.")
}

fn learning(report: &Report, entries: &[(usize, &Entry)]) -> Markup {
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
        chart.line(number, is_light(report, number), &spots);
        for &(x, rate) in &rates {
            let hint = format!("{}: {x:.0} learned, {} % wrong", entry.name, percent(rate.value));
            let spot = (x, rate.value);
            chart.dot(number, spot, 3.0, (spot, spot), &hint);
        }
    }
    let caption =
        if has_bands { caption } else { caption.split(" Shaded").next().unwrap_or(caption) };
    chart.figure("Learning curve", caption)
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
