// SPDX-License-Identifier: GPL-3.0-or-later
//! All tables: those of a folder, or those made in memory.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context as _, Error, Result, ensure};
use chess_games::cannot::Cannot;
use chess_search::{Ending, after_move};
use dbacl_files::reading::read_regular;
use shakmaty::{Chess, Color, Move, Position as _};

use super::men::{Arranged, Men, NUMBERS, Standing, arrange, of_board};
use super::table::{DRAW, Table, better, one_earlier};

/// A table that was looked for, or why it cannot be read.
pub(super) type Found = Result<Option<Table>, String>;

/// Half-moves until mate in endings of few men.
pub struct Distances {
    folder: Option<PathBuf>,
    /// By the number of the men.
    pub(super) tables: Vec<OnceLock<Found>>,
}

impl Default for Distances {
    fn default() -> Self {
        Self { folder: None, tables: std::iter::repeat_with(OnceLock::new).take(NUMBERS).collect() }
    }
}

impl Distances {
    /// The tables of a folder, each of which is read when it is first needed.
    ///
    /// # Errors
    ///
    /// The folder has none.
    pub fn open(folder: &Path) -> Result<Self> {
        let is_there = Men::all().iter().any(|men| men.file(folder).exists());
        ensure!(is_there, "no tables of mates in {}", folder.display());
        Ok(Self::of_folder(folder))
    }

    /// The tables that are, or will be, in a folder.
    pub fn of_folder(folder: &Path) -> Self {
        Self { folder: Some(folder.to_owned()), ..Self::default() }
    }

    pub(super) fn read(&self, men: &Men) -> Result<Option<Table>> {
        let path = self.folder.as_deref().map(|folder| men.file(folder));
        let Some(path) = path.filter(|path| path.exists()) else { return Ok(None) };
        let bytes = read_regular(&path).with_context(|| Cannot::Read(path.clone()))?;
        let table = Table::from_bytes(&bytes).with_context(|| path.display().to_string())?;
        ensure!(table.men == *men, "{} is the table of {}", path.display(), table.men);
        Ok(Some(table))
    }

    /// The value of a position, as tables have it, where nobody may castle or capture in passing.
    pub(super) fn value(&self, men: &mut Standing, turn: Color) -> Result<Option<u8>> {
        if men.len() == 2 {
            return Ok(Some(DRAW));
        }
        let Arranged { number, is_swapped } = arrange(men);
        let find = || {
            let men = Men::all().into_iter().find(|men| men.number == number);
            let read = men.map_or(Ok(None), |men| self.read(&men));
            read.map_err(|error| format!("{error:#}"))
        };
        let found = self.tables[number].get_or_init(find).as_ref();
        let table = found.map_err(|error| Error::msg(error.clone()))?;
        let turn = if is_swapped { turn.other() } else { turn };
        Ok(table.as_ref().map(|table| table.values[table.number(men, turn)]))
    }

    /// The value of a position; `None` if it is in no table.
    fn value_of(&self, position: &Chess) -> Result<Option<u8>> {
        if position.castles().any() {
            return Ok(None);
        }
        if position.legal_ep_square().is_some() {
            return Ok(self
                .choices(position, &position.legal_moves())?
                .map(|choices| choices.value));
        }
        of_board(position.board()).map_or(Ok(None), |mut men| self.value(&mut men, position.turn()))
    }

    /// The best of these moves, if all that they lead to is in tables.
    ///
    /// # Errors
    ///
    /// A table cannot be read.
    pub fn choices(&self, position: &Chess, moves: &[Move]) -> Result<Option<Choices>> {
        let mut choices: Option<Choices> = None;
        for &m in moves {
            let value = self.value_of(&after_move(position, m))?;
            let Some(value) = value.map(one_earlier) else { return Ok(None) };
            match &mut choices {
                Some(best) if best.value == value => best.moves.push(m),
                Some(best) if better(best.value, value) == best.value => {}
                best => *best = Some(Choices { value, moves: vec![m] }),
            }
        }
        Ok(choices)
    }

    /// How a position ends with best play; `None` if it is in no table, or if the fifty-move rule
    /// may prevent the mate.
    pub fn probe(&self, position: &Chess) -> Option<Ending> {
        let value = self.value_of(position).ok()??;
        let is_in_time = value >= DRAW || position.halfmoves() + u32::from(value) <= 100;
        is_in_time.then(|| ending(value))
    }
}

const fn ending(value: u8) -> Ending {
    match value {
        DRAW.. => Ending::Draw,
        plies if plies % 2 == 1 => Ending::Mates(plies),
        plies => Ending::IsMated(plies),
    }
}

/// Equally good moves: those that mate soonest, else those that hold a draw, else those that put
/// the mate off longest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choices {
    /// Half-moves until mate, as tables have it.
    pub(super) value: u8,
    /// The moves.
    pub moves: Vec<Move>,
}

impl Choices {
    /// What the moves lead to, for the side that makes them.
    pub const fn ending(&self) -> Ending {
        ending(self.value)
    }
}
