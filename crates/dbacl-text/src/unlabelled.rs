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

use crate::evaluate::Evaluation;
use crate::model::TextModel;
use crate::train::{TrainError, Trained, Trainer};
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
    let mut with = [Judgement::default(); THRESHOLDS.len()];
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
    let is_good = |it: &Judgement| it.errors <= without.errors && it.loss <= without.loss;
    let tried = THRESHOLDS.into_iter().zip(with).filter(|(_, with)| is_good(with));
    let best =
        tried.min_by(|(_, a), (_, b)| a.errors.cmp(&b.errors).then(a.loss.total_cmp(&b.loss)));
    let Judgement { judged, errors: errors_without, .. } = without;
    let mut help =
        Help { threshold: None, taken: 0, judged, errors_without, errors: errors_without };
    let Some((threshold, found)) = best.filter(|_| judged > 0) else { return Ok((alone, help)) };
    let (grown, taken) = grown(trainer, &alone.model, unlabelled, threshold);
    if taken == 0 {
        return Ok((alone, help));
    }
    (help.threshold, help.taken, help.errors) = (Some(threshold), taken, found.errors);
    let mut trained = train(&grown)?;
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

/// How well labelled documents were judged.
#[derive(Debug, Clone, Copy, Default)]
struct Judgement {
    judged: u64,
    errors: u64,
    /// Sum of the log losses, bits.
    loss: f64,
}

impl Judgement {
    fn add(&mut self, model: &TextModel, documents: &[(&str, &[u8])]) {
        if documents.is_empty() {
            return;
        }
        let mut predictor = model.predictor();
        let mut evaluation = Evaluation::new(model.labels().len());
        for (label, text) in documents {
            let truth = model.labels().iter().position(|known| known == label);
            let prediction = predictor.predict(text);
            self.errors += u64::from(truth != Some(prediction.best()));
            evaluation.add(truth, &prediction);
        }
        let judged = evaluation.documents();
        self.judged += judged;
        #[allow(clippy::cast_precision_loss)] // a number of documents
        let weight = judged as f64;
        self.loss += evaluation.log_loss() * weight;
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
    use crate::train::TrainOptions;

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
