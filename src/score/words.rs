// SPDX-License-Identifier: GPL-3.0-or-later
//! Scores words: what a word adds to the score of each category is computed once.
//!
//! A word's weight, reference weight and log-partition make one f64 per category; the sums over the
//! document's tokens run in token order, as [`Scorer::score`] does them.

use super::empirical::Occurrence;
use super::model::Model;
use super::scorer::{Scorer, Tally};
use crate::alloc_hints::{make_room, prefetch};
use crate::model::medium::Medium;
use crate::token::id::FeatureId;
use crate::token::lexicon::{Lexicon, TermId, TermUser, WaitingWords};
use crate::token::ngram_line::NgramLine;
use crate::token::word::{WORD_WINDOW, Word, WordSink};
use crate::token::{BOUNDARY, Feature};
use dbacl_numeric::elementary::narrow;

/// The most words that are kept, so that memory stays bounded on an endless input.
const KEPT: usize = 1 << 18;

/// Which sums the results need, beside scores and complexities.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wanted {
    /// Squares of token scores.
    pub squares: bool,
    /// Numbers of features, of misses, and of tokens by medium.
    pub counts: bool,
    /// The entropy of documents.
    pub entropy: bool,
}

/// The words of a run and what each adds to the scores.
#[derive(Debug)]
pub(crate) struct WordScores {
    lexicon: Lexicon,
    line: NgramLine,
    /// Words that have not been numbered yet.
    waiting: WaitingWords,
    /// Single words that have not been scored yet, when there are no n-grams.
    singles: Vec<TermId>,
    terms: Terms,
    wanted: Wanted,
    /// Tokens of the document, while the table of empirical counts need not be filled;
    /// `None` if there is no such table.
    pub(super) remembered: Option<Vec<FeatureId>>,
    /// Whether the document has become too long for that, so that tokens are counted in the table.
    pub(super) counting: bool,
}

/// What each term adds under each category.
#[derive(Debug, Default)]
struct Terms {
    /// Order-1 ids.
    ids: Vec<FeatureId>,
    /// By term, then by category: what the word adds to the score, nats.
    steps: Vec<f64>,
    /// By term, then by category: whether the category does not know the word.
    missed: Vec<bool>,
    /// Occurrences since they were last added to the tallies; only when counts are wanted.
    times: Vec<u32>,
    /// Terms with such occurrences.
    used: Vec<TermId>,
}

impl WordScores {
    /// Forgets what words add under the categories, because the categories were replaced.
    pub(super) fn reset(&mut self) {
        self.line.clear();
        self.lexicon = Lexicon::default();
        self.terms = Terms::default();
    }
}

/// Gives words their numbers, and looks up new words in the categories.
struct Numbering<'a, D, F> {
    models: &'a [Model<D>],
    terms: &'a mut Terms,
    take: F,
}

impl<D: AsRef<[u8]>, F: FnMut(TermId, Word<'_>)> TermUser for Numbering<'_, D, F> {
    #[inline]
    fn expect(&self, term: TermId) {
        prefetch(&self.terms.steps, term.index() * self.models.len());
    }

    fn add(&mut self, word: Word<'_>, medium: Medium) {
        let id = FeatureId::of_word(word, medium);
        self.terms.ids.push(id);
        // The prefetches come first, so that the look-ups overlap.
        for model in self.models {
            model.prefetch(std::iter::once(id));
        }
    }

    #[inline]
    fn take(&mut self, term: TermId, word: Word<'_>) {
        (self.take)(term, word);
    }
}

impl<D: AsRef<[u8]>> Scorer<D> {
    /// Prepares to score words for n-grams of up to `order`. Returns whether that is possible: not
    /// with categories whose terms depend on the document so far (the entropy is wanted, or a model
    /// is multinomial and counts the document's words).
    pub(crate) fn expect_words(&mut self, order: u8, wanted: Wanted) -> bool {
        let counts = self.measures_entropy();
        let multinomial = self.models.iter().any(|model| model.multinomial);
        let patterns = self.models.iter().any(|model| !model.patterns.is_empty());
        if patterns || (counts && (wanted.entropy || multinomial)) {
            return false;
        }
        self.words = Some(Box::new(WordScores {
            lexicon: Lexicon::default(),
            line: NgramLine::new(order),
            waiting: WaitingWords::default(),
            singles: Vec::new(),
            terms: Terms::default(),
            wanted,
            remembered: counts.then(Vec::new),
            counting: false,
        }));
        true
    }

    /// The sink for the tokenizer's words of `medium`, up to the end of the text line.
    pub(crate) const fn words(&mut self, medium: Medium) -> ScoredWords<'_, D> {
        ScoredWords { scorer: self, medium }
    }

    /// Scores the n-grams that wait; to be called after each line of text. Single words still wait.
    pub(crate) fn end_of_line(&mut self) {
        if self.words.as_ref().is_some_and(|words| words.line.order() > 1) {
            self.end_of_words();
        }
    }

    /// Scores all words that wait.
    fn end_of_words(&mut self) {
        let Some(mut words) = self.words.take() else { return };
        if !words.waiting.is_empty() {
            self.number_words(&mut words);
        }
        if !words.singles.is_empty() {
            self.score_singles(&mut words);
        }
        if words.line.is_waiting() {
            self.score_line(&mut words);
        }
        self.words = Some(words);
    }

    /// N-grams begin again, as at the end of a file.
    pub(crate) fn forget_words(&mut self) {
        if let Some(words) = &mut self.words {
            words.line.clear();
        }
    }

    /// Scores the words that wait, and brings counts up to date with them; to be called before
    /// results are made.
    pub(crate) fn settle_words(&mut self) {
        self.end_of_words();
        let Some(mut words) = self.words.take() else { return };
        let models = self.models.len();
        let WordScores { terms: Terms { used, times, missed, .. }, lexicon, .. } = &mut *words;
        for term in used.drain(..) {
            let times = std::mem::take(&mut times[term.index()]);
            let medium = lexicon.medium(term).index();
            let missed = &missed[term.index() * models..][..models];
            for (tally, &missed) in self.tallies.iter_mut().zip(missed) {
                tally.features = tally.features.wrapping_add(times);
                tally.misses = tally.misses.wrapping_add(if missed { times } else { 0 });
                tally.media[medium] = tally.media[medium].wrapping_add(times);
            }
        }
        self.words = Some(words);
    }

    /// Numbers the words that wait, and works out what new ones add.
    fn number_words(&self, words: &mut WordScores) {
        let WordScores { waiting, lexicon, line, singles, terms, .. } = words;
        let models = &self.models;
        let known = terms.ids.len();
        if line.order() > 1 {
            let take = |term, word: Word<'_>| line.push(word, term);
            waiting.number(lexicon, &mut Numbering { models, terms, take });
        } else {
            let take = |term, _: Word<'_>| singles.push(term);
            waiting.number(lexicon, &mut Numbering { models, terms, take });
        }
        if known < words.terms.ids.len() {
            self.learn_words(words, known);
        }
    }

    fn score_singles(&mut self, words: &mut WordScores) {
        let mut singles = std::mem::take(&mut words.singles);
        if self.may_score_all(words, &singles) {
            self.add_words(words, &singles);
        } else {
            for term in &singles {
                if self.may_score(words, words.terms.ids[term.index()]) {
                    self.add_words(words, std::slice::from_ref(term));
                }
            }
        }
        singles.clear();
        words.singles = singles;
    }

    /// Adds what words add under each category.
    #[inline]
    fn add_words(&mut self, words: &mut WordScores, added: &[TermId]) {
        let Terms { steps, times, used, .. } = &mut words.terms;
        if words.wanted.counts {
            for &term in added {
                let times = &mut times[term.index()];
                if *times == 0 {
                    used.push(term);
                }
                *times += 1;
            }
        }
        let Self { models, tallies, .. } = self;
        match tallies.len() {
            1 if !words.wanted.squares => add_steps::<1, D>(tallies, models, steps, added),
            2 if !words.wanted.squares => add_steps::<2, D>(tallies, models, steps, added),
            3 if !words.wanted.squares => add_steps::<3, D>(tallies, models, steps, added),
            4 if !words.wanted.squares => add_steps::<4, D>(tallies, models, steps, added),
            width => {
                for term in added {
                    let steps = &steps[term.index() * width..][..width];
                    for ((tally, &step), model) in tallies.iter_mut().zip(steps).zip(&*models) {
                        let old = tally.score;
                        tally.complexity += model.delta;
                        tally.score += step;
                        if words.wanted.squares {
                            let change = tally.score - f64::from(narrow(old));
                            tally.squares += change * change;
                        }
                    }
                }
            }
        }
    }

    fn score_line(&mut self, words: &mut WordScores) {
        let mut line = std::mem::replace(&mut words.line, NgramLine::new(1));
        let medium = line.words().first().map_or(Medium::TEXT, |&t| words.lexicon.medium(t));
        line.hash(medium);
        for model in &self.models {
            model.prefetch(line.ids().iter().copied());
        }
        for (_, position) in line.positions() {
            for (order, &id) in position.orders().zip(position.ids()) {
                if self.may_score(words, id) {
                    self.add_ngram(id, order);
                }
            }
            if let Some(term) = position.single()
                && self.may_score(words, words.terms.ids[term.index()])
            {
                self.add_words(words, &[term]);
            }
        }
        line.carry();
        words.line = line;
    }

    /// Adds what an n-gram of several words adds under the categories that have such.
    fn add_ngram(&mut self, id: FeatureId, order: usize) {
        for (model, tally) in self.models.iter().zip(&mut self.tallies) {
            if order > usize::from(model.max_order) {
                continue;
            }
            let slot = model.find(id);
            let lambda = slot.map_or(0.0, |slot| slot.weight.weight());
            tally.features = tally.features.wrapping_add(1);
            tally.complexity += model.delta;
            tally.score += f64::from(lambda) - model.renorm;
            if slot.is_none_or(|slot| slot.id.0 == 0) {
                tally.misses = tally.misses.wrapping_add(1);
            }
        }
    }

    /// Whether a token is scored. While the document's tokens are too few to fill the table of
    /// empirical counts they are only remembered: nobody asks for the counts themselves.
    #[inline]
    fn may_score(&mut self, words: &mut WordScores, id: FeatureId) -> bool {
        let Some(remembered) = &mut words.remembered else { return true };
        if !words.counting && self.remembers(remembered.len()) {
            remembered.push(id);
            return true;
        }
        words.counting = true;
        for id in remembered.drain(..) {
            self.occurrence(id);
        }
        self.occurrence(id) != Some(Occurrence::NoRoom)
    }

    /// Whether all of these tokens are scored, as far as that can be said at once.
    #[inline]
    fn may_score_all(&self, words: &mut WordScores, tokens: &[TermId]) -> bool {
        let WordScores { remembered, terms, counting, .. } = words;
        let Some(remembered) = remembered else { return true };
        let all = remembered.len() + tokens.len();
        let is_sure = !*counting && self.remembers(all.saturating_sub(1));
        if is_sure {
            remembered.extend(tokens.iter().map(|term| terms.ids[term.index()]));
        }
        is_sure
    }

    /// Forgets the words known so far if there are too many. No words may be waiting.
    fn limit_words(&mut self) {
        if self.words.as_ref().is_some_and(|words| words.lexicon.size() >= KEPT) {
            self.settle_words();
            if let Some(words) = &mut self.words {
                words.reset();
            }
        }
    }

    /// Gives numbers to words that may be part of n-grams, and scores the n-grams if there are
    /// many.
    fn number_ngram_words(&mut self) {
        let Some(mut words) = self.words.take() else { return };
        self.number_words(&mut words);
        let is_long = words.line.is_long();
        self.words = Some(words);
        if is_long {
            self.end_of_words();
        }
    }

    /// Computes what words add under each category, for the words from number `known` on.
    fn learn_words(&self, words: &mut WordScores, known: usize) {
        let WordScores { lexicon, terms: Terms { ids, steps, missed, times, .. }, .. } = words;
        for (term, &id) in ids.iter().enumerate().skip(known) {
            let term = TermId(u32::try_from(term).expect("terms are numbered in 32 bits"));
            let (word, medium) = (lexicon.word(term), lexicon.medium(term));
            let mut buffer = [BOUNDARY; 1 + WORD_WINDOW];
            buffer[1..].copy_from_slice(word.window());
            buffer[1 + word.len()] = BOUNDARY;
            let body = &buffer[..word.len() + 2];
            let feature = Feature { body, medium, order: 1, pattern: None };
            for model in &self.models {
                let slot = if model.applies(&feature) { model.find(id) } else { None };
                let lambda = slot.map_or(0.0, |slot| slot.weight.weight());
                if steps.len() == steps.capacity() {
                    make_room(steps);
                }
                steps.push(f64::from(lambda + model.log_reference(body)) - model.renorm);
                missed.push(slot.is_none_or(|slot| slot.id.0 == 0));
            }
        }
        times.resize(ids.len(), 0);
    }
}

/// Adds what words add to the sums of `N` categories; squares are not wanted.
fn add_steps<const N: usize, D>(
    tallies: &mut [Tally],
    models: &[Model<D>],
    steps: &[f64],
    added: &[TermId],
) {
    let steps = steps.as_chunks::<N>().0;
    let mut sums = [(0.0, 0.0, 0.0); N];
    for (sum, (tally, model)) in sums.iter_mut().zip(tallies.iter().zip(models)) {
        *sum = (tally.score, tally.complexity, model.delta);
    }
    for term in added {
        for ((score, complexity, delta), step) in sums.iter_mut().zip(&steps[term.index()]) {
            *complexity += *delta;
            *score += step;
        }
    }
    for (tally, (score, complexity, _)) in tallies.iter_mut().zip(sums) {
        (tally.score, tally.complexity) = (score, complexity);
    }
}

/// Scores the words of one line of text.
pub(crate) struct ScoredWords<'a, D> {
    scorer: &'a mut Scorer<D>,
    medium: Medium,
}

impl<D: AsRef<[u8]>> WordSink for ScoredWords<'_, D> {
    #[inline]
    fn word(&mut self, word: Word<'_>) {
        let Some(words) = &mut self.scorer.words else { return };
        let single = words.line.order() == 1;
        if single && word.is_empty() {
            return;
        }
        if words.waiting.push(word, self.medium, &words.lexicon) {
            return;
        }
        if single {
            self.scorer.end_of_words();
            self.scorer.limit_words();
        } else {
            self.scorer.number_ngram_words();
        }
    }

    fn end_of_line(&mut self) {
        if self.scorer.words.as_ref().is_some_and(|words| words.line.order() > 1) {
            self.scorer.end_of_line();
            self.scorer.forget_words();
            self.scorer.limit_words();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::category::header::Header;
    use crate::category::{mapped, writer};
    use crate::model::digram::DigramTable;
    use crate::model::settings::Scheme;
    use crate::score::model::{Model, PatternSet};
    use crate::token::id::FeatureId;
    use crate::token::ngram::Window;
    use crate::token::tokenizer::Tokenizer;
    use dbacl_numeric::quantize::QuantWeight;
    use proptest::prelude::*;

    /// A category whose features are those of `text`, with weights from their ids.
    fn model(text: &str, order: u8) -> Model {
        let (bits, mut features) = (10, Vec::new());
        let mut window = Window::new(order);
        let mut add = |feature: Feature<'_>| {
            let id = FeatureId::of(feature.body, feature.medium);
            let weight = u16::try_from(id.0 >> 8 & 0x3ff).expect("ten bits");
            features.push((id, QuantWeight(weight)));
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
            log_partition: 12.345678,
            max_order: order,
            bits,
            features: 10,
            unique_features: 10,
            scheme: Some(Scheme::Alpha),
            ..Header::default()
        };
        let (mut bytes, slots) = (Vec::new(), writer::table(bits, features));
        writer::write(&mut bytes, &header, b"x", &[], &digrams, slots).expect("a vector takes all");
        let category = mapped::from_bytes(&bytes).expect("just written");
        Model::learned(b"x".to_vec(), category, PatternSet::default())
    }

    proptest! {
        #[test]
        fn words_score_as_their_texts_do(
            texts in proptest::collection::vec("([a-d]{0,3} ){0,60}", 1..4),
            orders in proptest::collection::vec(1..4u8, 1..4),
            lines in proptest::collection::vec("([a-e]{0,3}[ .]){0,50}
    ", 1..12),
            bits in proptest::option::of(3..7u8),
            straddle: bool,
            squares: bool,
            breaks in 1..5usize,
        ) {
            let models = || -> Vec<Model> {
                orders.iter().zip(texts.iter().cycle()).map(|(&o, t)| model(t, o)).collect()
            };
            let order = orders.iter().copied().max().unwrap_or(1);
            let wanted = Wanted { squares, counts: true, entropy: false };
            let (mut fast, mut slow) = (Scorer::new(models(), bits), Scorer::new(models(), bits));
            let with_entropy = fast.expect_words(order, Wanted { entropy: true, ..wanted });
            prop_assert_eq!(with_entropy, bits.is_none());
            prop_assert!(fast.expect_words(order, wanted));
            let mut tokenizer = Tokenizer::new(Scheme::Alpha, false, straddle, order);
            let mut spelling = tokenizer.clone();
            let mut window = Window::new(order);
            for (number, line) in lines.iter().enumerate() {
                let mut text = line.clone().into_bytes();
                tokenizer.line(&mut text, &mut fast.words(Medium::TEXT));
                fast.end_of_line();
                let mut feeding = window.feeding(Medium::TEXT, |feature: Feature<'_>| {
                    slow.score_each(&feature, |_, _| {});
                });
                spelling.line(&mut line.clone().into_bytes(), &mut feeding);
                fast.settle_words();
                for (fast, slow) in fast.tallies().iter().zip(slow.tallies()) {
                    prop_assert_eq!(fast.score.to_bits(), slow.score.to_bits());
                    if squares {
                        prop_assert_eq!(fast.squares.to_bits(), slow.squares.to_bits());
                    }
                    prop_assert_eq!(fast.complexity.to_bits(), slow.complexity.to_bits());
                    prop_assert_eq!(fast.features, slow.features);
                    prop_assert_eq!(fast.misses, slow.misses);
                    prop_assert_eq!(fast.media, slow.media);
                }
                prop_assert_eq!(fast.warnings(), slow.warnings());
                // Categories of the same weights change nothing, another number of them neither.
                if !straddle {
                    fast.set_models(models());
                    fast.set_models(Vec::new());
                }
                if number % breaks == 0 {
                    fast.start_document();
                    slow.start_document();
                }
            }
        }
    }
}
