// SPDX-License-Identifier: GPL-3.0-or-later
//! The chart that compares option sets: what each catches, and what it loses for that.

use super::chart::{Axis, Chart, Scale, Spot, class};
use super::markup::t;
use crate::measures::Binary;
use crate::report::Report;
use dbacl_numeric::elementary::real;
use maud::{Markup, html};

/// Curves of many sets are drawn light but for the best.
fn is_light(report: &Report, number: usize) -> bool {
    report.entries.len() > 3 && number != report.best()
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
        Axis { label: format!("{negative} lost (log scale)"), scale: Scale::Log(low, 1.0) },
        Axis { label: format!("{positive} caught"), scale: Scale::Linear(bottom, 1.0) },
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
