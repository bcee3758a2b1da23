// SPDX-License-Identifier: GPL-3.0-or-later
//! Syzygy's endgame tables (spec chess 9.12): which moves keep the game's value.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use chess_search::{Ending, after_move};
use shakmaty::{Chess, Move, Position, Role};
use shakmaty_syzygy::{SyzygyError, Tablebase, Wdl};

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
            let added = tables.add_directory(&folder);
            count += added.with_context(|| folder.display().to_string())?;
        }
        if count == 0 {
            bail!("no endgame tables in {}", path.display());
        }
        Ok(Self(tables))
    }

    /// The moves that may keep the game's value; in won positions those nearest to zeroing.
    ///
    /// If some tables are missing, moves into positions without a table are kept unless another
    /// move is known to be as good. Without tables of distances the tables of values decide
    /// alone.
    pub fn best(&self, position: &Chess, moves: &[Move]) -> Kept {
        let mut kept = Kept::default();
        if position.board().occupied().count() > self.0.max_pieces() || position.castles().any() {
            return kept;
        }
        let mut rated = Vec::new();
        for &m in moves {
            let after = after_move(position, m);
            if after.is_checkmate() {
                return Kept { moves: Some(vec![m]), missing: None };
            }
            let (value, distance) = if after.is_insufficient_material() || after.is_stalemate() {
                (Some(Wdl::Draw), Some(0))
            } else {
                let value = kept.note(self.0.probe_wdl_after_zeroing(&after)).map(|v| -v);
                let distance = if m.is_zeroing() {
                    Some(0)
                } else {
                    let distance = kept.note(self.0.probe_dtz(&after));
                    distance.map(|distance| i32::from(distance.ignore_rounding()).abs())
                };
                (value, distance)
            };
            rated.push((m, value, distance));
        }
        if rated.iter().any(|(_, value, _)| value.is_some()) {
            let here = self.0.probe_wdl_after_zeroing(position).ok();
            kept.moves = Some(good_moves(rated, here));
        }
        kept
    }

    /// The result of a position; `None` if it is in no table. Looks a position up only if the
    /// fifty-move rule's count is 0, because the tables of values hold for such positions only, and
    /// do not distinguish won positions by their distance to progress.
    pub fn probe(&self, position: &Chess) -> Option<Ending> {
        let men = position.board().occupied().count();
        if men > self.0.max_pieces() || position.halfmoves() > 0 || position.castles().any() {
            return None;
        }
        if position.is_insufficient_material() {
            return Some(Ending::Draw);
        }
        Some(match self.0.probe_wdl_after_zeroing(position).ok()? {
            Wdl::Win => Ending::Won,
            Wdl::Loss => Ending::Lost,
            Wdl::CursedWin | Wdl::Draw | Wdl::BlessedLoss => Ending::Draw,
        })
    }
}

/// A move, its value for the side that plays it, and the distance to zeroing after it.
type Rated = (Move, Option<Wdl>, Option<i32>);

/// The moves that may keep the value, `here`, of the position; at least one move's value is
/// known.
fn good_moves(mut rated: Vec<Rated>, here: Option<Wdl>) -> Vec<Move> {
    let best = rated.iter().filter_map(|(_, value, _)| *value).max();
    let some_unknown = rated.iter().any(|(_, value, _)| value.is_none());
    // A move that promotes is kept even if the queen's table is missing: a pawn that is never
    // promoted would not win.
    let makes_queen = |m: Move| m.promotion() == Some(Role::Queen);
    if best == Some(Wdl::Win) {
        rated.retain(|&(m, value, _)| value == best || (value.is_none() && makes_queen(m)));
        if rated.iter().all(|(.., distance)| distance.is_some()) {
            let nearest = rated.iter().filter_map(|(.., distance)| *distance).min();
            rated.retain(|(.., distance)| *distance == nearest);
        }
    } else if !some_unknown || best == here {
        rated.retain(|(_, value, _)| *value == best);
    } else if here.is_some() {
        // The move that keeps the value is one of those whose table is missing.
        rated.retain(|(_, value, _)| value.is_none());
    } else {
        rated.retain(|(_, value, _)| value.is_none() || *value == best);
    }
    rated.into_iter().map(|(m, ..)| m).collect()
}

impl Kept {
    fn note<T>(&mut self, probe: Result<T, SyzygyError>) -> Option<T> {
        match probe {
            Ok(value) => Some(value),
            Err(error) => {
                self.missing.get_or_insert_with(|| error.to_string());
                None
            }
        }
    }
}

/// The moves of a position that the tables recommend.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The moves to choose from; `None` if the tables do not know.
    pub moves: Option<Vec<Move>>,
    /// Why some move's value or distance is not known.
    pub missing: Option<String>,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use chess_games::game::read_fen;
    use chess_games::notation;

    pub(crate) fn data() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/syzygy")
    }

    #[test]
    fn a_search_knows_what_tables_say_of_promotions() {
        let tables = Tables::open(&data()).expect("tables");
        // The rook can be taken: what is left is drawn, or won.
        for (fen, least, most) in [
            ("8/8/8/3k4/3P4/3Kr3/8/8 w - - 5 40", 0, 0),
            ("3k4/8/3Kr3/3P4/8/8/8/8 w - - 5 40", 19_000, 20_000),
        ] {
            let position = read_fen(fen).expect("a position");
            let request = chess_search::Request {
                endgames: &|position| tables.probe(position),
                ..chess_search::Request::new(&position, chess_search::Limits::depth(3))
            };
            let found = chess_search::Searcher::new(1).search(&request, &mut |_| {});
            let value = found.lines[0].value.centipawns();
            assert!((least..=most).contains(&value), "{fen} {value}");
        }
    }

    /// The moves kept, in words, when only these files of the test data are there.
    fn kept(files: &[&str], fen: &str) -> (Vec<String>, bool) {
        let folder = tempfile::tempdir().expect("a folder");
        for file in files {
            let from = data().join(file);
            std::fs::copy(from, folder.path().join(file)).expect("copied");
        }
        let position = read_fen(fen).expect("a position");
        let moves: Vec<Move> = position.legal_moves().into_iter().collect();
        let kept = Tables::open(folder.path()).expect("tables").best(&position, &moves);
        let word = |m: Move| notation::to_word(&position, m, notation::Spelling::default());
        let mut words: Vec<String> = kept.moves.into_iter().flatten().map(word).collect();
        words.sort();
        (words, kept.missing.is_some())
    }

    #[test]
    fn some_tables_are_better_than_none() {
        let promotes = "8/P7/8/8/8/k7/8/K7 w - - 0 1";
        let all = ["KPvK.rtbw", "KPvK.rtbz", "KQvK.rtbw", "KQvK.rtbz", "KRvK.rtbw", "KRvK.rtbz"];
        assert_eq!(kept(&all[..4], promotes), (vec!["a8=Q+".into()], true));
        // The table of pawns alone: other moves win as well, but the queen is not given up.
        let (words, missing) = kept(&all[..2], promotes);
        assert!(words.contains(&"a8=Q+".to_owned()) && missing, "{words:?}");
        // Values without distances.
        let values = ["KPvK.rtbw", "KQvK.rtbw", "KRvK.rtbw"];
        let (words, missing) = kept(&values, "4k3/8/3K4/3P4/8/8/8/8 w - - 0 1");
        assert_eq!((words.join(" "), missing), ("Kc6 Kc7 Ke6".into(), true));
        // The only move that holds the draw.
        assert_eq!(kept(&all, "8/8/4k3/8/4KP2/8/8/8 b - - 0 1"), (vec!["Kf6".into()], false));
    }
}
