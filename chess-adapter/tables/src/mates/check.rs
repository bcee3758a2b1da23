// SPDX-License-Identifier: GPL-3.0-or-later
//! Checks a table by the rules of chess, and by Syzygy's tables.

use anyhow::Result;
use chess_search::Ending;
use shakmaty::{CastlingMode, Chess, Position as _, Setup};

use super::distances::Distances;
use super::table::{DRAW, NONE, Table, worth};
use crate::syzygy::Tables;

/// What a check found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Values that were compared with those after all legal moves.
    pub followed: u64,
    /// Values that were compared with Syzygy's.
    pub compared: u64,
    /// Values that were wrong.
    pub wrong: u64,
}

impl Table {
    /// Checks one value in `step` by what all legal moves lead to, and every one by `others`.
    ///
    /// # Errors
    ///
    /// A table that the moves lead to cannot be read.
    pub fn check(&self, all: &Distances, step: usize, others: Option<&Tables>) -> Result<Checked> {
        let mut checked = Checked::default();
        for (number, &value) in self.values.iter().enumerate() {
            let is_followed = number % step == 0;
            if value == NONE || !(is_followed || others.is_some()) {
                continue;
            }
            let Some(position) = self.chess(number) else { continue };
            if is_followed {
                let ended = if position.is_check() { 0 } else { DRAW };
                let choices = all.choices(&position, &position.legal_moves())?;
                let follows = choices.map_or(ended, |choices| choices.value);
                checked.followed += 1;
                checked.wrong += u64::from(follows != value);
            }
            if let Some(ending) = others.and_then(|others| others.probe(&position)) {
                checked.compared += 1;
                let sign = match ending {
                    Ending::Won | Ending::Mates(_) => 1,
                    Ending::Draw => 0,
                    Ending::Lost | Ending::IsMated(_) => -1,
                };
                checked.wrong += u64::from(sign != worth(value).signum());
            }
        }
        Ok(checked)
    }

    /// The position of a number, unless it could not come about.
    fn chess(&self, number: usize) -> Option<Chess> {
        let (men, turn) = self.position(number);
        let mut setup = Setup { turn, ..Setup::empty() };
        men.iter().for_each(|man| setup.board.set_piece_at(man.square, man.piece));
        setup.position(CastlingMode::Standard).ok()
    }
}
