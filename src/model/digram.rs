// SPDX-License-Identifier: GPL-3.0-or-later
//! The digram table: what one character after another costs, and the weight of a token under it.
//!
//! While learning the cells hold f32 counts ([`CharacterCounts`]); a reference measure turns them
//! into digitised log-probabilities ([`DigramTable`]), which a category file stores.

use dbacl_numeric::quantize::{QuantWeight, STEPS_PER_NAT};

/// The mark before, between and after the words of a feature; printed `[]`. To the digrams it is a
/// character like others.
pub(crate) const BOUNDARY: u8 = 0x03;

/// Number of byte values, and so of rows and of columns.
pub(crate) const SYMBOLS: usize = 256;
/// First usable symbol: 0, 1 and 2 are reserved, 3 is the boundary mark.
pub(crate) const FIRST: usize = BOUNDARY as usize;
/// Row of the token lengths.
pub(crate) const LENGTH_ROW: usize = 1;
/// Row of the marginal counts of destination symbols.
pub(crate) const MARGINAL_ROW: usize = 2;

/// A byte as a symbol: reserved bytes count as the boundary mark.
pub(crate) const fn clip(byte: u8) -> usize {
    if byte < BOUNDARY { FIRST } else { byte as usize }
}

/// Counts of adjacent characters within tokens, of their lengths and of their characters
/// (spec model 4.1). Counts are f32 and stop by themselves at 2^24.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CharacterCounts {
    /// Row by row: `cells[from * 256 + to]`.
    cells: Vec<f32>,
}

impl Default for CharacterCounts {
    fn default() -> Self {
        Self { cells: vec![0.0; SYMBOLS * SYMBOLS] }
    }
}

impl CharacterCounts {
    /// Counts the characters of a token's body, boundary marks included.
    pub(crate) fn count(&mut self, body: &[u8]) {
        self.count_with(body, |cell| *cell += 1.0);
    }

    /// Counts a token's body so many times, as if [`Self::count`] were called that often.
    pub(crate) fn count_times(&mut self, body: &[u8], times: u32) {
        if times > 0 {
            self.count_with(body, |cell| add_ones(cell, times));
        }
    }

    fn count_with(&mut self, body: &[u8], add: impl Fn(&mut f32)) {
        let Some((&first, rest)) = body.split_first() else { return };
        let mut from = clip(first);
        let mut length = 1;
        for &byte in rest {
            let to = clip(byte);
            add(&mut self.cells[from * SYMBOLS + to]);
            add(&mut self.cells[MARGINAL_ROW * SYMBOLS + to]);
            from = to;
            length += usize::from(to != FIRST);
        }
        // Captured groups make tokens of at most 8 * 30 symbols.
        add(&mut self.cells[LENGTH_ROW * SYMBOLS + length.min(SYMBOLS - 1)]);
    }

    /// Counts what `tally` holds, as if each of its words had been counted by itself. Returns
    /// whether that is possible: not where there are counts that no counting gives.
    #[must_use]
    pub(crate) fn add_tally(&mut self, tally: &CharacterTally) -> bool {
        let is_counted = |cell: &f32| cell.is_sign_positive() && cell.fract() == 0.0;
        if !self.cells.iter().all(is_counted) {
            return false;
        }
        let mut marginals = [0u32; SYMBOLS];
        for (row, from) in tally.steps.chunks_exact(SYMBOLS).zip(0..) {
            for ((to, &times), marginal) in row.iter().enumerate().zip(&mut marginals) {
                if times > 0 {
                    add_ones(&mut self.cells[from * SYMBOLS + to], times);
                    *marginal = marginal.saturating_add(times);
                }
            }
        }
        for (special, times) in [(MARGINAL_ROW, &marginals), (LENGTH_ROW, &tally.lengths)] {
            for (cell, &times) in self.cells[special * SYMBOLS..].iter_mut().zip(times) {
                if times > 0 {
                    add_ones(cell, times);
                }
            }
        }
        true
    }

    /// Row `from`: 256 counts.
    pub(crate) fn row(&self, from: usize) -> &[f32] {
        &self.cells[from * SYMBOLS..(from + 1) * SYMBOLS]
    }

    /// All cells, row by row.
    pub(crate) fn cells(&self) -> &[f32] {
        &self.cells
    }

    /// All cells, row by row, to fill in.
    pub(crate) fn cells_mut(&mut self) -> &mut [f32] {
        &mut self.cells
    }

    /// Adds `other` cell by cell, in f32.
    pub(crate) fn add(&mut self, other: &Self) {
        for (cell, more) in self.cells.iter_mut().zip(&other.cells) {
            *cell += more;
        }
    }
}

/// Characters of many words, on their way into [`CharacterCounts`]. Counts stop at 2^32 - 1.
#[derive(Debug, Clone)]
pub(crate) struct CharacterTally {
    /// How often a symbol follows another: `steps[from * 256 + to]`.
    steps: Vec<u32>,
    lengths: [u32; SYMBOLS],
}

impl Default for CharacterTally {
    fn default() -> Self {
        Self { steps: vec![0; SYMBOLS * SYMBOLS], lengths: [0; SYMBOLS] }
    }
}

impl CharacterTally {
    /// Counts a word so many times.
    pub(crate) fn count(&mut self, word: &[u8], times: u32) {
        let mut from = FIRST;
        let mut length = 1;
        for &byte in word.iter().chain(std::iter::once(&BOUNDARY)) {
            let to = clip(byte);
            let step = &mut self.steps[from * SYMBOLS + to];
            *step = step.saturating_add(times);
            from = to;
            length += usize::from(to != FIRST);
        }
        let length = &mut self.lengths[length.min(SYMBOLS - 1)];
        *length = length.saturating_add(times);
    }
}

/// Adds 1 so many times, each sum rounded to f32: counts stop at 2^24 by themselves.
#[allow(clippy::cast_possible_truncation)] // at most 2^24, exact
fn add_ones(cell: &mut f32, times: u32) {
    const STOP: f32 = 16_777_216.0;
    if *cell < STOP {
        *cell = (f64::from(*cell) + f64::from(times)).min(f64::from(STOP)) as f32;
        return;
    }
    // Merged counts can lie above; there a step of 1 rounds to nothing after one step at most.
    for _ in 0..times.min(2) {
        *cell += 1.0;
    }
}

/// Digitised log-probabilities of adjacent characters: the reference measure at work.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DigramTable {
    /// Log-probabilities in nats, `-QuantWeight`; `cells[from * 256 + to]`.
    cells: Vec<f32>,
}

impl DigramTable {
    /// A table of zeros (`0.0`, as in the rows that no measure fills).
    pub(crate) fn zero() -> Self {
        Self { cells: vec![0.0; SYMBOLS * SYMBOLS] }
    }

    /// The weights as a file stores them, in row order.
    pub(crate) fn stored(&self) -> impl Iterator<Item = QuantWeight> + '_ {
        self.cells.iter().map(|&x| QuantWeight::from_log_probability(x))
    }

    /// The log-probability of `to` after `from`.
    pub(crate) fn get(&self, from: usize, to: usize) -> f32 {
        self.cells[from * SYMBOLS + to]
    }

    /// Stores the log-probability `x` of `to` after `from`, digitised.
    pub(crate) fn set(&mut self, from: usize, to: usize, x: f32) {
        self.cells[from * SYMBOLS + to] = QuantWeight::from_log_probability(x).log_probability();
    }

    /// Adds the cost of every step between `body`'s characters: f32 sums from left to right.
    /// Also returns the number of symbols plus one.
    fn walk(&self, body: &[u8]) -> (f32, usize) {
        let Some((&first, rest)) = body.split_first() else { return (0.0, 1) };
        let mut from = clip(first);
        let mut sum = 0.0f32;
        let mut length = 1;
        for &byte in rest {
            let to = clip(byte);
            sum += self.cells[from * SYMBOLS + to];
            from = to;
            length += usize::from(to != FIRST);
        }
        (sum, length)
    }

    /// The same cost in whole steps of 1/32 nat, without the length term.
    pub(crate) fn steps(&self, body: &[u8]) -> u32 {
        let (sum, _) = self.walk(body);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // whole, below 2^24
        let steps = (-sum * STEPS_PER_NAT) as u32;
        steps
    }

    /// Whether the length of a token has a price of its own (`-L toklen`).
    pub(crate) fn prices_lengths(&self) -> bool {
        self.cells[LENGTH_ROW * SYMBOLS..(LENGTH_ROW + 1) * SYMBOLS].iter().any(|&x| x != 0.0)
    }

    /// The length term of a token of `length` symbols plus one: 0 but for the token-length measure.
    fn length_term(&self, length: usize) -> f32 {
        let row = LENGTH_ROW * SYMBOLS;
        self.cells[row + length.min(SYMBOLS - 1)] - self.cells[row]
    }

    /// The reference log-probability of a token while learning (spec model 6.1), in nats.
    pub(crate) fn log_reference(&self, body: &[u8]) -> f32 {
        let (sum, length) = self.walk(body);
        sum + self.length_term(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_marginals_and_length_are_counted() {
        let mut counts = CharacterCounts::default();
        counts.count(b"\x03ab\x03");
        let cell = |from: usize, to: usize| counts.row(from)[to];
        assert_eq!(cell(3, 97), 1.0);
        assert_eq!(cell(97, 98), 1.0);
        assert_eq!(cell(98, 3), 1.0);
        assert_eq!(cell(MARGINAL_ROW, 3), 1.0);
        assert_eq!(cell(LENGTH_ROW, 3), 1.0);
    }

    #[test]
    fn many_at_once_count_as_one_by_one() {
        for start in [0.0, 5.0, 16_777_210.0, 16_777_216.0, 16_777_218.0, 33_554_432.0] {
            for times in [0, 1, 2, 3, 10] {
                let (mut at_once, mut one_by_one) = (start, start);
                add_ones(&mut at_once, times);
                (0..times).for_each(|_| one_by_one += 1.0f32);
                assert_eq!(at_once, one_by_one, "{start} + {times}");
            }
        }
    }

    #[test]
    fn tallies_count_as_their_words() {
        for start in [0.0, 1.0, 16_777_213.0, 16_777_218.0] {
            let mut expected = CharacterCounts { cells: vec![start; SYMBOLS * SYMBOLS] };
            let mut found = expected.clone();
            let mut tally = CharacterTally::default();
            for (word, times) in
                [(&b"ab"[..], 1), (b"abab", 2), (b"", 7), (b"\x01\xffb", 3), (b"ab", 40_000_000)]
            {
                expected.count_times(&[b"\x03", word, b"\x03"].concat(), times);
                tally.count(word, times);
            }
            assert!(found.add_tally(&tally));
            assert_eq!(found, expected, "{start}");
        }
        for odd in [0.5, -0.0, f32::NAN, f32::INFINITY] {
            let mut counts = CharacterCounts { cells: vec![odd; SYMBOLS * SYMBOLS] };
            assert!(!counts.add_tally(&CharacterTally::default()), "{odd}");
        }
    }
}
