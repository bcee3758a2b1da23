// SPDX-License-Identifier: GPL-3.0-or-later
//! Sets of categories that are fitted together, for callers who have documents in memory.
//!
//! ```text
//! CategorySet + labelled documents ─→ JointFit ─→ Fit ─→ CategorySet
//! ```
//!
//! The mathematics is in [`crate::joint`]; how sets judge is in [`crate::classify`].

mod joint_fit;
mod reading;

pub use joint_fit::{Fit, JointFit};
