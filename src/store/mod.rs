// SPDX-License-Identifier: GPL-3.0-or-later
//! A mail filter on disk: a table, a ledger and a journal.
//!
//! ```text
//! FOLDER/
//!     table          a row for each feature, an entry for each document, settings; replaced whole
//!     table.before   the table before the last change of the whole filter
//!     ledger.N       the features of each learned document, in order; records are only appended
//!     journal        lessons since the table was written; records are only appended
//!     general.N      the table of the general model, if there is one; never changed
//!     lock           held by whoever changes the filter
//! ```
//!
//! # How a filter changes
//!
//! A **lesson** appends one record to the journal and forces it to the device: before that it has
//! not happened, afterwards it has. Readers add the journal's records to the rows that they read.
//!
//! When the journal has grown to [`journal::LIMIT`] bytes it is **folded**: its documents are
//! appended to the ledger, and a new table with their sums is renamed over the old one. A **full
//! fit** writes a new ledger, too. In both cases the rename of the table is the one moment at which
//! the change happens:
//!
//! 1. The ledger is written, or appended to, and forced to the device. The old table names the
//!    ledger and the length that it knows.
//! 2. The journal gets a last record that names the table to come. It voids the journal for readers
//!    of that table, and for no one else.
//! 3. The new table is renamed over the old one.
//! 4. A new, empty journal that names the new table is renamed over the old one; ledgers that no
//!    table names are removed.
//!
//! Whatever a power cut leaves is therefore either the state before the change or the one after it.
//!
//! # What is exact
//!
//! A table follows from the ledger, the dual variables and the inputs of its documents alone: every
//! sum is an exact one of whole steps ([`crate::linear::Exact`]), so that a fold gives the bytes
//! that writing the same documents at once would give.

pub(crate) mod build;
mod copying;
pub(crate) mod document;
pub(crate) mod folder;
pub(crate) mod frames;
pub(crate) mod head;
pub(crate) mod journal;
pub(crate) mod open;
mod salvage;
pub(crate) mod table;
#[cfg(test)]
mod tests;

pub(crate) use build::Builder;
pub(crate) use document::{Document, Effect};
pub(crate) use folder::Stamp;
pub(crate) use folder::{Before, Changing, FilterError, FilterFolder};
pub(crate) use head::{Head, Reading};
pub(crate) use journal::Lesson;
pub(crate) use open::OpenTables;

/// Tiers of rows in a table, by how many documents have a feature.
pub(crate) const TIERS: usize = 3;

pub(crate) use crate::fit::blocks::BLOCKS;
