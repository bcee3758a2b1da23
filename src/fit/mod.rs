// SPDX-License-Identifier: GPL-3.0-or-later
//! The fit of a mail filter, and how its scores become verdicts (`docs/spec/refit.md`).
//!
//! ```text
//! messages ─→ dataset ─→ fit (cross-validation, thresholds, calibrate) ─→ rule, dual variables
//!                         ↑                                                │
//!                      general                            scores, rule ────┴→ verdict
//! ```
//!
//! There are no files here: the filter on disk is in `crate::store`.

pub mod beginning;
pub mod blocks;
pub mod calibrate;
pub mod checksum;
pub mod dataset;
pub mod explain;
pub mod general;
pub mod joint;
pub mod rule;
pub mod stop;
pub mod thresholds;
