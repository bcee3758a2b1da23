// SPDX-License-Identifier: GPL-3.0-or-later
//! What a search asks of an evaluation.

use shakmaty::Chess;

/// Says what positions are worth where looking ahead ends.
pub trait Evaluate: Send + Sync {
    /// What a position is worth without looking ahead, centipawns for the side to move.
    fn evaluate(&self, position: &Chess) -> i32;
}
