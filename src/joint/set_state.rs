// SPDX-License-Identifier: GPL-3.0-or-later
//! The state of a fit of any number of categories, for changes by single documents.

use super::incremental;
use super::ledger::{Head, Record};
use super::many;
use super::pages::ReadAt;
use crate::numeric::quantize::QuantWeight;
use crate::token::id::FeatureId;
use std::io::{self, Write};

/// The beginning of state files of all versions and numbers of categories.
pub const KIND: &[u8] = incremental::KIND;

/// New weights of features of a category, sorted by id.
pub type Changes = Vec<(FeatureId, QuantWeight)>;

/// The state of a fit.
#[derive(Debug)]
pub enum SetState {
    /// Of two categories.
    Pair(incremental::State),
    /// Of more.
    Many(many::State),
}

impl SetState {
    /// Opens the state of a fit of `categories` categories, with what has changed since `file` was
    /// written, if that is told; `None` when its head is damaged.
    pub fn open(
        categories: usize,
        file: Box<dyn ReadAt>,
        length: usize,
        changes: Vec<u8>,
    ) -> Option<Self> {
        if categories == 2 {
            return incremental::State::open(file, length, changes).map(Self::Pair);
        }
        let state = many::State::open(file, length, changes)?;
        (state.numbers.sides.len() == categories).then_some(Self::Many(state))
    }

    /// Name of the set of category files that the state belongs to.
    pub const fn set(&self) -> u64 {
        match self {
            Self::Pair(state) => state.numbers.set,
            Self::Many(state) => state.numbers.set,
        }
    }

    /// Documents, and documents of the last full fit.
    pub const fn documents(&self) -> (u32, u32) {
        match self {
            Self::Pair(state) => (state.numbers.documents, state.numbers.fitted),
            Self::Many(state) => (state.numbers.documents, state.numbers.fitted),
        }
    }

    /// Whether this is the state of the ledger with this head.
    pub fn fits(&self, head: &Head) -> bool {
        let (ledger, length) = match self {
            Self::Pair(state) => (state.numbers.ledger, state.numbers.ledger_length),
            Self::Many(state) => (state.numbers.ledger, state.numbers.ledger_length),
        };
        ledger == head.sum && length == head.length && self.documents().0 == head.documents
    }

    /// Records the set and the ledger to which the state belongs.
    pub const fn belongs_to(&mut self, set: u64, head: &Head) {
        match self {
            Self::Pair(incremental::State { numbers, .. }) => {
                numbers.set = set;
                numbers.ledger = head.sum;
                numbers.ledger_length = head.length;
            }
            Self::Many(many::State { numbers, .. }) => {
                numbers.set = set;
                numbers.ledger = head.sum;
                numbers.ledger_length = head.length;
            }
        }
    }

    /// Names of the documents, in their order in the ledger.
    pub fn names(&mut self) -> Vec<u64> {
        match self {
            Self::Pair(state) => state.names(),
            Self::Many(state) => state.names(),
        }
    }

    /// Offset in the ledger's body of document `number`.
    pub fn offset(&mut self, number: usize) -> u64 {
        match self {
            Self::Pair(state) => state.offset(number),
            Self::Many(state) => state.offset(number),
        }
    }

    /// Learns a document of the ledger that is new at `offset`, see [`incremental::State::learn`].
    pub fn learn(&mut self, record: &Record, offset: u64, old: impl FnMut(u64) -> Option<Record>) {
        match self {
            Self::Pair(state) => state.learn(record, offset, old),
            Self::Many(state) => state.learn(record, offset, old),
        }
    }

    /// Makes document `number`, which was learned as `from`, one of the category of `record`, which
    /// is the same document at `offset` of the ledger.
    pub fn relabel(
        &mut self,
        number: usize,
        from: u32,
        record: &Record,
        offset: u64,
        old: impl FnMut(u64) -> Option<Record>,
    ) {
        match self {
            Self::Pair(state) => state.relabel(number, record, offset, old),
            Self::Many(state) => state.relabel(number, from, record, offset, old),
        }
    }

    /// New weights of all features whose weights may have changed, by category.
    pub fn changes(&mut self) -> Vec<Changes> {
        match self {
            Self::Pair(state) => {
                let both = state.changes();
                let of = |at: usize| both.iter().map(|&(id, weights)| (id, weights[at])).collect();
                vec![of(0), of(1)]
            }
            Self::Many(state) => state.changes(),
        }
    }

    /// log Z of the categories, nats.
    pub fn log_partitions(&self) -> Vec<f64> {
        match self {
            Self::Pair(state) => state.log_partitions().to_vec(),
            Self::Many(state) => state.log_partitions(),
        }
    }

    /// Whether the file is to be written as a whole, not only what has changed in it.
    pub fn is_due(&self) -> bool {
        match self {
            Self::Pair(state) => state.is_due(),
            Self::Many(state) => state.is_due(),
        }
    }

    /// Whether something that was read is damaged; all of it is read if it is to be written.
    pub fn is_damaged(&mut self) -> bool {
        match self {
            Self::Pair(state) => state.is_damaged(),
            Self::Many(state) => state.is_damaged(),
        }
    }

    /// Writes the file.
    ///
    /// # Errors
    /// Those of `out`; [`io::ErrorKind::InvalidData`] if it is damaged.
    pub fn write(&mut self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Pair(state) => state.write(out),
            Self::Many(state) => state.write(out),
        }
    }

    /// Writes what has changed since the file was written.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_changes(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Pair(state) => state.write_changes(out),
            Self::Many(state) => state.write_changes(out),
        }
    }
}
