// SPDX-License-Identifier: GPL-3.0-or-later
//! Positions and moves become words.

pub mod basic;
pub mod context;
pub mod exchange;
pub mod legend;
pub mod rich;
