// SPDX-License-Identifier: GPL-3.0-or-later
use super::*;
use crate::document::{FeatureReader, FeatureSink};
use crate::fit::checksum::Checksum;
use crate::fit::documents::CorpusBuilder;
use crate::learn::learner::Learner;
use crate::learn::options::LearnOptions;
use crate::token::Feature;
use dbacl_numeric::random::SplitMix64;

struct Sink<'a>(&'a mut CorpusBuilder, &'a [Category<Vec<u8>>]);

impl FeatureSink for Sink<'_> {
    fn feature(&mut self, feature: Feature<'_>) {
        self.0.feature(&feature, self.1);
    }
}

/// A message: words of its kind, words of all, and a field of the header. Every ninth looks like
/// one of the next kind.
fn message(random: &mut SplitMix64, label: usize, number: usize, kinds: usize) -> String {
    let kind = if number % 9 == 8 { (label + 1) % kinds } else { label };
    let mut word = |of: usize, among: usize| format!("w{of}x{} ", random.below(among));
    let words: String = (0..6 + number % 5).map(|at| word([kind, 9, 8][at % 3], 30)).collect();
    format!("Subject: {}{}\n\n{words}\n", word(kind, 40), word(9, 40))
}

/// Categories with these numbers of documents, as ordinary learning has them, and the documents.
fn problem(sizes: &[usize], order: u8) -> (Vec<Category<Vec<u8>>>, Corpus) {
    let options = LearnOptions::mail().order(order);
    let mut random = SplitMix64::new(5);
    let (mut documents, mut categories) = (Vec::new(), Vec::new());
    for (label, &size) in sizes.iter().enumerate() {
        let mut learner = Learner::new(&options).unwrap();
        learner.learn(format!("Subject: name{label}\n\n"));
        for number in 0..size {
            let text = message(&mut random, label, number, sizes.len());
            learner.learn(&text);
            documents.push((label, text));
        }
        categories.push(learner.finish().unwrap().category);
    }
    let mut reader = FeatureReader::new(options.reading());
    let mut corpus = CorpusBuilder::default();
    for (label, text) in documents {
        reader.read_bytes(text.as_bytes(), &mut Sink(&mut corpus, &categories)).unwrap();
        corpus.end_document(u32::try_from(label).unwrap(), &categories);
    }
    (categories, corpus.finish())
}

/// What a fit yields, in one line: the quality before and after, the line of the first file, the
/// verdicts, the misfiled documents, and a checksum of all files; notes come first.
fn outcome(
    sizes: &[usize],
    order: u8,
    options: &FitOptions,
    general: Option<&GeneralModel<Vec<u8>>>,
) -> (String, Vec<Vec<u8>>) {
    let (categories, corpus) = problem(sizes, order);
    let names: Vec<String> = (0..sizes.len()).map(|at| format!("kind{at}")).collect();
    let is_mail = options.contrast.is_none();
    let (categories, stop) = (&categories[..], Stop::NEVER);
    let problem = Problem { categories, names: &names, options, is_mail, general, stop };
    let mut text = String::new();
    let found = problem.solve(corpus, &mut |note| text += &format!("{note}; ")).unwrap();
    text += &format!("{} -> {} errors, ", found.before.errors, found.choice.quality.errors);
    text += &format!("{:.4} above; ", found.choice.quality.area_above);
    let Some(fitted) = &found.fitted else { return (text + "kept", Vec::new()) };
    let files = || categories.iter().zip(&names).enumerate();
    let files = files().map(|(at, (own, name))| fitted.file(at, own, name.as_bytes()));
    let files: Vec<Vec<u8>> = files.collect();
    let mut line = Vec::new();
    fitted.line.write(&mut line);
    text += String::from_utf8(line).unwrap().trim_end().split_once("cost").unwrap().1;
    if let Some(FitVerdicts { wrong, missed, unsure, most_probable, judged, of_first }) =
        fitted.verdicts
    {
        let sure = judged - unsure - wrong - missed;
        assert!((sure..=sure + unsure).contains(&most_probable), "{most_probable}");
        text += &format!("; {wrong} {missed} {unsure} of {judged} ({of_first})");
    }
    let misfiled: Vec<_> =
        fitted.misfiled.iter().map(|one| (one.document, one.looks_like)).collect();
    (format!("{text}; {misfiled:?} {:016x}", Checksum::of(&files.concat())), files)
}

#[test]
fn every_kind_of_fit_yields_what_is_recorded() {
    let new = FitOptions::default;
    let blocks = || FitOptions::mail().blocks();
    let cases = [
        (&[40, 40][..], 1, new()),
        (&[40, 60], 2, new().always().contrast(true)),
        (&[40, 40], 1, new().once().false_positives(0.05).always()),
        (&[60, 50], 1, FitOptions::mail()),
        (&[60, 50], 1, new().unsure().always().false_positives(0.02).contrast(true)),
        (&[9, 12], 1, FitOptions::mail()),
        (&[9, 12], 1, blocks()),
        (&[50, 150], 1, blocks().caution(Caution::High)),
        (&[130, 130], 1, blocks().false_positives(0.01).rates(vec![None, Some(0.02)])),
        (&[30, 30, 30], 1, new().always()),
        (&[30, 40, 30], 1, FitOptions::mail()),
        (&[40, 30, 30], 1, FitOptions::mail().exact().rates(vec![Some(0.01), None, None])),
        (&[40, 40, 40], 1, blocks().false_positives(0.01)),
        (&[40, 40, 8], 2, new().quick().cost(0.3).blend(0.1).always()),
    ];
    let (_, of_others) = outcome(&[60, 50], 1, &FitOptions::mail(), None);
    let general = |categories: usize| {
        let own = of_others.iter().map(|file| Category::new(file.clone()).unwrap());
        let same = (0..categories).map(|at| (at < 2).then_some(at)).collect();
        GeneralModel::new(own.collect(), same).unwrap()
    };
    let with_general = [
        (&[40, 30][..], 1, FitOptions::mail()),
        (&[30, 0], 1, blocks()),
        (&[0, 25], 1, FitOptions::mail()),
        (&[25, 30, 9], 1, FitOptions::mail()),
    ];
    let one = |(sizes, order, options): &(&[usize], u8, FitOptions)| {
        outcome(sizes, *order, options, None).0
    };
    let two = |(sizes, order, options): &(&[usize], u8, FitOptions)| {
        outcome(sizes, *order, options, Some(&general(sizes.len()))).0
    };
    let found: Vec<String> = cases.iter().map(one).chain(with_general.iter().map(two)).collect();
    assert!(found.iter().eq(include_str!("recorded.txt").lines()), "{}", found.join("\n"));
}
