// SPDX-License-Identifier: GPL-3.0-or-later
//! Lets the text classifier play chess.
//!
//! The adapter knows the rules of chess and nothing about good chess. It turns games into text ([`pgn`], [`notation`],
//! [`encode`], [`describe`], [`prepare`]), lists the legal completions of a game ([`game`]), hands them to the
//! classifier ([`classifier`], [`models`]) and plays what the classifier prefers ([`choose`], [`engine`]).
#![warn(missing_docs)]
// Two arms with a pattern each read better than an if with two blocks.
#![allow(clippy::match_bool)]
// What can panic here are invariants of ours, named where they are relied on.
#![allow(clippy::missing_panics_doc)]

pub mod arena;
pub mod book;
pub mod choose;
pub mod classifier;
pub mod cli;
pub mod cluster;
pub mod describe;
pub mod encode;
pub mod engine;
pub mod evaluate;
pub mod exchange;
pub mod game;
pub mod learn;
pub mod many_words;
pub mod models;
pub mod notation;
pub mod pgn;
pub mod play;
pub mod prepare;
pub mod random;
pub mod report;
pub mod settings;
pub mod style;
pub mod tables;
pub mod uci;
pub mod why;
pub mod xboard;
