// SPDX-License-Identifier: GPL-3.0-or-later
//! The transposition table, of a given size: stores values and best moves of positions.

use crate::moves::PackedMove;
use crate::{MATE_SEEN, MAX_PLY};

/// How a stored value relates to the true one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Bound {
    /// Nothing is stored.
    #[default]
    None,
    /// The value is at most this one.
    Upper,
    /// The value is at least this one.
    Lower,
    /// The value is exact.
    Exact,
}

/// The stored result of a search of a position.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Entry {
    check: u32,
    /// The best move, if any is known.
    pub best: PackedMove,
    value: i16,
    /// Half-moves that were looked ahead.
    pub depth: i8,
    /// How the value relates to the true one.
    pub bound: Bound,
    generation: u8,
}

impl Entry {
    /// The value as seen from `ply` half-moves after the root.
    pub(crate) fn value(&self, ply: usize) -> i32 {
        further(self.value.into(), -distance(ply))
    }

    /// Whether a value, which this entry states, shows that the true one is at most `alpha`, at
    /// least `beta`, or exact.
    pub(crate) fn decides(&self, value: i32, alpha: i32, beta: i32) -> bool {
        match self.bound {
            Bound::Exact => true,
            Bound::Lower => value >= beta,
            Bound::Upper => value <= alpha,
            Bound::None => false,
        }
    }
}

fn distance(ply: usize) -> i32 {
    i32::try_from(ply.min(MAX_PLY)).unwrap_or(0)
}

/// A value as seen from so many half-moves earlier: mates are further away.
fn further(value: i32, plies: i32) -> i32 {
    match value {
        v if v > MATE_SEEN => v + plies,
        v if v < -MATE_SEEN => v - plies,
        v => v,
    }
}

/// Entries by position key; each key has two places, of which the less useful one is overwritten.
pub(crate) struct Table {
    entries: Vec<[Entry; 2]>,
    generation: u8,
}

impl Table {
    /// A table of at most that many megabytes, at least some kilobytes.
    pub(crate) fn new(megabytes: usize) -> Self {
        let room = (megabytes << 20) / size_of::<[Entry; 2]>();
        let places = (room.max(512) / 2 + 1).next_power_of_two();
        Self { entries: vec![[Entry::default(); 2]; places], generation: 0 }
    }

    /// Empties the table.
    pub(crate) fn clear(&mut self) {
        self.entries.fill([Entry::default(); 2]);
    }

    /// Entries that are stored from now on count as newer than the present ones.
    pub(crate) const fn begin(&mut self) {
        self.generation = self.generation.wrapping_add(1);
    }

    #[expect(clippy::cast_possible_truncation, reason = "the place is the key's low bits")]
    fn place(&self, key: u64) -> usize {
        key as usize & (self.entries.len() - 1)
    }

    const fn check(key: u64) -> u32 {
        (key >> 32) as u32
    }

    /// The entry of the position with this key.
    pub(crate) fn get(&self, key: u64) -> Option<Entry> {
        let check = Self::check(key);
        let pair = &self.entries[self.place(key)];
        pair.iter().find(|e| e.check == check && e.bound != Bound::None).copied()
    }

    /// Stores the result for a position `ply` half-moves after the root.
    pub(crate) fn put(
        &mut self,
        key: u64,
        best: PackedMove,
        value: i32,
        depth: i32,
        bound: Bound,
        ply: usize,
    ) {
        let check = Self::check(key);
        let value = further(value, distance(ply));
        let place = self.place(key);
        let generation = self.generation;
        let pair = &mut self.entries[place];
        let worth = |e: &Entry| {
            i32::from(e.depth)
                - if e.generation == generation { 0 } else { 100 }
                - if e.bound == Bound::None { 1000 } else { 0 }
        };
        let slot = match pair.iter().position(|e| e.check == check) {
            Some(slot) => slot,
            None => usize::from(worth(&pair[1]) < worth(&pair[0])),
        };
        let entry = &mut pair[slot];
        // A bound of a shallow search does not replace the result of a deeper one for the same
        // position.
        if entry.check == check
            && entry.generation == generation
            && bound != Bound::Exact
            && i32::from(entry.depth) > depth + 3
        {
            return;
        }
        let best =
            if best == PackedMove::default() && entry.check == check { entry.best } else { best };
        *entry = Entry {
            check,
            best,
            value: i16::try_from(value).unwrap_or(if value > 0 { i16::MAX } else { i16::MIN }),
            depth: i8::try_from(depth).unwrap_or(i8::MAX),
            bound,
            generation,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MATE;

    #[test]
    fn mates_are_stored_by_their_distance_from_the_position() {
        let mut table = Table::new(0);
        // Mate five half-moves after the root, stored two after it, is three from there.
        table.put(7, PackedMove(9), MATE - 5, 4, Bound::Exact, 2);
        let entry = table.get(7).expect("stored");
        assert_eq!((entry.value(2), entry.value(4)), (MATE - 5, MATE - 7));
        assert_eq!(entry.best, PackedMove(9));
        assert!(table.get(7 | 1 << 40).is_none());
        // The same where the side to move is mated.
        table.put(8, PackedMove(9), 5 - MATE, 4, Bound::Exact, 2);
        let entry = table.get(8).expect("stored");
        assert_eq!((entry.value(2), entry.value(4)), (5 - MATE, 7 - MATE));
    }

    #[test]
    fn sizes_are_kept() {
        for megabytes in [0, 1, 16] {
            let table = Table::new(megabytes);
            let bytes = table.entries.len() * size_of::<[Entry; 2]>();
            assert!(bytes <= (megabytes << 20).max(1 << 16), "{megabytes}: {bytes}");
        }
    }
}
