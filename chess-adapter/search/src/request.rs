// SPDX-License-Identifier: GPL-3.0-or-later
//! What is asked of a search, what it answers, and what endgame tables tell it.

use std::collections::HashMap;
use std::time::Duration;

use shakmaty::{Chess, Move};

use crate::Value;
use crate::limits::Limits;
use crate::moves::PackedMove;

/// By the keys of positions, centipawns that are added to the values of moves there.
pub type Advice = HashMap<u64, Vec<(PackedMove, i32)>>;

/// The result of a position if both sides play perfectly, for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It mates in so many half-moves.
    Mates(u8),
    /// It wins; the number of moves is unknown.
    Won,
    /// Nobody wins.
    Draw,
    /// It loses; the number of moves is unknown.
    Lost,
    /// It is mated in so many half-moves.
    IsMated(u8),
}

/// A position to be searched, and how.
pub struct Request<'a> {
    /// The position.
    pub position: &'a Chess,
    /// Keys of the earlier positions that can be repeated.
    pub history: &'a [u64],
    /// The limits of the search.
    pub limits: Limits,
    /// The moves to choose from, likeliest first; empty for all in any order.
    pub moves: &'a [Move],
    /// Centipawns that are added to the values of these moves, in the same order, when moves are
    /// compared; missing numbers count as 0. The values in the answer do not include them. Once the
    /// best move is worth six pawns either way they no longer count.
    pub bonus: &'a [i32],
    /// What is added to the values of moves at each depth; it counts as [`Request::bonus`] does,
    /// but is part of the values in the answer below the first move.
    pub advice: Option<&'a Advice>,
    /// What the side to move would give not to draw, centipawns; negative if it seeks a draw. So
    /// much a draw is worth less, and a board full of pieces more.
    pub contempt: i32,
    /// Moves up to this many centipawns below the best one get exact values, too.
    pub margin: i32,
    /// Number of best moves that get exact values.
    pub lines: usize,
    /// Ends the search when it becomes true.
    pub stop: &'a (dyn Fn() -> bool + 'a),
    /// While this is true, the time limits do not run; they start when it becomes false.
    pub pondering: &'a (dyn Fn() -> bool + 'a),
    /// What endgame tables say of a position; `None` for one that is in no table.
    pub endgames: &'a dyn Fn(&Chess) -> Option<Ending>,
}

impl<'a> Request<'a> {
    /// What the advice adds to a move in the position with this key.
    pub(crate) fn advised(&self, key: u64, m: Move) -> i32 {
        let moves = self.advice.and_then(|advice| advice.get(&key));
        let own = moves.and_then(|moves| moves.iter().find(|(known, _)| *known == m.into()));
        own.map_or(0, |(_, bonus)| *bonus)
    }

    /// A request without tables or signals.
    pub fn new(position: &'a Chess, limits: Limits) -> Self {
        Self {
            position,
            history: &[],
            limits,
            moves: &[],
            bonus: &[],
            advice: None,
            contempt: 0,
            margin: 0,
            lines: 1,
            stop: &|| false,
            pondering: &|| false,
            endgames: &|_| None,
        }
    }
}

/// A move, its value and what is expected to follow.
#[derive(Clone, Debug)]
pub struct Line {
    /// The move and what follows.
    pub moves: Vec<Move>,
    /// The value for the side that plays it.
    pub value: Value,
}

/// The result of a search, final or so far.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The best moves with exact values, best first.
    pub lines: Vec<Line>,
    /// The depth, in half-moves, that was searched completely.
    pub depth: usize,
    /// Half-moves of the longest line.
    pub selective_depth: usize,
    /// Number of positions that were searched.
    pub nodes: u64,
    /// Time since the search began.
    pub time: Duration,
}

impl Found {
    /// Positions a second.
    pub fn nodes_per_second(&self) -> u64 {
        let micros = u64::try_from(self.time.as_micros()).unwrap_or(u64::MAX).max(1);
        self.nodes.saturating_mul(1_000_000) / micros
    }
}
