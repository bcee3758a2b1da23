// SPDX-License-Identifier: GPL-3.0-or-later
//! Retrograde analysis: from the mates backwards, half-move by half-move.
//!
//! A position that leads to one lost in `n` is won in `n + 1`; one all of whose moves lead to
//! positions won in at most `n` is lost in `n + 1`. Captures and promotions lead to other endings,
//! whose tables are known.

use anyhow::Result;
use dbacl::parallel;
use shakmaty::{Bitboard, Color, Piece, Rank, Role, Square, attacks};

use super::distances::Distances;
use super::men::{Man, Men, Standing};
use super::table::{DRAW, NONE, Table, better, one_earlier, worth};

impl Distances {
    /// Makes the tables of these endings, and those that they need, unless they can be read. Each
    /// one goes to `made` before others are made by it.
    ///
    /// # Errors
    ///
    /// Those of `made`.
    pub fn make(&self, wanted: &[Men], made: &(dyn Fn(&Table) -> Result<()> + Sync)) -> Result<()> {
        for mut group in Men::in_order(wanted) {
            group.retain(|men| self.tables[men.number].get().is_none());
            let made_here = parallel::all(group.len(), |at| {
                let men = &group[at];
                let (number, read) = (men.number, self.read(men).ok().flatten());
                let is_new = read.is_none();
                let table = read.unwrap_or_else(|| build(men.clone(), self));
                let is_set = self.tables[number].set(Ok(Some(table))).is_ok();
                assert!(is_set, "tables of a group do not need each other");
                is_new.then_some(number)
            });
            let new: Vec<usize> = made_here.into_iter().flatten().collect();
            parallel::try_all(new.len(), |at| match self.tables[new[at]].get() {
                Some(Ok(Some(table))) => made(table),
                _ => unreachable!("it has just been set"),
            })?;
        }
        Ok(())
    }
}

/// The table of an ending; `known` has those that it leads to.
fn build(men: Men, known: &Distances) -> Table {
    let pawns = |color: Color| men.pieces().any(|piece| piece == color.pawn());
    let (may_pass, table) = (Color::ALL.into_iter().all(pawns), Table::new(men));
    let mut builder = Builder { table, known, may_pass, waiting: Vec::new(), next: Vec::new() };
    builder.begin();
    let mut distance = 0;
    while distance < builder.waiting.len() || !builder.next.is_empty() {
        builder.settle(u8::try_from(distance).expect("no mate of four men takes so long"));
        distance += 1;
    }
    builder.table
}

struct Builder<'a> {
    /// Draws are positions not settled so far.
    table: Table,
    known: &'a Distances,
    /// Whether both sides have pawns, so that pawns may be captured in passing.
    may_pass: bool,
    /// Positions that may be settled at a distance, by this distance.
    waiting: Vec<Vec<usize>>,
    /// Positions settled at the next distance.
    next: Vec<usize>,
}

/// The squares that a man attacks.
fn reach(Piece { color, role }: Piece, from: Square, occupied: Bitboard) -> Bitboard {
    attacks::attacks(from, Piece { color, role }, occupied)
}

fn occupied(men: &[Man]) -> Bitboard {
    men.iter().map(|man| man.square).collect()
}

/// The men of a side with their places.
fn of_side(men: &[Man], side: Color) -> impl Iterator<Item = (usize, &Man)> {
    men.iter().enumerate().filter(move |(_, man)| man.piece.color == side)
}

/// Whether a side's king is attacked.
fn is_attacked(men: &[Man], side: Color) -> bool {
    let Some(king) = men.iter().find(|man| man.piece == side.king()) else { return false };
    let occupied = occupied(men);
    let mut others = men.iter().filter(|man| man.piece.color != side);
    others.any(|man| reach(man.piece, man.square, occupied).contains(king.square))
}

/// The squares that a pawn goes to from a square without capturing; backwards with `back`.
fn steps(color: Color, from: Square, occupied: Bitboard, back: bool) -> Bitboard {
    let by = if color.is_white() == back { -8 } else { 8 };
    let long = match back {
        true => color.fold_wb(Rank::Fourth, Rank::Fifth),
        false => color.fold_wb(Rank::Second, Rank::Seventh),
    };
    let free = |square: &Square| !occupied.contains(*square);
    let one = from.offset(by).filter(free);
    let two = one.filter(|_| from.rank() == long).and_then(|one| one.offset(by)).filter(free);
    one.into_iter().chain(two).collect()
}

const fn is_last(rank: Rank) -> bool {
    matches!(rank, Rank::First | Rank::Eighth)
}

impl Builder<'_> {
    /// Marks the places that are not positions, and settles mates and what captures and promotions
    /// decide.
    fn begin(&mut self) {
        let mut open = Vec::new();
        for place in 0..self.table.places() {
            let (men, _) = self.table.position(place);
            let occupied = occupied(&men);
            let stands = |man: &Man| man.piece.role != Role::Pawn || !is_last(man.square.rank());
            let is_one = occupied.count() == men.len()
                && men.iter().all(stands)
                && self.table.number(&men, Color::White) == place;
            for turn in Color::ALL {
                let number = turn.fold_wb(place, place + self.table.places());
                if !is_one || is_attacked(&men, turn.other()) {
                    self.table.values[number] = NONE;
                } else if self.may_pass
                    || is_attacked(&men, turn)
                    || of_side(&men, turn).any(|(_, man)| leaves(*man, &men, occupied))
                {
                    open.push(number);
                }
            }
        }
        for number in open {
            let (men, turn) = self.table.position(number);
            self.consider(number, &men, turn, false);
        }
    }

    /// Settles the positions at a distance, and finds those that lead to them.
    fn settle(&mut self, distance: u8) {
        let mut settled = std::mem::take(&mut self.next);
        let waiting = self.waiting.get_mut(usize::from(distance)).map(std::mem::take);
        for number in waiting.unwrap_or_default() {
            if self.table.values[number] == DRAW {
                self.table.values[number] = distance;
                settled.push(number);
            }
        }
        for number in settled {
            let (men, turn) = self.table.position(number);
            let occupied = occupied(&men);
            let mut before = men.clone();
            for (place, man) in of_side(&men, turn.other()) {
                let Man { piece, square } = *man;
                let origins = match piece.role {
                    Role::Pawn => steps(piece.color, square, occupied, true),
                    _ => reach(piece, square, occupied) & !occupied,
                };
                for origin in origins {
                    before[place].square = origin;
                    let number = self.table.number(&before, turn.other());
                    if self.table.values[number] != DRAW {
                        continue;
                    }
                    // A pawn that may be captured in passing has not won yet.
                    let is_lost = distance % 2 == 1;
                    if is_lost || (self.may_pass && piece.role == Role::Pawn) {
                        self.consider(number, &before, turn.other(), is_lost && !self.may_pass);
                    } else {
                        self.table.values[number] = distance + 1;
                        self.next.push(number);
                    }
                }
                before[place] = *man;
            }
        }
    }

    /// Notes when a position is settled, if that is known by now.
    fn consider(&mut self, number: usize, men: &Standing, turn: Color, only_losses: bool) {
        let in_check = || if is_attacked(men, turn) { 0 } else { DRAW };
        let value = self.value(men, turn, only_losses).unwrap_or_else(in_check);
        if value < DRAW {
            let distance = usize::from(value);
            self.waiting.resize_with(self.waiting.len().max(distance + 1), Vec::new);
            self.waiting[distance].push(number);
        }
    }

    /// The best value that a move is known to lead to; `None` without a legal move. If the position
    /// is not lost, that of any move suffices where only losses matter.
    fn value(&self, men: &Standing, turn: Color, only_losses: bool) -> Option<u8> {
        let occupied = occupied(men);
        let own: Bitboard = of_side(men, turn).map(|(_, man)| man.square).collect();
        let (mut best, mut after) = (None, men.clone());
        let mut take = |value: u8| {
            if value != NONE {
                let own = one_earlier(value);
                best = Some(best.map_or(own, |best| better(best, own)));
            }
            only_losses && best.is_some_and(|best| worth(best) >= 0)
        };
        for (place, man) in of_side(men, turn) {
            let mut targets = reach(man.piece, man.square, occupied) & !own;
            if man.piece.role == Role::Pawn {
                targets = (targets & occupied) | steps(turn, man.square, occupied, false);
            }
            for to in targets {
                let is_capture = occupied.contains(to);
                let taken = || men.iter().position(|other| other.square == to);
                let victim = if is_capture { taken() } else { None };
                after[place].square = to;
                if man.piece.role == Role::Pawn && is_last(to.rank()) {
                    for role in [Role::Queen, Role::Rook, Role::Bishop, Role::Knight] {
                        after[place].piece.role = role;
                        if take(self.elsewhere(&after, victim, turn)) {
                            return best;
                        }
                    }
                    after[place].piece.role = Role::Pawn;
                    continue;
                }
                let value = if victim.is_some() {
                    self.elsewhere(&after, victim, turn)
                } else {
                    let value = self.table.values[self.table.number(&after, turn.other())];
                    match self.may_pass && man.piece.role == Role::Pawn && value != NONE {
                        true => self.in_passing(&after, place, man.square, value),
                        false => value,
                    }
                };
                if take(value) {
                    return best;
                }
            }
            after[place] = *man;
        }
        best
    }

    /// The value of a position of another ending, after a capture or a promotion by `mover`.
    fn elsewhere(&self, men: &Standing, victim: Option<usize>, mover: Color) -> u8 {
        let mut left = men.clone();
        victim.map(|at| left.remove(at));
        match is_attacked(&left, mover) {
            true => NONE,
            false => match self.known.value(&mut left, mover.other()) {
                Ok(Some(value)) => value,
                _ => unreachable!("endings are made after those that they lead to"),
            },
        }
    }

    /// The value of a position, in the table `value`, where the pawn at `place` has just come from
    /// a square, and may be captured in passing.
    fn in_passing(&self, men: &Standing, place: usize, from: Square, value: u8) -> u8 {
        let Man { piece, square } = men[place];
        let passed = from.offset(piece.color.fold_wb(8, -8)).filter(|&passed| passed != square);
        let (Some(passed), other) = (passed, piece.color.other()) else { return value };
        let captor = men.iter().position(|man| {
            man.piece == other.pawn()
                && reach(man.piece, man.square, passed.into()).contains(passed)
        });
        let Some(captor) = captor else { return value };
        let mut after = men.clone();
        after[captor].square = passed;
        match self.elsewhere(&after, Some(place), other) {
            NONE => value,
            captured if self.value(men, other, false).is_none() => one_earlier(captured),
            captured => better(value, one_earlier(captured)),
        }
    }
}

/// Whether a man may capture or promote.
fn leaves(man: Man, men: &[Man], occupied: Bitboard) -> bool {
    let Man { piece, square } = man;
    let attacked = reach(piece, square, occupied);
    let promotes = piece.role == Role::Pawn
        && square.rank() == piece.color.fold_wb(Rank::Seventh, Rank::Second);
    promotes
        || men
            .iter()
            .any(|other| other.piece.color != piece.color && attacked.contains(other.square))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mates::Checked;
    use crate::syzygy::{Tables, tests::data};
    use std::sync::Mutex;

    #[test]
    fn every_value_of_three_men_is_true() {
        let (distances, all) = (Distances::default(), Mutex::new(Vec::new()));
        let syzygy = Tables::open(&data()).expect("tables");
        let check = |table: &Table| {
            // What a pawn leads to takes long to follow.
            let step = if table.men.pawns() > 0 { 101 } else { 1 };
            let Checked { followed, compared, wrong } =
                table.check(&distances, step, Some(&syzygy))?;
            let (counts, name) = (table.counts(), table.men.to_string());
            let positions = counts.won + counts.drawn + counts.lost;
            assert_eq!((wrong, followed > positions / 110), (0, true), "{name}");
            all.lock().expect("whole").push((name, counts.longest.div_ceil(2), compared > 0));
            Ok(())
        };
        let names = ["KQK", "KRK", "KPK"].map(|name| Men::parse(name).expect("a name"));
        distances.make(&names, &check).expect("made");
        let mut all = all.into_inner().expect("whole");
        all.sort();
        // The longest wins are those published.
        let longest = [("KBK", 0), ("KNK", 0), ("KPK", 28), ("KQK", 10), ("KRK", 16)];
        let known = |(name, moves)| (String::from(name), moves, true);
        assert_eq!(all, longest.map(known));
    }
}
