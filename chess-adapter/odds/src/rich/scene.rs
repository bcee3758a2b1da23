// SPDX-License-Identifier: GPL-3.0-or-later
//! A position whose moves are to be described.

use chess_search::board::{count, material, pawn_attacks};
use shakmaty::{Bitboard, Chess, Color, Move, Position, Square, attacks};

use super::board::{pinned, shield};
use super::letters::seen;
use crate::view::{View, target};

/// A position whose moves are to be described.
pub(crate) struct Scene<'a> {
    pub before: &'a Chess,
    pub us: Color,
    /// Half-moves played before.
    pub plies: usize,
    /// The attacks on the board.
    pub view: View,
    pub last: Option<Move>,
    pub(super) own_last: Option<Move>,
    pub(super) phase: u8,
    pub(super) stage: u8,
    pub(super) balance: u8,
    pub(super) our_king: Square,
    pub(super) their_king: Square,
    pub(super) undeveloped: usize,
    /// Our pieces that the piece which moved last attacks.
    pub(super) last_attacks: Bitboard,
    pub(super) pinned: Bitboard,
    /// Squares that their pawns attack.
    pub(super) pawn_attacks: Bitboard,
    /// Opposing pieces that must not leave a line to their king.
    pub(super) theirs_pinned: Bitboard,
    /// Number of our pieces that attack squares around their king.
    pub(super) press: usize,
    /// Number of their pieces that attack squares around our king.
    pub(super) danger: usize,
    /// Pawns beside our king.
    pub(super) shield: i32,
}

impl<'a> Scene<'a> {
    /// A position and the moves that led to it, the latest last.
    pub(crate) fn new(before: &'a Chess, history: &[Move]) -> Self {
        let board = before.board();
        let (us, plies) = (before.turn(), history.len());
        let last = history.last().copied();
        let own_last = history.len().checked_sub(2).map(|i| history[i]);
        let material = [us, us.other()].map(|side| material(board, side));
        let pieces = material[0] + material[1] - count(board.pawns());
        let balance = match material[0] - material[1] {
            ..=-3 => b'v',
            -2..=-1 => b'l',
            0 => b'e',
            1..=2 => b'g',
            _ => b'w',
        };
        let stage = match (plies, pieces) {
            (_, ..=14) => b'e',
            (_, 15..=30) => b'd',
            (0..10, _) => b'a',
            (10..22, _) => b'b',
            _ => b'c',
        };
        let phase = match stage {
            b'a' | b'b' => b'o',
            b'c' => b'm',
            _ => b'e',
        };
        let king = |side| board.king_of(side).unwrap_or(Square::E1);
        let home = Bitboard::from_rank(seen(Square::A1, us).rank());
        let minors = (board.knights() | board.bishops()) & board.by_color(us) & home;
        let last_attacks =
            last.map_or(Bitboard::EMPTY, |m| board.attacks_from(target(m)) & board.by_color(us));
        let view = View::new(board, us);
        let zones = [king(us), king(us.other())].map(attacks::king_attacks);
        Self {
            before,
            us,
            plies,
            press: view.lookers(board, us, zones[1]),
            danger: view.lookers(board, us.other(), zones[0]),
            shield: shield(board, king(us), us),
            theirs_pinned: pinned(board, king(us.other()), us.other()),
            view,
            last,
            own_last,
            phase,
            stage,
            balance,
            our_king: king(us),
            their_king: king(us.other()),
            undeveloped: minors.count(),
            last_attacks,
            pinned: pinned(board, king(us), us),
            pawn_attacks: pawn_attacks(board, us.other()),
        }
    }
}
