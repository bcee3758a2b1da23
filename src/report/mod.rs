// SPDX-License-Identifier: GPL-3.0-or-later
//! Turns scores into text: everything that the programs print about a model or a document.

pub(crate) mod evidence;
pub mod html;
pub(crate) mod print;
pub(crate) mod trace;
