// SPDX-License-Identifier: GPL-3.0-or-later
//! Evaluations that the classifier has learned, after BayesChess (docs/chess.md).
//!
//! There are two. Of 838 [`parameters`] of an evaluation, games with perturbed values tell which
//! win most and which lose least. And [`positions`] become words, whose [`weights`] in the
//! classifier's categories of games that were won and lost say what a position is worth. Both know
//! three stages of a game ([`stage`]). [`evaluation`] opens either.

pub mod evaluation;
pub mod parameters;
pub mod positions;
pub mod stage;
pub mod weights;
