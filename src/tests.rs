// SPDX-License-Identifier: GPL-3.0-or-later
//! From documents to categories, dumps and verdicts, whole.

use crate::category::mapped::from_bytes;
use crate::document::{FeatureReader, FeatureSink};
use crate::learn::learner::{Learner, empty_counter};
use crate::learn::options::LearnOptions;
use crate::learn::reference::Reference;
use crate::learn::state::LearningState;
use crate::learn::{Progress, dump, finish, memory_dump};
use crate::model::settings::{ModelOption, Scheme};
use crate::report::{print, trace};
use crate::score::document::best;
use crate::score::model::{Model, PatternSet};
use crate::score::scorer::Scorer;
use crate::shards;
use crate::token::Feature;

const TEXTS: [&str; 3] = [
    "The whale swam. The whale and the ship, the ship and the sea: no ship came back.\n",
    "a sea of 1,024 names; names like ahab@pequod.example and a_b-c\n\nno sea, no ship\n",
    "From x\nSubject: the whale\nX-Mailer: ship\n\n<b>the sea</b> is &amp; was\n\n\
     From y\n\nsea sea\n",
];

/// The options of learning, by what the recorded lines call them.
fn kinds() -> Vec<(&'static str, LearnOptions)> {
    let text = LearnOptions::text;
    let mut kinds = vec![
        ("text", text()),
        ("order 3", text().order(3)),
        ("small", text().order(2).table_bits(2).max_table_bits(4)),
        ("quality 1", text().quality(1)),
        ("quality 4", text().quality(4).order(2)),
        ("rare", text().min_count(1)),
        ("half", text().decimation(1)),
        ("multinomial", text().with(ModelOption::Multinomial).order(2)),
        ("reference", text().with(ModelOption::ReferenceOnly)),
        ("case", text().with(ModelOption::KeepCase).with(ModelOption::Straddle).order(2)),
        ("mail", LearnOptions::mail()),
        ("confidence", LearnOptions::mail().confidence().order(2).min_count(1)),
        ("unicode", LearnOptions::mail().with(ModelOption::MailUnicode).tokenizer(Scheme::Word)),
        ("adp", text().tokenizer(Scheme::Adp)),
        ("cef", text().tokenizer(Scheme::Cef).order(2)),
        ("pattern", text().pattern("(s[a-z]+)||1", &mut |_| {}).unwrap()),
    ];
    for reference in [
        Reference::Uniform,
        Reference::Dirichlet,
        Reference::MaximumEntropy,
        Reference::MaximumLikelihood,
        Reference::Independent,
        Reference::TokenLength,
    ] {
        kinds.push(("measure", text().reference(reference)));
    }
    kinds
}

/// The category of `texts`, its dumps, and the checksum of progress with the warnings.
fn learn(options: &LearnOptions, texts: &[&str]) -> (Vec<u8>, [Vec<u8>; 2], String) {
    let mut counter = empty_counter(options).unwrap();
    if options.reading().patterns.is_empty() {
        counter.expect_words(options.reading().order);
    }
    let mut reader = FeatureReader::new(options.reading());
    for text in texts {
        reader.read_bytes(text.as_bytes(), &mut counter).unwrap();
    }
    let (mut state, warnings) = counter.into_state();
    let mut said: String = warnings.iter().map(|own| format!("; {own}")).collect();
    let mut warn = |warning| said += &format!("; {warning}");
    let mut memory = Vec::new();
    memory_dump::write(&mut memory, &state, memory_dump::RunFlags::default()).unwrap();
    let counted = state.clone();
    let (settings, mut lines) = (options.settings(), String::new());
    let mut hear = |line: &str| lines += &format!("{line}\n");
    let progress = &mut Progress::to(&mut hear);
    let digrams = settings.reference.measure(&state.characters, progress, &mut warn).unwrap();
    let model = finish(&mut state, settings, digrams, None, progress, &mut warn).unwrap();
    let patterns = options.stored_patterns();
    let mut shown = Vec::new();
    dump::head(&mut shown, &model.header, b"category", &patterns, &counted);
    dump::tokens(&mut shown, &counted, &state.table, |_| Ok(())).unwrap();
    said = format!("; {:08x}{said}", crc32fast::hash(lines.as_bytes()));
    (model.to_bytes(b"category", &patterns, &state.table), [memory, shown], said)
}

#[test]
fn categories_and_dumps_of_every_kind_are_as_recorded() {
    let mut found = String::new();
    for (name, options) in kinds() {
        let (file, [memory, shown], said) = learn(&options, &TEXTS);
        let category = from_bytes(&file).unwrap();
        let header = category.header();
        let read = memory_dump::read(&memory).unwrap();
        let mut copy = Vec::new();
        category.write(&mut copy, b"category").unwrap();
        assert!(copy == file);
        let again = match shards::dump::counts(&read, options.reading().locale) {
            Err(fault) => format!("{fault:?}"),
            Ok(counts) => {
                let mut bytes = Vec::new();
                shards::file::write(&mut bytes, &counts).unwrap();
                // The file ends with its own checksum.
                let learned = counts.learn(&options).unwrap().category;
                format!(
                    "{} {:08x}",
                    learned.as_bytes() == file,
                    crc32fast::hash(&bytes[..bytes.len() - 4])
                )
            }
        };
        found += &format!(
            "{name}: {} features, {} bits, log Z {:.5}, divergence {:.5}; \
             {:08x} {:08x} {:08x}; {again}{said}\n",
            header.unique_features,
            header.bits,
            header.log_partition,
            header.divergence,
            crc32fast::hash(&file),
            crc32fast::hash(&memory),
            crc32fast::hash(&shown),
        );
    }
    assert!(found == include_str!("recorded/learned.txt"), "\n{found}");
}

#[test]
fn a_dump_that_is_cut_short_is_refused_and_one_with_a_flipped_bit_at_least_read() {
    let good = learn(&LearnOptions::text().order(2).table_bits(8), &TEXTS).1[0].clone();
    assert!(memory_dump::read(&good).is_ok());
    for at in (0..good.len()).step_by(good.len() / 700 + 1) {
        assert!(memory_dump::read(&good[..at]).is_err(), "cut at {at}");
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 8);
        drop(memory_dump::read(&bad));
    }
}

#[test]
fn merged_dumps_have_the_counts_of_all_texts() {
    let options = LearnOptions::mail().order(2).table_bits(5);
    let messages = TEXTS.map(|own| format!("From x\n\n{own}"));
    let messages = messages.each_ref().map(String::as_str);
    let state = |texts: &[&str]| memory_dump::read(&learn(&options, texts).1[0]).unwrap().state;
    let (first, whole) = (state(&messages[..1]), state(&messages));
    let numbers = |state: &LearningState| {
        let mut cells: Vec<_> = state.table.used().map(|c| (c.id, c.count, c.head)).collect();
        cells.sort_unstable_by_key(|&(id, ..)| id);
        let characters = state.characters.cells().to_vec();
        let sums = (state.total, state.total_of, state.unique, state.used, state.documents);
        let texts = state.tokens.to_texts(&state.table).len();
        (cells, characters, sums, (state.max_count, state.max_order, texts))
    };
    let mut merged = first.clone();
    let mut warn = |warning| panic!("{warning}");
    memory_dump::merge(&mut merged, &state(&messages[1..]), &mut Some(20), &mut warn);
    assert_eq!(numbers(&merged), numbers(&whole));
    let sum = merged.negative_entropy_sum + merged.squared_entropy_sum;
    assert!((sum - whole.negative_entropy_sum - whole.squared_entropy_sum).abs() < 1e-9);
    // A full table counts further features in the slots where they would be, and says so once.
    let (mut full, mut bits, mut said) = (first.clone(), Some(0), 0);
    memory_dump::merge(&mut full, &whole, &mut bits, &mut |_| said += 1);
    assert_eq!((bits, said, full.table.bits()), (None, 1, first.table.bits()));
    assert_eq!(full.total, first.total + whole.total);
    // Counts stop at their limit.
    for (room, overflows) in [(1, false), (0, true)] {
        full.total = u32::MAX - whole.total - room;
        memory_dump::merge(&mut full, &whole, &mut None, &mut |_| said += 1);
        assert_eq!((full.options.has(ModelOption::Overflow), said), (overflows, 2 - room));
    }
}

#[test]
fn filtered_documents_are_learned_as_those_that_are_read() {
    for (_, options) in kinds() {
        let learner = || Learner::new(&options).unwrap();
        let (mut read, mut filtered) = (learner(), learner());
        let mut reader = FeatureReader::new(options.reading());
        for text in TEXTS {
            read.read(text.as_bytes()).unwrap();
            filtered.learn_filtered(&reader.filter(text.as_bytes()));
        }
        let bytes = |own: Learner| own.finish().unwrap().category.as_bytes().to_vec();
        assert!(bytes(filtered) == bytes(read));
    }
}

/// Scores features, and shows each as `-d` does.
struct Traced {
    scorer: Scorer,
    form: trace::CellForm,
    out: Vec<u8>,
}

impl FeatureSink for Traced {
    fn feature(&mut self, feature: Feature<'_>) {
        let Self { scorer, form, out } = self;
        let each = |cell, tally: &_| trace::cell(out, *form, &cell, tally);
        if scorer.score_each(&feature, each) {
            trace::token_text(out, &feature);
        }
    }
}

#[test]
fn verdicts_of_every_form_are_as_recorded() {
    let mut out = Vec::new();
    let of = |texts: &[&str], options: &LearnOptions, name: &str| {
        let messages: Vec<String> = texts.iter().map(|own| format!("From x\n\n{own}")).collect();
        let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
        let category = from_bytes(&learn(options, &messages).0).unwrap();
        Model::learned(name.into(), category, PatternSet::default())
    };
    for options in [
        LearnOptions::text(),
        LearnOptions::mail().confidence().order(2),
        LearnOptions::text().with(ModelOption::Multinomial).reference(Reference::TokenLength),
    ] {
        let models = || {
            let two = vec![of(&TEXTS[..1], &options, "one"), of(&TEXTS[1..], &options, "two")];
            two.into_iter().chain([Model::random()]).collect::<Vec<_>>()
        };
        for number in 0..4 {
            let forms = (number == 1, number == 2, number == 3);
            let form = trace::CellForm::of_cells(forms.0, forms.1, forms.2);
            let mut sink = Traced { scorer: Scorer::new(models(), Some(5)), form, out: Vec::new() };
            trace::head(&mut sink.out, sink.scorer.models(), form);
            let mut reader = FeatureReader::new(options.reading());
            reader.read_bytes(b"From z\n\nthe ship and the sea and a storm\n", &mut sink).unwrap();
            out.append(&mut sink.out);
            let scores = sink.scorer.category_scores(number == 1);
            for letters in 0..32u32 {
                let has = |bit: u32| letters >> bit & 1 == 1;
                let form = print::Form {
                    verbose: has(0),
                    scores: has(1) && number == 1,
                    probabilities: has(1) && number == 2,
                    media: has(1) && number == 3,
                    confidence: has(2),
                    uncertainty: has(3),
                    append: has(4) && number < 2,
                };
                print::whole(&mut out, form, &sink.scorer, &scores);
                if letters < 4 {
                    let wanted = [best(&scores)];
                    print::line(&mut out, form, &sink.scorer, &scores, &wanted, b"line\n");
                    print::line(&mut out, form, &sink.scorer, &scores, &[2 - wanted[0]], b"no\n");
                }
            }
        }
    }
    let found = String::from_utf8_lossy(&out);
    let mut different: Vec<&str> = Vec::new();
    for line in found.lines() {
        if !different.contains(&line) {
            different.push(line);
        }
    }
    let found = format!("{:08x}\n{}\n", crc32fast::hash(&out), different.join("\n"));
    assert!(found == include_str!("recorded/verdicts.txt"), "\n{found}");
}
