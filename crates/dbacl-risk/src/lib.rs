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
//! ```
//! use dbacl_risk::decide::{LossMatrix, Scores, decide};
//! use dbacl_risk::expression::evaluate;
//! use dbacl_risk::parse::parse;
//!
//! // Taking ham for spam costs nine times as much as taking spam for ham.
//! let text = br#"categories { ham, spam } prior { 1, 1 }
//!     loss_matrix { "" ham [0, 9] "" spam [1, 0] }"#;
//! let specification = parse(text, true, &mut |notice| panic!("{notice}"))?;
//! specification.check()?;
//! let mut losses = LossMatrix::ones(2);
//! for row in &specification.rows {
//!     losses.set_row(row.category, &evaluate(&row.formulas, None, true).columns);
//! }
//! // Cross-entropies in nats a token, and numbers of tokens: spam is somewhat likelier.
//! let (cross_entropy, complexity) = (vec![2.0, 1.9], vec![10.0, 10.0]);
//! let scores = Scores { cross_entropy, complexity, ..Scores::zero(2) };
//! let round = decide(&scores, &specification.log_priors, &losses)?;
//! assert_eq!(specification.categories[round.best], "ham"); // but not by enough
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! "spec tools 1" and its like name sections of dbacl's `docs/spec`.

pub mod advice;
pub mod decide;
pub mod evidence;
pub mod expression;
pub mod lexer;
pub mod parse;
