// SPDX-License-Identifier: GPL-3.0-or-later
//! Lets the text classifier play chess.
//!
//! The adapter knows the rules of chess and nothing about good chess. [`features`] describes moves
//! by words. [`text`] turns games into text and lists the legal completions of a game. [`play`]
//! gives these to the classifier and plays what it prefers. [`protocol`] speaks with chess
//! interfaces, and [`tools`] learns, measures and makes reports. Each of these modules uses only
//! those named before it.
#![warn(missing_docs)]
// Two arms with a pattern each read better than an if with two blocks.
#![allow(clippy::match_bool)]
// Panics here would be faults of this crate; the invariants are named where they are relied on.
#![allow(clippy::missing_panics_doc)]

pub mod cli;
pub mod features;
pub mod play;
pub mod protocol;
pub mod random;
pub mod text;
pub mod tools;
