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

pub(crate) mod beginning;
pub(crate) mod blocks;
pub(crate) mod calibrate;
pub(crate) mod checksum;
pub(crate) mod dataset;
pub(crate) mod general;
pub(crate) mod joint;
pub(crate) mod rule;
pub(crate) mod stop;
pub(crate) mod thresholds;
