// SPDX-License-Identifier: GPL-3.0-or-later
//! Half-moves until mate in every ending of three and four men, by retrograde analysis.
//!
//! ```text
//! men (which ending) ─→ table (a byte for each position) ─→ build (mates, then what leads to them)
//!                                                              │
//!                       distances (all tables: files, memory) ←┘
//! ```

mod build;
mod check;
mod distances;
mod men;
mod table;

pub use check::Checked;
pub use distances::{Choices, Distances};
pub use men::Men;
pub use table::{Counts, Table};
