// SPDX-License-Identifier: GPL-3.0-or-later
//! Documents and what the fit made of them → the records of a table.

use super::BLOCKS;
use super::document::{Document, Effect};
use super::head::Head;
use super::table::{self, SINGLE_BITS, Sections};
use crate::fit::blocks::intercept;
use crate::linear::{Exact, Sum};
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

/// What is known of a feature while documents are added.
#[derive(Debug, Clone, Copy)]
enum Known {
    /// One document has it: its number, and the block.
    Single(u32, u8),
    /// The number of its row.
    Row(u32),
}

/// Adds documents up.
pub(crate) struct Builder<R> {
    head: Head<R>,
    known: HashMap<u32, Known>,
    counts: Vec<u32>,
    sums: Vec<Exact>,
    /// Effects of the documents so far.
    effects: Vec<Effect>,
    entries: Vec<u8>,
}

impl<R> Builder<R> {
    /// The table of this head, without documents.
    pub(crate) fn new(head: Head<R>) -> Self {
        Self {
            head,
            known: HashMap::new(),
            counts: Vec::new(),
            sums: Vec::new(),
            effects: Vec::new(),
            entries: Vec::new(),
        }
    }

    /// Adds the next document of the ledger with its effect. One that is left out of the fit only
    /// gets an entry.
    pub(crate) fn add(&mut self, document: &Document, effect: Effect) {
        write_entry(&mut self.entries, document.name(), &effect);
        self.head.add(&effect, false);
        let number = u32::try_from(self.effects.len()).unwrap_or(u32::MAX);
        self.effects.push(effect);
        let effect = &self.effects[number as usize];
        if effect.is_left_out {
            return;
        }
        let (labels, problems) = (self.head.documents.len(), self.head.intercepts.len());
        for (block, ids) in (0..).zip(&document.features) {
            for &id in ids {
                let place = match self.known.entry(id) {
                    Entry::Vacant(place) => {
                        place.insert(Known::Single(number, block));
                        continue;
                    }
                    Entry::Occupied(place) => place.into_mut(),
                };
                let row = match *place {
                    Known::Row(row) => row as usize,
                    Known::Single(first, its_block) => {
                        let row = self.counts.len() / labels;
                        self.counts.resize(self.counts.len() + labels, 0);
                        self.sums.resize(self.sums.len() + problems, Exact::default());
                        *place = Known::Row(u32::try_from(row).unwrap_or(u32::MAX));
                        let first = &self.effects[first as usize];
                        add_to_row(&mut self.counts, &mut self.sums, row, first, its_block.into());
                        row
                    }
                };
                add_to_row(&mut self.counts, &mut self.sums, row, effect, usize::from(block));
            }
        }
    }

    /// The head and the records of the table.
    pub(crate) fn finish(self) -> (Head<R>, Sections) {
        let mut ids: Vec<(u32, Known)> = self.known.into_iter().collect();
        ids.sort_unstable_by_key(|&(id, _)| id);
        let (labels, problems) = (self.head.documents.len(), self.head.intercepts.len());
        let mut sections = Sections { documents: self.entries, ..Sections::default() };
        for (id, known) in ids {
            match known {
                Known::Single(number, block) => {
                    write_single(&mut sections.singles, id, number, block.into());
                }
                Known::Row(row) => {
                    let row = row as usize;
                    let counts = &self.counts[row * labels..][..labels];
                    let sums = &self.sums[row * problems..][..problems];
                    let tier = table::tier(counts.iter().sum());
                    table::write_row(&mut sections.tiers[tier], id, counts, sums);
                }
            }
        }
        (self.head, sections)
    }
}

fn add_to_row(counts: &mut [u32], sums: &mut [Exact], row: usize, effect: &Effect, block: usize) {
    let problems = effect.duals.len();
    let labels = if problems == 1 { 2 } else { problems };
    let own = &mut sums[row * problems..][..problems];
    add(&mut counts[row * labels..][..labels], own, effect, block, false);
}

/// Adds what a document contributes to a row of its feature, or takes it away.
pub(crate) fn add(
    documents: &mut [u32],
    sums: &mut [Exact],
    effect: &Effect,
    block: usize,
    is_taken: bool,
) {
    if effect.is_left_out {
        return;
    }
    let own = &mut documents[usize::from(effect.label)];
    *own = if is_taken { own.saturating_sub(1) } else { *own + 1 };
    let input = effect.inputs[block.min(BLOCKS - 1)];
    for (sum, part) in sums.iter_mut().zip(effect.parts(input)) {
        *sum = if is_taken { sum.minus(part) } else { sum.plus(part) };
    }
}

impl<R> Head<R> {
    /// Adds a document to those by label and to the sums of the intercept, or takes it away.
    pub(crate) fn add(&mut self, effect: &Effect, is_taken: bool) {
        let intercept = Effect { inputs: [intercept(); BLOCKS], ..effect.clone() };
        add(&mut self.documents, &mut self.intercepts, &intercept, 0, is_taken);
        // Documents of labels without a folder do not count.
        let has_label = usize::from(effect.label) < self.documents.len();
        let own = u32::from(effect.is_left_out && has_label);
        self.left_out =
            if is_taken { self.left_out.saturating_sub(own) } else { self.left_out + own };
    }
}

/// Appends the entry of a document.
pub(crate) fn write_entry(out: &mut Vec<u8>, name: u64, effect: &Effect) {
    out.extend_from_slice(&name.to_le_bytes());
    effect.write(out);
}

/// Appends a feature that only the document of this number has.
pub(crate) fn write_single(out: &mut Vec<u8>, id: u32, document: u32, block: usize) {
    out.extend_from_slice(&id.to_le_bytes());
    let block = u32::try_from(block).unwrap_or_default();
    out.extend_from_slice(&(document << SINGLE_BITS | block).to_le_bytes());
}
