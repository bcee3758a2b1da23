// SPDX-License-Identifier: GPL-3.0-or-later
//! The protocols of chess interfaces: parses lines into commands, and answers commands with
//! replies.

pub mod dialogue;
pub mod uci;
pub mod xboard;
