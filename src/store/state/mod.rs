// SPDX-License-Identifier: GPL-3.0-or-later
//! Learning one document at a time: the state of a joint fit, kept beside the ledger, for any
//! number of categories.
//!
//! ```text
//! ledger, fit ─→ complete ─→ State ─→ weights ─→ category files
//!                            ⇅   ⇅
//!                        tables  steps (of the solver, for one document)
//!                            ⇅
//!               head, pages ⇄ ledger.state, ledger.changes
//! ```
//!
//! Weights, counts and dual variables lie in tables, of which an update reads the parts that it
//! needs. What it has changed is written beside the file, until that has become an eighth of it.
//! All of it can be made again from the ledger. A state that is damaged, of another version, or
//! that does not fit the ledger is thrown away.
//!
//! The ordinary weights of single words under the uniform measure are worked out from the counts
//! when they are needed, so that they keep up with what is learned (see
//! [`weights::ordinary_weight`]).

pub mod complete;
pub mod head;
mod steps;
pub mod tables;
pub mod weights;

use super::ledger::{Head, Record};
use super::pages::{BLOCK, Pages, ReadAt, blocks_at};
use dbacl_numeric::random::SplitMix64;
use head::Numbers;
use std::io::{self, Write};
use tables::{Sizes, Tables, fits_of};

/// Old documents that are looked at again with every new one.
pub const REPLAYED: usize = 10;

/// The state of a fit.
#[derive(Debug)]
pub struct State {
    /// The numbers of the head.
    pub numbers: Numbers,
    /// What is known of each document and feature.
    pub tables: Tables,
    /// Features whose weights may have changed, with repeats.
    touched: Vec<u32>,
    /// A number of documents, and scales of features by how many of these contain them.
    rarities: (usize, Vec<f32>),
}

impl State {
    /// The state of a set without documents, with room for so many.
    pub fn new(numbers: Numbers, room: Sizes) -> Self {
        let tables = Tables::new(numbers.sides.len(), room, numbers.key);
        Self { numbers, tables, touched: Vec::new(), rarities: Default::default() }
    }

    /// Documents.
    #[allow(clippy::cast_possible_truncation)] // tables of 32-bit numbers
    pub const fn documents(&self) -> u32 {
        self.tables.used.documents as u32
    }

    /// Whether this is the state of the ledger with this head.
    pub fn fits(&self, head: &Head) -> bool {
        let Numbers { ledger, ledger_length, .. } = self.numbers;
        let is_its = ledger == head.sum && ledger_length == head.length;
        is_its && self.documents() == head.documents
    }

    /// Records the set and the ledger to which the state belongs.
    pub const fn belongs_to(&mut self, set: u64, head: &Head) {
        self.numbers.set = set;
        self.numbers.ledger = head.sum;
        self.numbers.ledger_length = head.length;
    }

    /// Learns a document of the ledger that is new at `offset`, then looks again at some old ones,
    /// which `old` finds. Counts are those of this moment.
    pub fn learn(&mut self, record: &Record, offset: u64, old: impl FnMut(u64) -> Option<Record>) {
        self.tables.read_near();
        self.count(record, record.label, false);
        self.touch_counted(record);
        let number = self.tables.push_document(offset, record.fingerprint);
        self.settle(number, record, old);
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
        self.tables.read_near();
        self.undo(number, from, record);
        self.count(record, from, true);
        self.count(record, record.label, false);
        self.touch_counted(record);
        self.tables.put_offset(number, offset);
        self.settle(number, record, old);
    }

    /// Counts the features of a document of category `label`, or takes that back.
    fn count(&mut self, record: &Record, label: u32, is_back: bool) {
        let side = self.numbers.sides.get_mut(label as usize);
        let (Some(side), Ok(category)) = (side, u8::try_from(label)) else { return };
        let change = |value: u32, by: u32| {
            if is_back { value.saturating_sub(by) } else { value.saturating_add(by) }
        };
        let occurrences = f64::from(record.occurrences);
        side.total += if is_back { -occurrences } else { occurrences };
        side.documents = change(side.documents, 1);
        for term in &record.terms {
            let at = self.tables.insert(term.id.0, term.kind.pairs);
            let documents = self.tables.slot(at).documents;
            self.tables.count_documents(at, change(documents, 1));
            let count = if self.numbers.counts_ordinary { term.count } else { 0 };
            self.tables.change_entry(at, category, !is_back, |own| {
                own.documents = change(own.documents, 1);
                own.tally = change(own.tally, count);
            });
        }
    }

    /// Steps for document `number` and some others.
    fn settle(
        &mut self,
        number: usize,
        record: &Record,
        mut old: impl FnMut(u64) -> Option<Record>,
    ) {
        self.step(number, record);
        let documents = self.documents();
        let mut shuffle = SplitMix64::new(u64::from(documents));
        let others = documents.saturating_sub(1) as usize;
        for _ in 0..REPLAYED.min(others) {
            let other = shuffle.below(others);
            if other == number {
                continue;
            }
            let offset = self.tables.offset(other);
            if let Some(record) = old(offset) {
                self.step(other, &record);
            }
        }
        self.step(number, record);
    }

    /// Opens a state; `changes` are those since `file` was written, if there are any. `None` when
    /// the head is damaged or of another version. Changes that are damaged, or belong to another
    /// file, are ignored.
    pub fn open(file: Box<dyn ReadAt>, length: usize, changes: Vec<u8>) -> Option<Self> {
        let mut head = vec![0; head::BEGINNING];
        file.read_at(&mut head, 0).ok()?;
        head.resize(head::length(&head)?, 0);
        file.read_at(&mut head, 0).ok()?;
        let (mut numbers, mut used, room) = Numbers::read(&head)?;
        let categories = numbers.sides.len();
        let end = room.starts(fits_of(categories))?.end;
        let blocks = end / BLOCK;
        if end > length || blocks_at(head.len(), blocks) + blocks * BLOCK != length {
            return None;
        }
        let mut pages = Pages::open(file, &head, blocks)?;
        if let Some(head) = pages.take_changes(changes, head.len()) {
            let (new, new_used, new_room) = Numbers::read(&head)?;
            if new_room != room || new.sides.len() != categories {
                return None;
            }
            (numbers, used) = (new, new_used);
        }
        let tables = Tables::of_pages(pages, categories, used, room, numbers.key)?;
        Some(Self { numbers, tables, touched: Vec::new(), rarities: Default::default() })
    }

    /// Reads a state and checks all of it; `None` when it is damaged.
    pub fn parse(bytes: Vec<u8>) -> Option<Self> {
        let length = bytes.len();
        let mut state = Self::open(Box::new(bytes), length, Vec::new())?;
        (!state.is_damaged_anywhere()).then_some(state)
    }

    /// Whether any part of the file is damaged; reads all of it.
    pub fn is_damaged_anywhere(&mut self) -> bool {
        self.tables.pages.read_all();
        self.tables.pages.is_damaged
    }

    /// Whether the file is to be written as a whole, not only what has changed in it.
    pub fn is_due(&self) -> bool {
        self.tables.pages.is_due()
    }

    /// Whether something that was read is damaged; all of it is read if it is to be written.
    pub fn is_damaged(&mut self) -> bool {
        self.tables.pages.is_damaged_to_write()
    }

    fn head(&self) -> Vec<u8> {
        self.numbers.write(self.tables.used, self.tables.room)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// Those of `out`; [`io::ErrorKind::InvalidData`] if it is damaged.
    pub fn write(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let head = self.head();
        self.tables.pages.write(&head, out)
    }

    /// Writes what has changed since the file was written.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_changes(&self, out: &mut dyn Write) -> io::Result<()> {
        self.tables.pages.write_changes(&self.head(), out)
    }
}

#[cfg(test)]
mod tests;
