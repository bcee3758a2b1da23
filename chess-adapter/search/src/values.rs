// SPDX-License-Identifier: GPL-3.0-or-later
//! What the terms of a position are worth, and the files that say so.

use std::fmt::{self, Write as _};

use shakmaty::{Bitboard, Board, Chess, Color, Position as _};

use crate::board::{count, steps};
use crate::evaluate::Evaluate;
use crate::terms::{FULL, TEMPO, TERMS, UNIT, name, terms};

/// Parts of a centipawn in which values are kept.
const PARTS: i32 = 16;

/// Values of all terms, in the middle game and in the ending; what a position is worth lies
/// between, by the pieces left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values(Vec<[i32; 2]>);

impl Default for Values {
    /// The values in the sources, learned beginning with those of `values/by-hand.txt`.
    fn default() -> Self {
        Self::of_text(include_str!("../values/learned.txt"))
    }
}

impl Values {
    fn of_text(text: &str) -> Self {
        let values = read(text, "terms", TERMS, &name);
        Self::of_centipawns(&values.expect("the file in the sources is whole"))
    }

    /// Values in centipawns, rounded to parts of one.
    pub fn of_centipawns(values: &[[f32; 2]]) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "held within a hundred pawns")]
        let parts = |value: f32| (value.clamp(-1e4, 1e4) * 16.0).round() as i32;
        Self(values.iter().map(|value| value.map(parts)).collect())
    }

    /// The values in centipawns.
    #[expect(clippy::cast_precision_loss, reason = "24 bits fit")]
    pub fn centipawns(&self) -> Vec<[f32; 2]> {
        self.0.iter().map(|value| value.map(|parts| parts as f32 / PARTS as f32)).collect()
    }
}

impl Evaluate for Values {
    fn evaluate(&self, position: &Chess) -> i32 {
        let (mut middle, mut end) = (0, 0);
        let phase = terms(position.board(), |term, eighths| {
            let [in_middle, in_end] = self.0[term];
            middle += eighths * in_middle;
            end += eighths * in_end;
        });
        let tapered = |middle: i32, end: i32| middle * phase + end * (FULL - phase);
        let value = scaled(position.board(), tapered(middle, end) / (FULL * PARTS * UNIT));
        let [in_middle, in_end] = self.0[TEMPO];
        position.turn().fold_wb(value, -value) + tapered(in_middle, in_end) / (FULL * PARTS)
    }
}

/// Why a file of values cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadValues {
    /// It has values of another kind, or something else.
    Kind,
    /// A line, counted from 1, is not that of its parameter.
    Line(usize),
    /// It has too few lines, or too many.
    Length,
}

impl fmt::Display for BadValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind => f.write_str("no values of this kind"),
            Self::Line(line) => write!(f, "line {line} is not a name with two numbers"),
            Self::Length => f.write_str("not all parameters have values"),
        }
    }
}

impl std::error::Error for BadValues {}

fn magic(kind: &str) -> String {
    format!("# chess values 1, {kind}: centipawns in the middle game and in the ending\n")
}

/// A file of values: for each parameter a line with its name and the two values.
pub fn write(kind: &str, values: &[[f32; 2]], name: &dyn Fn(usize) -> String) -> String {
    let mut text = magic(kind);
    for (number, [middle, end]) in values.iter().enumerate() {
        let _ = writeln!(text, "{} {middle} {end}", name(number));
    }
    text
}

/// Reads a file with values of this kind and so many parameters.
///
/// # Errors
///
/// It holds something else.
pub fn read(
    text: &str,
    kind: &str,
    parameters: usize,
    name: &dyn Fn(usize) -> String,
) -> Result<Vec<[f32; 2]>, BadValues> {
    let text = text.strip_prefix(&magic(kind)).ok_or(BadValues::Kind)?;
    let row = |(number, line): (usize, &str)| {
        let mut words = line.split(' ');
        let is_its_own = number < parameters && words.next() == Some(name(number).as_str());
        let value = |word: &str| word.parse().ok().filter(|value: &f32| value.abs() <= 1e4);
        let values: Option<Vec<f32>> = words.map(value).collect();
        let values = values.filter(|_| is_its_own).and_then(|two| two.try_into().ok());
        values.ok_or(BadValues::Line(number + 2))
    };
    let values: Vec<[f32; 2]> = text.lines().enumerate().map(row).collect::<Result<_, _>>()?;
    if values.len() == parameters { Ok(values) } else { Err(BadValues::Length) }
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
        Values::default().evaluate(&position)
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
        let tempo = Values::default().0[TEMPO][0] / PARTS;
        assert_eq!(value("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"), tempo);
    }

    #[test]
    fn files_are_read_as_they_were_written() {
        let mut numbers = Values::default().centipawns();
        numbers[7] = [57.72, -0.01];
        let text = write("terms", &numbers, &name);
        let read = |text: &str| read(text, "terms", TERMS, &name);
        assert_eq!(read(&text), Ok(numbers));
        for (bad, error) in [
            (&text[1..], BadValues::Kind),
            ("", BadValues::Kind),
            (text.rsplit_once(' ').map_or("", |(before, _)| before), BadValues::Line(TERMS + 1)),
            (&text.replace("57.72", "x"), BadValues::Line(9)),
            (&text.replace("Pb1", "Pb9"), BadValues::Line(3)),
            (&text.replace("57.72", "NaN"), BadValues::Line(9)),
            (text.split_inclusive("bare").next().unwrap_or_default(), BadValues::Line(496)),
            (text.split_inclusive('\n').take(9).collect::<String>().as_str(), BadValues::Length),
        ] {
            assert_eq!(read(bad), Err(error), "{bad}");
        }
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
