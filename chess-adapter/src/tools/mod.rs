// SPDX-License-Identifier: GPL-3.0-or-later
//! The programs around playing: learning, measuring, matches, pages.

pub(crate) mod arena;
pub(crate) mod evaluate;
pub(crate) mod first;
pub(crate) mod learn;
pub(crate) mod report;
pub(crate) mod style;
pub(crate) mod worth;
