// SPDX-License-Identifier: GPL-3.0-or-later
//! Documents without labels → a better model, where cross-validation says that it is one.
//!
//! ```text
//! labelled documents ─→ model ─→ labels of the others, where it is sure ─→ model of both
//! ```
//!
//! How sure it must be, and whether the other documents are used at all, is decided on labelled
//! documents that neither model has learned. There must not be more errors in them, and their log
//! loss must fall by more than its standard error: a fall by chance would harm as often as help.
//!
//! The model of both is too sure of itself, since its own calibration rests on labels that were
//! guessed, and guessed where they were easy. The labelled documents that it has not learned tell
//! its temperature (`views::cooled`) as well. While models are compared, the temperature of a part
//! of these documents is found with the other part, so that no document improves its own loss.

use crate::evaluate::loss;
use crate::model::{Prediction, TextModel};
use crate::train::{TrainError, Trained, Trainer};
use crate::views;
use std::sync::atomic::AtomicBool;

/// How probable a label must be to be taken: what is tried.
const THRESHOLDS: [f64; 2] = [0.9, 0.8];
/// Labelled documents are divided into so many parts, each of which is judged by models of the
/// others.
const PARTS: usize = 4;

/// What documents without labels have brought.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Help {
    /// How probable a label had to be to be taken; `None` if the documents were not used.
    pub threshold: Option<f64>,
    /// Documents without labels that were learned.
    pub taken: u64,
    /// Labelled documents that were judged to decide that.
    pub judged: u64,
    /// Errors in them with labelled documents alone.
    pub errors_without: u64,
    /// Errors in them with what is used now.
    pub errors: u64,
}

/// Trains the model on the documents of `trainer` and on documents without labels, where these do
/// not make it worse; another thread may end it by setting `stop`.
///
/// # Errors
/// Those of [`Trainer::train_stoppable`].
pub fn train_with_unlabelled(
    trainer: &Trainer,
    unlabelled: &[Vec<u8>],
    stop: &AtomicBool,
) -> Result<(Trained, Help), TrainError> {
    // All models have the views that the labelled documents ask for.
    let options = trainer.options().settled(trainer.bytes());
    let train = |trainer: &Trainer| trainer.train_stoppable(&options, stop);
    let alone = train(trainer)?;
    let mut without = Judgement::default();
    let mut with = THRESHOLDS.map(|_| Judgement::default());
    for part in 0..PARTS {
        let (learned, judged) = divided(trainer, part);
        let model = match train(&learned) {
            Ok(trained) => trained.model,
            Err(TrainError::Stopped) => return Err(TrainError::Stopped),
            // Too few documents to try.
            Err(_) => continue,
        };
        without.add(&model, &judged);
        let guesses = guesses(&model, unlabelled);
        for (threshold, with) in THRESHOLDS.into_iter().zip(&mut with) {
            let (grown, _) = grown(&learned, unlabelled, &guesses, threshold);
            with.add(&train(&grown)?.model, &judged);
        }
    }
    let errors_without = without.errors();
    let judged = without.documents().count() as u64;
    let tried = THRESHOLDS.into_iter().zip(&with).map(|(threshold, with)| {
        (threshold, with.temperature(), with.errors(), with.gain(&without))
    });
    let good = tried.filter(|(_, _, errors, gain)| *errors <= errors_without && gain.is_certain());
    let best = good.min_by(|a, b| a.2.cmp(&b.2).then(b.3.mean.total_cmp(&a.3.mean)));
    let mut help =
        Help { threshold: None, taken: 0, judged, errors_without, errors: errors_without };
    let Some((threshold, temperature, errors, _)) = best else {
        return Ok((alone, help));
    };
    let guesses = guesses(&alone.model, unlabelled);
    let (grown, taken) = grown(trainer, unlabelled, &guesses, threshold);
    if taken == 0 {
        return Ok((alone, help));
    }
    (help.threshold, help.taken, help.errors) = (Some(threshold), taken, errors);
    let mut trained = train(&grown)?;
    trained.model.cool(temperature);
    trained.labels = alone.labels;
    trained.model.tell(
        "documents without labels",
        &format!("{taken} of {} learned, more probable than {threshold}", unlabelled.len()),
    );
    // Guessed labels tell nothing of errors.
    trained.quality.errors = usize::try_from(help.errors).unwrap_or(usize::MAX);
    trained.judged = judged;
    trained.model.tell("errors in cross-validation", &format!("{} of {judged}", help.errors));
    Ok((trained, help))
}

/// By how much the log loss of documents falls, bits a document.
#[derive(Debug, Clone, Copy)]
struct Gain {
    mean: f64,
    /// The standard error of the mean.
    deviation: f64,
}

impl Gain {
    /// That of paired losses: without, with.
    fn of(losses: &[(f64, f64)]) -> Self {
        #[allow(clippy::cast_precision_loss)] // a number of documents
        let number = losses.len() as f64;
        let gains = || losses.iter().map(|(without, with)| without - with);
        let mean = gains().sum::<f64>() / number;
        let squares = gains().map(|gain| (gain - mean) * (gain - mean)).sum::<f64>();
        Self { mean, deviation: (squares / (number - 1.0) / number).sqrt() }
    }

    /// Whether the loss falls by more than chance may well make it fall. It never does with fewer
    /// than two documents.
    fn is_certain(self) -> bool {
        self.mean > self.deviation
    }
}

/// What is said of a document, and the number of its label where the model knows it.
type Judged = (Prediction, Option<usize>);

/// How labelled documents were judged by models that have not learned them.
#[derive(Debug, Default)]
struct Judgement {
    /// By part.
    parts: Vec<Vec<Judged>>,
}

impl Judgement {
    /// Adds a part: documents that `model` has not learned.
    fn add(&mut self, model: &TextModel, documents: &[(&str, &[u8])]) {
        let mut predictor = model.predictor();
        let judged = documents.iter().map(|(label, text)| {
            let truth = model.labels().iter().position(|known| known == label);
            (predictor.predict(text), truth)
        });
        self.parts.push(judged.collect());
    }

    fn documents(&self) -> impl Iterator<Item = &Judged> + Clone {
        self.parts.iter().flatten()
    }

    fn errors(&self) -> u64 {
        let is_wrong = |(said, truth): &&Judged| *truth != Some(said.best());
        self.documents().filter(is_wrong).count() as u64
    }

    /// See [`views::temperature`].
    fn temperature(&self) -> f64 {
        temperature(self.documents())
    }

    /// The loss of each document, at the temperature of the documents of all other parts.
    fn cooled_losses(&self) -> Vec<f64> {
        let numbered = || self.parts.iter().enumerate();
        let each = numbered().flat_map(|(own, part)| {
            let others = numbered().filter(|&(other, _)| other != own);
            let temperature = temperature(others.flat_map(|(_, part)| part));
            losses(part, temperature)
        });
        each.collect()
    }

    /// By how much the loss of `without` falls. Both are cooled alike; where `without` is better as
    /// it is, it stays so.
    fn gain(&self, without: &Self) -> Gain {
        let sum = |losses: &[f64]| losses.iter().sum::<f64>();
        let plain: Vec<f64> = without.parts.iter().flat_map(|part| losses(part, 1.0)).collect();
        let cooled = without.cooled_losses();
        let best = if sum(&plain) <= sum(&cooled) { plain } else { cooled };
        let pairs: Vec<(f64, f64)> = best.into_iter().zip(self.cooled_losses()).collect();
        Gain::of(&pairs)
    }
}

/// The temperature of documents, see [`views::temperature`].
fn temperature<'a>(documents: impl Iterator<Item = &'a Judged> + Clone) -> f64 {
    let labels = documents.clone().map(|(said, _)| said.probabilities().len()).max().unwrap_or(0);
    let of = |(said, truth): &Judged| {
        let mut said = said.probabilities().to_vec();
        // One model may have learned fewer labels than another.
        said.resize(labels, 0.0);
        Some((said, u32::try_from((*truth)?).ok()?))
    };
    let known: Vec<(Vec<f64>, u32)> = documents.filter_map(of).collect();
    views::temperature(&known)
}

/// The loss of each document at a temperature, see [`loss`].
fn losses(documents: &[Judged], temperature: f64) -> Vec<f64> {
    let cooled = |said: &Prediction| views::cooled(said.probabilities().to_vec(), temperature);
    let each = documents.iter().map(|(said, truth)| loss(*truth, &Prediction::of(cooled(said))));
    each.collect()
}

/// The documents of all parts but one, and those of that part. Every fourth document of each label
/// is of the same part.
fn divided(trainer: &Trainer, part: usize) -> (Trainer, Vec<(&str, &[u8])>) {
    let (mut learned, mut judged) = (trainer.without_documents(), Vec::new());
    let (mut last, mut number) = ("", 0);
    for (label, text) in trainer.documents() {
        number = if label == last { number + 1 } else { 0 };
        last = label;
        if number % PARTS == part {
            judged.push((label, text));
        } else {
            learned.add(label, text);
        }
    }
    (learned, judged)
}

/// The most probable label of each document, and its probability.
fn guesses<'a>(model: &'a TextModel, documents: &[Vec<u8>]) -> Vec<(&'a str, f64)> {
    let mut predictor = model.predictor();
    let guess = |text: &Vec<u8>| {
        let said = predictor.predict(text);
        let best = said.best();
        (model.labels()[best].as_str(), said.probabilities()[best])
    };
    documents.iter().map(guess).collect()
}

/// A trainer with the documents whose guessed labels are probable enough as well, and how many
/// these are.
fn grown(
    trainer: &Trainer,
    documents: &[Vec<u8>],
    guesses: &[(&str, f64)],
    threshold: f64,
) -> (Trainer, u64) {
    let (mut grown, mut taken) = (trainer.clone(), 0);
    let sure = documents.iter().zip(guesses).filter(|(_, guess)| guess.1 >= threshold);
    for (text, (label, _)) in sure {
        grown.add(label, text);
        taken += 1;
    }
    (grown, taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::{Preset, TrainOptions};

    /// Documents of two labels, each with one of eight words of its label and one that says
    /// nothing.
    fn text(label: usize, number: usize) -> Vec<u8> {
        let words = [
            ["whale", "ship", "sailor", "harbour", "wave", "deck", "mast", "anchor"],
            ["nation", "soldier", "battle", "army", "cannon", "general", "peace", "treaty"],
        ];
        let own = |at: usize| words[label][at % 8];
        format!("{} {} {} the {number}", own(number), own(number + 1), own(number * 3)).into()
    }

    #[test]
    fn documents_without_labels_help_where_they_do() {
        let mut trainer = Trainer::new(&TrainOptions::default());
        for number in 0..8 {
            trainer.add("sea", &text(0, number));
            trainer.add("war", &text(1, number));
        }
        let unlabelled: Vec<Vec<u8>> =
            (8..200).flat_map(|number| [text(0, number), text(1, number)]).collect();
        let never = AtomicBool::new(false);
        let (trained, help) = train_with_unlabelled(&trainer, &unlabelled, &never).unwrap();
        assert_eq!(help.judged, 16);
        assert!(help.errors <= help.errors_without && help.taken > 300, "{help:?}");
        assert_eq!(trained.labels, [("sea".to_owned(), 8), ("war".to_owned(), 8)]);
        let again = train_with_unlabelled(&trainer, &unlabelled, &never).unwrap();
        assert_eq!((again.1, again.0.model.to_bytes()), (help, trained.model.to_bytes()));

        // Without any, or with none that could be told, the model is what it is without them.
        let alone = trainer.train().unwrap().model.to_bytes();
        for none in [vec![], vec![b"neither".to_vec(); 9]] {
            let (trained, help) = train_with_unlabelled(&trainer, &none, &never).unwrap();
            assert_eq!((help.threshold, help.taken), (None, 0));
            assert_eq!(trained.model.to_bytes(), alone);
        }
        let stopped = train_with_unlabelled(&trainer, &unlabelled, &AtomicBool::new(true));
        assert!(matches!(stopped, Err(TrainError::Stopped)));
    }

    #[test]
    fn documents_that_mislead_are_not_used() {
        let mut trainer = Trainer::new(&TrainOptions::default());
        for number in 0..40 {
            trainer.add("sea", &text(0, number));
            trainer.add("war", &text(1, number));
        }
        // All of them look like one label by a word, and have the other words of the other one.
        let liar = |number| [b"whale whale whale whale ".to_vec(), text(1, number)].concat();
        let unlabelled: Vec<Vec<u8>> = (0..2000).map(liar).collect();
        let never = AtomicBool::new(false);
        let (trained, help) = train_with_unlabelled(&trainer, &unlabelled, &never).unwrap();
        assert!(help.errors <= help.errors_without, "{help:?}");
        let mut predictor = trained.model.predictor();
        let right = (0..40).filter(|&n| predictor.predict(&text(1, n)).best() == 1).count();
        assert_eq!(right, 40);
    }

    /// A document of one of forty topics, and its label: that of the topic, but the other one for
    /// every seventh document.
    fn of_topic(number: usize) -> (&'static str, Vec<u8>) {
        let (topic, round) = (number % 40, number / 40);
        let letter = |at: usize| char::from(b"abcdefghijklmnopqrst"[at]);
        let own = [letter(topic / 2), letter(topic % 2)];
        let word = |at: usize| format!("word{}{}{}", own[0], own[1], letter((round + at) % 8));
        let is_sea = (topic % 4 < 2) != number.is_multiple_of(7);
        let text = format!("{} {} {} the", word(0), word(1), word(3));
        (if is_sea { "sea" } else { "war" }, text.into())
    }

    #[test]
    fn guessed_labels_do_not_make_the_model_surer_than_it_may_be() {
        let mut trainer = Trainer::new(&TrainOptions::new(Preset::Pairs));
        for number in 0..240 {
            let (label, text) = of_topic(number);
            trainer.add(label, &text);
        }
        let unlabelled: Vec<Vec<u8>> = (240..3000).map(|number| of_topic(number).1).collect();
        let never = AtomicBool::new(false);
        let (trained, help) = train_with_unlabelled(&trainer, &unlabelled, &never).unwrap();
        assert!(help.taken > 1000 && help.errors < help.errors_without, "{help:?}");
        let model = TextModel::from_bytes(trained.model.to_bytes()).unwrap();
        let told = model.about().iter().find(|(name, _)| name == "temperature");
        let temperature: f64 = told.unwrap().1.parse().unwrap();
        assert!(temperature > 1.0, "{temperature}");

        let text = of_topic(3001).1;
        let found = trained.model.predictor().predict(&text);
        assert_eq!(model.predictor().predict(&text), found);
        let mut hot = TextModel::from_bytes(trained.model.to_bytes()).unwrap();
        hot.cool(1.0);
        assert!(hot.about().iter().all(|(name, _)| name != "temperature"));
        let best = |prediction: &Prediction| prediction.probabilities()[prediction.best()];
        let sure = hot.predictor().predict(&text);
        assert!(best(&found) < best(&sure) && found.best() == sure.best());
        let explained = model.explain(&text).unwrap();
        let odds = (best(&found) / (1.0 - best(&found))).log2();
        assert!((explained.explanation.total() - odds).abs() < 1e-3, "{odds}");
    }

    #[test]
    fn a_gain_within_its_standard_error_is_none() {
        // Gains of 3 and -1 bits: mean 1, standard deviation 2, of 100 documents 0.2.
        let pairs = |lost: f64| -> Vec<(f64, f64)> {
            (0..100).map(|at| (4.0, if at % 2 == 0 { 1.0 } else { 5.0 } + lost)).collect()
        };
        let gain = Gain::of(&pairs(0.0));
        assert!((gain.mean - 1.0).abs() < 1e-12, "{gain:?}");
        assert!((gain.deviation - 2.0 / 99f64.sqrt()).abs() < 1e-12, "{gain:?}");
        let is_certain = |lost| Gain::of(&pairs(lost)).is_certain();
        assert!(is_certain(0.0) && is_certain(0.7));
        assert!(!is_certain(0.9) && !is_certain(1.0) && !is_certain(3.0));
        for few in [&[][..], &[(5.0, 1.0)], &[(1.0, 1.0); 9]] {
            assert!(!Gain::of(few).is_certain(), "{few:?}");
        }
    }

    /// A judgement of two parts of fifty documents, of which the model is as sure as this; all but
    /// every tenth are right.
    fn judgement(sure: f64) -> Judgement {
        let part = (0..50).map(|at| {
            let said = Prediction::of(vec![sure, 1.0 - sure]);
            (said, Some(usize::from(at % 10 == 0)))
        });
        let part: Vec<Judged> = part.collect();
        Judgement { parts: vec![part.clone(), part] }
    }

    #[test]
    fn models_are_compared_at_temperatures_of_other_documents() {
        // Both claim the same once they are cooled, however sure they were.
        let (hot, right) = (judgement(0.999), judgement(0.9));
        assert!((hot.temperature() - 999f64.ln() / 9f64.ln()).abs() < 0.01);
        assert!(hot.gain(&judgement(0.99)).mean.abs() < 1e-4);
        assert!(hot.gain(&right).mean.abs() < 1e-4 && right.gain(&hot).mean.abs() < 1e-4);
        // What is too unsure is not made surer, neither with the other documents nor without.
        let unsure = judgement(0.7);
        assert!(unsure.gain(&right).mean < -0.05 && right.gain(&unsure).mean > 0.05);

        // The temperature of a part comes from the others: a part of right documents alone is
        // judged at that of a part of wrong ones.
        let of = |truth| vec![(Prediction::of(vec![0.99, 0.01]), Some(truth)); 20];
        let torn = Judgement { parts: vec![of(0), of(1)] };
        let losses = torn.cooled_losses();
        let half = 2f64.powf(-losses[0]);
        assert!((half - views::cooled(vec![0.99, 0.01], 10.0)[0]).abs() < 1e-9, "{half}");
        assert!((losses[39] - 100f64.log2()).abs() < 1e-9, "{}", losses[39]);
    }

    #[test]
    fn one_document_of_each_label_is_too_few_to_try() {
        let mut trainer = Trainer::new(&TrainOptions::default());
        trainer.add("sea", b"a whale");
        trainer.add("war", b"a soldier");
        let never = AtomicBool::new(false);
        let (_, help) = train_with_unlabelled(&trainer, &[b"a whale".to_vec()], &never).unwrap();
        assert_eq!((help.judged, help.taken), (0, 0));
    }
}
