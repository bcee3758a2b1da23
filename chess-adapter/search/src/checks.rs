// SPDX-License-Identifier: GPL-3.0-or-later
//! Which moves give check, found without making them.

use shakmaty::{Bitboard, Chess, Move, Position, Role, Square, attacks};

use crate::board::screens;

/// The squares and pieces from which a check of the king of the side not to move would come.
#[derive(Debug, Clone, Copy)]
pub struct Checks {
    king: Square,
    diagonal: Bitboard,
    straight: Bitboard,
    knight: Bitboard,
    pawn: Bitboard,
    /// Own pieces that open a line to the king when they leave it.
    openers: Bitboard,
}

impl Checks {
    /// The checks that the side to move could give.
    pub fn new(position: &Chess) -> Self {
        let board = position.board();
        let (us, them) = (position.turn(), position.turn().other());
        let king = board.king_of(them).unwrap_or(Square::A1);
        let occupied = board.occupied();
        Self {
            king,
            diagonal: attacks::bishop_attacks(king, occupied),
            straight: attacks::rook_attacks(king, occupied),
            knight: attacks::knight_attacks(king),
            pawn: attacks::pawn_attacks(them, king),
            openers: screens(board, king, us) & board.by_color(us),
        }
    }

    /// Squares from which a man of this role checks.
    pub fn from(&self, role: Role) -> Bitboard {
        match role {
            Role::Pawn => self.pawn,
            Role::Knight => self.knight,
            Role::Bishop => self.diagonal,
            Role::Rook => self.straight,
            Role::Queen => self.diagonal | self.straight,
            Role::King => Bitboard::EMPTY,
        }
    }

    /// Whether a quiet move gives check.
    pub fn gives(&self, m: Move) -> bool {
        let (Some(from), to) = (m.from(), m.to()) else { return false };
        self.from(m.role()).contains(to)
            || (self.openers.contains(from) && !attacks::aligned(self.king, from, to))
    }
}
