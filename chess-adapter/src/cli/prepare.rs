// SPDX-License-Identifier: GPL-3.0-or-later
//! Training text and models from games: `prepare`, `learn`, `style`, `book`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use super::shared::{ProgramArgs, TextArgs, processors, write_output};
use crate::play::classifier::ChildProcesses;
use crate::tools::learn::{self, Preset};
use crate::tools::read_games;
use chess_games::encode::Encoding;
use chess_games::prepare::{self, Statistics, TextFiles};
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
    text: TextArgs,
}

pub fn run_prepare(args: &PrepareArgs) -> Result<ExitCode> {
    let options = prepare::Options {
        encodings: args.encodings.clone(),
        unfinished: args.text.unfinished,
        keep_setup: args.text.keep_setup,
        spelling: args.text.spelling(),
    };
    let mut files = TextFiles::create(&args.output, &options)?;
    let mut statistics = Statistics::default();
    read_games(&args.pgn, &options, &mut statistics, &mut |game| files.take(game))?;
    files.finish()?;
    statistics.write(&mut std::io::stderr())?;
    Ok(ExitCode::from(u8::from(statistics.written == 0)))
}

#[derive(Debug, Args)]
pub struct LearnArgs {
    /// PGN files; standard input if none, or for -
    pgn: Vec<PathBuf>,
    /// The model folder
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Which models to learn
    #[arg(long, value_enum, default_value_t)]
    preset: Preset,
    #[command(flatten)]
    text: TextArgs,
    /// Learn at most N positions, drawn from all of all games; 0 for all
    #[arg(long, value_name = "N", default_value_t = learn::POSITIONS, alias = "describe-positions")]
    positions: usize,
    /// Learn all positions
    #[arg(long, conflicts_with = "positions")]
    all: bool,
    /// Half-moves that the second stage of the odds looks ahead; 0 for no second stage
    #[arg(long, value_name = "N", default_value_t = learn::DEPTH,
          value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(0..=12))]
    search_words: usize,
    /// Seed of the draw
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Keep the training text in DIR/text
    #[arg(long)]
    keep_text: bool,
    /// Learn so many categories at once
    #[arg(short, long, alias = "threads", value_name = "N")]
    jobs: Option<usize>,
    #[command(flatten)]
    program: ProgramArgs,
}

pub fn run_learn(args: &LearnArgs) -> Result<ExitCode> {
    let options = learn::Options {
        pgn: args.pgn.clone(),
        output: args.output.clone(),
        preset: args.preset,
        text: prepare::Options {
            unfinished: args.text.unfinished,
            keep_setup: args.text.keep_setup,
            spelling: args.text.spelling(),
            ..prepare::Options::default()
        },
        positions: if args.all { 0 } else { args.positions },
        depth: args.search_words,
        seed: args.seed,
        keep_text: args.keep_text,
        jobs: processors(args.jobs),
    };
    let statistics = learn::learn(&options, &args.program.program(&ChildProcesses::default()))?;
    statistics.write(&mut std::io::stderr())?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Debug, Args)]
pub struct StyleArgs {
    /// PGN files
    #[arg(required = true)]
    pgn: Vec<PathBuf>,
    /// Folder for the three categories
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// An attacking player's name, or a part of it; may repeat
    #[arg(long, value_name = "NAME", required = true)]
    attacking: Vec<String>,
    /// A positional player's name; may repeat
    #[arg(long, value_name = "NAME", required = true)]
    positional: Vec<String>,
    /// The name of a player of mixed style; may repeat
    #[arg(long, value_name = "NAME", required = true)]
    mixed: Vec<String>,
    /// Keep every N-th game back and judge it after ten moves
    #[arg(long, value_name = "N", default_value_t = 0)]
    test_every: usize,
    #[command(flatten)]
    program: ProgramArgs,
}

pub fn run_style(args: &StyleArgs) -> Result<ExitCode> {
    let options = crate::tools::style::Options {
        pgn: args.pgn.clone(),
        output: args.output.clone(),
        players: [args.attacking.clone(), args.positional.clone(), args.mixed.clone()],
        test_every: args.test_every,
    };
    let children = ChildProcesses::default();
    let outcome = crate::tools::style::learn(&options, &args.program.program(&children))?;
    children.close();
    let [attacking, positional, mixed] = outcome.learned;
    println!("learned: attacking {attacking}, positional {positional}, mixed {mixed} games");
    if outcome.judged > 0 {
        println!(
            "kept back {} games, judged rightly after ten moves: {}",
            outcome.judged, outcome.right
        );
    }
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
    let mut statistics = Statistics::default();
    let options = prepare::Options::default();
    read_games(&args.pgn, &options, &mut statistics, &mut |game| {
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
    write_output(args.output.as_deref(), &contents)?;
    Ok(ExitCode::from(u8::from(statistics.written == 0)))
}
