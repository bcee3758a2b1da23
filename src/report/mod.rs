// SPDX-License-Identifier: GPL-3.0-or-later
//! Scores → text: everything that the programs print of a model or of a document.

pub mod html;
pub mod print;
pub mod trace;
