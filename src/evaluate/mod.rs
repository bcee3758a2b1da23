// SPDX-License-Identifier: GPL-3.0-or-later
//! How good is a filter: cross-validation and online simulations of any command that classifies
//! mail (spec tools 3).
//!
//! ```text
//! mailboxes ─ mbox → messages ─ folder → folds
//! folds ─ command (learner, filter) → log ─ table → recall, precision, total
//! ```

pub mod command;
pub mod folder;
pub mod mbox;
pub mod order;
pub mod table;
