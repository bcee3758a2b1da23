// SPDX-License-Identifier: GPL-3.0-or-later
//! Computes the ids of a line's n-grams without writing out their texts.
//!
//! The n-grams that begin at one word grow by one word at a time, and their hashes with them. All
//! ids of a line are known before the first is looked up, so that the look-ups overlap.

use super::BOUNDARY;
use super::id::{FeatureId, GrowingHash, HASH_PADDING};
use super::lexicon::TermId;
use super::word::Word;
use crate::model::medium::Medium;

/// The most words that are hashed at once.
const BLOCK: usize = 4096;

/// Words waiting, and the n-grams that end in them, with ids of the width `I`.
#[derive(Debug, Clone)]
pub(crate) struct NgramLine {
    order: usize,
    words: Vec<TermId>,
    /// Their text, between boundary marks.
    text: Vec<u8>,
    /// For each of them the hash of the n-gram that begins there and grows.
    hashes: Vec<GrowingHash>,
    /// The number of words at the beginning that only complete n-grams of later words.
    carried: usize,
    ids: Vec<FeatureId>,
}

/// The n-grams that end in one word of a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Position<'a> {
    /// The words up to this one.
    words: &'a [TermId],
    /// Ids of the n-grams of several words that are not blank, longest first.
    ids: &'a [FeatureId],
    /// Length of the longest.
    longest: usize,
    /// Whether the word itself is blank.
    is_blank: bool,
}

impl<'a> Position<'a> {
    /// The n-grams that end in the last of these words, blank ones, too; of those of several words
    /// the ids, longest first.
    pub(crate) fn of(words: &'a [TermId], ids: &'a [FeatureId]) -> Self {
        Self { words, ids, longest: words.len(), is_blank: false }
    }
}

impl Position<'_> {
    /// Orders of the n-grams of several words that are not blank, longest first.
    pub(crate) fn orders(&self) -> impl DoubleEndedIterator<Item = usize> + use<> {
        (self.longest + 1 - self.ids.len()..=self.longest).rev()
    }

    /// Ids of these n-grams.
    pub(crate) const fn ids(&self) -> &[FeatureId] {
        self.ids
    }

    /// The id of the n-gram of `order` words, if it is one of [`Self::orders`].
    pub(crate) fn id(&self, order: usize) -> Option<FeatureId> {
        self.ids.get(self.longest.checked_sub(order)?).copied()
    }

    /// The word itself, unless it is blank.
    pub(crate) fn single(&self) -> Option<TermId> {
        self.words.last().copied().filter(|_| !self.is_blank)
    }

    /// The words of the n-gram of `order` words.
    pub(crate) fn terms(&self, order: usize) -> &[TermId] {
        &self.words[self.words.len() - order..]
    }
}

impl NgramLine {
    /// An empty line, for n-grams of up to `order` words.
    pub(crate) fn new(order: u8) -> Self {
        Self {
            order: usize::from(order),
            words: Vec::new(),
            text: vec![BOUNDARY],
            hashes: Vec::new(),
            carried: 0,
            ids: Vec::new(),
        }
    }

    /// Longest n-gram.
    pub(crate) const fn order(&self) -> usize {
        self.order
    }

    /// Whether so many words wait that their n-grams should be hashed before the line ends, so that
    /// memory does not grow with the line.
    pub(crate) fn is_long(&self) -> bool {
        self.words.len() >= BLOCK
    }

    /// Whether there are words whose n-grams have not been hashed yet.
    pub(crate) fn is_waiting(&self) -> bool {
        self.words.len() > self.carried
    }

    /// All words: first those that only complete n-grams, then those that wait.
    pub(crate) fn words(&self) -> &[TermId] {
        &self.words
    }

    /// Forgets all words: n-grams begin again.
    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.text.truncate(1);
        self.hashes.clear();
        self.carried = 0;
    }

    /// Adds a word to those that wait.
    #[inline]
    pub(crate) fn push(&mut self, word: Word<'_>, term: TermId) {
        self.words.push(term);
        self.hashes.push(GrowingHash::new(self.text.len() - 1));
        word.append_to(&mut self.text);
        self.text.push(BOUNDARY);
    }

    /// Keeps only the last words, to complete the n-grams of the next ones.
    pub(crate) fn carry(&mut self) {
        let keep = (self.order - 1).min(self.words.len());
        let gone = self.words.len() - keep;
        let from = self.hashes.get(gone).map_or(self.text.len() - 1, GrowingHash::start);
        self.words.drain(..gone);
        self.text.drain(..from);
        self.hashes.drain(..gone);
        for hash in &mut self.hashes {
            *hash = GrowingHash::new(hash.start() - from);
        }
        self.carried = keep;
    }

    /// Whether the word at `at` is empty.
    fn is_blank(&self, at: usize) -> bool {
        let next = self.hashes.get(at + 1).map_or(self.text.len() - 1, GrowingHash::start);
        next == self.hashes[at].start() + 1
    }

    /// Works out the ids of all n-grams of several words in `medium` that end in the waiting words,
    /// and returns them: word by word, longest first. Blank ones have none.
    pub(crate) fn hash(&mut self, medium: Medium) -> &[FeatureId] {
        let end_of_text = self.text.len();
        self.text.resize(end_of_text + HASH_PADDING, 0);
        self.ids.clear();
        let mut blanks = 0;
        for at in 0..self.words.len() {
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
        }
        self.text.truncate(end_of_text);
        &self.ids
    }

    /// The waiting words one after the other, with the ids of [`Self::hash`] and how many of all
    /// ids come before.
    pub(crate) fn positions(&self) -> impl Iterator<Item = (usize, Position<'_>)> {
        let (mut from, mut blanks) = (0, 0);
        (0..self.words.len()).filter_map(move |at| {
            blanks = if self.is_blank(at) { blanks + 1 } else { 0 };
            if at < self.carried {
                return None;
            }
            let longest = (at + 1).min(self.order);
            let start = from;
            from += longest.saturating_sub(blanks.max(1));
            let (words, ids) = (&self.words[..=at], &self.ids[start..from]);
            Some((start, Position { words, ids, longest, is_blank: blanks > 0 }))
        })
    }

    /// All ids of [`Self::hash`].
    pub(crate) fn ids(&self) -> &[FeatureId] {
        &self.ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::settings::Scheme;
    use crate::token::Feature;
    use crate::token::lexicon::Lexicon;
    use crate::token::ngram::Window;
    use crate::token::tokenizer::Tokenizer;
    use crate::token::word::WordSink;
    use proptest::prelude::*;

    struct Sink<'a>(
        &'a mut NgramLine,
        &'a mut Lexicon,
        &'a mut Vec<FeatureId>,
        &'a mut Vec<FeatureId>,
    );

    impl Sink<'_> {
        fn drain(&mut self) {
            self.0.hash(Medium::TEXT);
            for (_, position) in self.0.positions() {
                self.2.extend(position.orders().map(|order| position.id(order).unwrap()));
                self.2.extend(position.single().map(|term| self.3[term.index()]));
            }
            self.0.carry();
        }
    }

    impl WordSink for Sink<'_> {
        fn word(&mut self, word: Word<'_>) {
            let body = [b"\x03", word.bytes(), b"\x03"].concat();
            let term = self.1.intern(word, Medium::TEXT);
            if term.index() == self.3.len() {
                self.3.push(FeatureId::of(&body, Medium::TEXT));
            }
            self.0.push(word, term);
        }
        fn end_of_line(&mut self) {
            self.drain();
            self.0.clear();
        }
    }

    proptest! {
        #[test]
        fn ids_are_those_of_the_texts(
            lines in proptest::collection::vec("([a-c]{0,9}[ .]){0,12}[a-z]{0,40}\n?", 1..5),
            order in 1..=7u8,
            straddle: bool,
        ) {
            let mut tokenizer = Tokenizer::new(Scheme::Alpha, false, straddle, order);
            let mut spelling = tokenizer.clone();
            let (mut line, mut lexicon) = (NgramLine::new(order), Lexicon::default());
            let mut window = Window::new(order);
            let (mut found, mut singles, mut expected) = (Vec::new(), Vec::new(), Vec::new());
            for text in lines {
                let mut sink = Sink(&mut line, &mut lexicon, &mut found, &mut singles);
                tokenizer.line(&mut text.clone().into_bytes(), &mut sink);
                sink.drain();
                let mut feeding = window.feeding(Medium::TEXT, |feature: Feature<'_>| {
                    expected.push(FeatureId::of(feature.body, feature.medium));
                });
                spelling.line(&mut text.into_bytes(), &mut feeding);
            }
            prop_assert_eq!(found, expected);
        }
    }
}
