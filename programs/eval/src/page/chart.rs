// SPDX-License-Identifier: GPL-3.0-or-later
//! The SVG chart that compares option sets: how many positive documents each finds, and at how
//! many false positives.
//!
//! Colours come from the page's classes `s0` to `s7`, so that the chart follows its light or dark
//! scheme. All text is escaped.

use super::markup::{figure, t};
use crate::measures::Binary;
use crate::report::Report;
use dbacl_numeric::elementary::{log, real};
use maud::{Markup, html};
use std::fmt::Write;

/// Number of different colours.
const COLOURS: usize = 8;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = WIDTH - 30.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = HEIGHT - 54.0;

/// The lowest share caught that the chart shows, and the distance of its lines.
const SCALES: [(f64, f64); 5] = [(0.9, 0.02), (0.8, 0.05), (0.6, 0.1), (0.4, 0.2), (0.0, 0.2)];

/// Classes of an option set: a colour, and dashes from the ninth on.
pub(super) fn class(number: usize) -> String {
    let dashes = if number >= COLOURS { " dashed" } else { "" };
    format!("s{}{dashes}", number % COLOURS)
}

/// The ROC curves of all sets that have scores.
pub(super) fn curves(report: &Report) -> Markup {
    let entries = || report.entries.iter().enumerate();
    let with_scores: Vec<(usize, &Binary)> = entries()
        .filter_map(|(at, entry)| Some((at, entry.measures.binary.as_ref()?)))
        .filter(|(_, binary)| !binary.steps.is_empty())
        .collect();
    html! {
        @if !with_scores.is_empty() {
            div.legend { @for (number, entry) in entries() {
                span { span class={ "key " (class(number)) } {} (t(&entry.name)) }
            } }
            div.grid { (roc(report, &with_scores)) }
        }
    }
}

/// What the chart shows: shares lost from `low` to 1, by their logarithms; shares caught from
/// `bottom` to 1, evenly.
struct Chart {
    low: f64,
    bottom: f64,
    /// The distance of the lines for shares caught.
    step: f64,
}

/// A share lost, and a share caught.
type Spot = (f64, f64);

impl Chart {
    fn of(entries: &[(usize, &Binary)]) -> Self {
        // Less than one document, a round number.
        let smallest = 1.0 / real(entries[0].1.sizes.1.max(1));
        let floors = [0.00001, 0.0001, 0.001, 0.01];
        let low = floors.into_iter().rfind(|&floor| floor < smallest).unwrap_or(floors[0]);
        // The height is chosen by the lowest point at which a curve enters on the left.
        let entry = |(_, binary): &(usize, &Binary)| {
            let is_left = |lost: usize| real(lost) / real(binary.sizes.1) <= 0.001;
            let left = binary.steps.iter().take_while(|step| is_left(step.false_positives));
            left.last().map(|step| real(step.caught) / real(binary.sizes.0))
        };
        let least = entries.iter().filter_map(entry).fold(1.0, f64::min);
        let fits = |&(bottom, _): &(f64, f64)| bottom < least;
        let (bottom, step) = SCALES.into_iter().find(fits).unwrap_or(SCALES[4]);
        Self { low, bottom, step }
    }

    fn x(&self, lost: f64) -> f64 {
        let left = log(self.low);
        let place = (log(lost.max(self.low / 2.0)) - left) / -left;
        LEFT + place.clamp(0.0, 1.0) * (RIGHT - LEFT)
    }

    fn y(&self, caught: f64) -> f64 {
        let place = (caught - self.bottom) / (1.0 - self.bottom);
        TOP + (1.0 - place.clamp(0.0, 1.0)) * (BOTTOM - TOP)
    }

    /// Shares lost that have a line.
    fn columns(&self) -> Vec<f64> {
        let digits: &[f64] = if self.low < 0.01 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let all = (-5..=0).flat_map(|power| digits.iter().map(move |d| d * 10f64.powi(power)));
        all.filter(|lost| (self.low * 0.999..=1.001).contains(lost)).collect()
    }

    /// Shares caught that have a line.
    fn rows(&self) -> Vec<f64> {
        let all = (0..=50).map(|number| f64::from(number) * self.step);
        all.filter(|caught| (self.bottom - 1e-9..=1.0 + 1e-9).contains(caught)).collect()
    }

    /// A curve through these spots.
    fn path(&self, spots: &[Spot]) -> String {
        let (mut path, mut last) = (String::new(), String::new());
        for &(lost, caught) in spots {
            let text = format!("{:.1} {:.1}", self.x(lost), self.y(caught));
            if last != text {
                let _ = write!(path, "{}{text}", if path.is_empty() { 'M' } else { 'L' });
                last = text;
            }
        }
        path
    }

    /// The steps of a set as a curve, without what is below the chart.
    fn curve(&self, binary: &Binary) -> String {
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
        let first = spots.iter().position(|spot| spot.1 >= self.bottom).unwrap_or(0);
        self.path(&spots[first..])
    }
}

/// A share in percent.
fn shown(share: f64) -> String {
    let text = format!("{:.4}", share * 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned() + "\u{a0}%"
}

/// A number of pixels.
fn px(number: f64) -> String {
    format!("{number:.1}")
}

fn roc(report: &Report, entries: &[(usize, &Binary)]) -> Markup {
    let (positive, negative) = report.sides();
    let chart = Chart::of(entries);
    // Curves of many sets are drawn light but for the best.
    let light =
        |number| if report.entries.len() > 3 && number != report.best() { " light" } else { "" };
    let (centre, middle) = (f64::midpoint(LEFT, RIGHT), f64::midpoint(TOP, BOTTOM));
    let picture = html! {
        svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label="ROC curve" {
            @for lost in chart.columns() {
                @let x = px(chart.x(lost));
                path.rule d={ "M" (x) " " (TOP) "V" (BOTTOM) } {}
                text.tick x=(x) y=(BOTTOM + 19.0) text-anchor="middle" { (shown(lost)) }
            }
            @for caught in chart.rows() {
                @let y = chart.y(caught);
                path.rule d={ "M" (LEFT) " " (px(y)) "H" (RIGHT) } {}
                text.tick x=(LEFT - 8.0) y=(px(y + 4.0)) text-anchor="end" { (shown(caught)) }
            }
            path.axis d={ "M" (LEFT) " " (TOP) "V" (BOTTOM) "H" (RIGHT) } {}
            @for lost in [0.001, 0.01] {
                path.guide d=(chart.path(&[(lost, chart.bottom), (lost, 1.0)])) {}
            }
            @for &(number, binary) in entries {
                path class={ "line " (class(number)) (light(number)) } d=(chart.curve(binary)) {}
            }
            text.label x=(centre) y=(HEIGHT - 10.0) text-anchor="middle" {
                (t(&format!("{negative} lost (log scale)")))
            }
            text.label transform={ "translate(15 " (middle) ") rotate(-90)" } text-anchor="middle" {
                (t(&format!("{positive} caught")))
            }
        }
    };
    let caption = format!(
        "Share of {positive} caught against share of {negative} lost, for every threshold; up and \
         left is better. Dashed: 0.1\u{a0}% and 1\u{a0}%."
    );
    figure("ROC curve", &picture, &caption)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_round_numbers_inside() {
        let show = |all: Vec<f64>| all.into_iter().map(shown).collect::<Vec<_>>().join(" ");
        for ((low, (bottom, step)), columns, rows) in [
            ((0.001, SCALES[4]), "0.1 % 1 % 10 % 100 %", "0 % 20 % 40 % 60 % 80 % 100 %"),
            ((0.01, SCALES[1]), "1 % 2 % 5 % 10 % 20 % 50 % 100 %", "80 % 85 % 90 % 95 % 100 %"),
        ] {
            let chart = Chart { low, bottom, step };
            let lines =
                [chart.columns(), chart.rows()].map(|lines| show(lines).replace('\u{a0}', " "));
            assert_eq!(lines, [columns, rows]);
            assert_eq!((chart.x(low), chart.x(1.0)), (LEFT, RIGHT));
            assert_eq!((chart.y(bottom), chart.y(1.0)), (BOTTOM, TOP));
        }
    }
}
