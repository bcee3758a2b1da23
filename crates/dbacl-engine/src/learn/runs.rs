// SPDX-License-Identifier: GPL-3.0-or-later
//! Counts n-grams that come once each, with all their occurrences, as counts files have them.
//!
//! ```text
//! numbers of words ─→ text ─→ id ─→ slot, 64 at a time ─→ links to suffixes, when all are there
//! ```

use super::counter::Counter;
use super::table::{AHEAD, Head, Place, Table};
use super::tokens::{TermList, TokenList};
use crate::error::WarningSink;
use crate::token::BOUNDARY;
use crate::token::id::FeatureId;
use crate::token::lexicon::TermId;
use crate::token::word::{WORD_WINDOW, Word};
use dbacl_model::medium::Medium;

/// N-grams by number, each a list of words, which have numbers, too.
pub trait Runs {
    /// How many words there are.
    fn words(&self) -> usize;

    /// A word and its medium.
    fn word(&self, word: u32) -> (&[u8], Medium);

    /// Appends the words of an n-gram to `words`.
    fn append(&self, run: u32, words: &mut Vec<u32>);
}

/// Some n-grams' words, one n-gram after the other.
#[derive(Default)]
struct Batch {
    words: Vec<u32>,
    /// Where the words of each begin, and the end.
    starts: Vec<usize>,
    ids: Vec<FeatureId>,
    text: Vec<u8>,
}

impl Batch {
    fn fill(&mut self, runs: &impl Runs, numbers: &[u32]) {
        self.words.clear();
        self.starts.clear();
        self.starts.push(0);
        for &number in numbers {
            runs.append(number, &mut self.words);
            self.starts.push(self.words.len());
        }
    }

    fn words(&self, at: usize) -> &[u32] {
        &self.words[self.starts[at]..self.starts[at + 1]]
    }

    /// Computes the ids of the n-grams without the first `skipped` words, 0 where no word is left,
    /// and has their slots fetched.
    fn hash(&mut self, runs: &impl Runs, skipped: usize, table: &Table) {
        self.ids.clear();
        for ends in self.starts.windows(2) {
            let words = &self.words[ends[0]..ends[1]];
            let id = words.last().filter(|_| words.len() > skipped).map_or(FeatureId(0), |&last| {
                text(runs, &words[skipped..], &mut self.text);
                FeatureId::of(&self.text, runs.word(last).1)
            });
            table.prefetch(id);
            self.ids.push(id);
        }
    }
}

/// Sets `text` to the words with boundaries around them.
fn text(runs: &impl Runs, words: &[u32], text: &mut Vec<u8>) {
    text.clear();
    text.push(BOUNDARY);
    for &word in words {
        text.extend_from_slice(runs.word(word).0);
        text.push(BOUNDARY);
    }
}

impl Counter {
    /// Counts the n-grams `numbers` of `runs`, each as often as `times` says, as
    /// [`Self::count_times`] would. Returns whether that was possible; if not, nothing has changed.
    /// It is possible in a counter that is empty and keeps every n-gram, and with words of the
    /// standard tokenizer. The caller makes sure that no counter runs over.
    pub fn count_runs(
        &mut self,
        runs: &impl Runs,
        numbers: &[u32],
        times: impl Fn(u32) -> u32,
        warnings: WarningSink<'_>,
    ) -> bool {
        if !self.takes_runs() || !has_plain_words(runs) {
            return false;
        }
        let (mut list, mut new, mut batch) = (TermList::default(), Vec::new(), Batch::default());
        let mut body = Vec::new();
        for chunk in numbers.chunks(AHEAD) {
            batch.fill(runs, chunk);
            batch.hash(runs, 0, &self.state().table);
            for (at, (&number, &id)) in chunk.iter().zip(&batch.ids).enumerate() {
                let (words, times) = (batch.words(at), times(number));
                if words.len() == 1 {
                    text(runs, words, &mut body);
                    self.count_characters_of(&body, times);
                }
                #[allow(clippy::cast_possible_truncation)] // at most 7 words
                let head = Head::new(words.len() as u8, 0);
                let (place, is_new) = self.place(id, head, FeatureId(0), warnings);
                if is_new {
                    list.append(id);
                    new.push(number);
                }
                if let Some(at) = place {
                    self.add_occurrences(at, times, warnings);
                }
            }
        }
        self.link_runs(runs, &new, list, batch);
        true
    }

    /// Links the n-grams that were counted to their suffixes, and numbers their words.
    fn link_runs(&mut self, runs: &impl Runs, new: &[u32], mut list: TermList, mut batch: Batch) {
        let table = self.table_mut();
        // The n-gram in each slot.
        let mut owners = vec![u32::MAX; table.size()];
        for (ids, numbers) in list.ids.chunks(AHEAD).zip(new.chunks(AHEAD)) {
            for &id in ids {
                table.prefetch(id);
            }
            for (&id, &number) in ids.iter().zip(numbers) {
                if let Place::Found(at) = table.place(id) {
                    owners[at] = number;
                }
            }
        }
        let mut terms = vec![None; runs.words()];
        let (mut own, mut found) = (Vec::new(), Vec::new());
        let ids = std::mem::take(&mut list.ids);
        for (ids, numbers) in ids.chunks(AHEAD).zip(new.chunks(AHEAD)) {
            batch.fill(runs, numbers);
            for &id in ids {
                table.prefetch(id);
            }
            batch.hash(runs, 1, table);
            for (at, (&id, &suffix)) in ids.iter().zip(&batch.ids).enumerate() {
                let words = batch.words(at);
                own.clear();
                own.extend(words.iter().map(|&word| {
                    *terms[word as usize].get_or_insert_with(|| term(runs, word, &mut list))
                }));
                let Place::Found(slot) = table.place(id) else { continue };
                let mut head = Head::new(table.head(slot).order(), own[0].0);
                if own.len() > 1 {
                    found.clear();
                    if let Place::Found(place) = table.place(suffix) {
                        runs.append(owners[place], &mut found);
                    }
                    if found == words[1..] {
                        head = head.linked();
                    } else {
                        head = head.spelled();
                        list.keep_spelling(id, &own);
                    }
                }
                table.set_head(slot, head);
                table.set_suffix(slot, suffix);
            }
        }
        list.ids = ids;
        self.keep_terms(list);
    }
}

/// Whether all words are such as the standard tokenizer makes.
fn has_plain_words(runs: &impl Runs) -> bool {
    (0u32..).take(runs.words()).all(|word| {
        let (bytes, _) = runs.word(word);
        bytes.len() < WORD_WINDOW && !bytes.iter().any(|&byte| byte == 0 || byte == BOUNDARY)
    })
}

/// The number of a word in `list`.
fn term(runs: &impl Runs, word: u32, list: &mut TermList) -> TermId {
    let (bytes, medium) = runs.word(word);
    let mut window = [0; WORD_WINDOW];
    window[..bytes.len()].copy_from_slice(bytes);
    list.intern(Word::new(&window, bytes.len()), medium)
}

impl Counter {
    fn takes_runs(&self) -> bool {
        let state = self.state();
        let is_empty = state.used == 0
            && state.total == 0
            && matches!(&state.tokens, TokenList::Texts(texts) if texts.is_empty());
        is_empty && !state.is_multinomial() && !self.is_muted() && !self.keeps_samples()
    }
}
