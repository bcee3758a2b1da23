// SPDX-License-Identifier: GPL-3.0-or-later
//! Positions of games become words, categories by stage and outcome, and true odds.

use std::fmt;
use std::path::Path;

use anyhow::{Result, bail};
use dbacl::choices::Judged;
use shakmaty::{Chess, Color, Move, Position as _};

use crate::play::bayes::evaluation::{Description, FORMAT, Kind};
use crate::play::bayes::positions::{self, PositionValue};
use crate::play::bayes::stage::{Outcome, Stage};
use crate::play::classifier::Program;
use crate::random::Random;
use crate::text::pgn::GameResult;
use crate::text::prepare::{GameSink, Gameline};
use crate::tools::bayes::texts::Texts;

/// Of so many games one is kept back, to find out how true the odds are.
const KEPT_BACK: usize = 20;

/// Positions of games kept back that are judged at most.
const JUDGED: usize = 20_000;

/// Temperatures are looked for around this one: fitted scores have no scale of their own.
const SCALE: f64 = 30.0;

/// What a mistake costs in the fit.
pub const COST: f64 = 0.3;

/// Positions learned, unless told otherwise.
pub const POSITIONS: usize = 200_000;

/// The games to learn from.
#[derive(Default)]
pub struct Games(Vec<(Chess, Box<[Move]>, GameResult)>);

impl GameSink for Games {
    fn take(&mut self, game: &Gameline) -> Result<()> {
        if let Some(result) = game.result {
            self.0.push((game.start.clone(), game.moves.clone().into_boxed_slice(), result));
        }
        Ok(())
    }
}

/// How the odds did on positions of games kept back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// Positions learned.
    pub learned: u64,
    /// Positions judged by stage, those of draws left out.
    pub judged: [u64; 3],
    /// What odds are divided by.
    pub temperatures: [f64; 3],
    /// Mean cost of telling who won, bits; 1 for saying nothing.
    pub bits: [f64; 3],
    /// Per cent of positions in which the side that won had the better odds.
    pub right: [f64; 3],
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} positions learned; of games kept back:", self.learned)?;
        for (stage, at) in Stage::ALL.into_iter().zip(0..) {
            write!(
                out,
                "\n{:8} {:6} positions, winner told in {:.1} %, {:.3} bits, temperature {:.3}",
                stage.as_str(),
                self.judged[at],
                self.right[at],
                self.bits[at],
                self.temperatures[at]
            )?;
        }
        Ok(())
    }
}

fn outcome(result: GameResult, side: Color) -> Outcome {
    match result {
        GameResult::Draw => Outcome::Draw,
        _ if (result == GameResult::WhiteWins) == side.is_white() => Outcome::Win,
        _ => Outcome::Loss,
    }
}

/// The quiet positions of games with the outcome for the side to move, `wanted` of them drawn
/// uniformly, 0 for all; those of games kept back, or the others.
fn quiet_positions(
    games: &Games,
    is_kept_back: bool,
    wanted: usize,
    random: &mut Random,
) -> Vec<(Chess, Outcome)> {
    let mut all = Vec::new();
    for ((start, moves, result), number) in games.0.iter().zip(0usize..) {
        if (number % KEPT_BACK == 7) != is_kept_back {
            continue;
        }
        let mut position = start.clone();
        let mut before = None;
        for &m in moves {
            if positions::is_quiet(&position, before, m) {
                all.push((position.clone(), outcome(*result, position.turn())));
            }
            position.play_unchecked(m);
            before = Some(m);
        }
    }
    for i in (1..all.len()).rev() {
        all.swap(i, random.below(i + 1));
    }
    if wanted > 0 {
        all.truncate(wanted);
    }
    all
}

/// Learns a folder from games.
///
/// # Errors
///
/// No stage has games won and lost, the classifier fails, or files cannot be written.
pub fn learn(
    games: &Games,
    wanted: usize,
    cost: f64,
    seed: u64,
    output: &Path,
    program: &Program,
) -> Result<Report> {
    let mut random = Random::from_seed(seed);
    let learned = quiet_positions(games, false, wanted, &mut random);
    let kept_back = quiet_positions(games, true, JUDGED, &mut random);
    std::fs::create_dir_all(output)?;
    let mut texts = Texts::create(&output.join("text"))?;
    for (position, outcome) in &learned {
        let (stage, words) = (Stage::of(position), positions::words(position));
        texts.push(stage, *outcome, &words)?;
        // In the opening hardly anybody is a piece ahead: what that is worth, the middle tells.
        if stage == Stage::Middle {
            texts.push(Stage::Opening, *outcome, &words)?;
        }
    }
    if texts.lines().iter().any(|[won, _, lost]| *won == 0 || *lost == 0) {
        bail!("too few games: a stage has no position of a game won or lost");
    }
    texts.learn(output, Some(cost), program)?;
    let mut report = Report { learned: learned.len() as u64, ..Report::default() };
    let value = PositionValue::open(output, [SCALE; 3])?;
    let mut judged: [Judged; 3] = Default::default();
    for (position, outcome) in &kept_back {
        if *outcome != Outcome::Draw {
            let odds = value.log_odds(position);
            let chosen = usize::from(*outcome == Outcome::Loss);
            judged[Stage::of(position) as usize].push(&[odds, 0.0], chosen);
        }
    }
    for (at, judged) in judged.iter().enumerate() {
        let temperature = judged.temperature();
        let tally = judged.tally(temperature);
        report.temperatures[at] = temperature * SCALE;
        report.judged[at] = tally.groups;
        report.bits[at] = tally.mean_bits();
        report.right[at] = tally.percent(tally.first);
    }
    let kind = Kind::Positions {
        words: positions::NAME.to_owned(),
        positions: report.learned,
        temperatures: report.temperatures,
    };
    Description { format: FORMAT, kind }.write(output)?;
    Ok(report)
}
