// SPDX-License-Identifier: GPL-3.0-or-later
//! Positions described by words, and an evaluation from the weights of these words in games won and
//! lost.
//!
//! A word is a letter for the side, `o` for the one to move and `t` for the other, and a feature:
//!
//! - `N`: a piece; `Nf3`: a piece on a square, as its own side sees the board;
//! - `p` and a rank: a passed pawn; `i`, `d`, `g`: an isolated, a doubled, a guarded pawn;
//! - `b`: both bishops; `r`, `h`: a rook on an open, a half-open file;
//! - `s` and a number: pawns before the king; `k` and a number: opposing pieces that look at the
//!   squares around the king; `z` and a number: those squares that they look at;
//! - `c`: in check, for the side to move only.
//!
//! The classifier learns lines of these words by stage and outcome for the side to move, and fits
//! the categories of a stage together. The worth of a word is then its weight in games won less
//! that in games lost. A feature counts for one side as much as against the other, so half the
//! difference of its `o` and `t` words is used. A position's value is the sum over its features.

use shakmaty::{Bitboard, Board, Chess, Color, File, Position as _, Rank, Role, Square, attacks};

use anyhow::{Result, bail};
use chess_search::Evaluate;
use std::path::Path;

use crate::play::bayes::stage::{Outcome, Stage};
use crate::play::bayes::weights::{Weights, feature};

/// The name that evaluations record for these words.
pub const NAME: &str = "position-words 1";

const ROLES: [Role; 6] =
    [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen, Role::King];

const MEN: usize = 384;
const PASSED: usize = MEN + 6;
const ISOLATED: usize = PASSED + 8;
const DOUBLED: usize = ISOLATED + 1;
const GUARDED: usize = DOUBLED + 1;
const BISHOPS: usize = GUARDED + 1;
const OPEN_ROOK: usize = BISHOPS + 1;
const HALF_OPEN_ROOK: usize = OPEN_ROOK + 1;
const SHIELD: usize = HALF_OPEN_ROOK + 1;
const LOOKING: usize = SHIELD + 4;
const LOOKED_AT: usize = LOOKING + 6;
const CHECK: usize = LOOKED_AT + 10;
/// Features of a side.
const FEATURES: usize = CHECK + 1;

/// A feature's word, without the letter of the side.
fn name(number: usize) -> String {
    match number {
        ..MEN => {
            let role = ROLES[number / 64];
            let square = Square::new(u32::try_from(number % 64).unwrap_or(0));
            format!("{}{square}", role.upper_char())
        }
        MEN..PASSED => ROLES[number - MEN].upper_char().to_string(),
        PASSED..ISOLATED => format!("p{}", number - PASSED),
        ISOLATED => "i".to_owned(),
        DOUBLED => "d".to_owned(),
        GUARDED => "g".to_owned(),
        BISHOPS => "b".to_owned(),
        OPEN_ROOK => "r".to_owned(),
        HALF_OPEN_ROOK => "h".to_owned(),
        SHIELD..LOOKING => format!("s{}", number - SHIELD),
        LOOKING..LOOKED_AT => format!("k{}", number - LOOKING),
        LOOKED_AT..CHECK => format!("z{}", number - LOOKED_AT),
        _ => "c".to_owned(),
    }
}

const fn index(role: Role) -> usize {
    role as usize - 1
}

fn neighbours(file: File) -> Bitboard {
    let beside = [-1, 1].into_iter().filter_map(|step| file.offset(step));
    beside.fold(Bitboard::EMPTY, |all, file| all | Bitboard::from_file(file))
}

/// The squares of a file and of those beside it that lie before a pawn.
fn ahead(square: Square, color: Color) -> Bitboard {
    let files = Bitboard::from_file(square.file()) | neighbours(square.file());
    let rank = square.rank();
    let beyond = Rank::ALL.into_iter().filter(|&r| color.fold_wb(r > rank, r < rank));
    files & beyond.fold(Bitboard::EMPTY, |all, rank| all | Bitboard::from_rank(rank))
}

/// Calls `take` with each feature of a side.
fn side(board: &Board, color: Color, is_check: bool, mut take: impl FnMut(usize)) {
    let own = board.by_color(color);
    let pawns = board.pawns();
    let our_pawns = pawns & own;
    let seen = |square: Square| color.fold_wb(square, square.flip_vertical());
    for role in ROLES {
        for square in own & board.by_role(role) {
            take(MEN + index(role));
            take(index(role) * 64 + usize::from(seen(square)));
        }
    }
    let guarded = our_pawns
        .into_iter()
        .fold(Bitboard::EMPTY, |all, pawn| all | attacks::pawn_attacks(color, pawn));
    for pawn in our_pawns {
        let file = Bitboard::from_file(pawn.file());
        if (ahead(pawn, color) & pawns & !own).is_empty()
            && (ahead(pawn, color) & file & our_pawns).is_empty()
        {
            take(PASSED + seen(pawn).rank() as usize);
        }
        if (neighbours(pawn.file()) & our_pawns).is_empty() {
            take(ISOLATED);
        }
        if (file & our_pawns).count() > 1 {
            take(DOUBLED);
        }
        if guarded.contains(pawn) {
            take(GUARDED);
        }
    }
    if (own & board.bishops()).count() > 1 {
        take(BISHOPS);
    }
    for rook in own & board.rooks() {
        let file = Bitboard::from_file(rook.file());
        if (file & pawns).is_empty() {
            take(OPEN_ROOK);
        } else if (file & our_pawns).is_empty() {
            take(HALF_OPEN_ROOK);
        }
    }
    let Some(king) = board.king_of(color) else { return };
    let home = ahead(king, color) & attacks::king_attacks(king);
    let two_ahead = home | home.shift(color.fold_wb(8, -8));
    take(SHIELD + (two_ahead & our_pawns).count().min(3));
    let zone = attacks::king_attacks(king).with(king);
    let (mut looking, mut looked_at) = (0, Bitboard::EMPTY);
    for square in board.by_color(color.other()) & !pawns & !board.kings() {
        let hits = board.attacks_from(square) & zone;
        looking += usize::from(!hits.is_empty());
        looked_at |= hits;
    }
    take(LOOKING + looking.min(5));
    take(LOOKED_AT + looked_at.count().min(9));
    if is_check {
        take(CHECK);
    }
}

/// The words of a position, separated by spaces.
pub fn words(position: &Chess) -> String {
    let mut line = String::with_capacity(256);
    let us = position.turn();
    for (letter, color) in [('o', us), ('t', us.other())] {
        let is_check = color == us && position.is_check();
        side(position.board(), color, is_check, |number| {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push(letter);
            line.push_str(&name(number));
        });
    }
    line
}

/// Whether a position is quiet, so that it can be judged without looking ahead: nobody is in check,
/// and neither the move that led here nor the one that follows takes or promotes.
pub fn is_quiet(position: &Chess, before: Option<shakmaty::Move>, next: shakmaty::Move) -> bool {
    let is_loud = |m: shakmaty::Move| m.is_capture() || m.is_promotion();
    !before.is_some_and(is_loud) && !is_loud(next) && !position.is_check()
}

/// Centipawns of a nat: 400 of them make odds of ten to one, as in ratings.
const CENTIPAWNS: f64 = 400.0 / std::f64::consts::LN_10;

/// Values are never higher, whatever the odds.
const MOST: i32 = 5_000;

/// The evaluation.
pub struct PositionValue {
    /// By stage and feature: what one side's feature is worth to it, in thousandths of a centipawn.
    worth: [[i32; FEATURES]; 3],
}

/// Thousandths.
const UNIT: f64 = 1000.0;

impl PositionValue {
    /// Reads the weights from the categories of a folder; the odds of a stage are divided by its
    /// temperature.
    ///
    /// # Errors
    ///
    /// A stage lacks its games won or lost, or a category cannot be read.
    pub fn open(folder: &Path, temperatures: [f64; 3]) -> Result<Self> {
        let mut worth = [[0; FEATURES]; 3];
        for (stage, temperature) in Stage::ALL.into_iter().zip(temperatures) {
            let win = Weights::open(folder, stage, Outcome::Win)?;
            let loss = Weights::open(folder, stage, Outcome::Loss)?;
            if !win.is_some() || !loss.is_some() {
                bail!("{}: no games of the {} won or lost", folder.display(), stage.as_str());
            }
            if !(temperature.is_finite() && temperature > 0.0) {
                bail!("{}: temperature {temperature}", folder.display());
            }
            let odds = |word: String| {
                let word = feature(&word);
                win.of(word) - loss.of(word)
            };
            for (number, worth) in worth[stage as usize].iter_mut().enumerate() {
                let name = name(number);
                let ours = odds(format!("o{name}"));
                // In check are only those to move.
                let theirs = if number == CHECK { 0.0 } else { odds(format!("t{name}")) };
                let both = if number == CHECK { ours } else { (ours - theirs) / 2.0 };
                *worth = thousandths(both / temperature * CENTIPAWNS);
            }
        }
        Ok(Self { worth })
    }

    /// What a side's features are worth, thousandths of a centipawn.
    fn side(&self, position: &Chess, stage: Stage, color: Color) -> i32 {
        let worth = &self.worth[stage as usize];
        let is_check = color == position.turn() && position.is_check();
        let mut sum = 0i32;
        side(position.board(), color, is_check, |number| sum = sum.saturating_add(worth[number]));
        sum
    }

    /// The logarithm of the odds of winning against losing, for the side to move, natural.
    pub fn log_odds(&self, position: &Chess) -> f64 {
        let stage = Stage::of(position);
        let us = position.turn();
        let value = self.side(position, stage, us) - self.side(position, stage, us.other());
        f64::from(value) / UNIT / CENTIPAWNS
    }

    /// The mean worth of a man of each role on the squares of the board, centipawns: pawns on the
    /// second to the seventh rank, no kings.
    pub fn material(&self, stage: Stage) -> [i32; 5] {
        std::array::from_fn(|role| {
            let squares = if role == 0 { 8..56 } else { 0..64 };
            let count = i32::try_from(squares.len()).unwrap_or(1);
            let worth = &self.worth[stage as usize][role * 64..role * 64 + 64];
            let men = self.worth[stage as usize][MEN + role] / 1000;
            men + worth[squares].iter().map(|w| w / 1000).sum::<i32>() / count
        })
    }
}

#[expect(clippy::cast_possible_truncation, reason = "held within a million")]
fn thousandths(centipawns: f64) -> i32 {
    (centipawns * UNIT).clamp(-2e6, 2e6).round() as i32
}

impl Evaluate for PositionValue {
    fn evaluate(&self, position: &Chess) -> i32 {
        let stage = Stage::of(position);
        let us = position.turn();
        let value = self.side(position, stage, us) - self.side(position, stage, us.other());
        (value / 1000).clamp(-MOST, MOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::game::read_fen;

    fn words_of(fen: &str) -> Vec<String> {
        let position = read_fen(fen).expect("good FEN");
        words(&position).split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn names_are_distinct_and_short() {
        let names: std::collections::BTreeSet<String> = (0..FEATURES).map(name).collect();
        assert_eq!(names.len(), FEATURES);
        assert!(names.iter().all(|name| name.len() <= 3));
    }

    #[test]
    fn both_sides_see_the_board_from_their_own_end() {
        let white = words_of("4k3/8/8/8/8/8/P7/4K3 w - - 0 30");
        let black = words_of("4k3/p7/8/8/8/8/8/4K3 b - - 0 30");
        assert_eq!(white, black);
        for word in ["oP", "oPa2", "oKe1", "tKe1", "op1", "oi", "os0", "tk0", "tz0"] {
            assert!(white.iter().any(|w| w == word), "{word} {white:?}");
        }
    }

    #[test]
    fn pawns_rooks_and_kings_are_described() {
        // White's rook looks at the squares around the king from an open file; c and d pawns guard.
        let all = words_of("6k1/5ppp/8/3p4/3PP3/8/5PPP/4R1K1 b - - 0 30");
        for word in ["os3", "ts3", "td", "tg"] {
            assert_eq!(all.iter().any(|w| w == word), word.ends_with('3'), "{word} {all:?}");
        }
        let check = words_of("4r1k1/5ppp/8/8/8/8/5PPP/4K3 w - - 0 30");
        assert!(check.iter().any(|w| w == "oc") && check.iter().any(|w| w == "tr"), "{check:?}");
        assert!(check.iter().any(|w| w == "ok1"), "{check:?}");
        let doubled = words_of("4k3/8/8/8/3P4/2PP4/8/4K3 w - - 0 30");
        assert_eq!(doubled.iter().filter(|w| *w == "od").count(), 2);
        assert_eq!(doubled.iter().filter(|w| *w == "og").count(), 1);
    }
}
