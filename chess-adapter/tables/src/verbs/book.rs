// SPDX-License-Identifier: GPL-3.0-or-later
//! The verb `book`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use chess_games::files::write_result;
use chess_games::game::Game;
use chess_games::prepare::{Options, read_files};

use crate::book::Counter;
use crate::clusters::{self, Clusters};

/// Half-moves that a book counts.
const PLIES: usize = 24;

/// What to write of the openings of games.
#[derive(Debug, clap::Args)]
pub struct BookArgs {
    /// PGN files; standard input if none, or for -
    pgn: Vec<PathBuf>,
    /// Where to write; standard output if missing
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Half-moves counted of each game; default: 24, with --clusters and --near 40
    #[arg(long, value_name = "N")]
    plies: Option<usize>,
    /// Moves seen less often are left out
    #[arg(long, value_name = "N", default_value_t = 3)]
    min_count: u32,
    /// Write a Polyglot file
    #[arg(long, conflicts_with = "tree")]
    polyglot: bool,
    /// Print the book as a tree
    #[arg(long)]
    tree: bool,
    /// Print clusters of positions that are at most D moves apart
    #[arg(long, value_name = "D", conflicts_with_all = ["polyglot", "tree"])]
    clusters: Option<usize>,
    /// Print the known positions nearest to the one after these moves, given as one argument, and
    /// at most five moves that lead to one of them
    #[arg(long, value_name = "MOVES", conflicts_with_all = ["polyglot", "tree", "clusters"])]
    near: Option<String>,
    /// Depth of the tree
    #[arg(long, value_name = "N", default_value_t = 8)]
    depth: usize,
}

impl BookArgs {
    /// Reads the games and writes the book.
    ///
    /// # Errors
    ///
    /// A file cannot be read or written, or there is nothing to write.
    pub fn run(&self) -> Result<ExitCode> {
        let mut asked = Game::default();
        asked.play_words(self.near.as_deref().unwrap_or_default())?;
        let is_tree_of_boards = self.clusters.is_some() || self.near.is_some();
        let plies = if is_tree_of_boards { clusters::PLIES } else { PLIES };
        let mut counter = Counter::new(self.plies.unwrap_or(plies));
        let statistics = read_files(&self.pgn, &Options::default(), &mut |game, _| {
            counter.take(game);
            Ok(())
        })?;
        statistics.check_used(&self.pgn)?;
        let (book, times) = (counter.to_book(self.min_count), self.min_count);
        ensure!(book.nodes().next().is_some(), "no move was played {times} times: see --min-count");
        let contents = if self.near.is_some() {
            Clusters::of(&book, 0).near(&asked).into_bytes()
        } else if let Some(reach) = self.clusters {
            Clusters::of(&book, reach).to_text().into_bytes()
        } else if self.tree {
            book.to_tree(self.depth).into_bytes()
        } else if self.polyglot {
            counter.to_polyglot(self.min_count)
        } else {
            counter.to_text(self.min_count).into_bytes()
        };
        write_result(self.output.as_deref(), &contents)?;
        Ok(ExitCode::SUCCESS)
    }
}
