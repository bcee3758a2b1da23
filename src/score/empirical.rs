// SPDX-License-Identifier: GPL-3.0-or-later
//! Token counts of the document being scored, for its empirical entropy (spec model 12).

use crate::token::id::FeatureId;
use hashbrown::HashMap;

/// What became of a token that was looked up in the document's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occurrence {
    /// It has now occurred this often in the document.
    Seen(u32),
    /// It is new, and the table is full: the token is to be ignored.
    NoRoom,
    /// It is new, and every slot is taken (tables of up to 16 slots): the token is scored.
    NoSlot,
}

/// Counts by feature id, in room for 2^bits of them.
#[derive(Debug, Clone)]
pub(crate) struct EmpiricalTable {
    counts: HashMap<FeatureId, u32>,
    used: u32,
    /// Bits of the table's size.
    pub bits: u8,
}

impl EmpiricalTable {
    /// An empty table of 2^`bits` slots.
    pub(crate) fn new(bits: u8) -> Self {
        Self { counts: HashMap::new(), used: 0, bits }
    }

    /// Whether a document of so many tokens and one more certainly finds room for all.
    pub(crate) const fn is_roomy(&self, tokens: usize) -> bool {
        // The table ignores new tokens once 95 in 100 of its slots are used. The comparison wraps
        // for tables of 2^26 slots and more, but never ignores a token before 20 million are used.
        let room = (1usize << self.bits) / 20 * 19;
        tokens < if room < 20_000_000 { room } else { 20_000_000 }
    }

    /// Counts a token.
    pub(crate) fn count(&mut self, id: FeatureId) -> Occurrence {
        if let Some(count) = self.counts.get_mut(&id) {
            *count = count.saturating_add(1);
            return Occurrence::Seen(*count);
        }
        if self.counts.len() == 1 << self.bits {
            return Occurrence::NoSlot;
        }
        if 100u32.wrapping_mul(self.used) >= 95u32.wrapping_mul(1 << self.bits) {
            return Occurrence::NoRoom;
        }
        self.used += 1;
        // Id 0 marks an empty slot in dbacl 1.14.1, so that it is always new.
        if id.0 != 0 {
            self.counts.insert(id, 1);
        }
        Occurrence::Seen(1)
    }

    /// Forgets the document.
    pub(crate) fn clear(&mut self) {
        self.counts.clear();
        self.used = 0;
    }
}
