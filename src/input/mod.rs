// SPDX-License-Identifier: GPL-3.0-or-later
//! Bytes → lines: standard input, files and folders, cut into lines by the reference's rules.

pub(crate) mod indent;
pub(crate) mod lines;
pub(crate) mod patient;
pub(crate) mod source;
