// SPDX-License-Identifier: GPL-3.0-or-later
//! Words → n-grams → counts, without spelling the n-grams out.
//!
//! Words are numbered once; n-grams that begin at one word grow by a word at a time, so that their
//! hashes do; the ids of a line are known before its look-ups begin, so that those overlap. What is
//! counted, and in which order, is what [`Counter::count`] would do with each n-gram's text.

use super::count::Counter;
use super::table::{Head, Place};
use super::tokens::{TermList, TermUse, TokenList};
use crate::error::WarningSink;
use crate::model::medium::Medium;
use crate::token::BOUNDARY;
use crate::token::id::{FeatureId, GrowingHash, HASH_PADDING};
use crate::token::lexicon::TermId;
use crate::token::tokenizer::{Word, WordSink};

/// Look-ups whose memory is asked for at once.
const AHEAD: usize = 64;

/// The words that n-grams are made of.
#[derive(Debug)]
pub struct WordEngine {
    order: usize,
    /// Single words are only counted per word while reading, and go into the table at the end: what
    /// the table makes of them depends on the order of their first appearance only.
    defer: bool,
    /// Words waiting to be counted, behind those that only complete n-grams.
    line: Vec<TermId>,
    /// Their order-1 ids.
    singles: Vec<FeatureId>,
    /// Their text, between boundary marks.
    text: Vec<u8>,
    /// For each of them the hash of the n-gram that begins there and grows.
    hashes: Vec<GrowingHash>,
    /// How many of `line` only complete n-grams.
    carried: usize,
    /// Occurrences that the counters still have room for; only when deferring.
    budget: u32,
    /// Ids of the line's n-grams.
    ids: Vec<FeatureId>,
}

/// The n-grams that end in one word of a line.
#[derive(Debug, Clone, Copy)]
struct Position<'a> {
    /// The words up to this one.
    words: &'a [TermId],
    /// Ids of the n-grams that are not blank, longest first.
    ids: &'a [FeatureId],
    /// Length of the longest.
    longest: usize,
}

impl Position<'_> {
    /// Orders of the n-grams, longest first.
    fn orders(&self) -> impl DoubleEndedIterator<Item = usize> + use<> {
        (self.longest + 1 - self.ids.len()..=self.longest).rev()
    }

    /// The id of the n-gram of `order` words.
    fn id(&self, order: usize) -> FeatureId {
        self.ids[self.longest - order]
    }

    /// The words of the n-gram of `order` words.
    fn terms(&self, order: usize) -> &[TermId] {
        &self.words[self.words.len() - order..]
    }
}

impl WordEngine {
    /// Words for n-grams of up to `order`, when `counted` occurrences are known already.
    pub(super) fn new(order: u8, defer: bool, counted: u32) -> Self {
        Self {
            order: usize::from(order),
            defer,
            line: Vec::new(),
            singles: Vec::new(),
            text: vec![BOUNDARY],
            hashes: Vec::new(),
            carried: 0,
            budget: u32::MAX - counted,
            ids: Vec::new(),
        }
    }

    /// N-grams begin anew.
    pub(super) fn forget(&mut self) {
        self.line.clear();
        self.singles.clear();
        self.text.truncate(1);
        self.hashes.clear();
        self.carried = 0;
    }

    /// Adds a word to those that wait.
    #[inline]
    fn push(&mut self, word: Word<'_>, term: TermId, single: FeatureId) {
        self.line.push(term);
        self.singles.push(single);
        self.hashes.push(GrowingHash::new(self.text.len() - 1));
        word.append_to(&mut self.text);
        self.text.push(BOUNDARY);
    }

    /// Keeps only the last words, to complete the n-grams of the next ones.
    fn carry(&mut self) {
        let keep = (self.order - 1).min(self.line.len());
        let gone = self.line.len() - keep;
        let from = self.hashes.get(gone).map_or(self.text.len() - 1, GrowingHash::start);
        self.line.drain(..gone);
        self.singles.drain(..gone);
        self.text.drain(..from);
        self.hashes.drain(..gone);
        for hash in &mut self.hashes {
            *hash = GrowingHash::new(hash.start() - from);
        }
        self.carried = keep;
    }

    /// Whether a waiting word is empty.
    fn is_blank(&self, at: usize) -> bool {
        let next = self.hashes.get(at + 1).map_or(self.text.len() - 1, GrowingHash::start);
        next == self.hashes[at].start() + 1
    }

    /// Works out the ids of all n-grams that end in the waiting words; blank ones have none.
    fn hash_line(&mut self, medium: Medium) {
        let end_of_text = self.text.len();
        self.text.resize(end_of_text + HASH_PADDING, 0);
        self.ids.clear();
        let mut blanks = 0;
        for at in 0..self.line.len() {
            let next = self.hashes.get(at + 1).map_or(end_of_text - 1, GrowingHash::start);
            blanks = if next == self.hashes[at].start() + 1 { blanks + 1 } else { 0 };
            if at < self.carried {
                continue;
            }
            let longest = (at + 1).min(self.order);
            for order in (blanks.max(1) + 1..=longest).rev() {
                let hash = self.hashes[at + 1 - order].upto(&self.text, next + 1);
                self.ids.push(FeatureId::from_body_hash(hash, medium));
            }
            if blanks == 0 {
                self.ids.push(self.singles[at]);
            }
        }
        self.text.truncate(end_of_text);
    }
}

impl Counter {
    /// Where the tokenizer's words of `medium` go, up to the end of the text line.
    pub fn words<'a>(&'a mut self, medium: Medium, warnings: WarningSink<'a>) -> CountedWords<'a> {
        CountedWords { counter: self, medium, warnings }
    }

    /// Counts the words that wait; to be called behind each line of text.
    pub fn end_of_words(&mut self, warnings: WarningSink<'_>) {
        let Some(mut engine) = self.engine.take() else { return };
        let TokenList::Terms(mut list) =
            std::mem::replace(&mut self.state.tokens, TokenList::Texts(Vec::new()))
        else {
            return;
        };
        if !engine.defer && engine.line.len() > engine.carried {
            self.count_line(&mut engine, &mut list, warnings);
        }
        self.state.tokens = TokenList::Terms(list);
        self.engine = Some(engine);
    }

    fn count_line(
        &mut self,
        engine: &mut WordEngine,
        list: &mut TermList,
        warnings: WarningSink<'_>,
    ) {
        if engine.order == 1 {
            for &term in &engine.line {
                self.count_single(term, list, warnings);
            }
            engine.line.clear();
        } else {
            let medium = engine.line.first().map_or(Medium::TEXT, |&t| list.lexicon.medium(t));
            engine.hash_line(medium);
            let plain = self.is_plain(engine.ids.len());
            let (mut from, mut touched, mut blanks) = (0, 0, 0);
            for at in 0..engine.line.len() {
                blanks = if engine.is_blank(at) { blanks + 1 } else { 0 };
                if at < engine.carried {
                    continue;
                }
                let longest = (at + 1).min(engine.order);
                let to = from + longest.saturating_sub(blanks);
                if touched < to {
                    touched = (from + AHEAD).max(to).min(engine.ids.len());
                    std::hint::black_box(self.state.table.touch(&engine.ids[from..touched]));
                }
                let ids = &engine.ids[from..to];
                from = to;
                let position = Position { words: &engine.line[..=at], ids, longest };
                self.count_position(position, plain, list, warnings);
            }
            engine.carry();
        }
    }

    fn count_single(&mut self, term: TermId, list: &mut TermList, warnings: WarningSink<'_>) {
        if self.is_deaf() || !self.draws() {
            return;
        }
        let id = list.uses[term.index()].id;
        let (place, new) = self.place(id, Head::new(1, term.0), FeatureId(0), warnings);
        if new {
            list.ids.push(id);
        }
        if let Some(at) = place {
            self.add_occurrences(at, 1, warnings);
        }
        list.uses[term.index()].add();
    }

    /// Whether the next `features` can be counted without a look at limits, documents or chance.
    fn is_plain(&self, features: usize) -> bool {
        let total = u64::from(self.state.total) + features as u64;
        let undecided = self.is_deaf() || self.decimates() || self.state.measures_entropy();
        !undecided && total < u64::from(u32::MAX)
    }

    /// Counts the n-grams that end in one word, longest first.
    fn count_position(
        &mut self,
        position: Position<'_>,
        plain: bool,
        list: &mut TermList,
        warnings: WarningSink<'_>,
    ) {
        let mut any_new = false;
        for order in position.orders() {
            let first = position.terms(order)[0];
            if plain && let Some(of) = self.state.table.count_known(position.id(order)) {
                self.state.total += 1;
                self.state.total_of[usize::from(of)] += 1;
            } else if plain || (!self.is_deaf() && self.draws()) {
                any_new |= self.count_ngram(&position, order, list, warnings);
            } else {
                continue;
            }
            if order == 1 {
                list.uses[first.index()].add();
            }
        }
        if any_new {
            self.link(&position, list);
        }
    }

    /// Counts one n-gram; returns whether it is new and has a suffix.
    fn count_ngram(
        &mut self,
        position: &Position<'_>,
        order: usize,
        list: &mut TermList,
        warnings: WarningSink<'_>,
    ) -> bool {
        let id = position.id(order);
        let first = position.terms(order)[0];
        let suffix = if order == 1 {
            FeatureId(0)
        } else if position.longest - order + 1 < position.ids.len() {
            position.id(order - 1)
        } else {
            blank(order - 1, list.lexicon.medium(first))
        };
        #[allow(clippy::cast_possible_truncation)] // at most 7
        let head = Head::new(order as u8, first.0);
        let (place, new) = self.place(id, head, suffix, warnings);
        if new {
            list.ids.push(id);
        }
        if let Some(at) = place {
            self.add_occurrences(at, 1, warnings);
        }
        new && order > 1
    }

    /// Links the new n-grams that end in one word to their suffixes, from the shortest up. A slot is
    /// known to hold an n-gram when it holds its first word and its suffix's id, and is linked to a
    /// suffix that is known. New ones that cannot be linked are spelled out.
    fn link(&mut self, position: &Position<'_>, list: &mut TermList) {
        let mut known = false;
        let mut suffix = FeatureId(0);
        for order in position.orders().rev() {
            let id = position.id(order);
            let Place::Found(slot) = self.state.table.place(id) else {
                (known, suffix) = (false, id);
                continue;
            };
            let cell = &mut self.state.table.cells_mut()[slot];
            let head = cell.head;
            let first = position.terms(order)[0];
            let is_this = usize::from(head.order()) == order && head.payload() == first.0;
            known = if order == 1 {
                is_this
            } else if is_this && head.is_linked() {
                known && cell.suffix == suffix
            } else if is_this && list.spelling(id).is_none() {
                // Neither linked nor spelled: it came just now.
                if known {
                    cell.head = head.linked();
                } else {
                    list.keep_spelling(id, position.terms(order));
                }
                known
            } else {
                false
            };
            suffix = id;
        }
    }

    /// Puts deferred words into the table, and all words' characters into the digrams.
    pub(super) fn finish_words(&mut self, warnings: WarningSink<'_>) {
        self.end_of_words(warnings);
        let Some(engine) = self.engine.take() else { return };
        let TokenList::Terms(mut list) =
            std::mem::replace(&mut self.state.tokens, TokenList::Texts(Vec::new()))
        else {
            return;
        };
        let mut body = Vec::new();
        for at in 0..list.uses.len() {
            let TermUse { id, times } = list.uses[at];
            let term = TermId(u32::try_from(at).expect("terms are numbered in 32 bits"));
            if times == 0 {
                continue;
            }
            if engine.defer {
                let (place, new) = self.place(id, Head::new(1, term.0), FeatureId(0), warnings);
                if new {
                    list.ids.push(id);
                }
                if let Some(at) = place {
                    self.add_occurrences(at, times, warnings);
                }
            }
            list.text(&[term], &mut body);
            self.state.characters.count_times(&body, times);
        }
        // Occurrences of known n-grams were counted without a look at the largest count.
        self.state.max_count = self.state.max_count.max(self.state.table.max_count());
        self.state.tokens = TokenList::Terms(list);
    }
}

/// The id of a feature of `order` empty words; it is never in a table of its own right.
fn blank(order: usize, medium: Medium) -> FeatureId {
    FeatureId::of(&[BOUNDARY; 9][..=order.min(8)], medium)
}

/// The words of a line on their way into the counts.
pub struct CountedWords<'a> {
    counter: &'a mut Counter,
    medium: Medium,
    warnings: WarningSink<'a>,
}

impl WordSink for CountedWords<'_> {
    #[inline]
    fn word(&mut self, word: Word<'_>) {
        let Some(engine) = &mut self.counter.engine else { return };
        let TokenList::Terms(list) = &mut self.counter.state.tokens else { return };
        if engine.order == 1 && word.is_empty() {
            return;
        }
        let term = list.intern(word, self.medium);
        let uses = &mut list.uses[term.index()];
        if engine.order > 1 {
            engine.push(word, term, uses.id);
        } else if !engine.defer {
            engine.line.push(term);
        } else if engine.budget > 0 {
            engine.budget -= 1;
            uses.times += 1;
        }
    }

    fn end_of_line(&mut self) {
        self.counter.end_of_words(self.warnings);
        if let Some(engine) = &mut self.counter.engine {
            engine.forget();
        }
    }
}
