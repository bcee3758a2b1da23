// SPDX-License-Identifier: GPL-3.0-or-later
//! The parts that dbacl is made of: documents to features, features to counts, categories and
//! scores. The crate `dbacl` is the interface for users; this one changes without notice.
//!
//! ```text
//! input → filter → token → document → learn → category
//!                              └────→ score → report
//! ```
//!
//! The left side of an arrow never imports the right side.

#![warn(missing_docs)]

pub mod alloc_hints;
pub mod category;
pub mod container;
pub mod document;
pub mod error;
pub mod input;
pub mod learn;
pub mod parallel;
pub mod report;
pub mod score;
pub mod shards;
pub mod token;

#[cfg(test)]
mod tests;
