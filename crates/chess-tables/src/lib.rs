// SPDX-License-Identifier: GPL-3.0-or-later
//! What is known of positions of chess without a search: opening books and endgame tables.
#![warn(missing_docs)]
// Panics here would be faults of this crate; the invariants are named where they are relied on.
#![allow(clippy::missing_panics_doc)]

pub mod book;
pub mod syzygy;
