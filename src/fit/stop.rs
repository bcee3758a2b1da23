// SPDX-License-Identifier: GPL-3.0-or-later
//! Ending long computations before they are done.

/// A computation was asked to end before it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped;

/// Whether a computation is to end. It is asked between passes over documents and never inside a
/// sum, so a computation that is not stopped gives the same bits as without it.
#[derive(Clone, Copy)]
pub struct Stop<'a>(&'a (dyn Fn() -> bool + Sync));

impl<'a> Stop<'a> {
    /// For computations that nobody stops.
    pub const NEVER: Stop<'static> = Stop(&|| false);

    /// Ends a computation as soon as `is_wanted` returns true.
    pub const fn when(is_wanted: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self(is_wanted)
    }

    /// Returns whether the computation may go on.
    ///
    /// # Errors
    /// [`Stopped`]
    pub fn check(self) -> Result<(), Stopped> {
        if (self.0)() { Err(Stopped) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::documents::{Corpus, Term};
    use super::super::joint::{FitError, FitOptions, Problem};
    use super::super::lanewise::PASSES;
    use super::*;
    use crate::learn::learner::Learner;
    use crate::learn::options::LearnOptions;
    use crate::token::id::FeatureId;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn a_fit_ends_at_whichever_pass_it_is_asked_to() {
        for labels in [2, 3] {
            let learn = |text: String| {
                let mut learner = Learner::new(&LearnOptions::text()).unwrap();
                learner.learn(text.as_bytes());
                learner.finish().unwrap().category
            };
            let categories: Vec<_> = (0..labels).map(|at| learn(format!("word{at}"))).collect();
            let names: Vec<String> = (0..labels).map(|at| format!("label{at}")).collect();
            let mut corpus = Corpus::default();
            for number in 0..24 {
                let own = Term::new(FeatureId(10 + number % labels), 1, 1);
                corpus.push(number % labels, 2, &[own, Term::new(FeatureId(5), 1, 1)]);
            }
            let options = FitOptions::default().always();
            let solve = |stop: Stop<'_>| {
                let (categories, names, options) = (&categories, &names, &options);
                let (is_mail, general) = (false, None);
                let problem = Problem { categories, names, options, is_mail, general, stop };
                problem.solve(corpus.clone(), &mut |_| {}).map(|solution| solution.choice.scores)
            };
            let asked = AtomicU32::new(0);
            let count = || {
                asked.fetch_add(1, Ordering::Relaxed);
                false
            };
            let scores = solve(Stop::when(&count)).unwrap();
            let asked = asked.into_inner();
            // Fits of the one cost and four folds, and the final one.
            assert!(asked >= 5 * PASSES, "{asked}");
            for last in 0..asked {
                let rest = AtomicU32::new(last);
                let ends = || {
                    let less = |rest: u32| rest.checked_sub(1);
                    rest.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err()
                };
                assert_eq!(solve(Stop::when(&ends)), Err(FitError::Stopped), "{last} of {asked}");
            }
            assert_eq!(solve(Stop::NEVER).unwrap(), scores);
        }
    }
}
