// SPDX-License-Identifier: GPL-3.0-or-later
//! Documents as lists of columns by block.

use dbacl_numeric::elementary::{narrow, real};

/// The input of each feature of a block of weight `weight` with so many features: the weight
/// divided by the square root of their number.
pub(crate) fn input(weight: f64, features: usize) -> f32 {
    narrow(weight / real(features.max(1)).sqrt())
}

/// A block of a document: how many columns it has, and the input of each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Block {
    /// Number of columns.
    pub columns: u32,
    /// See [`input`].
    pub input: f32,
}

impl Block {
    /// A block of weight `weight` with `columns` columns, of which the document has `features`
    /// features: all of them, or the known ones.
    pub(crate) fn new(columns: usize, weight: f64, features: usize) -> Self {
        let columns = u32::try_from(columns).unwrap_or(u32::MAX);
        Self { columns, input: input(weight, features) }
    }
}

/// A document as the fit sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Member<'a> {
    /// The columns of the first block, then those of the second, and so on; each once.
    pub columns: &'a [u32],
    /// The blocks.
    pub blocks: &'a [Block],
    /// The problems in which its y is 1, rising. It is -1 in all others.
    pub positive: &'a [u32],
    /// The cost of the wrong side, as a multiple of the fit's.
    pub cost: f32,
}

impl<'a> Member<'a> {
    /// Columns and input of each block.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (&'a [u32], f32)> + use<'a> {
        let mut rest = self.columns;
        self.blocks.iter().map(move |block| {
            let (own, others) = rest.split_at(rest.len().min(block.columns as usize));
            rest = others;
            (own, block.input)
        })
    }
}

/// Documents, all in a few lists.
#[derive(Debug, Clone, Default)]
pub(crate) struct Documents {
    columns: Vec<u32>,
    blocks: Vec<Block>,
    positive: Vec<u32>,
    /// Where the lists of each document end.
    ends: Vec<[usize; 3]>,
    costs: Vec<f32>,
    keys: Vec<u64>,
}

impl Documents {
    /// No documents yet; there is room for so many columns of all documents.
    pub(crate) fn with_room(columns: usize) -> Self {
        Self { columns: Vec::with_capacity(columns), ..Self::default() }
    }

    /// Adds a document. Its key, such as a checksum of its features, decides when the fit visits
    /// it: fits do not depend on the order in which documents were added, as long as those of
    /// equal keys are alike.
    pub(crate) fn push(&mut self, key: u64, member: &Member<'_>) {
        self.columns.extend_from_slice(member.columns);
        self.blocks.extend_from_slice(member.blocks);
        self.positive.extend_from_slice(member.positive);
        self.ends.push([self.columns.len(), self.blocks.len(), self.positive.len()]);
        self.costs.push(member.cost);
        self.keys.push(key);
    }

    /// Number of documents.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The numbers of all documents.
    pub(crate) fn all(&self) -> Vec<u32> {
        (0..u32::try_from(self.len()).unwrap_or(u32::MAX)).collect()
    }

    /// Document number `at`.
    pub(crate) fn member(&self, at: u32) -> Member<'_> {
        let at = at as usize;
        let start = if at == 0 { [0; 3] } else { self.ends[at - 1] };
        let end = self.ends[at];
        Member {
            columns: &self.columns[start[0]..end[0]],
            blocks: &self.blocks[start[1]..end[1]],
            positive: &self.positive[start[2]..end[2]],
            cost: self.costs[at],
        }
    }

    /// The key of document number `at`.
    pub(crate) fn key(&self, at: u32) -> u64 {
        self.keys[at as usize]
    }

    /// Gives every column a new number, or drops it where there is none. Inputs stay.
    pub(crate) fn renumber(&mut self, number: impl Fn(u32) -> Option<u32>) {
        let (mut read, mut kept) = (0, 0);
        let mut block = 0;
        for end in &mut self.ends {
            for own in &mut self.blocks[block..end[1]] {
                let start = kept;
                for at in read..read + own.columns as usize {
                    if let Some(new) = number(self.columns[at]) {
                        self.columns[kept] = new;
                        kept += 1;
                    }
                }
                read += own.columns as usize;
                own.columns = u32::try_from(kept - start).unwrap_or(u32::MAX);
            }
            block = end[1];
            end[0] = kept;
        }
        self.columns.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_found_again_and_renumbered() {
        let mut documents = Documents::default();
        let blocks = [Block::new(2, 2.0, 4), Block::new(1, 1.0, 1)];
        let first = Member { columns: &[5, 1, 9], blocks: &blocks, positive: &[2], cost: 0.5 };
        let empty = Member { columns: &[], blocks: &[], positive: &[], cost: 1.0 };
        for (key, member) in [(7, &first), (8, &empty), (9, &first)] {
            documents.push(key, member);
        }
        assert_eq!((documents.len(), documents.key(2)), (3, 9));
        assert_eq!((documents.member(0), documents.member(1)), (first, empty));
        let parts: Vec<_> = documents.member(2).parts().collect();
        assert_eq!(parts, [(&[5, 1][..], 1.0), (&[9][..], 1.0)]);

        documents.renumber(|column| (column != 5).then_some(column * 10));
        let parts: Vec<_> = documents.member(2).parts().collect();
        assert_eq!(parts, [(&[10][..], 1.0), (&[90][..], 1.0)]);
        assert_eq!(documents.member(1).columns, [0u32; 0]);
    }
}
