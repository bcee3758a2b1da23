// SPDX-License-Identifier: GPL-3.0-or-later
//! Learning exactly as the specification describes it. It is slow; tests compare the fast way with
//! it.

mod count;
mod fit;
mod table;

use super::counter::Counter;
use super::merge::SMALLEST_BITS;
use super::reference::Reference;
use super::state::LearningState;
use super::{LearnSettings, Progress, fit as fast_fit};
use crate::model::medium::Medium;
use crate::model::settings::{ModelOption, ModelOptions, Scheme};
use crate::token::Feature;
use crate::token::ngram::Window;
use crate::token::tokenizer::Tokenizer;
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

/// The counts of a learning run, with the token list as texts.
type LiteralState = LearningState<table::Table, Vec<u8>>;

/// A learning run of the property test.
#[derive(Debug, Clone)]
struct Run {
    lines: Vec<(String, u8, bool)>,
    order: u8,
    straddle: bool,
    settings: LearnSettings,
    /// Whether the last document ends with the input.
    closes: bool,
}

fn settings() -> impl Strategy<Value = LearnSettings> {
    let sizes = (0..9u8, proptest::option::of(0..14u8));
    let fit = (0..5usize, proptest::option::of(1..5u8), -3..3i32);
    let counts = (proptest::option::weighted(0.2, 1..3u32), 0..5usize, any::<bool>());
    (sizes, fit, counts).prop_map(
        |((bits, max_bits), (reference, quality, min_count), (decimation, flags, samples))| {
            let kinds: [&[ModelOption]; 5] = [
                &[ModelOption::Text],
                &[ModelOption::Entropy],
                &[ModelOption::Entropy, ModelOption::Mail],
                &[ModelOption::Entropy, ModelOption::Multinomial],
                &[ModelOption::ReferenceOnly],
            ];
            let options = ModelOptions::default().with(ModelOption::StandardTokenizer);
            let options = kinds[flags].iter().fold(options, |all, &one| all.with(one));
            let references = [
                Reference::Uniform,
                Reference::Dirichlet,
                Reference::MaximumLikelihood,
                Reference::Independent,
                Reference::TokenLength,
            ];
            LearnSettings {
                bits,
                max_bits,
                decimation,
                reference: references[reference],
                quality,
                min_count,
                confidence: flags == 2,
                reservoir: flags == 2 && samples,
                options,
                scheme: Scheme::Alpha,
            }
        },
    )
}

fn runs() -> impl Strategy<Value = Run> {
    // Few letters and many repeats, so that tables fill and n-grams come again.
    let line = ("([a-c]{0,3}[ .]){0,30}([a-z]{28,33} ?)?[a-d]{0,2}\n?", 1..4u8, any::<bool>());
    let how = (1..=7u8, any::<bool>(), any::<bool>(), settings());
    (proptest::collection::vec(line, 0..30), how).prop_map(
        |(lines, (order, straddle, closes, settings))| Run {
            lines,
            order,
            straddle,
            settings,
            closes,
        },
    )
}

/// Mail of single words, of which those of four letters share their ids in pairs in medium 3.
fn runs_of_shared_ids() -> impl Strategy<Value = Run> {
    let words = "((ajjk|aqhc|aftc|egll|ecaj|hsom|a|b|c|d|e|f|g|h|i|j) ){0,9}";
    let line = (words, Just(3), any::<bool>());
    (proptest::collection::vec(line, 1..30), 2..6u8, any::<bool>()).prop_map(
        |(lines, bits, closes)| {
            let options =
                ModelOptions::default().with(ModelOption::Mail).with(ModelOption::Entropy);
            let settings = LearnSettings::plain(bits, Some(bits + 1), options);
            Run { lines, order: 1, straddle: false, settings, closes }
        },
    )
}

impl Run {
    /// Nothing counted yet. Below 30, `most_words` is how many words are numbered at most; with
    /// `forgets` the order of first appearance is not kept.
    fn counter(&self, most_words: usize, forgets: bool) -> Counter {
        let mut counter = Counter::empty(&self.settings);
        if forgets {
            counter.forget_appearances();
        }
        counter.expect_words(self.order);
        if let Some(engine) = &mut counter.engine
            && most_words < 30
        {
            engine.most_words = most_words;
        }
        counter
    }

    /// Counts the lines the fast way.
    fn read(&self, counter: &mut Counter) {
        let mut window = Window::new(self.order);
        let by_words = counter.engine.is_some();
        self.tokenize(|tokenizer, line, medium, in_header| {
            if self.settings.options.has(ModelOption::Mail) {
                counter.line_of_mail(in_header);
            }
            if by_words {
                tokenizer.line(line, &mut counter.words(medium));
                counter.end_of_words();
            } else {
                let mut count = |feature: Feature<'_>| {
                    counter.count(feature);
                };
                tokenizer.line(line, &mut window.feeding(medium, &mut count));
            }
        });
        if self.closes {
            counter.end_of_file();
        }
    }

    /// Cuts the lines and calls `line` with each, its medium and whether a message's header holds
    /// it.
    fn tokenize(&self, mut line: impl FnMut(&mut Tokenizer, &mut Vec<u8>, Medium, bool)) {
        let mut tokenizer = Tokenizer::new(Scheme::Alpha, false, self.straddle, self.order);
        for (text, medium, in_header) in &self.lines {
            // N-grams that continue over lines have one medium (spec email 13).
            let medium = if self.straddle { Medium::TEXT } else { Medium::new(*medium) };
            line(&mut tokenizer, &mut text.clone().into_bytes(), medium, *in_header);
        }
    }
}

/// Learns `run` as the specification says, and compares the result with that of `fast`, the counts
/// of the fast path. If `empty` names an order, its counts are damaged before both fits.
fn compare(run: &Run, fast: Counter, empty: Option<usize>) -> TestCaseResult {
    let settings = &run.settings;
    let mail = settings.options.has(ModelOption::Mail);
    let forgets = fast.forgets_appearances;
    let (mut fast, warned) = fast.into_state();
    let mut expected = Vec::new();
    let table = table::Table::new(settings.bits);
    let state =
        LearningState::of(table, Vec::new(), settings.options, Scheme::Alpha, settings.min_count);
    let mut literal = count::Counter::new(state, settings);
    let mut window = Window::new(run.order);
    run.tokenize(|tokenizer, line, medium, in_header| {
        if mail {
            literal.line_of_mail(in_header);
        }
        let mut count = |feature: Feature<'_>| {
            literal.count(feature, &mut |warning| expected.push(warning));
        };
        tokenizer.line(line, &mut window.feeding(medium, &mut count));
    });
    if run.closes {
        literal.end_of_file();
    }
    let mut literal = literal.state;

    prop_assert_eq!(&expected, &warned);
    prop_assert_eq!(literal.total_of, fast.total_of);
    prop_assert_eq!(literal.unique, fast.unique);
    let numbers = (literal.total, literal.used, literal.documents, literal.empty_documents);
    prop_assert_eq!(numbers, (fast.total, fast.used, fast.documents, fast.empty_documents));
    prop_assert_eq!(literal.max_count, fast.max_count);
    prop_assert_eq!(literal.characters.cells(), fast.characters.cells());
    prop_assert_eq!(literal.negative_entropy_sum.to_bits(), fast.negative_entropy_sum.to_bits());
    for (at, slot) in literal.table.slots.iter().enumerate() {
        prop_assert_eq!(slot.shared, fast.table.spread(at).occurrences);
    }
    if !forgets {
        prop_assert_eq!(&literal.tokens, &fast.tokens.to_texts(&fast.table));
    }
    if literal.used == 0 {
        return Ok(());
    }
    let measure =
        settings.reference.measure(&fast.characters, &mut Progress::silent(), &mut |_| {});
    let digrams = measure.expect("these measures always exist");
    if literal.total_of[1] == 0 {
        literal.unite_orders();
        for slot in literal.table.slots.iter_mut().filter(|slot| !slot.is_empty()) {
            slot.order = 1;
        }
        fast.make_multinomial();
    }
    if let Some(order) = empty {
        // As in damaged counts, so that the numbers of that order are not finite.
        (literal.total_of[order], fast.total_of[order]) = (0, 0);
        for (at, slot) in literal.table.slots.iter_mut().enumerate().step_by(3) {
            if !slot.is_empty() && usize::from(slot.order) == order {
                (slot.count, *fast.table.count_mut(at)) = (0, 0);
            }
        }
    }
    let expected = fit::fit(&mut literal, settings, &digrams);
    let found = fast_fit::fit(&mut fast, settings, &digrams, None, &mut Progress::silent());
    let (expected, fitted) = match (expected, found) {
        (Ok(expected), Ok(found)) => (expected, found),
        (Err(_), Err(_)) if empty.is_some() => return Ok(()),
        _ => panic!("the partition function is finite"),
    };
    prop_assert_eq!(expected.log_partition.to_bits(), fitted.log_partition.to_bits());
    prop_assert!(
        expected.divergence.to_bits() == fitted.divergence.to_bits()
            || expected.divergence.is_nan() && fitted.divergence.is_nan()
    );
    for (at, slot) in literal.table.slots.iter().enumerate() {
        let (cell, weights) = (fast.table.cell(at), fast.table.weights(at));
        prop_assert_eq!(slot.id, cell.id);
        prop_assert_eq!(slot.count, cell.count);
        prop_assert_eq!(slot.share.to_bits(), fast.table.spread(at).share.to_bits());
        prop_assert_eq!(slot.lambda, weights.lambda);
        if !slot.is_empty() && slot.order <= 7 {
            let sums = u32::from(weights.reference) << 16 | u32::from(weights.suffix);
            prop_assert_eq!(slot.shared, sums);
            prop_assert_eq!(Medium::new(slot.medium), fast.table.medium(at));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn fast_and_literal_learning_agree(
        run in runs(),
        most_words in 0..60usize,
        forgets in proptest::bool::weighted(0.3),
        empty in proptest::option::weighted(0.1, 1..=2usize),
    ) {
        let mut fast = run.counter(most_words, forgets);
        run.read(&mut fast);
        compare(&run, fast, empty)?;
    }

    #[test]
    fn words_that_share_a_slot_are_learned_as_their_texts_are(run in runs_of_shared_ids()) {
        let mut fast = run.counter(usize::MAX, false);
        run.read(&mut fast);
        compare(&run, fast, None)?;
    }

    #[test]
    fn parts_that_are_merged_are_learned_as_one(mut run in runs(), cut in 0..30usize) {
        let options = ModelOptions::default().with(ModelOption::StandardTokenizer);
        (run.settings.options, run.settings.decimation) = (options, None);
        run.straddle = false;
        run.lines.iter_mut().for_each(|(line, ..)| line.push('\n'));
        let (mut first, mut later) = (run.clone(), run.clone());
        later.lines = first.lines.split_off(cut.min(run.lines.len()));
        (later.settings.bits, later.settings.max_bits) = (SMALLEST_BITS, Some(20));
        let mut fast = first.counter(usize::MAX, false);
        first.read(&mut fast);
        let mut part = later.counter(usize::MAX, false);
        later.read(&mut part);
        prop_assert_eq!(part.warnings(), []);
        prop_assert!(fast.merge(part));
        // The parts together spell out no n-gram that one pass would link to its suffix.
        let mut whole = run.counter(usize::MAX, false);
        run.read(&mut whole);
        let linked = |counter: Counter| -> Vec<_> {
            let (state, _) = counter.into_state();
            state.table.cells().map(|cell| (cell.id, cell.head.is_linked())).collect()
        };
        prop_assert_eq!(linked(whole), linked(fast.clone()));
        compare(&run, fast, None)?;
    }
}
