// SPDX-License-Identifier: GPL-3.0-or-later
//! Explains a move by what speaks for it and against it, compared with the next best move (spec
//! chess 9.14). What is shown adds up to the logarithm of the move's share, to the last digit.

use anyhow::{Context as _, Result};
use dbacl_numeric::elementary::log2;

use crate::play::choose::{self, Scored};
use crate::play::engine::{Choice, Engine};

/// Reasons that are shown one by one; the others are shown as a sum.
const SHOWN: usize = 12;

/// A reason with its hundredths of a bit for each move.
type Row = (String, Vec<i64>);

/// Explains the move `word`, or the best move if `word` is empty, beside the best other one: lines
/// with their places and shares, then reasons, those that differ most first.
pub(crate) fn explain(engine: &mut Engine, word: &str) -> Result<Vec<String>> {
    let ranking = engine.rank()?;
    let place = if word.is_empty() {
        0
    } else {
        let m = engine.game.read_move(word)?;
        ranking.iter().position(|s| s.completion.m == m).context("not a legal move")?
    };
    let places = beside_rival(&ranking, place);
    let shares = choose::shares(&ranking, engine.settings().temperature);
    let mut rows = rows(engine, &ranking, &places)?;
    let weight = |row: &Row| match row.1[..] {
        [own, other] => (own - other).abs(),
        _ => row.1[0].abs(),
    };
    rows.sort_by_key(|row| std::cmp::Reverse(weight(row)));
    let sums = |rows: &[Row]| -> Vec<i64> {
        (0..places.len()).map(|at| rows.iter().map(|row| row.1[at]).sum()).collect()
    };
    let logarithm = |&place: &usize| cents(log2(shares[place].max(f64::MIN_POSITIVE)));
    let totals: Vec<i64> = places.iter().map(logarithm).collect();
    let left = totals.iter().zip(sums(&rows)).map(|(total, sum)| total - sum).collect();
    let rest = rows.split_off(SHOWN.min(rows.len()));
    if !rest.is_empty() {
        rows.push((format!("{} other reasons", rest.len()), sums(&rest)));
    }
    rows.push(("what the other legal moves leave".to_owned(), left));
    rows.push(("the sum: the logarithm of the share".to_owned(), totals));
    let name = |&place: &usize| {
        let (word, percent) = (&ranking[place].completion.word, 100.0 * shares[place]);
        format!("{word} is number {} of {}: {percent:.1} %", place + 1, ranking.len())
    };
    let mut lines: Vec<String> = places.iter().map(name).collect();
    lines.push("bits for (+) and against (-) each:".to_owned());
    let word = |&place: &usize| format!("{:>8}", ranking[place].completion.word);
    lines.push(places.iter().map(word).collect());
    lines.extend(rows.iter().map(|(text, bits)| {
        format!("{}  {text}", bits.iter().map(|&bits| signed(bits)).collect::<String>())
    }));
    Ok(lines)
}

/// What the odds say of a choice: that they chose the move, and what speaks most for it beside the
/// best other one, or the share that they give to the search's move. `None` for a book's move and
/// where categories are asked.
pub(crate) fn in_one_line(engine: &mut Engine, choice: &Choice) -> Option<String> {
    let ranking = &choice.ranking;
    let word = &choice.completion.word;
    let place = ranking.iter().position(|s| s.completion.m == choice.completion.m)?;
    if !engine.has_odds() || choice.special.is_some() {
        return None;
    }
    let share = 100.0 * choose::shares(ranking, engine.settings().temperature)[place];
    if choice.found.is_some() {
        return Some(format!("the search chose {word}; the odds give it {share:.1} %"));
    }
    let rows = rows(engine, ranking, &beside_rival(ranking, place)).ok()?;
    let gain = |row: &Row| row.1[0] - row.1.get(1).unwrap_or(&0);
    let strongest = rows.iter().max_by_key(|row| gain(row)).filter(|row| gain(row) > 0);
    let reason = strongest.map_or_else(String::new, |(text, _)| format!("; above all: {text}"));
    Some(format!("the odds chose {word}, {share:.1} %{reason}"))
}

/// The place of a move in a ranking, and that of the best other one, if there is one.
fn beside_rival(ranking: &[Scored], place: usize) -> Vec<usize> {
    let rival = usize::from(place == 0);
    [place, rival].into_iter().filter(|&place| place < ranking.len()).collect()
}

/// The reasons of the moves at these places.
fn rows(engine: &mut Engine, ranking: &[Scored], places: &[usize]) -> Result<Vec<Row>> {
    let game = engine.game.clone();
    let completions = game.completions();
    let number = |&place: &usize| {
        let m = ranking[place].completion.m;
        completions.iter().position(|c| c.m == m).unwrap_or(0)
    };
    let numbers: Vec<usize> = places.iter().map(number).collect();
    let voice = engine.voice(game.turn()).context("no model")?;
    // The moves have the same reasons, except that words of a kind may be missing.
    let mut rows: Vec<Row> = Vec::new();
    for (at, reasons) in voice.reasons(&game, &completions, &numbers)?.into_iter().enumerate() {
        for (text, bits) in reasons {
            let known = rows.iter().position(|(known, bits)| *known == text && bits[at] == 0);
            let row = known.unwrap_or_else(|| {
                rows.push((text, vec![0; places.len()]));
                rows.len() - 1
            });
            rows[row].1[at] = cents(bits);
        }
    }
    Ok(rows)
}

#[expect(clippy::cast_possible_truncation, reason = "some thousand bits at most")]
fn cents(bits: f64) -> i64 {
    (100.0 * bits).round() as i64
}

/// A column of bits.
fn signed(cents: i64) -> String {
    let sign = if cents < 0 { '-' } else { '+' };
    format!("{:>8}", format!("{sign}{}.{:02}", cents.abs() / 100, cents.abs() % 100))
}
