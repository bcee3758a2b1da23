// SPDX-License-Identifier: GPL-3.0-or-later
//! Training text and models from games: `prepare`, `learn`, `style`, `book`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use crate::play::files::write_result;
use crate::tools::{learn, read_games, style};
use chess_games::encode::Encoding;
use chess_games::prepare::{self, TextFiles};
use chess_tables::book::Counter;

#[derive(Debug, Args)]
pub struct PrepareArgs {
    /// PGN files; standard input if none, or for -
    pgn: Vec<PathBuf>,
    /// Folder for the text files
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Also write these encodings
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    encodings: Vec<Encoding>,
    #[command(flatten)]
    text: prepare::Options,
}

pub fn run_prepare(args: &PrepareArgs) -> Result<ExitCode> {
    let mut files = TextFiles::create(&args.output, &args.encodings)?;
    let statistics = read_games(&args.pgn, &args.text, &mut |game, _| files.take(game))?;
    files.finish()?;
    statistics.write(&mut std::io::stderr())?;
    Ok(ExitCode::from(u8::from(statistics.written == 0)))
}

pub fn run_learn(options: &learn::Options) -> Result<ExitCode> {
    let statistics = learn::learn(options)?;
    statistics.write(&mut std::io::stderr())?;
    Ok(ExitCode::SUCCESS)
}

pub fn run_style(options: &style::Options) -> Result<ExitCode> {
    println!("{}", style::learn(options)?);
    Ok(ExitCode::SUCCESS)
}

#[derive(Debug, Args)]
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

pub fn run_book(args: &BookArgs) -> Result<ExitCode> {
    let mut counter = Counter::new(args.plies);
    let statistics = read_games(&args.pgn, &prepare::Options::default(), &mut |game, _| {
        counter.take(game);
        Ok(())
    })?;
    let contents = if args.tree {
        counter.to_tree(args.depth, args.min_count).into_bytes()
    } else if args.polyglot {
        counter.to_polyglot(args.min_count)
    } else {
        counter.to_text(args.min_count).into_bytes()
    };
    write_result(args.output.as_deref(), &contents)?;
    Ok(ExitCode::from(u8::from(statistics.written == 0)))
}
