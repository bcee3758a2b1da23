// SPDX-License-Identifier: GPL-3.0-or-later
//! Our own endgame tables in play: distances to mate.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use chess_search::endgame::{EndgameTables, KIND, Table};
use chess_search::{Endgames as _, Ending};
use dbacl_files::reading::read_regular;
use shakmaty::{Chess, Move, Position as _};

/// Reads a table's file.
///
/// # Errors
///
/// A file cannot be read, or holds no table.
pub fn read_table(path: &Path) -> Result<Table> {
    let bytes = read_regular(path).with_context(|| format!("cannot read {}", path.display()))?;
    Table::from_bytes(&bytes).with_context(|| path.display().to_string())
}

/// Reads all tables of the folders, which are separated as on the search path.
///
/// # Errors
///
/// A folder or table cannot be read, a table is damaged, or there is none.
pub fn open(path: &Path) -> Result<EndgameTables> {
    let mut tables = EndgameTables::default();
    for folder in std::env::split_paths(path) {
        let entries = std::fs::read_dir(&folder)
            .with_context(|| format!("cannot read {}", folder.display()))?;
        for entry in entries {
            let file = entry?.path();
            if file.extension().is_some_and(|e| e == KIND) {
                tables.insert(read_table(&file)?);
            }
        }
    }
    if tables.is_empty() {
        bail!("no endgame tables (*.{KIND}) in {}", path.display());
    }
    Ok(tables)
}

/// The moves that mate soonest, or else draw, or else put the mate off longest; `None` if a table
/// is missing.
pub fn best(tables: &EndgameTables, position: &Chess, moves: &[Move]) -> Option<Vec<Move>> {
    let worth = |m: &Move| -> Option<i32> {
        let mut after = position.clone();
        after.play_unchecked(*m);
        if after.is_insufficient_material() {
            return Some(0);
        }
        Some(match tables.probe(&after)? {
            Ending::IsMated(n) => 1000 - i32::from(n),
            Ending::Draw => 0,
            Ending::Mates(n) => i32::from(n) - 1000,
            Ending::Won => -500,
            Ending::Lost => 500,
        })
    };
    let worths: Vec<i32> = moves.iter().map(worth).collect::<Option<_>>()?;
    let most = *worths.iter().max()?;
    Some(moves.iter().zip(worths).filter(|(_, w)| *w == most).map(|(m, _)| *m).collect())
}
