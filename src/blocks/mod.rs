// SPDX-License-Identifier: GPL-3.0-or-later
//! Fits categories together on more documents than memory holds, on one machine or several
//! (`docs/text.md`, spec refit 9).
//!
//! ```text
//! documents ─→ tally ─→ frame (features that take part) ─→ numbered documents in blocks and chains
//!                                                              ⇅ tasks: count, round, score
//!                                      leader ─→ weights ─→ compose ─→ categories
//! ```
//!
//! Documents are dealt to *blocks* of a stated size, and blocks to at most [`CHAINS`] *chains*. In
//! each round every chain goes on from the common weights: it fits its blocks in turn and knows
//! nothing of the other chains. Then the changes of all chains are added up in their order. What
//! comes out depends on the documents, their order, the options and the size of a block. It does
//! not depend on how many classes are fitted at a time, on memory, threads or machines.

pub mod chain;
mod coding;
mod compose;
pub mod frame;
pub mod leader;
pub mod local;
pub mod tally;

pub use crate::joint::solver::Duals;
pub use chain::{Answer, Share, Task, work};
pub use frame::{Frame, Numberer, place};
pub use leader::{BlockFit, Chains, Leader};
pub use local::{LocalBlocks, needed};
pub use tally::{Tallier, Tally};

use crate::joint::fit::FitOptions;
use crate::learn::options::LearnOptions;
use std::io;

/// Chains at most.
pub const CHAINS: u64 = 8;

/// Features at most, where nothing else is said.
pub const FEATURES: usize = 1 << 19;

/// How categories are learned and fitted in blocks.
#[derive(Debug, Clone)]
pub struct BlockSettings {
    /// How documents are read, and their counts fitted: under the uniform measure, without regular
    /// expressions.
    pub learn: LearnOptions,
    /// The fit; cost and blend must be given.
    pub fit: FitOptions,
    /// Documents of a block, 1 at least.
    pub block: u64,
    /// Features that take part, at most.
    pub features: usize,
}

/// Why there is no fit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlockError {
    /// A category has no documents with features.
    #[error("no document of the category number {0} has features")]
    NoDocuments(usize),
    /// The settings do not suit blocks.
    #[error("{0}")]
    Settings(&'static str),
    /// Memory that was allowed is too small.
    #[error("{needed} bytes of memory are needed for {features} features")]
    Memory {
        /// What is needed.
        needed: u64,
        /// How many features take part.
        features: usize,
    },
    /// A temporary file cannot be written or read.
    #[error("temporary file: {0}")]
    Io(#[from] io::Error),
    /// Bytes from another process are damaged.
    #[error("the bytes of {0} are damaged")]
    Damaged(&'static str),
    /// Categories cannot be learned from the counts.
    #[error(transparent)]
    Learn(#[from] crate::Error),
    /// Somebody who does the work elsewhere has failed, or the caller has asked to stop.
    #[error("{0}")]
    Elsewhere(String),
}

/// Checks whether documents can be fitted in blocks with these settings.
///
/// # Errors
/// [`BlockError::Settings`].
pub fn check(settings: &BlockSettings) -> Result<(), BlockError> {
    use crate::model::settings::ModelOption;
    let (reading, learn) = (settings.learn.reading(), settings.learn.settings());
    let what = if settings.block == 0 {
        "a block has one document at least"
    } else if settings.fit.cost.is_none() || settings.fit.blend.is_none() {
        "cost and blend cannot be chosen in blocks"
    } else if !reading.patterns.is_empty() {
        "regular expressions cannot be learned in blocks"
    } else if learn.reference != crate::learn::reference::Reference::Uniform {
        "blocks need the uniform measure"
    } else if reading.reads_mail() || reading.has(ModelOption::Multinomial) {
        "mail and multinomial categories cannot be learned in blocks"
    } else {
        return Ok(());
    };
    Err(BlockError::Settings(what))
}
