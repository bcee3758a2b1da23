// SPDX-License-Identifier: GPL-3.0-or-later
//! Words → scores: what a word adds under each category is worked out once.
//!
//! A word's weight, reference weight and log-partition make one f64 per category; the sums over the
//! document's tokens run in token order, as [`Scorer::score`] does them.

use super::scorer::Scorer;
use crate::error::WarningSink;
use crate::model::medium::Medium;
use crate::numeric::elementary::narrow;
use crate::token::id::FeatureId;
use crate::token::lexicon::{Lexicon, TermId, WaitingWords};
use crate::token::ngram_line::NgramLine;
use crate::token::tokenizer::{WORD_WINDOW, Word, WordSink};
use crate::token::{BOUNDARY, Feature};

/// Words that are kept at most, so that memory stays bounded on an endless input.
const KEPT: usize = 1 << 18;

/// Words as categories see them.
#[derive(Debug)]
pub struct WordScores {
    lexicon: Lexicon,
    line: NgramLine,
    /// Words that have not been numbered yet.
    waiting: WaitingWords,
    /// Single words that wait, when there are no n-grams.
    singles: Vec<TermId>,
    /// By term: its order-1 id, and its occurrences since they were last added to the tallies.
    uses: Vec<(FeatureId, u32)>,
    /// Terms with such occurrences.
    used: Vec<TermId>,
    /// By term, then by category: what the word adds to the score, nats.
    steps: Vec<f64>,
    /// By term, then by category: whether the category does not know the word.
    missed: Vec<bool>,
    /// Whether squares of token scores are wanted.
    squares: bool,
    /// Ids of the document's tokens, while the table of empirical counts need not be filled; only
    /// when the entropy is measured.
    pending: Option<Vec<FeatureId>>,
    /// Whether the document has become too long for that.
    counting: bool,
}

impl WordScores {
    /// Forgets what categories make of words, because there are other categories now.
    pub(super) fn reset(&mut self) {
        let waiting = std::mem::replace(&mut self.line, NgramLine::new(1));
        let order = u8::try_from(waiting.order()).unwrap_or(7);
        self.line = NgramLine::new(order);
        self.lexicon = Lexicon::default();
        self.uses.clear();
        self.steps.clear();
        self.missed.clear();
    }
}

impl Scorer {
    /// Prepares to score words for n-grams of up to `order`, with their squares or without. Returns
    /// whether that is possible: not with categories whose terms depend on the document so far
    /// (`entropy` is wanted, or a model is multinomial and counts the document's words).
    pub fn expect_words(&mut self, order: u8, squares: bool, entropy: bool) -> bool {
        let counts = self.measures_entropy();
        let multinomial = self.models().iter().any(super::model::Model::is_multinomial);
        let patterns = self.models().iter().any(|model| !model.patterns.is_empty());
        if patterns || (counts && (entropy || multinomial)) {
            return false;
        }
        self.words = Some(Box::new(WordScores {
            lexicon: Lexicon::default(),
            line: NgramLine::new(order),
            waiting: WaitingWords::default(),
            singles: Vec::new(),
            uses: Vec::new(),
            used: Vec::new(),
            steps: Vec::new(),
            missed: Vec::new(),
            squares,
            pending: counts.then(Vec::new),
            counting: false,
        }));
        true
    }

    /// Where the tokenizer's words of `medium` go, up to the end of the text line.
    pub fn words<'a>(&'a mut self, medium: Medium, warnings: WarningSink<'a>) -> ScoredWords<'a> {
        ScoredWords { scorer: self, medium, warnings }
    }

    /// Scores the words that wait; to be called behind each line of text.
    pub fn end_of_words(&mut self, warnings: WarningSink<'_>) {
        let Some(mut words) = self.words.take() else { return };
        if !words.waiting.is_empty() {
            self.number_words(&mut words);
        }
        if !words.singles.is_empty() {
            self.score_singles(&mut words, warnings);
        }
        if words.line.is_waiting() {
            self.score_line(&mut words, warnings);
        }
        self.words = Some(words);
    }

    /// N-grams begin anew, as at the end of a file.
    pub fn forget_words(&mut self) {
        if let Some(words) = &mut self.words {
            words.line.clear();
        }
    }

    /// Brings counts of features, misses and media up to date with the words scored; to be called
    /// before results are made.
    pub fn settle_words(&mut self) {
        let Some(mut words) = self.words.take() else { return };
        let models = self.models().len();
        for term in words.used.drain(..) {
            let (_, times) = words.uses[term.index()];
            words.uses[term.index()].1 = 0;
            let medium = words.lexicon.medium(term).index();
            let missed = &words.missed[term.index() * models..][..models];
            for (tally, &missed) in self.tallies_mut().iter_mut().zip(missed) {
                tally.features = tally.features.wrapping_add(times);
                tally.misses = tally.misses.wrapping_add(if missed { times } else { 0 });
                tally.media[medium] = tally.media[medium].wrapping_add(times);
            }
        }
        self.words = Some(words);
    }

    /// A document begins.
    pub(super) fn start_words(&mut self) {
        if let Some(words) = &mut self.words {
            words.counting = false;
            if let Some(pending) = &mut words.pending {
                pending.clear();
            }
        }
    }

    /// Numbers the words that wait, and works out what new ones add.
    fn number_words(&self, words: &mut WordScores) {
        let WordScores { waiting, lexicon, line, singles, uses, .. } = words;
        let known = uses.len();
        let makes_ngrams = line.order() > 1;
        waiting.number(lexicon, |term, new, word, medium| {
            if new {
                uses.push((word_id(word, medium), 0));
            }
            if makes_ngrams {
                line.push(word, term);
            } else {
                singles.push(term);
            }
        });
        self.learn_words(words, known);
    }

    fn score_singles(&mut self, words: &mut WordScores, warnings: WarningSink<'_>) {
        let mut singles = std::mem::take(&mut words.singles);
        for &term in &singles {
            if self.may_score(words, words.uses[term.index()].0, warnings) {
                self.add_word(words, term);
            }
        }
        singles.clear();
        words.singles = singles;
    }

    /// Adds what a word adds under each category.
    #[inline]
    fn add_word(&mut self, words: &mut WordScores, term: TermId) {
        let models = self.models().len();
        let steps = &words.steps[term.index() * models..][..models];
        let squares = words.squares;
        let (deltas, tallies) = self.deltas_and_tallies();
        for ((tally, &step), &delta) in tallies.iter_mut().zip(steps).zip(deltas) {
            let old = tally.score;
            tally.complexity += delta;
            tally.score += step;
            if squares {
                let change = tally.score - f64::from(narrow(old));
                tally.squares += change * change;
            }
        }
        let (_, times) = &mut words.uses[term.index()];
        if *times == 0 {
            words.used.push(term);
        }
        *times += 1;
    }

    fn score_line(&mut self, words: &mut WordScores, warnings: WarningSink<'_>) {
        let mut line = std::mem::replace(&mut words.line, NgramLine::new(1));
        let medium = line.words().first().map_or(Medium::TEXT, |&t| words.lexicon.medium(t));
        line.hash(medium);
        for model in self.models() {
            model.prefetch(line.ids().iter().copied());
        }
        for (_, position) in line.positions() {
            for (order, &id) in position.orders().zip(position.ids()) {
                if self.may_score(words, id, warnings) {
                    self.add_ngram(id, order);
                }
            }
            if let Some(term) = position.single()
                && self.may_score(words, words.uses[term.index()].0, warnings)
            {
                self.add_word(words, term);
            }
        }
        line.carry();
        words.line = line;
    }

    /// Adds what an n-gram of several words adds under the categories that have such.
    fn add_ngram(&mut self, id: FeatureId, order: usize) {
        let (models, tallies) = self.models_and_tallies();
        for (model, tally) in models.iter().zip(tallies) {
            if order > usize::from(model.max_order()) {
                continue;
            }
            let slot = model.find(id);
            let lambda = slot.map_or(0.0, |slot| slot.weight.weight());
            tally.features = tally.features.wrapping_add(1);
            tally.complexity += model.delta();
            tally.score += f64::from(lambda) - model.renorm();
            if slot.is_none_or(|slot| slot.id.0 == 0) {
                tally.misses = tally.misses.wrapping_add(1);
            }
        }
    }

    /// Whether a token is scored. While the document's tokens are too few to fill the table of
    /// empirical counts they are only remembered: nobody asks for the counts themselves.
    #[inline]
    fn may_score(
        &mut self,
        words: &mut WordScores,
        id: FeatureId,
        warnings: WarningSink<'_>,
    ) -> bool {
        let Some(pending) = &mut words.pending else { return true };
        if !words.counting && self.remembers(pending.len()) {
            pending.push(id);
            return true;
        }
        words.counting = true;
        for id in pending.drain(..) {
            self.count_empirically(id, &mut |_| {});
        }
        self.count_empirically(id, warnings)
    }
}

/// The words of a line on their way into the scores.
pub struct ScoredWords<'a> {
    scorer: &'a mut Scorer,
    medium: Medium,
    warnings: WarningSink<'a>,
}

impl WordSink for ScoredWords<'_> {
    #[inline]
    fn word(&mut self, word: Word<'_>) {
        let Some(words) = &mut self.scorer.words else { return };
        let single = words.line.order() == 1;
        if single && word.is_empty() {
            return;
        }
        if words.waiting.push(word, self.medium) {
            return;
        }
        if single {
            self.scorer.end_of_words(self.warnings);
            self.scorer.limit_words();
        } else {
            self.scorer.number_ngram_words(self.warnings);
        }
    }

    fn end_of_line(&mut self) {
        self.scorer.end_of_words(self.warnings);
        self.scorer.forget_words();
        self.scorer.limit_words();
    }
}

impl Scorer {
    /// Forgets the words known so far if there are too many; none may be waiting.
    fn limit_words(&mut self) {
        if self.words.as_ref().is_some_and(|words| words.lexicon.len() >= KEPT) {
            self.settle_words();
            if let Some(words) = &mut self.words {
                words.reset();
            }
        }
    }

    /// Numbers words that may be part of n-grams, and scores those if they are many.
    fn number_ngram_words(&mut self, warnings: WarningSink<'_>) {
        let Some(mut words) = self.words.take() else { return };
        self.number_words(&mut words);
        let is_long = words.line.is_long();
        self.words = Some(words);
        if is_long {
            self.end_of_words(warnings);
        }
    }

    /// Works out what words add under each category: those that were numbered from `known` on.
    fn learn_words(&self, words: &mut WordScores, known: usize) {
        let WordScores { lexicon, uses, steps, missed, .. } = words;
        // All look-ups wait for memory together.
        for model in self.models() {
            let ids = uses[known..].iter().map(|&(id, _)| id);
            model.prefetch(ids);
        }
        for (term, &(id, _)) in uses.iter().enumerate().skip(known) {
            let term = TermId(u32::try_from(term).expect("terms are numbered in 32 bits"));
            let (window, length) = lexicon.word(term);
            let mut buffer = [BOUNDARY; WORD_WINDOW + 1];
            buffer[1..=length].copy_from_slice(&window[..length]);
            let body = &buffer[..length + 2];
            let feature = Feature { body, medium: lexicon.medium(term), order: 1, pattern: None };
            for model in self.models() {
                let slot = if model.applies(&feature) { model.find(id) } else { None };
                let lambda = slot.map_or(0.0, |slot| slot.weight.weight());
                steps.push(f64::from(lambda + model.log_reference(body)) - model.renorm());
                missed.push(slot.is_none_or(|slot| slot.id.0 == 0));
            }
        }
    }
}

/// The order-1 id of a word.
fn word_id(word: Word<'_>, medium: Medium) -> FeatureId {
    let mut body = [BOUNDARY; WORD_WINDOW + 1];
    body[1..=word.len()].copy_from_slice(word.bytes());
    FeatureId::of(&body[..word.len() + 2], medium)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::category::header::Header;
    use crate::model::digram::DigramTable;
    use crate::model::moments::Moments;
    use crate::model::settings::{ModelOptions, Scheme};
    use crate::numeric::quantize::QuantWeight;
    use crate::score::model::{Model, PatternSet};
    use crate::token::ngram::Window;
    use crate::token::tokenizer::Tokenizer;
    use proptest::prelude::*;

    /// A category whose features are those of `text`, with weights from their ids.
    fn model(text: &str, order: u8) -> Model {
        let bits = 10;
        let mut slots = vec![(FeatureId(0), QuantWeight(0)); 1 << bits];
        let mut window = Window::new(order);
        let mut add = |feature: Feature<'_>| {
            let id = FeatureId::of(feature.body, feature.medium);
            let mut at = id.0 as usize % slots.len();
            while slots[at].0.0 != 0 && slots[at].0 != id {
                at = (at + 1) % slots.len();
            }
            let weight = u16::try_from(id.0 >> 8 & 0x3ff).expect("ten bits");
            slots[at] = (id, QuantWeight(weight));
        };
        let mut tokenizer = Tokenizer::new(Scheme::Alpha, false, false, order);
        let mut sink = window.feeding(Medium::TEXT, &mut add);
        tokenizer.line(&mut text.as_bytes().to_vec(), &mut sink);
        let mut digrams = DigramTable::zero();
        for from in 3..256u16 {
            for to in 3..256u16 {
                let cost = f32::from((from * 7 + to * 13) % 200) / 32.0;
                digrams.set(usize::from(from), usize::from(to), -cost);
            }
        }
        let header = Header {
            reference_only: false,
            divergence: 0.0,
            log_partition: 12.345678,
            max_order: order,
            multinomial: false,
            bits,
            features: 10,
            unique_features: 10,
            documents: 0,
            moments: Moments::default(),
            log_masses: [0.0; 16],
            options: ModelOptions::default(),
            scheme: Some(Scheme::Alpha),
        };
        let mut bytes = Vec::new();
        crate::category::writer::write(&mut bytes, &header, b"x", &[], &digrams, slots.into_iter())
            .expect("a vector takes all");
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::io::Write::write_all(&mut file, &bytes).expect("room for it");
        let category = crate::category::mapped::open(file.path()).expect("just written");
        Model::learned(b"x".to_vec(), category, PatternSet::default())
    }

    proptest! {
        #[test]
        fn words_score_as_their_texts_do(
            texts in proptest::collection::vec("([a-d]{0,3} ){0,60}", 1..4),
            orders in proptest::collection::vec(1..4u8, 1..4),
            lines in proptest::collection::vec("([a-e]{0,3}[ .]){0,20}
    ", 1..12),
            bits in proptest::option::of(3..7u8),
            straddle: bool,
            breaks in 1..5usize,
        ) {
            let models = || -> Vec<Model> {
                orders.iter().zip(texts.iter().cycle()).map(|(&o, t)| model(t, o)).collect()
            };
            let order = orders.iter().copied().max().unwrap_or(1);
            let (mut fast, mut slow) = (Scorer::new(models(), bits), Scorer::new(models(), bits));
            prop_assert!(fast.expect_words(order, true, false));
            let mut tokenizer = Tokenizer::new(Scheme::Alpha, false, straddle, order);
            let mut spelling = tokenizer.clone();
            let mut window = Window::new(order);
            let (mut fast_warned, mut slow_warned) = (0, 0);
            for (number, line) in lines.iter().enumerate() {
                let mut text = line.clone().into_bytes();
                let warn = &mut |_| fast_warned += 1;
                tokenizer.line(&mut text, &mut fast.words(Medium::TEXT, warn));
                fast.end_of_words(warn);
                let mut feeding = window.feeding(Medium::TEXT, |feature: Feature<'_>| {
                    slow.score(&feature, &mut |_| slow_warned += 1);
                });
                spelling.line(&mut line.clone().into_bytes(), &mut feeding);
                fast.settle_words();
                for (fast, slow) in fast.tallies().iter().zip(slow.tallies()) {
                    prop_assert_eq!(fast.score.to_bits(), slow.score.to_bits());
                    prop_assert_eq!(fast.squares.to_bits(), slow.squares.to_bits());
                    prop_assert_eq!(fast.complexity.to_bits(), slow.complexity.to_bits());
                    prop_assert_eq!(fast.features, slow.features);
                    prop_assert_eq!(fast.misses, slow.misses);
                    prop_assert_eq!(fast.media, slow.media);
                }
                prop_assert_eq!(fast_warned, slow_warned);
                if number % breaks == 0 {
                    fast.start_document();
                    slow.start_document();
                }
            }
        }
    }
}
