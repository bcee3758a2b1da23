// SPDX-License-Identifier: GPL-3.0-or-later
//! Games become text: PGN in, gamelines, encodings and descriptions out.

pub mod encode;
pub mod game;
pub mod notation;
pub mod pgn;
pub mod prepare;
