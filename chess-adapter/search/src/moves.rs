// SPDX-License-Identifier: GPL-3.0-or-later
//! The position after a move, and moves packed into the 16 bits that tables store.

use shakmaty::{Chess, Move, Position as _, Role};

/// The position after a legal move.
pub fn after_move(position: &Chess, m: Move) -> Chess {
    let mut after = position.clone();
    after.play_unchecked(m);
    after
}

/// A move as target square, origin square and promotion: 6, 6 and 3 bits, as Polyglot's books have
/// it. Castling is stored as the king capturing its own rook. Zero stands for no move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PackedMove(pub u16);

impl From<Move> for PackedMove {
    fn from(m: Move) -> Self {
        let from = m.from().unwrap_or(m.to());
        let promotion = m.promotion().map_or(0, |role| u16::from(role) - u16::from(Role::Pawn));
        Self(u16::from(m.to()) | (u16::from(from) << 6) | (promotion << 12))
    }
}
