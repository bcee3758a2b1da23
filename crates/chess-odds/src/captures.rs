// SPDX-License-Identifier: GPL-3.0-or-later
//! The material balance after the captures that begin in a position, when each side may stop at any
//! time. It is a small search of its own, because it runs for millions of positions.

use chess_search::board::{pawn_attacks, snipers};
use shakmaty::{Bitboard, Board, Chess, Color, Piece, Position as _, Rank, Role, Square, attacks};

use crate::exchange::{material, worth};

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
pub fn captures(position: &Chess) -> i32 {
    value(position.board(), position.turn(), position.maybe_ep_square(), DEPTH)
}

/// The same if it were the other side's turn; the position must be one in which it may be.
pub fn captures_of_other(position: &Chess) -> i32 {
    value(position.board(), position.turn().other(), None, DEPTH)
}

fn value(board: &Board, us: Color, passant: Option<Square>, depth: u32) -> i32 {
    let stand = material(board, us) - material(board, us.other());
    settle(board, us, passant, stand, -MUCH, MUCH, depth)
}

/// Squares that a man may leave only if the king is not in check afterwards: all if it is in check,
/// else those between the king and what could look at it.
fn doubtful(board: &Board, king: Square, them: Color) -> Bitboard {
    if board.attacks_to(king, them, board.occupied()).any() {
        return Bitboard::FULL;
    }
    let lines = snipers(board, king, them).into_iter().map(|from| attacks::between(king, from));
    lines.fold(Bitboard::from_square(king), |all, line| all | line)
}

/// Squares that the men of a side attack.
fn reached(board: &Board, side: Color) -> Bitboard {
    let (own, occupied) = (board.by_color(side), board.occupied());
    let mut all = pawn_attacks(board, side);
    (own & board.knights()).into_iter().for_each(|from| all |= attacks::knight_attacks(from));
    (own & board.kings()).into_iter().for_each(|from| all |= attacks::king_attacks(from));
    for from in own & board.rooks_and_queens() {
        all |= attacks::rook_attacks(from, occupied);
    }
    for from in own & board.bishops_and_queens() {
        all |= attacks::bishop_attacks(from, occupied);
    }
    all
}

/// A node of the search: what its captures have in common.
struct Node<'a> {
    board: &'a Board,
    us: Color,
    king: Square,
    /// Found when it is needed.
    doubtful: Option<Bitboard>,
    beta: i32,
    depth: u32,
}

impl Node<'_> {
    /// The result of taking what stands on `victim`, which leaves us with material `stand`; `None`
    /// if it would leave our king in check.
    fn taken(
        &mut self,
        [from, to, victim]: [Square; 3],
        becomes: Role,
        stand: i32,
        alpha: i32,
    ) -> Option<i32> {
        let (board, us, them) = (self.board, self.us, self.us.other());
        let mut after = board.clone();
        if victim != to {
            after.discard_piece_at(victim);
        }
        after.discard_piece_at(from);
        after.set_piece_at(to, Piece { color: us, role: becomes });
        let doubtful = *self.doubtful.get_or_insert_with(|| doubtful(board, self.king, them));
        if doubtful.contains(from) {
            let king = if becomes == Role::King { to } else { self.king };
            if after.attacks_to(king, them, after.occupied()).any() {
                return None;
            }
        }
        Some(-settle(&after, them, None, -stand, -self.beta, -alpha, self.depth - 1))
    }
}

/// Material of the side to move less the other's, in pawns, after the best captures of both.
/// `stand` is the present difference, `passant` the square of a possible capture en passant.
fn settle(
    board: &Board,
    us: Color,
    passant: Option<Square>,
    stand: i32,
    mut alpha: i32,
    beta: i32,
    depth: u32,
) -> i32 {
    // The side to move need not capture. That it may have to in check is ignored.
    if stand >= beta || depth == 0 {
        return stand;
    }
    alpha = alpha.max(stand);
    let mut best = stand;
    let Some(king) = board.king_of(us) else { return stand };
    let mut node = Node { board, us, king, doubtful: None, beta, depth };
    let (own, theirs) = (board.by_color(us), board.by_color(us.other()));
    let last_rank = Bitboard::from_rank(us.fold_wb(Rank::Eighth, Rank::First));
    let mut reach = None;
    for victim in VICTIMS {
        // The other side can stop after a capture, so a victim of too little value cannot raise the
        // result above `alpha`.
        let mut victims = theirs & board.by_role(victim);
        if stand + worth(victim) <= alpha {
            victims &= last_rank;
        }
        if victims.is_empty() || stand + worth(victim) + MOST_PROMOTED <= alpha {
            continue;
        }
        for to in victims & *reach.get_or_insert_with(|| reached(board, us)) {
            let is_last = last_rank.contains(to);
            let promoted = if is_last { MOST_PROMOTED } else { 0 };
            if stand + worth(victim) + promoted <= alpha {
                continue;
            }
            let attackers = board.attacks_to(to, us, board.occupied());
            for attacker in Role::ALL {
                for from in attackers & board.by_role(attacker) {
                    let becomes: &[Role] = match attacker == Role::Pawn && is_last {
                        true => &PROMOTIONS,
                        false => &[attacker],
                    };
                    for &becomes in becomes {
                        let won = worth(victim) + worth(becomes) - worth(attacker);
                        let value = node.taken([from, to, to], becomes, stand + won, alpha);
                        best = best.max(value.unwrap_or(best));
                        alpha = alpha.max(best);
                        if alpha >= beta {
                            return best;
                        }
                    }
                }
            }
        }
    }
    if let Some(to) = passant
        && stand + worth(Role::Pawn) > alpha
    {
        node.doubtful = Some(Bitboard::FULL);
        for from in attacks::pawn_attacks(us.other(), to) & own & board.pawns() {
            let victim = Square::from_coords(to.file(), from.rank());
            let value = node.taken([from, to, victim], Role::Pawn, stand + 1, alpha);
            best = best.max(value.unwrap_or(best));
            alpha = alpha.max(best);
            if alpha >= beta {
                return best;
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{play_at_random, read_fen};
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
        let value = |m: &Move| {
            let mut after = position.clone();
            after.play_unchecked(*m);
            -slowly(&after, depth - 1)
        };
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
        let mut compared = 0;
        play_at_random(11, &fens, (64, 80), |position| {
            let (board, us) = (position.board(), position.turn());
            let found = value(board, us, position.maybe_ep_square(), 4);
            assert_eq!(found, slowly(position, 4), "{position:?}");
            compared += 1;
        });
        assert!(compared > 2000);
    }
}
