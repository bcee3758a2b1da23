// SPDX-License-Identifier: GPL-3.0-or-later
//! Retrograde analysis: from the mates backwards, half-move by half-move.

use shakmaty::{Bitboard, Color, Rank, Role, Square};

use crate::endgame::file::{DRAW, NONE, Table};
use crate::endgame::index::{Men, Numbering, reach};
use crate::endgame::material::Material;
use crate::endgame::set::EndgameTables;

/// Where a move leads.
enum Target {
    /// To other men of the same material.
    Here(Men),
    /// By a capture or promotion to another material: half-moves until mate there.
    Elsewhere(u8),
}

struct Builder<'a> {
    numbering: Numbering,
    children: &'a EndgameTables,
    places: usize,
    /// Half-moves until mate as far as they are known; [`DRAW`] where not, [`NONE`] where there is
    /// no position.
    values: Vec<u8>,
}

const fn side(turn: Color) -> usize {
    match turn {
        Color::White => 0,
        Color::Black => 1,
    }
}

/// Makes the table of a material.
///
/// `children` has the tables of what captures and promotions lead to; `progress` is told the number
/// of half-moves until mate that is being worked on.
pub fn build(material: &Material, children: &EndgameTables, progress: &mut dyn FnMut(u8)) -> Table {
    let numbering = Numbering::new(material);
    let places = numbering.places();
    let mut builder = Builder { numbering, children, places, values: vec![NONE; 2 * places] };
    builder.begin();
    let mut distance = 0u8;
    while distance < DRAW - 2 {
        progress(distance);
        let mut found = false;
        for turn in Color::ALL {
            for place in 0..places {
                if builder.values[side(turn) * places + place] == distance {
                    found = true;
                    builder.spread(place, turn, distance);
                }
            }
        }
        let later = builder.values.iter().any(|&v| v > distance && v < DRAW);
        if !found && !later {
            break;
        }
        distance += 1;
    }
    Table::new(material.clone(), builder.values)
}

impl Builder<'_> {
    fn slot(&self, men: &Men, turn: Color) -> usize {
        side(turn) * self.places + self.numbering.place(men)
    }

    /// Whether the men can stand so with this side to move.
    fn is_legal(&self, men: &Men, turn: Color) -> bool {
        let squares = men.as_slice();
        let distinct = men.occupied().count() == men.count;
        let pawns = self.numbering.men.iter().zip(squares).all(|(&(_, role), s)| {
            role != Role::Pawn || !matches!(s.rank(), Rank::First | Rank::Eighth)
        });
        distinct
            && pawns
            && !self.numbering.is_attacked(men, self.numbering.king(men, turn.other()), turn, None)
    }

    /// Marks the positions that there are, the mates, and what captures and promotions decide.
    fn begin(&mut self) {
        for place in 0..self.places {
            let men = self.numbering.men_at(place);
            if men.occupied().count() != men.count || self.numbering.place(&men) != place {
                continue;
            }
            for turn in Color::ALL {
                if !self.is_legal(&men, turn) {
                    continue;
                }
                let (mut moves, mut inside, mut best, mut worst) = (0u32, false, DRAW, 0);
                self.moves(&men, turn, |target| {
                    moves += 1;
                    match target {
                        Target::Here(_) => inside = true,
                        Target::Elsewhere(value) if value < DRAW && value % 2 == 0 => {
                            best = best.min(value + 1);
                        }
                        Target::Elsewhere(value) => worst = worst.max(value),
                    }
                    true
                });
                let king = self.numbering.king(&men, turn);
                let value = if moves == 0 {
                    match self.numbering.is_attacked(&men, king, turn.other(), None) {
                        true => 0,
                        false => DRAW,
                    }
                } else if best < DRAW {
                    best
                } else if !inside && worst < DRAW {
                    worst + 1
                } else {
                    DRAW
                };
                self.values[side(turn) * self.places + place] = value;
            }
        }
    }

    /// Tells the positions before this one what its value means for them.
    fn spread(&mut self, place: usize, turn: Color, distance: u8) {
        let men = self.numbering.men_at(place);
        let mover = turn.other();
        let mut before = Vec::with_capacity(32);
        self.moves_back(&men, mover, &mut before);
        for men in before {
            let slot = self.slot(&men, mover);
            let known = self.values[slot];
            if known == NONE || known <= distance + 1 {
                continue;
            }
            if distance.is_multiple_of(2) {
                self.values[slot] = distance + 1;
            } else if known == DRAW
                && let Some(lost) = self.lost_in(&men, mover, distance)
            {
                self.values[slot] = lost;
            }
        }
    }

    /// Half-moves until mate if every move leads to a position that is won for the other side in at
    /// most `distance`.
    fn lost_in(&self, men: &Men, turn: Color, distance: u8) -> Option<u8> {
        let mut longest = 0;
        let mut lost = true;
        self.moves(men, turn, |target| {
            let value = match target {
                Target::Here(after) => {
                    let value = self.values[self.slot(&after, turn.other())];
                    if value > distance { DRAW } else { value }
                }
                Target::Elsewhere(value) => value,
            };
            lost &= value < DRAW && value % 2 == 1;
            longest = longest.max(value);
            lost
        });
        lost.then_some(longest + 1)
    }

    /// Every legal move's target, until `take` says that it has enough.
    fn moves(&self, men: &Men, turn: Color, mut take: impl FnMut(Target) -> bool) {
        let squares = men.as_slice();
        let occupied = men.occupied();
        for (i, &(color, role)) in self.numbering.men.iter().enumerate() {
            if color != turn {
                continue;
            }
            let from = squares[i];
            let mut targets = reach(color, role, from, occupied);
            if role == Role::Pawn {
                targets &= occupied;
                targets |= pushes(color, from, occupied);
            }
            for to in targets {
                let victim = squares.iter().position(|s| *s == to);
                if victim.is_some_and(|v| {
                    self.numbering.men[v].0 == turn || self.numbering.men[v].1 == Role::King
                }) {
                    continue;
                }
                let mut after = *men;
                after.squares[i] = to;
                let king = self.numbering.king(&after, turn);
                if self.numbering.is_attacked(&after, king, turn.other(), victim) {
                    continue;
                }
                let promotes =
                    role == Role::Pawn && matches!(to.rank(), Rank::First | Rank::Eighth);
                let go_on = if promotes {
                    [Role::Queen, Role::Rook, Role::Bishop, Role::Knight].into_iter().all(|new| {
                        take(Target::Elsewhere(self.elsewhere(
                            &after,
                            turn,
                            victim,
                            Some((i, new)),
                        )))
                    })
                } else if victim.is_some() {
                    take(Target::Elsewhere(self.elsewhere(&after, turn, victim, None)))
                } else {
                    take(Target::Here(after))
                };
                if !go_on {
                    return;
                }
            }
        }
    }

    fn elsewhere(
        &self,
        after: &Men,
        turn: Color,
        victim: Option<usize>,
        promoted: Option<(usize, Role)>,
    ) -> u8 {
        let men: Vec<(Color, Role, Square)> = self
            .numbering
            .men
            .iter()
            .enumerate()
            .filter(|(i, _)| Some(*i) != victim)
            .map(|(i, &(color, role))| {
                let role = promoted.filter(|p| p.0 == i).map_or(role, |p| p.1);
                (color, role, after.squares[i])
            })
            .collect();
        self.children.value(&men, turn.other()).unwrap_or(DRAW)
    }

    /// The positions from which a move that is no capture and no promotion leads here.
    fn moves_back(&self, men: &Men, mover: Color, out: &mut Vec<Men>) {
        let occupied = men.occupied();
        for (i, &(color, role)) in self.numbering.men.iter().enumerate() {
            if color != mover {
                continue;
            }
            let to = men.squares[i];
            let origins = match role {
                Role::Pawn => pulls(color, to, occupied),
                _ => reach(color, role, to, occupied) & !occupied,
            };
            for from in origins {
                let mut before = *men;
                before.squares[i] = from;
                out.push(before);
            }
        }
    }
}

fn pushes(color: Color, from: Square, occupied: Bitboard) -> Bitboard {
    let step = color.fold_wb(8, -8);
    let mut targets = Bitboard::EMPTY;
    if let Some(one) = from.offset(step).filter(|s| !occupied.contains(*s)) {
        targets.add(one);
        if from.rank() == color.fold_wb(Rank::Second, Rank::Seventh)
            && let Some(two) = one.offset(step).filter(|s| !occupied.contains(*s))
        {
            targets.add(two);
        }
    }
    targets
}

fn pulls(color: Color, to: Square, occupied: Bitboard) -> Bitboard {
    let step = color.fold_wb(-8, 8);
    let mut origins = Bitboard::EMPTY;
    if let Some(one) = to.offset(step).filter(|s| !occupied.contains(*s)) {
        if !matches!(one.rank(), Rank::First | Rank::Eighth) {
            origins.add(one);
        }
        if to.rank() == color.fold_wb(Rank::Fourth, Rank::Fifth)
            && let Some(two) = one.offset(step).filter(|s| !occupied.contains(*s))
        {
            origins.add(two);
        }
    }
    origins
}
