// SPDX-License-Identifier: GPL-3.0-or-later
//! Games: `play` in an interface, and `match` against an opponent.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use chess_games::cannot::Cannot;
use chess_games::files::write_result;
use clap::Args;
use shakmaty::{Color, KnownOutcome};

use super::engine::EngineArgs;
use crate::play::settings::name_and_value;
use crate::protocol::dialogue::{self, Protocol};
use crate::tools::arena::{self, EnginePlayer, Player, RandomMover, UciPlayer};
use chess_games::game::End;
use dbacl_numeric::random::SplitMix64;

#[derive(Debug, Args)]
pub(super) struct PlayArgs {
    #[command(flatten)]
    engine: EngineArgs,
    /// Which protocol to speak
    #[arg(long, value_enum, default_value_t)]
    protocol: Protocol,
    /// The engine's name in the interface
    #[arg(long, default_value = "dbacl")]
    name: String,
    /// Append finished games to this PGN file
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Keep finished games in DIR and learn from them (preset odds)
    #[arg(long, value_name = "DIR")]
    learn_from_play: Option<PathBuf>,
    /// Write files to watch: PREFIX.current.pgn, .gameline, .scores, .scores.cap, .emove
    #[arg(long, value_name = "PREFIX")]
    watch: Option<PathBuf>,
}

pub(super) fn run_play(args: &PlayArgs) -> Result<ExitCode> {
    let mut engine = args.engine.engine()?;
    engine.watch.clone_from(&args.watch);
    engine.learn_from_play(args.learn_from_play.clone());
    dialogue::run(engine, args.protocol, &args.name, args.log.as_ref())?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Debug, Args)]
pub(super) struct MatchArgs {
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    options: arena::Options,
    /// random, self, or the command of a UCI engine
    #[arg(long, default_value = "random")]
    opponent: String,
    /// Option of the opponent; may repeat
    #[arg(long, value_name = "NAME=VALUE")]
    opponent_set: Vec<String>,
    /// Limits that the opponent gets with go; default: depth 1 without a clock
    #[arg(long, value_name = "LIMITS")]
    opponent_go: Option<String>,
    /// Limits that our engine gets with go, such as "movetime 500"
    #[arg(long, value_name = "LIMITS")]
    go: Option<String>,
    /// Say how the match stands after each game
    #[arg(long)]
    progress: bool,
    /// Seed of the random mover
    #[arg(long, value_name = "N", default_value_t = 1)]
    match_seed: u64,
    /// Write the games to this PGN file
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn opponent(args: &MatchArgs) -> Result<Box<dyn Player>> {
    Ok(match args.opponent.as_str() {
        "random" => Box::new(RandomMover(SplitMix64::new(args.match_seed))),
        "self" => {
            let mut engine = args.engine.engine()?;
            for pair in &args.opponent_set {
                let (name, value) = name_and_value(pair)?;
                engine.set_option(name, value).with_context(|| pair.clone())?;
            }
            for complaint in engine.load() {
                dbacl_cli::arguments::say("chess-adapter", &format!("opponent: {complaint}"));
            }
            let go = args.opponent_go.as_ref().or(args.go.as_ref());
            Box::new(EnginePlayer(engine, go.cloned().unwrap_or_default()))
        }
        command => {
            let default = if args.options.clock.is_some() { "" } else { "depth 1" };
            let go = args.opponent_go.as_deref().unwrap_or(default);
            Box::new(UciPlayer::start(command, &args.opponent_set, go)?)
        }
    })
}

pub(super) fn run_match(args: &MatchArgs) -> Result<ExitCode> {
    let mut engine =
        EnginePlayer(args.engine.loaded_engine()?, args.go.clone().unwrap_or_default());
    let mut opponent = opponent(args)?;
    let mut pgn = match &args.pgn {
        None => None,
        Some(path) => Some(File::create(path).with_context(|| Cannot::Write(path.into()))?),
    };
    let report = |played: &arena::Played, color: Color, score: &arena::Score| -> Result<()> {
        if args.progress {
            dbacl_cli::output::raw(score.line().as_bytes());
        }
        if let Some(file) = &mut pgn {
            let names = ["dbacl", args.opponent.as_str()];
            let (white, black) =
                if color.is_white() { (names[0], names[1]) } else { (names[1], names[0]) };
            let result = played.result().map_or("*", KnownOutcome::as_str);
            let reason = match played.overstepped {
                Some(color) => format!("{} loses on time", color.fold_wb("White", "Black")),
                None => played.game.end().map_or("stopped", End::reason).to_owned(),
            };
            writeln!(file, "{}", played.game.to_pgn(white, black, result, &reason))?;
        }
        Ok(())
    };
    let mut score = arena::play_match(&mut engine, opponent.as_mut(), &args.options, report)?;
    score.book_moves = std::mem::take(&mut engine.0.book_moves);
    let text = if args.json { serde_json::to_string_pretty(&score)? } else { score.line() };
    write_result(None, format!("{text}\n").as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
