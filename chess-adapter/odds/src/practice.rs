// SPDX-License-Identifier: GPL-3.0-or-later
//! Learns from games that an engine has played.
//!
//! The fit goes on from the weights of a model that has learned from many games, in steps so small
//! that a few games change little, and many change what repeats. Each time all games are learned
//! from the same model: a weight has three bytes, and would round off what one game changes. So the
//! same games in the same order give the same file, however often it was made in between.

use std::fmt;

use crate::choices::{Fit, Groups, Judged, Settings, Tally};
use anyhow::{Result, ensure};

use crate::odds::{Base, describe, file};
use crate::weights::Weights;
use crate::words::Words;
use crate::{Games, Odds};

/// Of so many games one is kept back, to see whether the others made the model better.
const KEPT_BACK: usize = 5;

/// Games that are learned at most, the last ones.
const MOST: usize = 500;

/// Length of the first steps, the sums of squared gradients that weights begin with, and how often
/// each position is learned (docs/lab/chess.md).
const RATE: f64 = 0.01;
const START: f32 = 3.0;
const PASSES: usize = 2;

/// What came of learning games.
#[derive(Clone, Debug)]
pub struct Practised {
    /// The file: with the weights of the model if the new ones are worse.
    pub file: Vec<u8>,
    /// Number of games.
    pub games: usize,
    /// How the first stage of the model, and that of the new weights, classified the games kept
    /// back.
    pub kept_back: [Tally; 2],
}

impl Practised {
    /// Whether the new weights are better.
    pub fn is_better(&self) -> bool {
        self.kept_back[1].bits < self.kept_back[0].bits
    }
}

impl fmt::Display for Practised {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [before, after] = self.kept_back.map(|tally| tally.mean_bits());
        write!(out, "learned from {} games: on those kept back ", self.games)?;
        match self.is_better() {
            true => write!(out, "{before:.3} bits a move became {after:.3}"),
            false => write!(out, "it brings nothing, so the weights stay"),
        }
    }
}

/// Learns games, beginning with the weights of a model; `rest` is called before each position.
///
/// # Errors
///
/// The model was learned in play itself.
pub fn practise(model: &Odds, games: &Games, rest: &dyn Fn()) -> Result<Practised> {
    ensure!(model.base.is_none(), "it was learned in play itself");
    let numbers = games.count().saturating_sub(MOST)..games.count();
    let is_kept_back = |game: &usize| game % KEPT_BACK == KEPT_BACK - 1;
    let learned = numbers.clone().filter(|game| !is_kept_back(game));
    let places: Vec<_> = learned.flat_map(|game| games.of_game(game)).collect();
    let settings = Settings { rate: RATE, groups: (PASSES * places.len()) as u64, start: START };
    let (mut fit, mut words) = (Fit::new(settings), Words::default());
    let mut described = |place| {
        rest();
        let (replayed, mut groups) = (games.replay(place), Groups::default());
        describe(replayed.turn(), replayed.played, &mut words, &mut groups);
        groups
    };
    for _ in 0..PASSES {
        for &place in &places {
            let groups = described(place);
            let group = groups.get(0);
            fit.recall(group, |id| model.first.get(id));
            fit.learn(group);
        }
    }
    let weights = fit.weights().chain(model.first.iter());
    let new = Weights::pack(weights, Some(model.first.unit));
    let mut scored: [Judged; 2] = Default::default();
    for place in numbers.filter(is_kept_back).flat_map(|game| games.of_game(game)) {
        let groups = described(place);
        let group = groups.get(0);
        for (first, scored) in [&model.first, &new].into_iter().zip(&mut scored) {
            scored.push(&first.scores(group), group.chosen);
        }
    }
    let kept_back = scored.map(|scored| scored.tally(model.calibration));
    let mut practised = Practised { file: Vec::new(), games: games.count(), kept_back };
    let best = if practised.is_better() { &new } else { &model.first };
    let base = Base { sum: model.sum, games: games.count() };
    let second = model.second.as_ref().map(|(second, _)| second);
    practised.file = file(best, model.calibration, Some(base), second);
    Ok(practised)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit;
    use crate::testing::games;
    use shakmaty::Chess;

    #[test]
    fn what_repeats_is_learned_and_what_does_not_leaves_the_weights() {
        let options = fit::Options { positions: 400, seed: 1, threads: 1, depth: 0 };
        let model = fit::learn(&games(60, 40), &options, &|_, _| ()).expect("learned").file;
        let model = Odds::new(model).expect("a model");
        let all = games(61, 40);
        let (mut same, mut four) = (Games::default(), Games::default());
        for number in 0..10 {
            same.push(Chess::default(), all.replay((60, 39)).past);
            if number < 4 {
                four.push(Chess::default(), all.replay((number, 39)).past);
            }
        }
        let learned = practise(&model, &same, &|| ()).expect("learned");
        let [before, after] = learned.kept_back.map(|tally| tally.mean_bits());
        assert!(learned.is_better() && after < before - 0.1, "{learned}");
        assert!(learned.file == practise(&model, &same, &|| ()).expect("learned").file);
        let odds = Odds::new(learned.file).expect("a model");
        assert_eq!(odds.base, Some(Base { sum: model.sum, games: 10 }));
        let again = practise(&odds, &same, &|| ()).expect_err("made in play");
        assert!(again.to_string().contains("learned in play"), "{again}");
        // Without a game kept back nothing shows that the weights are better.
        let kept = practise(&model, &four, &|| ()).expect("read");
        let kept = Odds::new(kept.file).expect("a model");
        assert!(kept.first.packed() == model.first.packed());
    }
}
