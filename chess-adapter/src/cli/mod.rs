// SPDX-License-Identifier: GPL-3.0-or-later
//! The verbs and their options; the only user of clap's parser.

mod engine;
mod judge;
mod play;
mod prepare;

use std::process::ExitCode;

use chess_games::cannot::Cannot;
use clap::{CommandFactory as _, Parser, Subcommand};
use dbacl_cli::{arguments, last_resort, status};

use judge::{EvaluateArgs, ReportArgs, WhyArgs, run_evaluate, run_report, run_why};
use play::{MatchArgs, PlayArgs, run_match, run_play};
use prepare::{PrepareArgs, run_learn, run_prepare, run_style};

use crate::tools::{learn, style, worth};
use chess_tables::verbs::{BookArgs, TablesArgs};

const NAME: &str = "chess-adapter";

/// The text classifier plays chess.
#[derive(Debug, Parser)]
#[command(name = "chess-adapter", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

/// The verbs and their options, from which completions and manual page are made.
pub fn command() -> clap::Command {
    Cli::command()
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// PGN files to training text
    Prepare(PrepareArgs),
    /// PGN files to a folder of models, ready to play
    Learn(learn::Options),
    /// Play in a chess interface that speaks XBoard or UCI
    Play(PlayArgs),
    /// Measure the share of master moves found
    Evaluate(EvaluateArgs),
    /// Play games against a random mover, itself or a UCI engine
    Match(MatchArgs),
    /// Explain a move by the classifier's own evidence
    Why(WhyArgs),
    /// Learn to recognise players' styles
    Style(style::Options),
    /// PGN files to an opening book
    Book(BookArgs),
    /// Make endgame tables by retrograde analysis
    Tables(TablesArgs),
    /// Learn what pieces and squares are worth, from games against itself
    Worth(worth::Options),
    /// A game as one HTML page: boards, likeliest moves, evidence
    Report(ReportArgs),
}

/// Runs the program: reads the command line, does what it says, reports errors on standard error.
pub fn main() -> ExitCode {
    last_resort::install(NAME, ": ");
    let cli: Cli = match arguments::read(NAME, status::USAGE) {
        Ok(cli) => cli,
        Err(status) => return status,
    };
    let done = match &cli.verb {
        Verb::Prepare(args) => run_prepare(args),
        Verb::Learn(args) => run_learn(args),
        Verb::Play(args) => run_play(args),
        Verb::Evaluate(args) => run_evaluate(args),
        Verb::Match(args) => run_match(args),
        Verb::Why(args) => run_why(args),
        Verb::Book(args) => args.run(),
        Verb::Tables(args) => args.run(),
        Verb::Report(args) => run_report(args),
        Verb::Worth(args) => args.run(),
        Verb::Style(args) => run_style(args),
    };
    done.unwrap_or_else(|error| {
        if is_closed_pipe(&error) {
            return ExitCode::SUCCESS;
        }
        arguments::say(NAME, &format!("{error:#}"));
        // Specified so (spec/chess.md, section 2).
        let is_prepare = matches!(cli.verb, Verb::Prepare(_));
        ExitCode::from(if is_prepare { 1 } else { status_of(&error) })
    })
}

/// The status for an error: of a file, of the classifier, or of what a file holds.
fn status_of(error: &anyhow::Error) -> u8 {
    match (error.downcast_ref::<Cannot>(), of_system(error)) {
        (Some(Cannot::Read(_)), Some(io)) => status::of_input(io),
        (Some(Cannot::Read(_)), None) => status::NO_INPUT,
        (Some(Cannot::Write(_)), _) => status::CANNOT_CREATE,
        (Some(Cannot::Run(_)), _) => status::UNAVAILABLE,
        (None, Some(_)) => status::IO,
        (None, None) => status::DATA,
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    of_system(error).is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// The error of the operating system that is the reason for this one, if there is one.
fn of_system(error: &anyhow::Error) -> Option<&std::io::Error> {
    error.chain().find_map(|error| error.downcast_ref())
}
