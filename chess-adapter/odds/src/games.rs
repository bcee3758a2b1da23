// SPDX-License-Identifier: GPL-3.0-or-later
//! The games to learn from, and the positions that are drawn from them.

use chess_search::after_move;
use shakmaty::{Chess, Move, MoveList, Position as _};

use dbacl_numeric::random::SplitMix64;

/// Of so many games one is kept back, for the second stage and to say how good the model is.
const KEPT_BACK: usize = 50;

/// Positions of games kept back that are used: one for so many learned, within bounds.
const LEARNED_FOR_KEPT_BACK: usize = 20;
const KEPT_BACK_POSITIONS: std::ops::RangeInclusive<usize> = 4_000..=16_000;

/// The games to learn from.
#[derive(Default)]
pub struct Games(Vec<(Chess, Box<[Move]>)>);

/// A position of a game: the game's number, and half-moves played before.
pub(crate) type Place = (u32, u32);

/// Legal moves of the last position of a game.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// The positions of the game, from the first to the one now.
    pub positions: &'a [Chess],
    /// The moves between them.
    pub past: &'a [Move],
    /// The moves.
    pub moves: &'a [Move],
}

/// A place of a game that was played again up to there.
pub(crate) struct Replayed<'a> {
    pub positions: Vec<Chess>,
    pub past: &'a [Move],
    /// The legal moves.
    pub moves: MoveList,
    /// The number of the one that was played.
    pub played: usize,
}

impl Replayed<'_> {
    pub(crate) fn turn(&self) -> Turn<'_> {
        Turn { positions: &self.positions, past: self.past, moves: &self.moves }
    }
}

impl Games {
    /// Adds a game: where it began, and its legal moves.
    pub fn push(&mut self, start: Chess, moves: &[Move]) {
        self.0.push((start, moves.into()));
    }

    /// Number of games.
    pub const fn count(&self) -> usize {
        self.0.len()
    }

    /// The places of a game, in their order.
    pub(crate) fn of_game(&self, number: usize) -> impl Iterator<Item = Place> + use<> {
        let game = u32::try_from(number).unwrap_or(u32::MAX);
        let plies = self.0.get(number).map_or(0, |(_, moves)| moves.len());
        (0..u32::try_from(plies).unwrap_or(0)).map(move |ply| (game, ply))
    }

    /// Number of all positions in which a move was played.
    pub fn positions(&self) -> usize {
        self.0.iter().map(|(_, moves)| moves.len()).sum()
    }

    /// All positions but those of games kept back, at most `most` unless that is 0, and those of
    /// games kept back, both shuffled.
    pub(crate) fn places(&self, most: usize, seed: u64) -> [Vec<Place>; 2] {
        let mut both = [Vec::new(), Vec::new()];
        for number in 0..self.count() {
            both[usize::from(number % KEPT_BACK == 7)].extend(self.of_game(number));
        }
        let mut random = SplitMix64::new(seed);
        for list in &mut both {
            random.shuffle(list);
        }
        if most > 0 {
            both[0].truncate(most);
        }
        let judged = both[0].len() / LEARNED_FOR_KEPT_BACK;
        let bounds = KEPT_BACK_POSITIONS;
        both[1].truncate(judged.clamp(*bounds.start(), *bounds.end()));
        both
    }

    /// The positions up to a place, the last one being that of the place, and the moves there.
    pub(crate) fn replay(&self, (game, ply): Place) -> Replayed<'_> {
        let (start, moves) = &self.0[game as usize];
        let past = &moves[..ply as usize];
        let mut positions = vec![start.clone()];
        for (number, &m) in past.iter().enumerate() {
            positions.push(after_move(&positions[number], m));
        }
        let moves_here = positions[past.len()].legal_moves();
        let played = moves_here.iter().position(|&m| m == moves[ply as usize]);
        let played = played.expect("the moves of games are legal");
        Replayed { positions, past, moves: moves_here, played }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::games;

    #[test]
    fn games_kept_back_are_not_learned() {
        let games = games(60, 80);
        let [learned, back] = games.places(0, 3);
        assert!(back.iter().all(|&(game, _)| game as usize % KEPT_BACK == 7) && !back.is_empty());
        assert!(learned.iter().all(|&(game, _)| game as usize % KEPT_BACK != 7));
        assert_eq!(learned.len() + back.len(), games.positions());
    }
}
