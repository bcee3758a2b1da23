// SPDX-License-Identifier: GPL-3.0-or-later
//! The category file: a learned model as it is stored.

pub mod access;
pub mod header;
pub mod layout;
pub mod mapped;
pub mod reader;
pub mod writer;
