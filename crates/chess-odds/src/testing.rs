// SPDX-License-Identifier: GPL-3.0-or-later
//! What the tests share.

use shakmaty::{Chess, Move, Position as _};

use crate::Games;
use crate::random::Random;

pub use chess_games::game::read_fen;

/// The legal move that a word means.
pub fn read_move(position: &Chess, word: &str) -> Result<Move, String> {
    chess_games::notation::read_move(position, word.as_bytes())
        .map_err(|e| format!("{word}: {e:?}"))
}

/// Games of up to `plies` half-moves, drawn at random; captures are liked.
pub fn games(number: usize, plies: usize) -> Games {
    let mut random = Random::from_seed(23);
    let mut games = Games::default();
    for _ in 0..number {
        let (mut position, mut moves) = (Chess::default(), Vec::new());
        while moves.len() < plies {
            let legal = position.legal_moves();
            let captures = position.capture_moves();
            let list = if captures.is_empty() || random.below(2) == 0 { &legal } else { &captures };
            let Some(&m) = list.get(random.below(list.len().max(1))) else { break };
            moves.push(m);
            position.play_unchecked(m);
        }
        games.push(Chess::default(), &moves);
    }
    games
}
