// SPDX-License-Identifier: GPL-3.0-or-later
//! What pieces and pawns do on a board.

use crate::exchange::count;
use shakmaty::{Bitboard, Board, Color, File, Piece, Role, Square, attacks};

/// Pawns of a side beside its king.
pub fn shield(board: &Board, king: Square, us: Color) -> i32 {
    count(attacks::king_attacks(king) & board.pawns() & board.by_color(us))
}

pub fn pawn_attacks(board: &Board, side: Color) -> Bitboard {
    let pawns = board.by_piece(Piece { color: side, role: Role::Pawn });
    pawns.into_iter().fold(Bitboard::EMPTY, |all, pawn| all | attacks::pawn_attacks(side, pawn))
}

/// Pieces of the king's colour that must not leave their line.
pub fn pinned(board: &Board, king: Square, us: Color) -> Bitboard {
    let them = board.by_color(us.other());
    let snipers = (attacks::rook_attacks(king, them) & board.rooks_and_queens()
        | attacks::bishop_attacks(king, them) & board.bishops_and_queens())
        & them;
    let mut all = Bitboard::EMPTY;
    for sniper in snipers {
        let blockers = attacks::between(king, sniper) & board.occupied();
        if blockers.count() == 1 {
            all |= blockers & board.by_color(us);
        }
    }
    all
}

/// For each side and square, white first: the squares before a pawn on its file, and on the files
/// beside.
static AHEAD: [[[Bitboard; 2]; 64]; 2] = ahead_of_all();

const fn ahead_of_all() -> [[[Bitboard; 2]; 64]; 2] {
    let mut all = [[[Bitboard::EMPTY; 2]; 64]; 2];
    let mut pair = 0;
    while pair < 64 * 64 {
        let (square, other) = (pair / 64, pair % 64);
        let apart = (square % 8usize).abs_diff(other % 8);
        if apart <= 1 && square / 8 != other / 8 {
            let side = if other > square { 0 } else { 1 };
            all[side][square][apart].0 |= 1 << other;
        }
        pair += 1;
    }
    all
}

/// Squares before a pawn on its file or on the files beside, as far as the board goes.
pub const fn ahead(square: Square, side: Color, beside: bool) -> Bitboard {
    let side = match side {
        Color::White => 0,
        Color::Black => 1,
    };
    AHEAD[side][square.to_usize()][beside as usize]
}

pub fn file_of(square: Square) -> Bitboard {
    Bitboard::from_file(square.file())
}

/// Open, half open for us, closed by our own pawn.
pub fn openness(board: &Board, square: Square, us: Color) -> u8 {
    let pawns = file_of(square) & board.pawns();
    if pawns.is_empty() {
        b'o'
    } else if (pawns & board.by_color(us)).is_empty() {
        b'h'
    } else {
        b'c'
    }
}

pub fn wing(square: Square) -> u8 {
    match square.file() {
        File::A | File::B | File::C => b'a',
        File::D | File::E => b'd',
        _ => b'h',
    }
}

pub fn from_centre(square: Square) -> i32 {
    let distance = |n: u32| i32::try_from(if n < 4 { 3 - n } else { n - 4 }).unwrap_or(0);
    distance(square.file().to_u32()).max(distance(square.rank().to_u32()))
}

pub fn steps(a: Square, b: Square) -> i32 {
    i32::try_from(a.distance(b)).unwrap_or(0)
}
