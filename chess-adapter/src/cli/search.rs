// SPDX-License-Identifier: GPL-3.0-or-later
//! What searches use: `tables` of endgames, and evaluations learned by `bayes`.

use std::fs::File;
use std::io::{BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};

use super::shared::{ProgramArgs, processors, write_output};
use crate::play::bayes::evaluation::Evaluation;
use crate::play::bayes::parameters::Goal;
use crate::play::bayes::stage::Stage;
use crate::play::classifier::ChildProcesses;
use crate::text::prepare::{self, Statistics};
use crate::tools::bayes;
use crate::tools::bayes::selfplay::{self, Against};

#[derive(Debug, Args)]
pub struct TablesArgs {
    /// Men of both sides, such as KQK KRKN: up to four with the kings
    #[arg(required = true, value_name = "MEN")]
    materials: Vec<String>,
    /// Folder of the tables; those that are there already are kept
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

pub fn run_tables(args: &TablesArgs) -> Result<ExitCode> {
    let mut progress = |text: &str| dbacl_cli::output::raw(text.as_bytes());
    crate::tools::endgames::make(&args.materials, &args.output, &mut progress)?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Debug, Subcommand)]
pub enum BayesVerb {
    /// Play games in which one side's parameters are perturbed, and record them
    Play(BayesPlayArgs),
    /// Learn from records of games, or from the positions of games
    Learn(BayesLearnArgs),
    /// Show what was learned, and the value of a position
    Show(BayesShowArgs),
}

impl BayesVerb {
    /// Does what the verb says.
    pub fn run(&self) -> Result<ExitCode> {
        match self {
            Self::Play(args) => run_bayes_play(args),
            Self::Learn(args) => run_bayes_learn(args),
            Self::Show(args) => run_bayes_show(args),
        }
    }
}

#[derive(Debug, Args)]
pub struct BayesPlayArgs {
    /// Number of games
    #[arg(long, value_name = "N", default_value_t = 100)]
    games: usize,
    /// Half-moves that both sides look ahead
    #[arg(long, value_name = "N", default_value_t = 2)]
    depth: usize,
    /// Half-moves drawn at random at the start of each game
    #[arg(long, value_name = "N", default_value_t = selfplay::DRAWN_MOVES)]
    drawn_moves: usize,
    /// Seed of the perturbed parameters and of the first moves
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Play so many games at once
    #[arg(short, long, value_name = "N")]
    jobs: Option<usize>,
    /// Play against the parameters of this folder, in place of those not perturbed
    #[arg(long, value_name = "DIR")]
    against: Option<PathBuf>,
    /// What that folder's parameters are chosen for
    #[arg(long, value_enum, default_value_t)]
    goal: Goal,
    /// Write the records to this file, or add them to it
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the games to this PGN file
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
}

fn run_bayes_play(args: &BayesPlayArgs) -> Result<ExitCode> {
    let against = match &args.against {
        None => Against::Base,
        Some(folder) => Against::Learned(Evaluation::parameters(folder)?, args.goal),
    };
    let open = |path: &Path, again: bool| {
        let mut options = File::options();
        options.create(true).append(again).write(true).truncate(!again);
        options.open(path).with_context(|| format!("cannot write {}", path.display()))
    };
    let mut records = args.output.as_deref().map(|path| open(path, true)).transpose()?;
    let mut pgn = args.pgn.as_deref().map(|path| open(path, false)).transpose()?;
    let options = selfplay::Options {
        games: args.games,
        depth: args.depth.clamp(1, 20),
        seed: args.seed,
        drawn_moves: args.drawn_moves,
        threads: processors(args.jobs),
        against,
    };
    let mut score = selfplay::Score::default();
    let finished = AtomicU64::new(0);
    let part = || Some((finished.load(Ordering::Relaxed), args.games as u64));
    let take = |played: selfplay::Played| {
        finished.fetch_add(1, Ordering::Relaxed);
        score.add(played.outcome);
        if let Some(file) = &mut records {
            let mut lines = Vec::new();
            for record in &played.records {
                record.write(&mut lines)?;
            }
            file.write_all(&lines).context("the records")?;
        }
        if let Some(file) = &mut pgn {
            let result = played.result.as_str();
            writeln!(file, "{}", played.game.to_pgn("?", "?", result, "")).context("the games")?;
        }
        Ok(())
    };
    dbacl_cli::progress::watch("playing", part, || selfplay::play(&options, take))?;
    let score = if args.against.is_some() { score.turned() } else { score };
    let who = if args.against.is_some() { "learned" } else { "perturbed" };
    let ([won, drawn, lost], (mean, error)) = (score.0, score.mean());
    println!(
        "{who} parameters won {won} drawn {drawn} lost {lost}: {:.1} % +- {:.1}",
        100.0 * mean,
        100.0 * error
    );
    Ok(ExitCode::SUCCESS)
}

#[derive(Debug, Args)]
pub struct BayesLearnArgs {
    /// Files of records; with --positions, PGN files
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Folder of what is learned
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Learn what positions are worth, from at most N of those of PGN files; 0 for all
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true,
          default_missing_value = "200000")]
    positions: Option<usize>,
    /// Learn from the records of the first N games only
    #[arg(long, value_name = "N", conflicts_with = "positions")]
    games: Option<usize>,
    /// Take only levels that are better than no perturbation by N standard errors; 0 for the best
    /// level, as BayesChess does
    #[arg(long, value_name = "N", default_value_t = bayes::parameters::CAUTION)]
    caution: f64,
    /// What a mistake costs in the fit of positions
    #[arg(long, value_name = "C", default_value_t = bayes::positions::COST)]
    cost: f64,
    /// Seed of the draw of positions
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    program: ProgramArgs,
}

fn run_bayes_learn(args: &BayesLearnArgs) -> Result<ExitCode> {
    let children = ChildProcesses::default();
    let program = args.program.program(&children);
    if let Some(wanted) = args.positions {
        let mut games = bayes::positions::Games::default();
        let (options, mut statistics) = (prepare::Options::default(), Statistics::default());
        prepare::read_files(&args.files, &options, &mut statistics, &mut [&mut games])?;
        if !(args.cost.is_finite() && args.cost > 0.0) {
            bail!("a cost above 0 is needed: {}", args.cost);
        }
        let (cost, seed, output) = (args.cost, args.seed, &args.output);
        let report = bayes::positions::learn(&games, wanted, cost, seed, output, &program)?;
        println!("{report}");
        return Ok(ExitCode::SUCCESS);
    }
    let mut records = Vec::new();
    for path in &args.files {
        let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        let read = selfplay::Record::read_all(BufReader::new(file));
        records.extend(read.with_context(|| path.display().to_string())?);
    }
    if let Some(games) = args.games {
        // Each game has a record of its opening, which comes first.
        let openings = records.iter().enumerate().filter(|(_, r)| r.stage == Stage::Opening);
        let end = openings.map(|(at, _)| at).nth(games);
        records.truncate(end.unwrap_or(usize::MAX));
    }
    if !(args.caution.is_finite() && args.caution >= 0.0) {
        bail!("a caution from 0 on is needed: {}", args.caution);
    }
    bayes::parameters::learn(&records, args.caution, &args.output, &program)?;
    println!("{} records learned", records.len());
    Ok(ExitCode::SUCCESS)
}

#[derive(Debug, Args)]
pub struct BayesShowArgs {
    /// Folder of what was learned
    folder: PathBuf,
    /// The position whose value is told
    #[arg(long, value_name = "FEN")]
    fen: Option<String>,
    /// Show all parameters
    #[arg(long)]
    all: bool,
}

fn run_bayes_show(args: &BayesShowArgs) -> Result<ExitCode> {
    let mut out = Vec::new();
    bayes::show::show(&args.folder, args.fen.as_deref(), args.all, &mut out)?;
    write_output(None, &out)?;
    Ok(ExitCode::SUCCESS)
}
