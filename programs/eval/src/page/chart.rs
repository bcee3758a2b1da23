// SPDX-License-Identifier: GPL-3.0-or-later
//! Charts as SVG, for a page whose style sheet knows the classes used here.
//!
//! Colours come from the page's classes `s0` to `s7`, so that charts follow its light or dark
//! scheme. All text is escaped.

use super::markup::t;
use dbacl_numeric::elementary::log;
use maud::{Markup, html};
use std::fmt::Write;

/// Number of different colours.
pub(super) const COLOURS: usize = 8;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 54.0;

/// How values are placed along an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scale {
    /// Evenly.
    Linear(f64, f64),
    /// By their logarithms.
    Log(f64, f64),
    /// Probabilities by their normal deviates.
    Probit(f64, f64),
}

/// Whether numbers are shown as they are or in percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// As they are.
    Plain,
    /// As percentages.
    Percent,
    /// As percentages without sign, for an axis with two directions.
    Share,
    /// Not at all.
    Hidden,
}

#[derive(Debug, Clone)]
pub(super) struct Axis {
    /// What it shows.
    pub label: String,
    /// How.
    pub scale: Scale,
    /// How its numbers are written.
    pub unit: Unit,
}

pub(super) fn axis(label: impl Into<String>, scale: Scale, unit: Unit) -> Axis {
    Axis { label: label.into(), scale, unit }
}

/// A picture with its title above and a sentence below.
pub(super) fn figure(title: &str, picture: &Markup, caption: &str) -> Markup {
    html! { figure { h3 { (t(title)) } (picture) figcaption { (t(caption)) } } }
}

/// A number of pixels.
fn px(number: f64) -> String {
    format!("{number:.1}")
}

/// The normal deviate of a probability, after Acklam's rational approximation (relative error
/// 10^-9, for drawing only).
fn deviate(p: f64) -> f64 {
    const A: [f64; 6] = [
        -39.69683028665376,
        220.9460984245205,
        -275.9285104469687,
        138.357751867269,
        -30.66479806614716,
        2.506628277459239,
    ];
    const B: [f64; 5] = [
        -54.47609879822406,
        161.5858368580409,
        -155.6989798598866,
        66.80131188771972,
        -13.28068155288572,
    ];
    const C: [f64; 6] = [
        -0.007784894002430293,
        -0.3223964580411365,
        -2.400758277161838,
        -2.549732539343734,
        4.374664141464968,
        2.938163982698783,
    ];
    const D: [f64; 4] =
        [0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416];
    let polynomial = |coefficients: &[f64], x: f64| {
        coefficients.iter().fold(0.0, |sum, coefficient| sum * x + coefficient)
    };
    let tail = |p: f64| {
        let q = (-2.0 * log(p)).sqrt();
        polynomial(&C, q) / (polynomial(&D, q) * q + 1.0)
    };
    let p = p.clamp(1e-9, 1.0 - 1e-9);
    if p < 0.02425 {
        tail(p)
    } else if p > 1.0 - 0.02425 {
        -tail(1.0 - p)
    } else {
        let q = p - 0.5;
        let r = q * q;
        polynomial(&A, r) * q / (polynomial(&B, r) * r + 1.0)
    }
}

/// The probabilities that are marked on an axis.
const SHARES: [f64; 12] =
    [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4];

impl Scale {
    /// Where a value lies, 0..=1.
    fn place(self, value: f64) -> f64 {
        let (value, low, high) = match self {
            Self::Linear(low, high) => (value, low, high),
            Self::Log(low, high) => (log(value.max(low / 2.0)), log(low), log(high)),
            Self::Probit(low, high) => (deviate(value), deviate(low), deviate(high)),
        };
        ((value - low) / (high - low)).clamp(0.0, 1.0)
    }

    /// Values to mark.
    fn ticks(self) -> Vec<f64> {
        match self {
            Self::Linear(low, high) => {
                let step = nice((high - low) / 5.0);
                let first = (low / step - 1e-9).ceil();
                let count = ((high - low) / step + 1e-9).floor();
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0..=10
                let count = count as u32;
                let ticks = (0..=count).map(|number| (first + f64::from(number)) * step);
                ticks.filter(|tick| *tick <= high + step * 1e-9).collect()
            }
            Self::Log(low, high) => {
                let wide = high / low > 200.0;
                let mut ticks = Vec::new();
                for power in -6..=9 {
                    for digit in [1.0, 2.0, 5.0] {
                        let value = digit * 10f64.powi(power);
                        let fits = (low * 0.999..=high * 1.001).contains(&value);
                        if fits && (!wide || digit == 1.0) {
                            ticks.push(value);
                        }
                    }
                }
                ticks
            }
            Self::Probit(low, high) => {
                let fits = |share: &f64| (low * 0.999..=high * 1.001).contains(share);
                SHARES.into_iter().filter(fits).collect()
            }
        }
    }
}

/// The next of 1, 2, 5, 10, ... above a step.
fn nice(step: f64) -> f64 {
    let power = 10f64.powf(step.max(1e-12).log10().floor());
    let digit = step / power;
    let digit = [1.0, 2.0, 5.0].into_iter().find(|&nice| digit <= nice * 1.001).unwrap_or(10.0);
    digit * power
}

impl Unit {
    fn show(self, value: f64) -> String {
        let shown = match self {
            Self::Plain => value,
            Self::Percent => value * 100.0,
            Self::Share => value.abs() * 100.0,
            Self::Hidden => return String::new(),
        };
        let mut text = format!("{shown:.4}");
        while text.contains('.') && text.ends_with(['0', '.']) {
            text.pop();
        }
        match self {
            Self::Percent | Self::Share => text + "\u{a0}%",
            Self::Plain | Self::Hidden => text.replace('-', "\u{2212}"),
        }
    }
}

/// A chart under construction.
pub(super) struct Chart {
    x: Axis,
    y: Axis,
    marks: Vec<Markup>,
}

/// A value of either axis.
pub(super) type Spot = (f64, f64);

impl Chart {
    pub(super) const fn new(x: Axis, y: Axis) -> Self {
        Self { x, y, marks: Vec::new() }
    }

    fn spot(&self, (x, y): Spot) -> Spot {
        let (width, height) = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
        (LEFT + self.x.scale.place(x) * width, TOP + (1.0 - self.y.scale.place(y)) * height)
    }

    fn path(&self, spots: &[Spot]) -> String {
        let mut path = String::new();
        let mut last = None;
        for &spot in spots {
            let (x, y) = self.spot(spot);
            let text = format!("{x:.1} {y:.1}");
            if last.as_ref() != Some(&text) {
                let _ = write!(path, "{}{text}", if path.is_empty() { 'M' } else { 'L' });
                last = Some(text);
            }
        }
        path
    }

    /// A curve of series `number`, which may be drawn lighter than others.
    pub(super) fn line(&mut self, number: usize, is_light: bool, spots: &[Spot]) {
        let path = self.path(spots);
        let light = if is_light { " light" } else { "" };
        self.marks.push(html! { path class={ "line " (class(number)) (light) } d=(path) {} });
    }

    /// A dashed line that is not data.
    pub(super) fn guide(&mut self, spots: &[Spot]) {
        let path = self.path(spots);
        self.marks.push(html! { path.guide d=(path) {} });
    }

    /// A word in the chart, with its left or right end at the spot.
    pub(super) fn word(&mut self, spot: Spot, class: &str, end: bool, word: &str) {
        let (x, y) = self.spot(spot);
        let anchor = end.then_some("end");
        self.marks.push(html! {
            text class={ "name " (class) } x=(px(x)) y=(px(y)) text-anchor=[anchor] { (t(word)) }
        });
    }

    /// The region between two curves of series `number`.
    pub(super) fn band(&mut self, number: usize, low: &[Spot], high: &[Spot]) {
        let spots: Vec<Spot> = low.iter().chain(high.iter().rev()).copied().collect();
        let path = self.path(&spots);
        self.marks.push(html! { path class={ "band " (class(number)) } d={ (path) "Z" } {} });
    }

    /// A dot of a radius in pixels, with a whisker from `low` to `high` and a hint.
    pub(super) fn dot(
        &mut self,
        number: usize,
        spot: Spot,
        radius: f64,
        whisker: (Spot, Spot),
        hint: &str,
    ) {
        let (x, y) = self.spot(spot);
        let whisker = self.path(&[whisker.0, whisker.1]);
        self.marks.push(html! {
            g class={ "dot " (class(number)) } {
                title { (t(hint)) }
                path d=(whisker) {}
                circle cx=(px(x)) cy=(px(y)) r=(px(radius)) {}
            }
        });
    }

    /// A bar from one spot to another, with a hint.
    pub(super) fn bar(&mut self, class: &str, one: Spot, other: Spot, hint: &str) {
        let ((x1, y1), (x2, y2)) = (self.spot(one), self.spot(other));
        let width = ((x1 - x2).abs() - 1.0).max(0.5);
        let (x, y) = (x1.min(x2) + 0.5, y1.min(y2));
        self.marks.push(html! {
            rect class={ "bar " (class) } x=(px(x)) y=(px(y)) width=(px(width))
                height=(px((y1 - y2).abs())) { title { (t(hint)) } }
        });
    }

    /// The picture, which its title describes, as a figure.
    pub(super) fn figure(self, title: &str, caption: &str) -> Markup {
        figure(title, &self.picture(title), caption)
    }

    /// The picture; `about` is its description for screen readers.
    pub(super) fn picture(self, about: &str) -> Markup {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let (centre, middle) = (f64::midpoint(LEFT, right), f64::midpoint(TOP, bottom));
        let mut last = f64::NEG_INFINITY;
        let columns = self.x.scale.ticks().into_iter().map(|tick| {
            let x = self.spot((tick, 0.0)).0;
            let has_room = x - last > 46.0;
            last = if has_room { x } else { last };
            (x, has_room.then(|| self.x.unit.show(tick)))
        });
        let columns: Vec<(f64, Option<String>)> = columns.collect();
        let mut last = f64::INFINITY;
        let rows = self.y.scale.ticks().into_iter().map(|tick| {
            let y = TOP + (1.0 - self.y.scale.place(tick)) * (bottom - TOP);
            let has_room = last - y > 17.0;
            last = if has_room { y } else { last };
            (y, has_room.then(|| self.y.unit.show(tick)))
        });
        let rows: Vec<(f64, Option<String>)> = rows.collect();
        html! {
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(t(about)) {
                @for (x, text) in columns {
                    path.rule d={ "M" (px(x)) " " (TOP) "V" (bottom) } {}
                    @if let Some(text) = text {
                        text.tick x=(px(x)) y=(bottom + 19.0) text-anchor="middle" { (text) }
                    }
                }
                @for (y, text) in rows {
                    path.rule d={ "M" (LEFT) " " (px(y)) "H" (right) } {}
                    @if let Some(text) = text {
                        text.tick x=(LEFT - 8.0) y=(px(y + 4.0)) text-anchor="end" { (text) }
                    }
                }
                path.axis d={ "M" (LEFT) " " (TOP) "V" (bottom) "H" (right) } {}
                @for mark in &self.marks { (mark) }
                text.label x=(centre) y=(HEIGHT - 10.0) text-anchor="middle" { (t(&self.x.label)) }
                text.label transform={ "translate(15 " (middle) ") rotate(-90)" }
                    text-anchor="middle" { (t(&self.y.label)) }
            }
        }
    }
}

/// Classes of a series: a colour, and dashes from the ninth on.
pub(super) fn class(number: usize) -> String {
    let dashes = if number >= COLOURS { " dashed" } else { "" };
    format!("s{}{dashes}", number % COLOURS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_place_their_ends_and_middles() {
        for (scale, value, place) in [
            (Scale::Linear(-1.0, 1.0), 0.0, 0.5),
            (Scale::Log(0.01, 1.0), 0.1, 0.5),
            (Scale::Log(0.01, 1.0), 0.0, 0.0),
            (Scale::Probit(0.1, 0.9), 0.5, 0.5),
            (Scale::Probit(0.001, 0.5), 0.5, 1.0),
            (Scale::Linear(0.0, 1.0), 7.0, 1.0),
        ] {
            assert!((scale.place(value) - place).abs() < 1e-6, "{scale:?} {value}");
        }
        assert!((deviate(0.975) - 1.959964).abs() < 1e-5);
        assert!((deviate(0.001) + 3.090232).abs() < 1e-5);
    }

    #[test]
    fn ticks_are_round_numbers_inside() {
        let show = |scale: Scale, unit: Unit| {
            scale.ticks().into_iter().map(|tick| unit.show(tick)).collect::<Vec<_>>().join(" ")
        };
        for (scale, unit, expected) in [
            (
                Scale::Linear(0.0, 1.0),
                Unit::Percent,
                "0\u{a0}% 20\u{a0}% 40\u{a0}% 60\u{a0}% 80\u{a0}% 100\u{a0}%",
            ),
            (Scale::Linear(-7.0, 12.0), Unit::Plain, "\u{2212}5 0 5 10"),
            (Scale::Log(0.001, 1.0), Unit::Percent, "0.1\u{a0}% 1\u{a0}% 10\u{a0}% 100\u{a0}%"),
            (Scale::Log(30.0, 600.0), Unit::Plain, "50 100 200 500"),
        ] {
            assert_eq!(show(scale, unit), expected);
        }
    }
}
