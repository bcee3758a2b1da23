// SPDX-License-Identifier: GPL-3.0-or-later
//! Squares before pawns, beside files and between men: what evaluations and descriptions ask.

use shakmaty::{Bitboard, Board, Color, File, Square, attacks};

/// How many squares these are, as a number that takes part in sums.
pub fn count(squares: Bitboard) -> i32 {
    i32::try_from(squares.count()).unwrap_or(0)
}

/// What a side's men are worth in pawns, without its king.
pub fn material(board: &Board, side: Color) -> i32 {
    let men = board.material_side(side).map(i32::from);
    men.pawn + 3 * (men.knight + men.bishop) + 5 * men.rook + 9 * men.queen
}

/// Steps of a king from one square to another.
pub fn steps(a: Square, b: Square) -> i32 {
    i32::try_from(a.distance(b)).unwrap_or(0)
}

/// The files beside a file.
pub fn files_beside(file: File) -> Bitboard {
    let files = [-1, 1].into_iter().filter_map(|d| file.offset(d));
    files.fold(Bitboard::EMPTY, |all, file| all | Bitboard::from_file(file))
}

/// Squares that the pawns of a side attack.
pub fn pawn_attacks(board: &Board, side: Color) -> Bitboard {
    let pawns = board.pawns() & board.by_color(side);
    let (left, right) =
        (pawns & !Bitboard::from_file(File::A), pawns & !Bitboard::from_file(File::H));
    side.fold_wb(left.shift(7) | right.shift(9), left.shift(-9) | right.shift(-7))
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
    AHEAD[side.is_black() as usize][square.to_usize()][beside as usize]
}

/// Men of a side that attack a square unless something stands between.
pub fn snipers(board: &Board, square: Square, side: Color) -> Bitboard {
    let straight = attacks::rook_attacks(square, Bitboard::EMPTY) & board.rooks_and_queens();
    let diagonal = attacks::bishop_attacks(square, Bitboard::EMPTY) & board.bishops_and_queens();
    (straight | diagonal) & board.by_color(side)
}

/// Men that stand alone between a square and one of these.
pub fn screens(board: &Board, square: Square, side: Color) -> Bitboard {
    let between = |sniper| attacks::between(square, sniper) & board.occupied();
    let alone =
        snipers(board, square, side).into_iter().map(between).filter(|men| men.count() == 1);
    alone.fold(Bitboard::EMPTY, |all, man| all | man)
}
