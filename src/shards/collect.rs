// SPDX-License-Identifier: GPL-3.0-or-later
//! Counts the features of a shard.

use super::counts::{CountSettings, Counts, Documents, First, Known, ROOT, Shard};
use crate::alloc_hints::prefetch;
use crate::document::{Cutter, Ending, FeatureSink, LineState};
use crate::model::medium::Medium;
use crate::token::Feature;
use crate::token::lexicon::{Lexicon, TermId, TermUser, WaitingWords};
use crate::token::word::{WORD_WINDOW, Word, WordSink};
use std::io;

/// Longest n-gram.
const LONGEST: usize = 7;

/// Words that are counted together.
const TOGETHER: usize = 256;

/// Counts the features of several shards, one shard after the other.
#[derive(Debug, Clone)]
pub(crate) struct Counting {
    counts: Counts,
    /// The words with the same numbers as in `counts`, for a faster look-up.
    lexicon: Lexicon,
    /// Single words by their terms.
    singles: Vec<Single>,
    place: u32,
    ordinal: u32,
    /// Nodes of the n-grams that end in the last word counted, by their order.
    open: [u32; LONGEST + 1],
    /// Words that have no numbers yet.
    waiting: WaitingWords,
    /// Words that have numbers and are to be counted.
    numbered: Numbered,
    /// What is known of their n-grams, by order.
    known: [Vec<Known>; LONGEST + 1],
    /// Nodes of the document being read, in order: of first occurrence, or of all.
    document: Vec<u32>,
    /// Their occurrences by node, in bags; zeros between documents.
    times: Vec<u32>,
    /// Documents of the shard so far.
    documents: u64,
    packed: Vec<u8>,
    overflow: bool,
    was_in_header: bool,
}

/// Words by number, as n-grams end in them.
#[derive(Debug, Clone, Default)]
struct Numbered {
    words: Vec<Numbering>,
    /// Words of the window.
    length: u8,
    /// Empty words at the window's end.
    blanks: u8,
    order: u8,
}

/// A word.
#[derive(Debug, Clone, Copy)]
struct Numbering {
    term: u32,
    /// The order of the longest n-gram that ends in it.
    longest: u8,
    /// N-grams of up to so many words are blank.
    blanks: u8,
}

/// Numbers words for counts.
struct Numbers<'a> {
    numbered: &'a mut Numbered,
    counts: &'a mut Counts,
    singles: &'a [Single],
    overflow: &'a mut bool,
}

impl TermUser for Numbers<'_> {
    #[inline]
    fn expect(&self, term: TermId) {
        prefetch(self.singles, term.index());
    }

    fn add(&mut self, word: Word<'_>, medium: Medium) {
        let number = u32::try_from(self.counts.terms.size()).ok();
        let interned = self.counts.terms.intern(word.bytes(), medium.number());
        *self.overflow |= interned.is_none() || interned != number;
    }

    #[inline]
    fn take(&mut self, term: TermId, word: Word<'_>) {
        let Numbered { words, length, blanks, order } = &mut *self.numbered;
        *blanks = if word.is_empty() { blanks.saturating_add(1) } else { 0 };
        *length = (*length + 1).min(*order);
        words.push(Numbering { term: term.0, longest: *length, blanks: *blanks });
    }
}

/// A single word: its node, or [`ROOT`] if it has none yet, and the occurrences that have not been
/// added to the node yet.
#[derive(Debug, Clone, Copy)]
struct Single {
    node: u32,
    waiting: u32,
}

impl Counting {
    /// A counter of features without counts; with `is_placed` its shards have places.
    pub(crate) fn new(settings: CountSettings, is_placed: bool) -> Self {
        Self {
            numbered: Numbered { order: settings.order.clamp(1, 7), ..Numbered::default() },
            counts: Counts::new(settings, is_placed),
            lexicon: Lexicon::default(),
            singles: Vec::new(),
            place: 0,
            ordinal: 0,
            open: [ROOT; LONGEST + 1],
            waiting: WaitingWords::default(),
            known: Default::default(),
            document: Vec::new(),
            times: Vec::new(),
            documents: 0,
            packed: Vec::new(),
            overflow: false,
            was_in_header: false,
        }
    }

    /// Begins the shard of `place`, which must be greater than the places before it.
    pub(crate) fn start_shard(&mut self, place: u32) {
        self.place = place;
        self.ordinal = 0;
        self.was_in_header = false;
        self.forget();
    }

    /// Ends the shard.
    pub(crate) fn end_shard(&mut self, ending: Ending) {
        if self.is_by_patterns() {
            self.end_document();
        }
        self.count_words();
        let packed = std::mem::take(&mut self.packed);
        let documents = std::mem::take(&mut self.documents);
        self.counts.shards.push(Shard { place: self.place, ending, documents, packed });
    }

    /// Whether only regular expressions give features. Then the end of a file ends no document.
    fn is_by_patterns(&self) -> bool {
        !self.counts.settings.patterns.is_empty()
    }

    /// The counts; `None` if a number did not fit its width.
    pub(crate) fn into_counts(mut self) -> Option<Counts> {
        self.count_words();
        for single in &self.singles {
            if single.waiting > 0 {
                self.counts.add(single.node, u64::from(single.waiting))?;
            }
        }
        self.counts.settle().filter(|()| !self.overflow).map(|()| self.counts)
    }

    /// N-grams begin again.
    fn forget(&mut self) {
        self.number_words();
        self.numbered.length = 0;
        self.numbered.blanks = 0;
        if self.numbered.words.len() >= TOGETHER {
            self.count_words();
        }
    }

    fn number_words(&mut self) {
        let Self { waiting, lexicon, numbered, counts, singles, overflow, .. } = self;
        waiting.number(lexicon, &mut Numbers { numbered, counts, singles, overflow });
    }

    /// Counts the n-grams that end in the words that wait.
    fn count_words(&mut self) {
        self.number_words();
        let words = std::mem::take(&mut self.numbered.words);
        let mut known = std::mem::take(&mut self.known);
        // What is known of the n-grams, order by order, so that searches overlap.
        for order in 2..=usize::from(self.numbered.order) {
            let (shorter, longer) = known.split_at_mut(order);
            let before = |at: usize| match (at.checked_sub(1), order) {
                (None, _) => self.open[order - 1],
                (Some(at), 2) => {
                    let single = self.singles.get(words[at].term as usize);
                    single.map_or(ROOT, |single| single.node)
                }
                (Some(at), _) => shorter[order - 1][at].node,
            };
            let wanted = words.iter().enumerate().map(|(at, word)| {
                let has_parent = usize::from(word.longest) >= order;
                (if has_parent { before(at) } else { ROOT }, word.term)
            });
            self.counts.find_all(wanted, &mut longer[0]);
        }
        for (at, word) in words.iter().enumerate() {
            for order in (1..=usize::from(word.longest)).rev() {
                let counts = order > usize::from(word.blanks);
                self.open[order] = match order {
                    1 => self.single(word.term, counts),
                    _ => self.longer(known[order][at], self.open[order - 1], word.term, counts),
                };
            }
        }
        self.known = known;
        self.numbered.words = words;
        self.numbered.words.clear();
    }

    /// As [`Self::node`] for an n-gram of several words of which this is known.
    #[inline]
    fn longer(&mut self, known: Known, parent: u32, term: u32, counts: bool) -> u32 {
        if counts && self.counts.count_known(known) {
            self.note(known.node);
            return known.node;
        }
        self.node(parent, term, counts)
    }

    /// The node of `term` below `parent`, created if the term has not been seen there before. With
    /// `counts` one occurrence is added.
    #[inline]
    fn node(&mut self, parent: u32, term: u32, counts: bool) -> u32 {
        let first = First { place: self.place, ordinal: self.ordinal };
        let before = self.counts.nodes().len();
        let Some(node) = self.counts.child(parent, term, first, counts) else {
            self.overflow = true;
            return 0;
        };
        self.ordinal += u32::from(self.counts.nodes().len() > before);
        if counts {
            self.note(node);
        }
        node
    }

    /// As [`Self::node`] for a single word.
    #[inline]
    fn single(&mut self, term: u32, counts: bool) -> u32 {
        if let Some(single) = self.singles.get_mut(term as usize)
            && single.node != ROOT
            && single.waiting < u32::MAX
        {
            let node = single.node;
            single.waiting += u32::from(counts);
            if counts {
                self.note(node);
            }
            return node;
        }
        let node = self.node(ROOT, term, counts);
        if self.singles.len() <= term as usize {
            self.singles.resize(term as usize + 1, Single { node: ROOT, waiting: 0 });
        }
        // Occurrences beyond 2^32 - 1 are added to the node itself.
        self.singles[term as usize].node = node;
        node
    }

    /// Adds a feature to the document being read, if documents are kept.
    #[inline]
    fn note(&mut self, node: u32) {
        match self.counts.settings.documents {
            Documents::None => {}
            Documents::Sequences => self.document.push(node),
            Documents::Bags => {
                if self.times.len() <= node as usize {
                    self.times.resize(self.counts.nodes().len(), 0);
                }
                let times = &mut self.times[node as usize];
                if *times == 0 {
                    self.document.push(node);
                }
                self.overflow |= times.checked_add(1).is_none();
                *times = times.wrapping_add(1);
            }
        }
    }

    /// Counts a feature, given by its words, `times` times; returns false if a word is impossible.
    pub(crate) fn spelled<'w>(
        &mut self,
        words: impl Iterator<Item = &'w [u8]>,
        medium: Medium,
        times: u64,
    ) -> bool {
        let mut node = ROOT;
        for word in words {
            if word.len() >= WORD_WINDOW || word.contains(&0) {
                return false;
            }
            let Some(term) = self.counts.terms.intern(word, medium.number()) else {
                self.overflow = true;
                return false;
            };
            node = self.node(node, term, false);
        }
        if node == ROOT {
            return false;
        }
        self.overflow |= self.counts.add(node, times).is_none();
        true
    }

    #[inline]
    fn word(&mut self, word: Word<'_>, medium: Medium) {
        if self.numbered.order == 1 && word.is_empty() {
            return;
        }
        if !self.waiting.push(word, medium, &self.lexicon) {
            self.number_words();
            if self.numbered.words.len() >= TOGETHER {
                self.count_words();
            }
        }
    }

    fn end_document(&mut self) {
        if self.counts.settings.documents == Documents::None {
            return;
        }
        self.count_words();
        self.documents += 1;
        let entries = self.document.iter().map(|&node| {
            let times = self.times.get_mut(node as usize).map_or(1, std::mem::take);
            (node, u64::from(times))
        });
        self.counts.pack(entries, &mut self.packed);
        self.document.clear();
    }
}

impl FeatureSink for Counting {
    fn text(&mut self, _: &[u8], state: LineState, _: &mut Cutter) -> io::Result<()> {
        // A change into a header block begins a message.
        if state.in_header && !self.was_in_header {
            self.end_document();
        }
        self.was_in_header = state.in_header;
        Ok(())
    }

    fn cut(&mut self, line: &mut Vec<u8>, medium: Medium, cutter: &mut Cutter) -> io::Result<()> {
        cutter.captures(line, medium, &mut |feature| self.feature(feature));
        cutter.words(line, &mut WordsCounted { counting: self, medium });
        Ok(())
    }

    fn feature(&mut self, feature: Feature<'_>) {
        self.count_words();
        // A regular expression found it; its tag holds its order as well.
        let tag = feature.medium.number() | (feature.order & 7) << 4;
        match self.counts.terms.intern(feature.body, tag) {
            Some(term) => {
                self.node(ROOT, term, true);
            }
            None => self.overflow = true,
        }
    }

    fn end_of_source(&mut self, _: &[u8], _: &mut Cutter) -> io::Result<()> {
        self.forget();
        if !self.is_by_patterns() {
            self.end_document();
        }
        Ok(())
    }
}

/// Counts the words of one line.
struct WordsCounted<'a> {
    counting: &'a mut Counting,
    medium: Medium,
}

impl WordSink for WordsCounted<'_> {
    #[inline]
    fn word(&mut self, word: Word<'_>) {
        self.counting.word(word, self.medium);
    }

    fn end_of_line(&mut self) {
        self.counting.forget();
    }
}
