// SPDX-License-Identifier: GPL-3.0-or-later
//! What a general model says, tested on categories of a filter.

use crate::JointFit;
use crate::classify::CategorySet;
use dbacl_engine::category::reader::Category;
use dbacl_engine::learn::learner::Learner;
use dbacl_engine::learn::options::LearnOptions;
use dbacl_engine::token::id::FeatureId;
use dbacl_joint::dataset::Dataset;
use dbacl_joint::documents::{Corpus, Term};
use dbacl_joint::fit::{FitOptions, Problem, Solution};
use dbacl_joint::general::{GeneralModel, Opinion, SHARE_OF_FEW};
use dbacl_joint::known::KnownFeatures;
use dbacl_joint::scoring::Scoring;
use dbacl_joint::stop::Stop;

fn learned<T: AsRef<[u8]>>(mails: &[T]) -> Category<Vec<u8>> {
    let mut learner = Learner::new(&LearnOptions::mail()).unwrap();
    for mail in mails {
        learner.learn(mail);
    }
    learner.finish().unwrap().category
}

/// Two categories that were fitted on messages about these words, as bytes.
fn fitted(once: bool) -> [Vec<u8>; 2] {
    let mails = |words: [&str; 3]| -> Vec<String> {
        let mail = |at: usize| format!("Subject: {}\n\n{} and all\n", words[at % 3], words[0]);
        (0..6).map(mail).collect()
    };
    let kinds = [mails(["agenda", "minutes", "room"]), mails(["pills", "offer", "cheap"])];
    let set = [("ham", learned(&kinds[0])), ("spam", learned(&kinds[1]))];
    let set = CategorySet::new(set).unwrap();
    let options = FitOptions::default().always();
    let options = if once { options.once() } else { options };
    let mut fit = JointFit::new(&set, &options).unwrap();
    for (label, own) in ["ham", "spam"].into_iter().zip(&kinds) {
        for mail in own {
            fit.document(label, mail.as_bytes()).unwrap();
        }
    }
    let fitted = fit.fit().unwrap().categories.unwrap();
    [0, 1].map(|at| fitted[at].1.as_bytes().to_vec())
}

/// The general model of a set with categories of the same names, in this order.
fn open(bytes: [&[u8]; 2]) -> Result<GeneralModel<Vec<u8>>, &'static str> {
    open_for(bytes, vec![Some(0), Some(1)])
}

fn open_for(
    bytes: [&[u8]; 2],
    same: Vec<Option<usize>>,
) -> Result<GeneralModel<Vec<u8>>, &'static str> {
    GeneralModel::new(bytes.map(|bytes| Category::new(bytes.to_vec()).unwrap()).into(), same)
}

/// How much more a feature weighs in the second category than in the first.
fn difference(model: &GeneralModel<Vec<u8>>, id: FeatureId) -> Option<f64> {
    model.weights(id).map(|own| own[1] - own[0])
}

#[test]
fn only_a_whole_filter_is_a_general_model() {
    let [ham, spam] = fitted(true);
    let model = open([&ham, &spam]).unwrap();
    let turned = open([&spam, &ham]).unwrap();
    let turned_back: Vec<f64> = turned.log_partitions.iter().rev().copied().collect();
    assert_eq!(model.log_partitions, turned_back);
    assert_eq!(model.even.to_bits(), (-turned.even).to_bits());
    let known: Vec<FeatureId> = model.features().collect();
    assert!(known.len() > 6);
    for id in known {
        assert_eq!(difference(&model, id), difference(&turned, id).map(|weight| -weight));
    }
    assert!(open([&ham, &ham]).is_err());
    let [by_counts, other] = fitted(false);
    assert_eq!(open([&by_counts, &other]).err(), Some("it is not a mail filter"));
}

#[test]
fn scores_are_those_that_verdicts_rest_on() {
    let [ham, spam] = fitted(true);
    let model = open([&ham, &spam]).unwrap();
    let [ham, spam] = [ham, spam].map(|bytes| Category::new(bytes).unwrap());
    let mut ids: Vec<FeatureId> = model.features().collect();
    ids.sort_unstable();
    ids.dedup();
    let mut terms: Vec<Term> = ids.iter().step_by(2).map(|&id| Term::new(id, 1, 2)).collect();
    terms.push(Term::new(FeatureId(12_345), 1, 1));
    let occurrences = terms.iter().map(|term| term.count).sum();
    let mut corpus = Corpus::default();
    corpus.push(0, occurrences, &terms);
    let mut data = Dataset::new(corpus, 2, 1);
    data.scoring = Scoring::Once;
    let Opinion { scores, knows } = model.opinion(&data);
    let weight = |own: &Category<Vec<u8>>, id| {
        let slot = own.find(id).filter(|slot| slot.id == id);
        slot.map_or(0.0, |slot| slot.weight.weight())
    };
    let weights = [&ham, &spam].map(|own| terms.iter().map(|term| weight(own, term.id)).collect());
    let known = KnownFeatures::of(&terms, &weights);
    let score =
        |own: &Category<_>, at| Scoring::Once.score_known(own.header(), occurrences, &known, at);
    let (first, second) = (score(&ham, 0), score(&spam, 1));
    assert_eq!(scores[0], 0.0);
    assert!((scores[1] - (second - first)).abs() < 1e-9, "{scores:?}");
    assert_eq!(knows.iter().filter(|&&known| known).count(), terms.len() - 1);
}

#[test]
fn what_a_general_model_does_not_know_gets_the_mean() {
    let [ham, spam] = fitted(true);
    let pair = open([&ham, &spam]).unwrap();
    let model = open_for([&ham, &spam], vec![None, Some(1), Some(0), None]).unwrap();
    let id = pair.features().find(|&id| difference(&pair, id).unwrap() > 0.5).unwrap();
    let [of_ham, of_spam] = pair.weights(id).unwrap().try_into().unwrap();
    let mean = f64::midpoint(of_ham, of_spam);
    assert_eq!(model.weights(id).unwrap(), [mean, of_spam, of_ham, mean]);
    let half = open_for([&ham, &spam], vec![None, Some(1), None]).unwrap();
    assert_eq!(half.weights(id).unwrap(), [of_ham, of_spam, of_ham]);
    assert_eq!(model.weights(FeatureId(12_345)), None);
    let mut corpus = Corpus::default();
    corpus.push(0, 1, &[Term::new(id, 1, 1)]);
    let mut data = Dataset::new(corpus, 4, 1);
    data.scoring = Scoring::Once;
    let scores = model.opinion(&data).scores;
    let of_pair = pair.opinion(&data).scores[1];
    assert!((scores[1] - scores[2] - of_pair).abs() < 1e-9, "{scores:?}");
    assert!((scores[1] + scores[2] - 2.0 * scores[0]).abs() < 1e-9 && scores[0] == scores[3]);
    let opinion = model.opinion(&data);
    let mut sums = vec![1.0; 4];
    opinion.add(0.5, &[0], 4, &mut sums);
    assert_eq!(sums[1], 1.0 + 0.5 * scores[1]);
    let odds = pair.calibration(0.5);
    assert!((odds.even() - 0.5 * pair.even).abs() < 1e-9, "{odds:?}");
}

#[test]
fn few_documents_lean_on_the_general_model() {
    let [ham, spam] = fitted(true);
    let model = open([&ham, &spam]).unwrap();
    let id = |word: &str| {
        let one = learned(&[format!("Subject: x\n\n{word}\n")]);
        (0..one.size()).map(|at| one.slot(at).id).filter(|id| model.weights(*id).is_some()).max()
    };
    let known = id("pills").unwrap();
    assert!(difference(&model, known).unwrap() > 0.0);
    // Documents of other words; the ordinary categories are those of the general model's mail.
    let mut corpus = Corpus::default();
    for number in 0..8 {
        let own = Term::new(FeatureId(1000 + number % 2), 1, 1);
        corpus.push(number % 2, 2, &[own, Term::new(FeatureId(7), 1, 1)]);
    }
    let categories = ["Subject: a\n\none\n", "Subject: b\n\ntwo\n"].map(|mail| learned(&[mail]));
    let names = ["ham".to_owned(), "spam".to_owned()];
    let options = FitOptions::mail();
    let problem = |general| Problem {
        categories: &categories,
        names: &names,
        options: &options,
        is_mail: true,
        general,
        stop: Stop::NEVER,
    };
    let alone = problem(None).solve(corpus.clone(), &mut |_| {}).unwrap();
    let both = problem(Some(&model)).solve(corpus, &mut |_| {}).unwrap();
    let weight = |solution: &Solution, at: usize| {
        let table = &solution.fitted.as_ref().unwrap().set.tables[at];
        table.iter().find(|(id, _)| *id == known).map_or(0.0, |(_, own)| own.weight())
    };
    assert_eq!(alone.choice.settings.general, 0.0);
    assert_eq!(both.choice.settings.general, SHARE_OF_FEW);
    assert_eq!((weight(&alone, 0), weight(&alone, 1)), (0.0, 0.0));
    let expected = SHARE_OF_FEW * difference(&model, known).unwrap();
    assert!((f64::from(weight(&both, 1)) - expected).abs() <= 1.0 / 64.0 + 1e-9);
    assert_eq!(both.fitted.unwrap().line.general, SHARE_OF_FEW);
}
