// SPDX-License-Identifier: GPL-3.0-or-later
//! The used slots of a table by the order of their features.

use super::table::Table;
use crate::memory::with_memory;

/// Marks empty slots among orders.
const NO_ORDER: u8 = u8::MAX;

/// Orders of a table's slots, and each order's slots in hash order.
#[derive(Debug)]
pub struct Orders {
    by_slot: Vec<u8>,
    /// Slots of order 0, then those of order 1, and so on.
    slots: Vec<u32>,
    /// Where each order's slots end.
    ends: [usize; 8],
}

impl Orders {
    /// The orders of the slots of `table`.
    pub fn of(table: &Table) -> Self {
        let mut by_slot = with_memory(table.size());
        let mut ends = [0; 8];
        for (id, at) in table.ids().zip(0..) {
            let order = if id.0 == 0 { NO_ORDER } else { table.head(at).order() };
            by_slot.push(order);
            if let Some(end) = ends.get_mut(usize::from(order)) {
                *end += 1;
            }
        }
        let mut begin = 0;
        for end in &mut ends {
            (begin, *end) = (begin + *end, begin);
        }
        let mut slots = with_memory(begin);
        slots.resize(begin, 0);
        for (&order, at) in by_slot.iter().zip(0u32..) {
            if let Some(end) = ends.get_mut(usize::from(order)) {
                slots[*end] = at;
                *end += 1;
            }
        }
        Self { by_slot, slots, ends }
    }

    /// The order at each slot; more than any order where a slot is empty.
    pub fn by_slot(&self) -> &[u8] {
        &self.by_slot
    }

    /// The slots of an order, ascending.
    ///
    /// # Panics
    /// If `order` is above 7.
    pub fn slots(&self, order: u8) -> &[u32] {
        let order = usize::from(order);
        let begin = order.checked_sub(1).map_or(0, |lower| self.ends[lower]);
        &self.slots[begin..self.ends[order]]
    }
}
