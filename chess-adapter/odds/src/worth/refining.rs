// SPDX-License-Identifier: GPL-3.0-or-later
//! Refines values after games that the engine has played: it learns from their positions, and from
//! games against itself that begin as they did.

use std::convert::Infallible;

use chess_search::{Evaluate, key_of};
use dbacl_numeric::random::SplitMix64;
use shakmaty::{Chess, Position as _};

use super::games::{Pace, is_quiet, wander};
use super::learning::{FRESH, Given, Lesson, Openings, learn};
use super::{Kind, Values};

/// Games against itself.
const GAMES: usize = 2_000;
/// The share of the usual spread: the base has been learned from many more positions.
const SPREAD: f32 = 0.1;
/// Random half-moves after the beginnings of games, for openings that nothing was learned from.
const AWAY: usize = 4;
/// Centipawns that a side may be ahead there.
const EVEN: i32 = 60;
/// Such positions are looked for so often.
const TRIES: usize = 200;

/// How many games are played.
pub struct Effort {
    /// To learn from.
    pub games: usize,
    /// To decide whether the new values are better.
    pub fresh: usize,
}

impl Default for Effort {
    fn default() -> Self {
        Self { games: GAMES, fresh: FRESH }
    }
}

/// What came of it.
pub struct Refined {
    /// How the match against the base ended.
    pub result: String,
    /// The new values, if they are better.
    pub values: Option<Values>,
}

/// Learns values, beginning with `base`; the same games give the same values.
pub fn refine(
    given: &Given,
    kind: Kind,
    base: &[[f32; 2]],
    effort: &Effort,
    pace: &Pace<'_>,
) -> Refined {
    let seed = given.starts.len() as u64;
    let fresh = around(&given.starts, effort.fresh / 2, &*kind.evaluation(base), seed);
    let openings = Openings { learning: given.starts.clone(), choosing: Vec::new(), fresh };
    let positions = &given.positions;
    let lesson = Lesson { kind, base, games: effort.games, seed, positions, spread: SPREAD };
    let mut result = String::new();
    let mut say = |line: &str| {
        line.clone_into(&mut result);
        Ok::<_, Infallible>(())
    };
    let values = learn(&lesson, &openings, pace, &mut say).unwrap_or_else(|error| match error {});
    Refined { result, values }
}

/// So many different positions that are quiet and even, a few moves away from these.
fn around(starts: &[Chess], count: usize, by: &dyn Evaluate, seed: u64) -> Vec<Chess> {
    let mut random = SplitMix64::new(!seed);
    let mut found: Vec<Chess> = Vec::new();
    for _ in 0..TRIES * count {
        if starts.is_empty() || found.len() == count {
            break;
        }
        let mut position = starts[random.below(starts.len())].clone();
        wander(&mut position, AWAY, &mut random);
        let is_known = || found.iter().any(|other| key_of(other) == key_of(&position));
        let is_even = !position.is_game_over() && by.evaluate(&position).abs() <= EVEN;
        if is_even && is_quiet(&position) && !is_known() {
            found.push(position);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_better_values_come_of_games_and_they_repeat() {
        let after = |words: &str| {
            let mut game = chess_games::game::Game::default();
            game.play_words(words).expect("legal");
            game.position().clone()
        };
        let starts = ["e4 e5 Nf3 Nc6", "d4 d5 c4 e6", "c4 c5 g3 g6"].map(after).to_vec();
        let given = Given { starts, positions: Vec::new() };
        let away = around(&given.starts, 20, &*Kind::Paper.evaluation(&Kind::Paper.base()), 3);
        assert_eq!(away.len(), 20);
        assert!(away.iter().all(|position| is_quiet(position) && position.fullmoves().get() >= 4));

        // A base that does not know what queens are worth learns it from games that they decided.
        let mut bad = Kind::Paper.base();
        bad[4] = [0.0; 2];
        let ahead =
            ["rnbqkbnr/8/8/8/8/8/8/RNB1KBNR w - - 0 9", "rnb1kbnr/8/8/8/8/8/8/RNBQKBNR w - - 0 9"];
        let won = ahead.map(|fen| chess_games::game::read_fen(fen).expect("a good FEN"));
        let won = won.into_iter().zip([0.0, 1.0]).cycle().take(20_000).collect();
        for (base, positions, is_better) in
            [(bad, won, true), (Kind::Paper.base(), Vec::new(), false)]
        {
            let given = Given { positions, starts: given.starts.clone() };
            let effort = Effort { games: 4, fresh: 48 };
            let refined = || refine(&given, Kind::Paper, &base, &effort, &Pace::full());
            let (first, second) = (refined(), refined());
            assert_eq!((&first.result, &first.values), (&second.result, &second.values));
            assert_eq!(first.values.is_some(), is_better, "{}", first.result);
        }
    }
}
