// SPDX-License-Identifier: GPL-3.0-or-later
//! Measures the positions searched in a second: searches some positions, each for as many
//! milliseconds as the first argument says (1,000).

use std::time::Duration;

use chess_search::{Classical, Limits, Request, Searcher};
use shakmaty::{CastlingMode, Chess, fen::Fen};

const POSITIONS: [&str; 5] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    "2r2rk1/1bqnbpp1/1p1ppn1p/pP6/N1P1P3/P2B1N1P/1B2QPP1/R2R2K1 b - - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
];

fn main() {
    let time = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(1000);
    let (mut nodes, mut micros) = (0, 0);
    for text in POSITIONS {
        let fen: Fen = text.parse().expect("a good FEN");
        let position: Chess = fen.into_position(CastlingMode::Standard).expect("legal");
        let mut searcher = Searcher::new(16, Box::new(Classical::default()));
        let limits = Limits::time(Duration::from_millis(time));
        let found = searcher.search(&Request::new(&position, limits), &mut |_| {});
        nodes += found.nodes;
        micros += found.time.as_micros();
        let line: Vec<String> = found.lines[0].moves.iter().map(ToString::to_string).collect();
        println!(
            "depth {:2}/{:2} {:9} nodes {:8} a second {:6} {}",
            found.depth,
            found.selective_depth,
            found.nodes,
            found.nodes_per_second(),
            found.lines[0].value.centipawns(),
            line.join(" ")
        );
    }
    println!("{} nodes a second", u128::from(nodes) * 1_000_000 / micros.max(1));
}
