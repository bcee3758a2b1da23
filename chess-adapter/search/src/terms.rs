// SPDX-License-Identifier: GPL-3.0-or-later
//! What a position has: material on squares, mobility, attacks, pawns, kings. The evaluation is the
//! sum of these terms, each multiplied by its value.

use shakmaty::{Bitboard, Board, Color, Rank, Role, Square, attacks};

use crate::board::{ahead, count, files_beside, pawn_attacks, steps};

/// A coefficient of one: coefficients are counted in eighths.
pub const UNIT: i32 = 8;
/// All pieces together have this share of the middle game.
pub const FULL: i32 = 24;

/// The first of the terms for free squares of a knight, bishop, rook and queen; before them, 64
/// squares for each role.
const MOBILITY: [usize; 4] = [384, 393, 407, 422];
/// Rooks on files without pawns, and without pawns of their own.
const OPEN_FILE: usize = 450;
/// See [`OPEN_FILE`].
const HALF_OPEN_FILE: usize = 451;
/// Attacks at the king by several pieces: 0, 8, ... 152 of them, weighted; values between are
/// interpolated.
const PRESSURE: usize = 452;
/// The last of these terms, counted from the first one.
const MOST_PRESSURE: i32 = 19;
/// Two bishops.
const PAIR: usize = 472;
/// Pawns without others on the files beside, behind another one, and guarded.
const ISOLATED: usize = 473;
/// See [`ISOLATED`].
const DOUBLED: usize = 474;
/// See [`ISOLATED`].
const GUARDED: usize = 475;
/// Passed pawns by rank.
const PASSED: usize = 476;
/// Passed pawns that are blocked, by rank.
const BLOCKED: usize = 484;
/// How much nearer our king is to the square before a passed pawn than theirs.
const RACE: usize = 492;
/// Steps of our king to that square.
const OUR_STEPS: usize = 493;
/// Files at the king without a pawn near, and without any.
const BARE_FILE: usize = 494;
/// See [`BARE_FILE`].
const EMPTY_FILE: usize = 495;
/// Being to move.
pub const TEMPO: usize = 496;
/// Pawns that attack knights and bishops, and rooks and queens.
const PAWN_HITS_MINOR: usize = 497;
const PAWN_HITS_MAJOR: usize = 498;
/// Knights and bishops that attack rooks and queens.
const MINOR_HITS_MAJOR: usize = 499;
/// Attacks at pieces, and at pawns, that no pawn guards.
const LOOSE_PIECE: usize = 500;
const LOOSE_PAWN: usize = 501;
/// Knights guarded by a pawn and beyond the reach of theirs.
const OUTPOST: usize = 502;
/// Attacks at the king by several pieces in the ending, in eighths.
const LATE_PRESSURE: usize = 503;
/// The number of terms.
pub const TERMS: usize = 504;

/// The terms beyond those of squares, by the first one of each family.
const FAMILIES: [(usize, &str); 26] = [
    (MOBILITY[0], "N-free"),
    (MOBILITY[1], "B-free"),
    (MOBILITY[2], "R-free"),
    (MOBILITY[3], "Q-free"),
    (OPEN_FILE, "open-file"),
    (HALF_OPEN_FILE, "half-open-file"),
    (PRESSURE, "pressure"),
    (PAIR, "bishop-pair"),
    (ISOLATED, "isolated-pawn"),
    (DOUBLED, "doubled-pawn"),
    (GUARDED, "guarded-pawn"),
    (PASSED, "passed-pawn"),
    (BLOCKED, "blocked-pawn"),
    (RACE, "race"),
    (OUR_STEPS, "king-steps"),
    (BARE_FILE, "bare-file"),
    (EMPTY_FILE, "empty-file"),
    (TEMPO, "tempo"),
    (PAWN_HITS_MINOR, "pawn-hits-minor"),
    (PAWN_HITS_MAJOR, "pawn-hits-major"),
    (MINOR_HITS_MAJOR, "minor-hits-major"),
    (LOOSE_PIECE, "loose-piece"),
    (LOOSE_PAWN, "loose-pawn"),
    (OUTPOST, "outpost"),
    (LATE_PRESSURE, "late-pressure"),
    (TERMS, "end"),
];

/// The name of a term: `Pe4`, or that of its family, with its number there if there are several.
pub fn name(term: usize) -> String {
    if term < MOBILITY[0] {
        let role = Role::ALL[term / 64].upper_char();
        return format!("{role}{}", Square::ALL[term % 64]);
    }
    let after = FAMILIES.partition_point(|(first, _)| *first <= term);
    let (first, name) = FAMILIES[after - 1];
    match FAMILIES.get(after) {
        Some((next, _)) if next - first > 1 => format!("{name}-{}", term - first),
        _ => name.to_owned(),
    }
}

/// The share of the middle game that the pieces on the board make, at most [`FULL`].
pub fn pieces_left(board: &Board) -> i32 {
    let pieces = count(board.knights() | board.bishops());
    (pieces + 2 * count(board.rooks()) + 4 * count(board.queens())).min(FULL)
}

/// Gives the terms of a position but [`TEMPO`] to `add` with their coefficients, White's positive;
/// returns the share of the middle game, at most [`FULL`].
pub fn terms(board: &Board, mut add: impl FnMut(usize, i32)) -> i32 {
    for color in Color::ALL {
        let sign = color.fold_wb(1, -1);
        side(board, color, |term, eighths| add(term, sign * eighths));
    }
    pieces_left(board)
}

/// Gives the terms of a side, counted once each.
fn side(board: &Board, color: Color, mut add: impl FnMut(usize, i32)) {
    let (own, other) = (board.by_color(color), board.by_color(color.other()));
    let (our_pawns, their_pawns) = (board.pawns() & own, board.pawns() & other);
    let occupied = board.occupied();
    let seen = |square: Square| color.fold_wb(square, square.flip_vertical());
    let (our_guard, their_guard) = (pawn_attacks(board, color), pawn_attacks(board, color.other()));
    let safe = !own & !their_guard;
    let their_king = board.king_of(color.other()).unwrap_or(Square::E8);
    let our_king = board.king_of(color).unwrap_or(Square::E1);
    let zone = attacks::king_attacks(their_king).with(their_king);
    let (minors, majors) = (board.knights() | board.bishops(), board.rooks() | board.queens());
    let (mut attackers, mut pressure) = (0, 0);
    add(PAWN_HITS_MINOR, UNIT * count(our_guard & other & minors));
    add(PAWN_HITS_MAJOR, UNIT * count(our_guard & other & majors));
    for role in Role::ALL {
        for square in own & board.by_role(role) {
            add(64 * (role as usize - 1) + usize::from(seen(square)), UNIT);
            let reach = match role {
                Role::Pawn | Role::King => continue,
                Role::Knight => attacks::knight_attacks(square),
                Role::Bishop => attacks::bishop_attacks(square, occupied),
                Role::Rook => attacks::rook_attacks(square, occupied),
                Role::Queen => attacks::queen_attacks(square, occupied),
            };
            add(MOBILITY[role as usize - 2] + (reach & safe).count(), UNIT);
            let hit = reach & other;
            if !hit.is_empty() {
                let loose = hit & !their_guard;
                add(LOOSE_PIECE, UNIT * count(loose & (minors | majors)));
                add(LOOSE_PAWN, UNIT * count(loose & their_pawns));
                if minors.contains(square) {
                    add(MINOR_HITS_MAJOR, UNIT * count(hit & majors));
                }
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
            let file = Bitboard::from_file(square.file());
            if role == Role::Rook && (file & our_pawns).is_empty() {
                let is_open = (file & their_pawns).is_empty();
                add(if is_open { OPEN_FILE } else { HALF_OPEN_FILE }, UNIT);
            }
            if role == Role::Knight
                && our_guard.contains(square)
                && !their_guard.contains(square)
                && seen(square).rank() >= Rank::Fourth
            {
                add(OUTPOST, UNIT);
            }
        }
    }
    // One attacker alone is not an attack.
    if attackers > 1 {
        let strength = [50, 75, 90, 100][usize::try_from(attackers - 2).map_or(0, |n| n.min(3))];
        let weighted = pressure * strength / 100;
        let step = (weighted / UNIT).min(MOST_PRESSURE - 1);
        let beyond = weighted - UNIT * step;
        let term = PRESSURE + usize::try_from(step).unwrap_or(0);
        add(term, UNIT - beyond);
        add(term + 1, beyond);
        add(LATE_PRESSURE, UNIT * (pressure / 8));
    }
    if count(own & board.bishops()) > 1 {
        add(PAIR, UNIT);
    }
    for square in our_pawns {
        let before = ahead(square, color, false);
        if (files_beside(square.file()) & our_pawns).is_empty() {
            add(ISOLATED, UNIT);
        }
        if !(before & our_pawns).is_empty() {
            add(DOUBLED, UNIT);
        }
        if our_guard.contains(square) {
            add(GUARDED, UNIT);
        }
        if ((before | ahead(square, color, true)) & their_pawns).is_empty()
            && (before & our_pawns).is_empty()
        {
            let rank = seen(square).rank() as usize;
            add(PASSED + rank, UNIT);
            if rank >= 3 {
                let front = square.offset(color.fold_wb(8, -8)).unwrap_or(square);
                let (ours, theirs) = (steps(our_king, front), steps(their_king, front));
                let weight = i32::try_from(rank).unwrap_or(0) - 2;
                add(RACE, UNIT * ((5 * theirs - 3 * ours) * weight / 2));
                add(OUR_STEPS, UNIT * ours * weight);
                if occupied.contains(front) {
                    add(BLOCKED + rank, UNIT);
                }
            }
        }
    }
    // Pawns before the king.
    if !board.queens().is_empty() && seen(our_king).rank() <= Rank::Second {
        let near = color.fold_wb(
            Bitboard::from_rank(Rank::Second) | Bitboard::from_rank(Rank::Third),
            Bitboard::from_rank(Rank::Seventh) | Bitboard::from_rank(Rank::Sixth),
        );
        for file in [-1, 0, 1].into_iter().filter_map(|d| our_king.file().offset(d)) {
            let file = Bitboard::from_file(file) & our_pawns;
            if (file & near).is_empty() {
                add(BARE_FILE, UNIT);
                if file.is_empty() {
                    add(EMPTY_FILE, UNIT);
                }
            }
        }
    }
}
