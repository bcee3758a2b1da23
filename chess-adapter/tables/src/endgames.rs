// SPDX-License-Identifier: GPL-3.0-or-later
//! Endgame tables of both kinds in play: distances to mate of our own, and Syzygy's.

use std::sync::OnceLock;

use chess_search::Ending;
use shakmaty::{Chess, Move, Position as _};

use crate::mates::{Distances, Men};
use crate::syzygy::{Kept, Tables};

/// The endings of three men, made when a game first comes near them, in a fifth of a second.
static THREE_MEN: OnceLock<Distances> = OnceLock::new();

fn three_men() -> Distances {
    let distances = Distances::default();
    let three: Vec<Men> = Men::all().into_iter().filter(|men| men.pieces().len() == 3).collect();
    distances.make(&three, &|_| Ok(())).expect("memory does not fail");
    distances
}

/// The tables that a player has.
#[derive(Default)]
pub struct Endgames {
    /// Tables made by the verb `tables`.
    pub distances: Option<Distances>,
    /// Syzygy's.
    pub syzygy: Option<Tables>,
}

impl Endgames {
    /// Which of these moves are best by the tables. If `may_make`, the tables of three men are
    /// computed when they are needed first.
    pub fn best(&self, position: &Chess, moves: &[Move], may_make: bool) -> Kept {
        let is_near = position.board().occupied().count() <= 5;
        let three = (may_make && is_near).then(|| THREE_MEN.get_or_init(three_men));
        let mut missing = None;
        for distances in self.distances.iter().chain(three) {
            match distances.choices(position, moves) {
                Ok(Some(choices)) => return Kept { moves: Some(choices.moves), missing },
                Ok(None) => {}
                Err(error) => missing = Some(format!("{error:#}")),
            }
        }
        let kept = self.by_syzygy(position, moves);
        Kept { missing: missing.or(kept.missing), ..kept }
    }

    fn by_syzygy(&self, position: &Chess, moves: &[Move]) -> Kept {
        self.syzygy.as_ref().map(|tables| tables.best(position, moves)).unwrap_or_default()
    }

    /// How a position ends with best play, if that is known.
    pub fn probe(&self, position: &Chess) -> Option<Ending> {
        let mut distances = self.distances.iter().chain(THREE_MEN.get());
        let by_distance = distances.find_map(|distances| distances.probe(position));
        by_distance.or_else(|| self.syzygy.as_ref()?.probe(position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chess_games::game::read_fen;
    use chess_search::{Limits, Request, Searcher};

    #[test]
    fn a_search_announces_the_mates_of_tables() {
        let endgames = Endgames::default();
        // A queen, unless the fifty-move rule is near; a rook that takes the last man; Black.
        for (fen, mates) in [
            ("8/8/8/3k4/8/8/8/KQ6 w - - 0 1", Some(9)),
            ("8/8/8/3k4/8/8/8/KQ6 w - - 90 60", None),
            ("8/8/8/3k4/8/8/8/KR5n w - - 0 1", Some(16)),
            ("kq6/8/8/8/3K4/8/8/8 b - - 0 1", Some(9)),
        ] {
            let position = read_fen(fen).expect("a position");
            let moves: Vec<Move> = position.legal_moves().into_iter().collect();
            let best = endgames.best(&position, &moves, true).moves.unwrap_or(moves);
            let probe = |position: &Chess| endgames.probe(position);
            let request = Request {
                endgames: &probe,
                moves: &best,
                ..Request::new(&position, Limits::depth(2))
            };
            let found = Searcher::new(1).search(&request, &mut |_| {});
            assert_eq!(found.lines[0].value.mate_in(), mates, "{fen} {:?}", found.lines[0]);
        }
    }
}
