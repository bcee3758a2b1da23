// SPDX-License-Identifier: GPL-3.0-or-later
//! The verb `book`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use chess_games::files::write_result;
use chess_games::prepare::{Options, read_files};

use crate::book::Counter;

/// What to write of the openings of games.
#[derive(Debug, clap::Args)]
pub struct BookArgs {
    /// PGN files; standard input if none, or for -
    pgn: Vec<PathBuf>,
    /// Where to write; standard output if missing
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Half-moves counted of each game
    #[arg(long, value_name = "N", default_value_t = 24)]
    plies: usize,
    /// Moves seen less often are left out
    #[arg(long, value_name = "N", default_value_t = 3)]
    min_count: u32,
    /// Write a Polyglot file
    #[arg(long, conflicts_with = "tree")]
    polyglot: bool,
    /// Print the book as a tree
    #[arg(long)]
    tree: bool,
    /// Depth of the tree
    #[arg(long, value_name = "N", default_value_t = 8)]
    depth: usize,
}

impl BookArgs {
    /// Reads the games and writes the book.
    ///
    /// # Errors
    ///
    /// A file cannot be read or written.
    pub fn run(&self) -> Result<ExitCode> {
        let mut counter = Counter::new(self.plies);
        let statistics = read_files(&self.pgn, &Options::default(), &mut |game, _| {
            counter.take(game);
            Ok(())
        })?;
        let contents = if self.tree {
            counter.to_tree(self.depth, self.min_count).into_bytes()
        } else if self.polyglot {
            counter.to_polyglot(self.min_count)
        } else {
            counter.to_text(self.min_count).into_bytes()
        };
        write_result(self.output.as_deref(), &contents)?;
        Ok(ExitCode::from(u8::from(statistics.written == 0)))
    }
}
