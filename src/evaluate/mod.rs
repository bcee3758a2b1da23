// SPDX-License-Identifier: GPL-3.0-or-later
//! How good is a filter: cross-validation and online simulations of any command that classifies
//! mail (spec tools 3).
//!
//! ```text
//! mailboxes ─ mbox → messages ─ folder → folds
//! folds ─ command (learner, filter) → log ─ table → recall, precision, total
//! ```

pub mod classifier;
pub mod command;
pub mod folder;
pub mod mbox;
pub mod measure;
pub mod order;
pub mod parallel;
pub mod peer;
pub mod protocol;
#[cfg(test)]
pub(crate) mod script;
pub mod table;
