// SPDX-License-Identifier: GPL-3.0-or-later
//! Lets the text classifier play chess.
//!
//! `play` lists the legal completions of a game and plays what has learned from games prefers:
//! without options the odds of `chess-odds`, a learner of choices over words; with the essay's
//! models the text classifier itself. These know nothing about good chess. Only `--play strong`
//! does: the search of `chess-search`, which evaluates by terms written by hand with values that
//! `chess_odds::worth` has learned. [`protocol`] speaks with chess interfaces, and `tools` learns,
//! measures and makes reports. Each of these modules uses only those named before it. Games and
//! text come from `chess-games`, books and endgame tables from `chess-tables`, the odds of moves
//! from `chess-odds`.
#![warn(missing_docs)]

pub mod cli;
mod play;
pub mod protocol;
mod tools;
