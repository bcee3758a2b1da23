// SPDX-License-Identifier: GPL-3.0-or-later
//! The table of an ending: a byte for each position, and its file.
//!
//! Symmetric positions share a place: two with pawns, eight without. Two men of the same kind may
//! be exchanged.

use std::cmp::Ordering;
use std::io::{Read as _, Write as _};

use anyhow::{Context as _, Result, ensure};
use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};
use shakmaty::{Color, File, Piece, Rank, Square};

use super::men::{MOST, Man, Men, Standing};

/// The value of a drawn position.
pub(super) const DRAW: u8 = 254;
/// The value of a place without a position.
pub(super) const NONE: u8 = 255;

/// The first bytes of a file.
const MAGIC: &str = "# half-moves to mate 1: ";

/// What the half-moves to mate are one move earlier.
pub(super) const fn one_earlier(value: u8) -> u8 {
    if value >= DRAW { value } else { value + 1 }
}

/// A greater number for a better value: odd ones are wins, the sooner the better, and even ones
/// losses, the later the better.
pub(super) fn worth(value: u8) -> i32 {
    match value {
        DRAW.. => 0,
        win if win % 2 == 1 => 1_000 - i32::from(win),
        loss => i32::from(loss) - 1_000,
    }
}

/// The better of two values for the side that may choose.
pub(super) fn better(a: u8, b: u8) -> u8 {
    if worth(a) >= worth(b) { a } else { b }
}

/// Squares after reflections: by 1 left and right, by 2 near and far, by 4 files and ranks.
static TURNED: [[Square; 64]; 8] = turned();

const fn turned() -> [[Square; 64]; 8] {
    let mut all = [[Square::A1; 64]; 8];
    let mut at = 0;
    while at < 512 {
        let (turn, mut square) = (at / 64, Square::ALL[at % 64]);
        if turn & 1 > 0 {
            square = square.flip_horizontal();
        }
        if turn & 2 > 0 {
            square = square.flip_vertical();
        }
        if turn & 4 > 0 {
            square = square.flip_diagonal();
        }
        all[turn][at % 64] = square;
        at += 1;
    }
    all
}

/// How many positions are won, drawn and lost for the side to move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Positions won.
    pub won: u64,
    /// Positions drawn.
    pub drawn: u64,
    /// Positions lost.
    pub lost: u64,
    /// Half-moves of the longest mate, 0 if there is none.
    pub longest: u8,
}

/// For every position of an ending the half-moves until mate: odd for the side that mates, even for
/// the one that is mated.
pub struct Table {
    /// Which ending.
    pub men: Men,
    pieces: Vec<Piece>,
    /// The squares of the first king, and for each its number among them.
    kings: Vec<Square>,
    king_numbers: [usize; 64],
    has_pawns: bool,
    has_twins: bool,
    /// White to move, then Black.
    pub(super) values: Vec<u8>,
}

impl Table {
    /// A table of draws.
    pub(super) fn new(men: Men) -> Self {
        let has_pawns = men.pawns() > 0;
        let is_first = |square: &Square| {
            let (file, rank) = square.coords();
            file <= File::D && (has_pawns || rank.to_usize() <= file.to_usize())
        };
        let kings: Vec<Square> = Square::ALL.into_iter().filter(is_first).collect();
        let number = |square| kings.iter().position(|&king| king == square).unwrap_or(0);
        let pieces: Vec<Piece> = men.pieces().collect();
        Self {
            king_numbers: Square::ALL.map(number),
            has_pawns,
            has_twins: pieces.len() == MOST && pieces[2] == pieces[3],
            values: vec![DRAW; (2 * kings.len()) << (6 * (pieces.len() - 1))],
            men,
            pieces,
            kings,
        }
    }

    /// Positions with the same side to move.
    pub(super) const fn places(&self) -> usize {
        self.values.len() / 2
    }

    /// The number of a position; its men are in order.
    pub(super) fn number(&self, men: &[Man], turn: Color) -> usize {
        let king = men[0].square;
        let mut reflection = usize::from(king.file() >= File::E);
        let place = if self.has_pawns {
            self.place(men, reflection)
        } else {
            reflection += 2 * usize::from(king.rank() >= Rank::Fifth);
            let (file, rank) = TURNED[reflection][king.to_usize()].coords();
            match rank.to_usize().cmp(&file.to_usize()) {
                Ordering::Less => self.place(men, reflection),
                Ordering::Greater => self.place(men, reflection + 4),
                Ordering::Equal => self.place(men, reflection).min(self.place(men, reflection + 4)),
            }
        };
        turn.fold_wb(place, self.places() + place)
    }

    fn place(&self, men: &[Man], reflection: usize) -> usize {
        let turned = &TURNED[reflection];
        let mut squares = [0; MOST];
        for (square, man) in squares.iter_mut().zip(men) {
            *square = turned[man.square.to_usize()].to_usize();
        }
        if self.has_twins && squares[2] > squares[3] {
            squares.swap(2, 3);
        }
        let others = &squares[1..men.len()];
        others.iter().fold(self.king_numbers[squares[0]], |place, square| 64 * place + square)
    }

    /// The men of a position, and whose move it is.
    pub(super) fn position(&self, number: usize) -> (Standing, Color) {
        let turn = Color::from_white(number < self.places());
        let mut rest = number % self.places();
        let man = |&piece: &Piece| Man { piece, square: Square::A1 };
        let mut men: Standing = self.pieces.iter().map(man).collect();
        for man in men[1..].iter_mut().rev() {
            man.square = Square::ALL[rest % 64];
            rest /= 64;
        }
        men[0].square = self.kings[rest];
        (men, turn)
    }

    /// How the positions end.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for &value in &self.values {
            match value {
                NONE => continue,
                DRAW => counts.drawn += 1,
                win if win % 2 == 1 => counts.won += 1,
                _ => counts.lost += 1,
            }
            counts.longest = counts.longest.max(value % DRAW);
        }
        counts
    }

    /// The table's file.
    ///
    /// # Errors
    ///
    /// Memory cannot be written to.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut packed =
            ZlibEncoder::new(format!("{MAGIC}{}\n", self.men).into_bytes(), Compression::new(6));
        // Places without a position repeat the value before, which takes less room.
        let mut last = DRAW;
        let fill = |&value: &u8| {
            last = if value == NONE { last } else { value };
            last
        };
        packed.write_all(&self.values.iter().map(fill).collect::<Vec<u8>>())?;
        Ok(packed.finish()?)
    }

    /// Reads a table's file. Places without a position have any value.
    ///
    /// # Errors
    ///
    /// The bytes are not a table, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let line = bytes.strip_prefix(MAGIC.as_bytes()).context("this is not a table of mates")?;
        let end = line.iter().position(|&b| b == b'\n').context("the table's name is cut off")?;
        let mut table = Self::new(Men::parse(std::str::from_utf8(&line[..end])?)?);
        let mut values = Vec::with_capacity(table.values.len());
        let most = table.values.len() as u64 + 1;
        let read = ZlibDecoder::new(&line[end + 1..]).take(most).read_to_end(&mut values);
        read.context("the table is damaged")?;
        ensure!(values.len() == table.values.len(), "the table is damaged: it has another length");
        table.values = values;
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symmetric_positions_share_a_place() {
        for (name, reflections) in [("KRK", 8), ("KBBK", 8), ("KPK", 2), ("KRKN", 8), ("KPPK", 2)] {
            let table = Table::new(Men::parse(name).expect("a name"));
            for number in (0..table.values.len()).step_by(977) {
                let (men, turn) = table.position(number);
                let first = table.number(&men, turn);
                let (same, _) = table.position(first);
                assert_eq!(table.number(&same, turn), first, "{name} {men:?}");
                for reflection in &TURNED[..reflections] {
                    let turned =
                        |man: &Man| Man { square: reflection[man.square.to_usize()], ..*man };
                    let mut turned: Standing = men.iter().map(turned).collect();
                    assert_eq!(table.number(&turned, turn), first, "{name} {men:?}");
                    if table.has_twins {
                        turned.swap(2, 3);
                        assert_eq!(table.number(&turned, turn), first, "{name} {men:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn damaged_files_are_refused() {
        let table = Table::new(Men::parse("KQK").expect("a name"));
        let good = table.to_bytes().expect("packed");
        assert_eq!(Table::from_bytes(&good).expect("a table").values, table.values);
        for cut in 0..good.len() {
            assert!(Table::from_bytes(&good[..cut]).is_err(), "{cut}");
        }
        let other = String::from_utf8_lossy(&good[..30]).replace("KQK", "KQKR");
        assert!(Table::from_bytes(&[other.as_bytes(), &good[29..]].concat()).is_err());
    }
}
