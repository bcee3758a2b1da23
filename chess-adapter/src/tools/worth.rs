// SPDX-License-Identifier: GPL-3.0-or-later
//! Values of positions, learned from games (after `BayesChess`).

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use anyhow::{Context as _, Result, ensure};
use chess_games::cannot::Cannot;
use chess_games::files::{replace_file, write_result};
use chess_games::game::read_fen;
use chess_games::prepare::{self, read_files};
use chess_odds::worth::games::{Pace, contest};
use chess_odds::worth::kind::FILE;
use chess_odds::worth::learning::{Given, Lesson, Openings, against_random, learn};
use chess_odds::worth::network::{self, RESULTS, Record};
use chess_odds::worth::paper::{Heuristic, PARAMETERS, STAGES, name};
use chess_odds::worth::{Kind, Values};
use chess_search::{Evaluate, Limits};
use dbacl::parallel;
use dbacl_cli::progress;
use dbacl_files::atomic_file::{Disk, make_folder};
use dbacl_numeric::random::SplitMix64;
use shakmaty::Chess;
use std::sync::Arc;

use super::learn;
use crate::play::classifier::{Classifier, Program, ProgramArgs};

/// What to learn values from, and how.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Options {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    learning: Learning,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Print what --as-published learned of parameters: how likely each value is in games won,
    /// drawn and lost
    Show(Show),
}

#[derive(Debug, clap::Args)]
struct Show {
    /// The folder that was learned
    folder: PathBuf,
    /// Parameters: pawn, check, wNf3, bPe5, or Kd4 for the king in the ending
    #[arg(default_value = "pawn")]
    parameters: Vec<String>,
    #[command(flatten)]
    program: ProgramArgs,
}

#[derive(Debug, clap::Args)]
struct Learning {
    /// PGN files, whose beginnings are played on
    #[arg(required = true)]
    pgn: Vec<PathBuf>,
    /// Folder of the values; those that are there are improved
    #[arg(short, long, value_name = "DIR", required = true)]
    output: Option<PathBuf>,
    /// Games to play
    #[arg(long, value_name = "N", default_value_t = 8_000)]
    games: usize,
    /// Seed of all that is drawn
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Learn the values of the search's own terms, instead of the 838 parameters of BayesChess
    #[arg(long)]
    rich: bool,
    /// Learn as BayesChess was published, by nine categories of the classifier, and print what the
    /// likeliest values win
    #[arg(long, conflicts_with = "rich")]
    as_published: bool,
    #[command(flatten)]
    program: ProgramArgs,
}

/// One quiet position in so many of a given game is learned.
const EACH: usize = 6;
/// A knight and two pawns ahead.
const KNIGHT_AHEAD: &str = "r4rk1/pp3ppp/2n2q2/8/2P5/2N2N2/PP2QPPP/R4RK1 w - - 0 20";

impl Options {
    /// Does what they say.
    pub(crate) fn run(&self) -> Result<ExitCode> {
        if let Some(Verb::Show(show)) = &self.verb {
            return show.run();
        }
        let learning = &self.learning;
        let folder = learning.folder();
        make_folder(folder).with_context(|| Cannot::Write(folder.into()))?;
        let (openings, positions) = learning.read()?;
        if learning.as_published {
            learning.publish(&openings)
        } else {
            learning.learn(&openings, &positions)
        }
    }
}

fn say(line: &str) -> Result<()> {
    progress::give_way();
    write_result(None, format!("{line}\n").as_bytes())
}

impl Learning {
    fn folder(&self) -> &Path {
        self.output.as_deref().unwrap_or(".".as_ref())
    }

    /// The openings of all games, and quiet positions if the rich terms are learned.
    fn read(&self) -> Result<(Openings, Vec<(Chess, f32)>)> {
        let (mut given, each) = (Given::default(), if self.rich { EACH } else { 0 });
        let mut random = SplitMix64::new(self.seed);
        read_files(&self.pgn, &prepare::Options::default(), &mut |game, _| {
            given.take(game, each, &mut random);
            Ok(())
        })?;
        let openings = Openings::deal(given.starts, self.seed);
        Ok((
            openings.context("too few games: four different beginnings are needed")?,
            given.positions,
        ))
    }

    fn learn(&self, openings: &Openings, positions: &[(Chess, f32)]) -> Result<ExitCode> {
        let kind = if self.rich { Kind::Terms } else { Kind::Paper };
        let known = Kind::of_folder(self.folder())?;
        let is_other = known.as_ref().is_some_and(|(known, _)| *known != kind);
        ensure!(!is_other, "{} has values of another kind", self.folder().display());
        let base: Values = known.map_or_else(|| kind.base(), |(_, values)| values);
        let (games, seed) = (self.games, self.seed);
        let lesson = Lesson { kind, base: &base, games, seed, positions, spread: 1.0 };
        let learned = self.watch(&|pace| learn(&lesson, openings, pace, &mut say))?;
        let path = self.folder().join(FILE);
        let Some(values) = learned else {
            say("the values are not better than the base, so they are not kept")?;
            return Ok(ExitCode::FAILURE);
        };
        replace_file(&Disk, &path, kind.to_text(&values).as_bytes())?;
        say(&format!("{}: written", path.display()))?;
        Ok(ExitCode::SUCCESS)
    }

    fn watch<T>(&self, work: &dyn Fn(&Pace<'_>) -> T) -> T {
        let played = AtomicU64::new(0);
        let done = || _ = played.fetch_add(1, Relaxed);
        let part = || Some((played.load(Relaxed), self.games as u64));
        progress::watch("playing", part, || work(&Pace { done: &done, ..Pace::full() }))
    }

    /// Learns nine categories, and has the likeliest values play.
    fn publish(&self, openings: &Openings) -> Result<ExitCode> {
        let (base, program) = (Heuristic::default(), self.program.program());
        let position = read_fen(KNIGHT_AHEAD)?;
        let limits = Limits::depth(2);
        let against_base = |own: &Arc<dyn Evaluate>, openings: &[Chess]| {
            let other: Arc<dyn Evaluate> = Arc::new(base.clone());
            contest(openings, &limits, &Pace::full(), &|_| [own.clone(), other.clone()])
        };
        let of_base: Arc<dyn Evaluate> = Arc::new(base.clone());
        let random = against_random(&of_base, &openings.choosing, self.seed).in_percent();
        let value = of_base.evaluate(&position);
        say(&format!("base: against random heuristics {random}; a knight and two pawns {value}"))?;
        let mut records: Vec<Record> = Vec::new();
        let sizes = [100, 400, 1_000, 2_000, 4_000, 8_000];
        for size in sizes.into_iter().filter(|&size| size < self.games).chain([self.games]) {
            records.extend(self.watch(&|pace| {
                let games = records.len()..size;
                network::play(games, self.seed, &openings.learning, &base, pace)
            }));
            let counts = network::count(&records);
            let [won, drawn, lost] = counts;
            say(&format!("{size} games: {won} won, {drawn} drawn, {lost} lost"))?;
            ensure!(!counts.contains(&0), "no game of each result; play more games");
            self.teach(&records, &base, &program)?;
            for (given, with_draws) in [("won", false), ("won or drawn", true)] {
                let mut classify = classifier(self.folder(), &program);
                let chosen = network::configure(&base, counts, with_draws, &mut classify)?;
                let own: Arc<dyn Evaluate> = Arc::new(chosen);
                let random = against_random(&own, &openings.choosing, self.seed).in_percent();
                let last = if size == self.games { &openings.fresh } else { &openings.choosing };
                let won = against_base(&own, last).in_percent();
                let value = own.evaluate(&position);
                say(&format!(
                    "  likeliest given {given}: against the base {won}; against random \
                     heuristics {random}; a knight and two pawns {value}"
                ))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Has the classifier learn all categories.
    fn teach(&self, records: &[Record], base: &Heuristic, program: &Program) -> Result<()> {
        let folder = self.folder();
        parallel::try_all(STAGES.len() * RESULTS.len(), |number| {
            let (stage, result) = (number / RESULTS.len(), number % RESULTS.len());
            let category = network::category(stage, result);
            let text = folder.join(format!("{category}.txt"));
            let documents = network::text(records, base, stage, result);
            std::fs::write(&text, documents).with_context(|| Cannot::Write(text.clone()))?;
            let lesson = learn::Lesson {
                text: category.clone(),
                category,
                tokens: "graph",
                order: 1,
                table: 16,
            };
            let learned = lesson.learn(folder, folder, program);
            std::fs::remove_file(&text).with_context(|| Cannot::Write(text.clone()))?;
            learned
        })?;
        Ok(())
    }
}

/// Asks the categories of a stage about words.
fn classifier<'a>(
    folder: &'a Path,
    program: &'a Program,
) -> impl FnMut(usize, &[String]) -> Result<Vec<Vec<f64>>> + 'a {
    move |stage, words| {
        let file = |result| std::path::absolute(folder.join(network::category(stage, result)));
        let files = (0..RESULTS.len()).map(file).collect::<std::io::Result<Vec<_>>>()?;
        for file in &files {
            std::fs::metadata(file).with_context(|| Cannot::Read(file.clone()))?;
        }
        Classifier::new(program.clone(), files).scores(words)
    }
}

impl Show {
    fn run(&self) -> Result<ExitCode> {
        let (base, program) = (Heuristic::default(), self.program.program());
        let mut classify = classifier(&self.folder, &program);
        for wanted in &self.parameters {
            let parameter = (0..PARAMETERS).find(|&number| name(number) == *wanted);
            let parameter = parameter.with_context(|| format!("no parameter {wanted:?}"))?;
            let mut table = format!("{wanted}: per cent of games");
            for (stage, stage_name) in STAGES.iter().enumerate() {
                let _ = write!(table, "\n{stage_name:<8}{:>8}{:>8}{:>8}", "won", "drawn", "lost");
                let shares = network::ask(&base, stage, &[parameter], &mut classify)?;
                for (level, row) in shares[0].0.iter().enumerate() {
                    let value = base.at(stage, parameter, level);
                    let [won, drawn, lost] = row.map(|share| 100.0 * share);
                    let _ = write!(table, "\n{value:>8.1}{won:>8.1}{drawn:>8.1}{lost:>8.1}");
                }
            }
            say(&table)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
