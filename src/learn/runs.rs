// SPDX-License-Identifier: GPL-3.0-or-later
//! Counts n-grams that come once each, with all their occurrences, as counts files have them.
//!
//! ```text
//! numbers of words ─→ ids ─→ slots, many at a time ─→ links to suffixes
//! ```

use super::counter::Counter;
use super::table::AHEAD;
use super::tokens::{TermList, TokenList};
use super::words::LookAhead;
use crate::alloc_hints::prefetch;
use crate::model::medium::Medium;
use crate::token::BOUNDARY;
use crate::token::id::{FeatureId, GrowingHash, HASH_PADDING};
use crate::token::lexicon::TermId;
use crate::token::ngram_line::Position;
use crate::token::word::{WORD_WINDOW, Word};
use std::ops::Range;

/// The n-gram without words.
pub(crate) const NO_WORDS: u32 = u32::MAX;

/// Most words of an n-gram.
const LONGEST: usize = 7;

/// Counts n-grams in order of first appearance, longest first where they end in the same word. Each
/// is named by the n-gram without its last word, and by that word.
///
/// The counts are those that [`Counter::count_times`] gives for the n-grams' texts.
pub(crate) struct RunCounter<'c> {
    counter: &'c mut Counter,
    list: TermList,
    /// For each n-gram its beginning and its last word.
    runs: Vec<(u32, TermId)>,
    batch: Batch,
    ahead: LookAhead,
}

/// N-grams that wait.
#[derive(Default)]
struct Batch {
    /// Their numbers, and how often each is counted.
    runs: Vec<(u32, u32)>,
    spots: Vec<Spot>,
    words: Vec<TermId>,
    ids: Vec<FeatureId>,
    text: Vec<u8>,
}

/// A word at which n-grams end.
#[derive(Default)]
struct Spot {
    /// Where the words of the longest are.
    words: Range<usize>,
    /// Where the ids of its suffixes of several words are, its own first.
    ids: Range<usize>,
    /// The order of the shortest that is counted.
    shortest: usize,
    /// How often each is counted, by order.
    times: [u32; LONGEST + 1],
}

impl Batch {
    const RUNS: usize = 4 * AHEAD;

    /// Finds the words of the n-grams. They are counted at the last spot if its n-grams so far are
    /// longer and end in these words, or else at a new one.
    fn find_words(&mut self, runs: &[(u32, TermId)], list: &TermList) {
        for &(run, times) in &self.runs {
            let mut path = [TermId(0); LONGEST];
            let (mut start, mut at) = (LONGEST, run);
            while let Some(&(beginning, word)) = runs.get(at as usize) {
                start -= 1;
                path[start] = word;
                at = beginning;
            }
            let (words, length) = (&path[start..], LONGEST - start);
            let is_suffix = |spot: &&mut Spot| {
                length < spot.shortest && self.words[spot.words.clone()].ends_with(words)
            };
            if let Some(spot) = self.spots.last_mut().filter(is_suffix) {
                spot.shortest = length;
                spot.times[length] = times;
                continue;
            }
            for &word in words {
                list.lexicon.prefetch(word);
            }
            let start = self.words.len();
            self.words.extend_from_slice(words);
            let words = start..self.words.len();
            let mut spot = Spot { words, shortest: length, ..Spot::default() };
            spot.times[length] = times;
            self.spots.push(spot);
        }
        self.runs.clear();
    }

    /// Computes the ids of all suffixes of several words.
    fn hash(&mut self, list: &TermList) {
        let Self { spots, words, ids, text, .. } = self;
        for spot in spots {
            let words = &words[spot.words.clone()];
            let start_of_ids = ids.len();
            if let [longer @ .., last] = words
                && !longer.is_empty()
            {
                let medium = list.lexicon.medium(*last);
                let (mut starts, mut known) = ([0; LONGEST], 0);
                list.text_with_starts(words, text, |start| {
                    starts[known] = start;
                    known += 1;
                });
                let end = text.len();
                text.resize(end + HASH_PADDING, 0);
                ids.extend(starts[..longer.len()].iter().map(|&start| {
                    let hash = GrowingHash::new(start).upto(text, end);
                    FeatureId::from_body_hash(hash, medium)
                }));
            }
            spot.ids = start_of_ids..ids.len();
        }
    }
}

impl<'c> RunCounter<'c> {
    /// A counter of n-grams into `counter`; `None` if that is not empty or may drop n-grams.
    pub(crate) fn new(counter: &'c mut Counter) -> Option<Self> {
        let state = &counter.state;
        let is_empty = state.used == 0
            && state.total == 0
            && matches!(&state.tokens, TokenList::Texts(texts) if texts.is_empty());
        let drops = counter.is_muted() || counter.samples || counter.decimation.is_some();
        (is_empty && !drops && !state.is_multinomial()).then(|| Self {
            list: TermList { is_unordered: counter.forgets_appearances, ..TermList::default() },
            runs: Vec::new(),
            batch: Batch::default(),
            ahead: LookAhead::default(),
            counter,
        })
    }

    /// Adds a word, whose number is how many were added before it. Returns whether it is new and
    /// one that the standard tokenizer can make.
    pub(crate) fn word(&mut self, bytes: &[u8], medium: Medium) -> bool {
        if bytes.len() >= WORD_WINDOW || bytes.iter().any(|&byte| byte == 0 || byte == BOUNDARY) {
            return false;
        }
        let mut window = [0; WORD_WINDOW];
        window[..bytes.len()].copy_from_slice(bytes);
        let known = self.list.lexicon.size();
        self.list.intern(Word::new(&window, bytes.len()), medium).index() == known
    }

    /// Adds an n-gram: the one that was added as number `beginning`, or [`NO_WORDS`], followed by
    /// `word`. The caller makes sure that it has at most seven words, and that its word and
    /// its beginning have been added before.
    pub(crate) fn add(&mut self, beginning: u32, word: u32) {
        self.runs.push((beginning, TermId(word)));
    }

    /// Counts the n-gram with this number so many times. The caller makes sure that no counter runs
    /// over.
    pub(crate) fn count(&mut self, run: u32, times: u32) {
        if times == 0 {
            return;
        }
        if self.batch.runs.len() == Batch::RUNS {
            self.count_batch();
        }
        prefetch(&self.runs, self.runs[run as usize].0 as usize);
        self.batch.runs.push((run, times));
    }

    /// Counts the n-grams that wait.
    fn count_batch(&mut self) {
        let Self { counter, list, runs, batch, ahead } = self;
        batch.find_words(runs, list);
        batch.hash(list);
        ahead.clear();
        for spot in &batch.spots {
            let ids = &batch.ids[spot.ids.clone()];
            let position = Position::of(&batch.words[spot.words.clone()], ids);
            let table = &counter.state.table;
            let places = ahead.places(spot.ids.start, ids.len(), &batch.ids, table);
            counter.count_run(&position, places, &spot.times, list);
        }
        batch.spots.clear();
        batch.words.clear();
        batch.ids.clear();
    }

    /// Ends counting.
    pub(crate) fn finish(mut self) {
        self.count_batch();
        self.counter.count_characters(&self.list);
        self.counter.state.tokens = TokenList::Terms(Box::new(self.list));
    }
}
