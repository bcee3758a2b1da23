// SPDX-License-Identifier: GPL-3.0-or-later
//! The material balance after the captures that begin in a position, when each side may stop at any
//! time. It is a small search of its own, because it runs for millions of positions.

use shakmaty::{Bitboard, Board, Chess, Color, Piece, Position as _, Rank, Role, Square};

use crate::exchange::worth;
use chess_search::board::material;

/// More than all pieces are worth.
const MUCH: i32 = 1000;

/// The most captures in a row that are searched.
const DEPTH: u32 = 8;

/// What can be taken, dearest first.
const VICTIMS: [Role; 5] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::Pawn];

/// What a promotion brings at most.
const MOST_PROMOTED: i32 = 8;

const PROMOTIONS: [Role; 4] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight];

/// Material of the side to move less the other side's, in pawns, after the best captures of both
/// sides.
pub(crate) fn captures(position: &Chess) -> i32 {
    value(position.board(), position.turn(), position.maybe_ep_square(), DEPTH)
}

/// The same if it were the other side's turn; `None` in check.
pub(crate) fn captures_of_other(position: &Chess) -> Option<i32> {
    let value = || value(position.board(), position.turn().other(), None, DEPTH);
    (!position.is_check()).then(value)
}

fn value(board: &Board, us: Color, passant: Option<Square>, depth: u32) -> i32 {
    let stand = material(board, us) - material(board, us.other());
    settle(board, us, passant, stand, (-MUCH, MUCH), depth)
}

/// The board after a piece has taken what stands on `victim`; `None` if its king is in check then.
fn taken(board: &Board, [from, to, victim]: [Square; 3], becomes: Piece) -> Option<Board> {
    let mut after = board.clone();
    after.discard_piece_at(victim);
    after.discard_piece_at(from);
    after.set_piece_at(to, becomes);
    let king = after.king_of(becomes.color)?;
    let checks = after.attacks_to(king, becomes.color.other(), after.occupied());
    checks.is_empty().then_some(after)
}

/// Material of the side to move less the other's, in pawns, after the best captures of both; exact
/// within the window. `stand` is the present difference, `passant` the square of a possible capture
/// en passant.
fn settle(
    board: &Board,
    us: Color,
    passant: Option<Square>,
    stand: i32,
    (mut alpha, beta): (i32, i32),
    depth: u32,
) -> i32 {
    // The side to move need not capture. That it may have to in check is ignored.
    if stand >= beta || depth == 0 {
        return stand;
    }
    alpha = alpha.max(stand);
    let mut best = stand;
    let last_rank = Bitboard::from_rank(us.fold_wb(Rank::Eighth, Rank::First));
    let men = |victim: Role| {
        board.by_piece(victim.of(us.other())).into_iter().map(move |to| (victim, to, to))
    };
    // The pawn that is taken en passant stands on the next rank: its lowest bit is the other one.
    let passing = passant.map(|to| (Role::Pawn, to, to.xor(Square::A2)));
    for (victim, to, place) in VICTIMS.into_iter().flat_map(men).chain(passing) {
        let is_last = last_rank.contains(to);
        // The other side can stop after a capture, so one of too little value cannot raise the
        // result above `alpha`.
        if stand + worth(victim) + if is_last { MOST_PROMOTED } else { 0 } <= alpha {
            continue;
        }
        let attackers = board.attacks_to(to, us, board.occupied());
        let roles = if place == to { &Role::ALL[..] } else { &[Role::Pawn] };
        for &attacker in roles {
            for from in attackers & board.by_role(attacker) {
                let becomes: &[Role] = match attacker == Role::Pawn && is_last {
                    true => &PROMOTIONS,
                    false => &[attacker],
                };
                for &becomes in becomes {
                    let stand = stand + worth(victim) + worth(becomes) - worth(attacker);
                    let after = taken(board, [from, to, place], becomes.of(us));
                    let Some(after) = after else { continue };
                    let window = (-beta, -alpha);
                    best = best.max(-settle(&after, us.other(), None, -stand, window, depth - 1));
                    alpha = alpha.max(best);
                    if alpha >= beta {
                        return best;
                    }
                }
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{positions_from, read_fen};
    use chess_search::after_move;
    use shakmaty::{Move, Position};

    #[test]
    fn captures_are_followed_to_their_end() {
        for (fen, value) in [
            ("4k3/8/8/3p4/8/8/8/3RK3 w - - 0 1", 5),
            // Guarded: it is better left alone.
            ("4k3/8/4p3/3p4/8/8/8/3RK3 w - - 0 1", 3),
            // A pawn takes one of two pieces.
            ("4k3/8/2n1b3/3P4/8/8/8/4K3 w - - 0 1", -2),
        ] {
            let position = read_fen(fen).expect("good FEN");
            assert_eq!(captures(&position), value, "{fen}");
        }
    }

    /// The same by all legal captures, without leaving any out.
    fn slowly(position: &Chess, depth: u32) -> i32 {
        let (board, us) = (position.board(), position.turn());
        let stand = material(board, us) - material(board, us.other());
        if depth == 0 {
            return stand;
        }
        let value = |m: &Move| -slowly(&after_move(position, *m), depth - 1);
        position.capture_moves().iter().map(value).max().map_or(stand, |best| best.max(stand))
    }

    #[test]
    fn captures_that_are_left_out_do_not_change_the_result() {
        // En passant, promotion with capture, a pinned capturer.
        let fens = [
            "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1",
            "3rk3/4P3/8/8/8/8/8/4K3 w - - 0 1",
            "4k3/4r3/8/8/8/3p4/4N3/4K3 w - - 0 1",
            "4k3/8/8/r2pP2K/8/8/8/8 w - d6 0 1",
        ];
        let positions = positions_from(&fens, 64, 80);
        for position in &positions {
            let (board, us) = (position.board(), position.turn());
            let found = value(board, us, position.maybe_ep_square(), 4);
            assert_eq!(found, slowly(position, 4), "{position:?}");
        }
        assert!(positions.len() > 2000);
    }
}
