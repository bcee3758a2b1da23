// SPDX-License-Identifier: GPL-3.0-or-later
//! Decisions with unequal costs: finds the category with the smallest expected loss from a risk
//! specification and a document's scores (spec tools 1).
//!
//! ```text
//! specification ─ parse → categories, priors, rows (condition, formulas)
//! document lines ─ evidence → scores, captured numbers, which rows apply
//! rows ─ expression → losses;    scores, priors, losses ─ decide → decision
//! ```
//!
//! All arithmetic is on natural logarithms, in f64.
//!
//! "spec tools 1" and its like name sections of dbacl's `docs/spec`.

pub(crate) mod advice;
pub(crate) mod decide;
pub(crate) mod evidence;
pub(crate) mod expression;
pub(crate) mod lexer;
pub(crate) mod parse;
