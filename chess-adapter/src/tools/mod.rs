// SPDX-License-Identifier: GPL-3.0-or-later
//! The programs around playing: learning, measuring, matches, pages.

pub mod arena;
pub mod evaluate;
pub mod learn;
pub mod report;
pub mod style;

use std::path::PathBuf;

use anyhow::Result;
use chess_games::prepare::{self, Options, Statistics, Take};

/// Reads games, with a line of progress on a terminal.
pub fn read_games(pgn: &[PathBuf], options: &Options, take: Take<'_>) -> Result<Statistics> {
    let read = || prepare::read_files(pgn, options, take);
    dbacl_cli::progress::watch("reading games", || None, read)
}
