// SPDX-License-Identifier: GPL-3.0-or-later
//! Attacks and exchanges on a board, found once for a position and updated for each of its moves.

use chess_search::board::count;
use shakmaty::{Bitboard, Board, Chess, Color, Move, Position as _, Role, Square, attacks};

use crate::exchange::gain;

/// Attacks and results of exchanges on a board, as one side sees them.
#[derive(Clone)]
pub struct View {
    us: Color,
    /// What the man on each square attacks; nothing where none stands.
    reach: [Bitboard; 64],
    /// What the opponent would win by capturing our man on each square, in pawns; not for the king.
    lost: [i8; 64],
    /// What we would win by capturing on each square, in pawns.
    won: [i8; 64],
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

/// For each square, all squares from which a man may take part in captures on it, and itself.
static SIGHT: [Bitboard; 64] = sight();

const fn sight() -> [Bitboard; 64] {
    let mut all = [Bitboard::EMPTY; 64];
    let mut at = 0;
    while at < 64 {
        let square = Square::new(at);
        let lines = attacks::queen_attacks(square, Bitboard::EMPTY);
        let leaps = attacks::knight_attacks(square);
        all[at as usize] = Bitboard(lines.0 | leaps.0 | 1 << at);
        at += 1;
    }
    all
}

/// Squares on which something else stands than before.
fn changed(before: &Board, after: &Board) -> Bitboard {
    let colours = before.by_color(Color::White) ^ after.by_color(Color::White);
    Role::ALL
        .into_iter()
        .fold(colours, |all, role| all | before.by_role(role) ^ after.by_role(role))
}

impl View {
    /// The view of a board for this side.
    pub fn new(board: &Board, us: Color) -> Self {
        let mut view = Self::empty(us);
        for square in board.occupied() {
            view.reach[square.to_usize()] = board.attacks_from(square);
        }
        view.sum_up(board, None);
        view
    }

    const fn empty(us: Color) -> Self {
        Self {
            us,
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
        }
    }

    /// The view of the board after a move, from this view of the board before it.
    fn after(&self, before: &Board, after: &Board) -> Self {
        let changed = changed(before, after);
        let mut view = Self { reach: self.reach, ..Self::empty(self.us) };
        for square in changed {
            view.reach[square.to_usize()] = after.attacks_from(square);
        }
        // Lines become longer or shorter where a man has gone or come.
        let opened = before.occupied() ^ after.occupied();
        for square in after.sliders() & !changed {
            if view.reach[square.to_usize()].intersects(opened) {
                view.reach[square.to_usize()] = after.attacks_from(square);
            }
        }
        view.sum_up(after, Some((self, changed)));
        view
    }

    /// Computes the other fields from `reach`. Results of captures are taken from an earlier view
    /// for squares that the changes since then cannot have affected.
    fn sum_up(&mut self, board: &Board, earlier: Option<(&Self, Bitboard)>) {
        let (ours, theirs) = (board.by_color(self.us), board.by_color(self.us.other()));
        for square in ours {
            let reach = self.reach[square.to_usize()];
            self.our_attacks |= reach;
            self.our_reach += count(reach & !ours);
        }
        for square in theirs {
            let reach = self.reach[square.to_usize()];
            self.their_attacks |= reach;
            self.their_reach += count(reach & !theirs);
        }
        let known = |square: Square| {
            let (view, changed) = earlier?;
            SIGHT[square.to_usize()].is_disjoint(changed).then_some(view)
        };
        let small = |pawns: i32| i8::try_from(pawns).unwrap_or(i8::MAX);
        for square in ours & self.their_attacks & !board.kings() {
            let at = square.to_usize();
            let lost = match known(square) {
                Some(view) => i32::from(view.lost[at]),
                None => gain(board, square, self.us.other()),
            };
            self.lost[at] = small(lost);
            if lost > self.most_lost {
                self.second_lost = self.most_lost;
                self.most_lost = lost;
            } else {
                self.second_lost = self.second_lost.max(lost);
            }
        }
        for square in theirs & self.our_attacks & !board.kings() {
            let at = square.to_usize();
            let won = match known(square) {
                Some(view) => i32::from(view.won[at]),
                None => gain(board, square, self.us),
            };
            self.won[at] = small(won);
            self.most_won = self.most_won.max(won);
            self.times_won += usize::from(won > 0);
        }
    }

    /// What the man on a square attacks; nothing if none stands there.
    pub const fn reach(&self, square: Square) -> Bitboard {
        self.reach[square.to_usize()]
    }

    /// What the opponent would win by capturing there.
    pub fn lost_at(&self, square: Square) -> i32 {
        i32::from(self.lost[square.to_usize()])
    }

    /// What we would win by capturing there.
    pub fn won_at(&self, square: Square) -> i32 {
        i32::from(self.won[square.to_usize()])
    }

    /// How many pieces of a side, pawns and kings aside, attack one of these squares.
    pub fn lookers(&self, board: &Board, side: Color, zone: Bitboard) -> usize {
        let pieces = board.by_color(side) & !board.pawns() & !board.kings();
        pieces.into_iter().filter(|&square| self.reach(square).intersects(zone)).count()
    }
}

/// Where the piece that moves goes; in castling, the king.
pub fn target(m: Move) -> Square {
    m.castling_side().map_or(m.to(), |side| Square::from_coords(side.king_to_file(), m.to().rank()))
}

/// A legal move and what it leads to.
pub struct Prospect {
    /// The move.
    pub m: Move,
    /// The position after it.
    pub after: Chess,
    /// The view of that position for the side that has moved.
    pub view: View,
}

impl Prospect {
    /// A move in a position; `view` is that of the position for the side to move.
    pub fn new(before: &Chess, view: &View, m: Move) -> Self {
        let mut after = before.clone();
        after.play_unchecked(m);
        let view = view.after(before.board(), after.board());
        Self { m, after, view }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::play_at_random;

    #[test]
    fn updated_views_equal_new_ones() {
        let mut compared = 0;
        play_at_random(5, &[], (30, 120), |position| {
            let us = position.turn();
            let view = View::new(position.board(), us);
            for m in position.legal_moves() {
                let prospect = Prospect::new(position, &view, m);
                let new = View::new(prospect.after.board(), us);
                let mended = &prospect.view;
                assert!(new.reach == mended.reach, "{position:?} {m}");
                assert_eq!((new.lost, new.won), (mended.lost, mended.won), "{position:?} {m}");
                let numbers = |view: &View| {
                    let lost = (view.most_lost, view.second_lost);
                    let reach = (view.our_reach, view.their_reach);
                    (view.our_attacks, view.their_attacks, reach, lost, view.times_won)
                };
                assert_eq!(numbers(&new), numbers(mended), "{position:?} {m}");
                compared += 1;
            }
        });
        assert!(compared > 20_000);
    }
}
