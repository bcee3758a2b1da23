// SPDX-License-Identifier: GPL-3.0-or-later
//! What is learned of games, and how.

/// What to learn, and how.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The most positions, drawn uniformly from all of all games; 0 for all.
    pub positions: usize,
    /// Seed of their order.
    pub seed: u64,
    /// Threads that describe moves and search; the result does not depend on them.
    pub threads: usize,
    /// Half-moves that the second stage looks ahead; 0 for no second stage.
    pub depth: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { positions: 0, seed: 1, threads: 1, depth: 0 }
    }
}
