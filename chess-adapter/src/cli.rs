// SPDX-License-Identifier: GPL-3.0-or-later
//! The verbs and their options; the only user of clap's parser.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{Args, Parser, Subcommand};

use crate::describe::Template;
use crate::encode::Encoding;
use crate::notation::Spelling;
use crate::prepare::{self, Describe, Statistics, TextFiles, Unfinished};

/// The text classifier plays chess.
#[derive(Debug, Parser)]
#[command(name = "chess-adapter", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// PGN files to training text
    Prepare(PrepareArgs),
}

/// How games become text; the same for every verb that reads PGN.
#[derive(Debug, Args)]
struct TextArgs {
    /// What unfinished games become
    #[arg(long, value_enum, default_value_t)]
    unfinished: Unfinished,
    /// Take games from set-up positions too
    #[arg(long)]
    keep_setup: bool,
    /// Leave out + and #
    #[arg(long)]
    no_check_marks: bool,
    /// Name the captured piece after the x, as in BxBc4
    #[arg(long)]
    victims: bool,
}

impl TextArgs {
    const fn spelling(&self) -> Spelling {
        Spelling { check_marks: !self.no_check_marks, victims: self.victims }
    }
}

#[derive(Debug, Args)]
struct PrepareArgs {
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
    /// Write descriptions of played and not played moves
    #[arg(long)]
    describe: bool,
    /// Describe the moves of at most N games a colour, 0 for all
    #[arg(long, value_name = "N", default_value_t = 1500)]
    describe_games: usize,
    /// Other legal moves drawn from each described position
    #[arg(long, value_name = "N", default_value_t = 2)]
    alternatives: usize,
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

/// Reads the template named on the command line, or gives the built-in one.
fn template(path: Option<&PathBuf>) -> Result<Template> {
    match path {
        None => Ok(Template::default()),
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            Template::parse(&text).with_context(|| format!("{}", path.display()))
        }
    }
}

fn run_prepare(args: &PrepareArgs) -> Result<ExitCode> {
    let describe = match args.describe {
        false => None,
        true => Some(Describe {
            template: template(args.template.as_ref())?,
            games: args.describe_games,
            alternatives: args.alternatives,
            seed: args.seed,
        }),
    };
    let options = prepare::Options {
        encodings: args.encodings.clone(),
        unfinished: args.text.unfinished,
        keep_setup: args.text.keep_setup,
        spelling: args.text.spelling(),
        describe,
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

/// Runs the program: reads the command line, does what it says, tells errors on standard error.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let done = match &cli.verb {
        Verb::Prepare(args) => run_prepare(args),
    };
    done.unwrap_or_else(|error| {
        if is_closed_pipe(&error) {
            return ExitCode::SUCCESS;
        }
        eprintln!("chess-adapter: {error:#}");
        ExitCode::FAILURE
    })
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io = error.chain().find_map(|e| e.downcast_ref::<std::io::Error>());
    io.is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}
