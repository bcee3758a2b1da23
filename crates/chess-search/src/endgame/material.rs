// SPDX-License-Identifier: GPL-3.0-or-later
//! Which men a table is for.

use std::fmt;

use shakmaty::{Color, Role};

/// Most men on the board that tables are made for, kings included.
pub const MOST_MEN: usize = 4;

/// The men of both sides, kings included, strongest first; the stronger side has White.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Material {
    white: Vec<Role>,
    black: Vec<Role>,
}

/// Why no table is made for some men.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MaterialError {
    /// The text is not two kings, each with its men, such as `KRKN`.
    Unreadable(String),
    /// There are too many men.
    TooMany(String),
}

impl fmt::Display for MaterialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(text) => {
                write!(f, "{text:?} is not two kings, each with its men, such as KRKN")
            }
            Self::TooMany(text) => write!(f, "{text} has more than {MOST_MEN} men"),
        }
    }
}

impl std::error::Error for MaterialError {}

/// The order of roles in names, strongest first.
const ORDER: [Role; 6] =
    [Role::King, Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::Pawn];

fn rank(role: Role) -> usize {
    ORDER.iter().position(|r| *r == role).unwrap_or(0)
}

fn strength(men: &[Role]) -> (u32, Vec<usize>) {
    let value = |role: &Role| match role {
        Role::King => 0,
        Role::Pawn => 1,
        Role::Knight | Role::Bishop => 3,
        Role::Rook => 5,
        Role::Queen => 9,
    };
    (men.iter().map(value).sum(), men.iter().map(|r| 6 - rank(*r)).collect())
}

impl Material {
    /// Puts both sides' men in order; `true` if White and Black were exchanged for it.
    pub fn new(mut white: Vec<Role>, mut black: Vec<Role>) -> (Self, bool) {
        white.sort_by_key(|r| rank(*r));
        black.sort_by_key(|r| rank(*r));
        let exchanged = strength(&black) > strength(&white);
        if exchanged {
            std::mem::swap(&mut white, &mut black);
        }
        (Self { white, black }, exchanged)
    }

    /// Reads a name such as `KRKN`.
    ///
    /// # Errors
    ///
    /// The text names no material, or tables are not made for these men.
    pub fn parse(text: &str) -> Result<Self, MaterialError> {
        let unreadable = || MaterialError::Unreadable(text.to_owned());
        let upper = text.to_ascii_uppercase();
        let second = upper.rfind('K').filter(|_| upper.starts_with('K')).ok_or_else(unreadable)?;
        let men = |text: &str| -> Option<Vec<Role>> { text.chars().map(Role::from_char).collect() };
        let (white, black) = upper.split_at(second);
        let (Some(white), Some(black)) = (men(white), men(black)) else { return Err(unreadable()) };
        let kings = |men: &[Role]| men.iter().filter(|r| **r == Role::King).count();
        if second == 0 || kings(&white) != 1 || kings(&black) != 1 {
            return Err(unreadable());
        }
        if white.len() + black.len() > MOST_MEN {
            return Err(MaterialError::TooMany(upper));
        }
        Ok(Self::new(white, black).0)
    }

    /// The men of a side, the king first.
    pub fn side(&self, color: Color) -> &[Role] {
        color.fold_wb(&self.white, &self.black)
    }

    /// All men with their colours, White's first.
    pub fn men(&self) -> Vec<(Color, Role)> {
        let of = |color: Color| self.side(color).iter().map(move |&role| (color, role));
        of(Color::White).chain(of(Color::Black)).collect()
    }

    /// Whether there is a pawn.
    pub fn has_pawns(&self) -> bool {
        self.white.contains(&Role::Pawn) || self.black.contains(&Role::Pawn)
    }

    /// Whether neither side can ever mate, so that no table is needed.
    pub fn is_dead(&self) -> bool {
        let men = self.white.len() + self.black.len();
        let minor = |r: &Role| matches!(r, Role::Bishop | Role::Knight);
        men == 2 || (men == 3 && self.white.iter().any(minor))
    }

    /// What captures and promotions lead to at once, and needs a table.
    pub fn children(&self) -> Vec<Self> {
        let mut children = Vec::new();
        for color in Color::ALL {
            let (own, other) = (self.side(color), self.side(color.other()));
            let mut make = |own: Vec<Role>, other: Vec<Role>| {
                let (white, black) = color.fold_wb((own.clone(), other.clone()), (other, own));
                children.push(Self::new(white, black).0);
            };
            for i in 1..other.len() {
                let mut left = other.to_vec();
                left.remove(i);
                make(own.to_vec(), left.clone());
                // A pawn may promote as it captures.
                promotions(own, |own| make(own, left.clone()));
            }
            promotions(own, |own| make(own, other.to_vec()));
        }
        children.retain(|m| !m.is_dead());
        children.sort();
        children.dedup();
        children
    }

    /// This material and all that it leads to, each after what it leads to itself.
    pub fn with_descendants(&self) -> Vec<Self> {
        let mut all = Vec::new();
        self.collect(&mut all);
        all
    }

    fn collect(&self, all: &mut Vec<Self>) {
        if all.contains(self) || self.is_dead() {
            return;
        }
        for child in self.children() {
            child.collect(all);
        }
        all.push(self.clone());
    }
}

fn promotions(own: &[Role], mut take: impl FnMut(Vec<Role>)) {
    let Some(pawn) = own.iter().position(|r| *r == Role::Pawn) else { return };
    for role in [Role::Queen, Role::Rook, Role::Bishop, Role::Knight] {
        let mut own = own.to_vec();
        own[pawn] = role;
        take(own);
    }
}

impl fmt::Display for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.white.iter().chain(&self.black).try_for_each(|r| write!(f, "{}", r.upper_char()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read() {
        for (text, name) in [("KQK", "KQK"), ("knkr", "KRKN"), ("KNBK", "KBNK"), ("KKP", "KPK")] {
            assert_eq!(Material::parse(text).expect(text).to_string(), name);
        }
        for text in ["", "K", "QKK", "KQ", "KKK", "KXK", "KQQQK", "K\u{e9}K"] {
            assert!(Material::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn captures_and_promotions_come_first() {
        let names = |text: &str| -> Vec<String> {
            let material = Material::parse(text).expect(text);
            material.with_descendants().iter().map(ToString::to_string).collect()
        };
        assert_eq!(names("KRK"), ["KRK"]);
        assert_eq!(names("KRKN"), ["KRK", "KRKN"]);
        let pawn = names("KPK");
        assert_eq!(pawn.last().map(String::as_str), Some("KPK"));
        assert!(pawn.contains(&"KQK".to_owned()) && pawn.contains(&"KRK".to_owned()));
        let all = names("KRKP");
        for needed in ["KRK", "KPK", "KQKR", "KRKR", "KRKB", "KRKN", "KQK"] {
            assert!(all.contains(&needed.to_owned()), "{needed} {all:?}");
        }
    }
}
