// SPDX-License-Identifier: GPL-3.0-or-later
//! Charts as SVG, for a page whose style sheet knows the classes used here.
//!
//! Colours come from the page's classes `s0` to `s7`, so that charts follow its light or dark
//! scheme. All text is escaped.

use dbacl_engine::report::html::escape;
use dbacl_numeric::elementary::log;
use std::fmt::Write;

/// Number of different colours.
pub const COLOURS: usize = 8;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 54.0;

/// How values are placed along an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    /// Evenly.
    Linear(f64, f64),
    /// By their logarithms.
    Log(f64, f64),
    /// Probabilities by their normal deviates.
    Probit(f64, f64),
}

/// Whether numbers are shown as they are or in percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// As they are.
    Plain,
    /// As percentages.
    Percent,
    /// As percentages without sign, for an axis with two directions.
    Share,
    /// Not at all.
    Hidden,
}

/// An axis.
#[derive(Debug, Clone)]
pub struct Axis {
    /// What it shows.
    pub label: String,
    /// How.
    pub scale: Scale,
    /// How its numbers are written.
    pub unit: Unit,
}

/// An axis with this label.
pub fn axis(label: impl Into<String>, scale: Scale, unit: Unit) -> Axis {
    Axis { label: label.into(), scale, unit }
}

/// Appends a chart to a page, with its title above and a sentence below.
pub fn figure(page: &mut String, title: &str, svg: &str, caption: &str) {
    let (title, caption) = (escape(title), escape(caption));
    let _ =
        writeln!(page, "<figure><h3>{title}</h3>{svg}<figcaption>{caption}</figcaption></figure>");
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
#[derive(Debug)]
pub struct Chart {
    x: Axis,
    y: Axis,
    marks: String,
}

/// How strongly a curve is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// As one of many curves.
    Light,
    /// As the most important curve.
    Full,
}

/// A value of either axis.
pub type Spot = (f64, f64);

impl Chart {
    /// An empty chart.
    pub const fn new(x: Axis, y: Axis) -> Self {
        Self { x, y, marks: String::new() }
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

    /// A curve of series `number`; those of less `weight` are drawn lighter.
    pub fn line(&mut self, number: usize, weight: Weight, spots: &[Spot]) {
        let path = self.path(spots);
        let class = class(number);
        let light = if weight == Weight::Light { " light" } else { "" };
        let _ = write!(self.marks, "<path class=\"line {class}{light}\" d=\"{path}\"/>");
    }

    /// A dashed line that is not data.
    pub fn guide(&mut self, spots: &[Spot]) {
        let path = self.path(spots);
        let _ = write!(self.marks, "<path class=\"guide\" d=\"{path}\"/>");
    }

    /// A word in the chart, with its left or right end at the spot.
    pub fn word(&mut self, spot: Spot, class: &str, end: bool, word: &str) {
        let (x, y) = self.spot(spot);
        let anchor = if end { " text-anchor=\"end\"" } else { "" };
        let word = escape(word);
        let _ = write!(
            self.marks,
            "<text class=\"name {class}\" x=\"{x:.1}\" y=\"{y:.1}\"{anchor}>{word}</text>"
        );
    }

    /// The region between two curves of series `number`.
    pub fn band(&mut self, number: usize, low: &[Spot], high: &[Spot]) {
        let spots: Vec<Spot> = low.iter().chain(high.iter().rev()).copied().collect();
        let path = self.path(&spots);
        let class = class(number);
        let _ = write!(self.marks, "<path class=\"band {class}\" d=\"{path}Z\"/>");
    }

    /// A dot of a radius in pixels, with a whisker from `low` to `high` and a hint.
    pub fn dot(
        &mut self,
        number: usize,
        spot: Spot,
        radius: f64,
        whisker: (Spot, Spot),
        hint: &str,
    ) {
        let ((x, y), (x1, y1), (x2, y2)) =
            (self.spot(spot), self.spot(whisker.0), self.spot(whisker.1));
        let class = class(number);
        let hint = escape(hint);
        let _ = write!(
            self.marks,
            "<g class=\"dot {class}\"><title>{hint}</title><path d=\"M{x1:.1} {y1:.1}L{x2:.1} \
             {y2:.1}\"/>\
             <circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"/></g>"
        );
    }

    /// A bar from one spot to another, with a hint.
    pub fn bar(&mut self, class: &str, one: Spot, other: Spot, hint: &str) {
        let ((x1, y1), (x2, y2)) = (self.spot(one), self.spot(other));
        let hint = escape(hint);
        let _ = write!(
            self.marks,
            "<rect class=\"bar {class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\">\
             <title>{hint}</title></rect>",
            x1.min(x2) + 0.5,
            y1.min(y2),
            ((x1 - x2).abs() - 1.0).max(0.5),
            (y1 - y2).abs()
        );
    }

    /// The picture; `about` is its description for screen readers.
    pub fn finish(self, about: &str) -> String {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let mut svg = format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">",
            escape(about)
        );
        let mut last = f64::NEG_INFINITY;
        for tick in self.x.scale.ticks() {
            let (x, _) = self.spot((tick, 0.0));
            let _ = write!(svg, "<path class=\"rule\" d=\"M{x:.1} {TOP}V{bottom}\"/>");
            if x - last > 46.0 {
                last = x;
                let text = escape(&self.x.unit.show(tick));
                let y = bottom + 19.0;
                let _ = write!(
                    svg,
                    "<text class=\"tick\" x=\"{x:.1}\" y=\"{y}\" \
                     text-anchor=\"middle\">{text}</text>"
                );
            }
        }
        let mut last = f64::INFINITY;
        for tick in self.y.scale.ticks() {
            let y = TOP + (1.0 - self.y.scale.place(tick)) * (bottom - TOP);
            let _ = write!(svg, "<path class=\"rule\" d=\"M{LEFT} {y:.1}H{right}\"/>");
            if last - y > 17.0 {
                last = y;
                let text = escape(&self.y.unit.show(tick));
                let (x, y) = (LEFT - 8.0, y + 4.0);
                let _ = write!(
                    svg,
                    "<text class=\"tick\" x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\">{text}</text>"
                );
            }
        }
        let middle = f64::midpoint(TOP, bottom);
        let _ = write!(
            svg,
            "<path class=\"axis\" d=\"M{LEFT} {TOP}V{bottom}H{right}\"/>{}\
             <text class=\"label\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
             <text class=\"label\" transform=\"translate(15 {middle}) rotate(-90)\" \
             text-anchor=\"middle\">{}</text></svg>",
            self.marks,
            f64::midpoint(LEFT, right),
            HEIGHT - 10.0,
            escape(&self.x.label),
            escape(&self.y.label)
        );
        svg
    }
}

/// Classes of a series: a colour, and dashes from the ninth on.
pub fn class(number: usize) -> String {
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
