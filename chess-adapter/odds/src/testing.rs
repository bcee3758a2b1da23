// SPDX-License-Identifier: GPL-3.0-or-later
//! What the tests share.

use shakmaty::{Chess, Move, Position as _};

use crate::choices::Groups;

use crate::Games;
use crate::games::Turn;
use crate::odds::describe;
use crate::words::Words;
use dbacl_numeric::random::SplitMix64;

use chess_games::game::Game;
pub(crate) use chess_games::game::read_fen;

/// The moves and the words of each.
pub(crate) fn described(turn: Turn<'_>) -> Vec<(Move, Vec<String>)> {
    let mut groups = Groups::default();
    let mut words = Words::default();
    words.spelt = Some(Vec::new());
    describe(turn, 0, &mut words, &mut groups);
    let (moves, spelt) = (turn.moves, words.spelt.expect("wanted"));
    let words = groups.get(0).ranges().map(|range| spelt[range].to_vec());
    moves.iter().copied().zip(words).collect()
}

/// The words of a move after some others.
pub(crate) fn words(moves: &str, m: &str) -> Vec<String> {
    let mut game = Game::default();
    game.play_words(moves).expect("legal");
    let m = game.read_move(m).expect("legal");
    let moves = game.position().legal_moves();
    let turn = Turn { positions: game.positions(), past: game.moves(), moves: &moves };
    let all = described(turn);
    all.into_iter().find(|(own, _)| *own == m).expect("legal").1
}

/// Games of up to `plies` half-moves, drawn at random; captures are liked.
pub(crate) fn games(number: usize, plies: usize) -> Games {
    games_from(&[], number, plies)
}

/// The positions of games that are drawn so, of which the first begin in these positions.
pub(crate) fn positions_from(starts: &[&str], number: usize, plies: usize) -> Vec<Chess> {
    let (games, mut all) = (games_from(starts, number, plies), Vec::new());
    for last in (0..number).filter_map(|game| games.of_game(game).last()) {
        all.extend(games.replay(last).positions);
    }
    all
}

fn games_from(starts: &[&str], number: usize, plies: usize) -> Games {
    let mut random = SplitMix64::new(23);
    let mut games = Games::default();
    for game in 0..number {
        let start = starts.get(game).map(|fen| read_fen(fen).expect("good FEN"));
        let start = start.unwrap_or_default();
        let (mut position, mut moves) = (start.clone(), Vec::new());
        while moves.len() < plies {
            let legal = position.legal_moves();
            let captures = position.capture_moves();
            let list = if captures.is_empty() || random.below(2) == 0 { &legal } else { &captures };
            let Some(&m) = list.get(random.below(list.len().max(1))) else { break };
            moves.push(m);
            position.play_unchecked(m);
        }
        games.push(start, &moves);
    }
    games
}
