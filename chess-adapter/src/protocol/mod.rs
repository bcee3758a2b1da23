// SPDX-License-Identifier: GPL-3.0-or-later
//! The protocols of chess interfaces: lines to commands, commands to replies.

pub mod dialogue;
pub mod uci;
pub mod xboard;
