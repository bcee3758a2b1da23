// SPDX-License-Identifier: GPL-3.0-or-later
//! Games between evaluations, and what they are worth against each other.

use std::convert::Infallible;
use std::sync::Arc;

use chess_games::game::{End, Game};
use chess_games::notation::Spelling;
use chess_games::results::Results;
use chess_search::{Evaluate, Limits, Request, Searcher, exchange_value};
use dbacl::parallel;
use dbacl_numeric::random::SplitMix64;
use shakmaty::{ByColor, Chess, Color, Move, Position as _};

/// A game that lasts longer is decided by material.
const LONGEST: usize = 200;
/// A lead of so many pawns decides it.
const LEAD: i32 = 4;
/// Centipawns that decide a game once both sides have seen them for [`AGREED`] half-moves.
const DECIDED: i32 = 900;
const AGREED: i32 = 6;

/// Somebody who looks ahead by an evaluation, always within the same limits.
pub struct Player {
    searcher: Searcher,
    limits: Limits,
}

impl Player {
    /// A player.
    pub fn new(evaluation: Arc<dyn Evaluate>, limits: &Limits) -> Self {
        Self { searcher: Searcher::by(evaluation, 1), limits: limits.clone() }
    }
}

/// How games are played one after the other.
#[derive(Clone, Copy)]
pub struct Pace<'a> {
    /// Games at the same time.
    pub threads: usize,
    /// Called before each move.
    pub rest: &'a (dyn Fn() + Sync),
    /// Called after each game to learn from.
    pub done: &'a (dyn Fn() + Sync),
}

impl Pace<'_> {
    /// On all processors, without a rest.
    pub fn full() -> Self {
        Self { threads: parallel::processors(), rest: &|| {}, done: &|| {} }
    }

    fn all<T: Send>(&self, games: usize, play: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let play = |(): &mut (), number| Ok::<_, Infallible>(play(number));
        let played = parallel::map(games, self.threads, || Ok(()), play);
        played.unwrap_or_else(|error| match error {})
    }
}

/// Plays a game to its end; each position goes to `seen`, with the value for White that was found,
/// centipawns. The winner, if there is one.
fn play(
    start: &Chess,
    players: &mut ByColor<Player>,
    rest: &(dyn Fn() + Sync),
    mut seen: impl FnMut(&Chess, i32),
) -> Option<Color> {
    let mut game = Game::new(start.clone(), Spelling::default());
    let mut agreed = 0;
    players.iter_mut().for_each(|player| player.searcher.clear());
    while game.plies() < LONGEST {
        if let Some(end) = game.end() {
            return End::result(end).winner();
        }
        rest();
        let (turn, player) = (game.turn(), players.get_mut(game.turn()));
        let limits = player.limits.clone();
        let request =
            Request { history: game.earlier_keys(), ..Request::new(game.position(), limits) };
        let best = player.searcher.search(&request, &mut |_| {}).lines.swap_remove(0);
        let value = turn.fold_wb(1, -1) * best.value.centipawns();
        seen(game.position(), value);
        agreed = if value.abs() < DECIDED { 0 } else { agreed + value.signum() };
        if agreed.abs() >= AGREED {
            return Some(Color::from_white(agreed > 0));
        }
        game.play(best.moves[0]);
    }
    let lead = game.lead(Color::White);
    (lead.abs() >= LEAD).then(|| Color::from_white(lead > 0))
}

/// Plays each opening twice, so that either side has both colours. `sides` makes the evaluations of
/// the first and of the second side from the number of the opening. The results are the first
/// side's.
pub fn contest(
    openings: &[Chess],
    limits: &Limits,
    pace: &Pace<'_>,
    sides: &(dyn Fn(usize) -> [Arc<dyn Evaluate>; 2] + Sync),
) -> Results {
    let both = |number: usize| {
        let mut results = Results::default();
        let [own, other] = sides(number).map(|side| Player::new(side, limits));
        let mut players = ByColor { white: own, black: other };
        for color in Color::ALL {
            results.add(play(&openings[number], &mut players, pace.rest, |_, _| {}), color);
            players.swap();
        }
        results
    };
    pace.all(openings.len(), both).into_iter().fold(Results::default(), Results::plus)
}

/// What is kept of a game: quiet positions, and who won.
pub struct Played<T> {
    /// Quiet positions, one of three, and White's value there.
    pub positions: Vec<(Chess, i32)>,
    /// The winner.
    pub winner: Option<Color>,
    /// What the players were.
    pub sides: T,
}

/// Plays many games; `sides` makes White and Black, and a note about them, from random numbers. A
/// few random moves make positions in which somebody is ahead.
pub fn many<T: Send>(
    games: std::ops::Range<usize>,
    seed: u64,
    openings: &[Chess],
    sides: &(dyn Fn(&mut SplitMix64) -> (ByColor<Player>, T) + Sync),
    pace: &Pace<'_>,
) -> Vec<Played<T>> {
    pace.all(games.len(), |number| {
        let mut random = SplitMix64::new(seed + (games.start + number) as u64);
        let (mut players, sides) = sides(&mut random);
        let mut start = openings[random.below(openings.len())].clone();
        let plies = random.below(7);
        wander(&mut start, plies, &mut random);
        let mut positions = Vec::new();
        let winner = play(&start, &mut players, pace.rest, |position, value| {
            if random.below(3) == 0 && is_quiet(position) {
                positions.push((position.clone(), value));
            }
        });
        (pace.done)();
        Played { positions, winner, sides }
    })
}

/// Plays so many moves at random.
pub(crate) fn wander(position: &mut Chess, plies: usize, random: &mut SplitMix64) {
    for _ in 0..plies {
        let moves = position.legal_moves();
        if !moves.is_empty() {
            position.play_unchecked(moves[random.below(moves.len())]);
        }
    }
}

/// Whether nothing can be won at once: no check, no good exchange, no promotion.
pub fn is_quiet(position: &Chess) -> bool {
    let calm =
        |m: Move| m.promotion().is_none() && (!m.is_capture() || exchange_value(position, m) <= 0);
    !position.is_check() && position.legal_moves().into_iter().all(calm)
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::super::learning::{Lesson, Openings, learn};
    use super::*;
    use chess_games::game::read_fen;

    #[test]
    fn a_position_is_quiet_if_nothing_can_be_won_at_once() {
        for (fen, quiet) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", true),
            ("rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2", true),
            ("rnb1kbnr/ppp1pppp/8/3q4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2", false),
            ("4k3/8/8/8/8/8/4q3/4K3 w - - 0 1", false),
            ("8/P3k3/8/8/8/8/8/4K3 w - - 0 1", false),
        ] {
            assert_eq!(is_quiet(&read_fen(fen).expect("a good FEN")), quiet, "{fen}");
        }
    }

    #[test]
    fn learning_repeats_with_its_seed() {
        let mut starts = Vec::new();
        let start = Chess::default();
        for first in start.legal_moves() {
            let after = start.clone().play(first).expect("legal");
            starts.extend(
                after
                    .legal_moves()
                    .into_iter()
                    .take(2)
                    .map(|reply| after.clone().play(reply).expect("legal")),
            );
        }
        let learned = |seed| {
            let mut openings = Openings::deal(starts.clone(), 1).expect("enough");
            openings.choosing.truncate(1);
            openings.fresh.truncate(2);
            let base = Kind::Paper.base();
            let lesson = Lesson {
                kind: Kind::Paper,
                base: &base,
                games: 3,
                seed,
                positions: &[],
                spread: 1.0,
            };
            let mut said = Vec::new();
            let values = learn(&lesson, &openings, &Pace::full(), &mut |line| {
                said.push(line.to_owned());
                Ok::<_, Infallible>(())
            });
            (values.unwrap_or_else(|error| match error {}), said)
        };
        let (values, said) = learned(1);
        assert!(
            said[0].starts_with("3 games, ") && said[1].starts_with("4 fresh games"),
            "{said:?}"
        );
        assert_eq!(learned(1), (values, said.clone()));
        assert_ne!(learned(2).1[0], said[0]);
    }
}
