// SPDX-License-Identifier: GPL-3.0-or-later
//! Choosing features within a stated time: one way to read texts after the other is trained with
//! the settings of the trainer, which may be chosen by cross-validation, and the one with the
//! fewest errors on documents that were not learned from wins.

use crate::recipe::OPTIONS;
use crate::train::{SecondView, TrainError, TrainOptions, Trained, Trainer};
use dbacl::{ModelOption, Reference, Scheme};
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// A way to read texts, as the program's options spell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// How text is cut into words.
    pub tokenizer: Scheme,
    /// Longest run of words.
    pub order: u8,
    /// Whether upper and lower case are told apart.
    pub keeps_case: bool,
    /// The reference measure.
    pub reference: Reference,
    /// Whether there is a second view, of characters.
    pub is_both: bool,
}

impl Candidate {
    const fn new(tokenizer: Scheme, order: u8) -> Self {
        let reference = Reference::Uniform;
        Self { tokenizer, order, keeps_case: false, reference, is_both: false }
    }

    /// The options that choose it.
    pub fn spelling(self) -> String {
        let mut text = format!("-e {} -w {}", self.tokenizer.name(), self.order);
        if self.keeps_case {
            text.push_str(" -j");
        }
        if self.reference == Reference::Dirichlet {
            text.push_str(" -L dirichlet");
        }
        if self.is_both {
            text.push_str(" --both");
        }
        text
    }

    fn options(self, base: &TrainOptions) -> TrainOptions {
        let learn = base.learn.clone().tokenizer(self.tokenizer).order(self.order);
        let learn = learn.reference(self.reference);
        let learn = if self.keeps_case { learn.with(ModelOption::KeepCase) } else { learn };
        let second = self.is_both.then(|| SecondView::of_characters(&learn));
        TrainOptions { learn, second, fit: base.fit.clone() }
    }
}

/// What is tried, in this order: what serves most texts comes first.
pub const CANDIDATES: [Candidate; 12] = [
    Candidate::new(Scheme::Word, 2),
    Candidate { is_both: true, ..Candidate::new(Scheme::Word, 2) },
    Candidate::new(Scheme::Word, 1),
    Candidate::new(Scheme::Alnum, 2),
    Candidate { reference: Reference::Dirichlet, ..Candidate::new(Scheme::Alpha, 1) },
    Candidate { keeps_case: true, ..Candidate::new(Scheme::Word, 2) },
    Candidate { keeps_case: true, is_both: true, ..Candidate::new(Scheme::Word, 2) },
    Candidate::new(Scheme::Glyph, 4),
    Candidate { keeps_case: true, ..Candidate::new(Scheme::Cef, 2) },
    Candidate { reference: Reference::Dirichlet, ..Candidate::new(Scheme::Cef, 1) },
    Candidate::new(Scheme::Word, 3),
    Candidate::new(Scheme::Glyph, 5),
];

/// What one candidate brought.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The candidate.
    pub candidate: Candidate,
    /// Errors in cross-validation, and documents that were judged.
    pub errors: (usize, u64),
    /// Whether it is the best so far.
    pub is_best: bool,
    /// Time since the search began.
    pub elapsed: Duration,
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { candidate, errors: (errors, judged), is_best, elapsed } = self;
        let best = if *is_best { ", the best so far" } else { "" };
        let (spelling, seconds) = (candidate.spelling(), elapsed.as_secs());
        write!(f, "{seconds:>4} s  {spelling:<26} {errors} errors in {judged}{best}")
    }
}

/// Trains with one candidate after the other until `limit` is over, or would be with the next one,
/// and tells `told` of each. At least one is trained. Returns the best model and its candidate.
///
/// # Errors
/// Those of training, if no candidate could be trained.
pub fn search(
    trainer: &Trainer,
    limit: Duration,
    told: &mut dyn FnMut(&Trial),
) -> Result<(Trained, Candidate), TrainError> {
    search_stoppable(trainer, limit, &AtomicBool::new(false), told)
}

/// The same; another thread may end it by setting `stop`.
///
/// # Errors
/// [`TrainError::Stopped`], and those of [`search`].
pub fn search_stoppable(
    trainer: &Trainer,
    limit: Duration,
    stop: &AtomicBool,
    told: &mut dyn FnMut(&Trial),
) -> Result<(Trained, Candidate), TrainError> {
    let begin = Instant::now();
    let mut best: Option<(Trained, Candidate)> = None;
    let mut failure = None;
    let mut longest = Duration::ZERO;
    for candidate in CANDIDATES {
        if best.is_some() && begin.elapsed() + longest > limit {
            break;
        }
        let start = Instant::now();
        let trained = match trainer.train_stoppable(&candidate.options(trainer.options()), stop) {
            Ok(trained) => trained,
            // Some texts have no words of some kinds.
            Err(error @ (TrainError::NoWords { .. } | TrainError::Fit(_))) => {
                failure.get_or_insert(error);
                continue;
            }
            Err(error) => return Err(error),
        };
        longest = longest.max(start.elapsed());
        // Documents without words of this kind are wrong, or might as well be.
        let misses = |it: &Trained| it.quality.errors as u64 + (trainer.len() - it.documents);
        let is_best = best.as_ref().is_none_or(|(best, _)| misses(&trained) < misses(best));
        let errors = (trained.quality.errors, trained.judged);
        told(&Trial { candidate, errors, is_best, elapsed: begin.elapsed() });
        if is_best {
            best = Some((trained, candidate));
        }
    }
    let (mut trained, candidate) =
        best.ok_or_else(|| failure.unwrap_or(TrainError::NoDocuments))?;
    if let Some(recipe) = trainer.recipe() {
        // The model tells which options make it again.
        trained.model.tell(OPTIONS, &recipe.clone().with_candidate(candidate).told());
    }
    Ok((trained, candidate))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbacl::FitOptions;

    #[test]
    fn the_best_so_far_is_kept() {
        let options = TrainOptions { fit: FitOptions::default(), ..TrainOptions::default() };
        let mut trainer = Trainer::new(&options);
        for number in 0..40 {
            // Only the order of the words tells the labels apart.
            for (label, text) in [("ab", "then a b went"), ("ba", "then b a went")] {
                trainer.add(label, format!("{text} {number}").as_bytes());
            }
        }
        let mut trials = Vec::new();
        let limit = Duration::from_secs(600);
        let (trained, best) =
            search(&trainer, limit, &mut |trial| trials.push(trial.clone())).unwrap();
        assert_eq!(best, CANDIDATES[0]);
        assert_eq!(trained.quality.errors, 0);
        assert_eq!(trials.len(), CANDIDATES.len());
        assert_eq!(trials.iter().filter(|trial| trial.is_best).count(), 1);
        assert!(trials[2].errors.0 > 0, "{trials:?}");
        let mut count = 0;
        search(&trainer, Duration::ZERO, &mut |_| count += 1).unwrap();
        assert_eq!(count, 1);
    }

    #[test]
    fn candidates_are_spelled_as_options() {
        assert_eq!(CANDIDATES[0].spelling(), "-e word -w 2");
        assert_eq!(CANDIDATES[1].spelling(), "-e word -w 2 --both");
        assert_eq!(CANDIDATES[8].spelling(), "-e cef -w 2 -j");
        assert_eq!(CANDIDATES[9].spelling(), "-e cef -w 1 -L dirichlet");
    }
}
