// SPDX-License-Identifier: GPL-3.0-or-later
//! Bytes → lines: standard input, files and folders, cut into lines by the reference's rules.

pub mod indent;
pub mod lines;
pub mod patient;
pub mod source;
