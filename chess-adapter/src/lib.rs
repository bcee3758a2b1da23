// SPDX-License-Identifier: GPL-3.0-or-later
//! Lets the text classifier play chess.
//!
//! The adapter knows the rules of chess and nothing about good chess. It says what a move does in
//! words ([`features`]), turns games into text and lists the legal completions of a game
//! ([`text`]), hands them to the classifier and plays what the classifier prefers ([`play`]),
//! speaks with chess interfaces ([`protocol`]), and learns, measures and shows ([`tools`]). Each of
//! these modules uses only those named before it.
#![warn(missing_docs)]
// Two arms with a pattern each read better than an if with two blocks.
#![allow(clippy::match_bool)]
// What can panic here are invariants of ours, named where they are relied on.
#![allow(clippy::missing_panics_doc)]

pub mod cli;
pub mod features;
pub mod play;
pub mod protocol;
pub mod random;
pub mod text;
pub mod tools;
