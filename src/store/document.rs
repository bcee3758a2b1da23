// SPDX-License-Identifier: GPL-3.0-or-later
//! A learned document, and what it adds to the sums.
//!
//! ```text
//! type     record of a document
//! u8       label: its place among the filter's labels
//! u8       1 if the document is a correction of a user, 2 if it is left out of the fit
//! varint   number of features of the text
//! varint   number of tags
//! varint   number of tags of agreement
//! u32      each feature of the text, rising
//! u32      each tag, rising
//! u32      each tag of agreement, rising
//! ```

use super::BLOCKS;
use crate::fit::checksum::Checksum;
use crate::linear::{Exact, Sum};
use byteorder::{ByteOrder, LittleEndian};
use dbacl_numeric::varint;

/// A document was learned by a correction, and not from a folder.
const CORRECTION: u8 = 1;
/// A document takes no part in the fit, since it seems to be in the wrong folder.
const LEFT_OUT: u8 = 2;

/// The features of a learned document, without their texts and without their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Document {
    /// Its place among the filter's labels.
    pub label: u8,
    /// Whether a user has corrected it.
    pub is_correction: bool,
    /// Whether it takes no part in the fit.
    pub is_left_out: bool,
    /// The ids of its features by block, rising, each once.
    pub features: [Vec<u32>; BLOCKS],
}

impl Document {
    /// A document with these features, in any order; a feature counts once, in the first block that
    /// has it.
    pub(crate) fn new(label: u8, mut features: [Vec<u32>; BLOCKS]) -> Self {
        for block in 0..BLOCKS {
            let (before, rest) = features.split_at_mut(block);
            let ids = &mut rest[0];
            ids.sort_unstable();
            ids.dedup();
            ids.retain(|id| before.iter().all(|other| other.binary_search(id).is_err()));
        }
        Self { label, is_correction: false, is_left_out: false, features }
    }

    /// The checksum of its features, which identifies it.
    pub(crate) fn name(&self) -> u64 {
        let mut sum = Checksum::default();
        for ids in &self.features {
            sum.word(ids.len() as u64);
            for &id in ids {
                sum.word(u64::from(id));
            }
        }
        sum.value()
    }

    /// Appends its record.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let flags =
            (u8::from(self.is_correction) * CORRECTION) | (u8::from(self.is_left_out) * LEFT_OUT);
        out.extend_from_slice(&[self.label, flags]);
        self.features.iter().for_each(|ids| varint::append(out, ids.len() as u64));
        for id in self.features.iter().flatten() {
            out.extend_from_slice(&id.to_le_bytes());
        }
    }

    /// Takes a record from the front of `bytes`; `None` if it has an impossible value.
    pub(crate) fn take(bytes: &mut &[u8]) -> Option<Self> {
        let (&[label, flags], rest) = bytes.split_first_chunk::<2>()?;
        *bytes = rest;
        let mut sizes = [0; BLOCKS];
        for size in &mut sizes {
            *size = usize::try_from(varint::take(bytes)?).ok()?;
        }
        let mut features: [Vec<u32>; BLOCKS] = Default::default();
        for (ids, size) in features.iter_mut().zip(sizes) {
            let (own, rest) = bytes.split_at_checked(size.checked_mul(4)?)?;
            *bytes = rest;
            ids.extend(own.chunks_exact(4).map(LittleEndian::read_u32));
            if !ids.is_sorted_by(|a, b| a < b) {
                return None;
            }
        }
        let is_known = flags & !(CORRECTION | LEFT_OUT) == 0;
        is_known.then_some(Self {
            label,
            is_correction: flags & CORRECTION != 0,
            is_left_out: flags & LEFT_OUT != 0,
            features,
        })
    }
}

/// What a document adds to the sums of its features.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Effect {
    /// Its place among the filter's labels.
    pub label: u8,
    /// Whether the document takes no part in the fit: it adds nothing.
    pub is_left_out: bool,
    /// The input of a feature of each block with which it was learned.
    pub inputs: [f32; BLOCKS],
    /// Its dual variable in each problem.
    pub duals: Vec<f32>,
}

impl Effect {
    /// Bytes of an effect in a file, for so many problems.
    pub(crate) const fn bytes(problems: usize) -> usize {
        4 + 4 * BLOCKS + 4 * problems
    }

    /// What is added to the sum of each problem, for an input.
    pub(crate) fn parts(&self, input: f32) -> impl Iterator<Item = Exact> + '_ {
        let width = self.duals.len();
        self.duals.iter().enumerate().map(move |(problem, &dual)| {
            let is_own =
                if width == 1 { self.label == 1 } else { usize::from(self.label) == problem };
            let y = if is_own { 1.0 } else { -1.0 };
            Exact::of(f64::from(dual) * y * f64::from(input))
        })
    }

    /// Appends it.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.label, u8::from(self.is_left_out), 0, 0]);
        for number in self.inputs.iter().chain(&self.duals) {
            out.extend_from_slice(&number.to_le_bytes());
        }
    }

    /// Takes one from the front of `bytes`, for so many problems.
    pub(crate) fn take(bytes: &mut &[u8], problems: usize) -> Option<Self> {
        let (own, rest) = bytes.split_at_checked(Self::bytes(problems))?;
        *bytes = rest;
        let mut numbers = own[4..].chunks_exact(4).map(LittleEndian::read_f32);
        let mut inputs = [0.0; BLOCKS];
        for input in &mut inputs {
            *input = numbers.next()?;
        }
        let duals: Vec<f32> = numbers.collect();
        let is_sound = inputs.iter().chain(&duals).all(|number| number.is_finite());
        is_sound.then_some(Self { label: own[0], is_left_out: own[1] == 1, inputs, duals })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_and_effects_are_read_as_they_were_written() {
        let document = Document {
            is_correction: true,
            ..Document::new(3, [vec![7, 5, 5, u32::MAX], vec![5, 1], vec![9, 1]])
        };
        assert_eq!(document.features, [vec![5, 7, u32::MAX], vec![1], vec![9]]);
        let effect = Effect {
            label: 2,
            is_left_out: false,
            inputs: [0.25, 0.5, 0.75],
            duals: vec![1.0, 0.0, 2.0],
        };
        let mut bytes = Vec::new();
        document.write(&mut bytes);
        effect.write(&mut bytes);
        let mut rest = bytes.as_slice();
        assert_eq!(Document::take(&mut rest), Some(document));
        assert_eq!(Effect::take(&mut rest, 3), Some(effect.clone()));
        assert!(rest.is_empty());
        let parts: Vec<f32> = effect.parts(0.5).map(Sum::value).collect();
        assert_eq!(parts, [-0.5, 0.0, 1.0]);
        for at in 0..bytes.len() {
            let mut cut = &bytes[..at];
            let whole = Document::take(&mut cut).and_then(|_| Effect::take(&mut cut, 3));
            assert_eq!(whole, None, "{at}");
        }
    }

    #[test]
    fn names_depend_on_features_alone() {
        let one = Document::new(0, [vec![3, 1], vec![9], vec![]]);
        let same = Document {
            label: 1,
            is_correction: true,
            ..Document::new(0, [vec![1, 3], vec![9], vec![]])
        };
        assert_eq!(one.name(), same.name());
        for other in [
            [vec![3], vec![9], vec![]],
            [vec![1, 3, 9], vec![], vec![]],
            [vec![1, 4], vec![9], vec![]],
            [vec![1, 3], vec![], vec![9]],
        ] {
            assert_ne!(Document::new(0, other).name(), one.name());
        }
    }
}
