// SPDX-License-Identifier: GPL-3.0-or-later
//! Games in which one side's parameters are perturbed, and what is recorded of them.

use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use anyhow::{Context as _, Result, bail};
use chess_search::{Limits, Request, Searcher};
use shakmaty::{Chess, Color, Position as _};

use crate::play::bayes::parameters::{Goal, Heuristic, Learned, Levels};
use crate::play::bayes::stage::{Outcome, Stage};
use crate::random::Random;
use crate::text::game::Game;
use crate::text::notation::Spelling;
use crate::text::pgn::GameResult;

/// Half-moves drawn at random at the start of each game unless told otherwise, so that no two games
/// are the same.
pub const DRAWN_MOVES: usize = 4;

/// Games are stopped after so many half-moves. Who is three pawns ahead then has won.
const MOST_MOVES: usize = 200;

/// A lead in pawns that wins a game that was stopped.
const LEAD: i32 = 3;

/// Megabytes of each side's table.
const TABLE: usize = 1;

/// Who plays against the perturbed parameters.
#[derive(Clone, Debug)]
pub enum Against {
    /// The parameters as they are.
    Base,
    /// Parameters that games have taught, with what they are chosen for.
    Learned(Learned, Goal),
}

impl Against {
    fn levels(&self, stage: Stage) -> Levels {
        match self {
            Self::Base => Levels::default(),
            Self::Learned(learned, goal) => learned.levels(stage, *goal).clone(),
        }
    }
}

/// How to play.
#[derive(Clone, Debug)]
pub struct Options {
    /// Number of games. Two follow each other with the same first moves and the same perturbed
    /// parameters, and colours changed.
    pub games: usize,
    /// Half-moves that both sides look ahead.
    pub depth: usize,
    /// Seed of the perturbed parameters and the first moves.
    pub seed: u64,
    /// Half-moves drawn at random at the start of each game.
    pub drawn_moves: usize,
    /// Games at a time; the result does not depend on it.
    pub threads: usize,
    /// Who plays against the perturbed parameters.
    pub against: Against,
}

/// What a game tells of one stage: the perturbed parameters there, and how it ended for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The stage.
    pub stage: Stage,
    /// How the game ended for the perturbed side.
    pub outcome: Outcome,
    /// Its parameters in this stage.
    pub levels: Levels,
}

/// A game that was played.
pub struct Played {
    /// The game.
    pub game: Game,
    /// Its result.
    pub result: GameResult,
    /// How it ended for the perturbed side.
    pub outcome: Outcome,
    /// A record for each stage that it reached.
    pub records: Vec<Record>,
}

/// One side of a game.
struct Side {
    levels: [Levels; 3],
    stage: Option<Stage>,
    searcher: Searcher,
}

impl Side {
    fn new(levels: [Levels; 3]) -> Self {
        let heuristic = Heuristic::new(&levels[0], Stage::Opening);
        Self { levels, stage: None, searcher: Searcher::new(TABLE, Box::new(heuristic)) }
    }

    fn answer(&mut self, game: &Game, depth: usize) -> Option<shakmaty::Move> {
        let stage = Stage::of(game.position());
        if self.stage != Some(stage) {
            let heuristic = Heuristic::new(&self.levels[stage as usize], stage);
            self.searcher.set_evaluation(Box::new(heuristic));
            self.stage = Some(stage);
        }
        let request = Request {
            history: game.earlier_keys(),
            ..Request::new(game.position(), Limits::depth(depth))
        };
        let found = self.searcher.search(&request, &mut |_| {});
        found.lines.first()?.moves.first().copied()
    }
}

/// Plays game number `number`.
fn play_game(number: usize, options: &Options) -> Played {
    let pair = number as u64 / 2;
    let mut random = Random::of_series(options.seed, pair);
    let drawn: [Levels; 3] = std::array::from_fn(|_| Levels::drawn(&mut random));
    let mut perturbed = Side::new(drawn);
    let mut other = Side::new(Stage::ALL.map(|stage| options.against.levels(stage)));
    let own = Color::from_white(number.is_multiple_of(2));
    let mut game = Game::new(Chess::default(), Spelling::default());
    while game.plies() < options.drawn_moves && game.end().is_none() {
        let moves = game.position().legal_moves();
        game.play(moves[random.below(moves.len())]);
    }
    let mut reached = [false; 3];
    let result = loop {
        if let Some(end) = game.end() {
            break end.result();
        }
        if game.plies() >= MOST_MOVES {
            break match game.material_balance() {
                LEAD.. => GameResult::WhiteWins,
                balance if balance <= -LEAD => GameResult::BlackWins,
                _ => GameResult::Draw,
            };
        }
        reached[Stage::of(game.position()) as usize] = true;
        let side = if game.turn() == own { &mut perturbed } else { &mut other };
        match side.answer(&game, options.depth) {
            Some(m) => game.play(m),
            None => break GameResult::Draw,
        }
    };
    let outcome = match result {
        GameResult::Draw => Outcome::Draw,
        _ if (result == GameResult::WhiteWins) == own.is_white() => Outcome::Win,
        _ => Outcome::Loss,
    };
    let stages = Stage::ALL.into_iter().filter(|&stage| reached[stage as usize]);
    let record =
        |stage: Stage| Record { stage, outcome, levels: perturbed.levels[stage as usize].clone() };
    let records = stages.map(record).collect();
    Played { game, result, outcome, records }
}

/// Plays all games and hands them to `take` in their order.
///
/// # Errors
///
/// `take` failed; no further game is begun then.
pub fn play(options: &Options, mut take: impl FnMut(Played) -> Result<()>) -> Result<()> {
    let next = &AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (sender, finished) = mpsc::channel();
        for _ in 0..options.threads.clamp(1, options.games.max(1)) {
            let sender = sender.clone();
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    if number >= options.games
                        || sender.send((number, play_game(number, options))).is_err()
                    {
                        return;
                    }
                }
            });
        }
        // The channel ends with the last thread, also when one panics.
        drop(sender);
        let mut waiting = std::collections::BTreeMap::new();
        for number in 0..options.games {
            let played = loop {
                if let Some(played) = waiting.remove(&number) {
                    break played;
                }
                let (other, played) = finished.recv().context("a game was given up")?;
                waiting.insert(other, played);
            };
            if let Err(error) = take(played) {
                next.store(options.games, Ordering::SeqCst);
                return Err(error);
            }
        }
        Ok(())
    })
}

/// Games won, drawn and lost by the perturbed side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score(pub [u32; 3]);

impl Score {
    /// Counts a game.
    pub const fn add(&mut self, outcome: Outcome) {
        self.0[outcome as usize] += 1;
    }

    /// The same, as the other side sees it.
    #[must_use]
    pub const fn turned(self) -> Self {
        let [won, drawn, lost] = self.0;
        Self([lost, drawn, won])
    }

    /// Points for each game, from 0 to 1, and the standard error.
    pub fn mean(self) -> (f64, f64) {
        let [won, drawn, lost] = self.0.map(f64::from);
        let games = (won + drawn + lost).max(1.0);
        let mean = (won + drawn / 2.0) / games;
        let square = (won + drawn / 4.0) / games - mean * mean;
        (mean, (square.max(0.0) / games).sqrt())
    }
}

impl Record {
    /// Writes the record as a line: stage, outcome, levels.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn write(&self, out: &mut dyn Write) -> Result<()> {
        let (stage, outcome) = (self.stage.as_str(), self.outcome.as_str());
        writeln!(out, "{stage}\t{outcome}\t{}", self.levels.text()).context("the record")
    }

    /// Reads a line that [`Self::write`] wrote.
    ///
    /// # Errors
    ///
    /// The line is something else.
    pub fn parse(line: &str) -> Result<Self> {
        let mut fields = line.split('\t');
        let mut field = || fields.next().unwrap_or_default();
        let (stage, outcome, levels) = (field(), field(), field());
        let (Some(stage), Some(outcome)) = (Stage::parse(stage), Outcome::parse(outcome)) else {
            bail!("neither a stage nor an outcome: {stage:?}, {outcome:?}");
        };
        Ok(Self { stage, outcome, levels: Levels::parse(levels)? })
    }

    /// Reads records, one a line.
    ///
    /// # Errors
    ///
    /// A line is none, or cannot be read.
    pub fn read_all(input: impl BufRead) -> Result<Vec<Self>> {
        let mut all = Vec::new();
        for (line, number) in input.lines().zip(1..) {
            let line = line.context("cannot be read")?;
            all.push(Self::parse(&line).with_context(|| format!("line {number}"))?);
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(threads: usize) -> Options {
        Options { games: 4, depth: 1, seed: 3, drawn_moves: 4, threads, against: Against::Base }
    }

    #[test]
    fn games_do_not_depend_on_threads_and_are_recorded() {
        let play = |threads: usize| {
            let mut lines = Vec::new();
            let mut records = Vec::new();
            let taken = play(&options(threads), |played| {
                lines.push(played.game.gameline());
                for record in &played.records {
                    record.write(&mut records)?;
                }
                Ok(())
            });
            taken.expect("played");
            (lines, records)
        };
        let (lines, records) = play(1);
        assert_eq!(lines.len(), 4);
        assert_ne!(lines[0], lines[1], "the perturbed side has the other colour");
        assert_eq!(play(3), (lines, records.clone()));
        let read = Record::read_all(records.as_slice()).expect("records");
        assert!(read.len() >= 8, "each game has an opening and more: {}", read.len());
        assert_eq!(read[0].stage, Stage::Opening);
        let mut again = Vec::new();
        for record in &read {
            record.write(&mut again).expect("written");
        }
        assert_eq!(again, records);
        assert!(Record::read_all(&b"opening\tloss\n"[..]).is_err());
    }

    #[test]
    fn errors_end_the_games() {
        let mut taken = 0;
        let played = play(&options(2), |_| {
            taken += 1;
            bail!("enough")
        });
        assert!(played.is_err() && taken == 1);
    }

    #[test]
    fn scores_have_errors() {
        let mut score = Score::default();
        for outcome in [Outcome::Win, Outcome::Win, Outcome::Draw, Outcome::Loss] {
            score.add(outcome);
        }
        let (mean, error) = score.mean();
        assert!((mean - 0.625).abs() < 1e-12 && (error - 0.2072).abs() < 1e-3, "{error}");
        assert_eq!(score.turned().0, [1, 1, 2]);
    }
}
