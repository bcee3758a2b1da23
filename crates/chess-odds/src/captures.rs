// SPDX-License-Identifier: GPL-3.0-or-later
//! The material balance after the captures that begin in a position, when each side may stop at any
//! time. It is a small search with bit boards of its own, because it runs for millions of
//! positions.

use shakmaty::{Bitboard, Board, Chess, Color, Position as _, Rank, Role, Square, attacks};

/// More than all pieces are worth.
const MUCH: i32 = 1000;

/// The most captures in a row that are searched.
const DEPTH: u32 = 8;

/// What can be taken, dearest first.
const VICTIMS: [Role; 5] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::Pawn];

/// What a promotion brings at most.
const MOST_PROMOTED: i32 = 8;

const PROMOTIONS: [Role; 4] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight];

const fn worth(role: Role) -> i32 {
    match role {
        Role::Pawn => 1,
        Role::Knight | Role::Bishop => 3,
        Role::Rook => 5,
        Role::Queen => 9,
        Role::King => 0,
    }
}

fn count(squares: Bitboard) -> i32 {
    i32::try_from(squares.count()).unwrap_or(0)
}

/// Material of the side to move less the other side's, in pawns, after the best captures of both
/// sides.
pub fn captures(position: &Chess) -> i32 {
    value(position.board(), position.turn(), position.maybe_ep_square())
}

/// The same if it were the other side's turn; the position must be one in which it may be.
pub fn captures_of_other(position: &Chess) -> i32 {
    value(position.board(), position.turn().other(), None)
}

fn value(board: &Board, us: Color, passant: Option<Square>) -> i32 {
    let men = Men::new(board, us);
    let sum = |own: Bitboard| -> i32 {
        VICTIMS.into_iter().map(|role| count(own & men.of(role)) * worth(role)).sum()
    };
    settle(&men, us, passant, sum(men.own) - sum(men.theirs), -MUCH, MUCH, DEPTH)
}

/// Where the men stand, as the side to move sees them.
#[derive(Clone, Copy)]
struct Men {
    /// By role, from pawn to king.
    roles: [Bitboard; 6],
    own: Bitboard,
    theirs: Bitboard,
}

const fn index(role: Role) -> usize {
    role as usize - 1
}

impl Men {
    fn new(board: &Board, us: Color) -> Self {
        let roles = Role::ALL.map(|role| board.by_role(role));
        Self { roles, own: board.by_color(us), theirs: board.by_color(us.other()) }
    }

    const fn of(&self, role: Role) -> Bitboard {
        self.roles[index(role)]
    }

    fn straight(&self) -> Bitboard {
        self.of(Role::Rook) | self.of(Role::Queen)
    }

    fn diagonal(&self) -> Bitboard {
        self.of(Role::Bishop) | self.of(Role::Queen)
    }

    /// Men of either side that attack a square, pawns only those of `side`.
    fn attackers(&self, square: Square, side: Color) -> Bitboard {
        let occupied = self.own | self.theirs;
        (attacks::rook_attacks(square, occupied) & self.straight())
            | (attacks::bishop_attacks(square, occupied) & self.diagonal())
            | (attacks::knight_attacks(square) & self.of(Role::Knight))
            | (attacks::king_attacks(square) & self.of(Role::King))
            | (attacks::pawn_attacks(side.other(), square) & self.of(Role::Pawn))
    }

    /// Squares that the men of the side to move attack.
    fn attacked(&self, us: Color) -> Bitboard {
        let occupied = self.own | self.theirs;
        let pawns = (self.of(Role::Pawn) & self.own).0;
        let (not_a, not_h) = (!0x0101_0101_0101_0101, !0x8080_8080_8080_8080);
        let beside = (pawns << 1 & not_a) | (pawns >> 1 & not_h);
        let mut all = Bitboard(us.fold_wb(beside << 8, beside >> 8));
        for square in self.of(Role::Knight) & self.own {
            all |= attacks::knight_attacks(square);
        }
        for square in self.of(Role::King) & self.own {
            all |= attacks::king_attacks(square);
        }
        for square in self.straight() & self.own {
            all |= attacks::rook_attacks(square, occupied);
        }
        for square in self.diagonal() & self.own {
            all |= attacks::bishop_attacks(square, occupied);
        }
        all
    }

    /// Whether `them` attack the king of the side to move.
    fn is_check(&self, king: Square, them: Color) -> bool {
        self.attackers(king, them).intersects(self.theirs)
    }

    /// Squares that a man may leave only if the king is not in check afterwards: all if it is in
    /// check, else those between the king and what could look at it.
    fn doubtful(&self, king: Square, them: Color) -> Bitboard {
        if self.is_check(king, them) {
            return Bitboard::FULL;
        }
        let snipers = (attacks::rook_attacks(king, Bitboard::EMPTY) & self.straight()
            | attacks::bishop_attacks(king, Bitboard::EMPTY) & self.diagonal())
            & self.theirs;
        snipers
            .into_iter()
            .fold(Bitboard::from_square(king), |all, sniper| all | attacks::between(king, sniper))
    }

    /// After a man of ours has gone from one square to another and taken what stands on `victim`.
    fn after(&self, from: Square, to: Square, role: Role, becomes: Role, victim: Square) -> Self {
        let mut next = *self;
        let taken = Bitboard::from_square(victim);
        if self.theirs.contains(victim) {
            for own in &mut next.roles {
                *own &= !taken;
            }
            next.theirs &= !taken;
        }
        next.roles[index(role)].discard(from);
        next.roles[index(becomes)].add(to);
        next.own.discard(from);
        next.own.add(to);
        next
    }

    const fn turned(mut self) -> Self {
        (self.own, self.theirs) = (self.theirs, self.own);
        self
    }
}

/// A node of the search: what its captures have in common.
struct Node<'a> {
    men: &'a Men,
    us: Color,
    king: Square,
    /// Found when it is needed.
    doubtful: Option<Bitboard>,
    beta: i32,
    depth: u32,
}

impl Node<'_> {
    /// The result of a capture that leaves us with material `stand`; `None` if it would leave our
    /// king in check.
    fn taken(
        &mut self,
        after: &Men,
        from: Square,
        role: Role,
        stand: i32,
        alpha: i32,
    ) -> Option<i32> {
        let (men, them) = (self.men, self.us.other());
        let king = self.king;
        let doubtful = *self.doubtful.get_or_insert_with(|| men.doubtful(king, them));
        if doubtful.contains(from) {
            let king = if role == Role::King { after.king_of_own()? } else { king };
            if after.is_check(king, them) {
                return None;
            }
        }
        let depth = self.depth - 1;
        Some(-settle(&after.turned(), them, None, -stand, -self.beta, -alpha, depth))
    }
}

impl Men {
    fn king_of_own(&self) -> Option<Square> {
        (self.of(Role::King) & self.own).first()
    }
}

/// Material of the side to move less the other's, in pawns, after the best captures of both.
/// `stand` is the present difference, `passant` the square of a possible capture en passant.
fn settle(
    men: &Men,
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
    let Some(king) = men.king_of_own() else { return stand };
    let mut node = Node { men, us, king, doubtful: None, beta, depth };
    let last_rank = us.fold_wb(Rank::Eighth, Rank::First);
    // The other side can stop after a capture, so a victim of too little value cannot raise the
    // result above `alpha`.
    let last = Bitboard::from_rank(last_rank);
    let mut victims = Bitboard::EMPTY;
    for role in VICTIMS {
        if stand + worth(role) > alpha {
            victims |= men.of(role);
        } else if stand + worth(role) + MOST_PROMOTED > alpha {
            victims |= men.of(role) & last;
        }
    }
    victims &= men.theirs;
    if !victims.is_empty() {
        victims &= men.attacked(us);
    }
    for role in VICTIMS {
        for to in victims & men.of(role) {
            let is_last = to.rank() == last_rank;
            let promoted = if is_last { MOST_PROMOTED } else { 0 };
            if stand + worth(role) + promoted <= alpha {
                continue;
            }
            let attackers = men.attackers(to, us) & men.own;
            for attacker in Role::ALL {
                for from in attackers & men.of(attacker) {
                    let becomes: &[Role] = match attacker == Role::Pawn && is_last {
                        true => &PROMOTIONS,
                        false => &[attacker],
                    };
                    for &becomes in becomes {
                        let won = worth(role) + worth(becomes) - worth(attacker);
                        let after = men.after(from, to, attacker, becomes, to);
                        if let Some(value) = node.taken(&after, from, attacker, stand + won, alpha)
                        {
                            best = best.max(value);
                            alpha = alpha.max(value);
                            if alpha >= beta {
                                return best;
                            }
                        }
                    }
                }
            }
        }
    }
    if let Some(to) = passant
        && stand + 1 > alpha
    {
        node.doubtful = Some(Bitboard::FULL);
        for from in attacks::pawn_attacks(us.other(), to) & men.own & men.of(Role::Pawn) {
            let victim = Square::from_coords(to.file(), from.rank());
            let after = men.after(from, to, Role::Pawn, Role::Pawn, victim);
            if let Some(value) = node.taken(&after, from, Role::Pawn, stand + 1, alpha) {
                best = best.max(value);
                alpha = alpha.max(value);
                if alpha >= beta {
                    return best;
                }
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::read_fen;
    use shakmaty::{Move, Position};

    fn settled(position: &Chess, depth: u32) -> i32 {
        let men = Men::new(position.board(), position.turn());
        let passant = position.maybe_ep_square();
        settle(&men, position.turn(), passant, material(position), -MUCH, MUCH, depth)
    }

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
        let stand = material(position);
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

    fn material(position: &Chess) -> i32 {
        let board = position.board();
        let worth = |color: shakmaty::Color| -> i32 {
            let own = board.by_color(color) & !board.kings();
            own.into_iter().filter_map(|s| board.role_at(s)).map(crate::exchange::worth).sum()
        };
        worth(position.turn()) - worth(position.turn().other())
    }

    #[test]
    fn captures_that_are_left_out_do_not_change_the_result() {
        let mut random = crate::random::Random::from_seed(11);
        let depth = 4;
        let mut compared = 0;
        for _ in 0..60 {
            let mut position = Chess::default();
            for _ in 0..80 {
                let moves = position.legal_moves();
                if moves.is_empty() {
                    break;
                }
                position.play_unchecked(moves[random.below(moves.len())]);
                let found = settled(&position, depth);
                assert_eq!(found, slowly(&position, depth), "{position:?}");
                compared += 1;
            }
        }
        // En passant, promotion with capture, a pinned capturer.
        for fen in [
            "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1",
            "3rk3/4P3/8/8/8/8/8/4K3 w - - 0 1",
            "4k3/4r3/8/8/8/3p4/4N3/4K3 w - - 0 1",
            "4k3/8/8/r2pP2K/8/8/8/8 w - d6 0 1",
        ] {
            let position = read_fen(fen).expect("good FEN");
            let found = settled(&position, depth);
            assert_eq!(found, slowly(&position, depth), "{fen}");
        }
        assert!(compared > 2000);
    }
}
