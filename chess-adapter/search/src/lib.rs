// SPDX-License-Identifier: GPL-3.0-or-later
//! Finds good chess moves by looking ahead.
//!
//! A [`Searcher`] answers a [`Request`] - a position, how it came about, and [`Limits`] - with the
//! best moves and their values in centipawns. It looks ahead by iterative deepening with principal
//! variation search, and evaluates the positions where looking ahead ends ([`Evaluate`]): by what
//! they have ([`terms`]), and what that is worth ([`Values`]).
//! Tables of endgames may be plugged in ([`Ending`]).
//!
//! The crate knows the rules of chess from `shakmaty`; it knows neither protocols nor text.
//!
//! ```
//! use chess_search::{Limits, Request, Searcher};
//! use shakmaty::{CastlingMode, fen::Fen};
//!
//! let fen: Fen = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1".parse().expect("a good FEN");
//! let position = fen.into_position(CastlingMode::Standard).expect("a legal position");
//! let mut searcher = Searcher::new(1);
//! let found = searcher.search(&Request::new(&position, Limits::depth(4)), &mut |_| {});
//! assert_eq!(found.lines[0].moves[0].to().to_string(), "a8");
//! assert_eq!(found.lines[0].value.mate_in(), Some(1));
//! ```
#![warn(missing_docs)]

pub mod board;
mod checks;
mod evaluate;
mod exchange;
mod limits;
mod moves;
mod ordering;
mod request;
mod search;
mod searcher;
mod table;
mod terms;
mod tree;
pub mod values;

pub use checks::Checks;
pub use evaluate::Evaluate;
pub use exchange::{Capture, attackers, captures, cheapest, exchange_value};
pub use limits::{Clock, Limits};
pub use moves::{PackedMove, after_move};
pub use request::{Advice, Ending, Found, Line, Request};
pub use searcher::Searcher;
pub use terms::{FULL, TEMPO, TERMS, UNIT, name as name_of_term, pieces_left, terms};
pub use tree::key_of;
pub use values::Values;

/// The value of being mated now, centipawns, negated.
const MATE: i32 = 32_000;
/// Values beyond this one mean a mate that was seen.
const MATE_SEEN: i32 = MATE - 1_000;
/// Half-moves that a search can be deep.
const MAX_PLY: usize = 128;

/// What a move or position is worth, for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Value(i32);

impl Value {
    /// Centipawns; those of a mate are beyond 30,000.
    pub const fn centipawns(self) -> i32 {
        self.0
    }

    /// Moves until mate, negative for being mated; `None` if no mate was seen.
    pub const fn mate_in(self) -> Option<i32> {
        if self.0 > MATE_SEEN {
            Some((MATE - self.0 + 1) / 2)
        } else if self.0 < -MATE_SEEN {
            Some(-((MATE + self.0 + 1) / 2))
        } else {
            None
        }
    }
}
