// SPDX-License-Identifier: GPL-3.0-or-later
//! What decides a bit: the formulas and number formats of the crate `dbacl-numeric`, and the form
//! in which weights are stored.

pub mod quantize;

pub use dbacl_numeric::{cformat, elementary, exponentials, logarithms, parse, random, special};
