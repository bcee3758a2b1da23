// SPDX-License-Identifier: GPL-3.0-or-later
//! The head of a state: all numbers that are not in a table.
//!
//! ```text
//! 16 bytes   "# dbacl state 9\n"
//! u64 each   name of the set; checksum of the ledger's body, its bytes
//! u32 each   documents, slots, rows and entries; how many of them there is room for
//! u32 each   documents of the last full fit; number of categories
//! u8 each    longest n-gram; 1 for `--once`, 2 for `--contrast`, 4 for blocks; 1 if ordinary
//!            weights follow the counts; 1 zero
//! u32        key of the searches
//! f64 each   cost, blend, length of count vectors
//! 40 bytes   for each category: log Z without the biases, occurrences, rise and bias, f64 each;
//!            documents u32; 4 zeros
//! u64        checksum of all this and of the sums of the blocks
//! ```

use super::tables::Sizes;
use crate::fit::checksum::Checksum;
use crate::fit::scoring::Scoring;
use byteorder::{ByteOrder, LittleEndian};

/// The beginning of state files of all versions.
pub const KIND: &[u8] = b"# dbacl state ";

/// How a state of this version begins.
const MAGIC: &[u8] = b"# dbacl state 9\n";

/// Bytes of the head before what it has of each category.
const FIXED: usize = 112;

/// Bytes of the head for each category.
const EACH: usize = 40;

/// Where the number of categories stands.
const CATEGORIES: usize = 76;

/// Categories of a state at most.
pub const MOST: usize = 64;

/// What is known of a category and its fit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Side {
    /// log Z as far as it does not depend on the biases, nats.
    pub log_partition: f64,
    /// Occurrences of all features in its documents.
    pub total: f64,
    /// What its ordinary weights are above the logarithm of their features' shares and reference
    /// costs, nats: log Z as the last round of learning saw it.
    pub rise: f64,
    /// Weight of the bias input; 0 for the first of two categories.
    pub bias: f64,
    /// Its documents.
    pub documents: u32,
}

/// The numbers of the head.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Numbers {
    /// Name of the set of category files that the state belongs to.
    pub set: u64,
    /// Checksum state of the ledger's body that the state belongs to.
    pub ledger: Checksum,
    /// Bytes of that body.
    pub ledger_length: u64,
    /// The cost C.
    pub cost: f64,
    /// The blend.
    pub blend: f64,
    /// The length a of count vectors.
    pub length: f64,
    /// Whether ordinary weights follow the counts; else they stay what they were at the last fit.
    pub counts_ordinary: bool,
    /// Highest order of the categories.
    pub max_order: u8,
    /// What documents are fitted for.
    pub scoring: Scoring,
    /// Whether the fit prefers features that one category has much more often than the others
    /// (`--contrast`).
    pub contrast: bool,
    /// Documents of the last full fit.
    pub fitted: u32,
    /// Key of the searches; see [`super::tables`].
    pub key: u32,
    /// The categories.
    pub sides: Vec<Side>,
}

/// Bytes of the head for so many categories.
const fn length_of(categories: usize) -> usize {
    FIXED + EACH * categories + 8
}

/// The length in bytes of a head that begins like this; `None` if this is no head of this version.
pub fn length(beginning: &[u8]) -> Option<usize> {
    let categories = beginning.get(CATEGORIES..CATEGORIES + 4).map(LittleEndian::read_u32)?;
    let categories = usize::try_from(categories).ok().filter(|own| (2..=MOST).contains(own))?;
    beginning.starts_with(MAGIC).then_some(length_of(categories))
}

/// The bytes of the head that [`length`] needs.
pub const BEGINNING: usize = CATEGORIES + 4;

impl Numbers {
    /// The head, without its checksum, of tables that are used so far and have so much room.
    #[allow(clippy::cast_possible_truncation)] // tables of 32-bit numbers
    pub fn write(&self, used: Sizes, room: Sizes) -> Vec<u8> {
        let mut bytes = vec![0; length_of(self.sides.len())];
        bytes[..MAGIC.len()].copy_from_slice(MAGIC);
        let wide = [self.set, self.ledger.state(), self.ledger_length];
        LittleEndian::write_u64_into(&wide, &mut bytes[16..40]);
        let sizes = used.words().into_iter().chain(room.words());
        let words = sizes.chain([self.fitted as usize, self.sides.len()]);
        for (bytes, word) in bytes[40..80].chunks_exact_mut(4).zip(words) {
            LittleEndian::write_u32(bytes, word as u32);
        }
        bytes[80] = self.max_order;
        let blocks = u8::from(self.scoring == Scoring::Blocks) << 2;
        let once = u8::from(self.scoring == Scoring::Once);
        bytes[81] = once | u8::from(self.contrast) << 1 | blocks;
        bytes[82] = u8::from(self.counts_ordinary);
        LittleEndian::write_u32(&mut bytes[84..88], self.key);
        let reals = [self.cost, self.blend, self.length];
        LittleEndian::write_f64_into(&reals, &mut bytes[88..FIXED]);
        for (side, bytes) in self.sides.iter().zip(bytes[FIXED..].chunks_exact_mut(EACH)) {
            let reals = [side.log_partition, side.total, side.rise, side.bias];
            LittleEndian::write_f64_into(&reals, &mut bytes[..32]);
            LittleEndian::write_u32(&mut bytes[32..], side.documents);
        }
        bytes
    }

    /// The numbers of a head of the right [`length`], what is used of the tables, and the room that
    /// they have; `None` when they are impossible.
    pub fn read(head: &[u8]) -> Option<(Self, Sizes, Sizes)> {
        if length(head) != Some(head.len()) {
            return None;
        }
        let wide = |place: usize| LittleEndian::read_u64(&head[16 + 8 * place..]);
        let word = |place: usize| LittleEndian::read_u32(&head[40 + 4 * place..]);
        let sizes = |places: [usize; 4]| Sizes::of_words(places.map(|place| word(place) as usize));
        let (used, room) = (sizes([0, 1, 2, 3]), sizes([4, 5, 6, 7]));
        let real = |bytes: &[u8], place: usize| LittleEndian::read_f64(&bytes[8 * place..]);
        let side = |bytes: &[u8]| {
            let [log_partition, total, rise, bias] = [0, 1, 2, 3].map(|place| real(bytes, place));
            let documents = LittleEndian::read_u32(&bytes[32..]);
            Side { log_partition, total, rise, bias, documents }
        };
        let [cost, blend, length] = [0, 1, 2].map(|place| real(&head[88..], place));
        let numbers = Self {
            set: wide(0),
            ledger: Checksum::from_state(wide(1)),
            ledger_length: wide(2),
            cost,
            blend,
            length,
            counts_ordinary: head[82] == 1,
            max_order: head[80],
            scoring: match head[81] & 5 {
                0 => Scoring::Counts,
                1 => Scoring::Once,
                _ => Scoring::Blocks,
            },
            contrast: head[81] & 2 == 2,
            fitted: word(8),
            key: LittleEndian::read_u32(&head[84..88]),
            sides: head[FIXED..].chunks_exact(EACH).map(side).collect(),
        };
        let is_possible = (1..8).contains(&numbers.max_order) && room.holds(used);
        is_possible.then_some((numbers, used, room))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_that_say_impossible_things_are_refused() {
        let used = Sizes { documents: 1, slots: 2, rows: 3, entries: 4 };
        let room = Sizes { documents: 5, slots: 6, rows: 7, entries: 8 };
        for categories in [2, 3, MOST] {
            let side = |at: u8| Side { documents: 7, bias: f64::from(at), ..Side::default() };
            let numbers = Numbers {
                set: 1,
                ledger: Checksum::from_state(2),
                ledger_length: 3,
                cost: 0.25,
                blend: 0.125,
                length: 4.5,
                counts_ordinary: true,
                max_order: 3,
                scoring: Scoring::Once,
                contrast: true,
                fitted: 77,
                key: 0x1234_5678,
                sides: (0u8..).take(categories).map(side).collect(),
            };
            let good = numbers.write(used, room);
            assert_eq!(Numbers::read(&good), Some((numbers, used, room)));
            assert_eq!(length(&good[..BEGINNING]), Some(good.len()));
            for (at, value) in [(0, 1u32), (40, 6), (52, 9), (76, 1), (76, 65), (80, 0), (80, 8)] {
                let mut head = good.clone();
                LittleEndian::write_u32(&mut head[at..], value);
                assert_eq!(Numbers::read(&head), None, "{at} {value}");
            }
            assert_eq!(Numbers::read(&good[..good.len() - 1]), None);
        }
    }
}
