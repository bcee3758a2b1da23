// SPDX-License-Identifier: GPL-3.0-or-later
//! The second stage: the first stage's probabilities and the words of a search, weighed together.
//!
//! ```text
//! score(m) = factor[phase] * ln p1(m) + sum of the weights of the search words of m
//! p(m)     = softmax of the scores
//! ```
//!
//! It is fitted on positions of games that the first stage has not seen: on its own positions the
//! first stage is far too sure of itself. How good it is, is found by fitting it five times, each
//! time without the positions of a fifth of the games, which are then judged.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::choices::{Judged, Quality, probabilities};
use anyhow::{Context as _, Result, ensure};

use crate::look::{Looked, NAME, Row, Seen, Word};

/// Phases, each with a factor of its own.
const PHASES: usize = 4;

/// The fit is repeated so many times, without the games of one part each time.
const PARTS: u32 = 5;

/// Length of the first steps.
const RATE: f64 = 0.015;
/// Passes through all positions.
const PASSES: usize = 4;
/// Share of the run after which the steps become smaller, and the share of the first steps' length
/// that the last ones have.
const CONSTANT_SHARE: f64 = 0.3;
const LAST_SHARE: f64 = 0.05;
/// The initial value of a weight's sum of squared gradients.
const START: f64 = 0.3;
/// Moves with smaller gradients are passed over.
const SKIP: f64 = 0.001;
/// How many times as long the steps of the weights of mates are. There are few mates among the
/// positions, and each says all.
const MATES: f64 = 20.0;
/// Weights are stored with so many steps to a nat.
const GRID: f64 = 10_000.0;

/// The weights.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Second {
    /// Half-moves that the search looks ahead.
    pub depth: usize,
    factors: [f64; PHASES],
    weights: BTreeMap<Word, f64>,
}

/// Why a part of a model adds to the score of a move, in words for a player, and how much, nats.
pub type Part = (String, f64);

impl Second {
    /// The scores of a position's moves, whose softmax is their probabilities; `first` has the
    /// logarithms of the first stage's.
    pub(crate) fn scores(&self, first: &[f64], looked: &Looked) -> Vec<f64> {
        let weight = |word: &Word| self.weights.get(word).copied().unwrap_or(0.0);
        let score = |(first, words): (&f64, &Vec<Word>)| {
            self.factors[looked.phase] * first + words.iter().map(weight).sum::<f64>()
        };
        first.iter().zip(&looked.words).map(score).collect()
    }

    /// What the score of a move is made of, beside the logarithm of the first stage's probability.
    pub(crate) fn parts(&self, first: f64, looked: &Looked, at: usize) -> Vec<Part> {
        let factor = self.factors[looked.phase];
        let sum = |kinds: &[u8]| -> f64 {
            let words = looked.words[at].iter().filter(|word| kinds.contains(&word.0[0]));
            words.filter_map(|word| self.weights.get(word)).sum()
        };
        let seen = looked.seen[at];
        let percent = 100.0 * factor;
        vec![
            (format!("what was learned counts {percent:.0} % here"), (factor - 1.0) * first),
            (in_words(seen, self.depth), sum(b"drpqbceonuz")),
            ("looking ahead, after the last moves".to_owned(), sum(b"stlm")),
            ("looking ahead and what was learned, together".to_owned(), sum(b"fghij")),
        ]
    }

    /// As lines of a file.
    pub(crate) fn to_text(&self) -> String {
        let mut out = format!("search {NAME}\ndepth {}\n", self.depth);
        out.push_str("factors");
        for factor in self.factors {
            let _ = write!(out, " {factor}");
        }
        out.push('\n');
        for (Word([kind, a, b, c]), weight) in &self.weights {
            let _ = writeln!(out, "{} {a} {b} {c} {weight}", char::from(*kind));
        }
        out
    }

    /// Reads the lines of a file, unless they are damaged or belong to another search.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut lines = text.lines();
        let mut field = |name: &str| {
            let line = lines.next().and_then(|line| line.strip_prefix(name));
            line.map(str::trim).context(DAMAGED)
        };
        known_words(field("search")?, NAME)?;
        let depth = field("depth")?.parse().context(DAMAGED)?;
        let number = |word: &str| {
            let number: Option<f64> = word.parse().ok().filter(|x: &f64| x.is_finite());
            number.context(DAMAGED)
        };
        let factors: Vec<f64> = field("factors")?.split(' ').map(number).collect::<Result<_>>()?;
        let factors = factors.try_into().ok().context(DAMAGED)?;
        let mut weights = BTreeMap::new();
        for line in lines {
            let [kind, a, b, c, weight] = line.split(' ').collect::<Vec<_>>()[..] else {
                anyhow::bail!(DAMAGED)
            };
            let byte = |word: &str| word.parse::<u8>().context(DAMAGED);
            let kind = *kind.as_bytes().first().context(DAMAGED)?;
            weights.insert(Word([kind, byte(a)?, byte(b)?, byte(c)?]), number(weight)?);
        }
        ensure!((1..=20).contains(&depth), DAMAGED);
        Ok(Self { depth, factors, weights })
    }
}

/// What is said of a file that cannot be read.
pub(crate) const DAMAGED: &str = "damaged; learn again";

/// Refuses words of another version.
pub(crate) fn known_words(found: &str, own: &str) -> Result<()> {
    let is_own = found == own;
    ensure!(is_own, "made by another version (its words are {found:?}, here {own:?}): learn again");
    Ok(())
}

fn in_words(seen: Seen, depth: usize) -> String {
    let what = match (seen.mate, seen.rank) {
        (Some(moves), _) => format!("mate in {moves}"),
        (None, Some(0)) => "the best".to_owned(),
        (None, Some(rank)) => format!("number {}, {} centipawns behind", rank + 1, seen.loss),
        (None, None) => "far behind".to_owned(),
    };
    format!("looking ahead {depth} half-moves: {what}")
}

/// A row whose words are numbers of weights.
struct Numbered<'a> {
    row: &'a Row,
    words: Vec<Vec<u32>>,
    /// What counts as chosen: a mate if one was seen, else what was played.
    chosen: usize,
}

/// Fits the weights on these rows.
pub(crate) fn fit(rows: &[Row], depth: usize) -> (Second, Quality) {
    let mut numbers: BTreeMap<Word, u32> = BTreeMap::new();
    for row in rows {
        for &word in row.looked.words.iter().flatten() {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            numbers.entry(word).or_insert(next);
        }
    }
    let number = |row| -> Numbered<'_> {
        let row: &Row = row;
        let words = |words: &Vec<Word>| words.iter().map(|word| numbers[word]).collect();
        let words = row.looked.words.iter().map(words).collect();
        Numbered { row, words, chosen: row.mate().unwrap_or(row.played) }
    };
    let rows: Vec<Numbered<'_>> = rows.iter().map(number).collect();
    let mut strengths = vec![1.0; numbers.len()];
    for (word, &at) in &numbers {
        if word.0[0] == b'z' {
            strengths[at as usize] = MATES;
        }
    }
    let mut judged = Judged::default();
    let part = |row: &Numbered<'_>| row.row.game / 50 % PARTS;
    for left_out in 0..PARTS {
        let learned: Vec<&Numbered<'_>> = rows.iter().filter(|r| part(r) != left_out).collect();
        let weights = Weights::fitted(&learned, &strengths);
        for row in rows.iter().filter(|row| part(row) == left_out) {
            judged.push(&weights.scores(row), row.row.played);
        }
    }
    let all: Vec<&Numbered<'_>> = rows.iter().collect();
    let fitted = Weights::fitted(&all, &strengths);
    let stored = |weight: f64| (weight * GRID).round() / GRID;
    let weights = numbers.iter().map(|(word, &at)| (*word, stored(fitted.of_words[at as usize])));
    let second = Second {
        depth,
        factors: fitted.factors.map(stored),
        weights: weights.filter(|(_, weight)| *weight != 0.0).collect(),
    };
    (second, judged.quality(1.0))
}

/// Weights that are being fitted, with the sums of their squared gradients.
struct Weights {
    of_words: Vec<f64>,
    squares: Vec<f64>,
    factors: [f64; PHASES],
    factor_squares: [f64; PHASES],
}

impl Weights {
    fn fitted(rows: &[&Numbered<'_>], strengths: &[f64]) -> Self {
        let mut fit = Self {
            of_words: vec![0.0; strengths.len()],
            squares: strengths.iter().map(|x| START / (x * x)).collect(),
            factors: [1.0; PHASES],
            factor_squares: [START; PHASES],
        };
        let all = rows.len() * PASSES;
        let mut shares = Vec::new();
        for number in 0..all {
            #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
            let done = number as f64 / all as f64;
            let late = ((done - CONSTANT_SHARE) / (1.0 - CONSTANT_SHARE)).max(0.0);
            let rate = RATE * (1.0 - (1.0 - LAST_SHARE) * late);
            fit.step(rows[number % rows.len()], rate, strengths, &mut shares);
        }
        fit
    }

    fn scores(&self, row: &Numbered<'_>) -> Vec<f64> {
        let factor = self.factors[row.row.looked.phase];
        let score = |(first, words): (&f64, &Vec<u32>)| {
            factor * first + words.iter().map(|&at| self.of_words[at as usize]).sum::<f64>()
        };
        row.row.first.iter().zip(&row.words).map(score).collect()
    }

    fn step(&mut self, row: &Numbered<'_>, rate: f64, strengths: &[f64], shares: &mut Vec<f64>) {
        probabilities(&self.scores(row), shares);
        let mut of_factor = 0.0;
        for (at, share) in shares.iter().enumerate() {
            let gradient = share - f64::from(u8::from(at == row.chosen));
            of_factor += gradient * row.row.first[at];
            if gradient.abs() <= SKIP {
                continue;
            }
            for &word in &row.words[at] {
                let at = word as usize;
                self.squares[at] += gradient * gradient;
                let step = rate * strengths[at] * gradient / self.squares[at].sqrt();
                self.of_words[at] -= step;
            }
        }
        let phase = row.row.looked.phase;
        self.factor_squares[phase] += of_factor * of_factor;
        self.factors[phase] -= rate * of_factor / self.factor_squares[phase].sqrt();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_as_they_were_written() {
        let second = Second {
            depth: 4,
            factors: [1.04, 0.86, 0.81, 0.8],
            weights: [(Word([b'd', 1, 10, 0]), -0.1234), (Word([b'z', 0, 0, 0]), 2.5)].into(),
        };
        let text = second.to_text();
        assert_eq!(Second::parse(&text).expect("read"), second);
        let other = Second::parse(&text.replace(NAME, "search-words 0")).expect_err("other words");
        assert!(other.to_string().contains("its words are \"search-words 0\""), "{other}");
        for damaged in ["", "x\n", &text.replace("0.86", "nan"), &text[..text.len() - 4]] {
            let read = Second::parse(damaged);
            assert!(read.is_err() || damaged == &text[..text.len() - 4], "{damaged}");
        }
    }
}
