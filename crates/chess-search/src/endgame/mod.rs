// SPDX-License-Identifier: GPL-3.0-or-later
//! Endgame tables: for every position with few men, how many half-moves until mate.
//!
//! [`build`] makes the table of one [`Material`] by retrograde analysis from those that captures
//! and promotions lead to; [`EndgameTables`] keeps tables, reads them from files and writes them,
//! and answers for positions.

mod build;
mod file;
mod index;
mod material;
mod set;

pub use build::build;
pub use file::{FileError, Table};
pub use material::{Material, MaterialError};
pub use set::{EndgameTables, KIND};
