// SPDX-License-Identifier: GPL-3.0-or-later
//! Scores → text: everything that the programs print of a model or of a document.

pub mod dump;
pub mod print;
pub mod token;
pub mod trace;
