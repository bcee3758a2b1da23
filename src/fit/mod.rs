// SPDX-License-Identifier: GPL-3.0-or-later
//! Fitting categories together on labelled documents, and writing the result back as ordinary
//! category files (`docs/spec/refit.md`).
//!
//! ```text
//! documents ─→ dataset ─→ solver ─→ select (settings, gate) ─→ blend ─→ publish (category files)
//!     ⇅           └──────→ ordinary ───┘         └→ calibrate ─→ header (`# refit` line)
//!  ledger ─→ state (one document at a time)
//! ```
//!
//! Learning looks at one category at a time. The fit here looks at all of them: a linear model with
//! squared hinge loss over the features of the categories, whose weights fit into the same files.

pub mod beginning;
pub mod blend;
pub mod by_blocks;
pub mod calibrate;
pub mod checksum;
pub mod dataset;
pub mod decision;
pub mod documents;
pub mod explain;
pub mod general;
pub mod header;
pub mod index;
pub mod joint;
pub mod keeper;
pub mod known;
pub mod lanewise;
pub mod ordinary;
pub mod publish;
pub mod scoring;
pub mod seen;
pub mod select;
pub mod solver;
pub mod stop;
pub mod support;
pub mod thresholds;
pub mod weighing;
