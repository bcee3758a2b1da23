// SPDX-License-Identifier: GPL-3.0-or-later
//! Attacks and exchanges on a board, found once for a position and for each of its moves.

use chess_search::after_move;
use chess_search::board::count;
use shakmaty::{Bitboard, Board, Chess, Color, Move, Position as _, Square};

use crate::exchange::gain;

/// Attacks and results of exchanges on a board, as one side sees them.
pub(crate) struct View {
    /// What the man on each square attacks; nothing where none stands.
    reach: [Bitboard; 64],
    /// What the opponent would win by capturing our man on each square, in pawns; not for the king.
    lost: [i32; 64],
    /// What we would win by capturing on each square, in pawns.
    won: [i32; 64],
    /// Squares that our men attack.
    pub our_attacks: Bitboard,
    /// Squares that theirs attack.
    pub their_attacks: Bitboard,
    /// Squares that each of our men reaches, the sum over them.
    pub our_reach: i32,
    /// The same for theirs.
    pub their_reach: i32,
    /// The dearest of what could be lost, and the next.
    pub most_lost: i32,
    /// The second dearest.
    pub second_lost: i32,
    /// The dearest of what could be won.
    pub most_won: i32,
    /// How many captures win something.
    pub times_won: usize,
}

impl View {
    /// The view of a board for this side.
    pub(crate) fn new(board: &Board, us: Color) -> Self {
        let mut view = Self {
            reach: [Bitboard::EMPTY; 64],
            lost: [0; 64],
            won: [0; 64],
            our_attacks: Bitboard::EMPTY,
            their_attacks: Bitboard::EMPTY,
            our_reach: 0,
            their_reach: 0,
            most_lost: 0,
            second_lost: 0,
            most_won: 0,
            times_won: 0,
        };
        let (ours, theirs) = (board.by_color(us), board.by_color(us.other()));
        for square in board.occupied() {
            let reach = board.attacks_from(square);
            view.reach[square.to_usize()] = reach;
            if ours.contains(square) {
                view.our_attacks |= reach;
                view.our_reach += count(reach & !ours);
            } else {
                view.their_attacks |= reach;
                view.their_reach += count(reach & !theirs);
            }
        }
        for square in ours & view.their_attacks & !board.kings() {
            let lost = gain(board, square, us.other());
            view.lost[square.to_usize()] = lost;
            if lost > view.most_lost {
                view.second_lost = view.most_lost;
                view.most_lost = lost;
            } else {
                view.second_lost = view.second_lost.max(lost);
            }
        }
        for square in theirs & view.our_attacks & !board.kings() {
            let won = gain(board, square, us);
            view.won[square.to_usize()] = won;
            view.most_won = view.most_won.max(won);
            view.times_won += usize::from(won > 0);
        }
        view
    }

    /// What the man on a square attacks; nothing if none stands there.
    pub(crate) const fn reach(&self, square: Square) -> Bitboard {
        self.reach[square.to_usize()]
    }

    /// What the opponent would win by capturing there.
    pub(crate) const fn lost_at(&self, square: Square) -> i32 {
        self.lost[square.to_usize()]
    }

    /// What we would win by capturing there.
    pub(crate) const fn won_at(&self, square: Square) -> i32 {
        self.won[square.to_usize()]
    }

    /// How many pieces of a side, pawns and kings aside, attack one of these squares.
    pub(crate) fn lookers(&self, board: &Board, side: Color, zone: Bitboard) -> usize {
        let pieces = board.by_color(side) & !board.pawns() & !board.kings();
        pieces.into_iter().filter(|&square| self.reach(square).intersects(zone)).count()
    }
}

/// Where the piece that moves goes; in castling, the king.
pub(crate) fn target(m: Move) -> Square {
    m.castling_side().map_or(m.to(), |side| Square::from_coords(side.king_to_file(), m.to().rank()))
}

/// A legal move and what it leads to.
pub(crate) struct Prospect {
    /// The move.
    pub m: Move,
    /// The position after it.
    pub after: Chess,
    /// The view of that position for the side that has moved.
    pub view: View,
}

impl Prospect {
    /// A legal move in a position.
    pub(crate) fn new(before: &Chess, m: Move) -> Self {
        let after = after_move(before, m);
        let view = View::new(after.board(), before.turn());
        Self { m, after, view }
    }
}
