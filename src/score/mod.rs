// SPDX-License-Identifier: GPL-3.0-or-later
//! Scores documents: from features and categories to a score of each category.
//!
//! ```text
//! features ─→ scorer (sums per category, in token order) ─→ document (entropy, variance, priors)
//!                                                             ├→ posterior, best category
//!                                                             └→ confidence, uncertainty
//! ```

pub(crate) mod confidence;
pub(crate) mod document;
pub(crate) mod empirical;
pub(crate) mod model;
pub(crate) mod scorer;
pub(crate) mod words;
