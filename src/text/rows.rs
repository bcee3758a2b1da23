// SPDX-License-Identifier: GPL-3.0-or-later
//! Rows of weights by feature, and their sums for the features of a text.
//!
//! A row has a weight for each problem, or only those that matter. In memory, rows of which a
//! quarter or more matter have all, so that they are added several problems at once.

use crate::text::bytes::{number, take};
use crate::text::index::{Index, TOGETHER};
use dbacl_numeric::varint;
use std::num::NonZeroU32;

/// See the [module](self).
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    /// Number of problems.
    width: usize,
    /// Whether files have all weights of a row, too.
    is_full: bool,
    /// Rising.
    features: Vec<u32>,
    /// 16 times the logarithm to base 2 of the root of scale and documents of each feature.
    importances: Vec<u8>,
    /// Where the weights of features start in `weights`.
    starts: Index,
    /// The rows. Each begins with its number of pairs of a problem and a weight, or with [`DENSE`]
    /// and then has the weights of all problems.
    weights: Vec<i16>,
}

/// Precedes a row that has a weight for every problem, where other rows have their number of pairs.
const DENSE: i16 = -1;

/// The weights of a row.
#[derive(Clone, Copy)]
enum Row<'a> {
    Dense(&'a [i16]),
    Sparse(&'a [[i16; 2]]),
}

/// Sums of weights by problem.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sums {
    pub all: Vec<i64>,
    /// Those of the rows that are added at once.
    few: Vec<i32>,
}

impl Sums {
    /// Makes all sums 0, for so many problems.
    pub(crate) fn start(&mut self, width: usize) {
        self.all.clear();
        self.all.resize(width, 0);
    }
}

impl Rows {
    /// No rows yet, for so many problems, of which there are at most 2^16; `is_full` says whether
    /// files have all weights of a row.
    pub(super) fn new(width: usize, is_full: bool) -> Self {
        Self { width, is_full, ..Self::default() }
    }

    /// Whether files have all weights of a row.
    pub(super) const fn is_full(&self) -> bool {
        self.is_full
    }

    /// The features, rising.
    pub(super) fn features(&self) -> &[u32] {
        &self.features
    }

    /// The importance of the row's feature, as it is kept.
    pub(super) fn importance(&self, at: usize) -> u8 {
        self.importances[at]
    }

    /// Adds a row of problems, rising, and their weights; none are left out if rows are full.
    ///
    /// # Panics
    /// If there are more than 2^32 weights.
    pub(super) fn push(&mut self, (feature, importance): (u32, u8), row: &[(u16, i16)]) {
        self.append(feature, row);
        self.features.push(feature);
        self.importances.push(importance);
    }

    fn append(&mut self, feature: u32, row: &[(u16, i16)]) {
        let start = u32::try_from(self.weights.len() + 1).ok().and_then(NonZeroU32::new);
        self.starts.find_or_insert(feature, start.expect("fewer than 2^32 weights"));
        match i16::try_from(row.len()) {
            Ok(length) if !self.is_full && row.len() * 4 < self.width => {
                self.weights.push(length);
                let pairs = row.iter().map(|&(problem, value)| [problem.cast_signed(), value]);
                self.weights.extend(pairs.flatten());
            }
            _ => {
                self.weights.push(DENSE);
                let begin = self.weights.len();
                self.weights.resize(begin + self.width, 0);
                for &(problem, value) in row {
                    self.weights[begin + usize::from(problem)] = value;
                }
            }
        }
    }

    /// The place of a feature among the others, if it is known.
    pub(super) fn find(&self, feature: u32) -> Option<usize> {
        self.features.binary_search(&feature).ok()
    }

    fn row(&self, start: NonZeroU32) -> Row<'_> {
        let weights = &self.weights[start.get() as usize..];
        match usize::try_from(self.weights[start.get() as usize - 1]) {
            Ok(length) => Row::Sparse(&weights.as_chunks().0[..length]),
            Err(_) => Row::Dense(&weights[..self.width]),
        }
    }

    /// Hands problems and weights of a row to `take`, those that matter or all.
    pub(super) fn each(&self, at: usize, mut take: impl FnMut(u16, i16)) {
        let Some(start) = self.starts.find(self.features[at]) else { return };
        match self.row(start) {
            Row::Sparse(row) => {
                for &[problem, value] in row {
                    take(problem.cast_unsigned(), value);
                }
            }
            Row::Dense(row) => (0..).zip(row).for_each(|(problem, &value)| {
                if self.is_full || value != 0 {
                    take(problem, value);
                }
            }),
        }
    }

    /// Adds the weights of some features, at most [`TOGETHER`], to the sums of the problems;
    /// returns how many are known.
    pub(super) fn add(&self, features: &[u32], sums: &mut Sums) -> u32 {
        let Sums { all, few } = sums;
        few.clear();
        few.resize(self.width, 0);
        let mut starts = [NonZeroU32::MIN; TOGETHER];
        let mut known = 0;
        self.starts.find_all(features, |start| {
            starts[known] = start;
            known += 1;
        });
        let mut rows = [Row::Sparse(&[]); TOGETHER];
        for (row, &start) in rows.iter_mut().zip(&starts[..known]) {
            *row = self.row(start);
        }
        for row in &rows[..known] {
            match row {
                // At most 64 numbers of 16 bits are added up.
                Row::Dense(row) => {
                    few.iter_mut().zip(*row).for_each(|(sum, &own)| *sum += i32::from(own));
                }
                Row::Sparse(row) => {
                    for &[problem, value] in *row {
                        few[usize::from(problem.cast_unsigned())] += i32::from(value);
                    }
                }
            }
        }
        for (sum, &own) in all.iter_mut().zip(&*few) {
            *sum += i64::from(own);
        }
        u32::try_from(known).unwrap_or(u32::MAX)
    }

    /// Appends the rows as files have them, with weights of `bits` bits.
    pub(super) fn write(&self, out: &mut Vec<u8>, bits: u8) {
        varint::append(out, self.features.len() as u64);
        let mut last = 0;
        for &feature in &self.features {
            varint::append(out, u64::from(feature - last));
            last = feature;
        }
        out.extend_from_slice(&self.importances);
        // Files without rows say that rows are full.
        let is_full = self.is_full || self.features.is_empty();
        out.push(u8::from(!is_full));
        let (mut lengths, mut problems, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let widths = [if self.width > 256 { 2 } else { 1 }, usize::from(bits / 8)];
        for at in 0..self.features.len() {
            let mut length = 0;
            self.each(at, |problem, value| {
                length += 1;
                problems.extend_from_slice(&problem.to_le_bytes()[..widths[0]]);
                values.extend_from_slice(&value.to_le_bytes()[..widths[1]]);
            });
            varint::append(&mut lengths, length);
        }
        if !is_full {
            out.append(&mut lengths);
            out.append(&mut problems);
        }
        out.append(&mut values);
    }

    /// Reads rows of `width` problems, with weights of `bits` bits; `None` if they are damaged.
    pub(super) fn read(rest: &mut &[u8], bits: u8, width: usize) -> Option<Self> {
        let length = number(rest).filter(|&length: &usize| length <= rest.len())?;
        let mut features = Vec::new();
        let mut last: Option<u32> = None;
        for _ in 0..length {
            let step = number(rest)?;
            let next = match last {
                None => step,
                Some(last) => last.checked_add(step).filter(|_| step > 0)?,
            };
            features.push(next);
            last = Some(next);
        }
        let importances = take(rest, length)?.to_vec();
        let is_full = match take(rest, 1)?[0] {
            0 => true,
            1 => false,
            _ => return None,
        };
        let mut ends = Vec::with_capacity(length);
        let mut all = 0usize;
        for _ in 0..length {
            let own = if is_full { Some(width) } else { number(rest) };
            all = all.checked_add(own.filter(|own| (1..=width).contains(own))?)?;
            ends.push(all);
        }
        let bytes = if is_full { 0 } else { 1 + usize::from(width > 256) };
        let problems = Numbers { bytes, all: take(rest, all.checked_mul(bytes)?)? };
        let bytes = usize::from(bits / 8);
        let values = Numbers { bytes, all: take(rest, all.checked_mul(bytes)?)? };
        let mut rows = Self { width, is_full, ..Self::default() };
        rows.starts = Index::with_room(length);
        rows.weights.reserve(length + 2 * all);
        let mut row = Vec::new();
        // What texts have most often lies together in memory.
        for at in by_importance(&importances) {
            let range = at.checked_sub(1).map_or(0, |before| ends[before])..ends[at];
            let sign = if bytes == 1 { 8 } else { 0 };
            let its = values.range(range.clone()).map(|value| value << sign >> sign);
            row.clear();
            if is_full {
                row.extend((0..=u16::MAX).zip(its));
            } else {
                row.extend(problems.range(range).map(i16::cast_unsigned).zip(its));
                let is_known = row.last().is_some_and(|own| usize::from(own.0) < width);
                if !(is_known && row.is_sorted_by(|a, b| a.0 < b.0)) {
                    return None;
                }
            }
            rows.append(features[at], &row);
        }
        Some(Self { features, importances, ..rows })
    }
}

/// The places of rows, the most important ones first.
fn by_importance(importances: &[u8]) -> Vec<usize> {
    let mut next = [0; 256];
    for &own in importances {
        next[usize::from(u8::MAX - own)] += 1;
    }
    let mut sum = 0;
    for next in &mut next {
        sum += std::mem::replace(next, sum);
    }
    let mut order = vec![0; importances.len()];
    for (at, &own) in importances.iter().enumerate() {
        let next = &mut next[usize::from(u8::MAX - own)];
        order[*next] = at;
        *next += 1;
    }
    order
}

/// Numbers of no, one or two bytes, the lower byte first.
struct Numbers<'a> {
    bytes: usize,
    all: &'a [u8],
}

impl Numbers<'_> {
    /// Some of the numbers, without signs if they have one byte.
    fn range(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = i16> {
        let own = &self.all[range.start * self.bytes..range.end * self.bytes];
        own.chunks_exact(self.bytes.max(1))
            .map(|own| i16::from_le_bytes([own[0], own.get(1).copied().unwrap_or(0)]))
    }
}
