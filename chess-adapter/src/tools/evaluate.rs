// SPDX-License-Identifier: GPL-3.0-or-later
//! The share of master moves found (spec chess 11 and 12.3).

use std::io::BufRead;

use anyhow::{Context as _, Result, bail};
use dbacl_numeric::elementary::log2;
use serde::Serialize;
use shakmaty::{Chess, Move};

use crate::play::choose::{self, Rule};
use crate::play::engine::Engine;
use chess_games::notation;

/// Half-moves before which a position counts as opening, and from which as end.
const PHASE_BOUNDS: [usize; 2] = [20, 60];

/// One position: what was played before, and what then.
#[derive(Clone, Debug)]
pub struct Case {
    moves: Vec<Move>,
    played: Move,
}

impl Case {
    /// Whether White is to move.
    pub const fn is_white(&self) -> bool {
        self.moves.len().is_multiple_of(2)
    }
}

/// Reads positions: gameline, tab, the move played.
///
/// # Errors
///
/// A line has no tab or a move that is not legal.
pub fn read_cases(input: impl BufRead) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for (number, line) in input.lines().enumerate() {
        let line = line?;
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        cases.push(read_case(&line).with_context(|| format!("line {}", number + 1))?);
    }
    if cases.is_empty() {
        bail!("no positions");
    }
    Ok(cases)
}

fn read_case(line: &str) -> Result<Case> {
    let (gameline, word) = line.split_once('\t').context("no tab")?;
    let mut game = chess_games::game::Game::new(Chess::default(), notation::Spelling::default());
    let read = |game: &chess_games::game::Game, word: &str| {
        notation::read_move(game.position(), word.as_bytes())
            .map_err(|e| anyhow::anyhow!("{word}: {}", e.as_str()))
    };
    for word in gameline.split_whitespace() {
        let m = read(&game, word)?;
        game.play(m);
    }
    let played = read(&game, word.trim())?;
    Ok(Case { moves: game.moves().to_vec(), played })
}

/// Sums over positions.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    positions: u32,
    first: u32,
    first_five: u32,
    reciprocal: f64,
    bits: f64,
    uniform: f64,
    captures: u32,
    tactical: u32,
}

impl Tally {
    fn shares(self) -> Shares {
        let share = |n: u32| 100.0 * f64::from(n) / f64::from(self.positions.max(1));
        Shares {
            positions: self.positions,
            first: share(self.first),
            first_five: share(self.first_five),
            mean_reciprocal_rank: self.reciprocal / f64::from(self.positions.max(1)),
            bits: self.bits / f64::from(self.positions.max(1)),
            rule_captures: share(self.captures),
            rule_tactical: share(self.tactical),
            uniform: 100.0 * self.uniform / f64::from(self.positions.max(1)),
        }
    }
}

/// What was found, per cent of positions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Shares {
    /// Positions judged.
    pub positions: u32,
    /// The move played is the first choice.
    pub first: f64,
    /// ... among the first five.
    pub first_five: f64,
    /// Mean of one over the rank, from 0 to 1.
    pub mean_reciprocal_rank: f64,
    /// Mean cost of the move played, bits: minus the logarithm of its probability.
    pub bits: f64,
    /// First choice under the rule `captures`.
    pub rule_captures: f64,
    /// First choice under the rule `tactical`.
    pub rule_tactical: f64,
    /// First choice of a uniform draw.
    pub uniform: f64,
}

/// All positions and those of each phase.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Everything.
    pub all: Shares,
    /// Before half-move 20.
    pub opening: Shares,
    /// Before half-move 60.
    pub middle: Shares,
    /// Later.
    pub end: Shares,
    /// Expected calibration error, per cent: how far the stated probability of the first choice is
    /// from how often it was played, in bins of a tenth, weighted by the positions in each.
    pub calibration_error: f64,
    /// What that comes to on average by chance alone, with these positions, where all stated
    /// probabilities are true.
    pub calibration_by_chance: f64,
    /// The bins.
    pub calibration: [Bin; BINS],
}

/// Positions whose first choice has a stated probability within a tenth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Bin {
    /// Positions.
    pub positions: u32,
    /// Mean of the stated probabilities, per cent.
    pub stated: f64,
    /// How often the first choice was played, per cent.
    pub played: f64,
}

/// Bins of probabilities.
const BINS: usize = 10;

/// Positions by the stated probability of the first choice: their number, sums of that, and how
/// often it was played.
#[derive(Clone, Copy, Debug, Default)]
struct Calibration([(u32, f64, f64); BINS]);

impl Calibration {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "from 0 to 10"
    )]
    fn add(&mut self, stated: f64, is_played: bool) {
        let bin = &mut self.0[((stated * BINS as f64) as usize).min(BINS - 1)];
        bin.0 += 1;
        bin.1 += stated;
        bin.2 += f64::from(u8::from(is_played));
    }

    fn bins(&self) -> [Bin; BINS] {
        self.0.map(|(positions, stated, played)| {
            let percent = |sum: f64| 100.0 * sum / f64::from(positions.max(1));
            Bin { positions, stated: percent(stated), played: percent(played) }
        })
    }

    /// The mean size of a normal deviate is that share of its standard deviation.
    fn by_chance(&self, positions: u32) -> f64 {
        let deviation = |&(n, stated, _): &(u32, f64, f64)| {
            let mean = stated / f64::from(n.max(1));
            (f64::from(n) * mean * (1.0 - mean)).max(0.0).sqrt()
        };
        let apart: f64 = self.0.iter().map(deviation).sum();
        100.0 * apart * std::f64::consts::FRAC_2_PI.sqrt() / f64::from(positions.max(1))
    }

    fn error(&self, positions: u32) -> f64 {
        let apart: f64 = self.0.iter().map(|(_, stated, played)| (stated - played).abs()).sum();
        100.0 * apart / f64::from(positions.max(1))
    }
}

/// Lets the engine rank the completions of every position.
///
/// # Errors
///
/// There is no model for the side to move, or the classifier fails.
pub fn evaluate(engine: &mut Engine, cases: &[Case]) -> Result<Report> {
    let mut phases = [Tally::default(); 3];
    let mut calibration = Calibration::default();
    for case in cases {
        engine.set_position(Chess::default());
        for &m in &case.moves {
            engine.play(m);
        }
        let list = engine.rank(None)?;
        let ply = case.moves.len();
        let tally =
            &mut phases[usize::from(ply >= PHASE_BOUNDS[0]) + usize::from(ply >= PHASE_BOUNDS[1])];
        let chosen =
            |rule| u32::from(list[choose::candidates(&list, rule)[0]].completion.m == case.played);
        tally.positions += 1;
        tally.captures += chosen(Rule::Captures);
        tally.tactical += chosen(Rule::Tactical);
        let legal = u32::try_from(list.len()).map_or(f64::INFINITY, f64::from);
        tally.uniform += 1.0 / legal;
        let shares = choose::shares(&list, engine.settings().temperature);
        calibration.add(shares[0], list[0].completion.m == case.played);
        if let Some(place) = list.iter().position(|s| s.completion.m == case.played) {
            let rank = u32::try_from(place).unwrap_or(u32::MAX).saturating_add(1);
            tally.first += u32::from(rank == 1);
            tally.first_five += u32::from(rank <= 5);
            tally.reciprocal += 1.0 / f64::from(rank);
            tally.bits -= log2(shares[place].max(f64::MIN_POSITIVE));
        }
    }
    let mut all = Tally::default();
    for t in &phases {
        all.positions += t.positions;
        all.first += t.first;
        all.first_five += t.first_five;
        all.reciprocal += t.reciprocal;
        all.bits += t.bits;
        all.uniform += t.uniform;
        all.captures += t.captures;
        all.tactical += t.tactical;
    }
    let [opening, middle, end] = phases.map(Tally::shares);
    Ok(Report {
        all: all.shares(),
        opening,
        middle,
        end,
        calibration_error: calibration.error(all.positions),
        calibration_by_chance: calibration.by_chance(all.positions),
        calibration: calibration.bins(),
    })
}

/// The heading of the table that [`Report::row`] fills.
pub const HEADING: &str = "voice              positions  first  five    MRR  rule2  rule3  \
                           opening  middle    end  uniform   bits  calibration";

impl Report {
    /// One line of the table.
    pub fn row(&self, name: &str) -> String {
        let a = self.all;
        format!(
            "{name:<18} {:>9} {:>6.1} {:>5.1} {:>6.3} {:>6.1} {:>6.1} {:>8.1} {:>7.1} {:>6.1} \
             {:>8.1} {:>6.2} {:>12.1}",
            a.positions,
            a.first,
            a.first_five,
            a.mean_reciprocal_rank,
            a.rule_captures,
            a.rule_tactical,
            self.opening.first,
            self.middle.first,
            self.end.first,
            a.uniform,
            a.bits,
            self.calibration_error
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::engine::tests::engine;
    use crate::play::settings::Settings;

    #[test]
    fn ranks_become_shares() {
        let cases = read_cases(&b"e4\te5\ne4\tc5\ne4\ta6\n"[..]).expect("good lines");
        let mut engine = engine(&["e5", "c5"], Settings::default());
        let report = evaluate(&mut engine, &cases).expect("judged");
        assert_eq!(report.all.positions, 3);
        assert!((report.all.first - 100.0 / 3.0).abs() < 1e-9);
        assert!((report.all.first_five - 200.0 / 3.0).abs() < 1e-9);
        assert!((report.all.uniform - 5.0).abs() < 1e-9);
        assert_eq!(report.all, report.opening);
        // The first choice is given two thirds and was played in one; a6 costs 50 bits more.
        assert!((report.calibration_error - 100.0 / 3.0).abs() < 1e-6, "{report:?}");
        let bin = report.calibration.iter().find(|bin| bin.positions > 0).expect("a bin");
        assert!(bin.positions == 3 && (bin.stated - bin.played - 100.0 / 3.0).abs() < 1e-6);
        // Three positions at two thirds: a standard deviation of 27 points.
        assert!((report.calibration_by_chance - 21.7).abs() < 0.1, "{report:?}");
        assert!((report.all.bits - 17.25).abs() < 0.01, "{report:?}");
    }

    #[test]
    fn bad_lines_are_named() {
        for text in ["", "e4 e5", "e4\te4", "e9\te5"] {
            assert!(read_cases(text.as_bytes()).is_err(), "{text}");
        }
    }
}
