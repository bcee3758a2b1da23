// SPDX-License-Identifier: GPL-3.0-or-later
//! Training text and models from games: `prepare`, `learn`, `style`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use crate::tools::{learn, style};
use chess_games::encode::Encoding;
use chess_games::files::write_result;
use chess_games::prepare::{self, TextFiles, read_files};
use dbacl_cli::arguments::say;

#[derive(Debug, Args)]
pub(super) struct PrepareArgs {
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

pub(super) fn run_prepare(args: &PrepareArgs) -> Result<ExitCode> {
    let mut files = TextFiles::create(&args.output, &args.encodings)?;
    let statistics = read_files(&args.pgn, &args.text, &mut |game, _| files.take(game))?;
    let used = statistics.check_used(&args.pgn);
    // What was prepared before is not lost to games that cannot be used.
    if used.is_ok() {
        files.finish()?;
    }
    statistics.write(&mut std::io::stderr())?;
    let Err(fault) = used else { return Ok(ExitCode::SUCCESS) };
    say("chess-adapter", &fault.to_string());
    Ok(ExitCode::FAILURE)
}

pub(super) fn run_learn(options: &learn::Options) -> Result<ExitCode> {
    let statistics = learn::learn(options)?;
    statistics.write(&mut std::io::stderr())?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn run_style(options: &style::Options) -> Result<ExitCode> {
    write_result(None, format!("{}\n", style::learn(options)?).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
