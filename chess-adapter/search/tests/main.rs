// SPDX-License-Identifier: GPL-3.0-or-later
//! Known best moves, and searches that keep to their limits.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use chess_search::{Advice, Found, Limits, Request, Searcher, after_move, exchange_value, key_of};
use shakmaty::{CastlingMode, Chess, Position as _, fen::Fen, uci::UciMove};

fn position(text: &str) -> Chess {
    let fen: Fen = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
    fen.into_position(CastlingMode::Standard).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn rows(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    text.lines().filter(|l| !l.starts_with('#')).map(|l| l.split('\t').collect())
}

fn searcher() -> Searcher {
    Searcher::new(8)
}

fn words(found: &Found) -> Vec<String> {
    let line = found.lines.first().map(|l| l.moves.clone()).unwrap_or_default();
    line.into_iter().map(|m| UciMove::from_standard(m).to_string()).collect()
}

#[test]
fn answers_are_those_known() {
    let mut checked = 0;
    for row in rows(include_str!("../testdata/positions.tsv")) {
        let [fen, depth, moves, value] = row[..] else { panic!("{row:?}") };
        let position = position(fen);
        let depth = depth.parse().expect("a depth");
        let found = searcher().search(&Request::new(&position, Limits::depth(depth)), &mut |_| {});
        let line = words(&found);
        let first = line.first().map_or("", String::as_str);
        assert!(moves.is_empty() || moves.split(',').any(|m| m == first), "{fen}: {line:?}");
        checked += 1;
        let Some(line) = found.lines.first() else {
            assert!(position.legal_moves().is_empty(), "{fen}");
            continue;
        };
        let value_found = line.value;
        match value.split_at_checked(1) {
            Some(("M", moves)) => {
                assert_eq!(value_found.mate_in(), moves.parse().ok(), "{fen}: {value_found:?}");
            }
            Some(("=", _)) => {
                assert!(value_found.centipawns().abs() < 30, "{fen}: {value_found:?}");
            }
            Some(("+", _)) => assert!(value_found.centipawns() >= 200, "{fen}: {value_found:?}"),
            _ => {}
        }
    }
    assert!(checked >= 20, "only {checked}");
}

#[test]
fn captures_are_resolved() {
    let rows = [
        // A pawn that nobody guards; a guarded one taken by a rook; taken by a knight with a
        // rook behind.
        ("4k3/8/8/3p4/8/8/8/3RK3 w - - 0 1", "d1d5", 100),
        ("4k3/8/4p3/3p4/8/8/8/3RK3 w - - 0 1", "d1d5", -400),
        ("4k3/8/4p3/3p4/8/2N5/8/3RK3 w - - 0 1", "c3d5", -120),
        // Two rooks behind each other count both.
        ("3rk3/3r4/8/3p4/8/8/3R4/3RK3 w - - 0 1", "d2d5", -400),
        ("3r4/4k3/8/3p4/8/8/3R4/3RK3 w - - 0 1", "d2d5", 100),
        // A queen that would be lost does not take back.
        ("3qk3/8/8/6b1/5P1B/8/8/4K3 w - - 0 1", "f4g5", 330),
        // En passant, promotion, a quiet move onto a guarded square.
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "e5d6", 100),
        ("1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7b8q", 1170),
        ("4k3/8/4p3/8/8/8/8/3RK3 w - - 0 1", "d1d5", -500),
    ];
    for (fen, m, expected) in rows {
        let (position, m) = (position(fen), m.parse::<UciMove>().expect("a move"));
        let m = m.to_move(&position).expect("legal");
        assert_eq!(exchange_value(&position, m), expected, "{position:?} {m}");
    }
}

#[test]
fn lines_are_legal_and_values_ordered() {
    for row in rows(include_str!("../testdata/starts.tsv")) {
        let start = position(row[0]);
        let request = Request { lines: 4, margin: 30, ..Request::new(&start, Limits::depth(6)) };
        let found = searcher().search(&request, &mut |_| {});
        assert!(found.lines.len() >= 4 && found.lines.is_sorted_by(|a, b| a.value >= b.value));
        for line in &found.lines {
            let mut position = start.clone();
            for &m in &line.moves {
                assert!(position.is_legal(m), "{} {:?}", row[0], line.moves);
                position.play_unchecked(m);
            }
        }
    }
}

#[test]
fn moves_within_the_margin_have_exact_values() {
    // At one half-move the value of each move can be had by itself.
    let start = position("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3");
    let request = Request { margin: 60, ..Request::new(&start, Limits::depth(3)) };
    let found = searcher().search(&request, &mut |_| {});
    assert!(found.lines.len() > 1);
    for line in &found.lines {
        let only = [line.moves[0]];
        let request = Request { moves: &only, ..Request::new(&start, Limits::depth(3)) };
        let alone = searcher().search(&request, &mut |_| {});
        let difference = alone.lines[0].value.centipawns() - line.value.centipawns();
        assert!(difference.abs() <= 40, "{:?} {:?}", alone.lines, line);
    }
}

#[test]
fn limits_are_kept() {
    let start = position("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1");
    let nodes = Limits { nodes: Some(5_000), ..Limits::default() };
    assert!(searcher().search(&Request::new(&start, nodes), &mut |_| {}).nodes <= 5_000);
    let begun = Instant::now();
    let time = Limits::time(Duration::from_millis(100));
    let found = searcher().search(&Request::new(&start, time), &mut |_| {});
    // Busy machines are slow to give the processor back, but not by seconds.
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert!(found.depth >= 1);
    // A signal ends a search that nothing else would; a search always has an answer.
    let asked = AtomicU32::new(0);
    let stop = || asked.fetch_add(1, Ordering::Relaxed) > 20;
    let request = Request { stop: &stop, ..Request::new(&start, Limits::default()) };
    assert_eq!(searcher().search(&request, &mut |_| {}).lines.len(), 1);
    let request = Request { stop: &|| true, ..Request::new(&start, Limits::default()) };
    assert_eq!(searcher().search(&request, &mut |_| {}).lines.len(), 1);
    // While pondering the clock does not count.
    let asked = AtomicU32::new(0);
    let pondering = || asked.fetch_add(1, Ordering::Relaxed) < 100;
    let time = Limits::time(Duration::from_millis(1));
    let request = Request { pondering: &pondering, ..Request::new(&start, time) };
    assert!(searcher().search(&request, &mut |_| {}).nodes > 40_000);
}

#[test]
fn a_third_occurrence_is_seen_coming() {
    // White is a queen up, but every position that keeps her has been there before.
    let mut game = position("7k/8/8/8/8/8/q7/7K w - - 0 1");
    let mut keys = Vec::new();
    for word in ["h1g1", "a2b2", "g1h1", "b2a2"] {
        keys.push(key_of(&game));
        let m: UciMove = word.parse().expect("a move");
        game.play_unchecked(m.to_move(&game).expect("legal"));
    }
    let only: Vec<_> =
        game.legal_moves().into_iter().filter(|m| m.to().to_string() == "g1").collect();
    let request = Request { history: &keys, moves: &only, ..Request::new(&game, Limits::depth(1)) };
    assert_eq!(searcher().search(&request, &mut |_| {}).lines[0].value.centipawns(), 0);
}

#[test]
fn searching_twice_finds_the_same() {
    let start =
        position("r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10");
    let search = || {
        let found = searcher().search(&Request::new(&start, Limits::depth(7)), &mut |_| {});
        (words(&found), found.nodes, found.lines[0].value)
    };
    assert_eq!(search(), search());
}

#[test]
fn a_bonus_counts() {
    let start = Chess::default();
    let plain = Request::new(&start, Limits::depth(4));
    assert_ne!(words(&searcher().search(&plain, &mut |_| {}))[0], "a2a4");
    let moves: Vec<_> = start.legal_moves().into_iter().collect();
    let likes_a4: Vec<i32> =
        moves.iter().map(|m| if m.to() == shakmaty::Square::A4 { 150 } else { 0 }).collect();
    let liked =
        Request { moves: &moves, bonus: &likes_a4, ..Request::new(&start, Limits::depth(4)) };
    assert_eq!(words(&searcher().search(&liked, &mut |_| {}))[0], "a2a4");
}

#[test]
fn advice_counts_at_each_depth() {
    let start = Chess::default();
    let [a4, e4, reply] = ["a2a4", "e2e4", "h7h6"];
    let legal = |position: &Chess, word: &str| {
        word.parse::<UciMove>().expect("a move").to_move(position).expect("legal")
    };
    let after = after_move(&start, legal(&start, e4));
    let value = |advice: &Advice| {
        let moves = [legal(&start, e4), legal(&start, a4)];
        let request = Request {
            moves: &moves,
            advice: Some(advice),
            ..Request::new(&start, Limits::depth(2))
        };
        let found = Searcher::new(1).search(&request, &mut |_| {});
        (found.lines[0].moves[0], found.lines[0].value.centipawns())
    };
    let (e4_first, plain) = value(&Advice::new());
    assert_eq!(e4_first, legal(&start, e4));
    let for_a4 = [(key_of(&start), vec![(legal(&start, a4).into(), 150)])];
    assert_eq!(value(&for_a4.into()).0, legal(&start, a4));
    // A reply that gains more by the advice makes the move worse.
    let both = [
        (key_of(&start), vec![(legal(&start, e4).into(), 500)]),
        (key_of(&after), vec![(legal(&after, reply).into(), 300)]),
    ];
    let (first, worse) = value(&both.into());
    assert!(first == legal(&start, e4) && worse < plain - 100, "{worse} {plain}");
}

#[test]
fn contempt_says_what_draws_and_pieces_are_worth() {
    let values = |fen| {
        let position = position(fen);
        [-48, 0, 48].map(|contempt| {
            let request = Request { contempt, ..Request::new(&position, Limits::depth(1)) };
            searcher().search(&request, &mut |_| {}).lines[0].value.centipawns()
        })
    };
    assert_eq!(values("4k3/8/8/8/8/8/8/4K3 w - - 0 1"), [48, 0, -48]);
    let rooks = values("1r3rk1/5ppp/8/8/8/8/5PPP/1R3RK1 w - - 0 1");
    assert!(rooks.is_sorted_by(|a, b| a + 5 < *b), "{rooks:?}");
}
