// SPDX-License-Identifier: GPL-3.0-or-later
//! The programs around playing: learning, measuring, matches, pages.

pub mod arena;
pub mod evaluate;
pub mod learn;
pub mod report;
pub mod style;
pub mod worth;
