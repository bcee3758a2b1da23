// SPDX-License-Identifier: GPL-3.0-or-later
//! Lets the text classifier play chess.
//!
//! The adapter knows nothing about good chess. `play` lists the legal completions of a game, gives
//! them to the classifier and plays what it prefers. [`protocol`] speaks with chess interfaces, and
//! `tools` learns, measures and makes reports. Each of these modules uses only those named before
//! it. Games and text come from `chess-games`, books and endgame tables from `chess-tables`, the
//! search from `chess-search`, the odds of moves from `chess-odds`.
#![warn(missing_docs)]

pub mod cli;
mod play;
pub mod protocol;
mod tools;
