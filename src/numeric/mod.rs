// SPDX-License-Identifier: GPL-3.0-or-later
//! Everything that decides a bit of the results.

pub mod parse;
