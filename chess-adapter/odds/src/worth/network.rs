// SPDX-License-Identifier: GPL-3.0-or-later
//! The Bayesian network of the paper, as texts for a text classifier: for each stage of a game and
//! each result a category, whose documents are games, whose words are the values of a player's
//! parameters, as `pawn=80.0`.

use std::fmt::Write as _;

use dbacl_numeric::elementary::{exp2, narrow};
use shakmaty::{ByColor, Chess, Color};

use super::games::{Pace, Player, many};
use super::kind::Kind;
use super::paper::{FACTORS, Heuristic, Levels, PARAMETERS, STAGES, name};
use std::sync::Arc;

/// The results, for the perturbed player.
pub const RESULTS: [&str; 3] = ["won", "drawn", "lost"];

/// Scores words in the categories of a stage, in the order of [`RESULTS`]: bits, fewer are
/// likelier.
pub type Classify<'a, Error> = &'a mut dyn FnMut(usize, &[String]) -> Result<Vec<Vec<f64>>, Error>;

/// A game of a perturbed player against the base: what was changed, and the place of the result in
/// [`RESULTS`].
pub struct Record {
    levels: Levels,
    result: usize,
}

/// Plays games of the base against itself perturbed, colours in turn.
pub fn play(
    games: std::ops::Range<usize>,
    seed: u64,
    openings: &[Chess],
    base: &Heuristic,
    pace: &Pace<'_>,
) -> Vec<Record> {
    let sides = |random: &mut dbacl_numeric::random::SplitMix64| {
        let levels = Heuristic::drawn(random);
        let own = Player::new(Arc::new(base.with(&levels)), &Kind::Paper.limits());
        let other = Player::new(Arc::new(base.clone()), &Kind::Paper.limits());
        let color = Color::from_white(random.below(2) == 0);
        let mut players = ByColor { white: own, black: other };
        if color.is_black() {
            players.swap();
        }
        (players, (levels, color))
    };
    let record = |played: super::games::Played<(Levels, Color)>| {
        let (levels, color) = played.sides;
        let result = played.winner.map_or(1, |winner| if winner == color { 0 } else { 2 });
        Record { levels, result }
    };
    many(games, seed, openings, &sides, pace).into_iter().map(record).collect()
}

/// How many of the games have each of the [`RESULTS`].
pub fn count(records: &[Record]) -> [usize; 3] {
    std::array::from_fn(|result| records.iter().filter(|r| r.result == result).count())
}

/// The name of a category.
pub fn category(stage: usize, result: usize) -> String {
    format!("{}-{}", STAGES[stage], RESULTS[result])
}

fn word(base: &Heuristic, stage: usize, parameter: usize, level: u8) -> String {
    format!("{}={:.1}", name(parameter), base.at(stage, parameter, level.into()))
}

/// The documents of a category, one a line.
pub fn text(records: &[Record], base: &Heuristic, stage: usize, result: usize) -> String {
    let mut text = String::new();
    for record in records.iter().filter(|record| record.result == result) {
        for (parameter, &level) in record.levels[stage].iter().enumerate() {
            let _ = write!(text, "{} ", word(base, stage, parameter, level));
        }
        text.push('\n');
    }
    text
}

/// How likely each value of a parameter is in games of each result, as the classifier says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shares(pub [[f32; 3]; 5]);

/// Asks about all values of these parameters at a stage.
///
/// # Errors
///
/// The classifier fails.
pub fn ask<Error>(
    base: &Heuristic,
    stage: usize,
    parameters: &[usize],
    classify: Classify<'_, Error>,
) -> Result<Vec<Shares>, Error> {
    let words: Vec<String> = parameters
        .iter()
        .flat_map(|&parameter| (0..5).map(move |level| word(base, stage, parameter, level)))
        .collect();
    let answers = classify(stage, &words)?;
    let shares = answers.chunks(FACTORS.len()).map(|scores| {
        let mut shares = Shares::default();
        for result in 0..3 {
            let least = scores.iter().map(|of| of[result]).fold(f64::INFINITY, f64::min);
            let odds = scores.iter().map(|of| exp2(least - of[result]));
            let all: f64 = odds.clone().sum();
            for (level, odds) in odds.enumerate() {
                shares.0[level][result] = narrow(odds / all);
            }
        }
        shares
    });
    Ok(shares.collect())
}

/// The most probable values, given that a game is won, or won or drawn. The counts are those of
/// games of each result.
///
/// # Errors
///
/// The classifier fails.
pub fn configure<Error>(
    base: &Heuristic,
    counts: [usize; 3],
    with_draws: bool,
    classify: Classify<'_, Error>,
) -> Result<Heuristic, Error> {
    let all: Vec<usize> = (0..PARAMETERS).collect();
    let mut levels = Levels::default();
    let [won, drawn, _] = counts.map(|count| narrow(dbacl_numeric::elementary::real(count)));
    let drawn = if with_draws { drawn } else { 0.0 };
    for (stage, levels) in levels.iter_mut().enumerate() {
        for Shares(shares) in ask(base, stage, &all, classify)? {
            let odds = shares.map(|of| won * of[0] + drawn * of[1]);
            let best =
                (0..5u8).max_by(|&a, &b| odds[usize::from(a)].total_cmp(&odds[usize::from(b)]));
            levels.push(best.unwrap_or(2));
        }
    }
    Ok(base.with(&levels))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::convert::Infallible;

    #[test]
    fn the_likeliest_values_are_chosen() {
        let base = Heuristic::default();
        let record = |level, result| Record {
            levels: std::array::from_fn(|_| vec![level; PARAMETERS]),
            result,
        };
        let records = [record(4, 0), record(1, 1), record(1, 1), record(0, 2)];
        assert_eq!(count(&records), [1, 2, 1]);
        let texts: Vec<String> = (0..3).map(|result| text(&records, &base, 1, result)).collect();
        assert!(texts[0].starts_with("pawn=140.0 knight=420.0"), "{}", &texts[0][..30]);
        assert_eq!(texts[1].lines().count(), 2);
        let known: Vec<HashSet<&str>> =
            texts.iter().map(|text| text.split_whitespace().collect()).collect();
        // What a classifier would say that only counts words.
        let mut classify = |_, words: &[String]| {
            let score = |known: &HashSet<&str>, word: &String| {
                if known.contains(word.as_str()) { 1.0 } else { 9.0 }
            };
            let scores = words.iter().map(|word| known.iter().map(|k| score(k, word)).collect());
            Ok::<_, Infallible>(scores.collect())
        };
        let mut chosen = |with_draws| {
            let chosen = configure(&base, count(&records), with_draws, &mut classify);
            chosen.unwrap_or_else(|error| match error {}).stages[1][0]
        };
        assert!((chosen(false) - 140.0).abs() < 1e-3);
        assert!((chosen(true) - 80.0).abs() < 1e-3);
    }
}
