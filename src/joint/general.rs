// SPDX-License-Identifier: GPL-3.0-or-later
//! The general model of a set of two categories: a pair that was fitted on documents of other
//! people, whose scores are added to those of the fit (spec refit 3.7).
//!
//! ```text
//! score = fitted score + blend * ordinary score + general * score of the general model
//! ```
//!
//! All scores are linear in the features of a document, so the weights are added when the files of
//! the set are written, and verdicts need the general model no more. The general model has not seen
//! the documents of the set: in cross-validation its scores are the same in every fold.

use super::dataset::Dataset;
use super::header::{RefitLine, set_of};
use super::scoring::Scoring;
use crate::category::reader::Category;
use crate::token::id::FeatureId;

/// Shares of the general model's scores that are tried, the one that is likeliest first: of
/// settings that judge equally well the first is taken.
pub const SHARES: [f64; 4] = [0.5, 1.0, 0.25, 0.0];

/// The share where there are too few documents to choose one.
pub const SHARE_OF_FEW: f64 = 0.5;

/// A general model.
#[derive(Debug)]
pub struct GeneralModel<D> {
    /// Its categories, in the order of the set that it is added to.
    pair: [Category<D>; 2],
    even: f64,
}

impl<D: AsRef<[u8]>> GeneralModel<D> {
    /// The general model of these categories, in the order of the set that it is added to.
    ///
    /// # Errors
    /// Why they are none, in words that follow "cannot be used:".
    pub fn new(pair: [Category<D>; 2]) -> Result<Self, &'static str> {
        let lines = [0, 1].map(|at| RefitLine::find(pair[at].other_lines()));
        let is_in_order = lines[0].as_ref().is_some_and(|line| line.place == 1);
        let line = set_of(&lines).map_err(super::header::Mismatch::text)?;
        let line = line.ok_or("its categories were not fitted together")?;
        if line.scoring != Scoring::Once || pair.iter().any(|own| own.header().max_order != 1) {
            return Err("it is not a mail filter");
        }
        let even = line.calibration.even();
        Ok(Self { pair, even: if is_in_order { even } else { -even } })
    }

    /// The bytes of its categories.
    pub fn files(&self) -> [&[u8]; 2] {
        [self.pair[0].as_bytes(), self.pair[1].as_bytes()]
    }

    /// How much more a feature weighs in the second category than in the first, nats; `None` for a
    /// feature that neither has.
    pub fn weight(&self, id: FeatureId) -> Option<f64> {
        let [first, second] = [0, 1].map(|at| {
            let slot = self.pair[at].find(id).filter(|slot| slot.id == id);
            slot.map(|slot| f64::from(slot.weight.weight()))
        });
        let is_known = first.is_some() || second.is_some();
        is_known.then(|| second.unwrap_or(0.0) - first.unwrap_or(0.0))
    }

    /// The features, some of them twice.
    pub fn features(&self) -> impl Iterator<Item = FeatureId> {
        let slots = self.pair.iter().flat_map(|own| (0..own.size()).map(|at| own.slot(at)));
        slots.map(|slot| slot.id).filter(|id| id.0 != 0)
    }

    /// log Z of the second category less that of the first, nats.
    pub fn log_partition(&self) -> f64 {
        let [first, second] = [0, 1].map(|at| self.pair[at].header().log_partition);
        second - first
    }

    /// The score of the second category less that of the first at which the odds are even.
    pub const fn even(&self) -> f64 {
        self.even
    }

    /// What the general model says of the documents of `data`, which still has all features.
    pub fn opinion(&self, data: &Dataset) -> Opinion {
        let weights: Vec<Option<f64>> = data.ids.iter().map(|&id| self.weight(id)).collect();
        let score = |document: usize| {
            let row = data.row(document).iter();
            let part = |count: u32, weight: f64| f64::from(data.scoring.count(count)) * weight;
            let own =
                row.filter_map(|cell| Some(part(cell.count, weights[cell.feature as usize]?)));
            let mean = own.sum::<f64>() / data.complexity(data.scoring, document);
            (mean - self.log_partition()) * data.scoring.stretch(data.distinct[document])
        };
        Opinion {
            scores: (0..data.len()).map(score).collect(),
            knows: weights.iter().map(Option::is_some).collect(),
        }
    }
}

/// What a general model says of documents.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Opinion {
    /// By document, the score of the second category less that of the first.
    pub scores: Vec<f64>,
    /// By feature, whether it is known.
    pub knows: Vec<bool>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::joint::documents::{Corpus, Term};
    use crate::joint::fit::{FitOptions, Problem};
    use crate::sets::JointFit;
    use crate::{CategorySet, LearnOptions, Learner};

    /// Two categories that were fitted on mails about these words, as bytes.
    fn fitted(once: bool) -> [Vec<u8>; 2] {
        let mails = |words: [&str; 3]| -> Vec<String> {
            let mail = |at: usize| format!("Subject: {}\n\n{} and all\n", words[at % 3], words[0]);
            (0..6).map(mail).collect()
        };
        let kinds = [mails(["agenda", "minutes", "room"]), mails(["pills", "offer", "cheap"])];
        let learn = |own: &[String]| {
            let mut learner = Learner::new(&LearnOptions::mail()).unwrap();
            for mail in own {
                learner.learn(mail.as_bytes());
            }
            learner.finish().unwrap()
        };
        let set = [("ham", learn(&kinds[0])), ("spam", learn(&kinds[1]))];
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

    fn open(bytes: [&[u8]; 2]) -> Result<GeneralModel<Vec<u8>>, &'static str> {
        GeneralModel::new(bytes.map(|bytes| Category::new(bytes.to_vec()).unwrap()))
    }

    #[test]
    fn only_a_whole_filter_is_a_general_model() {
        let [ham, spam] = fitted(true);
        let model = open([&ham, &spam]).unwrap();
        let turned = open([&spam, &ham]).unwrap();
        assert_eq!(model.log_partition().to_bits(), (-turned.log_partition()).to_bits());
        assert_eq!(model.even().to_bits(), (-turned.even()).to_bits());
        let known: Vec<FeatureId> = model.features().collect();
        assert!(known.len() > 6);
        for id in known {
            assert_eq!(model.weight(id), turned.weight(id).map(|weight| -weight));
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
        let [first, second] =
            [&ham, &spam].map(|own| Scoring::Once.score(own, occurrences, &terms));
        assert!((scores[0] - (second - first)).abs() < 1e-9, "{scores:?}");
        assert_eq!(knows.iter().filter(|&&known| known).count(), terms.len() - 1);
    }

    #[test]
    fn few_documents_lean_on_the_general_model() {
        let [ham, spam] = fitted(true);
        let model = open([&ham, &spam]).unwrap();
        let id = |word: &str| {
            let mail = format!("Subject: x\n\n{word}\n");
            let mut learner = Learner::new(&LearnOptions::mail()).unwrap();
            learner.learn(mail.as_bytes());
            let one = learner.finish().unwrap();
            (0..one.size()).map(|at| one.slot(at).id).filter(|id| model.weight(*id).is_some()).max()
        };
        let known = id("pills").unwrap();
        assert!(model.weight(known).unwrap() > 0.0);
        // Documents of other words; the ordinary categories are those of the general model's mail.
        let mut corpus = Corpus::default();
        for number in 0..8 {
            let own = Term::new(FeatureId(1000 + number % 2), 1, 1);
            corpus.push(number % 2, 2, &[own, Term::new(FeatureId(7), 1, 1)]);
        }
        let learn = |mail: &str| {
            let mut learner = Learner::new(&LearnOptions::mail()).unwrap();
            learner.learn(mail.as_bytes());
            Category::new(learner.finish().unwrap().as_bytes().to_vec()).unwrap()
        };
        let categories = [learn("Subject: a\n\none\n"), learn("Subject: b\n\ntwo\n")];
        let names = ["ham".to_owned(), "spam".to_owned()];
        let options = FitOptions::mail();
        let problem = |general| Problem {
            categories: &categories,
            names: &names,
            options: &options,
            is_mail: true,
            general,
        };
        let alone = problem(None).solve(corpus.clone(), &mut |_| {}).unwrap();
        let both = problem(Some(&model)).solve(corpus, &mut |_| {}).unwrap();
        let weight = |solution: &crate::joint::fit::Solution, at: usize| {
            let table = &solution.fitted.as_ref().unwrap().set.tables[at];
            table.iter().find(|(id, _)| *id == known).map_or(0.0, |(_, own)| own.weight())
        };
        assert_eq!(alone.choice.settings.general, 0.0);
        assert_eq!(both.choice.settings.general, SHARE_OF_FEW);
        assert_eq!((weight(&alone, 0), weight(&alone, 1)), (0.0, 0.0));
        let expected = SHARE_OF_FEW * model.weight(known).unwrap();
        assert!((f64::from(weight(&both, 1)) - expected).abs() <= 1.0 / 64.0 + 1e-9);
        assert_eq!(both.fitted.unwrap().line.general, SHARE_OF_FEW);
    }
}
