// SPDX-License-Identifier: GPL-3.0-or-later
//! Positions and moves become words.

pub mod basic;
pub mod captures;
pub mod checks;
pub mod context;
pub mod exchange;
pub mod legend;
pub mod rich;
pub mod view;
pub mod words;
