// SPDX-License-Identifier: GPL-3.0-or-later
//! What a series of captures on one square comes to.

use shakmaty::{Bitboard, Board, Chess, Color, Move, Position as _, Role, Square, attacks};

/// Piece values for exchanges, centipawns.
pub(crate) const fn piece_value(role: Role) -> i32 {
    match role {
        Role::Pawn => 100,
        Role::Knight => 320,
        Role::Bishop => 330,
        Role::Rook => 500,
        Role::Queen => 950,
        Role::King => 10_000,
    }
}

/// The cheapest of these pieces, and where it stands.
pub fn cheapest(board: &Board, pieces: Bitboard) -> Option<(Square, Role)> {
    (Role::ALL.into_iter()).find_map(|role| Some(((pieces & board.by_role(role)).first()?, role)))
}

/// The pieces among `occupied` that attack a square.
pub fn attackers(board: &Board, square: Square, occupied: Bitboard) -> Bitboard {
    let of = |color| board.attacks_to(square, color, occupied);
    (of(Color::White) | of(Color::Black)) & occupied
}

/// A piece that has just captured.
#[derive(Debug, Clone, Copy)]
pub struct Capture {
    /// Where it is now.
    pub square: Square,
    /// What it is now.
    pub role: Role,
    /// What it has won.
    pub won: i32,
    /// The squares that are occupied, without the one that it came from.
    pub occupied: Bitboard,
}

/// What a capture wins in the end, where `side` may take back and both sides go on with the
/// cheapest piece as long as it pays. `value` is that of a piece. Pins do not count.
pub fn captures(board: &Board, first: Capture, side: Color, value: impl Fn(Role) -> i32) -> i32 {
    let Capture { square, role: mut occupant, won, mut occupied } = first;
    let (mut side, mut depth) = (side, 0);
    let mut gain = [0i32; 34];
    gain[0] = won;
    let diagonal = board.bishops_and_queens();
    let straight = board.rooks_and_queens();
    let mut around = attackers(board, square, occupied);
    while let Some((from, role)) = cheapest(board, around & board.by_color(side)) {
        depth += 1;
        gain[depth] = value(occupant) - gain[depth - 1];
        occupied.discard(from);
        // What stood behind the piece that took attacks now.
        around |= (attacks::bishop_attacks(square, occupied) & diagonal)
            | (attacks::rook_attacks(square, occupied) & straight);
        around &= occupied;
        occupant = role;
        side = side.other();
        // A king does not take what is guarded.
        if role == Role::King && !(around & board.by_color(side)).is_empty() {
            depth -= 1;
            break;
        }
    }
    while depth > 0 {
        gain[depth - 1] = -(-gain[depth - 1]).max(gain[depth]);
        depth -= 1;
    }
    gain[0]
}

/// Centipawns that the move wins or loses by captures on its target square.
pub fn exchange_value(position: &Chess, m: Move) -> i32 {
    let board = position.board();
    let square = m.to();
    let (from, role) = match m {
        Move::Normal { role, from, promotion, .. } => (from, promotion.unwrap_or(role)),
        Move::EnPassant { from, .. } => (from, Role::Pawn),
        _ => return 0,
    };
    let mut occupied = board.occupied().without(from);
    if matches!(m, Move::EnPassant { .. }) {
        occupied.discard(Square::from_coords(square.file(), from.rank()));
    }
    let promoted = m.promotion().map_or(0, |role| piece_value(role) - piece_value(Role::Pawn));
    let won = m.capture().map_or(0, piece_value) + promoted;
    let first = Capture { square, role, won, occupied };
    captures(board, first, position.turn().other(), piece_value)
}
