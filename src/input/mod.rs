// SPDX-License-Identifier: GPL-3.0-or-later
//! Bytes → lines: standard input, files and folders, cut into lines by the reference's rules.

pub mod header_fields;
pub mod indent;
pub mod lines;
pub mod mail_day;
pub mod mailbox;
mod patient;
pub mod source;
pub mod verdict_header;
