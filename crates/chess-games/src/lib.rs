// SPDX-License-Identifier: GPL-3.0-or-later
//! Games of chess.
//!
//! ```text
//! bytes of PGN ─→ pgn (tags, words) ─→ gameline (moves in one spelling) ─→ prepare (training text)
//! moves ─→ game (positions, words, how it ends) ─→ encode (lines)
//! ```
#![warn(missing_docs)]
// Two arms with a pattern each read better than an if with two blocks.
#![allow(clippy::match_bool)]
// Panics here would be faults of this crate; the invariants are named where they are relied on.
#![allow(clippy::missing_panics_doc)]

pub mod cannot;
pub mod encode;
pub mod game;
pub mod gameline;
pub mod notation;
pub mod pgn;
pub mod prepare;
