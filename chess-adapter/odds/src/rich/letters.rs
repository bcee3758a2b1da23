// SPDX-License-Identifier: GPL-3.0-or-later
//! Numbers, pieces and squares as the letters that words are made of.

use shakmaty::{CastlingSide, Color, Role, Square};

/// A number of pawns as a letter: small for won, capital for lost.
pub(super) fn class(pawns: i32) -> u8 {
    let letter = match pawns.abs() {
        0 => b'0',
        1 => b'p',
        2 => b'b',
        3 => b'm',
        4 => b'n',
        5 | 6 => b'r',
        7 | 8 => b's',
        9..50 => b'q',
        _ => b'k',
    };
    if pawns < 0 { letter.to_ascii_uppercase() } else { letter }
}

/// A small number as a character, larger ones as the largest.
pub(super) fn upto(n: usize, most: u8) -> u8 {
    let n = u8::try_from(n).unwrap_or(u8::MAX).min(most);
    if n < 10 { b'0' + n } else { b'a' + n - 10 }
}

/// A difference as a character, `f` for none.
pub(super) fn change(n: i32, most: i32) -> u8 {
    b'm'.saturating_add_signed(i8::try_from(n.clamp(-most, most)).unwrap_or(0))
}

pub(super) const fn yes(is: bool) -> u8 {
    if is { b'y' } else { b'n' }
}

pub(super) fn letter(role: Option<Role>) -> u8 {
    role.map_or(b'-', upper)
}

pub(super) const fn upper(role: Role) -> u8 {
    role.upper_char() as u8
}

/// A square as this side sees it.
pub(super) fn seen(square: Square, side: Color) -> Square {
    if side.is_white() { square } else { square.flip_vertical() }
}

pub(super) const fn file_letter(square: Square) -> u8 {
    square.file().char() as u8
}

pub(super) fn name(square: Square, us: Color) -> [u8; 2] {
    let square = seen(square, us);
    [file_letter(square), square.rank().char() as u8]
}

pub(super) const fn castling_letter(side: CastlingSide) -> u8 {
    if side.is_king_side() { b'k' } else { b'q' }
}
