// SPDX-License-Identifier: GPL-3.0-or-later
//! What a mail filter keeps on disk: see [`filter`].

pub mod filter;
