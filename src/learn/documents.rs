// SPDX-License-Identifier: GPL-3.0-or-later
//! Counts single words of mail, and the entropy of each document.
//!
//! A word is looked up in the count table when it first occurs, and when reading is over. In
//! between, its occurrences and its shares of documents are added up under its number. The result
//! is the same as if [`Counter::count`] had been called for each occurrence.

use super::counter::{Counter, DocumentEntropy};
use super::table::{AHEAD, Head, Place, Table};
use super::tokens::TermList;
use crate::alloc_hints::{make_room, prefetch};
use crate::token::id::FeatureId;
use crate::token::lexicon::TermId;

/// Words by number, and the document being read.
#[derive(Debug, Default, Clone)]
pub(super) struct DocumentWords {
    words: Vec<DocumentWord>,
    /// Words of the document, in order of first appearance.
    present: Vec<TermId>,
    /// Their occurrences.
    tokens: usize,
}

/// A word in the documents of a run.
#[derive(Debug, Clone, Copy)]
struct DocumentWord {
    owner: SlotOwner,
    /// Occurrences in the documents before, less (modulo 2^32) those in the present one that other
    /// words with the same slot have added here.
    times: u32,
    /// Occurrences in the document being read.
    here: u32,
    /// Sum over documents of the share of each, for the word's slot.
    share: f32,
}

/// The word under whose number the statistics of a word's slot are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SlotOwner(u32);

impl SlotOwner {
    /// The word has not been looked up yet.
    const UNKNOWN: Self = Self(u32::MAX);
    /// The word has no slot: the table was full, or its id is that of empty slots.
    const NONE: Self = Self(u32::MAX - 1);
}

impl DocumentWord {
    const NEW: Self = Self { owner: SlotOwner::UNKNOWN, times: 0, here: 0, share: 0.0 };
}

impl DocumentWords {
    /// The words of `list`, whose features `table` holds; all of them are single words.
    pub(super) fn of(list: &TermList, table: &Table) -> Self {
        let known = list.uses.iter().map(|uses| match table.place(uses.id) {
            Place::Found(at) => {
                let owner = SlotOwner(table.cell(at).head.payload());
                DocumentWord { owner, share: table.spread(at).share, ..DocumentWord::NEW }
            }
            Place::Vacant(_) | Place::None => DocumentWord::NEW,
        });
        Self { words: known.collect(), ..Self::default() }
    }

    /// Adds a new word, which is counted next.
    pub(super) fn add(&mut self) {
        if self.words.len() == self.words.capacity() {
            make_room(&mut self.words);
        }
        self.words.push(DocumentWord::NEW);
    }

    /// Prefetches a word's statistics.
    #[inline]
    pub(super) fn prefetch(&self, term: TermId) {
        prefetch(&self.words, term.index());
    }

    /// Counts an occurrence.
    #[inline]
    pub(super) fn count(&mut self, term: TermId) {
        let word = &mut self.words[term.index()];
        if word.here == 0 {
            self.present.push(term);
        }
        word.here += 1;
        self.tokens += 1;
    }

    /// Forgets a document none of whose words was counted.
    pub(super) fn forget(&mut self) {
        self.present.clear();
    }

    /// Moves the occurrences of the `at`-th word of the document to the word that shares its slot.
    #[cold]
    fn merge(&mut self, at: usize, owner: TermId) {
        let term = std::mem::replace(&mut self.present[at], owner);
        let times = std::mem::take(&mut self.words[term.index()].here);
        self.words[term.index()].times += times;
        let owner = &mut self.words[owner.index()];
        owner.here += times;
        owner.times = owner.times.wrapping_sub(times);
    }
}

impl Counter {
    /// Looks up the words of the document that did not occur before, and counts those that have no
    /// slot. Returns the occurrences of all others.
    pub(super) fn assign_slots(
        &mut self,
        documents: &mut DocumentWords,
        list: &mut TermList,
    ) -> usize {
        let mut with_slots = std::mem::take(&mut documents.tokens);
        let length = documents.present.len();
        for first in (0..length).step_by(AHEAD) {
            let chunk = first..length.min(first + AHEAD);
            for &term in &documents.present[chunk.clone()] {
                if documents.words[term.index()].owner == SlotOwner::UNKNOWN {
                    self.state.table.prefetch_whole(list.uses[term.index()].id);
                }
            }
            for at in chunk {
                let term = documents.present[at];
                if documents.words[term.index()].owner == SlotOwner::UNKNOWN {
                    self.assign_slot(term, documents, list);
                }
                let word = &mut documents.words[term.index()];
                match word.owner {
                    SlotOwner(own) if own == term.0 => {}
                    SlotOwner::NONE => {
                        let times = std::mem::take(&mut word.here);
                        word.times += times;
                        with_slots -= times as usize;
                        self.count_word(term, times, list);
                    }
                    SlotOwner(other) => documents.merge(at, TermId(other)),
                }
            }
        }
        with_slots
    }

    /// Finds a slot for a word.
    fn assign_slot(&mut self, term: TermId, documents: &mut DocumentWords, list: &mut TermList) {
        let word = &mut documents.words[term.index()];
        let id = list.uses[term.index()].id;
        word.owner = SlotOwner::NONE;
        if id.0 == 0 {
            return;
        }
        let (place, new) = self.place(id, Head::new(1, term.0), FeatureId(0));
        if new {
            list.append(id);
        }
        if let Some(at) = place
            && let cell = self.state.table.cell(at)
            && cell.id == id
        {
            word.owner = SlotOwner(cell.head.payload());
            word.share = self.state.table.spread(at).share;
        }
    }

    /// Closes a document whose words have been given slots; returns its entropy, nats.
    pub(super) fn close_document(
        &mut self,
        documents: &mut DocumentWords,
        mut entropy: DocumentEntropy,
    ) -> f64 {
        let DocumentWords { words, present, .. } = documents;
        for term in present.drain(..) {
            let word = &mut words[term.index()];
            if word.owner == SlotOwner::NONE {
                self.share_out(FeatureId(0), &mut entropy);
            } else if word.here > 0 {
                let times = std::mem::take(&mut word.here);
                word.times = word.times.wrapping_add(times);
                word.share += entropy.add(times);
            }
        }
        entropy.sum
    }

    /// Moves counts that were kept by the words' numbers to the table and to `list`.
    pub(super) fn settle_words(&mut self, documents: &DocumentWords, list: &mut TermList) {
        for (number, chunk) in (0u32..).step_by(AHEAD).zip(documents.words.chunks(AHEAD)) {
            let first = TermId(number).index();
            for uses in &list.uses[first..][..chunk.len()] {
                self.state.table.prefetch_whole(uses.id);
            }
            for ((term, word), uses) in (number..).zip(chunk).zip(&mut list.uses[first..]) {
                // Occurrences of a document that was not closed are added, too.
                let times = word.times.wrapping_add(word.here);
                uses.times = times;
                let Place::Found(at) = self.state.table.place(uses.id) else { continue };
                if word.owner == SlotOwner::NONE {
                    continue;
                }
                if times > 0 {
                    self.add_to_slot(at, times);
                }
                if word.owner == SlotOwner(term)
                    && let Some(spread) = self.state.table.spread_mut(at)
                {
                    spread.share = word.share;
                    spread.occurrences = word.here;
                }
            }
        }
    }
}
