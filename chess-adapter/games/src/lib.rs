// SPDX-License-Identifier: GPL-3.0-or-later
//! Games of chess.
//!
//! ```text
//! bytes of PGN ─→ pgn (tags, words) ─→ gameline (moves in one spelling) ─→ prepare (training text)
//! moves ─→ game (positions, words, how it ends) ─→ encode (lines)
//! ```
#![warn(missing_docs)]

pub mod cannot;
pub mod encode;
pub mod files;
pub mod game;
pub mod gameline;
pub mod notation;
pub mod pgn;
pub mod prepare;
pub mod results;
mod signs;
