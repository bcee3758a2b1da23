// SPDX-License-Identifier: GPL-3.0-or-later
//! A chart as SVG, for a page whose style sheet knows the classes used here.
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
}

/// An axis of shares, which are shown in percent.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    /// What it shows.
    pub label: String,
    /// How.
    pub scale: Scale,
}

/// A picture with its title above and a sentence below.
pub(super) fn figure(title: &str, picture: &Markup, caption: &str) -> Markup {
    html! { figure { h3 { (t(title)) } (picture) figcaption { (t(caption)) } } }
}

/// A number of pixels.
fn px(number: f64) -> String {
    format!("{number:.1}")
}

impl Scale {
    /// Where a value lies, 0..=1.
    fn place(self, value: f64) -> f64 {
        let (value, low, high) = match self {
            Self::Linear(low, high) => (value, low, high),
            Self::Log(low, high) => (log(value.max(low / 2.0)), log(low), log(high)),
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

/// A share in percent.
fn shown(share: f64) -> String {
    let mut text = format!("{:.4}", share * 100.0);
    while text.contains('.') && text.ends_with(['0', '.']) {
        text.pop();
    }
    text + "\u{a0}%"
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

    /// The picture, which its title describes, as a figure.
    pub(super) fn figure(self, title: &str, caption: &str) -> Markup {
        figure(title, &self.picture(title), caption)
    }

    /// The picture; `about` is its description for screen readers.
    fn picture(self, about: &str) -> Markup {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let (centre, middle) = (f64::midpoint(LEFT, right), f64::midpoint(TOP, bottom));
        let mut last = f64::NEG_INFINITY;
        let columns = self.x.scale.ticks().into_iter().map(|tick| {
            let x = self.spot((tick, 0.0)).0;
            let has_room = x - last > 46.0;
            last = if has_room { x } else { last };
            (x, has_room.then(|| shown(tick)))
        });
        let columns: Vec<(f64, Option<String>)> = columns.collect();
        let mut last = f64::INFINITY;
        let rows = self.y.scale.ticks().into_iter().map(|tick| {
            let y = TOP + (1.0 - self.y.scale.place(tick)) * (bottom - TOP);
            let has_room = last - y > 17.0;
            last = if has_room { y } else { last };
            (y, has_room.then(|| shown(tick)))
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
            (Scale::Linear(0.0, 1.0), 7.0, 1.0),
        ] {
            assert!((scale.place(value) - place).abs() < 1e-6, "{scale:?} {value}");
        }
    }

    #[test]
    fn ticks_are_round_numbers_inside() {
        let show =
            |scale: Scale| scale.ticks().into_iter().map(shown).collect::<Vec<_>>().join(" ");
        for (scale, expected) in [
            (
                Scale::Linear(0.0, 1.0),
                "0\u{a0}% 20\u{a0}% 40\u{a0}% 60\u{a0}% 80\u{a0}% 100\u{a0}%",
            ),
            (Scale::Log(0.001, 1.0), "0.1\u{a0}% 1\u{a0}% 10\u{a0}% 100\u{a0}%"),
            (Scale::Log(0.003, 0.06), "0.5\u{a0}% 1\u{a0}% 2\u{a0}% 5\u{a0}%"),
        ] {
            assert_eq!(show(scale), expected);
        }
    }
}
