// SPDX-License-Identifier: GPL-3.0-or-later
//! The general model of a set: another set, which was fitted on documents of other people, and
//! whose scores are added to those of the fit (spec refit 3.7).
//!
//! ```text
//! score = fitted score + blend * ordinary score + general * score of the general model
//! ```
//!
//! Categories are the same where they have the same name. What the general model knows and the set
//! does not stands for all that the set has besides: to a category of another name the general
//! model gives the mean score of those of its own that the set does not have. If it has none of
//! that kind, it gives the mean of all, and speaks neither for such a category nor against it.
//!
//! All scores are linear in the features of a document, so the weights are added when the files of
//! the set are written, and verdicts need the general model no more. The general model has not seen
//! the documents of the set: in cross-validation its scores are the same in every fold.

use super::calibrate::Calibration;
use super::dataset::Dataset;
use super::header::{RefitLine, set_of};
use super::real;
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
    /// Its categories.
    own: Vec<Category<D>>,
    /// For each category of the set that it is added to, the place of its own category of the same
    /// name.
    same: Vec<Option<usize>>,
    /// log Z by category of the set, nats.
    log_partitions: Vec<f64>,
    /// Odds by its scores.
    slope: f64,
    even: f64,
}

impl<D: AsRef<[u8]>> GeneralModel<D> {
    /// The general model of the categories `own` for a set. For each category of the set, `same`
    /// says which of them has the same name.
    ///
    /// # Errors
    /// The reason why they cannot be a general model, in words that follow "cannot be the general
    /// model:".
    pub fn new(own: Vec<Category<D>>, same: Vec<Option<usize>>) -> Result<Self, &'static str> {
        let lines: Vec<Option<RefitLine>> =
            own.iter().map(|category| RefitLine::find(category.other_lines())).collect();
        let line = set_of(&lines).map_err(super::header::Mismatch::text)?;
        let line = line.ok_or("its categories were not fitted together")?;
        if line.scoring != Scoring::Once || own.iter().any(|own| own.header().max_order != 1) {
            return Err("it is not a mail filter");
        }
        let places: Vec<u32> = lines.iter().flatten().map(|line| line.place).collect();
        // The scores of two categories where their odds are even, up to a number that both share.
        let half = if own.len() == 2 { line.calibration.even() / 2.0 } else { 0.0 };
        let even: Vec<f64> =
            places.iter().map(|&place| if place == 1 { -half } else { half }).collect();
        let partitions: Vec<f64> =
            own.iter().map(|category| category.header().log_partition).collect();
        let log_partitions = for_set(&same, &partitions);
        let even = match *for_set(&same, &even) {
            [first, second] => second - first,
            _ => 0.0,
        };
        let slope = line.calibration.slope;
        Ok(Self { own, same, log_partitions, slope, even })
    }

    /// The bytes of its categories.
    pub fn files(&self) -> impl Iterator<Item = &[u8]> {
        self.own.iter().map(Category::as_bytes)
    }

    /// Its weights of a feature by category of the set, nats, none below 0; `None` for a feature
    /// that no category has.
    pub fn weights(&self, id: FeatureId) -> Option<Vec<f64>> {
        let mut is_known = false;
        let weight = |own: &Category<D>| {
            let slot = own.find(id).filter(|slot| slot.id == id);
            is_known |= slot.is_some();
            slot.map_or(0.0, |slot| f64::from(slot.weight.weight()))
        };
        let own: Vec<f64> = self.own.iter().map(weight).collect();
        is_known.then(|| for_set(&self.same, &own))
    }

    /// The features, many of them several times.
    pub fn features(&self) -> impl Iterator<Item = FeatureId> {
        let slots = self.own.iter().flat_map(|own| (0..own.size()).map(|at| own.slot(at)));
        slots.map(|slot| slot.id).filter(|id| id.0 != 0)
    }

    /// log Z by category of the set, nats.
    pub fn log_partitions(&self) -> &[f64] {
        &self.log_partitions
    }

    /// In a set of two categories, the score of the second less that of the first at which the odds
    /// are even.
    pub const fn even(&self) -> f64 {
        self.even
    }

    /// The odds of scores that hold this share of its own ones and nothing else.
    pub fn calibration(&self, share: f64) -> Calibration {
        let slope = self.slope.max(0.0) / share;
        Calibration { slope, offset: -slope * share * self.even }
    }

    /// What the general model says of the documents of `data`, which still has all features.
    pub fn opinion(&self, data: &Dataset) -> Opinion {
        let width = self.same.len();
        let is_pair = width == 2;
        let weights: Vec<Option<Vec<f64>>> = data.ids.iter().map(|&id| self.weights(id)).collect();
        let score = |document: usize, category: usize| {
            if is_pair && category == 0 {
                return 0.0;
            }
            // Of two categories the difference counts.
            let less = |values: &[f64]| values[category] - if is_pair { values[0] } else { 0.0 };
            let row = data.row(document).iter();
            let part = |count: u32, weight: f64| f64::from(data.scoring.count(count)) * weight;
            let own = row.filter_map(|cell| {
                Some(part(cell.count, less(weights[cell.feature as usize].as_deref()?)))
            });
            let mean = own.sum::<f64>() / data.complexity(data.scoring, document);
            (mean - less(&self.log_partitions)) * data.scoring.stretch(data.distinct[document])
        };
        let places = (0..data.len()).flat_map(|document| (0..width).map(move |at| (document, at)));
        Opinion {
            scores: places.map(|(document, category)| score(document, category)).collect(),
            knows: weights.iter().map(Option::is_some).collect(),
        }
    }
}

/// The values of a general model's categories for those of a set: for one that it does not know the
/// mean of its other categories, or of all if there are no others.
fn for_set(same: &[Option<usize>], own: &[f64]) -> Vec<f64> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / real(values.len());
    let others = (0..own.len()).filter(|at| !same.contains(&Some(*at)));
    let others: Vec<f64> = others.map(|at| own[at]).collect();
    let rest = if others.is_empty() { mean(own) } else { mean(&others) };
    same.iter().map(|same| same.map_or(rest, |at| own[at])).collect()
}

/// What a general model says of documents.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Opinion {
    /// By document and category of the set; with two categories 0 for the first one.
    pub scores: Vec<f64>,
    /// By feature, whether it is known.
    pub knows: Vec<bool>,
}

impl Opinion {
    /// Adds a share of the scores of these documents to `scores`, which has theirs.
    pub fn add(&self, share: f64, documents: &[usize], categories: usize, scores: &mut [f64]) {
        if share > 0.0 {
            for (&document, row) in documents.iter().zip(scores.chunks_exact_mut(categories)) {
                let own = &self.scores[document * categories..][..categories];
                for (score, own) in row.iter_mut().zip(own) {
                    *score += share * own;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::joint::documents::{Corpus, Term};
    use crate::joint::fit::{FitOptions, Problem};
    use crate::joint::stop::Stop;
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
        let turned_back: Vec<f64> = turned.log_partitions().iter().rev().copied().collect();
        assert_eq!(model.log_partitions(), turned_back);
        assert_eq!(model.even().to_bits(), (-turned.even()).to_bits());
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
        let [first, second] =
            [&ham, &spam].map(|own| Scoring::Once.score(own, occurrences, &terms));
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
        assert!((odds.even() - 0.5 * pair.even()).abs() < 1e-9, "{odds:?}");
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
            (0..one.size())
                .map(|at| one.slot(at).id)
                .filter(|id| model.weights(*id).is_some())
                .max()
        };
        let known = id("pills").unwrap();
        assert!(difference(&model, known).unwrap() > 0.0);
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
            stop: Stop::NEVER,
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
        let expected = SHARE_OF_FEW * difference(&model, known).unwrap();
        assert!((f64::from(weight(&both, 1)) - expected).abs() <= 1.0 / 64.0 + 1e-9);
        assert_eq!(both.fitted.unwrap().line.general, SHARE_OF_FEW);
    }
}
