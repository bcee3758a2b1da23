// SPDX-License-Identifier: GPL-3.0-or-later
//! Categories and documents → verdicts.
//!
//! ```text
//! categories ─→ CategorySet (can they be compared? how is a text read for all of them?)
//!                   └→ Classifier (document ─→ features ─→ scores) ─→ Verdict
//! ```
//!
//! [`shared`] decides which reading suits several categories, [`fitted`] how categories judge that
//! were fitted together, [`explain`] tells which tokens decided.

pub mod classifier;
pub mod explain;
pub mod fitted;
pub mod set;
pub mod shared;

pub use classifier::{Classifier, DocumentScores, Verdict};
pub use fitted::{Fitted, FittedScores};
pub use set::CategorySet;
pub use shared::{Incomparable, SharedReading};
