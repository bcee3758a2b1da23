// SPDX-License-Identifier: GPL-3.0-or-later
//! The odds of moves, fitted on games: positions become groups of described moves of which one was
//! played, and the classifier's library fits them (`dbacl::choices`).

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use anyhow::{Context as _, Result, bail};
use dbacl::choices::{
    Calibration, Fit, Form, Groups, Judged, Settings, Tally, files as category_files,
};
use dbacl_cli::progress;
use shakmaty::{Chess, Move, Position};

use crate::features::context::{self, Context};
use crate::features::rich::Scene;
use crate::features::view::Prospect;
use crate::features::words::Ids;
use crate::play::files::replace_file;
use crate::random::Random;
use crate::text::prepare::{GameSink, Gameline};

/// Of so many games one is kept back, to calibrate the odds and to say how good the model is.
const KEPT_BACK: usize = 50;

/// Positions of games kept back that are judged at most: one for so many learned, within bounds.
const LEARNED_FOR_JUDGED: usize = 20;
const JUDGED: std::ops::RangeInclusive<usize> = 4_000..=16_000;

/// Positions that a thread describes at a time.
const CHUNK: usize = 64;

/// Chunks that may wait to be learned.
const WAITING: usize = 8;

/// Length of the first steps of the fit.
const RATE: f64 = 0.035;

/// What weights in the files are multiplied by: the grid of stored weights is finer then.
const SCALE: f64 = 4.0;

/// Weights of at most this size are left out, nats: files become smaller by half.
const SMALLEST: f64 = 0.02;

/// The games to learn from.
#[derive(Default)]
pub struct Games {
    games: Vec<(Chess, Box<[Move]>)>,
}

impl GameSink for Games {
    fn take(&mut self, game: &Gameline) -> Result<()> {
        self.games.push((game.start.clone(), game.moves.clone().into_boxed_slice()));
        Ok(())
    }
}

/// What to learn, and how.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The most positions, drawn uniformly from all of all games; 0 for all.
    pub positions: usize,
    /// Seed of their order.
    pub seed: u64,
    /// Threads that describe moves; the result does not depend on them.
    pub threads: usize,
}

/// What was learned.
#[derive(Clone, Copy, Debug)]
pub struct Learned {
    /// How the scores of the files become probabilities.
    pub calibration: Calibration,
    /// Positions learned.
    pub positions: usize,
    /// Words that have a weight.
    pub words: usize,
    /// The positions of the games kept back, so calibrated.
    pub judged: Tally,
    /// Expected calibration error there, from 0 to 1.
    pub calibration_error: f64,
}

impl fmt::Display for Learned {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let judged = &self.judged;
        write!(out, "odds: {} positions learned, {} words", self.positions, self.words)?;
        if judged.groups > 0 {
            write!(
                out,
                "; {} positions of games kept back: first choice {:.1} %, among five {:.1} %, \
                 {:.3} bits a move, calibration error {:.1} %, temperature {:.3}, curvature {:.3}",
                judged.groups,
                judged.percent(judged.first),
                judged.percent(judged.first_five),
                judged.mean_bits(),
                100.0 * self.calibration_error,
                self.calibration.temperature / SCALE,
                self.calibration.curvature
            )?;
        }
        Ok(())
    }
}

/// A position of a game: the game's number, and half-moves played before.
type Place = (u32, u32);

impl Games {
    /// All positions but those of games kept back, and those of them, both shuffled.
    fn places(&self, options: &Options) -> [Vec<Place>; 2] {
        let mut both = [Vec::new(), Vec::new()];
        for ((_, moves), number) in self.games.iter().zip(0u32..) {
            let is_kept_back = number as usize % KEPT_BACK == 7;
            let plies = u32::try_from(moves.len()).unwrap_or(u32::MAX);
            both[usize::from(is_kept_back)].extend((0..plies).map(|ply| (number, ply)));
        }
        let mut random = Random::from_seed(options.seed);
        for list in &mut both {
            for i in (1..list.len()).rev() {
                list.swap(i, random.below(i + 1));
            }
        }
        if options.positions > 0 {
            both[0].truncate(options.positions);
        }
        let judged = both[0].len() / LEARNED_FOR_JUDGED;
        both[1].truncate(judged.clamp(*JUDGED.start(), *JUDGED.end()));
        both
    }
}

/// Describes the moves of positions.
struct Describer {
    positions: Vec<Chess>,
    prospects: Vec<Prospect>,
    words: Ids,
}

impl Default for Describer {
    fn default() -> Self {
        let words = Ids::new(context::strength);
        Self { positions: Vec::new(), prospects: Vec::new(), words }
    }
}

impl Describer {
    /// Adds the position's legal moves as a group, of which the one played was chosen.
    fn describe(&mut self, games: &Games, (game, ply): Place, out: &mut Groups) {
        let (start, moves) = &games.games[game as usize];
        let (past, played) = (&moves[..ply as usize], moves[ply as usize]);
        self.positions.clear();
        self.positions.push(start.clone());
        for (number, &m) in past.iter().enumerate() {
            let mut next = self.positions[number].clone();
            next.play_unchecked(m);
            self.positions.push(next);
        }
        let before = &self.positions[past.len()];
        let scene = Scene::new(before, past, past.len());
        let legal = before.legal_moves();
        let chosen = legal.iter().position(|&m| m == played);
        self.prospects.clear();
        self.prospects.extend(legal.into_iter().map(|m| scene.prospect(m)));
        let context = Context::new(&self.positions, past, scene.view(), &self.prospects);
        for (number, prospect) in self.prospects.iter().enumerate() {
            scene.describe(prospect, &mut self.words);
            context.describe(number, &mut self.words);
            self.words.end_alternative(out);
        }
        out.end_group(chosen.expect("games were replayed: their moves are legal"));
    }
}

/// Chunks on their way from the threads that describe to the one that learns.
#[derive(Default)]
struct Queue {
    /// Number of the next chunk to be described.
    next: usize,
    /// Chunks learned.
    learned: usize,
    ready: BTreeMap<usize, Groups>,
    /// Memory to be used again.
    spare: Vec<Groups>,
}

/// Describes the positions in several threads and hands them to `take` in their order.
fn in_order(games: &Games, places: &[Place], threads: usize, mut take: impl FnMut(&Groups)) {
    let chunks: Vec<&[Place]> = places.chunks(CHUNK).collect();
    let queue = Mutex::new(Queue::default());
    let changed = Condvar::new();
    let lock = || queue.lock().unwrap_or_else(PoisonError::into_inner);
    let wait = |guard| changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                let mut describer = Describer::default();
                loop {
                    let mut state = lock();
                    while state.next < chunks.len() && state.next > state.learned + WAITING {
                        state = wait(state);
                    }
                    let number = state.next;
                    let Some(chunk) = chunks.get(number) else { break };
                    state.next += 1;
                    let mut groups = state.spare.pop().unwrap_or_default();
                    drop(state);
                    groups.clear();
                    for &place in *chunk {
                        describer.describe(games, place, &mut groups);
                    }
                    lock().ready.insert(number, groups);
                    changed.notify_all();
                }
            });
        }
        for number in 0..chunks.len() {
            let mut state = lock();
            let groups = loop {
                match state.ready.remove(&number) {
                    Some(groups) => break groups,
                    None => state = wait(state),
                }
            };
            drop(state);
            take(&groups);
            let mut state = lock();
            state.learned = number + 1;
            state.spare.push(groups);
            drop(state);
            changed.notify_all();
        }
    });
}

/// Fits the odds of moves and writes the two categories, *chosen* first.
///
/// # Errors
///
/// No position is left to learn from, or the files cannot be written.
pub fn learn(games: &Games, options: &Options, files: &[PathBuf; 2]) -> Result<Learned> {
    let [places, kept_back] = games.places(options);
    if places.is_empty() {
        bail!("no position to learn from");
    }
    let settings = Settings {
        rate: RATE,
        groups: places.len() as u64,
        chosen_only: true,
        ..Settings::default()
    };
    let mut fit = Fit::new(settings);
    let mut tally = Tally::default();
    let mut judged = Judged::default();
    let all = (places.len() + kept_back.len()) as u64;
    let done = AtomicU64::new(0);
    let part = || Some((done.load(Ordering::Relaxed), all));
    progress::watch("learning the odds of moves", part, || {
        in_order(games, &places, options.threads, |groups| {
            fit.learn(groups, &mut tally);
            done.fetch_add(groups.len() as u64, Ordering::Relaxed);
        });
        in_order(games, &kept_back, options.threads, |groups| {
            for group in groups.iter() {
                let (scores, _) = fit.judge(group);
                judged.push(scores, group.chosen);
            }
            done.fetch_add(groups.len() as u64, Ordering::Relaxed);
        });
    });
    let calibration = judged.calibration();
    let form = Form { scale: SCALE, smallest: SMALLEST, ..Form::of_words(fit.learned()) };
    let name = |path: &Path| path.file_name().unwrap_or_default().as_encoded_bytes().to_vec();
    let names = [name(&files[0]), name(&files[1])];
    let contents = category_files(&fit, &form, [&names[0], &names[1]]);
    for (path, bytes) in files.iter().zip(&contents) {
        replace_file(path, bytes).with_context(|| "the model is as it was")?;
    }
    Ok(Learned {
        calibration: Calibration { temperature: calibration.temperature * SCALE, ..calibration },
        positions: places.len(),
        words: fit.features(),
        judged: judged.tally(calibration),
        calibration_error: judged.calibration_error(calibration),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::prepare::{self, Statistics, read_games};

    fn games() -> Games {
        let pgn = include_bytes!("../../testdata/masters.pgn");
        let mut games = Games::default();
        let mut statistics = Statistics::default();
        let options = prepare::Options::default();
        read_games(&pgn[..60_000], &options, &mut statistics, &mut [&mut games]).expect("read");
        assert!(games.games.len() > 50);
        games
    }

    #[test]
    fn the_files_do_not_depend_on_threads() {
        let games = games();
        let folder = tempfile::tempdir().expect("a folder");
        let learn = |threads: usize| {
            let files = ["chosen", "other"].map(|name| folder.path().join(name));
            let options = Options { positions: 400, seed: 1, threads };
            let learned = learn(&games, &options, &files).expect("learned");
            (files.map(|path| std::fs::read(path).expect("read")), learned)
        };
        let (files, learned) = learn(1);
        assert_eq!(learned.positions, 400);
        assert!(learned.judged.groups > 50 && learned.calibration.temperature > 0.0, "{learned}");
        assert!(learned.to_string().starts_with("odds: 400 positions learned, "), "{learned}");
        // A uniform choice costs some 5 bits.
        assert!(learned.judged.mean_bits() < 4.6, "{learned}");
        assert!(learn(3).0 == files, "other bytes");
    }

    #[test]
    fn games_kept_back_are_not_learned() {
        let games = games();
        let [learned, back] = games.places(&Options { positions: 0, seed: 3, threads: 1 });
        assert!(back.iter().all(|&(game, _)| game as usize % KEPT_BACK == 7) && !back.is_empty());
        assert!(learned.iter().all(|&(game, _)| game as usize % KEPT_BACK != 7));
        let plies: usize = games.games.iter().map(|(_, moves)| moves.len()).sum();
        assert_eq!(learned.len() + back.len(), plies);
    }
}
