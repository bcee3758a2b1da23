// SPDX-License-Identifier: GPL-3.0-or-later
//! What pieces and pawns do on a board.

use chess_search::board::{count, screens};
use shakmaty::{Bitboard, Board, Color, File, Square, attacks};

/// Pawns of a side beside its king.
pub(super) fn shield(board: &Board, king: Square, us: Color) -> i32 {
    count(attacks::king_attacks(king) & board.pawns() & board.by_color(us))
}

/// Pieces of the king's colour that must not leave their line.
pub(super) fn pinned(board: &Board, king: Square, us: Color) -> Bitboard {
    screens(board, king, us.other()) & board.by_color(us)
}

pub(super) fn file_of(square: Square) -> Bitboard {
    Bitboard::from_file(square.file())
}

/// Open, half open for us, closed by our own pawn.
pub(super) fn openness(board: &Board, square: Square, us: Color) -> u8 {
    let pawns = file_of(square) & board.pawns();
    if pawns.is_empty() {
        b'o'
    } else if (pawns & board.by_color(us)).is_empty() {
        b'h'
    } else {
        b'c'
    }
}

pub(super) fn wing(square: Square) -> u8 {
    match square.file() {
        File::A | File::B | File::C => b'a',
        File::D | File::E => b'd',
        _ => b'h',
    }
}

pub(super) fn from_centre(square: Square) -> i32 {
    let distance = |n: u32| i32::try_from(if n < 4 { 3 - n } else { n - 4 }).unwrap_or(0);
    distance(square.file().to_u32()).max(distance(square.rank().to_u32()))
}
