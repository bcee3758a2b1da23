// SPDX-License-Identifier: GPL-3.0-or-later
//! Positions to places in a table, by the board's symmetries.

use shakmaty::{Bitboard, Color, Role, Square, attacks};

use crate::endgame::material::{MOST_MEN, Material};

/// Where the men of a material stand; White's first, in the material's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Men {
    pub squares: [Square; MOST_MEN],
    pub count: usize,
}

impl Men {
    pub fn new(squares: &[Square]) -> Self {
        let mut men = Self { squares: [Square::A1; MOST_MEN], count: squares.len() };
        men.squares[..squares.len()].copy_from_slice(squares);
        men
    }

    pub fn as_slice(&self) -> &[Square] {
        &self.squares[..self.count]
    }

    fn map(mut self, change: impl Fn(Square) -> Square) -> Self {
        for square in &mut self.squares[..self.count] {
            *square = change(*square);
        }
        self
    }

    pub fn occupied(&self) -> Bitboard {
        self.as_slice().iter().copied().collect()
    }
}

/// The squares of White's king without pawns: the triangle a1, d1, d4.
const TRIANGLE: [Square; 10] = [
    Square::A1,
    Square::B1,
    Square::C1,
    Square::D1,
    Square::B2,
    Square::C2,
    Square::D2,
    Square::C3,
    Square::D3,
    Square::D4,
];

/// How a material's positions are numbered.
#[derive(Clone, Debug)]
pub struct Numbering {
    pub men: Vec<(Color, Role)>,
    has_pawns: bool,
    /// By square: place of White's king, if it is one of those kept.
    place: [Option<usize>; 64],
    kings: Vec<Square>,
    /// Pairs of men that are alike, neighbours in the order.
    alike: Vec<usize>,
}

impl Numbering {
    pub fn new(material: &Material) -> Self {
        let has_pawns = material.has_pawns();
        let kings: Vec<Square> = if has_pawns {
            Square::ALL.into_iter().filter(|s| s.file() <= shakmaty::File::D).collect()
        } else {
            TRIANGLE.to_vec()
        };
        let mut place = [None; 64];
        for (i, &square) in kings.iter().enumerate() {
            place[usize::from(square)] = Some(i);
        }
        let men = material.men();
        let alike = (0..men.len() - 1).filter(|&i| men[i] == men[i + 1]).collect();
        Self { men, has_pawns, place, kings, alike }
    }

    /// Number of places for one side to move.
    pub fn places(&self) -> usize {
        self.kings.len() << (6 * (self.men.len() - 1))
    }

    fn plain(&self, men: &Men) -> Option<usize> {
        let mut index = self.place[usize::from(men.squares[0])]?;
        for &square in &men.as_slice()[1..] {
            index = index << 6 | usize::from(square);
        }
        Some(index)
    }

    /// The least place of all positions that are the same but for symmetry.
    pub fn place(&self, men: &Men) -> usize {
        let mut men = *men;
        if men.squares[0].file() > shakmaty::File::D {
            men = men.map(Square::flip_horizontal);
        }
        if !self.has_pawns {
            if men.squares[0].rank() > shakmaty::Rank::Fourth {
                men = men.map(Square::flip_vertical);
            }
            if self.place[usize::from(men.squares[0])].is_none() {
                men = men.map(Square::flip_diagonal);
            }
        }
        let sorted = self.sorted(men);
        let first = self.plain(&sorted);
        let king = men.squares[0];
        let on_diagonal = !self.has_pawns && king.flip_diagonal() == king;
        let second = on_diagonal.then(|| self.plain(&self.sorted(men.map(Square::flip_diagonal))));
        match (first, second.flatten()) {
            (Some(a), Some(b)) => a.min(b),
            (Some(a), None) => a,
            (None, _) => 0, // never: every king was brought to a kept square
        }
    }

    /// Men that are alike in the order of their squares.
    fn sorted(&self, mut men: Men) -> Men {
        for _ in 0..self.alike.len() {
            for &i in &self.alike {
                if men.squares[i] > men.squares[i + 1] {
                    men.squares.swap(i, i + 1);
                }
            }
        }
        men
    }

    /// The men at a place.
    pub fn men_at(&self, place: usize) -> Men {
        let count = self.men.len();
        let mut men = Men { squares: [Square::A1; MOST_MEN], count };
        let mut rest = place;
        for i in (1..count).rev() {
            men.squares[i] = Square::ALL[rest & 63];
            rest >>= 6;
        }
        men.squares[0] = self.kings[rest];
        men
    }

    /// Whether a square is attacked by a side's men, except one of them.
    pub fn is_attacked(
        &self,
        men: &Men,
        target: Square,
        by: Color,
        without: Option<usize>,
    ) -> bool {
        let mut occupied = men.occupied();
        if let Some(i) = without
            && men.as_slice().iter().enumerate().all(|(j, s)| j == i || *s != men.squares[i])
        {
            occupied.discard(men.squares[i]);
        }
        self.men.iter().enumerate().any(|(i, &(color, role))| {
            color == by
                && Some(i) != without
                && reach(color, role, men.squares[i], occupied).contains(target)
        })
    }

    pub fn king(&self, men: &Men, color: Color) -> Square {
        let place =
            color.fold_wb(0, self.men.iter().position(|m| m.0 == Color::Black).unwrap_or(1));
        men.squares[place]
    }
}

/// The squares that a piece attacks.
pub fn reach(color: Color, role: Role, from: Square, occupied: Bitboard) -> Bitboard {
    match role {
        Role::Pawn => attacks::pawn_attacks(color, from),
        Role::Knight => attacks::knight_attacks(from),
        Role::Bishop => attacks::bishop_attacks(from, occupied),
        Role::Rook => attacks::rook_attacks(from, occupied),
        Role::Queen => attacks::queen_attacks(from, occupied),
        Role::King => attacks::king_attacks(from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symmetric_positions_share_a_place() {
        for name in ["KRK", "KBBK", "KPK", "KRKN"] {
            let material = Material::parse(name).expect(name);
            let numbering = Numbering::new(&material);
            for place in (0..numbering.places()).step_by(977) {
                let men = numbering.men_at(place);
                let canonical = numbering.place(&men);
                assert!(canonical <= place, "{name} {men:?}");
                assert_eq!(numbering.place(&numbering.men_at(canonical)), canonical);
                let mirrored = men.map(Square::flip_horizontal);
                assert_eq!(numbering.place(&mirrored), canonical, "{name} {men:?}");
                if name != "KPK" {
                    let turned = men.map(Square::flip_vertical).map(Square::flip_diagonal);
                    assert_eq!(numbering.place(&turned), canonical, "{name} {men:?}");
                }
            }
        }
    }
}
