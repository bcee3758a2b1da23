// SPDX-License-Identifier: GPL-3.0-or-later
//! Values of chess positions that are learned from games, after `BayesChess` (Fernández and
//! Salmerón 2008).
//!
//! An evaluation is the sum of what a position has, each multiplied by its value. There are two
//! kinds ([`Kind`]): the 838 parameters of the paper, and the terms of the search. The values are
//! changed, games are played, and the values that win are learned: by a Bayesian network
//! ([`network`]), as the paper does it, or by a fit of all together ([`learning`]).
mod fit;
pub mod games;
pub mod kind;
pub mod learning;
pub mod network;
pub mod paper;
pub mod refining;

pub use kind::Kind;

/// Values in centipawns, in the middle game and in the ending.
pub type Values = Vec<[f32; 2]>;
