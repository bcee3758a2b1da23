// SPDX-License-Identifier: GPL-3.0-or-later
//! The men of an ending, and their order.

use std::cmp::Reverse;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use arrayvec::ArrayVec;
use shakmaty::{Board, Color, Piece, Role, Square};

/// Most men of an ending, kings included.
pub(super) const MOST: usize = 4;

/// Endings have numbers below this one.
pub(super) const NUMBERS: usize = 36 * 36;

/// A man, and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Man {
    /// Colour and role.
    pub piece: Piece,
    /// Its square.
    pub square: Square,
}

impl Man {
    const fn of(color: Color, role: Role) -> Self {
        Self { piece: Piece { color, role }, square: Square::A1 }
    }

    /// The same man seen by the other side.
    fn swapped(self) -> Self {
        let piece = Piece { color: self.piece.color.other(), ..self.piece };
        Self { piece, square: self.square.flip_vertical() }
    }
}

/// The men on a board.
pub(super) type Standing = ArrayVec<Man, MOST>;

/// The men on a board, if they are few.
pub(super) fn of_board(board: &Board) -> Option<Standing> {
    let few = board.occupied().count() <= MOST;
    few.then(|| board.iter().map(|(square, piece)| Man { piece, square }).collect())
}

/// A number for the men of a colour, larger for stronger ones; the men are in order.
fn strength(men: &[Man], color: Color) -> usize {
    let own = men.iter().filter(|man| man.piece.color == color && man.piece.role != Role::King);
    own.fold(0, |number, man| 6 * number + man.piece.role as usize)
}

/// What [`arrange`] found.
#[derive(Clone, Copy)]
pub(super) struct Arranged {
    /// The ending's number.
    pub number: usize,
    /// Whether White and Black were exchanged.
    pub is_swapped: bool,
}

/// Puts men in the order of their ending's table: the stronger side has White; the kings, White's
/// men, Black's men, the strongest first.
pub(super) fn arrange(men: &mut [Man]) -> Arranged {
    let order = |man: &Man| {
        let Piece { color, role } = man.piece;
        (role != Role::King, color.is_black(), Reverse(role))
    };
    men.sort_unstable_by_key(order);
    let (mut white, mut black) = (strength(men, Color::White), strength(men, Color::Black));
    let is_swapped = black > white;
    if is_swapped {
        for man in &mut *men {
            *man = man.swapped();
        }
        men.sort_unstable_by_key(order);
        std::mem::swap(&mut white, &mut black);
    }
    Arranged { number: 36 * white + black, is_swapped }
}

/// The men of an ending in order, wherever they stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Men {
    men: Standing,
    /// A number that no other ending has, below `NUMBERS`.
    pub number: usize,
}

impl Men {
    fn new(mut men: Standing) -> Self {
        let number = arrange(&mut men).number;
        // Equal endings have equal men.
        men.iter_mut().for_each(|man| man.square = Square::A1);
        Self { men, number }
    }

    /// The ending that a board shows, if it has three or four men.
    pub fn on(board: &Board) -> Option<Self> {
        of_board(board).filter(|men| men.len() > 2).map(Self::new)
    }

    /// Reads a name such as `KRKN`.
    ///
    /// # Errors
    ///
    /// The text is not two kings, each with its men, three or four in all.
    pub fn parse(name: &str) -> Result<Self> {
        let read = || {
            let mut color = Color::Black;
            let man = |letter| {
                let role = Role::from_char(letter)?;
                color = if role == Role::King { color.other() } else { color };
                Some(Man::of(color, role))
            };
            let men: Vec<Man> = name.chars().map(man).collect::<Option<_>>()?;
            let men = Standing::try_from(&men[..]).ok()?;
            let kings = men.iter().filter(|man| man.piece.role == Role::King).count();
            (men.first()?.piece == Color::White.king() && kings == 2).then_some(men)
        };
        let men = read().with_context(|| {
            format!("{name:?} is not two kings, each with its men, three or four in all: KRKN")
        })?;
        ensure!(men.len() > 2, "{name}: nobody can win with two kings");
        Ok(Self::new(men))
    }

    /// All endings of three and four men.
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        let ending = |men: &[(Color, Role)]| {
            let kings = [(Color::White, Role::King), (Color::Black, Role::King)];
            Self::new(kings.iter().chain(men).map(|&(color, role)| Man::of(color, role)).collect())
        };
        let others = &Role::ALL[..5];
        for (place, &role) in others.iter().enumerate() {
            all.push(ending(&[(Color::White, role)]));
            for &other in &others[..=place] {
                for color in Color::ALL {
                    all.push(ending(&[(Color::White, role), (color, other)]));
                }
            }
        }
        all
    }

    /// The men in order.
    pub fn pieces(&self) -> impl ExactSizeIterator<Item = Piece> {
        self.men.iter().map(|man| man.piece)
    }

    /// The file of the ending's table in a folder.
    pub fn file(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{self}.mates"))
    }

    /// Pawns among them.
    pub fn pawns(&self) -> usize {
        self.pieces().filter(|piece| piece.role == Role::Pawn).count()
    }

    /// The endings that a capture or a promotion leads to at once.
    fn next(&self) -> Vec<Self> {
        let mut next = Vec::new();
        for (place, man) in self.men.iter().enumerate().skip(2) {
            let mut left = self.men.clone();
            if man.piece.role == Role::Pawn {
                for role in [Role::Knight, Role::Bishop, Role::Rook, Role::Queen] {
                    left[place].piece.role = role;
                    next.push(Self::new(left.clone()));
                }
            }
            left.remove(place);
            if left.len() > 2 {
                next.push(Self::new(left));
            }
        }
        next
    }

    /// These endings and all that they lead to, in groups: an ending leads to earlier groups only.
    pub fn in_order(wanted: &[Self]) -> Vec<Vec<Self>> {
        let (mut all, mut open) = (Vec::<Self>::new(), wanted.to_vec());
        while let Some(men) = open.pop() {
            if !all.contains(&men) {
                open.extend(men.next());
                all.push(men);
            }
        }
        let group = |men: &Self| (men.men.len(), men.pawns());
        all.sort_by_key(|men| (group(men), men.number));
        all.chunk_by(|a, b| group(a) == group(b)).map(<[Self]>::to_vec).collect()
    }
}

impl fmt::Display for Men {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for color in Color::ALL {
            let own = self.pieces().filter(|piece| piece.color == color);
            own.map(|piece| piece.role.upper_char())
                .try_for_each(|letter| write!(f, "{letter}"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read() {
        let rows =
            [("KQK", "KQK"), ("KNKR", "KRKN"), ("KNBK", "KBNK"), ("KKP", "KPK"), ("KRKPP", "")];
        for (text, name) in rows.into_iter().chain(["", "KK", "QKK", "KQ", "KXK"].map(|t| (t, "")))
        {
            let read = Men::parse(text).map_or(String::new(), |men| men.to_string());
            assert_eq!(read, name, "{text}");
        }
    }

    #[test]
    fn an_ending_comes_after_those_it_leads_to() {
        let groups = Men::in_order(&Men::all());
        assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [4, 1, 20, 8, 2]);
        let place = |men: &Men| groups.iter().position(|group| group.contains(men));
        for men in groups.iter().flatten() {
            assert!(men.next().iter().all(|next| place(next) < place(men)), "{men}");
        }
        let names = |name| {
            let wanted = [Men::parse(name).expect("a name")];
            Men::in_order(&wanted).concat().iter().map(Men::to_string).collect::<Vec<_>>()
        };
        assert_eq!(names("KRKN"), ["KNK", "KRK", "KRKN"]);
        assert_eq!(names("KPK").len(), 5);
    }
}
