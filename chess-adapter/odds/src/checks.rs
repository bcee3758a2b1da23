// SPDX-License-Identifier: GPL-3.0-or-later
//! The checks that the side to move can give.

use chess_search::{Checks, after_move};
use shakmaty::{Chess, Position as _};

/// The number of legal moves that check by the man that moves, and whether one of them mates. A
/// pawn that promotes does not count if it stood between.
pub(crate) fn checks(position: &Chess) -> (u64, bool) {
    let checking = Checks::new(position);
    let (mut count, mut mates) = (0, false);
    for reply in position.legal_moves() {
        let role = reply.promotion().unwrap_or_else(|| reply.role());
        if checking.from(role).contains(reply.to()) {
            count += 1;
            mates = mates || after_move(position, reply).is_checkmate();
        }
    }
    (count, mates)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::positions_from;
    use shakmaty::attacks;

    #[test]
    fn checks_are_counted_as_by_trying_every_move() {
        let (mut found, mut mating) = (0, 0);
        let fens = ["k7/4P3/8/8/8/8/8/K7 w - - 0 1", "8/1k2P3/8/8/3pP3/8/1K6/8 b - e3 0 1"];
        for position in &positions_from(&fens, 120, 150) {
            let (mut all, mut mates) = (0, false);
            let king = position.board().king_of(!position.turn()).expect("a king");
            for m in position.legal_moves() {
                let then = after_move(position, m);
                // A pawn hides its check along the file on which it promotes.
                let is_hidden = m.is_promotion()
                    && m.from().is_some_and(|from| attacks::aligned(king, from, m.to()));
                if then.checkers().contains(m.to()) && !is_hidden {
                    all += 1;
                    mates |= then.is_checkmate();
                }
            }
            assert_eq!(checks(position), (all, mates), "{position:?}");
            found += u64::from(all > 0);
            mating += u64::from(mates);
        }
        assert!(found > 500 && mating > 20, "{found} {mating}");
    }
}
