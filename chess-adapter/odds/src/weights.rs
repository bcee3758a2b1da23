// SPDX-License-Identifier: GPL-3.0-or-later
//! The first stage's weights in three bytes a word, in memory as in the file.
//!
//! Words are kept by their ids in rising order: for each upper half of an id the place where its
//! words begin, for each word the lower half and a signed byte q. The weight is
//! `sign(q) q² unit`, so that small weights, of which a move's score has many, lie closer together
//! than large ones.

use crate::choices::{FeatureId, Group};
use dbacl_numeric::elementary::narrow;

/// Different upper halves of ids.
const UPPER: usize = 1 << 16;
/// Bytes of the places.
const PLACES: usize = 4 * (UPPER + 1);
/// Largest byte of a weight.
const LARGEST: f64 = 127.0;

/// Weights by feature id.
#[derive(Clone, Debug)]
pub(crate) struct Weights {
    /// The file, and where in it the places begin.
    bytes: Vec<u8>,
    start: usize,
    /// Number of words.
    pub count: usize,
    /// The unit of the weights.
    pub unit: f64,
    /// The weight of each byte, nats.
    of_bytes: Box<[f64; 256]>,
}

impl Weights {
    /// Packs weights, with this unit if it is given. Of two weights of a word the first one is
    /// taken.
    pub(crate) fn pack(weights: impl Iterator<Item = (FeatureId, f32)>, unit: Option<f64>) -> Self {
        let mut all: Vec<(u32, f32)> = weights.map(|(id, weight)| (id.0, weight)).collect();
        all.sort_by_key(|&(id, _)| id);
        all.dedup_by_key(|&mut (id, _)| id);
        let most = || all.iter().map(|(_, weight)| f64::from(weight.abs())).fold(0.0, f64::max);
        let unit = unit.unwrap_or_else(|| most() / (LARGEST * LARGEST));
        let unit = if unit > 0.0 { unit } else { 1.0 };
        let root = |weight: f32| (f64::from(weight.abs()) / unit).sqrt().round().min(LARGEST);
        all.retain(|&(_, weight)| root(weight) > 0.0);
        let mut bytes = Vec::with_capacity(PLACES + 3 * all.len());
        for upper in 0..=UPPER {
            let place = all.partition_point(|&(id, _)| ((id >> 16) as usize) < upper);
            bytes.extend_from_slice(&u32::try_from(place).unwrap_or(u32::MAX).to_le_bytes());
        }
        for (id, _) in &all {
            bytes.extend_from_slice(&id.to_le_bytes()[..2]);
        }
        bytes.extend(all.iter().map(|&(_, weight)| {
            #[expect(clippy::cast_possible_truncation, reason = "from -127 to 127")]
            let byte = root(weight).copysign(f64::from(weight)) as i8;
            byte.cast_unsigned()
        }));
        Self::new(bytes, 0, all.len(), unit).expect("just packed")
    }

    /// Takes the packed weights that begin at `start`; `None` if they are not `count` ones.
    pub(crate) fn new(bytes: Vec<u8>, start: usize, count: usize, unit: f64) -> Option<Self> {
        if bytes.len().checked_sub(start)? != PLACES.checked_add(count.checked_mul(3)?)? {
            return None;
        }
        let mut of_bytes = Box::new([0.0; 256]);
        for (weight, byte) in of_bytes.iter_mut().zip(0..=u8::MAX) {
            let root = f64::from(byte.cast_signed());
            *weight = root * root.abs() * unit;
        }
        let weights = Self { bytes, start, count, unit, of_bytes };
        let places = (0..=UPPER).map(|upper| weights.place(upper));
        (places.is_sorted() && weights.place(UPPER) == count).then_some(weights)
    }

    /// All words with their weights, nats.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (FeatureId, f32)> {
        (0..=u16::MAX).flat_map(move |upper| {
            let places = self.place(upper.into())..self.place(usize::from(upper) + 1);
            places.map(move |at| {
                let id = u32::from(upper) << 16 | u32::from(u16::from_le_bytes(self.halves()[at]));
                (FeatureId(id), narrow(self.weight(at)))
            })
        })
    }

    /// The packed table.
    pub(crate) fn packed(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    fn place(&self, upper: usize) -> usize {
        let at = self.start + 4 * upper;
        let bytes = self.bytes[at..at + 4].try_into().expect("four bytes");
        u32::from_le_bytes(bytes) as usize
    }

    /// The lower halves of the ids.
    fn halves(&self) -> &[[u8; 2]] {
        self.bytes[self.start + PLACES..].as_chunks().0
    }

    /// The weight of the word in this place.
    fn weight(&self, at: usize) -> f64 {
        let byte = self.bytes[self.start + PLACES + 2 * self.count + at];
        self.of_bytes[usize::from(byte)]
    }

    /// The scores of a group's moves, nats: the sums of the weights of their words.
    pub(crate) fn scores(&self, group: Group<'_>) -> Vec<f64> {
        group.ranges().map(|range| group.ids[range].iter().map(|&id| self.get(id)).sum()).collect()
    }

    /// The weight of a word, nats; 0 if it has none.
    pub(crate) fn get(&self, id: FeatureId) -> f64 {
        let (upper, lower) = ((id.0 >> 16) as usize, id.0 & 0xffff);
        let (first, end) = (self.place(upper), self.place(upper + 1));
        let half = |half: &[u8; 2]| u32::from(u16::from_le_bytes(*half));
        let found = self.halves()[first..end].binary_search_by_key(&lower, half);
        found.map_or(0.0, |at| self.weight(first + at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_weights_are_found_by_their_ids() {
        let given = |n: u32| {
            let size = f32::from(u16::try_from(n % 700).expect("small")) / 200.0;
            (
                FeatureId(n.wrapping_mul(2_654_435_761)),
                if n.is_multiple_of(2) { size } else { -size },
            )
        };
        let weights = Weights::pack((1..50_000).map(given).filter(|(_, w)| w.abs() > 0.02), None);
        let (bytes, count, unit) = (weights.packed().to_vec(), weights.count, weights.unit);
        for (id, weight) in (1..50_000).map(given) {
            let (weight, found) = (f64::from(weight), weights.get(id));
            if weight.abs() > 0.02 {
                // Half the distance to the next weight.
                let grid = unit * (0.5 + (weight.abs() / unit).sqrt());
                assert!((weight - found).abs() <= grid, "{weight} {found}");
            } else {
                assert_eq!(found, 0.0);
            }
        }
        assert_eq!(weights.get(FeatureId(12_345)), 0.0);
        assert!(Weights::new(bytes.clone(), 0, count - 1, unit).is_none());
        let mut damaged = bytes;
        damaged[4 * UPPER] ^= 1;
        assert!(Weights::new(damaged, 0, count, unit).is_none());
    }
}
