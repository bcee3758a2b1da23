// SPDX-License-Identifier: GPL-3.0-or-later
//! What the tests share.

use shakmaty::{Chess, Move, Position as _};

use crate::choices::Groups;

use crate::Games;
use crate::games::Turn;
use crate::odds::Describer;
use dbacl_numeric::random::SplitMix64;

use chess_games::game::Game;
pub(crate) use chess_games::game::read_fen;

/// The legal moves of the last position and the words of each.
pub(crate) fn described(positions: &[Chess], past: &[Move]) -> Vec<(Move, Vec<String>)> {
    let moves: Vec<Move> = positions.last().expect("one").legal_moves().into_iter().collect();
    let (mut describer, mut groups) = (Describer::default(), Groups::default());
    describer.words.spelt = Some(Vec::new());
    describer.describe(Turn { positions, past, moves: &moves }, 0, &mut groups);
    let spelt = describer.words.spelt.expect("wanted");
    let words = groups.get(0).ranges().map(|range| spelt[range].to_vec());
    moves.iter().copied().zip(words).collect()
}

/// The words of a move after some others.
pub(crate) fn words(moves: &str, m: &str) -> Vec<String> {
    let mut game = Game::default();
    game.play_words(moves).expect("legal");
    let m = game.read_move(m).expect("legal");
    let all = described(game.positions(), game.moves());
    all.into_iter().find(|(own, _)| *own == m).expect("legal").1
}

/// Plays games at random, up to so many half-moves each, the first ones from these positions, and
/// shows each position that occurs.
pub(crate) fn play_at_random(
    seed: u64,
    starts: &[&str],
    (games, plies): (usize, usize),
    mut each: impl FnMut(&Chess),
) {
    let mut random = SplitMix64::new(seed);
    for game in 0..games {
        let start = starts.get(game).map(|fen| read_fen(fen).expect("good FEN"));
        let mut position = start.unwrap_or_default();
        for _ in 0..plies {
            each(&position);
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            position.play_unchecked(moves[random.below(moves.len())]);
        }
    }
}

/// Games of up to `plies` half-moves, drawn at random; captures are liked.
pub(crate) fn games(number: usize, plies: usize) -> Games {
    let mut random = SplitMix64::new(23);
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
