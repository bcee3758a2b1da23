// SPDX-License-Identifier: GPL-3.0-or-later
//! Descriptions of positions and moves by words.

pub mod basic;
pub mod captures;
pub mod checks;
pub mod context;
pub mod exchange;
pub mod legend;
pub mod rich;
pub mod view;
pub mod words;
