// SPDX-License-Identifier: GPL-3.0-or-later
//! What is known of positions of chess without a search: opening books and endgame tables.
#![warn(missing_docs)]

pub mod book;
pub mod clusters;
pub mod endgames;
pub mod mates;
pub mod openings;
pub mod syzygy;
pub mod verbs;
