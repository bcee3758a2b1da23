// SPDX-License-Identifier: GPL-3.0-or-later
//! An evaluation by hand: material, squares, mobility, pawns, kings.

use shakmaty::{Bitboard, Board, ByRole, Chess, Color, Position as _, Rank, Role, Square, attacks};

use crate::board::{ahead, count, files_beside, pawn_attacks, steps};

/// Centipawns in the middle game and in the ending; what a position is worth lies between, by the
/// pieces left.
#[derive(Clone, Copy, Debug, Default)]
struct Tapered(i32, i32);

impl Tapered {
    const fn add(&mut self, middle: i32, end: i32) {
        self.0 += middle;
        self.1 += end;
    }
}

/// Values of pieces and of pieces on squares, as the mover sees them, made once from simple
/// formulas.
pub struct Classical {
    /// By role and square, for White.
    squares: ByRole<[Tapered; 64]>,
}

/// By role: centipawns in the middle game and in the ending.
const MATERIAL: [(i32, i32); 6] =
    [(85, 105), (330, 300), (345, 320), (480, 540), (980, 980), (0, 0)];
/// By rank, from the second to the seventh.
const PAWN_ADVANCE: [(i32, i32); 8] =
    [(0, 0), (0, 0), (2, 4), (6, 10), (14, 22), (28, 40), (45, 60), (0, 0)];
const PASSED: [(i32, i32); 8] =
    [(0, 0), (2, 8), (4, 14), (10, 28), (28, 52), (55, 90), (85, 140), (0, 0)];
/// Pieces' share of the middle game; all of them together make [`FULL`].
const fn phase_of(role: Role) -> i32 {
    match role {
        Role::Knight | Role::Bishop => 1,
        Role::Rook => 2,
        Role::Queen => 4,
        _ => 0,
    }
}
const FULL: i32 = 24;
/// Centipawns for being to move.
const TEMPO: i32 = 12;

impl Default for Classical {
    fn default() -> Self {
        let squares = ByRole::new_with(|role| Square::ALL.map(|square| on_square(role, square)));
        Self { squares }
    }
}

/// What a white piece is worth on a square.
fn on_square(role: Role, square: Square) -> Tapered {
    let number = |n: u32| i32::try_from(n).unwrap_or(0);
    let (file, rank) = (number(square.file().to_u32()), number(square.rank().to_u32()));
    // Distance from the board's middle lines: 1, 3, 5, 7.
    let (aside, beyond) = ((2 * file - 7).abs(), (2 * rank - 7).abs());
    let away = aside + beyond;
    let (mut middle, mut end) = MATERIAL[role as usize - 1];
    match role {
        Role::Pawn => {
            let advance = PAWN_ADVANCE[square.rank() as usize];
            middle += advance.0;
            end += advance.1;
            if (3..=4).contains(&rank) {
                middle += [22, 12, 0, -4][usize::try_from(aside / 2).unwrap_or(0)];
            }
            if rank == 1 && aside == 1 {
                middle -= 14;
            }
        }
        Role::Knight => {
            middle += 24 - 5 * away + if (3..=5).contains(&rank) { 6 } else { 0 };
            end += 18 - 4 * away;
        }
        Role::Bishop => {
            middle += 12 - 2 * away - if rank == 0 { 8 } else { 0 };
            end += 8 - 2 * away;
        }
        Role::Rook => {
            middle += 7 - aside + if rank == 6 { 14 } else { 0 };
            end += if rank == 6 { 14 } else { 0 };
        }
        Role::Queen => {
            middle += 4 - away / 2;
            end += 20 - 3 * away;
        }
        Role::King => {
            middle += match (rank, aside) {
                (0, 5) => 26,
                (0, 7) => 18,
                (0, 3) => 4,
                (0, _) => 0,
                (rank, _) => -14 * rank - 4,
            };
            end += 34 - 6 * away;
        }
    }
    Tapered(middle, end)
}

impl Classical {
    /// What a side has, and its share of the middle game.
    fn side(&self, board: &Board, color: Color) -> (Tapered, i32) {
        let (mut total, mut phase) = (Tapered::default(), 0);
        let (own, other) = (board.by_color(color), board.by_color(color.other()));
        let (our_pawns, their_pawns) = (board.pawns() & own, board.pawns() & other);
        let occupied = board.occupied();
        let seen = |square: Square| color.fold_wb(square, square.flip_vertical());
        let safe = !own & !pawn_attacks(board, color.other());
        let their_king = board.king_of(color.other()).unwrap_or(Square::E8);
        let our_king = board.king_of(color).unwrap_or(Square::E1);
        let zone = attacks::king_attacks(their_king).with(their_king);
        let (mut attackers, mut pressure) = (0, 0);
        for role in Role::ALL {
            for square in own & board.by_role(role) {
                let Tapered(middle, end) = self.squares.get(role)[usize::from(seen(square))];
                total.add(middle, end);
                phase += phase_of(role);
                let reach = match role {
                    Role::Pawn | Role::King => continue,
                    Role::Knight => attacks::knight_attacks(square),
                    Role::Bishop => attacks::bishop_attacks(square, occupied),
                    Role::Rook => attacks::rook_attacks(square, occupied),
                    Role::Queen => attacks::queen_attacks(square, occupied),
                };
                let free = count(reach & safe);
                match role {
                    Role::Knight => total.add(4 * (free - 4), 4 * (free - 4)),
                    Role::Bishop => total.add(4 * (free - 6), 5 * (free - 6)),
                    Role::Rook => total.add(2 * (free - 7), 4 * (free - 7)),
                    _ => total.add(free - 13, 2 * (free - 13)),
                }
                let hits = count(reach & zone);
                if hits > 0 {
                    attackers += 1;
                    pressure += hits
                        * match role {
                            Role::Knight | Role::Bishop => 8,
                            Role::Rook => 11,
                            _ => 20,
                        };
                }
                if role == Role::Rook {
                    let file = Bitboard::from_file(square.file());
                    if (file & our_pawns).is_empty() {
                        match (file & their_pawns).is_empty() {
                            true => total.add(24, 8),
                            false => total.add(10, 5),
                        }
                    }
                }
            }
        }
        // One attacker alone is no attack.
        if attackers > 1 {
            let strength = [0, 0, 50, 75, 90, 100][usize::try_from(attackers.min(5)).unwrap_or(0)];
            total.add(pressure * strength / 100, pressure / 8);
        }
        if count(own & board.bishops()) > 1 {
            total.add(28, 45);
        }
        pawns(board, color, our_king, their_king, &mut total);
        if board.queens().is_empty() {
            return (total, phase);
        }
        // Pawns before the king.
        let home = seen(our_king).rank() <= Rank::Second;
        let king_file = our_king.file();
        let files = [-1, 0, 1].into_iter().filter_map(|d| king_file.offset(d));
        for file in files.filter(|_| home) {
            let file = Bitboard::from_file(file);
            let near = color.fold_wb(
                Bitboard::from_rank(Rank::Second) | Bitboard::from_rank(Rank::Third),
                Bitboard::from_rank(Rank::Seventh) | Bitboard::from_rank(Rank::Sixth),
            );
            if (file & near & our_pawns).is_empty() {
                total.add(-16, 0);
                if (file & our_pawns).is_empty() {
                    total.add(-10, 0);
                }
            }
        }
        (total, phase)
    }

    /// What a position is worth without looking ahead, centipawns for the side to move.
    pub fn evaluate(&self, position: &Chess) -> i32 {
        let board = position.board();
        let [(white, own), (black, other)] = Color::ALL.map(|color| self.side(board, color));
        let phase = (own + other).min(FULL);
        let value = ((white.0 - black.0) * phase + (white.1 - black.1) * (FULL - phase)) / FULL;
        let value = scaled(board, value);
        position.turn().fold_wb(value, -value) + TEMPO
    }
}

/// What the pawns of a side are worth beyond their squares.
fn pawns(board: &Board, color: Color, our_king: Square, their_king: Square, total: &mut Tapered) {
    let (own, other) = (board.by_color(color), board.by_color(color.other()));
    let (ours, theirs) = (board.pawns() & own, board.pawns() & other);
    let guarded = pawn_attacks(board, color);
    for square in ours {
        let before = ahead(square, color, false);
        if (files_beside(square.file()) & ours).is_empty() {
            total.add(-12, -12);
        }
        if !(before & ours).is_empty() {
            total.add(-8, -18);
        }
        if guarded.contains(square) {
            total.add(6, 5);
        }
        if ((before | ahead(square, color, true)) & theirs).is_empty() && (before & ours).is_empty()
        {
            let rank = color.fold_wb(square, square.flip_vertical()).rank() as usize;
            let (middle, end) = PASSED[rank];
            total.add(middle, end);
            if rank >= 3 {
                let front = square.offset(color.fold_wb(8, -8)).unwrap_or(square);
                let distance = 5 * steps(their_king, front) - 3 * steps(our_king, front);
                let weight = i32::try_from(rank).unwrap_or(0) - 2;
                total.add(0, distance * weight / 2);
                if board.occupied().contains(front) {
                    total.add(-middle / 3, -end / 3);
                }
            }
        }
    }
}

/// Takes off what cannot be won, and drives a bare king to the edge.
fn scaled(board: &Board, value: i32) -> i32 {
    let strong = if value >= 0 { Color::White } else { Color::Black };
    let material = |color: Color| -> i32 {
        let own = board.by_color(color);
        320 * count(own & (board.knights() | board.bishops()))
            + 500 * count(own & board.rooks())
            + 950 * count(own & board.queens())
    };
    let pawns = board.pawns() & board.by_color(strong);
    let (ours, theirs) = (material(strong), material(strong.other()));
    let only_knights = (board.by_color(strong) & !board.knights()).count() == 1 && ours <= 640;
    if pawns.is_empty() && (ours - theirs < 400 || only_knights) {
        return value / 8;
    }
    let weak = board.by_color(strong.other());
    if weak.count() == 1 && ours >= 500 {
        let (Some(king), Some(hunter)) = (board.king_of(strong.other()), board.king_of(strong))
        else {
            return value;
        };
        let middle = |n: u32| i32::try_from(n).map_or(0, |n| (2 * n - 7).abs());
        let edge = middle(king.file().to_u32()) + middle(king.rank().to_u32());
        let drive = 10 * edge + 8 * (7 - steps(king, hunter));
        return value + if strong.is_white() { drive } else { -drive };
    }
    let bishops = board.bishops();
    let opposite = count(bishops & board.white()) == 1
        && count(bishops & board.black()) == 1
        && count(bishops & Bitboard::DARK_SQUARES) == 1;
    if opposite && ours == 320 && theirs == 320 {
        return value / 2;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::{CastlingMode, fen::Fen};

    fn value(fen: &str) -> i32 {
        let fen: Fen = fen.parse().expect("a good FEN");
        let position: Chess = fen.into_position(CastlingMode::Standard).expect("legal");
        Classical::default().evaluate(&position)
    }

    #[test]
    fn both_sides_count_alike() {
        let mirrored = [
            (
                "r1bqkb1r/pp3ppp/2np1n2/4p3/3NP3/2N5/PPP2PPP/R1BQKB1R w KQkq - 0 7",
                "r1bqkb1r/ppp2ppp/2n5/3np3/4P3/2NP1N2/PP3PPP/R1BQKB1R b KQkq - 0 7",
            ),
            (
                "8/5k2/3p4/1p1Pp2p/pP2Pp1P/P4P1K/8/8 b - - 0 1",
                "8/8/p4p1k/Pp2pP1p/1P1pP2P/3P4/5K2/8 w - - 0 1",
            ),
        ];
        for (a, b) in mirrored {
            assert_eq!(value(a), value(b), "{a}");
        }
        assert_eq!(value("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"), TEMPO);
    }

    #[test]
    fn better_is_more() {
        let rows = [
            // A knight up; a passed pawn far ahead; a bare king in the corner; knights alone win
            // nothing.
            (
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
                "rnbqkb1r/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            ),
            ("4k3/8/8/8/P7/8/8/4K3 w - - 0 1", "4k3/8/P7/8/8/8/8/4K3 w - - 0 1"),
            ("8/8/8/3k4/8/8/8/R3K3 w - - 0 1", "k7/8/2K5/8/8/8/8/1R6 w - - 0 1"),
            ("4k3/8/8/8/8/8/8/3NKN2 w - - 0 1", "4k3/8/8/8/8/8/3PP3/4K3 w - - 0 1"),
        ];
        for (worse, better) in rows {
            assert!(value(worse) + 20 < value(better), "{worse} {better}");
        }
    }
}
