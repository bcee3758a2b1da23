// SPDX-License-Identifier: GPL-3.0-or-later
//! Integration tests: the real programs, from outside.

mod eval;
mod field;
mod mailcross;
