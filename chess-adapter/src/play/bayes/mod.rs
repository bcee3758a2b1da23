// SPDX-License-Identifier: GPL-3.0-or-later
//! Evaluations that the classifier has learned, after BayesChess (docs/chess.md).
//!
//! There are two kinds. An evaluation of 838 [`parameters`] takes for each the value that won most,
//! or lost least, in games with perturbed values. The other kind describes [`positions`] by words;
//! the [`weights`] of these words in the classifier's categories of won and lost games give the
//! value of a position. Both divide a game into three stages ([`stage`]). [`evaluation`] opens
//! either kind.

pub mod evaluation;
pub mod parameters;
pub mod positions;
pub mod stage;
pub mod weights;
