// SPDX-License-Identifier: GPL-3.0-or-later
//! The kinds of evaluations that learn.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use chess_games::cannot::Cannot;
use chess_search::values::{BadValues, read, write};
use chess_search::{Evaluate, Limits, TEMPO, TERMS, UNIT, name_of_term, terms};
use dbacl_numeric::random::SplitMix64;
use shakmaty::{ByColor, Chess, Position as _};

use super::Values;
use super::fit::{Row, Term};
use super::games::Player;
use super::paper::{self, Heuristic, PARAMETERS, SQUARES, share_of};

/// What a position is described by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The parameters of the paper.
    Paper,
    /// The terms of the search.
    Terms,
}

/// The file of values in a folder.
pub const FILE: &str = "worth.txt";

impl Kind {
    const ALL: [Self; 2] = [Self::Paper, Self::Terms];

    const fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Terms => "terms",
        }
    }

    const fn parameters(self) -> usize {
        match self {
            Self::Paper => PARAMETERS,
            Self::Terms => TERMS,
        }
    }

    /// The name of a parameter.
    pub fn parameter(self, number: usize) -> String {
        match self {
            Self::Paper => paper::name(number),
            Self::Terms => name_of_term(number),
        }
    }

    /// The values with which learning begins.
    pub fn base(self) -> Values {
        match self {
            Self::Paper => Heuristic::default().values(),
            Self::Terms => chess_search::Values::default().centipawns(),
        }
    }

    /// How far values may move from the base, centipawns: the standard deviations of the prior.
    pub(crate) fn spread(self) -> Vec<f32> {
        match self {
            Self::Paper => (0..PARAMETERS).map(|n| if n < SQUARES { 150.0 } else { 3.0 }).collect(),
            Self::Terms => vec![60.0; TERMS],
        }
    }

    /// An evaluation by these values.
    pub fn evaluation(self, values: &[[f32; 2]]) -> Arc<dyn Evaluate> {
        match self {
            Self::Paper => Arc::new(Heuristic::of_values(values)),
            Self::Terms => Arc::new(chess_search::Values::of_centipawns(values)),
        }
    }

    /// Reads the values of a folder; `None` if it has none.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or holds something else.
    pub fn of_folder(folder: &Path) -> Result<Option<(Self, Values)>> {
        let path = folder.join(FILE);
        let text = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            text => text.with_context(|| Cannot::Read(path.clone()))?,
        };
        let parse = |kind: Self| {
            let values = read(&text, kind.name(), kind.parameters(), &|n| kind.parameter(n));
            values.map(|values| (kind, values))
        };
        let found = Self::ALL.map(parse);
        let known = found.into_iter().find(|found| *found != Err(BadValues::Kind));
        known.unwrap_or(Err(BadValues::Kind)).map(Some).with_context(|| path.display().to_string())
    }

    /// The file of these values.
    pub fn to_text(self, values: &[[f32; 2]]) -> String {
        write(self.name(), values, &|number| self.parameter(number))
    }

    /// How players look ahead in games that decide.
    pub fn limits(self) -> Limits {
        match self {
            Self::Paper => Limits::depth(2),
            Self::Terms => Limits { nodes: Some(1_000), ..Limits::default() },
        }
    }

    /// Two players of games to learn from: the paper's heuristic, each perturbed differently, or
    /// the terms as they are.
    pub(crate) fn players(self, base: &[[f32; 2]], random: &mut SplitMix64) -> ByColor<Player> {
        match self {
            Self::Paper => {
                let base = Heuristic::of_values(base);
                let mut player = || {
                    let changed = base.with(&Heuristic::drawn(random));
                    Player::new(Arc::new(changed), &self.limits())
                };
                ByColor { white: player(), black: player() }
            }
            Self::Terms => {
                let limits = Limits { nodes: Some(300), ..Limits::default() };
                let evaluation = self.evaluation(base);
                ByColor::new_with(|_| Player::new(evaluation.clone(), &limits))
            }
        }
    }

    /// What a position has, and White's points in its game.
    pub(crate) fn row(self, position: &Chess, points: f32) -> Row {
        let mut all: Vec<Term> = Vec::new();
        match self {
            Self::Paper => paper::terms(position, true, |term| all.push(term)),
            Self::Terms => {
                let mut add = |term: usize, eighths: i32| {
                    let number = u16::try_from(term).unwrap_or(0);
                    let times = f32::from(i16::try_from(eighths).unwrap_or(0));
                    all.push(Term { middle: number, end: number, times: times / EIGHTHS });
                };
                terms(position.board(), &mut add);
                add(TEMPO, position.turn().fold_wb(UNIT, -UNIT));
            }
        }
        Row::new(all, share_of(position.board()), points)
    }
}

/// [`UNIT`] as a divisor.
const EIGHTHS: f32 = 8.0;

/// The evaluation of a folder.
///
/// # Errors
///
/// It has none, or its file cannot be read.
pub fn open(folder: &Path) -> Result<Arc<dyn Evaluate>> {
    let found = Kind::of_folder(folder)?;
    let (kind, values) = found.with_context(|| Cannot::Read(folder.join(FILE)))?;
    Ok(kind.evaluation(&values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chess_games::game::read_fen;

    #[test]
    fn rows_have_the_values_of_evaluations() {
        for fen in [
            "r1bqkb1r/pp3ppp/2np1n2/4p3/3NP3/2N5/PPP2PPP/R1BQKB1R w KQkq - 0 7",
            "r4rk1/pp3ppp/2n2q2/8/2P5/2N2N2/PP2QPPP/R4RK1 b - - 0 20",
            "8/5k2/3p4/1p1Pp2p/pP2Pp1P/P4P1K/8/8 b - - 0 1",
        ] {
            let position = read_fen(fen).expect("a good FEN");
            for kind in Kind::ALL {
                let base = kind.base();
                let told = kind.evaluation(&base).evaluate(&position);
                let told = position.turn().fold_wb(told, -told);
                #[expect(clippy::cast_precision_loss, reason = "some hundreds")]
                let apart = kind.row(&position, 0.5).value(&base) - told as f32;
                assert!(apart.abs() <= 1.1, "{kind:?} {fen}: {told}, {apart} more");
            }
        }
    }

    #[test]
    fn values_are_read_as_they_were_written() {
        let folder = dbacl_testing::Scratch::new();
        let read = || Kind::of_folder(&folder.path("."));
        assert_eq!(read().expect("no file is no error"), None);
        assert!(open(&folder.path(".")).is_err());
        for kind in Kind::ALL {
            let mut values = kind.base();
            values[7] = [1.25, -3.0];
            folder.write(FILE, kind.to_text(&values));
            assert_eq!(read().expect("readable"), Some((kind, values)));
        }
        folder.write(FILE, "# chess values 1, others: ...\n");
        let error = format!("{:#}", read().expect_err("unknown"));
        assert!(error.ends_with("worth.txt: no values of this kind"), "{error}");
    }
}
