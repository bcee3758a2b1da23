// SPDX-License-Identifier: GPL-3.0-or-later
//! Verbs of the adapter, with their options.

mod book;
mod tables;

pub use book::BookArgs;
pub use tables::TablesArgs;
