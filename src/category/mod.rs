// SPDX-License-Identifier: GPL-3.0-or-later
//! The category file: a learned model as it is stored.

pub(crate) mod access;
pub(crate) mod header;
pub(crate) mod layout;
pub(crate) mod mapped;
pub(crate) mod reader;
pub(crate) mod writer;
