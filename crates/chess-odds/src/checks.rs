// SPDX-License-Identifier: GPL-3.0-or-later
//! The checks that the side to move can give.

use chess_search::Checks;
use shakmaty::{Bitboard, Chess, Position as _, Rank, Role};

use crate::view::View;

/// The number of legal moves that check by the man that moves, and whether one of them mates.
/// `view` is what the board says to either side.
pub fn checks(position: &Chess, view: &View) -> (u64, bool) {
    let checking = Checks::new(position);
    if !may_check(position, view, &checking) {
        return (0, false);
    }
    let (mut count, mut mates) = (0, false);
    for reply in position.legal_moves() {
        let role = reply.promotion().unwrap_or_else(|| reply.role());
        if checking.from(role).contains(reply.to()) {
            count += 1;
            if !mates {
                let mut then = position.clone();
                then.play_unchecked(reply);
                mates = then.is_check() && then.legal_moves().is_empty();
            }
        }
    }
    (count, mates)
}

/// Whether a man could move to a square from which it checks, if its own king's safety is ignored;
/// promotions count.
fn may_check(position: &Chess, view: &View, checking: &Checks) -> bool {
    let (board, us) = (position.board(), position.turn());
    let own = board.by_color(us);
    let by_piece = (own & !board.pawns() & !board.kings()).into_iter().any(|square| {
        let squares = board.role_at(square).map_or(Bitboard::EMPTY, |role| checking.from(role));
        view.reach(square).intersects(squares & !own)
    });
    if by_piece {
        return true;
    }
    let pawns = own & board.pawns();
    let forward = |squares: Bitboard| Bitboard(us.fold_wb(squares.0 << 8, squares.0 >> 8));
    let one = forward(pawns) & !board.occupied();
    let two = forward(one) & !board.occupied();
    let taken = pawns.into_iter().fold(Bitboard::EMPTY, |all, pawn| all | view.reach(pawn));
    let all = one | two | taken;
    let last = Bitboard::from_rank(us.fold_wb(Rank::Eighth, Rank::First));
    all.intersects(checking.from(Role::Pawn)) || all.intersects(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::play_at_random;

    /// The same by looking at every move.
    fn slowly(position: &Chess) -> (u64, bool) {
        let checking = Checks::new(position);
        let (mut count, mut mates) = (0, false);
        for m in position.legal_moves() {
            if checking.from(m.promotion().unwrap_or_else(|| m.role())).contains(m.to()) {
                count += 1;
                let mut then = position.clone();
                then.play_unchecked(m);
                mates |= then.is_checkmate();
            }
        }
        (count, mates)
    }

    #[test]
    fn checks_are_counted_as_by_trying_every_move() {
        let (mut found, mut mating) = (0, 0);
        let fens = ["k7/4P3/8/8/8/8/8/K7 w - - 0 1", "8/1k2P3/8/8/3pP3/8/1K6/8 b - e3 0 1"];
        play_at_random(17, &fens, (120, 150), |position| {
            let view = View::new(position.board(), position.turn());
            let all = checks(position, &view);
            assert_eq!(all, slowly(position), "{position:?}");
            found += u64::from(all.0 > 0);
            mating += u64::from(all.1);
        });
        assert!(found > 500 && mating > 20, "{found} {mating}");
    }
}
