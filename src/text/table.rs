// SPDX-License-Identifier: GPL-3.0-or-later
//! The table of a model: a row of weights for each feature, and how scores become probabilities.
//!
//! ```text
//! s_k = sum over blocks b of v_b / sqrt(u_b) * sum of w_tk over its known features + bias_k
//!       u_b different features that occur, without those of repetitions
//! p_k = (n softmax_k(a sqrt(n/(n+m)) s) + h prior_k) / (n + h)        n known features
//! ```
//!
//! A row has a weight for each problem, or, where there are many, only those that matter: the
//! median of a row is taken from all its weights, which changes no probability, and small ones are
//! left out. Weights are whole numbers of 16 or 8 bits times a step a problem.

use crate::linear::{Calibration, input};
use crate::text::bytes::{number, put, take, words};
use crate::text::features::{Features, REPEATS, Runs};
use crate::text::index::TOGETHER;
use crate::text::none::{Group, KEPT};
use crate::text::rows::{Rows, Sums};
use dbacl_numeric::elementary::{exp, log};

/// The first byte of a table: the version of its form. Before, there were no repetitions and no m.
const VERSION: u8 = 2;
const BEFORE: u8 = 1;
/// Problems up to which rows have a weight for each.
const FULL: usize = 8;
/// The most labels of a model.
pub(super) const LABELS: usize = 1 << 16;
/// The share of all squared importance that a model may lose to be small, where nothing else is
/// said.
pub(super) const LOSS: f64 = 0.002;

/// A block of features.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BlockKind {
    /// `None` for words.
    pub runs: Option<Runs>,
    /// Characters of the shortest and the longest run.
    pub lengths: [usize; 2],
    /// The weight v.
    pub weight: f32,
}

/// How scores become probabilities and labels.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scale {
    /// Slope and prior.
    pub calibration: Calibration,
    /// Share of each label in the documents that were learned.
    pub priors: Vec<f64>,
    /// The label is the one with the highest `ln p - shift ln prior`.
    pub shift: f64,
    /// With several labels, the probability from which a text has each label.
    pub thresholds: Vec<f32>,
    /// From which oddness a text has none of the labels; empty where nothing is known of it.
    pub refusals: Vec<Group>,
}

/// See the [module](self).
#[derive(Debug, Clone)]
pub(crate) struct Table {
    /// Whether a text has any number of labels, each with a probability of its own. Otherwise it
    /// has one label, and probabilities add up to 1.
    pub has_several: bool,
    pub blocks: Vec<BlockKind>,
    /// How many of [`REPEATS`] add features.
    pub repeats: usize,
    /// How scores become probabilities.
    pub scale: Scale,
    intercepts: Vec<f32>,
    steps: Vec<f32>,
    bits: u8,
    rows: Rows,
}

/// A fit, to be made a table.
pub(crate) struct Fitted<'a> {
    /// Number of problems: one for two labels, else as many as labels.
    pub problems: usize,
    /// The features, rising.
    pub features: &'a [u32],
    /// Writes the weights of a feature.
    pub weights: &'a dyn Fn(usize, &mut [f32]),
    /// Root of scale and documents of a feature.
    pub importance: &'a dyn Fn(usize) -> f64,
    /// What is added to all scores.
    pub intercepts: Vec<f32>,
}

impl Table {
    /// The table of a fit, without what matters least: at most the share `loss` of all squared
    /// importance.
    pub(crate) fn new(
        fitted: &Fitted<'_>,
        has_several: bool,
        (blocks, repeats): (Vec<BlockKind>, usize),
        scale: Scale,
        loss: f64,
    ) -> Self {
        let width = fitted.problems;
        let mut row = vec![0.0f32; width];
        let mut largest = vec![0.0f32; width];
        // How much importance there is, by its logarithm.
        let mut bins = vec![0.0; BINS + 1];
        let is_full = width <= FULL;
        let is_centred = !has_several && width > 1;
        let fill = |at: usize, row: &mut [f32]| {
            (fitted.weights)(at, row);
            if is_centred {
                centre(row);
            }
        };
        for at in 0..fitted.features.len() {
            fill(at, &mut row);
            let importance = (fitted.importance)(at);
            for (largest, weight) in largest.iter_mut().zip(&row) {
                *largest = largest.max(weight.abs());
            }
            let mut put = |weight: f32| {
                let importance = f64::from(weight) * importance;
                bins[bin(importance)] += importance * importance;
            };
            if is_full {
                put(strongest(&row));
            } else {
                row.iter().copied().for_each(put);
            }
        }
        // The bin below which at most the share `loss` lies.
        let (all, mut below): (f64, f64) = (bins.iter().sum(), 0.0);
        let is_too_much = |own: &f64| {
            below += own;
            below > loss * all
        };
        let least = bins.iter().position(is_too_much).unwrap_or(0);
        let steps: Vec<f32> = largest.iter().map(|&largest| largest.max(1e-20) / 32767.0).collect();
        let (mut rows, mut own) = (Rows::new(width, is_full), Vec::new());
        for (at, &feature) in fitted.features.iter().enumerate() {
            fill(at, &mut row);
            let importance = (fitted.importance)(at);
            let named = (feature, coded(importance));
            add_row(&mut rows, least, named, importance, &row, &steps, &mut own);
        }
        let intercepts = fitted.intercepts.clone();
        Self { has_several, blocks, repeats, scale, intercepts, steps, bits: 16, rows }
    }

    pub(crate) fn labels(&self) -> usize {
        self.scale.priors.len()
    }

    pub(crate) fn features(&self) -> usize {
        self.rows.features().len()
    }

    /// Features in which each label has a weight above 0, by label; of two labels, the first has
    /// those below.
    pub(crate) fn features_by_label(&self) -> Vec<u64> {
        let mut found = vec![0; self.labels()];
        for at in 0..self.features() {
            self.each_weight(at, |problem, weight| match self.steps.len() {
                1 if self.labels() == 2 => {
                    found[usize::from(weight > 0.0)] += u64::from(weight != 0.0);
                }
                _ => found[problem] += u64::from(weight > 0.0),
            });
        }
        found
    }

    /// Hands the weights of a row to `take`.
    fn each_weight(&self, at: usize, mut take: impl FnMut(usize, f32)) {
        self.rows.each(at, |problem, value| {
            take(problem.into(), f32::from(value) * self.steps[usize::from(problem)]);
        });
    }

    /// The weights of a feature, a label each, if it is known. Two labels have that of the second.
    pub(crate) fn weights_of(&self, feature: u32) -> Option<Vec<f32>> {
        let at = self.rows.find(feature)?;
        let two = self.is_two();
        let mut weights = vec![0.0; self.labels()];
        self.each_weight(at, |problem, weight| weights[problem + usize::from(two)] = weight);
        Some(weights)
    }

    const fn is_two(&self) -> bool {
        !self.has_several && self.steps.len() == 1
    }

    /// The input of the features of each block.
    pub(crate) fn inputs(&self, features: &Features) -> Vec<f64> {
        let input = |(at, kind): (usize, &BlockKind)| {
            f64::from(input(f64::from(kind.weight), features.distinct(at)))
        };
        self.blocks.iter().enumerate().map(input).collect()
    }

    /// The scores of the labels, and how many features are known.
    pub(crate) fn scores(&self, features: &Features, sums: &mut Sums) -> (Vec<f64>, u32) {
        let mut scores: Vec<f64> = self.intercepts.iter().map(|&own| f64::from(own)).collect();
        let mut known = 0;
        for (own, input) in features.blocks.iter().zip(self.inputs(features)) {
            sums.start(self.steps.len());
            for chunk in own.chunks(TOGETHER) {
                known += self.rows.add(chunk, sums);
            }
            for ((score, &sum), &step) in scores.iter_mut().zip(&sums.all).zip(&self.steps) {
                #[allow(clippy::cast_precision_loss)] // sums of far fewer than 2^37 weights
                let sum = sum as f64;
                *score += input * f64::from(step) * sum;
            }
        }
        if self.is_two() {
            scores.insert(0, 0.0);
        }
        (scores, known)
    }

    /// The probabilities of scores.
    pub(crate) fn probabilities(&self, mut scores: Vec<f64>, known: u32) -> Vec<f64> {
        let Scale { calibration, priors, .. } = &self.scale;
        let known = f64::from(known);
        if !self.has_several {
            calibration.apply(&mut scores, known, priors);
            return scores;
        }
        for (score, &prior) in scores.iter_mut().zip(priors) {
            let mut pair = [0.0, *score];
            calibration.apply(&mut pair, known, &[1.0 - prior, prior]);
            *score = pair[1];
        }
        scores
    }

    /// What decides between labels: probabilities, or what is made of them for rare labels.
    pub(crate) fn preferences(&self, probabilities: &[f64]) -> Vec<f64> {
        let Scale { priors, shift, .. } = &self.scale;
        let of = |(p, prior): (&f64, &f64)| p * exp(-shift * log(prior.max(1e-12)));
        probabilities.iter().zip(priors).map(of).collect()
    }

    /// The table in at most `size` bytes, with weights of `bits` bits.
    #[must_use]
    pub(crate) fn quantized(&self, bits: u8, size: Option<usize>) -> Self {
        let pruned = |least: usize| self.pruned(bits, least);
        let mut found = pruned(0);
        let Some(size) = size.filter(|&size| found.to_bytes().len() > size) else { return found };
        let (mut low, mut high) = (0, BINS);
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            found = pruned(middle);
            *(if found.to_bytes().len() > size { &mut low } else { &mut high }) = middle;
        }
        pruned(high)
    }

    fn pruned(&self, bits: u8, least: usize) -> Self {
        let width = self.steps.len();
        let (mut rows, mut own) = (Rows::new(width, self.rows.is_full()), Vec::new());
        let mut row = vec![0.0; width];
        let largest: f32 = if bits == 8 { 127.0 } else { 32767.0 };
        let most = if self.bits == 8 { 127.0 } else { 32767.0 };
        let steps: Vec<f32> = self.steps.iter().map(|step| step * (most / largest)).collect();
        for (at, &feature) in self.rows.features().iter().enumerate() {
            row.fill(0.0);
            self.each_weight(at, |problem, weight| row[problem] = weight);
            let code = self.rows.importance(at);
            add_row(&mut rows, least, (feature, code), decoded(code), &row, &steps, &mut own);
        }
        Self { steps, bits, rows, ..self.clone() }
    }

    /// The table as bytes, see `docs/spec/model-format.md`.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = vec![VERSION, u8::from(self.has_several), self.bits];
        let sizes = [self.repeats, self.labels(), self.steps.len(), self.blocks.len()];
        put(&mut out, sizes.map(|size| size as u64));
        for BlockKind { runs, lengths, weight } in &self.blocks {
            let kind = runs.map_or(0, |runs| if runs == Runs::Across { 1 } else { 2 });
            out.push(kind);
            put(&mut out, lengths.map(|length| length as u64));
            out.extend_from_slice(&weight.to_le_bytes());
        }
        let Scale { calibration, priors, shift, thresholds, refusals } = &self.scale;
        let Calibration { slope, prior, more } = *calibration;
        for number in [slope, prior, more, *shift].iter().chain(priors) {
            out.extend_from_slice(&number.to_le_bytes());
        }
        for number in thresholds {
            out.extend_from_slice(&number.to_le_bytes());
        }
        put(&mut out, [refusals.len() as u64]);
        for number in refusals.iter().flat_map(|own| [own.known].into_iter().chain(own.thresholds))
        {
            out.extend_from_slice(&number.to_le_bytes());
        }
        for number in self.intercepts.iter().chain(&self.steps) {
            out.extend_from_slice(&number.to_le_bytes());
        }
        self.rows.write(&mut out, self.bits);
        out
    }

    /// Whether bytes are a table of a later version.
    pub(crate) fn is_later(bytes: &[u8]) -> bool {
        bytes.first().is_some_and(|&version| version > VERSION)
    }

    /// The table of bytes; `None` if they are damaged.
    pub(crate) fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let rest = &mut bytes;
        let [version, kind, bits] = *take(rest, 3)?.first_chunk()?;
        if !matches!(version, BEFORE | VERSION) || kind > 1 || !matches!(bits, 8 | 16) {
            return None;
        }
        let repeats = if version == BEFORE { 0 } else { number(rest)? };
        if repeats > REPEATS.len() {
            return None;
        }
        let has_several = kind == 1;
        let labels = number(rest).filter(|labels| (1..=LABELS).contains(labels))?;
        let width = number(rest)?;
        let is_two = !has_several && labels == 2 && width == 1;
        if width != labels && !is_two {
            return None;
        }
        let mut blocks = Vec::new();
        for _ in 0..number(rest).filter(|blocks| (1..=2).contains(blocks))? {
            let runs = match take(rest, 1)?[0] {
                0 => None,
                1 => Some(Runs::Across),
                2 => Some(Runs::Within),
                _ => return None,
            };
            let lengths = [number(rest)?, number(rest)?];
            let weight = floats(rest, 1)?[0];
            if runs.is_some() == blocks.is_empty() || lengths[0] > lengths[1] || lengths[1] > 16 {
                return None;
            }
            blocks.push(BlockKind { runs, lengths, weight });
        }
        let is_before = version == BEFORE;
        let singles = if is_before { 3 } else { 4 };
        let mut doubles = take(rest, 8 * (singles + labels))?.chunks_exact(8).filter_map(|chunk| {
            let number = f64::from_le_bytes(chunk.try_into().ok()?);
            number.is_finite().then_some(number)
        });
        let (slope, prior) = (doubles.next()?, doubles.next()?);
        let more = if is_before { 0.0 } else { doubles.next()? };
        let calibration = Calibration { slope, prior, more };
        let (shift, priors) = (doubles.next()?, doubles.collect::<Vec<f64>>());
        if priors.len() != labels || prior < 0.0 || more < 0.0 {
            return None;
        }
        let thresholds = floats(rest, if kind == 1 { labels } else { 0 })?;
        let mut refusals = Vec::new();
        for _ in 0..if is_before { 0 } else { number(rest)? } {
            let known = floats(rest, 1)?[0];
            let thresholds = floats(rest, KEPT.len())?.try_into().ok()?;
            refusals.push(Group { known, thresholds });
        }
        let (intercepts, steps) = (floats(rest, width)?, floats(rest, width)?);
        let rows = Rows::read(rest, bits, width)?;
        let scale = Scale { calibration, priors, shift, thresholds, refusals };
        rest.is_empty().then_some(Self {
            has_several,
            blocks,
            repeats,
            scale,
            intercepts,
            steps,
            bits,
            rows,
        })
    }
}

/// Takes the median from each number.
fn centre(row: &mut [f32]) {
    let mut sorted = row.to_vec();
    let middle = sorted.len() / 2;
    let median = *sorted.select_nth_unstable_by(middle, f32::total_cmp).1;
    for weight in row {
        *weight -= median;
    }
}

/// An importance as a byte.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // clamped
fn coded(importance: f64) -> u8 {
    (16.0 * log(importance.max(1e-9)) / std::f64::consts::LN_2).round().clamp(0.0, 255.0) as u8
}

fn decoded(code: u8) -> f64 {
    exp(f64::from(code) / 16.0 * std::f64::consts::LN_2)
}

/// The number of the last bin of importances.
const BINS: usize = 512;

/// The bin of an importance: 0 for none, then 16 for each power of 2 from 2^-16.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // clamped
fn bin(importance: f64) -> usize {
    let importance = importance.abs();
    if importance < 1.6e-5 {
        return 0;
    }
    let place = 16.0 * (log(importance) / std::f64::consts::LN_2 + 16.0);
    (place as usize + 1).min(BINS)
}

/// The weight that is furthest from 0.
fn strongest(row: &[f32]) -> f32 {
    row.iter().fold(0.0, |most, weight| if weight.abs() > most { weight.abs() } else { most })
}

/// Adds the weights of a row that matter: those whose bin is `least` or higher. If none does, there
/// is no row. `own` is room that rows share.
fn add_row(
    rows: &mut Rows,
    least: usize,
    named: (u32, u8),
    importance: f64,
    row: &[f32],
    steps: &[f32],
    own: &mut Vec<(u16, i16)>,
) {
    let matters = |weight: f32| bin(f64::from(weight) * importance) >= least && weight != 0.0;
    #[allow(clippy::cast_possible_truncation)] // saturates
    let value = |(weight, step): (&f32, &f32)| (weight / step).round() as i16;
    // Labels are at most 2^16.
    let weights = (0..=u16::MAX).zip(row.iter().zip(steps));
    own.clear();
    if rows.is_full() {
        if matters(strongest(row)) {
            own.extend(weights.map(|(problem, pair)| (problem, value(pair))));
        }
    } else {
        let weights = weights.filter(|(_, pair)| matters(*pair.0));
        let weights = weights.map(|(problem, pair)| (problem, value(pair)));
        own.extend(weights.filter(|own| own.1 != 0));
    }
    if !own.is_empty() {
        rows.push(named, own);
    }
}

fn floats(rest: &mut &[u8], length: usize) -> Option<Vec<f32>> {
    let numbers: Vec<f32> = words(rest, length)?.into_iter().map(f32::from_bits).collect();
    numbers.iter().all(|number| number.is_finite()).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbacl_numeric::elementary::narrow;

    /// A table of 200 features with weights that are easy to compute.
    fn table(labels: usize, has_several: bool) -> Table {
        let problems = if labels == 2 && !has_several { 1 } else { labels };
        let features: Vec<u32> = (0..200u32).map(|at| at * 7919).collect();
        let weights = |at: usize, out: &mut [f32]| {
            for (problem, out) in out.iter_mut().enumerate() {
                let place = u8::try_from((at * 31 + problem * 17) % 101).unwrap();
                *out = narrow(f64::from(place) / 50.0 - 1.0);
            }
        };
        let fitted = Fitted {
            problems,
            features: &features,
            weights: &weights,
            importance: &|at| 1.0 + f64::from(u8::try_from(at).unwrap()),
            intercepts: vec![0.25; problems],
        };
        let words = BlockKind { runs: None, lengths: [1, 2], weight: 2.0 };
        let runs = BlockKind { runs: Some(Runs::Within), lengths: [2, 5], weight: 2.0 };
        #[allow(clippy::cast_precision_loss)]
        let priors = vec![1.0 / labels as f64; labels];
        let calibration = Calibration { slope: 2.0, prior: 1.5, more: 10.0 };
        let thresholds = if has_several { vec![0.5; labels] } else { vec![] };
        let refusals = vec![Group { known: 20.0, thresholds: [0.1; KEPT.len()] }];
        let scale = Scale { calibration, priors, shift: 0.0, thresholds, refusals };
        Table::new(&fitted, has_several, (vec![words, runs], 1), scale, 0.0)
    }

    #[test]
    fn tables_are_read_back_or_refused() {
        for (labels, has_several) in [(2, false), (5, false), (300, false), (2, true), (12, true)] {
            let table = table(labels, has_several);
            for table in [table.clone(), table.quantized(8, None)] {
                let bytes = table.to_bytes();
                let read = |bytes: &[u8]| Table::from_bytes(bytes).map(|table| table.to_bytes());
                assert_eq!(read(&bytes).as_ref(), Some(&bytes), "{labels}");
                for length in (0..bytes.len()).step_by(bytes.len() / 50 + 1) {
                    assert_eq!(read(&bytes[..length]), None);
                }
                for at in 0..bytes.len().min(400) {
                    let mut damaged = bytes.clone();
                    damaged[at] ^= 0x81;
                    // Whatever it is, it is not a crash.
                    drop(Table::from_bytes(&damaged));
                }
            }
        }
    }

    #[test]
    fn tables_of_before_are_read() {
        let mut table = table(3, false);
        (table.repeats, table.scale.calibration.more) = (0, 0.0);
        table.scale.refusals.clear();
        let bytes = table.to_bytes();
        // Without repetitions, without further features between prior and shift, and, after shift
        // and shares, without refusals.
        let place = bytes.windows(8).position(|own| own == 1.5f64.to_le_bytes()).unwrap() + 8;
        let refusals = place + 8 * 5;
        let parts =
            [&bytes[1..3], &bytes[4..place], &bytes[place + 8..refusals], &bytes[refusals + 1..]];
        let before = [&[BEFORE][..], &parts.concat()].concat();
        let read = Table::from_bytes(&before).unwrap();
        assert!(read.to_bytes() == bytes);
        let next = [&[VERSION + 1], &bytes[1..]].concat();
        assert!(Table::from_bytes(&next).is_none());
    }

    #[test]
    fn scores_are_sums_of_weights() {
        let table = table(3, false);
        let features =
            Features { blocks: [vec![0, 7919, 5], vec![7919 * 2]], ends: [[3; 4], [1; 4]] };
        let (scores, known) = table.scores(&features, &mut Sums::default());
        assert_eq!(known, 3);
        let of = |feature| table.weights_of(feature).unwrap();
        for label in 0..3 {
            let words = f64::from(of(0)[label] + of(7919)[label]) * 2.0 / 3f64.sqrt();
            let expected = 0.25 + words + 2.0 * f64::from(of(7919 * 2)[label]);
            assert!((scores[label] - expected).abs() < 1e-4);
        }
        assert_eq!(table.weights_of(5), None);
        let none = table.scores(&Features::default(), &mut Sums::default());
        assert_eq!(table.probabilities(none.0, none.1), table.scale.priors);
    }

    #[test]
    fn smaller_tables_fit_and_keep_what_matters() {
        for labels in [2, 40] {
            let table = table(labels, false);
            let size = table.to_bytes().len() * 2 / 5;
            let small = table.quantized(8, Some(size));
            assert!(small.to_bytes().len() <= size && small.features() > 20, "{labels}");
            let features =
                Features { blocks: [vec![7919 * 199, 7919 * 198], vec![]], ends: [[2; 4], [0; 4]] };
            let of = |table: &Table| table.scores(&features, &mut Sums::default()).0;
            let (large, small) = (of(&table), of(&small));
            let best =
                |scores: &[f64]| (0..labels).max_by(|&a, &b| scores[a].total_cmp(&scores[b]));
            assert_eq!(best(&large), best(&small));
        }
    }
}
