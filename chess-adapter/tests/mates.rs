// SPDX-License-Identifier: GPL-3.0-or-later
//! Mates that the engine announces, in the way an interface sees them: with a learned model and
//! default settings. Searches are limited by positions, so that they are the same everywhere.

use chess_games::game::read_fen;
use chess_games::notation::read_move;
use chess_search::after_move;
use dbacl_testing::Scratch;
use shakmaty::{Chess, Position as _};

use crate::support::{Adapter, learned, read, testdata};

/// Whether the side to move mates in so many moves, whatever the other side does.
fn can_mate(position: &Chess, moves: i32) -> bool {
    let mates = |m| is_mated_in(&after_move(position, m), moves - 1);
    position.legal_moves().into_iter().any(mates)
}

/// Whether the side to move is mated in so many moves, whatever it does.
fn is_mated_in(position: &Chess, moves: i32) -> bool {
    if position.is_checkmate() || moves == 0 {
        return position.is_checkmate();
    }
    let replies = position.legal_moves();
    let is_lost = |m| can_mate(&after_move(position, m), moves);
    !replies.is_empty() && replies.into_iter().all(is_lost)
}

/// The move of an `info` line, if the line announces a mate, and in how many moves.
///
/// # Panics
///
/// The line does not lead to the mate.
fn announced(start: &Chess, line: &str) -> Option<(String, i32)> {
    let (_, rest) = line.split_once(" score mate ")?;
    let moves: i32 = rest.split(' ').next()?.parse().expect("a number");
    let (_, words) = rest.split_once(" pv ").expect("a line of moves");
    let mut position = start.clone();
    for word in words.split(' ') {
        let m = read_move(&position, word.as_bytes()).unwrap_or_else(|_| panic!("{word}: {line}"));
        position.play_unchecked(m);
    }
    let half_moves = if moves > 0 { 2 * moves - 1 } else { -2 * moves };
    let length = i32::try_from(words.split(' ').count()).expect("short");
    assert!(position.is_checkmate() && length == half_moves, "no mate: {line}");
    Some((words.split(' ').next()?.to_owned(), moves))
}

#[test]
fn announced_mates_are_mates() {
    let place = Scratch::new();
    learned(&place, 60, "--positions 1000 --search-words 0");
    let mut adapter = Adapter::start(&place, "models --play strong");
    let mut mates = 0;
    adapter.send("uci\n");
    for row in read(&testdata("tactics.tsv")).lines().filter(|row| !row.starts_with('#')) {
        let fen = format!("{} 0 1", row.split('\t').next().unwrap_or_default());
        let start = read_fen(&fen).unwrap_or_else(|e| panic!("{fen}: {e:#}"));
        adapter.send(&format!("ucinewgame\nposition fen {fen}\ngo nodes 20000\n"));
        let mut last = None;
        let played = loop {
            let line = adapter.line().expect("an answer");
            if let Some(played) = line.strip_prefix("bestmove ") {
                break played.to_owned();
            }
            if line.contains(" pv ") {
                last = announced(&start, &line);
            }
        };
        let Some((first, moves)) = last else { continue };
        mates += 1;
        assert_eq!(played.split(' ').next(), Some(first.as_str()), "{fen}");
        if (1..=2).contains(&moves) {
            let after = after_move(&start, read_move(&start, first.as_bytes()).expect("legal"));
            assert!(is_mated_in(&after, moves - 1), "{fen}: {first} does not mate in {moves}");
        }
    }
    adapter.finish();
    assert!(mates >= 25, "only {mates} announced");
}
