// SPDX-License-Identifier: GPL-3.0-or-later
//! Endgame tables (spec chess 9.12): which moves keep the game's value.

use std::path::Path;

use anyhow::{Result, bail};
use shakmaty::{Chess, Move};

#[cfg(feature = "syzygy")]
pub use with_tables::Tables;

#[cfg(feature = "syzygy")]
mod with_tables {
    use super::{Chess, Move, Path, Result, bail};
    use shakmaty::Position;
    use shakmaty_syzygy::{Tablebase, Wdl};

    /// Syzygy tables of a folder.
    pub struct Tables(Tablebase<Chess>);

    impl Tables {
        /// Opens all tables in the folders, which are separated as on the search path.
        ///
        /// # Errors
        ///
        /// A folder cannot be read, or there is no table in any.
        pub fn open(path: &Path) -> Result<Self> {
            let mut tables = Tablebase::new();
            let mut count = 0;
            for folder in std::env::split_paths(path) {
                count += tables.add_directory(&folder)?;
            }
            if count == 0 {
                bail!("no endgame tables in {}", path.display());
            }
            Ok(Self(tables))
        }

        /// The moves that keep the game's value; in won positions those nearest to zeroing.
        ///
        /// `None` if a table is missing or the position has too many pieces.
        pub fn best(&self, position: &Chess, moves: &[Move]) -> Option<Vec<Move>> {
            use shakmaty_syzygy::MaybeRounded;
            if position.board().occupied().count() > self.0.max_pieces() || position.castles().any()
            {
                return None;
            }
            let mut rated = Vec::new();
            for &m in moves {
                let mut after = position.clone();
                after.play_unchecked(m);
                if after.is_checkmate() {
                    return Some(vec![m]);
                }
                let (value, distance) = if after.is_insufficient_material() || after.is_stalemate()
                {
                    (Wdl::Draw, 0)
                } else {
                    let value = -self.0.probe_wdl_after_zeroing(&after).ok()?;
                    let dtz = match self.0.probe_dtz(&after).ok()? {
                        MaybeRounded::Rounded(dtz) | MaybeRounded::Precise(dtz) => {
                            i32::from(dtz).abs()
                        }
                    };
                    (value, if m.is_zeroing() { 0 } else { dtz })
                };
                rated.push((m, value, distance));
            }
            let best = rated.iter().map(|(_, value, _)| *value).max()?;
            rated.retain(|(_, value, _)| *value == best);
            if best == Wdl::Win {
                let nearest = rated.iter().map(|(_, _, distance)| *distance).min()?;
                rated.retain(|(_, _, distance)| *distance == nearest);
            }
            Some(rated.into_iter().map(|(m, _, _)| m).collect())
        }
    }
}

/// Stands in when built without tables.
#[cfg(not(feature = "syzygy"))]
pub struct Tables;

#[cfg(not(feature = "syzygy"))]
impl Tables {
    /// Says that there are none.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn open(path: &Path) -> Result<Self> {
        bail!("built without endgame tables: {}", path.display())
    }

    /// None.
    pub fn best(&self, _position: &Chess, _moves: &[Move]) -> Option<Vec<Move>> {
        None
    }
}
