// SPDX-License-Identifier: GPL-3.0-or-later
//! Why there is no fit in blocks.

use std::io;

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
