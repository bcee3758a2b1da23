// SPDX-License-Identifier: GPL-3.0-or-later
//! The result of a series of captures on one square, in pawns. It is counted without a search.

use shakmaty::{Bitboard, Board, Color, Role, Square, attacks};

/// A piece's worth in pawns; the king's is more than that of all others.
pub const fn value(role: Role) -> u32 {
    match role {
        Role::Pawn => 1,
        Role::Knight | Role::Bishop => 3,
        Role::Rook => 5,
        Role::Queen => 9,
        Role::King => 100,
    }
}

/// The order in which pieces capture, cheapest first.
const ORDER: [Role; 6] =
    [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen, Role::King];

/// The cheapest of these attackers.
fn cheapest(board: &Board, attackers: Bitboard) -> Option<(Square, Role)> {
    ORDER.into_iter().find_map(|role| {
        let square = (attackers & board.by_role(role)).first()?;
        Some((square, role))
    })
}

/// A piece's worth as a number that takes part in sums.
pub(crate) fn worth(role: Role) -> i32 {
    i32::try_from(value(role)).unwrap_or(i32::MAX)
}

/// What `side` wins, in pawns, by beginning to capture on `square`. Both sides capture with their
/// cheapest piece and stop when going on would lose. 0 if it is better not to begin, or if the
/// square is empty. Pins are ignored.
pub fn gain(board: &Board, square: Square, side: Color) -> i32 {
    let Some(mut occupant) = board.role_at(square) else { return 0 };
    let steppers = (attacks::knight_attacks(square) & board.knights())
        | (attacks::king_attacks(square) & board.kings())
        | (attacks::pawn_attacks(Color::Black, square) & board.white() & board.pawns())
        | (attacks::pawn_attacks(Color::White, square) & board.black() & board.pawns());
    let (straight, diagonal) = (board.rooks_and_queens(), board.bishops_and_queens());
    let all = |occupied: Bitboard| {
        steppers
            | (attacks::rook_attacks(square, occupied) & straight)
            | (attacks::bishop_attacks(square, occupied) & diagonal)
    };
    let mut occupied = board.occupied();
    let mut attackers = all(occupied);
    let mut gains = [0i32; 32];
    let mut depth = 0;
    let mut side = side;
    while let Some((from, role)) = cheapest(board, attackers & board.by_color(side)) {
        occupied.discard(from);
        // A piece behind the one that captured attacks now; behind a knight there is none.
        attackers = if role == Role::Knight { attackers } else { all(occupied) } & occupied;
        side = side.other();
        // A king may not capture what is guarded.
        if role == Role::King && attackers.intersects(board.by_color(side)) || depth == gains.len()
        {
            break;
        }
        gains[depth] = worth(occupant);
        depth += 1;
        occupant = role;
    }
    // Backwards from the last capture: either side may also stop.
    gains[..depth].iter().rev().fold(0, |rest, &won| (won - rest).max(0))
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
