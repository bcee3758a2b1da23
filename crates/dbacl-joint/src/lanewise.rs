// SPDX-License-Identifier: GPL-3.0-or-later
//! Fits of several categories against the rest, side by side: each document is read once for all of
//! them.
//!
//! The fits are independent, and each computes the same sums in the same order as
//! [`super::solver::solve`] does for one fit, so the bits are the same. What is saved is memory
//! traffic: the weights of a feature lie side by side, and are multiplied by instructions that take
//! several at a time. Squared lengths of views are worked out for the documents that need them
//! only, which are those within the margin of a category.

use super::dataset::{Cell, Dataset, MIN_DOCUMENTS, Row, contrast, scale};
use super::solver::{Duals, Fit, Training, Weight};
use super::stop::Stopped;
use dbacl_numeric::elementary::narrow;
use dbacl_numeric::random::SplitMix64;
use hashbrown::HashMap;
use std::ops::Range;

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
) -> Result<Fits, Stopped> {
    let (first, width) = (problems.start, problems.len());
    let lanes: Box<dyn Lanes + Send> = match width {
        0..=4 => Box::new(Lanewise::<4>::solve(first, part, training)?),
        5..=8 => Box::new(Lanewise::<8>::solve(first, part, training)?),
        _ => Box::new(Lanewise::<16>::solve(first, part, training)?),
    };
    Ok(Fits { width, lanes })
}

/// Fits that are made side by side.
pub struct Fits {
    width: usize,
    lanes: Box<dyn Lanes + Send>,
}

impl Fits {
    /// The score of a document for each fit, see [`Fit::margin`].
    pub fn margins(&self, data: &Dataset, document: usize) -> Vec<f64> {
        let mut margins = self.lanes.margins(data, document);
        margins.truncate(self.width);
        margins
    }

    /// The fits, one by one.
    pub fn into_fits(self) -> Vec<Fit> {
        (0..self.width).map(|lane| self.lanes.fit(lane)).collect()
    }
}

/// Fits side by side, however many.
trait Lanes {
    /// See [`Fits::margins`].
    fn margins(&self, data: &Dataset, document: usize) -> Vec<f64>;
    /// The fit of a lane.
    fn fit(&self, lane: usize) -> Fit;
}

/// Sums over a document's features in two views, see [`Dataset`], and their product: scale, scale
/// times count, scale times squared count.
type Squares = [f64; 3];

/// `L` fits. Lanes behind the last category hold fits that are not used.
struct Lanewise<const L: usize> {
    /// Number of the category in the first lane.
    first: usize,
    weights: Vec<[f32; L]>,
    scales: Vec<[f32; L]>,
    bias: [f64; L],
    duals: Vec<[Duals; L]>,
}

/// Data of the passes over the documents besides the fits.
struct Passes<'a, const L: usize> {
    data: &'a Dataset,
    softness: f64,
    /// By document and lane; NaN until they are needed.
    squares: Vec<[Squares; L]>,
}

impl<const L: usize> Lanewise<L> {
    fn solve(first: usize, part: &[bool], training: &Training<'_>) -> Result<Self, Stopped> {
        let scales = scales(training.data, first, part);
        let mut fits = Self {
            first,
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
        let mut run = Passes { data, softness: 1.0 / (2.0 * cost), squares };
        let (order, apart) = order::<L>(data, self.first, part);
        let mut places: Vec<usize> = (0..order.len()).collect();
        let mut shuffle = SplitMix64::new(1);
        for _ in 0..passes {
            stop.check()?;
            shuffle.shuffle(&mut places);
            for &place in &places {
                match apart.get(&place) {
                    None => self.step(&mut run, order[place], 0..L),
                    Some(documents) => {
                        for (lane, &document) in documents.iter().enumerate() {
                            self.step(&mut run, document, lane..lane + 1);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// One step of the fits in `lanes` for a document: both views, one after the other.
    fn step(&mut self, run: &mut Passes<'_, L>, document: usize, lanes: Range<usize>) {
        let data = run.data;
        let cells = data.row(document);
        let row = row_of(data, document);
        let (ones, counts) = sums(&self.weights, cells);
        for lane in lanes {
            let is_own = data.labels[document] as usize == self.first + lane;
            let y = if is_own { 1.0 } else { -1.0 };
            let [old_presence, old_counts] = self.duals[document][lane];
            let bias = self.bias[lane];
            let gradient = |old: f32, margin: f64| y * margin - 1.0 + f64::from(old) * run.softness;
            let rests = |old: f32, margin: f64| old == 0.0 && gradient(old, margin) >= 0.0;
            let presence_margin = ones[lane] * row.presence + bias * row.presence_bias;
            let counts_margin = counts[lane] * row.counts + bias * row.counts_bias;
            // Both views are beyond the margin with dual variables of 0, so nothing changes.
            if rests(old_presence, presence_margin) && rests(old_counts, counts_margin) {
                continue;
            }
            let squares = &mut run.squares[document][lane];
            if squares[0].is_nan() {
                *squares = squares_of(&self.scales, cells, lane);
            }
            let mut row = row;
            row.set_squares(squares[0], squares[1], squares[2]);
            let softness = run.softness;
            let advance = |old: f32, margin: f64, square: f64| -> (f32, f64) {
                let wide = f64::from(old);
                let step = gradient(old, margin) / (square + softness);
                let new = narrow((wide - step).max(0.0));
                (new, (f64::from(new) - wide) * y)
            };
            let (presence, s_presence) =
                advance(old_presence, presence_margin, row.presence_square);
            let margin = counts_margin + s_presence * row.product;
            let (count, s_counts) = advance(old_counts, margin, row.counts_square);
            if s_presence == 0.0 && s_counts == 0.0 {
                continue;
            }
            self.duals[document][lane] = [presence, count];
            let one = narrow(s_presence * row.presence);
            let each = narrow(s_counts * row.counts);
            for cell in cells {
                let feature = cell.feature as usize;
                let scale = self.scales[feature][lane];
                self.weights[feature][lane] += scale * (one + each * count_of(*cell));
            }
            self.bias[lane] += s_presence * row.presence_bias + s_counts * row.counts_bias;
        }
    }
}

impl<const L: usize> Lanes for Lanewise<L> {
    fn margins(&self, data: &Dataset, document: usize) -> Vec<f64> {
        use super::scoring::Scoring;
        let row = row_of(data, document);
        let (ones, counts) = sums(&self.weights, data.row(document));
        let mut margins = vec![0.0; L];
        for (lane, margin) in margins.iter_mut().enumerate() {
            let bias = self.bias[lane] * row.counts_bias;
            if data.scoring == Scoring::Counts {
                *margin = counts[lane] * row.counts + bias;
            } else {
                let distinct = data.distinct[document];
                let mean = ones[lane] * data.length / f64::from(distinct) + bias;
                *margin = mean * data.scoring.length_factor(distinct);
            }
        }
        margins
    }

    fn fit(&self, lane: usize) -> Fit {
        let each = self.weights.iter().zip(&self.scales);
        Fit {
            weights: each
                .map(|(weights, scales)| Weight { value: weights[lane], scale: scales[lane] })
                .collect(),
            bias: self.bias[lane],
            duals: self.duals.iter().map(|duals| duals[lane]).collect(),
        }
    }
}

/// The factors of a document's views; the squares are 0.
fn row_of(data: &Dataset, document: usize) -> Row {
    let (distinct, occurrences) = (data.distinct[document], data.occurrences[document]);
    Row::new(data.scoring, distinct, occurrences, data.max_order, data.length)
}

#[allow(clippy::cast_precision_loss)] // counts beyond 2^24 in one document may round
const fn count_of(cell: Cell) -> f32 {
    cell.count as f32
}

/// Sums of the weights over distinct features and over occurrences, by lane.
#[inline]
fn sums<const L: usize>(weights: &[[f32; L]], cells: &[Cell]) -> ([f64; L], [f64; L]) {
    let (mut ones, mut counts) = ([0.0f64; L], [0.0f64; L]);
    // Where nothing is repeated the sums are the same.
    if cells.iter().all(|cell| cell.count == 1) {
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

/// The sums from which the squared lengths of a document's views are computed, for one lane.
fn squares_of<const L: usize>(scales: &[[f32; L]], cells: &[Cell], lane: usize) -> Squares {
    let (mut ones, mut counts, mut squares) = (0.0, 0.0, 0.0);
    for cell in cells {
        let scale = f64::from(scales[cell.feature as usize][lane]);
        let count = f64::from(cell.count);
        ones += scale;
        counts += scale * count;
        squares += scale * count * count;
    }
    [ones, counts, squares]
}

/// Scales of the features by lane, see [`super::dataset::Views`].
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

/// The documents in the order in which the fits see them before they are shuffled, and the places
/// where fits see different ones: of copies with different labels, those of the other side come
/// first.
fn order<const L: usize>(
    data: &Dataset,
    first: usize,
    part: &[bool],
) -> (Vec<usize>, HashMap<usize, [usize; L]>) {
    let mut order: Vec<usize> = (0..data.len()).filter(|&document| part[document]).collect();
    order.sort_by_key(|&document| data.names[document]);
    let mut apart = HashMap::new();
    let mut start = 0;
    for copies in order.chunk_by(|&a, &b| data.names[a] == data.names[b]) {
        let label = |document: usize| data.labels[document] as usize;
        if copies.iter().any(|&document| label(document) != label(copies[0])) {
            for lane in 0..L {
                let mut own = copies.to_vec();
                own.sort_by_key(|&document| label(document) == first + lane);
                for (place, document) in own.into_iter().enumerate() {
                    apart.entry(start + place).or_insert([0; L])[lane] = document;
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
    use super::super::scoring::Scoring;
    use super::super::select::sides;
    use super::*;
    use crate::dataset::Views;
    use crate::solver;
    use crate::stop::Stop;
    use dbacl_engine::token::id::FeatureId;

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

    #[test]
    fn fits_abreast_are_those_made_alone() {
        for (categories, is_contrast, scoring) in [
            (3, true, Scoring::Counts),
            (5, false, Scoring::Once),
            (16, true, Scoring::Counts),
            (20, true, Scoring::Counts),
        ] {
            let mut data = data(categories, 300);
            (data.contrast, data.scoring) = (is_contrast, scoring);
            let left_out = |document: usize| document % 4 == 1;
            for start in (0..categories as usize).step_by(WIDEST) {
                let problems = start..(start + WIDEST).min(categories as usize);
                let part: Vec<bool> = (0..data.len()).map(|at| !left_out(at)).collect();
                let (cost, passes, stop) = (0.3, 10, Stop::NEVER);
                let training = Training { data: &data, cost, passes, stop };
                let fits = solve(problems.clone(), &part, &training).unwrap();
                let margins: Vec<Vec<f64>> =
                    (0..data.len()).map(|document| fits.margins(&data, document)).collect();
                for (fit, problem) in fits.into_fits().iter().zip(problems) {
                    let sides = sides(&data, problem, left_out);
                    let views = Views::new(&data, &sides);
                    let alone = solver::solve(&views, &sides, &training).unwrap();
                    assert_eq!(*fit, alone, "{categories} categories, {problem}");
                    assert!(alone.weights.iter().any(|weight| weight.value != 0.0));
                    for document in 0..data.len() {
                        let row = &views.rows[document];
                        let margin = alone.margin(&data, document, row);
                        assert_eq!(margins[document][problem - start], margin);
                    }
                }
            }
        }
    }
}
