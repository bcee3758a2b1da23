// SPDX-License-Identifier: GPL-3.0-or-later
//! A logistic fit of values to results: the sum of a position's terms, each multiplied by its
//! value, becomes the logarithm of the odds that White wins.

use dbacl_numeric::elementary::{exp, log, narrow};
use dbacl_numeric::random::SplitMix64;

use super::Values;

/// A term of a position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    /// The number of its value in the middle game.
    pub middle: u16,
    /// The number of its value in the ending.
    pub end: u16,
    /// How often it counts; negative for Black.
    pub times: f32,
}

/// A position, and what came of it.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// What it has.
    pub terms: Vec<Term>,
    /// The share of the middle game, from 0 to 1.
    pub share: f32,
    /// White's points, from 0 to 1.
    pub points: f32,
    /// What a search found the position to be worth for White, centipawns, if that is to be
    /// learned, too.
    pub found: Option<f32>,
    /// Whether it only measures how good the values are.
    pub is_kept_back: bool,
}

/// The result of a fit.
pub(crate) struct Fitted {
    /// The values.
    pub values: Values,
    /// Nats a position kept back, before and after.
    pub loss: [f64; 2],
}

/// Positions after which the values are changed.
const BATCH: usize = 2_048;
/// Weight of the search's value in what a position is worth; the game's result has the rest.
const FOUND: f32 = 0.8;
/// Passes through all positions.
const PASSES: u16 = 8;
/// Centipawns of the first step.
const STEP: f32 = 2.0;

fn sigmoid(x: f32) -> f32 {
    narrow(1.0 / (1.0 + exp(-f64::from(x))))
}

impl Row {
    /// A row to learn from; terms of the same number become one.
    pub(crate) fn new(mut terms: Vec<Term>, share: f32, points: f32) -> Self {
        terms.sort_by_key(|term| (term.middle, term.end));
        terms.dedup_by(|next, kept| {
            let is_same = (next.middle, next.end) == (kept.middle, kept.end);
            kept.times += if is_same { next.times } else { 0.0 };
            is_same
        });
        terms.retain(|term| term.times != 0.0);
        terms.shrink_to_fit();
        Self { terms, share, points, found: None, is_kept_back: false }
    }

    pub(crate) fn value(&self, values: &[[f32; 2]]) -> f32 {
        let (mut middle, mut end) = (0.0, 0.0);
        for term in &self.terms {
            middle += term.times * values[usize::from(term.middle)][0];
            end += term.times * values[usize::from(term.end)][1];
        }
        middle * self.share + end * (1.0 - self.share)
    }

    /// The points that are learned: those of the result, and what a search found.
    fn target(&self, scale: f32) -> f32 {
        let mixed = |found| (1.0 - FOUND) * self.points + FOUND * sigmoid(scale * found);
        self.found.map_or(self.points, mixed)
    }
}

/// Nats a row, for these points of a row.
fn loss(
    rows: &[Row],
    is_kept_back: bool,
    values: &[[f32; 2]],
    scale: f32,
    points: impl Fn(&Row) -> f32,
) -> f64 {
    let own = rows.iter().filter(|row| row.is_kept_back == is_kept_back);
    let (mut sum, mut count) = (0.0, 0.0);
    for row in own {
        let odds = f64::from(sigmoid(scale * row.value(values))).clamp(1e-6, 1.0 - 1e-6);
        let points = f64::from(points(row));
        sum -= points * log(odds) + (1.0 - points) * log(1.0 - odds);
        count += 1.0;
    }
    sum / f64::max(count, 1.0)
}

/// Fits values that begin with `base` and are drawn back to it, each the less the greater its
/// `spread`, in centipawns: a Gaussian prior. They are rounded to hundredths of a centipawn. The
/// method is Adam (Kingma and Ba 2015).
pub(crate) fn fit(rows: &[Row], base: &[[f32; 2]], spread: &[f32]) -> Fitted {
    let scales = (1..=47u8).map(|number| f32::from(number) * 0.000_25);
    let rated = scales.map(|scale| (loss(rows, false, base, scale, |row| row.points), scale));
    let scale = rated.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0.004, |best| best.1);
    let mut values = base.to_vec();
    let mut mean = vec![[0.0f32; 2]; values.len()];
    let mut square = mean.clone();
    let mut learned: Vec<&Row> = rows.iter().filter(|row| !row.is_kept_back).collect();
    // A position and its mirror image count as one.
    #[expect(clippy::cast_precision_loss, reason = "millions of positions")]
    let weight = 2.0 / learned.len().max(1) as f32;
    let (mut random, mut powers) = (SplitMix64::new(7), [1.0f32; 2]);
    for pass in 0..PASSES {
        random.shuffle(&mut learned);
        let step = STEP * (1.0 - f32::from(pass) / f32::from(PASSES)).powi(2).max(0.01);
        for batch in learned.chunks(BATCH) {
            let mut slopes = vec![[0.0f32; 2]; values.len()];
            for row in batch {
                let slope = scale * (sigmoid(scale * row.value(&values)) - row.target(scale));
                for term in &row.terms {
                    slopes[usize::from(term.middle)][0] += slope * term.times * row.share;
                    slopes[usize::from(term.end)][1] += slope * term.times * (1.0 - row.share);
                }
            }
            powers = [0.9 * powers[0], 0.999 * powers[1]];
            #[expect(clippy::cast_precision_loss, reason = "at most BATCH")]
            let rows = batch.len() as f32;
            for number in 0..values.len() {
                for part in 0..2 {
                    let away = values[number][part] - base[number][part];
                    let slope =
                        slopes[number][part] / rows + away * weight / spread[number].powi(2);
                    let (mean, square) = (&mut mean[number][part], &mut square[number][part]);
                    *mean = 0.9 * *mean + 0.1 * slope;
                    *square = 0.999 * *square + 0.001 * slope * slope;
                    let (mean, square) = (*mean / (1.0 - powers[0]), *square / (1.0 - powers[1]));
                    values[number][part] -= step * mean / (square.sqrt() + 1e-8);
                }
            }
        }
    }
    for value in values.iter_mut().flatten() {
        *value = (100.0 * *value).round() / 100.0;
    }
    let target = |row: &Row| row.target(scale);
    let loss = [base, &values].map(|values| loss(rows, true, values, scale, target));
    Fitted { values, loss }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows in which a side is ahead by one of parameter 0, or of 1, which says nothing.
    fn rows() -> Vec<Row> {
        let term = |number: u16, times| Term { middle: number, end: number, times };
        let row = |number: u16| {
            let wins = !number.is_multiple_of(4);
            let terms = vec![term(0, 1.0), term(1, if number % 8 < 4 { 1.0 } else { -1.0 })];
            let mut row = Row::new(terms, 0.5, if wins { 1.0 } else { 0.0 });
            row.is_kept_back = number % 10 == 9;
            row
        };
        (0..40_000).map(row).collect()
    }

    #[test]
    fn what_wins_becomes_worth_more() {
        let base = vec![[20.0; 2], [0.0; 2], [7.0; 2]];
        let Fitted { values, loss: [before, after] } = fit(&rows(), &base, &[150.0; 3]);
        // Three of four are won: the logarithm of the odds is 1.1, at a scale of 0.01175.
        assert!(values[0].iter().all(|value| (80.0..115.0).contains(value)), "{values:?}");
        assert!(values[1].iter().all(|value| value.abs() < 10.0), "{values:?}");
        assert_eq!(values[2], [7.0; 2]);
        assert!(after < before - 0.03, "{before} {after}");
        let held = fit(&rows(), &base, &[0.1; 3]).values;
        assert!(held[0].iter().all(|value| (20.0..25.0).contains(value)), "{held:?}");
    }

    #[test]
    fn equal_terms_become_one() {
        let term = |number: u16, times| Term { middle: number, end: number, times };
        let row = Row::new(vec![term(3, 1.0), term(1, 2.0), term(3, 1.0), term(1, -2.0)], 1.0, 0.5);
        assert_eq!((row.terms.len(), row.terms[0].middle, row.terms[0].times), (1, 3, 2.0));
    }
}
