// SPDX-License-Identifier: GPL-3.0-or-later
//! A maximum-entropy n-gram text classifier: the library behind the program `dbacl`.
//!
//! ```text
//! bytes → lines → text → tokens → features → counts → fit → category file        (learn)
//!                                     └→ mapped categories → scores → report     (classify)
//! ```
//!
//! Modules follow this flow; an arrow's left side never imports its right side.

#![warn(missing_docs)]

pub mod category;
pub mod chernoff;
pub mod classify;
#[cfg(feature = "cli")]
pub mod cli;
pub mod document;
pub mod error;

mod alloc_hints;
pub mod filter;
pub mod input;
pub mod learn;
pub mod lock;
pub mod metrics;
pub mod model;
pub mod numeric;
pub mod refit;
pub mod report;
pub mod risk;
pub mod save;
pub mod scale;
pub mod score;
pub mod token;

pub use category::reader::Category;
pub use classify::{CategorySet, Classifier, Verdict};
pub use error::{Error, Result, Warning, WarningSink};
pub use learn::learner::Learner;
pub use learn::options::LearnOptions;
