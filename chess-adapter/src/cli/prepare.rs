// SPDX-License-Identifier: GPL-3.0-or-later
//! Training text and models from games: `prepare`, `learn`, `style`, `book`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::Args;

use super::shared::{ProgramArgs, TextArgs, processors, template, write_output};
use crate::play::book::Counter;
use crate::play::classifier::ChildProcesses;
use crate::play::cluster;
use crate::play::style::Words;
use crate::text::encode::Encoding;
use crate::text::prepare::{self, Describe, Describe2, Statistics, TextFiles};
use crate::tools::learn::{self, Preset};

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
    /// Write descriptions of played and not played moves: 1, eight words; 2, many
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "1",
          value_name = "VERSION", value_parser = clap::value_parser!(u8).range(1..=2))]
    describe: Option<u8>,
    /// Describe the moves of at most N games a colour, 0 for all
    #[arg(long, value_name = "N", default_value_t = 1500)]
    describe_games: usize,
    /// Describe in many words the moves of at most N positions, 0 for all
    #[arg(long, value_name = "N", default_value_t = learn::POSITIONS)]
    describe_positions: usize,
    /// Other legal moves drawn from each described position; default: 2, with many words 8
    #[arg(long, value_name = "N")]
    alternatives: Option<usize>,
    /// Template of the descriptions, instead of the built-in one
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,
    /// Seed of the draw
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Write lines of position hash and move
    #[arg(long)]
    position_words: bool,
    /// Also cut the encodings asked for into opening, middle and end, with N words of overlap
    #[arg(long, value_name = "N")]
    phases: Option<usize>,
}

pub fn run_prepare(args: &PrepareArgs) -> Result<ExitCode> {
    let describe = match args.describe {
        Some(1) => Some(Describe {
            template: template(args.template.as_ref())?,
            games: args.describe_games,
            alternatives: args.alternatives.unwrap_or(2),
            seed: args.seed,
        }),
        _ => None,
    };
    let describe2 = args.describe.filter(|&version| version == 2).map(|_| Describe2 {
        positions: args.describe_positions,
        alternatives: args.alternatives.unwrap_or(learn::ALTERNATIVES),
        seed: args.seed,
    });
    let options = prepare::Options {
        encodings: args.encodings.clone(),
        unfinished: args.text.unfinished,
        keep_setup: args.text.keep_setup,
        spelling: args.text.spelling(),
        describe,
        describe2,
        position_words: args.position_words,
        phases: args.phases,
    };
    let mut files = TextFiles::create(&args.output, &options)?;
    let mut statistics = Statistics::default();
    prepare::read_files(&args.pgn, &options, &mut statistics, &mut [&mut files])?;
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
    /// Describe the moves of at most N games a colour, 0 for all
    #[arg(long, value_name = "N", default_value_t = 5000)]
    describe_games: usize,
    /// Describe in many words the moves of at most N positions, 0 for all
    #[arg(long, value_name = "N", default_value_t = learn::POSITIONS)]
    describe_positions: usize,
    /// Other legal moves drawn from each position described in many words
    #[arg(long, value_name = "N", default_value_t = learn::ALTERNATIVES)]
    alternatives: usize,
    /// Template of the descriptions, instead of the built-in one
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,
    /// Seed of the moves not played
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Keep the training text in DIR/text
    #[arg(long)]
    keep_text: bool,
    /// Learn so many categories at once
    #[arg(short, long, value_name = "N")]
    jobs: Option<usize>,
    #[command(flatten)]
    program: ProgramArgs,
}

pub fn run_learn(args: &LearnArgs) -> Result<ExitCode> {
    let template_text = match &args.template {
        None => None,
        Some(path) => Some(
            std::fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?,
        ),
    };
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
        describe_games: args.describe_games,
        describe_positions: args.describe_positions,
        alternatives: args.alternatives,
        seed: args.seed,
        template: template(args.template.as_ref())?,
        template_text,
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
    /// What styles are told by: the moves, four features of the game after ten moves, or both
    #[arg(long, value_enum, default_value_t)]
    words: Words,
    /// Keep every N-th game back and judge it after ten moves
    #[arg(long, value_name = "N", default_value_t = 0)]
    test_every: usize,
    #[command(flatten)]
    program: ProgramArgs,
}

pub fn run_style(args: &StyleArgs) -> Result<ExitCode> {
    let options = crate::play::style::Options {
        pgn: args.pgn.clone(),
        output: args.output.clone(),
        players: [args.attacking.clone(), args.positional.clone(), args.mixed.clone()],
        test_every: args.test_every,
        words: args.words,
    };
    let children = ChildProcesses::default();
    let outcome = crate::play::style::learn(&options, &args.program.program(&children))?;
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
    /// Write clusters of positions, for those a book does not know
    #[arg(long, conflicts_with_all = ["tree", "polyglot"])]
    clusters: bool,
    /// How many single piece moves positions of a cluster may be apart
    #[arg(long, value_name = "N", default_value_t = 2)]
    reach: usize,
    /// Print the book as a tree
    #[arg(long)]
    tree: bool,
    /// Depth of the tree
    #[arg(long, value_name = "N", default_value_t = 8)]
    depth: usize,
}

pub fn run_book(args: &BookArgs) -> Result<ExitCode> {
    let mut counter = Counter::new(if args.clusters { cluster::PLIES } else { args.plies });
    let mut statistics = Statistics::default();
    let options = prepare::Options::default();
    prepare::read_files(&args.pgn, &options, &mut statistics, &mut [&mut counter])?;
    let contents = if args.clusters {
        if args.pgn.is_empty() || args.pgn.iter().any(|p| p.as_os_str() == "-") {
            bail!("clusters need the games twice: name files");
        }
        let mut collector = cluster::Collector::new(&counter, args.min_count);
        let mut again = Statistics::default();
        prepare::read_files(&args.pgn, &options, &mut again, &mut [&mut collector])?;
        cluster::to_text(&counter, &collector, args.min_count, args.reach).into_bytes()
    } else if args.tree {
        counter.to_tree(args.depth, args.min_count).into_bytes()
    } else if args.polyglot {
        counter.to_polyglot(args.min_count)
    } else {
        counter.to_text(args.min_count).into_bytes()
    };
    write_output(args.output.as_deref(), &contents)?;
    Ok(ExitCode::from(u8::from(statistics.written == 0)))
}
