// SPDX-License-Identifier: GPL-3.0-or-later
//! Verdicts of categories on documents.
//!
//! ```text
//! categories ─→ CategorySet (can they be compared? how is a text read for all of them?)
//!                   └→ Classifier (document ─→ features ─→ scores) ─→ Verdict
//! ```
//!
//! [`shared`] decides how a text is read for several categories. [`explain`] shows the evidence of
//! each token.

pub(crate) mod classifier;
pub(crate) mod explain;
pub(crate) mod set;
pub(crate) mod shared;

pub use classifier::{Classifier, Verdict};
pub use set::CategorySet;
pub use shared::Incomparable;
