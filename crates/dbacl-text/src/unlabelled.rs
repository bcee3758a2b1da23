// SPDX-License-Identifier: GPL-3.0-or-later
//! Documents without labels → a better model, where cross-validation says that it is one.
//!
//! ```text
//! labelled documents ─→ model ─→ labels of the others, where it is sure ─→ model of both
//! ```
//!
//! How sure it must be, and whether the other documents are used at all, is decided on labelled
//! documents that neither model has learned: they must not be judged worse, neither by errors nor
//! by the log loss.
//!
//! The model of both is too sure of itself, since its own calibration rests on labels that were
//! guessed, and guessed where they were easy. The labelled documents that it has not learned tell
//! its temperature (`views::cooled`) as well. That is one number, found on half of the labelled
//! documents. Their log loss is compared at that temperature, and is therefore a little too good:
//! on average by about one bit of all of them together.

use crate::evaluate::Evaluation;
use crate::model::{Prediction, TextModel};
use crate::train::{TrainError, Trained, Trainer};
use crate::views;
use std::sync::atomic::AtomicBool;

/// How probable a label must be to be taken: what is tried.
const THRESHOLDS: [f64; 2] = [0.9, 0.8];
/// Labelled documents are divided into so many parts.
const PARTS: usize = 4;
/// The parts that are judged by models of the others.
const JUDGED: [usize; 2] = [0, 2];

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
    for part in JUDGED {
        let (learned, judged) = divided(trainer, part);
        let model = match train(&learned) {
            Ok(trained) => trained.model,
            Err(TrainError::Stopped) => return Err(TrainError::Stopped),
            // Too few documents to try.
            Err(_) => continue,
        };
        without.add(&model, &judged);
        for (threshold, with) in THRESHOLDS.into_iter().zip(&mut with) {
            let (grown, _) = grown(&learned, &model, unlabelled, threshold);
            with.add(&train(&grown)?.model, &judged);
        }
    }
    let (judged, errors_without) = (without.documents.len() as u64, without.errors());
    let loss_without = without.loss(1.0);
    let tried = THRESHOLDS.into_iter().zip(with).map(|(threshold, with)| {
        let temperature = with.temperature();
        (threshold, temperature, with.errors(), with.loss(temperature))
    });
    let good =
        tried.filter(|&(_, _, errors, loss)| errors <= errors_without && loss <= loss_without);
    let best = good.min_by(|a, b| a.2.cmp(&b.2).then(a.3.total_cmp(&b.3)));
    let mut help =
        Help { threshold: None, taken: 0, judged, errors_without, errors: errors_without };
    let Some((threshold, temperature, errors, _)) = best.filter(|_| judged > 0) else {
        return Ok((alone, help));
    };
    let (grown, taken) = grown(trainer, &alone.model, unlabelled, threshold);
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

/// How labelled documents were judged by models that have not learned them.
#[derive(Debug, Default)]
struct Judgement {
    /// What was said of each, and the number of its label where the model knows it.
    documents: Vec<(Prediction, Option<usize>)>,
}

impl Judgement {
    fn add(&mut self, model: &TextModel, documents: &[(&str, &[u8])]) {
        let mut predictor = model.predictor();
        self.documents.extend(documents.iter().map(|(label, text)| {
            let truth = model.labels().iter().position(|known| known == label);
            (predictor.predict(text), truth)
        }));
    }

    fn errors(&self) -> u64 {
        let is_wrong = |(said, truth): &&(Prediction, Option<usize>)| *truth != Some(said.best());
        self.documents.iter().filter(is_wrong).count() as u64
    }

    /// The most labels that a model has.
    fn labels(&self) -> usize {
        let labels = self.documents.iter().map(|(said, _)| said.probabilities().len());
        labels.max().unwrap_or(0)
    }

    /// See [`views::temperature`].
    fn temperature(&self) -> f64 {
        let labels = self.labels();
        let of = |(said, truth): &(Prediction, Option<usize>)| {
            let mut said = said.probabilities().to_vec();
            // One model may have learned fewer labels than another.
            said.resize(labels, 0.0);
            Some((said, u32::try_from((*truth)?).ok()?))
        };
        let known: Vec<(Vec<f64>, u32)> = self.documents.iter().filter_map(of).collect();
        views::temperature(&known)
    }

    /// The mean log loss at a temperature, bits.
    fn loss(&self, temperature: f64) -> f64 {
        let mut evaluation = Evaluation::new(self.labels());
        for (said, truth) in &self.documents {
            let cooled = views::cooled(said.probabilities().to_vec(), temperature);
            evaluation.add(*truth, &Prediction::of(cooled));
        }
        evaluation.log_loss()
    }
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

/// A trainer with the documents that a model is sure of as well, and how many these are.
fn grown(
    trainer: &Trainer,
    model: &TextModel,
    unlabelled: &[Vec<u8>],
    threshold: f64,
) -> (Trainer, u64) {
    let (mut grown, mut taken) = (trainer.clone(), 0);
    let mut predictor = model.predictor();
    for text in unlabelled {
        let prediction = predictor.predict(text);
        let best = prediction.best();
        if prediction.probabilities()[best] >= threshold {
            grown.add(&model.labels()[best], text);
            taken += 1;
        }
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
        assert_eq!(help.judged, 8);
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
    fn one_document_of_each_label_is_too_few_to_try() {
        let mut trainer = Trainer::new(&TrainOptions::default());
        trainer.add("sea", b"a whale");
        trainer.add("war", b"a soldier");
        let never = AtomicBool::new(false);
        let (_, help) = train_with_unlabelled(&trainer, &[b"a whale".to_vec()], &never).unwrap();
        assert_eq!((help.judged, help.taken), (0, 0));
    }
}
