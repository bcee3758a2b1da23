// SPDX-License-Identifier: GPL-3.0-or-later
//! PGN to a model folder in one go: preparation, then the classifier's learning (spec chess 4.1).

use chess_games::cannot::Cannot;
use chess_odds::{Games, fit};
use dbacl::parallel;
use dbacl_cli::output::raw;
use dbacl_cli::progress;
use dbacl_files::atomic_file::Disk;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use shakmaty::Color;

use crate::play::classifier::{Program, ProgramArgs};
use crate::play::models::{CategoryEntry, Manifest, ODDS, Side, VoiceEntry};
use chess_games::encode::Encoding;
use chess_games::files::replace_file;
use chess_games::prepare::{self, Statistics, TextFiles, read_files};

/// The largest table tried when tables are full, as an exponent of two.
const MAX_TABLE: u32 = 28;

/// Which models to learn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Preset {
    /// The odds of each move among all legal ones.
    #[default]
    Odds,
    /// The essay's: pairs of half-moves; sevens of full moves of won games, and of won and drawn
    /// ones; carrot and stick.
    Essay,
}

/// One category to be learned.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Lesson {
    pub category: String,
    /// The training text's file name without its ending.
    pub text: String,
    /// The classifier's token class.
    pub tokens: &'static str,
    /// Words of the longest n-gram.
    pub order: u32,
    /// Table size, exponent of two.
    pub table: u32,
}

/// A voice of the preset `essay`: its name, the encoding of gamelines, its lessons with factors.
type Plan = (&'static str, Encoding, Vec<(Lesson, f64)>);

/// Positions that are learned by default: what takes two minutes on two processors.
const POSITIONS: usize = 300_000;

/// How many more first choices are found for each doubling of the positions, per cent.
const FOUND_A_DOUBLING: f64 = 0.9;

/// Time between lines of progress, if standard error is not a terminal.
const SILENCE: Duration = Duration::from_secs(60);

/// Half-moves that the second stage looks ahead by default.
pub(super) const DEPTH: usize = 4;

/// The essay's voices of a colour.
fn plans(color: Color) -> [Plan; 4] {
    let encoding = Encoding::of_full_moves(color);
    let (own, other) = color.fold_wb(("WhiteWin", "BlackWin"), ("BlackWin", "WhiteWin"));
    let lesson = |text: String, tokens, order, table| {
        let category = format!("{text}-{tokens}{order}");
        Lesson { category, text, tokens, order, table }
    };
    let full = |set: &str| lesson(format!("{set}-{}", encoding.as_str()), "graph", 7, 23);
    let pairs = lesson(format!("{own}Draw"), "alnum", 2, 20);
    [
        ("pairs", Encoding::Half, vec![(pairs, 1.0)]),
        ("full", encoding, vec![(full(own), 1.0)]),
        ("full-draws", encoding, vec![(full(&format!("{own}Draw")), 1.0)]),
        ("carrot", encoding, vec![(full(own), 1.0), (full(other), -1.0)]),
    ]
}

/// What to learn from, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// PGN files; standard input if none, or for -
    pgn: Vec<PathBuf>,
    /// The model folder
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Which models to learn
    #[arg(long, value_enum, default_value_t)]
    preset: Preset,
    #[command(flatten)]
    text: prepare::Options,
    /// Learn at most N positions, drawn from all of all games; 0 for all
    #[arg(long, value_name = "N", default_value_t = POSITIONS, alias = "describe-positions")]
    positions: usize,
    /// Learn all positions
    #[arg(long, conflicts_with = "positions")]
    all: bool,
    /// Half-moves that the second stage of the odds looks ahead; 0 for no second stage
    #[arg(long, value_name = "N", default_value_t = DEPTH,
          value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(0..=12))]
    search_words: usize,
    /// Seed of the draw
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Keep the training text in DIR/text
    #[arg(long)]
    keep_text: bool,
    /// Number of categories that are learned at once
    #[arg(short, long, alias = "threads", value_name = "N")]
    jobs: Option<usize>,
    #[command(flatten)]
    program: ProgramArgs,
}

impl Options {
    fn jobs(&self) -> usize {
        self.jobs.unwrap_or_else(parallel::processors)
    }
}

/// Learns a model folder.
pub(crate) fn learn(options: &Options) -> Result<Statistics> {
    let folder = &options.output;
    let is_new = !folder.exists();
    dbacl_files::atomic_file::make_folder(folder).with_context(|| Cannot::Write(folder.into()))?;
    let learned = learn_into(folder, options);
    if learned.is_err() && is_new {
        // Only an empty folder can be removed so.
        let _ = std::fs::remove_dir(folder);
    }
    learned
}

fn learn_into(folder: &Path, options: &Options) -> Result<Statistics> {
    let (voice, statistics, sides) = match options.preset {
        Preset::Odds => {
            let mut games = Games::default();
            let statistics = read_files(&options.pgn, &options.text, &mut |game, _| {
                games.push(game.start.clone(), &game.moves);
                Ok(())
            })?;
            statistics.check_used(&options.pgn)?;
            let wanted = fit::Options {
                positions: if options.all { 0 } else { options.positions },
                seed: options.seed,
                threads: options.jobs(),
                depth: options.search_words,
            };
            learn_odds(folder, &games, &wanted, &|| ())?;
            (ODDS, statistics, [Side::default(), Side::default()])
        }
        Preset::Essay => {
            let text = folder.join("text");
            let learned = learn_essay(options, &text);
            if !options.keep_text {
                let removed = std::fs::remove_dir_all(&text);
                if learned.is_ok() {
                    removed.with_context(|| Cannot::Write(text.clone()))?;
                }
            }
            let (statistics, sides) = learned?;
            ("full", statistics, sides)
        }
    };
    let check_marks = options.text.spelling().check_marks;
    Manifest::new(voice, statistics.written, check_marks, sides).write(folder)?;
    Ok(statistics)
}

/// Learns the essay's categories; returns the voices of both colours, too, White's first.
fn learn_essay(options: &Options, text: &Path) -> Result<(Statistics, [Side; 2])> {
    let mut files = TextFiles::create(text, &[Encoding::Full, Encoding::Shifted])?;
    let statistics = read_files(&options.pgn, &options.text, &mut |game, _| files.take(game))?;
    files.finish()?;
    statistics.check_used(&options.pgn)?;
    let sides = [Color::White, Color::Black].map(plans);
    let parts = sides.iter().flatten().flat_map(|(.., parts)| parts);
    let lessons: BTreeSet<&Lesson> = parts.map(|(lesson, _)| lesson).collect();
    let lessons: Vec<&Lesson> = lessons.into_iter().collect();
    let (folder, program) = (&options.output, options.program.program());
    let learn = |(): &mut (), at: usize| lessons[at].learn(text, folder, &program);
    parallel::map(lessons.len(), options.jobs(), || Ok(()), learn)?;
    let [white, black] = sides.map(|plans| side(folder, &plans));
    Ok((statistics, [white?, black?]))
}

/// Learns the odds of moves, which are the same for both colours, into a folder; `advanced` is
/// called now and then.
pub(super) fn learn_odds(
    folder: &Path,
    games: &Games,
    wanted: &fit::Options,
    advanced: &dyn Fn(),
) -> Result<()> {
    let (done, all) = (AtomicU64::new(0), AtomicU64::new(1));
    let part = || Some((done.load(Ordering::Relaxed), all.load(Ordering::Relaxed)));
    let begun = Instant::now();
    let told = Cell::new(begun);
    let in_terminal = std::io::stderr().is_terminal();
    let advance = |so_far: u64, of: u64| {
        advanced();
        done.store(so_far, Ordering::Relaxed);
        all.store(of, Ordering::Relaxed);
        if !in_terminal && told.get().elapsed() >= SILENCE {
            told.set(Instant::now());
            raw(format!("learning: {} of 100", 100 * so_far / of.max(1)).as_bytes());
        }
    };
    let learned = progress::watch("learning the odds of moves", part, || {
        fit::learn(games, wanted, &advance)
    })?;
    raw(learned.to_string().as_bytes());
    let rest = begun.elapsed().saturating_sub(learned.first_took);
    if let Some(more) = what_more_brings(&learned, games.positions(), rest) {
        raw(more.as_bytes());
    }
    replace_file(&Disk, &folder.join(ODDS), &learned.file).context("the old model is unchanged")
}

/// What learning all positions would bring and take, if some were left out.
#[expect(clippy::cast_precision_loss, reason = "numbers of positions")]
fn what_more_brings(learned: &fit::Learned, all: usize, rest: Duration) -> Option<String> {
    // One game of fifty is kept back; of its positions one is used for twenty that are learned, but
    // no more than 16,000.
    let most = all - all / 50;
    let more_kept_back =
        (most as f64 / 20.0).min(16_000.0) / learned.first.tally.groups.max(1) as f64;
    let first_took = learned.first_took.as_secs_f64();
    let learned = learned.positions;
    if learned >= most - most / 50 {
        return None;
    }
    let times = most as f64 / learned.max(1) as f64;
    let seconds = first_took * times + rest.as_secs_f64() * more_kept_back.max(1.0);
    let (found, minutes) = (FOUND_A_DOUBLING * times.log2(), seconds / 60.0);
    Some(format!(
        "{learned} of {all} positions; --all would find about {found:.0} % more moves, and take \
         about {minutes:.0} minutes"
    ))
}

/// The voices of a colour.
fn side(folder: &Path, plans: &[Plan]) -> Result<Side> {
    let voice = |&(name, encoding, ref parts): &Plan| {
        let categories = parts.iter().map(|(lesson, factor)| {
            let path = folder.join(&lesson.category);
            let read = std::fs::metadata(&path).with_context(|| Cannot::Read(path));
            let (file, bytes) = (lesson.category.clone(), read?.len());
            Ok(CategoryEntry { file, bytes, factor: *factor })
        });
        let categories = categories.collect::<Result<_>>()?;
        Ok((name.to_owned(), VoiceEntry { encoding, categories }))
    };
    plans.iter().map(voice).collect()
}

impl Lesson {
    /// Learns the category; a table that is full grows until it is not.
    pub(crate) fn learn(&self, text: &Path, folder: &Path, program: &Program) -> Result<()> {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
        let Self { category: name, order, tokens, mut table, .. } = self.clone();
        let category = folder.join(&name);
        loop {
            let mut command = program.command();
            command.args(["-T", "text", "-l"]).arg(&category);
            command.args(["-e", tokens, "-L", "uniform", "-j"]);
            command.args(["-w", &order.to_string(), "-H", &table.to_string()]);
            command.arg(text.join(format!("{}.txt", self.text)));
            command.stdin(Stdio::null()).stdout(Stdio::null());
            let done = command.output().with_context(|| Cannot::Run(program.path.clone()))?;
            let messages = String::from_utf8_lossy(&done.stderr);
            for line in messages.lines() {
                raw(format!("{name}: {line}").as_bytes());
            }
            if !done.status.success() || !category.is_file() {
                let text = format!("it could not learn {name} ({})", done.status);
                return Err(anyhow::Error::msg(text).context(Cannot::Run(program.path.clone())));
            }
            if !messages.contains("table full") || table >= MAX_TABLE {
                return Ok(());
            }
            table += 1;
            raw(format!("{name}: learning again with -H {table}").as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lessons_are_learned_once() {
        let plans = plans(Color::Black);
        let lessons: BTreeSet<Lesson> =
            plans.into_iter().flat_map(|(.., parts)| parts).map(|(lesson, _)| lesson).collect();
        let names: Vec<String> = lessons.into_iter().map(|lesson| lesson.category).collect();
        let wanted = [
            "BlackWin-full-graph7",
            "BlackWinDraw-alnum2",
            "BlackWinDraw-full-graph7",
            "WhiteWin-full-graph7",
        ];
        assert_eq!(names, wanted);
    }
}
