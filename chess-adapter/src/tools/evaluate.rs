// SPDX-License-Identifier: GPL-3.0-or-later
//! The share of master moves found (spec chess 11 and 12.3).

use std::io::BufRead;

use anyhow::{Context as _, Result, bail};
use chess_odds::Judged;
use dbacl_numeric::elementary::{log, log2};
use serde::Serialize;
use shakmaty::{Chess, Move};

use crate::play::choose::{self, Rule};
use crate::play::engine::Engine;
use chess_games::game::Game;

/// Half-moves before which a position counts as opening, and from which as end.
const PHASE_BOUNDS: [usize; 2] = [20, 60];

/// One position: what was played before, and what then.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    moves: Vec<Move>,
    played: Move,
}

impl Case {
    pub(crate) const fn is_white(&self) -> bool {
        self.moves.len().is_multiple_of(2)
    }
}

/// Reads positions: gameline, tab, the move played.
pub(crate) fn read_cases(input: impl BufRead) -> Result<Vec<Case>> {
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
    let mut game = Game::default();
    game.play_words(gameline)?;
    let played = game.read_move(word.trim())?;
    Ok(Case { moves: game.moves().to_vec(), played })
}

/// What was found, in one position or on average.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Shares {
    pub positions: u32,
    /// The move played is the first choice, per cent of positions.
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

impl Shares {
    /// The means of what was found in these positions.
    fn mean(found: &[Self]) -> Self {
        let positions = u32::try_from(found.len()).unwrap_or(u32::MAX);
        let mean = |of: fn(&Self) -> f64| {
            // The sum of no numbers is -0.
            (0.0 + found.iter().map(of).sum::<f64>()) / f64::from(positions.max(1))
        };
        Self {
            positions,
            first: mean(|s| s.first),
            first_five: mean(|s| s.first_five),
            mean_reciprocal_rank: mean(|s| s.mean_reciprocal_rank),
            bits: mean(|s| s.bits),
            rule_captures: mean(|s| s.rule_captures),
            rule_tactical: mean(|s| s.rule_tactical),
            uniform: mean(|s| s.uniform),
        }
    }
}

/// All positions and those of each phase.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Report {
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
}

fn percent(is_so: bool) -> f64 {
    100.0 * f64::from(u8::from(is_so))
}

/// Lets the engine rank the completions of every position.
pub(crate) fn evaluate(engine: &mut Engine, cases: &[Case]) -> Result<Report> {
    let (mut phases, mut judged) = (<[Vec<Shares>; 3]>::default(), Judged::default());
    for case in cases {
        engine.set_position(Chess::default());
        for &m in &case.moves {
            engine.game.play(m);
        }
        let list = engine.rank()?;
        let is_played = |place: usize| list[place].completion.m == case.played;
        let by_rule = |rule| percent(is_played(choose::candidates(&list, rule)[0]));
        let shares = choose::shares(&list, engine.settings().temperature);
        let place = (0..list.len()).find(|&place| is_played(place)).context("an illegal move")?;
        let logarithms: Vec<f64> = shares.iter().map(|p| log(p.max(f64::MIN_POSITIVE))).collect();
        judged.push(&logarithms, place);
        let count = |n: usize| u32::try_from(n).map_or(f64::INFINITY, f64::from);
        let found = Shares {
            positions: 1,
            first: percent(place == 0),
            first_five: percent(place < 5),
            mean_reciprocal_rank: 1.0 / count(place + 1),
            bits: -log2(shares[place].max(f64::MIN_POSITIVE)),
            rule_captures: by_rule(Rule::Captures),
            rule_tactical: by_rule(Rule::Tactical),
            uniform: 100.0 / count(list.len()),
        };
        let ply = case.moves.len();
        let phase = PHASE_BOUNDS.iter().filter(|&&bound| ply >= bound).count();
        phases[phase].push(found);
    }
    let all = Shares::mean(&phases.concat());
    let [opening, middle, end] = phases.map(|found| Shares::mean(&found));
    let calibration_error = 100.0 * judged.calibration_error(1.0);
    Ok(Report { all, opening, middle, end, calibration_error })
}

/// The heading of the table that [`Report::row`] fills.
pub(crate) const HEADING: &str = "voice              positions  first  five    MRR  rule2  rule3  \
                           opening  middle    end  uniform   bits  calibration";

impl Report {
    /// One line of the table.
    pub(crate) fn row(&self, name: &str) -> String {
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
        assert!((report.all.bits - 17.25).abs() < 0.01, "{report:?}");
    }

    #[test]
    fn bad_lines_are_named() {
        for text in ["", "e4 e5", "e4\te4", "e9\te5"] {
            assert!(read_cases(text.as_bytes()).is_err(), "{text}");
        }
    }
}
