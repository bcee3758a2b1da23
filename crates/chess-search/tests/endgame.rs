// SPDX-License-Identifier: GPL-3.0-or-later
//! Endgame tables against Syzygy's, published maxima, and their own rules.

use std::path::Path;

use chess_search::endgame::{EndgameTables, FileError, Material, Table, build};
use chess_search::{Classical, Endgames as _, Ending, Limits, Request, Searcher};
use shakmaty::{Board, CastlingMode, Chess, Color, FromSetup as _, Position as _, Setup, Square};
use shakmaty_syzygy::{Tablebase, Wdl};

/// The tables of these materials and of all that they lead to.
fn tables(names: &[&str]) -> EndgameTables {
    let mut tables = EndgameTables::default();
    for name in names {
        for material in Material::parse(name).expect(name).with_descendants() {
            if !tables.contains(&material) {
                let table = build(&material, &tables, &mut |_| {});
                tables.insert(table);
            }
        }
    }
    tables
}

/// Calls `visit` with every legal position of two kings and one more man, but for those that are
/// the same with the board mirrored so that White's king stands on the left, and without pawns
/// below.
fn three_men(name: &str, mut visit: impl FnMut(&Chess)) -> usize {
    let men = Material::parse(name).expect(name).men();
    let mut count = 0;
    for a in Square::ALL {
        for b in Square::ALL {
            for c in Square::ALL {
                let mirrored = a.file() > shakmaty::File::D
                    || (!name.contains('P') && a.rank() > shakmaty::Rank::Fourth);
                if a == b || a == c || b == c || mirrored {
                    continue;
                }
                let mut board = Board::empty();
                for (&(color, role), square) in men.iter().zip([a, b, c]) {
                    board.set_piece_at(square, role.of(color));
                }
                for turn in Color::ALL {
                    let mut setup = Setup::empty();
                    (setup.board, setup.turn) = (board.clone(), turn);
                    if let Ok(position) = Chess::from_setup(setup, CastlingMode::Standard) {
                        visit(&position);
                        count += 1;
                    }
                }
            }
        }
    }
    count
}

#[test]
fn values_are_those_of_syzygy() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../chess-adapter/testdata/syzygy");
    let mut syzygy = Tablebase::new();
    syzygy.add_directory(folder).expect("the tables that the tests carry");
    let tables = tables(&["KPK", "KQK", "KRK"]);
    let mut checked = 0;
    for name in ["KPK", "KQK", "KRK"] {
        checked += three_men(name, |position| {
            let expected = if position.is_insufficient_material() || position.is_stalemate() {
                Wdl::Draw
            } else if position.is_checkmate() {
                Wdl::Loss
            } else {
                syzygy.probe_wdl_after_zeroing(position).expect("a table is there")
            };
            let found = match tables.probe(position).expect("a table is there") {
                Ending::Mates(_) | Ending::Won => Wdl::Win,
                Ending::IsMated(_) | Ending::Lost => Wdl::Loss,
                Ending::Draw => Wdl::Draw,
            };
            assert_eq!(found, expected, "{position:?}");
        });
    }
    assert!(checked > 300_000, "only {checked}");
}

#[test]
fn a_value_is_one_half_move_from_the_best_reply() {
    let tables = tables(&["KPK"]);
    let mut number = 0usize;
    three_men("KPK", |position| {
        number += 1;
        if !number.is_multiple_of(7) {
            return;
        }
        let replies: Vec<Ending> = position
            .legal_moves()
            .into_iter()
            .map(|m| {
                let mut after = position.clone();
                after.play_unchecked(m);
                tables.probe(&after).unwrap_or(Ending::Draw)
            })
            .collect();
        let wins = replies.iter().filter_map(|r| match r {
            Ending::IsMated(n) => Some(n + 1),
            _ => None,
        });
        let losses = replies.iter().map(|r| match r {
            Ending::Mates(n) => Some(n + 1),
            _ => None,
        });
        let expected = match (wins.min(), losses.collect::<Option<Vec<u8>>>()) {
            (Some(n), _) => Ending::Mates(n),
            (None, Some(all)) if !all.is_empty() => {
                Ending::IsMated(all.into_iter().max().unwrap_or(0))
            }
            _ if position.is_checkmate() => Ending::IsMated(0),
            _ => Ending::Draw,
        };
        assert_eq!(tables.probe(position), Some(expected), "{position:?}");
    });
}

fn longest(name: &str) -> u8 {
    let material = Material::parse(name).expect(name);
    let mut children = EndgameTables::default();
    for child in material.with_descendants() {
        if child != material {
            let table = build(&child, &children, &mut |_| {});
            children.insert(table);
        }
    }
    let [white, black] = build(&material, &children, &mut |_| {}).longest();
    white.max(black).unwrap_or(0)
}

#[test]
fn longest_mates_are_those_published() {
    for (name, moves) in [("KQK", 10), ("KRK", 16), ("KPK", 28)] {
        assert_eq!(longest(name).div_ceil(2), moves, "{name}");
    }
}

/// A value that follows from those after all moves.
fn from_replies(tables: &EndgameTables, position: &Chess) -> Ending {
    let (mut wins, mut losses) = (None, Some(0));
    for m in position.legal_moves() {
        let mut after = position.clone();
        after.play_unchecked(m);
        match tables.probe(&after).expect("a table is there") {
            Ending::IsMated(n) => wins = Some(wins.unwrap_or(u8::MAX).min(n + 1)),
            Ending::Mates(n) => losses = losses.map(|most: u8| most.max(n + 1)),
            _ => losses = None,
        }
    }
    match (wins, losses) {
        (Some(n), _) => Ending::Mates(n),
        (None, _) if position.is_checkmate() => Ending::IsMated(0),
        (None, Some(n)) if n > 0 => Ending::IsMated(n),
        _ => Ending::Draw,
    }
}

#[test]
#[ignore = "takes a minute; run it with --release"]
fn captures_in_passing_count_in_tables_with_pawns_of_both_sides() {
    let tables = tables(&["KPKP"]);
    let men = Material::parse("KPKP").expect("a name").men();
    let (mut checked, mut in_passing, mut seed) = (0, 0, 7u64);
    while in_passing < 2_000 {
        // xorshift; pawns of files beside each other, so that some pass each other.
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let square = |at: u32| Square::new(u32::try_from(seed >> (6 * at) & 63).expect("six bits"));
        let mut board = Board::empty();
        for (&(color, role), at) in men.iter().zip(0..) {
            board.set_piece_at(square(at), role.of(color));
        }
        let mut setup = Setup::empty();
        (setup.board, setup.turn) = (board, Color::from_white(seed >> 63 == 0));
        let Ok(position) = Chess::from_setup(setup, CastlingMode::Standard) else { continue };
        if position.board().occupied().count() != men.len() {
            continue;
        }
        assert_eq!(tables.probe(&position), Some(from_replies(&tables, &position)), "{position:?}");
        checked += 1;
        for m in position.legal_moves() {
            let mut after = position.clone();
            after.play_unchecked(m);
            if after.legal_ep_square().is_some() {
                assert_eq!(tables.probe(&after), Some(from_replies(&tables, &after)), "{after:?}");
                in_passing += 1;
            }
        }
    }
    assert!(checked > 10_000);
}

#[test]
#[ignore = "takes a minute; run it with --release"]
fn longest_mates_of_four_men_are_those_published() {
    for (name, moves) in
        [("KBBK", 19), ("KBNK", 33), ("KQKR", 35), ("KRKB", 29), ("KRKN", 40), ("KPKP", 33)]
    {
        assert_eq!(longest(name).div_ceil(2), moves, "{name}");
    }
}

#[test]
fn files_read_back_and_damage_is_seen() {
    let table =
        build(&Material::parse("KRK").expect("KRK"), &EndgameTables::default(), &mut |_| {});
    let bytes = table.to_bytes();
    assert_eq!(Table::from_bytes(&bytes), Ok(table));
    assert_eq!(Table::from_bytes(b"something else"), Err(FileError::NotATable));
    assert_eq!(Table::from_bytes(&bytes[..bytes.len() - 1]), Err(FileError::Damaged));
    for at in [17, 24, 5_000, bytes.len() - 1] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        assert_eq!(Table::from_bytes(&damaged), Err(FileError::Damaged), "{at}");
    }
}

#[test]
fn a_search_with_tables_knows_the_distance() {
    let tables = tables(&["KRK"]);
    let fen: shakmaty::fen::Fen = "8/8/8/3k4/8/8/8/R3K3 w - - 0 1".parse().expect("a FEN");
    let position: Chess = fen.into_position(CastlingMode::Standard).expect("legal");
    let Some(Ending::Mates(plies)) = tables.probe(&position) else { panic!("it is won") };
    let request = Request { endgames: Some(&tables), ..Request::new(&position, Limits::depth(2)) };
    let mut searcher = Searcher::new(1, Box::new(Classical::default()));
    let found = searcher.search(&request, &mut |_| {});
    assert_eq!(found.lines[0].value.mate_in(), Some(i32::from(plies).midpoint(1)));
}
