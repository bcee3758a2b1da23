// SPDX-License-Identifier: GPL-3.0-or-later
//! The result of a series of captures on one square, in pawns. It is counted without a search.

use chess_search::{Capture, attackers, captures, cheapest};
use shakmaty::{Board, Color, Role, Square};

/// A piece's worth in pawns; the king's is more than that of all others.
pub(crate) const fn worth(role: Role) -> i32 {
    match role {
        Role::Pawn => 1,
        Role::Knight | Role::Bishop => 3,
        Role::Rook => 5,
        Role::Queen => 9,
        Role::King => 100,
    }
}

/// What `side` wins, in pawns, by beginning to capture on `square`. Both sides capture with their
/// cheapest piece and stop when going on would lose. 0 if it is better not to begin, or if the
/// square is empty. Pins are ignored.
pub(crate) fn gain(board: &Board, square: Square, side: Color) -> i32 {
    let Some(occupant) = board.role_at(square) else { return 0 };
    let own = attackers(board, square, board.occupied()) & board.by_color(side);
    let Some((from, role)) = cheapest(board, own) else { return 0 };
    let (occupied, other) = (board.occupied().without(from), side.other());
    let guarded = || attackers(board, square, occupied).intersects(board.by_color(other));
    if role == Role::King && guarded() {
        return 0;
    }
    let first = Capture { square, role, won: worth(occupant), occupied };
    captures(board, first, other, worth).max(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::Position as _;

    #[test]
    fn captures_add_up() {
        let rows = [
            ("4k3/8/8/3p4/8/8/8/3RK3 w - - 0 1", "d5", 1),
            // Guarded once, attacked once by a dearer piece.
            ("4k3/8/4p3/3p4/8/8/8/3RK3 w - - 0 1", "d5", 0),
            // The rook behind the rook counts.
            ("4k3/8/4p3/3n4/8/8/3R4/3RK3 w - - 0 1", "d5", 0),
            ("3rk3/8/8/3n4/8/8/3R4/3RK3 w - - 0 1", "d5", 3),
            // The king takes only what is not guarded.
            ("4k3/8/8/8/8/8/3r4/4K3 w - - 0 1", "d2", 5),
            ("3rk3/8/8/8/8/8/3r4/4K3 w - - 0 1", "d2", 0),
            ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", "d2", 0),
        ];
        for (fen, square, expected) in rows {
            let position = crate::testing::read_fen(fen).expect("good FEN");
            let square: Square = square.parse().expect("a square");
            assert_eq!(gain(position.board(), square, position.turn()), expected, "{fen}");
        }
    }
}
