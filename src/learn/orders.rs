// SPDX-License-Identifier: GPL-3.0-or-later
//! The used slots of a table by the order of their features.

use super::table::Table;
use crate::alloc_hints::with_memory;
use std::ops::Range;

/// Slots in one word of bits.
const BLOCK: usize = u64::BITS as usize;

/// Which slots hold features of which order: a bit for each slot and order.
#[derive(Debug)]
pub(super) struct Orders {
    /// The bits. A block of slots has one 64-bit word for each order from 0 to the highest.
    bits: Vec<u64>,
    /// How many words a block has.
    words: usize,
    /// Features by order.
    lengths: [usize; 8],
}

impl Orders {
    /// The orders of the slots of `table`, up to `highest`.
    pub(super) fn of(table: &Table, highest: u8) -> Self {
        let words = usize::from(highest) + 1;
        let length = table.size().div_ceil(BLOCK) * words;
        let mut bits = with_memory(length);
        bits.resize(length, 0);
        let mut lengths = [0; 8];
        for (at, cell) in table.cells().enumerate().filter(|(_, cell)| !cell.is_empty()) {
            let order = usize::from(cell.head.order());
            if let Some(word) = bits[at / BLOCK * words..][..words].get_mut(order) {
                *word |= 1 << (at % BLOCK);
                lengths[order] += 1;
            }
        }
        Self { bits, words, lengths }
    }

    /// How many features of an order there are.
    ///
    /// # Panics
    /// If `order` is above 7.
    pub(super) const fn length(&self, order: u8) -> usize {
        self.lengths[order as usize]
    }

    /// The slots of an order, ascending.
    pub(super) fn slots(&self, order: u8) -> Slots<'_> {
        self.slots_of(order..order + 1)
    }

    /// The slots of some orders, ascending.
    ///
    /// # Panics
    /// If one of them is above the highest.
    pub(super) fn slots_of(&self, orders: Range<u8>) -> Slots<'_> {
        let orders = usize::from(orders.start)..usize::from(orders.end);
        assert!(orders.end <= self.words, "orders up to the highest");
        Slots { blocks: self.bits.chunks_exact(self.words), orders, begin: 0, left: 0, next: 0 }
    }
}

/// Slots in ascending order.
#[derive(Debug, Clone)]
pub(super) struct Slots<'a> {
    blocks: std::slice::ChunksExact<'a, u64>,
    orders: Range<usize>,
    /// First slot of the present block.
    begin: usize,
    /// Slots of the present block that are to come.
    left: u64,
    /// First slot of the block after it.
    next: usize,
}

impl Iterator for Slots<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.left == 0 {
            let block = self.blocks.next()?;
            self.left = block[self.orders.clone()].iter().fold(0, |all, word| all | word);
            self.begin = self.next;
            self.next += BLOCK;
        }
        let at = self.begin + self.left.trailing_zeros() as usize;
        self.left &= self.left - 1;
        Some(at)
    }
}
