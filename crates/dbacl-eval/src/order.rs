// SPDX-License-Identifier: GPL-3.0-or-later
//! Random choices that a seed repeats: folds for messages, and the order of a simulation.

/// A small generator (SplitMix64): good enough for shuffles, the same on every machine.
#[derive(Debug, Clone)]
pub struct Generator(u64);

impl Generator {
    /// The generator that `seed` stands for.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, each with the same chance (to within 2^-64 of it). 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let product = u128::from(self.next()) * bound as u128;
        usize::try_from(product >> 64).unwrap_or(0)
    }

    /// Brings `items` into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// Deals messages out to folds: each run of as many messages as there are folds gives one to each, in
/// random order. So folds of a category differ by one message at most.
#[derive(Debug, Clone)]
pub struct Dealer {
    generator: Generator,
    folds: Vec<usize>,
    at: usize,
}

impl Dealer {
    /// A dealer for folds 0 to `count` - 1.
    pub fn new(count: usize, generator: Generator) -> Self {
        Self { generator, folds: (0..count).collect(), at: 0 }
    }

    /// The next message's fold.
    pub fn deal(&mut self) -> usize {
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
            let mut dealer = Dealer::new(4, Generator::new(seed));
            (0..30).map(|_| dealer.deal()).collect::<Vec<_>>()
        };
        assert_eq!(deal(1), deal(1));
        assert_ne!(deal(1), deal(2));
        for fold in 0..4 {
            let size = deal(7).iter().filter(|&&dealt| dealt == fold).count();
            assert!((7..=8).contains(&size), "{size} in fold {fold}");
        }
    }

    #[test]
    fn every_choice_comes_up() {
        let mut generator = Generator::new(3);
        let mut seen = [0; 3];
        for _ in 0..3000 {
            seen[generator.below(3)] += 1;
        }
        assert!(seen.iter().all(|&count| (900..1100).contains(&count)), "{seen:?}");
        assert_eq!(generator.below(0), 0);
    }
}
