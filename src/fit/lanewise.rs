// SPDX-License-Identifier: GPL-3.0-or-later
//! Passes over the documents: fits of several categories against the rest, or of one of two, side
//! by side. Each document is read once for all of them.
//!
//! The fits are independent, and each computes the same sums in the same order as [`Fit::step`], so
//! the bits are the same. What is saved is memory traffic: the weights of a feature lie side by
//! side, and are multiplied by instructions that take several at a time. Squared lengths of views
//! are worked out for the documents that need them only, which are those within the margin of a
//! category. The same documents give the same weights to the bit, in whatever order they come.

use super::dataset::{Cell, Dataset, MIN_DOCUMENTS, Row, contrast, scale};
use super::scoring::Scoring;
use super::solver::{Duals, Fit, Weight, count_of};
use super::stop::{Stop, Stopped};
use dbacl_linear::step;
use dbacl_numeric::elementary::narrow;
use dbacl_numeric::random::SplitMix64;
use std::ops::Range;

/// Passes over the documents.
pub const PASSES: u32 = 10;

/// Documents, and how a fit goes over them.
pub struct Training<'a> {
    /// The documents.
    pub data: &'a Dataset,
    /// The cost C.
    pub cost: f64,
    /// How often the fit goes over them.
    pub passes: u32,
    /// Asked before each pass.
    pub stop: Stop<'a>,
}

/// The most problems that are solved side by side.
pub const WIDEST: usize = 16;

/// Fits each of `problems` (numbers of categories, at most [`WIDEST`]) against all other
/// categories, on the documents that take part.
///
/// # Errors
/// [`Stopped`]
pub fn solve(
    problems: Range<usize>,
    part: &[bool],
    training: &Training<'_>,
) -> Result<Box<dyn Lanes>, Stopped> {
    Ok(match problems.len() {
        0..=1 => Box::new(Lanewise::<1>::solve(problems, part, training)?),
        2..=4 => Box::new(Lanewise::<4>::solve(problems, part, training)?),
        5..=8 => Box::new(Lanewise::<8>::solve(problems, part, training)?),
        _ => Box::new(Lanewise::<16>::solve(problems, part, training)?),
    })
}

/// Fits side by side, however many.
pub trait Lanes: Send {
    /// The score of a document for each fit, as files are scored (see [`Scoring`]).
    fn margins(&self, data: &Dataset, document: usize) -> Vec<f64>;
    /// The fits, one by one.
    fn fits(&self) -> Vec<Fit>;
}

/// The squared lengths of a document's two views, and their product.
type Squares = [f64; 3];

/// `L` fits. Lanes behind the last category hold fits that are not used.
struct Lanewise<const L: usize> {
    /// Number of the category in the first lane.
    first: usize,
    /// How many lanes are used.
    width: usize,
    weights: Vec<[f32; L]>,
    scales: Vec<[f32; L]>,
    bias: [f64; L],
    duals: Vec<[Duals; L]>,
}

/// Data of the passes over the documents besides the fits.
struct Passes<'a, const L: usize> {
    data: &'a Dataset,
    softness: f64,
    /// The factors of each document's views.
    rows: Vec<Row>,
    /// By document and lane; NaN until they are needed.
    squares: Vec<[Squares; L]>,
}

impl<const L: usize> Lanewise<L> {
    fn solve(
        problems: Range<usize>,
        part: &[bool],
        training: &Training<'_>,
    ) -> Result<Self, Stopped> {
        let scales = scales(training.data, problems.start, part);
        let mut fits = Self {
            first: problems.start,
            width: problems.len(),
            weights: vec![[0.0; L]; scales.len()],
            scales,
            bias: [0.0; L],
            duals: vec![[[0.0; 2]; L]; training.data.len()],
        };
        fits.improve(part, training)?;
        Ok(fits)
    }

    /// Goes over the documents, to which the dual variables belong.
    fn improve(&mut self, part: &[bool], training: &Training<'_>) -> Result<(), Stopped> {
        let Training { data, cost, passes, stop } = *training;
        let squares = vec![[[f64::NAN; 3]; L]; data.len()];
        let rows = (0..data.len()).map(|document| row_of(data, document)).collect();
        let mut run = Passes { data, softness: 1.0 / (2.0 * cost), rows, squares };
        let (order, apart) = order::<L>(data, self.first, part);
        let mut places: Vec<usize> = (0..order.len()).collect();
        let mut shuffle = SplitMix64::new(1);
        for _ in 0..passes {
            stop.check()?;
            shuffle.shuffle(&mut places);
            for &place in &places {
                let apart = apart[place].as_deref();
                for lane in 0..apart.map_or(1, |_| L) {
                    let (document, lanes) = match apart {
                        None => (order[place], 0..L),
                        Some(documents) => (documents[lane], lane..lane + 1),
                    };
                    self.step(&mut run, document, lanes);
                }
            }
        }
        Ok(())
    }

    /// One step of the fits in `lanes` for a document: both views, one after the other.
    #[inline]
    fn step(&mut self, run: &mut Passes<'_, L>, document: usize, lanes: Range<usize>) {
        let data = run.data;
        let cells = data.row(document);
        let row = &run.rows[document];
        let (ones, counts) = sums(&self.weights, cells);
        for lane in lanes {
            // A constant is not checked against the number of lanes.
            let lane = if L == 1 { 0 } else { lane };
            let is_own = data.labels[document] as usize == self.first + lane;
            let y = if is_own { 1.0 } else { -1.0 };
            let [old_presence, old_counts] = self.duals[document][lane];
            let bias = self.bias[lane];
            let rests = |old: f32, margin: f64| old == 0.0 && y * margin - 1.0 >= 0.0;
            let presence_margin = ones[lane] * row.presence + bias * row.presence_bias;
            let counts_margin = counts[lane] * row.counts + bias * row.counts_bias;
            // Both views are beyond the margin with dual variables of 0, so nothing changes.
            if rests(old_presence, presence_margin) && rests(old_counts, counts_margin) {
                continue;
            }
            let squares = &mut run.squares[document][lane];
            if squares[0].is_nan() {
                let row = with_squares(*row, &self.scales, cells, lane);
                *squares = [row.presence_square, row.counts_square, row.product];
            }
            let [presence_square, counts_square, product] = *squares;
            let softness = run.softness;
            let presence = step(old_presence, y * presence_margin, presence_square, softness);
            let s_presence = (f64::from(presence) - f64::from(old_presence)) * y;
            let margin = counts_margin + s_presence * product;
            let count = step(old_counts, y * margin, counts_square, softness);
            let s_counts = (f64::from(count) - f64::from(old_counts)) * y;
            if s_presence == 0.0 && s_counts == 0.0 {
                continue;
            }
            self.duals[document][lane] = [presence, count];
            let one = narrow(s_presence * row.presence);
            let each = narrow(s_counts * row.counts);
            let weights = self.weights.as_mut_slice();
            let scales = &self.scales[..weights.len()];
            for cell in cells {
                let feature = cell.feature as usize;
                let scale = scales[feature][lane];
                weights[feature][lane] += scale * (one + each * count_of(*cell));
            }
            self.bias[lane] += s_presence * row.presence_bias + s_counts * row.counts_bias;
        }
    }
}

impl<const L: usize> Lanes for Lanewise<L> {
    fn margins(&self, data: &Dataset, document: usize) -> Vec<f64> {
        let row = row_of(data, document);
        let (ones, counts) = sums(&self.weights, data.row(document));
        let margin = |lane: usize| {
            let bias = self.bias[lane] * row.counts_bias;
            if data.scoring == Scoring::Counts {
                return counts[lane] * row.counts + bias;
            }
            let distinct = data.distinct[document];
            let mean = ones[lane] * data.length / f64::from(distinct) + bias;
            mean * data.scoring.length_factor(distinct)
        };
        (0..self.width).map(margin).collect()
    }

    fn fits(&self) -> Vec<Fit> {
        let weights = |lane: usize| {
            let each = self.weights.iter().zip(&self.scales);
            each.map(move |(own, scales)| Weight { value: own[lane], scale: scales[lane] })
        };
        let fit = |lane: usize| Fit {
            weights: weights(lane).collect(),
            bias: self.bias[lane],
            duals: self.duals.iter().map(|duals| duals[lane]).collect(),
        };
        (0..self.width).map(fit).collect()
    }
}

/// The factors of a document's views; the squares are 0.
fn row_of(data: &Dataset, document: usize) -> Row {
    let (distinct, occurrences) = (data.distinct[document], data.occurrences[document]);
    Row::new(data.scoring, distinct, occurrences, data.max_order, data.length)
}

/// Sums of the weights over distinct features and over occurrences, by lane.
#[inline]
fn sums<const L: usize>(weights: &[[f32; L]], cells: &[Cell]) -> ([f64; L], [f64; L]) {
    let (mut ones, mut counts) = ([0.0f64; L], [0.0f64; L]);
    // Where nothing is repeated the sums are the same. For one lane this is as slow to find out.
    if L > 1 && cells.iter().all(|cell| cell.count == 1) {
        for cell in cells {
            let weights = &weights[cell.feature as usize];
            for lane in 0..L {
                ones[lane] += f64::from(weights[lane]);
            }
        }
        return (ones, ones);
    }
    for cell in cells {
        let weights = &weights[cell.feature as usize];
        let count = count_of(*cell);
        for lane in 0..L {
            ones[lane] += f64::from(weights[lane]);
            counts[lane] += f64::from(weights[lane] * count);
        }
    }
    (ones, counts)
}

/// The factors of a document with its squared lengths, for one lane.
fn with_squares<const L: usize>(
    mut row: Row,
    scales: &[[f32; L]],
    cells: &[Cell],
    lane: usize,
) -> Row {
    let (mut ones, mut counts, mut squares) = (0.0, 0.0, 0.0);
    for cell in cells {
        let scale = f64::from(scales[cell.feature as usize][lane]);
        let count = f64::from(cell.count);
        ones += scale;
        counts += scale * count;
        squares += scale * count * count;
    }
    row.set_squares(ones, counts, squares);
    row
}

/// Scales of the features by lane, `f_t = ln((N + 1)/df_t)`, with contrast times [`contrast`]: the
/// penalty of a weight is its square divided by this, so that weights of rare features are
/// penalised less. 0 for features that take no part.
fn scales<const L: usize>(data: &Dataset, first: usize, part: &[bool]) -> Vec<[f32; L]> {
    let documents = part.iter().filter(|&&part| part).count();
    let mut frequencies = data.document_frequencies.clone();
    for document in (0..data.len()).filter(|&document| !part[document]) {
        for cell in data.row(document) {
            frequencies[cell.feature as usize] -= 1;
        }
    }
    let own = frequencies.iter().map(|&frequency| [scale(documents, frequency); L]);
    let mut scales: Vec<[f32; L]> = own.collect();
    if !data.contrast {
        return scales;
    }
    let mut with = vec![[0u32; L]; frequencies.len()];
    let mut positives = [0usize; L];
    for document in (0..data.len()).filter(|&document| part[document]) {
        let lane = (data.labels[document] as usize).wrapping_sub(first);
        if lane < L {
            positives[lane] += 1;
            for cell in data.row(document) {
                with[cell.feature as usize][lane] += 1;
            }
        }
    }
    for ((scales, with), &all) in scales.iter_mut().zip(&with).zip(&frequencies) {
        // A feature that takes no part has the scale 0, whatever its contrast.
        if all < MIN_DOCUMENTS {
            continue;
        }
        for lane in 0..L {
            let (own, positives) = (with[lane], positives[lane]);
            scales[lane] *= contrast([(own, positives), (all - own, documents - positives)]);
        }
    }
    scales
}

/// By place, which document each lane sees there, if not all see the same.
type Apart<const L: usize> = Vec<Option<Box<[usize; L]>>>;

/// The documents in the order in which the fits see them before they are shuffled, and the places
/// where fits see different ones, which say which: of copies with different labels, those of the
/// other side come first.
fn order<const L: usize>(data: &Dataset, first: usize, part: &[bool]) -> (Vec<usize>, Apart<L>) {
    let mut order: Vec<usize> = (0..data.len()).filter(|&document| part[document]).collect();
    order.sort_by_key(|&document| data.names[document]);
    let mut apart = vec![None; order.len()];
    let mut start = 0;
    for copies in order.chunk_by(|&a, &b| data.names[a] == data.names[b]) {
        let label = |document: usize| data.labels[document] as usize;
        if copies.iter().any(|&document| label(document) != label(copies[0])) {
            for lane in 0..L {
                let mut own = copies.to_vec();
                own.sort_by_key(|&document| label(document) == first + lane);
                for (place, document) in own.into_iter().enumerate() {
                    apart[start + place].get_or_insert_with(|| Box::new([0; L]))[lane] = document;
                }
            }
        }
        start += copies.len();
    }
    (order, apart)
}

#[cfg(test)]
mod tests {
    use super::super::documents::{Corpus, Term};
    use super::*;
    use crate::token::id::FeatureId;

    /// Documents of `categories` categories, some of them copies with other labels.
    fn data(categories: u32, documents: usize) -> Dataset {
        let mut corpus = Corpus::default();
        let mut random = SplitMix64::new(7);
        for number in 0..documents {
            let label = u32::try_from(random.below(categories as usize)).unwrap();
            if number % 5 == 4 {
                let copy = corpus.terms_of(number - 1 - random.below(3)).to_vec();
                corpus.push(label, 30, &copy);
                continue;
            }
            let mut terms: Vec<Term> = Vec::new();
            for _ in 0..=random.below(12) {
                let topic = if random.below(3) == 0 { label + 1 } else { 0 };
                let id = u32::try_from(random.below(9)).unwrap() + 10 * topic + 1;
                if terms.iter().all(|term| term.id.0 != id) {
                    let count = 1 + u32::try_from(random.below(4) / 3).unwrap();
                    terms.push(Term::new(FeatureId(id), 1, count));
                }
            }
            let occurrences = terms.iter().map(|term| term.count).sum();
            corpus.push(label, occurrences, &terms);
        }
        let mut data = Dataset::new(corpus, categories as usize, 1);
        data.drop_rare_features();
        data
    }

    /// The fit of one problem, one document after the other.
    fn alone(problem: usize, part: &[bool], training: &Training<'_>) -> Fit {
        let Training { data, cost, passes, .. } = *training;
        let scales = scales::<1>(data, problem, part);
        let weights = scales.iter().map(|&[scale]| Weight { value: 0.0, scale }).collect();
        let mut fit = Fit { weights, bias: 0.0, duals: vec![[0.0; 2]; data.len()] };
        let is_own = |document: usize| data.labels[document] as usize == problem;
        let mut order: Vec<usize> = (0..data.len()).filter(|&at| part[at]).collect();
        order.sort_by_key(|&at| (data.names[at], is_own(at)));
        let mut shuffle = SplitMix64::new(1);
        for _ in 0..passes {
            shuffle.shuffle(&mut order);
            for &document in &order {
                let cells = data.row(document);
                let row = with_squares(row_of(data, document), &scales, cells, 0);
                let y = if is_own(document) { 1.0 } else { -1.0 };
                fit.step(document, cells, &row, y, cost);
            }
        }
        fit
    }

    #[test]
    fn fits_side_by_side_are_those_made_alone() {
        for (categories, is_contrast, scoring) in [
            (2, true, Scoring::Counts),
            (3, true, Scoring::Counts),
            (5, false, Scoring::Once),
            (16, true, Scoring::Counts),
            (20, true, Scoring::Counts),
        ] {
            let mut data = data(categories, 300);
            (data.contrast, data.scoring) = (is_contrast, scoring);
            let part: Vec<bool> = (0..data.len()).map(|at| at % 4 != 1).collect();
            let training = Training { data: &data, cost: 0.3, passes: 10, stop: Stop::NEVER };
            for start in (0..categories as usize).step_by(WIDEST) {
                let problems = start..(start + WIDEST).min(categories as usize);
                let fits = solve(problems.clone(), &part, &training).unwrap().fits();
                for (fit, problem) in fits.iter().zip(problems) {
                    assert_eq!(*fit, alone(problem, &part, &training), "{categories}, {problem}");
                    assert!(fit.weights.iter().any(|weight| weight.value != 0.0));
                }
            }
        }
    }

    /// Four documents on two sides; feature 5 is on both, features 1 and 2 tell them apart.
    fn pair(documents: [(u32, u32, u32); 4]) -> Dataset {
        let mut corpus = Corpus::default();
        let term = |id, count| Term::new(FeatureId(id), 1, count);
        for (label, own, count) in documents {
            corpus.push(label, 4, &[term(own, count), term(5, 3)]);
        }
        Dataset::new(corpus, 2, 1)
    }

    const PAIR: [(u32, u32, u32); 4] = [(0, 1, 1), (1, 2, 1), (0, 1, 1), (1, 2, 1)];

    fn fit_of(data: &Dataset, cost: f64, passes: u32) -> (Box<dyn Lanes>, Fit) {
        let solve = || {
            let training = Training { data, cost, passes, stop: Stop::NEVER };
            solve(1..2, &[true; 4], &training).unwrap()
        };
        (solve(), solve().fits().remove(0))
    }

    #[test]
    fn the_solution_satisfies_the_optimality_conditions() {
        let (data, cost) = (pair(PAIR), 0.5);
        let (fits, fit) = fit_of(&data, cost, 500);
        let mut sums = vec![0.0; data.ids.len()];
        for (document, (label, ..)) in PAIR.into_iter().enumerate() {
            let y = if label == 1 { 1.0 } else { -1.0 };
            // alpha = 2C max(0, 1 - y margin)
            let loss = (1.0 - y * fits.margins(&data, document)[0]).max(0.0);
            let [presence, counts] = fit.duals[document].map(f64::from);
            assert!((counts - 2.0 * cost * loss).abs() < 1e-4);
            let row = row_of(&data, document);
            for cell in data.row(document) {
                let each = presence * row.presence + counts * row.counts * f64::from(cell.count);
                sums[cell.feature as usize] += y * each;
            }
        }
        // A weight is the sum of what documents added, times its scale.
        for (weight, sum) in fit.weights.iter().zip(sums) {
            assert!((f64::from(weight.value) - f64::from(weight.scale) * sum).abs() < 1e-5);
        }
        assert!(fit.weights[1].value.abs() < 1e-3, "the shared feature weighs nothing");
    }

    #[test]
    fn the_order_of_documents_plays_no_part() {
        let documents = [(0, 1, 1), (1, 2, 1), (0, 1, 2), (1, 2, 1)];
        let fit_in = |order: [usize; 4]| {
            let data = pair(order.map(|at| documents[at]));
            let (_, fit) = fit_of(&data, 1.0, 3);
            let weights = data.ids.iter().zip(&fit.weights);
            let mut weights: Vec<_> = weights.map(|(id, w)| (id.0, w.value.to_bits())).collect();
            weights.sort_unstable();
            (weights, fit.bias.to_bits())
        };
        let fit = fit_in([0, 1, 2, 3]);
        for order in [[3, 2, 1, 0], [1, 0, 3, 2], [2, 3, 1, 0]] {
            assert_eq!(fit_in(order), fit, "{order:?}");
        }
    }

    #[test]
    fn squared_lengths_are_sums_over_features() {
        let data = pair(PAIR);
        // One occurrence of the first feature, three of the second one.
        let row = row_of(&data, 0);
        let (p, c, b, d) = (row.presence, row.counts, row.presence_bias, row.counts_bias);
        let found = with_squares(row, &[[0.5], [2.0], [9.0]], data.row(0), 0);
        let expected = [p * p * 2.5 + b * b, c * c * 18.5 + d * d, p * c * 6.5 + b * d];
        for (found, expected) in
            [found.presence_square, found.counts_square, found.product].into_iter().zip(expected)
        {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    #[test]
    fn features_only_of_left_out_documents_have_no_scale() {
        let data = pair(PAIR);
        let scales_of = |part: [bool; 4]| scales::<1>(&data, 1, &part);
        assert_eq!(scales_of([true, false, false, false]), [[0.0]; 3]);
        let shared = scale(2, 2);
        assert!(shared > 0.0);
        assert_eq!(scales_of([true, true, false, false]), [[0.0], [shared], [0.0]]);
    }

    #[test]
    fn features_of_one_side_stand_out() {
        let mut data = pair(PAIR);
        let plain = scales::<1>(&data, 1, &[true; 4]);
        data.contrast = true;
        let with = scales::<1>(&data, 1, &[true; 4]);
        let ratio = |feature: usize| with[feature][0] / plain[feature][0];
        assert_eq!(
            [0, 1, 2].map(ratio),
            [contrast([(0, 2), (2, 2)]), 0.25, contrast([(2, 2), (0, 2)])]
        );
    }
}
