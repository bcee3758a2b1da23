// SPDX-License-Identifier: GPL-3.0-or-later
//! Retrograde analysis: from the mates backwards, half-move by half-move.

use shakmaty::{Bitboard, Color, Rank, Role, Square, attacks};

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
    /// By a pawn's two steps to other men of the same material, where the other side may also
    /// capture in passing: half-moves until mate after that.
    Passed(Men, u8),
}

/// What the side to move makes of a position where it may also capture in passing: half-moves until
/// mate as in a table. `value` is what the position comes to otherwise, `captured` what it comes to
/// after the capture, for the other side.
fn with_capture(value: u8, captured: u8) -> u8 {
    let own = one_before(captured);
    let wins = |value: u8| value < DRAW && value % 2 == 1;
    match (wins(value), wins(own)) {
        (true, true) => value.min(own),
        (true, false) => value,
        (false, true) => own,
        (false, false) if value == DRAW || own == DRAW => DRAW,
        (false, false) => value.max(own),
    }
}

/// What a move is worth that leads to a position of this value.
const fn one_before(value: u8) -> u8 {
    if value >= DRAW { DRAW } else { value + 1 }
}

struct Builder<'a> {
    numbering: Numbering,
    children: &'a EndgameTables,
    places: usize,
    /// Half-moves until mate as far as they are known; [`DRAW`] where not, [`NONE`] where there is
    /// no position.
    values: Vec<u8>,
    /// Positions in which a move allows a capture in passing that mates in so many half-moves, and
    /// so may turn out to be lost then: distance, place, side to move.
    doubtful: Vec<(u8, usize, Color)>,
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
    let mut builder = Builder {
        numbering,
        children,
        places,
        values: vec![NONE; 2 * places],
        doubtful: Vec::new(),
    };
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
        builder.settle(distance);
        let later = builder.values.iter().any(|&v| v > distance && v < DRAW)
            || builder.doubtful.iter().any(|&(at, ..)| at > distance);
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
                let mut lost_by_capture = DRAW;
                self.moves(&men, turn, |target| {
                    moves += 1;
                    match target {
                        Target::Here(_) => inside = true,
                        Target::Elsewhere(value) if value < DRAW && value % 2 == 0 => {
                            best = best.min(value + 1);
                        }
                        Target::Elsewhere(value) => worst = worst.max(value),
                        Target::Passed(_, captured) => {
                            inside = true;
                            if captured < DRAW && captured % 2 == 0 {
                                lost_by_capture = captured + 1;
                            }
                        }
                    }
                    true
                });
                if lost_by_capture < DRAW {
                    self.doubtful.push((lost_by_capture, place, turn));
                }
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
        for earlier in before {
            let slot = self.slot(&earlier, mover);
            let known = self.values[slot];
            if known == NONE || known <= distance + 1 {
                continue;
            }
            if distance.is_multiple_of(2) {
                let value = match self.captured_in_passing(&earlier, &men, mover) {
                    Some(captured) => with_capture(distance, captured),
                    None => distance,
                };
                if value.is_multiple_of(2) && value < DRAW {
                    self.values[slot] = known.min(value + 1);
                }
            } else if known == DRAW
                && let Some(lost) = self.lost_in(&earlier, mover, distance)
            {
                self.values[slot] = lost;
            }
        }
    }

    /// Looks again at positions of which a capture in passing at this distance decides one move.
    fn settle(&mut self, distance: u8) {
        for number in 0..self.doubtful.len() {
            let (at, place, turn) = self.doubtful[number];
            let slot = side(turn) * self.places + place;
            if at == distance
                && self.values[slot] == DRAW
                && let Some(lost) = self.lost_in(&self.numbering.men_at(place), turn, distance)
            {
                self.values[slot] = lost;
            }
        }
    }

    /// If a pawn has gone two steps between these and the other side may capture it in passing:
    /// half-moves until mate after that.
    fn captured_in_passing(&self, before: &Men, after: &Men, mover: Color) -> Option<u8> {
        let moved = (0..after.count).find(|&i| before.squares[i] != after.squares[i])?;
        let (from, to) = (before.squares[moved], after.squares[moved]);
        if self.numbering.men[moved] != (mover, Role::Pawn) || from.rank().distance(to.rank()) != 2
        {
            return None;
        }
        let passed = from.offset(mover.fold_wb(8, -8))?;
        let capturer = (0..after.count).find(|&i| {
            self.numbering.men[i] == (mover.other(), Role::Pawn)
                && attacks::pawn_attacks(mover.other(), after.squares[i]).contains(passed)
        })?;
        let mut taken = *after;
        taken.squares[capturer] = passed;
        let king = self.numbering.king(after, mover.other());
        if self.numbering.is_attacked(&taken, king, mover, Some(moved)) {
            return None;
        }
        Some(self.elsewhere(&taken, mover.other(), Some(moved), None))
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
                Target::Passed(after, captured) => {
                    // What is not known yet is no win so far; captures are looked at in their turn.
                    let value = self.values[self.slot(&after, turn.other())];
                    let value = if value > distance { DRAW } else { value };
                    let value = with_capture(value, captured);
                    if value > distance { DRAW } else { value }
                }
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
                } else if role == Role::Pawn
                    && let Some(captured) = self.captured_in_passing(men, &after, turn)
                {
                    let mut can_move = false;
                    let mut note = |_: Target| {
                        can_move = true;
                        false
                    };
                    // Without its own type the closure would make a new function of this one.
                    let note: &mut dyn FnMut(Target) -> bool = &mut note;
                    self.moves(&after, turn.other(), note);
                    take(match can_move {
                        true => Target::Passed(after, captured),
                        // Neither mate nor stalemate: the capture is forced.
                        false => Target::Elsewhere(one_before(captured)),
                    })
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
