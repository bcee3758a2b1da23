// SPDX-License-Identifier: GPL-3.0-or-later
//! Fitting categories together on labelled documents, and writing the result back as ordinary
//! category files (`docs/refit.md`).
//!
//! ```text
//! documents ─→ dataset ─→ solver ─→ select (settings, gate) ─→ blend ─→ publish (category files)
//!     ⇅           └──────→ ordinary ───┘         └→ calibrate ─→ header (`# refit` line)
//!  ledger ─→ state (one document at a time)
//! ```
//!
//! Learning looks at one category at a time. The fit here looks at all of them: a linear model with
//! squared hinge loss over the features of the categories, whose weights fit into the same files.

pub mod abreast;
pub mod beginning;
pub mod blend;
pub mod calibrate;
pub mod checksum;
pub mod corrections;
pub mod dataset;
pub mod documents;
pub mod explain;
pub mod fit;
pub mod forgetting;
pub mod general;
pub mod grounds;
pub mod header;
pub mod index;
pub mod keeper;
pub mod known;
pub mod ledger;
pub mod ordinary;
pub mod pages;
pub mod publish;
mod record;
pub mod relearn;
pub mod scoring;
pub mod seen;
pub mod select;
pub mod solver;
pub mod state;
pub mod stop;
pub mod store;
pub mod thresholds;
pub mod weighing;

pub(crate) use crate::numeric::elementary::real;
