// SPDX-License-Identifier: GPL-3.0-or-later
//! The order in which moves are searched: the move that the table names comes first, then good
//! captures, killers, quiet moves by history, bad captures.

use shakmaty::{Chess, Color, Move, MoveList, Role};

use crate::MAX_PLY;
use crate::exchange::{exchange_value, piece_value};
use crate::moves::PackedMove;

/// Scores of kinds of moves.
pub(crate) const FIRST: i32 = 1_000_000;
const GOOD_CAPTURE: i32 = 100_000;
pub(crate) const KILLER: i32 = 50_000;
/// Below this are captures that lose material.
pub(crate) const BAD: i32 = -50_000;

pub(crate) fn capture_score(position: &Chess, m: Move) -> i32 {
    let victim = m.capture().map_or(0, piece_value);
    let taker = piece_value(m.role());
    let promotion = match m.promotion() {
        Some(Role::Queen) => 900,
        Some(_) => return BAD - 1,
        None => 0,
    };
    // A capture of a more valuable piece cannot lose material.
    if (victim < taker || m.role() == Role::King) && exchange_value(position, m) < 0 {
        return 2 * BAD + victim - taker / 100;
    }
    GOOD_CAPTURE + 10 * (victim + promotion) - taker / 10
}

/// Brings the most promising of the moves from `number` on to that place.
pub(crate) fn bring_best(moves: &mut MoveList, scores: &mut [i32; 256], number: usize) {
    let mut best = number;
    for i in number + 1..moves.len() {
        if scores[i] > scores[best] {
            best = i;
        }
    }
    moves.swap(number, best);
    scores.swap(number, best);
}

/// Statistics of earlier cutoffs, which order the moves.
pub(crate) struct Order {
    pub killers: [[PackedMove; 2]; MAX_PLY + 1],
    /// By side, origin and target.
    pub history: Vec<[[i32; 64]; 64]>,
    /// Answers by the move before: its role and target.
    pub answers: [[PackedMove; 64]; 6],
}

impl Order {
    pub(crate) fn new() -> Self {
        Self {
            killers: [[PackedMove::default(); 2]; MAX_PLY + 1],
            history: vec![[[0; 64]; 64]; 2],
            answers: [[PackedMove::default(); 64]; 6],
        }
    }

    pub(crate) fn history(&self, side: Color, m: Move) -> i32 {
        let from = m.from().unwrap_or(m.to());
        self.history[usize::from(side.is_black())][usize::from(from)][usize::from(m.to())]
    }

    pub(crate) fn learn(&mut self, side: Color, m: Move, bonus: i32) {
        const MOST: i32 = 8_000;
        let from = m.from().unwrap_or(m.to());
        let entry =
            &mut self.history[usize::from(side.is_black())][usize::from(from)][usize::from(m.to())];
        *entry += bonus - *entry * bonus.abs() / MOST;
    }
}
