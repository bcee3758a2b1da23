// SPDX-License-Identifier: GPL-3.0-or-later
//! What a learned evaluation is made of, for people.

use std::io::Write;
use std::path::Path;

use anyhow::Result;

use crate::play::bayes::evaluation::{Description, Evaluation, Kind};
use crate::play::bayes::parameters::{self, COUNT, Goal, TEST_POSITION, value_for_white};
use crate::play::bayes::positions::PositionValue;
use crate::play::bayes::stage::Stage;
use crate::text::game::read_fen;

/// Writes what the folder holds, and the value of a position for White: of the test position if no
/// other is given.
///
/// # Errors
///
/// The folder holds no evaluation, the position is none, or writing fails.
pub fn show(folder: &Path, fen: Option<&str>, all: bool, out: &mut dyn Write) -> Result<()> {
    let evaluation = Evaluation::open(folder)?;
    let fen = fen.unwrap_or(TEST_POSITION);
    let position = read_fen(fen)?;
    match (Description::read(folder)?.kind, &evaluation) {
        (Kind::Parameters { records, .. }, Evaluation::Parameters(learned)) => {
            writeln!(out, "{COUNT} parameters by stage, from {records} records")?;
            writeln!(out, "parameter                   per cent of its base, to win")?;
            write!(out, "{:24}", "")?;
            for stage in Stage::ALL {
                write!(out, " {:>9}", stage.as_str())?;
            }
            writeln!(out, "   not to lose")?;
            for parameter in 0..if all { COUNT } else { 6 } {
                write!(out, "{:24}", parameters::name(parameter))?;
                for goal in [Goal::Win, Goal::NotLose] {
                    for stage in Stage::ALL {
                        let per_cent = learned.levels(stage, goal).per_cent(parameter);
                        write!(out, " {per_cent:>9}")?;
                    }
                }
                writeln!(out)?;
            }
            for (goal, name) in [(Goal::Win, "to win"), (Goal::NotLose, "not to lose")] {
                write!(out, "value of {fen}, {name}:")?;
                for stage in Stage::ALL {
                    let heuristic = evaluation.make(Some((stage, goal)))?;
                    write!(out, " {}", value_for_white(heuristic.as_ref(), fen)?)?;
                }
                writeln!(out)?;
            }
        }
        (Kind::Positions { words, positions, temperatures }, _) => {
            writeln!(out, "{words}, {positions} positions")?;
            let value = PositionValue::open(folder, temperatures)?;
            writeln!(out, "centipawns of      pawn knight bishop   rook  queen")?;
            for stage in Stage::ALL {
                write!(out, "{:16}", stage.as_str())?;
                for worth in value.material(stage) {
                    write!(out, " {worth:>6}")?;
                }
                writeln!(out)?;
            }
            let own = value_for_white(&value, fen)?;
            let stage = Stage::of(&position);
            writeln!(out, "value of {fen} ({}): {own}", stage.as_str())?;
        }
        _ => {}
    }
    Ok(())
}
