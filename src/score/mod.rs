// SPDX-License-Identifier: GPL-3.0-or-later
//! Scores documents: from features and categories to a score of each category.
//!
//! ```text
//! features ─→ scorer (sums per category, in token order) ─→ document (entropy, variance, priors)
//!                                                             ├→ posterior, best category
//!                                                             └→ confidence, uncertainty
//! ```

pub mod confidence;
pub mod document;
pub mod empirical;
pub mod model;
pub mod scorer;
pub mod words;
