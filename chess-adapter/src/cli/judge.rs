// SPDX-License-Identifier: GPL-3.0-or-later
//! What the classifier says of moves: `evaluate`, `why`, `report`.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow, bail};
use chess_games::cannot::Cannot;
use clap::Args;
use shakmaty::Color;

use super::engine::ModelArgs;
use crate::play::models::Manifest;
use crate::play::why;
use crate::tools::evaluate;
use chess_games::files::write_result;
use chess_games::notation::Spelling;
use chess_games::pgn::Games;
use chess_games::prepare::{Gameline, open};

#[derive(Debug, Args)]
pub(super) struct EvaluateArgs {
    #[command(flatten)]
    engine: ModelArgs,
    /// Positions, one a line: gameline, tab, the move played
    #[arg(long, value_name = "FILE", required = true)]
    positions: Vec<PathBuf>,
    /// Evaluate every voice of the model folder
    #[arg(long)]
    all_voices: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run_evaluate(args: &EvaluateArgs) -> Result<ExitCode> {
    let print = |text: &str| write_result(None, format!("{text}\n").as_bytes());
    let mut reports = serde_json::Map::new();
    for path in &args.positions {
        let file = File::open(path).with_context(|| Cannot::Read(path.into()))?;
        let cases = evaluate::read_cases(BufReader::new(file));
        let cases = cases.with_context(|| path.display().to_string())?;
        let name = path.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let mut engine = args.engine.loaded_engine()?;
        let turn = if cases[0].is_white() { Color::White } else { Color::Black };
        let voices: Vec<String> = match (&args.engine.models, args.all_voices) {
            (Some(models), true) => {
                Manifest::read(models)?.voices(turn).into_iter().map(str::to_owned).collect()
            }
            (None, true) => bail!("--all-voices needs a model folder"),
            _ => vec![engine.settings().voice.clone()],
        };
        if !args.json {
            let white = cases.iter().filter(|case| case.is_white()).count();
            let to_move = match (white, cases.len() - white) {
                (_, 0) => "White to move".to_owned(),
                (0, _) => "Black to move".to_owned(),
                (white, black) => format!("White to move in {white}, Black in {black}"),
            };
            print(&format!("{name}: {to_move}\n{}", evaluate::HEADING))?;
        }
        for voice in voices {
            if args.all_voices {
                // Only the colour that is classified needs the voice; the other may not have it.
                engine.set_option("Voice", &voice)?;
                engine.load();
            }
            let report = evaluate::evaluate(&mut engine, &cases)?;
            if args.json {
                reports.insert(
                    format!("{name} {voice}").trim().to_owned(),
                    serde_json::to_value(report)?,
                );
            } else {
                print(&report.row(if voice.is_empty() { "(default)" } else { &voice }))?;
            }
        }
    }
    if args.json {
        print(&serde_json::to_string_pretty(&reports)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Debug, Args)]
pub(super) struct WhyArgs {
    #[command(flatten)]
    engine: ModelArgs,
    /// The moves played before, as one argument
    #[arg(long, value_name = "MOVES", default_value = "", hide_default_value = true)]
    moves: String,
    /// The move to explain; default: the best one
    #[arg(long = "move", value_name = "MOVE", default_value = "", hide_default_value = true)]
    word: String,
}

pub(super) fn run_why(args: &WhyArgs) -> Result<ExitCode> {
    let mut engine = args.engine.loaded_engine()?;
    engine.game.play_words(&args.moves)?;
    let lines = why::explain(&mut engine, &args.word)?;
    write_result(None, format!("{}\n", lines.join("\n")).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    #[command(flatten)]
    engine: ModelArgs,
    /// The PGN file
    #[arg(long, value_name = "FILE")]
    pgn: PathBuf,
    /// Which game of the file, from 1
    #[arg(long, value_name = "N", default_value_t = 1)]
    game: usize,
    /// Where to write; standard output if missing
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run_report(args: &ReportArgs) -> Result<ExitCode> {
    let raw = Games::new(open(&args.pgn)?).nth(args.game.max(1) - 1).transpose()?;
    let name = args.pgn.display();
    let raw = raw.with_context(|| format!("{name} has fewer games than {}", args.game))?;
    let game = Gameline::replay(&raw, Spelling::default(), true)
        .map_err(|reason| anyhow!("{name}: game {}: {reason}", args.game))?;
    let mut engine = args.engine.loaded_engine()?;
    let page = crate::tools::report::page(&mut engine, &raw, &game)?;
    write_result(args.output.as_deref(), page.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
