// SPDX-License-Identifier: GPL-3.0-or-later
//! What a series of captures on one square comes to.

use shakmaty::{Bitboard, Board, Chess, Color, Move, Position as _, Role, Square, attacks};

/// Piece values for exchanges, centipawns.
pub const fn piece_value(role: Role) -> i32 {
    match role {
        Role::Pawn => 100,
        Role::Knight => 320,
        Role::Bishop => 330,
        Role::Rook => 500,
        Role::Queen => 950,
        Role::King => 10_000,
    }
}

fn cheapest(board: &Board, attackers: Bitboard) -> Option<(Square, Role)> {
    [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen, Role::King]
        .into_iter()
        .find_map(|role| Some(((attackers & board.by_role(role)).first()?, role)))
}

/// Centipawns that the move wins or loses by captures on its target square, both sides taking back
/// with the cheapest piece as long as it pays. Pins do not count.
pub fn exchange_value(position: &Chess, m: Move) -> i32 {
    let board = position.board();
    let to = m.to();
    let (from, mut occupant) = match m {
        Move::Normal { role, from, promotion, .. } => (from, promotion.unwrap_or(role)),
        Move::EnPassant { from, .. } => (from, Role::Pawn),
        _ => return 0,
    };
    let mut occupied = board.occupied().without(from);
    let promoted = m.promotion().map_or(0, |role| piece_value(role) - piece_value(Role::Pawn));
    let mut gain = [0i32; 34];
    gain[0] = m.capture().map_or(0, piece_value) + promoted;
    if matches!(m, Move::EnPassant { .. }) {
        occupied.discard(Square::from_coords(to.file(), from.rank()));
    }
    let diagonal = board.bishops_and_queens();
    let straight = board.rooks_and_queens();
    let all = |occupied: Bitboard| {
        let sides = [Color::White, Color::Black].map(|c| board.attacks_to(to, c, occupied));
        (sides[0] | sides[1]) & occupied
    };
    let mut attackers = all(occupied);
    let mut side = position.turn().other();
    let mut depth = 0;
    while let Some((square, role)) = cheapest(board, attackers & board.by_color(side)) {
        depth += 1;
        gain[depth] = piece_value(occupant) - gain[depth - 1];
        if gain[depth].max(-gain[depth - 1]) < 0 || depth == 32 {
            break;
        }
        occupied.discard(square);
        // What stood behind the piece that took attacks now.
        attackers |= (attacks::bishop_attacks(to, occupied) & diagonal)
            | (attacks::rook_attacks(to, occupied) & straight);
        attackers &= occupied;
        occupant = role;
        side = side.other();
        // A king does not take what is guarded.
        if role == Role::King && !(attackers & board.by_color(side)).is_empty() {
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

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::{CastlingMode, fen::Fen, uci::UciMove};

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
            // En passant, promotion, a quiet move onto a guarded square.
            ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "e5d6", 100),
            ("1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7b8q", 1170),
            ("4k3/8/4p3/8/8/8/8/3RK3 w - - 0 1", "d1d5", -500),
        ];
        for (fen, m, expected) in rows {
            let fen: Fen = fen.parse().expect("a good FEN");
            let position: Chess = fen.into_position(CastlingMode::Standard).expect("legal");
            let m: UciMove = m.parse().expect("a good move");
            let m = m.to_move(&position).expect("legal");
            assert_eq!(exchange_value(&position, m), expected, "{position:?} {m}");
        }
    }
}
