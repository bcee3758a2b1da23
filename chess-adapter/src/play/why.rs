// SPDX-License-Identifier: GPL-3.0-or-later
//! Explains a move by what speaks for it and against it, compared with the next best move (spec
//! chess 9.14). What is shown adds up to the logarithm of the move's share, to the last digit.

use anyhow::{Context as _, Result};
use dbacl_numeric::elementary::log2;

use crate::play::choose;
use crate::play::engine::Engine;

/// Reasons that are shown one by one; the others are shown as a sum.
const SHOWN: usize = 12;

/// A move compared with another one.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// The move and the other one.
    pub words: Vec<String>,
    /// Their places among the legal moves, from 0.
    pub places: Vec<usize>,
    pub legal: usize,
    /// Their shares, from 0 to 1.
    pub shares: Vec<f64>,
    /// Reasons with their hundredths of a bit for each move, those that differ most first. The sums
    /// are in `totals`.
    pub rows: Vec<(String, Vec<i64>)>,
    /// The logarithms of the shares, hundredths of a bit.
    pub totals: Vec<i64>,
}

/// Explains the move `word`, or the best move if `word` is empty, beside the best other one.
pub fn explain(engine: &mut Engine, word: &str) -> Result<Explained> {
    let ranking = engine.rank(None)?;
    let place = if word.is_empty() {
        0
    } else {
        let m = engine.game.read_move(word)?;
        ranking.iter().position(|s| s.completion.m == m).context("not a legal move")?
    };
    let rival = usize::from(place == 0);
    let places: Vec<usize> = [place, rival].into_iter().filter(|&p| p < ranking.len()).collect();
    let shares = choose::shares(&ranking, engine.settings().temperature);
    let game = engine.game.clone();
    let completions = game.completions();
    let number = |&place: &usize| {
        let m = ranking[place].completion.m;
        completions.iter().position(|c| c.m == m).unwrap_or(0)
    };
    let numbers: Vec<usize> = places.iter().map(number).collect();
    let voice = engine.voice(game.turn()).context("no model")?;
    let reasons = voice.reasons(&game, &completions, &numbers)?;
    let shares: Vec<f64> = places.iter().map(|&place| shares[place]).collect();
    let totals: Vec<i64> = shares.iter().map(|s| cents(log2(s.max(f64::MIN_POSITIVE)))).collect();
    // The moves have the same reasons, except that words of a kind may be missing.
    let mut rows: Vec<(String, Vec<i64>)> = Vec::new();
    for (at, reasons) in reasons.iter().enumerate() {
        for reason in reasons {
            let known = rows.iter_mut().find(|(text, bits)| *text == reason.text && bits[at] == 0);
            if let Some((_, bits)) = known {
                bits[at] = cents(reason.bits);
            } else {
                let mut bits = vec![0; places.len()];
                bits[at] = cents(reason.bits);
                rows.push((reason.text.clone(), bits));
            }
        }
    }
    let weight = |row: &(String, Vec<i64>)| match row.1[..] {
        [own, other] => (own - other).abs(),
        _ => row.1[0].abs(),
    };
    rows.sort_by_key(|row| std::cmp::Reverse(weight(row)));
    let sum =
        |rows: &[(String, Vec<i64>)], at: usize| rows.iter().map(|row| row.1[at]).sum::<i64>();
    let every = |rows: &[(String, Vec<i64>)]| -> Vec<i64> {
        (0..places.len()).map(|at| sum(rows, at)).collect()
    };
    let left: Vec<i64> = totals.iter().zip(every(&rows)).map(|(total, sum)| total - sum).collect();
    let rest = rows.split_off(SHOWN.min(rows.len()));
    if !rest.is_empty() {
        rows.push((format!("{} other reasons", rest.len()), every(&rest)));
    }
    rows.push(("what the other legal moves leave".to_owned(), left));
    let words = places.iter().map(|&place| ranking[place].completion.word.clone()).collect();
    Ok(Explained { words, places, legal: ranking.len(), shares, rows, totals })
}

#[expect(clippy::cast_possible_truncation, reason = "some thousand bits at most")]
fn cents(bits: f64) -> i64 {
    (100.0 * bits).round() as i64
}

fn signed(cents: i64) -> String {
    let sign = if cents < 0 { '-' } else { '+' };
    format!("{sign}{}.{:02}", cents.abs() / 100, cents.abs() % 100)
}

impl Explained {
    pub fn lines(&self) -> Vec<String> {
        let name = |at: usize| {
            let percent = 100.0 * self.shares[at];
            let (word, place) = (&self.words[at], self.places[at] + 1);
            format!("{word} is number {place} of {}: {percent:.1} %", self.legal)
        };
        let mut lines: Vec<String> = (0..self.words.len()).map(name).collect();
        lines.push("bits for (+) and against (-) each:".to_owned());
        let columns = |cells: &mut dyn Iterator<Item = String>| {
            cells.map(|cell| format!("{cell:>8}")).collect::<String>()
        };
        lines.push(columns(&mut self.words.iter().cloned()));
        for (text, bits) in &self.rows {
            lines.push(format!("{}  {text}", columns(&mut bits.iter().map(|&b| signed(b)))));
        }
        let totals = columns(&mut self.totals.iter().map(|&b| signed(b)));
        lines.push(format!("{totals}  the sum: the logarithm of the share"));
        lines
    }
}
