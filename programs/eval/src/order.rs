// SPDX-License-Identifier: GPL-3.0-or-later
//! Deals messages to folds, by choices that a seed repeats.

use dbacl_numeric::random::SplitMix64;

/// Deals messages out to folds: each run of as many messages as there are folds gives one to each,
/// in random order. So folds of a category differ by one message at most.
#[derive(Debug, Clone)]
pub(crate) struct Dealer {
    generator: SplitMix64,
    folds: Vec<usize>,
    at: usize,
}

impl Dealer {
    /// A dealer for folds 0 to `count` - 1.
    pub(crate) fn new(count: usize, generator: SplitMix64) -> Self {
        Self { generator, folds: (0..count).collect(), at: 0 }
    }

    /// The next message's fold.
    pub(crate) fn deal(&mut self) -> usize {
        if self.at == 0 {
            self.generator.shuffle(&mut self.folds);
        }
        let fold = self.folds.get(self.at).copied().unwrap_or(0);
        self.at = (self.at + 1) % self.folds.len().max(1);
        fold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_are_even_and_repeatable() {
        let deal = |seed| {
            let mut dealer = Dealer::new(4, SplitMix64::new(seed));
            (0..30).map(|_| dealer.deal()).collect::<Vec<_>>()
        };
        assert_eq!(deal(1), deal(1));
        assert_ne!(deal(1), deal(2));
        for fold in 0..4 {
            let size = deal(7).iter().filter(|&&dealt| dealt == fold).count();
            assert!((7..=8).contains(&size), "{size} in fold {fold}");
        }
    }
}
