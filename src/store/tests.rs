// SPDX-License-Identifier: GPL-3.0-or-later
//! From documents to a ledger, a fit and its state, and back to categories.

use crate::category::reader::Category;
use crate::document::{FeatureReader, FeatureSink};
use crate::fit::checksum::Checksum;
use crate::fit::documents::{Collector, FeatureKind};
use crate::fit::joint::{FitOptions, Problem, Solution};
use crate::fit::stop::Stop;
use crate::learn::learner::Learner;
use crate::learn::options::LearnOptions;
use crate::model::settings::Scheme;
use crate::store::forgetting::without_documents;
use crate::store::generations::ledger_file::settings;
use crate::store::ledger::{Learning, Ledger, Name, Record};
use crate::store::relearn;
use crate::store::state::State;
use crate::store::state::complete::state_of;
use crate::token::Feature;
use crate::token::id::FeatureId;
use dbacl_numeric::random::SplitMix64;

struct Sink<'a>(&'a mut Collector);

impl FeatureSink for Sink<'_> {
    fn feature(&mut self, feature: Feature<'_>) {
        let id = FeatureId::of(feature.body, feature.medium);
        self.0.add(id, FeatureKind::whole(&feature));
    }
}

/// Categories that were learned from made-up documents of these numbers, and a ledger of them.
fn learned(sizes: &[usize], order: u8) -> (Vec<Category<Vec<u8>>>, Ledger) {
    let options = LearnOptions::mail().order(order);
    let mut random = SplitMix64::new(9);
    let learning =
        Learning { is_plain: true, bits: 15, max_bits: Some(25), quality: None, min_count: 0 };
    let names = (b'a'..).take(sizes.len());
    let names = names.map(|own| Name { learning, ..Name::new(&[own]) });
    let reading = settings(options.reading().options, Scheme::Cef, order, &[]);
    let mut ledger = Ledger::new(reading, names.collect());
    let (mut categories, mut collector) = (Vec::new(), Collector::default());
    let mut reader = FeatureReader::new(options.reading());
    for (label, &size) in (0..).zip(sizes) {
        let mut learner = Learner::new(&options).unwrap();
        for _ in 0..size {
            let mut word = |of: u32| format!("w{of}x{} ", random.below(25));
            let text =
                format!("Subject: {}\n\n{}{}{}\n", word(label), word(9), word(label), word(8));
            learner.learn(&text);
            reader.read_bytes(text.as_bytes(), &mut Sink(&mut collector)).unwrap();
            let (occurrences, terms) = collector.finish();
            ledger.push(label, occurrences, terms);
        }
        categories.push(learner.finish().unwrap().category);
    }
    (categories, ledger)
}

fn fit(categories: &[Category<Vec<u8>>], ledger: &Ledger, options: &FitOptions) -> Solution {
    let names: Vec<String> = ledger.head.names.iter().map(|own| format!("{own:?}")).collect();
    let labels: Vec<Vec<u8>> = (b'a'..).take(categories.len()).map(|own| vec![own]).collect();
    let corpus = ledger.corpus(&labels);
    let (general, stop) = (None, Stop::NEVER);
    let problem = Problem { categories, names: &names, options, is_mail: true, general, stop };
    problem.solve(corpus, &mut |_| {}).unwrap()
}

#[test]
fn a_category_is_made_again_from_its_documents_to_the_byte() {
    for order in [1, 2] {
        let (categories, mut ledger) = learned(&[12, 7], order);
        for (label, own) in (0..).zip(&categories) {
            let again = relearn::file(&ledger, label, own).unwrap().unwrap();
            assert!(again == own.as_bytes(), "order {order}, {label}");
        }
        assert_eq!(relearn::file(&ledger, 2, &categories[0]), Ok(None));
        ledger.head.names[0].learning.is_plain = false;
        assert_eq!(relearn::file(&ledger, 0, &categories[0]), Ok(None));
    }
}

#[test]
fn a_category_without_a_document_has_its_counts_no_more() {
    let (categories, ledger) = learned(&[6, 4], 1);
    let mut records: Vec<Record> = Vec::new();
    ledger.each(|record, _| records.push(record.clone()));
    let forgotten: Vec<&Record> = records[1..3].iter().collect();
    let bytes = without_documents(&categories[0], 0, &ledger, &forgotten);
    let (old, new) = (&categories[0], Category::new(bytes).unwrap());
    let weight = |of: &Category<Vec<u8>>, id| of.find(id).map_or(0, |slot| slot.weight.0);
    for term in records[..6].iter().flat_map(|own| &own.terms) {
        let has = |own: &&Record| own.terms.iter().any(|other| other.id == term.id);
        let (all, lost) =
            (records[..6].iter().filter(has).count(), records[1..3].iter().filter(has).count());
        let (before, after) = (weight(old, term.id), weight(&new, term.id));
        match (all, lost) {
            (_, 0) => assert!(after > before, "its share grows: {before} {after}"),
            (all, lost) if all == lost => assert_eq!(after, 0),
            _ => assert!(after < before + 16, "{before} {after}"),
        }
    }
    let unchanged = without_documents(&categories[0], 0, &ledger, &[]);
    assert!(unchanged == categories[0].as_bytes());
}

#[test]
fn the_state_of_a_fit_is_as_recorded_and_opens_again() {
    let mail = FitOptions::mail;
    let mut found = Vec::new();
    for (sizes, order, options) in [
        (&[30, 25][..], 1, mail()),
        (&[30, 25], 1, FitOptions::default().always().contrast(true)),
        (&[22, 30], 1, mail().blocks()),
        (&[20, 25], 2, mail()),
        (&[21, 22, 23], 1, mail()),
        (&[20, 22, 24], 1, mail().blocks()),
    ] {
        let (categories, ledger) = learned(sizes, order);
        let solution = fit(&categories, &ledger, &options);
        let mut state = state_of(&ledger, &categories, &solution).unwrap();
        assert!(state.fits(&ledger.head));
        let mut bytes = Vec::new();
        state.write(&mut bytes).unwrap();
        let mut again = State::parse(bytes.clone()).unwrap();
        assert_eq!(again.tables.names(), state.tables.names());
        let side = state.numbers.sides[1];
        found.push(format!(
            "{} {:.4} {:.4} {:016x}",
            state.documents(),
            side.rise,
            side.log_partition,
            Checksum::of(&bytes)
        ));
    }
    let found = found.join("\n");
    assert_eq!(found, include_str!("recorded.txt").trim_end(), "\n{found}");
    let (categories, ledger) = learned(&[20, 22, 24], 1);
    let exact = fit(&categories, &ledger, &mail().exact());
    assert!(state_of(&ledger, &categories, &exact).is_none());
}
