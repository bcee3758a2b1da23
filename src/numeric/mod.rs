// SPDX-License-Identifier: GPL-3.0-or-later
//! Everything that decides a bit: one home per formula, explicit widths, sums in stated order.

pub mod cformat;
pub mod elementary;
pub mod exponentials;
pub mod logarithms;
pub mod parse;
pub mod quantize;
pub mod random;
pub mod special;
