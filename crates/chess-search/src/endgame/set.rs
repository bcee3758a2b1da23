// SPDX-License-Identifier: GPL-3.0-or-later
//! Tables together: those made so far, or those of a folder.

use std::collections::HashMap;

use shakmaty::{Chess, Color, Position as _, Role, Square};

use crate::endgame::file::{DRAW, NONE, Table};
use crate::endgame::index::Men;
use crate::endgame::material::{MOST_MEN, Material};
use crate::{Endgames, Ending};

/// What a table's file name ends in, after the material's name and a dot.
pub const KIND: &str = "dtm";

/// Tables by material.
#[derive(Clone, Debug, Default)]
pub struct EndgameTables {
    tables: HashMap<Material, Table>,
    most_men: usize,
}

impl EndgameTables {
    /// Adds a table.
    pub fn insert(&mut self, table: Table) {
        self.most_men = self.most_men.max(table.material().men().len());
        self.tables.insert(table.material().clone(), table);
    }

    /// Whether there is a table for this material.
    pub fn contains(&self, material: &Material) -> bool {
        self.tables.contains_key(material)
    }

    /// Whether there are no tables.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// The table's byte for these men; `None` if no table is there, or no such position.
    pub(super) fn value(&self, men: &[(Color, Role, Square)], turn: Color) -> Option<u8> {
        let of = |color: Color| men.iter().filter(move |m| m.0 == color).map(|m| m.1).collect();
        let (material, exchanged) = Material::new(of(Color::White), of(Color::Black));
        if material.is_dead() {
            return Some(DRAW);
        }
        let table = self.tables.get(&material)?;
        let numbering = table.numbering();
        // The stronger side has White; its pawns go up.
        let seen = |(color, role, square): (Color, Role, Square)| match exchanged {
            true => (color.other(), role, square.flip_vertical()),
            false => (color, role, square),
        };
        let mut left: Vec<(Color, Role, Square)> = men.iter().copied().map(seen).collect();
        let mut squares = Vec::with_capacity(MOST_MEN);
        for &(color, role) in &numbering.men {
            let at = left.iter().position(|m| (m.0, m.1) == (color, role))?;
            squares.push(left.swap_remove(at).2);
        }
        let turn = if exchanged { turn.other() } else { turn };
        let place = numbering.place(&Men::new(&squares));
        let value = table.values[turn.fold_wb(0, numbering.places()) + place];
        (value != NONE).then_some(value)
    }

    /// What a position comes to by what its moves come to: tables know nothing of captures in
    /// passing.
    fn after_all_moves(&self, position: &Chess) -> Option<Ending> {
        let (mut wins, mut longest) = (None, Some(0));
        for m in position.legal_moves() {
            let mut after = position.clone();
            after.play_unchecked(m);
            match self.probe(&after)? {
                Ending::IsMated(n) => wins = Some(wins.map_or(n + 1, |least: u8| least.min(n + 1))),
                Ending::Mates(n) => longest = longest.map(|most: u8| most.max(n + 1)),
                Ending::Draw | Ending::Won | Ending::Lost => longest = None,
            }
        }
        Some(match (wins, longest) {
            (Some(n), _) => Ending::Mates(n),
            (None, Some(n)) => Ending::IsMated(n),
            (None, None) => Ending::Draw,
        })
    }
}

impl Endgames for EndgameTables {
    fn most_men(&self) -> usize {
        self.most_men
    }

    fn probe(&self, position: &Chess) -> Option<Ending> {
        let board = position.board();
        if board.occupied().count() > self.most_men || position.castles().any() {
            return None;
        }
        if position.legal_ep_square().is_some() {
            return self.after_all_moves(position);
        }
        let men: Vec<(Color, Role, Square)> =
            board.iter().map(|(square, piece)| (piece.color, piece.role, square)).collect();
        Some(match self.value(&men, position.turn())? {
            DRAW => Ending::Draw,
            value if value % 2 == 1 => Ending::Mates(value),
            value => Ending::IsMated(value),
        })
    }
}
