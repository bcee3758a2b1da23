// SPDX-License-Identifier: GPL-3.0-or-later
//! What a search keeps for the next one: evaluation, transposition table, statistics of cutoffs.

use std::sync::Arc;

use crate::evaluate::Evaluate;
use crate::ordering::Order;
use crate::table::Table;
use crate::values::Values;

/// Searches positions, and keeps its tables from one search to the next.
pub struct Searcher {
    pub(crate) table: Table,
    pub(crate) evaluation: Arc<dyn Evaluate>,
    pub(crate) order: Order,
    /// By how many half-moves late quiet moves are searched less deeply, indexed by depth and
    /// number of the move.
    pub(crate) reductions: Vec<[i32; 64]>,
}

impl Searcher {
    /// A searcher with a transposition table of at most so many megabytes, which evaluates
    /// positions by the values in the sources.
    pub fn new(megabytes: usize) -> Self {
        Self::by(Arc::new(Values::default()), megabytes)
    }

    /// The same by another evaluation.
    pub fn by(evaluation: Arc<dyn Evaluate>, megabytes: usize) -> Self {
        let reductions = (0..64u8)
            .map(|depth| {
                std::array::from_fn(|number| {
                    let number = f64::from(u8::try_from(number).unwrap_or(0)).max(1.0);
                    let less = 0.6 + f64::from(depth.max(1)).ln() * number.ln() / 2.3;
                    #[expect(clippy::cast_possible_truncation, reason = "below ten")]
                    let less = less as i32;
                    less
                })
            })
            .collect();
        Self { table: Table::new(megabytes), evaluation, order: Order::new(), reductions }
    }

    /// Empties all tables, for a new game.
    pub fn clear(&mut self) {
        self.table.clear();
        self.order = Order::new();
    }
}
