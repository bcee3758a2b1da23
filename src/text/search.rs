// SPDX-License-Identifier: GPL-3.0-or-later
//! Choosing features within a stated time: one recipe after the other is trained, and the one with
//! the fewest errors in cross-validation wins.

use crate::Scheme;
use crate::text::learn::Watch;
use crate::text::recipe::{Preset, Recipe};
use crate::text::train::{TrainError, Trained, Trainer};
use std::fmt;
use std::time::{Duration, Instant};

/// What is tried after the recipe itself, in this order: what serves most texts comes first.
fn candidates(base: &Recipe) -> Vec<Recipe> {
    let preset = |preset| Recipe { preset: Some(preset), ..base.clone() };
    let cut = |tokenizer, order| Recipe {
        tokenizer: Some(tokenizer),
        order: Some(order),
        ..preset(Preset::Both)
    };
    let cased = |recipe: Recipe| Recipe { case_sensitive: true, ..recipe };
    let with = |cost| Recipe { cost: Some(cost), ..base.clone() };
    vec![
        base.clone(),
        Recipe { choose: true, ..base.clone() },
        preset(Preset::Both),
        preset(Preset::Pairs),
        preset(Preset::Chars),
        cased(preset(Preset::Both)),
        with(0.2),
        cut(Scheme::Cef, 2),
        with(0.02),
        cased(cut(Scheme::Cef, 2)),
        cut(Scheme::Word, 3),
        preset(Preset::Words),
    ]
}

/// What one recipe brought.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The recipe.
    pub recipe: Recipe,
    /// Errors in cross-validation, and documents that were classified.
    pub errors: (u64, u64),
    /// Whether it is the best so far.
    pub is_best: bool,
    /// Time since the search began.
    pub elapsed: Duration,
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { recipe, errors: (errors, judged), is_best, elapsed } = self;
        let best = if *is_best { ", the best so far" } else { "" };
        let spelling = recipe.command();
        let spelling = if spelling.is_empty() { "(default)" } else { &spelling };
        write!(f, "{:>4} s  {spelling:<40} {errors} errors in {judged}{best}", elapsed.as_secs())
    }
}

/// Trains with the recipe of `trainer` and the texts without labels in `unlabelled`. With
/// `seconds`, trains without those texts, with one recipe after the other, and stops before a
/// training that would probably last beyond that time; at least one recipe is trained. Calls `told`
/// after each. Returns the best model.
///
/// # Errors
/// Those of [`Trainer::train_watched`].
pub fn best(
    trainer: &Trainer,
    seconds: Option<u64>,
    unlabelled: &[Vec<u8>],
    watch: &Watch<'_>,
    told: &mut dyn FnMut(&Trial),
) -> Result<Trained, TrainError> {
    let Some(limit) = seconds.map(Duration::from_secs) else {
        return trainer.train_watched(trainer.recipe(), unlabelled, watch);
    };
    let begin = Instant::now();
    let mut best: Option<Trained> = None;
    let mut failure = None;
    let mut longest = Duration::ZERO;
    for recipe in candidates(trainer.recipe()) {
        if best.is_some() && begin.elapsed() + longest > limit {
            break;
        }
        let start = Instant::now();
        let trained = match trainer.train_watched(&recipe, &[], watch) {
            Ok(trained) => trained,
            // Some texts have no words of some kinds.
            Err(error @ TrainError::NoWords { .. }) => {
                failure.get_or_insert(error);
                continue;
            }
            Err(error) => return Err(error),
        };
        longest = longest.max(start.elapsed());
        let is_best = best.as_ref().is_none_or(|best| trained.errors < best.errors);
        let errors = (trained.errors, trained.judged);
        told(&Trial { recipe, errors, is_best, elapsed: begin.elapsed() });
        if is_best {
            best = Some(trained);
        }
    }
    best.ok_or_else(|| failure.unwrap_or(TrainError::NoDocuments))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_so_far_is_kept() {
        let words = Recipe { preset: Some(Preset::Words), ..Recipe::default() };
        let mut trainer = Trainer::of_recipe(&words, &mut |_| {}).unwrap();
        for number in 0..40 {
            // Only the order of the words tells the labels apart.
            for (label, text) in [("ab", "then a b went"), ("ba", "then b a went")] {
                trainer.add(label, format!("{text} {number}").as_bytes());
            }
        }
        let mut trials = Vec::new();
        let search = |seconds, told: &mut dyn FnMut(&Trial)| {
            best(&trainer, Some(seconds), &[], &Watch::default(), told).unwrap()
        };
        let found = search(600, &mut |trial| trials.push(trial.clone()));
        assert_eq!((found.errors, found.model.recipe().preset), (0, Some(Preset::Both)));
        assert_eq!(trials.len(), candidates(&words).len());
        assert!(trials[0].errors.0 > 0 && trials[0].is_best, "{trials:?}");
        let mut count = 0;
        search(0, &mut |_| count += 1);
        assert_eq!(count, 1);
    }
}
