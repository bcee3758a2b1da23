// SPDX-License-Identifier: GPL-3.0-or-later
//! Pseudo-random numbers that are the same on every machine: [`Random`], which decimation and the
//! reservoir of dbacl 1.14.1 are drawn with, and [`SplitMix64`] for everything new.

/// Largest value of [`Random::draw`].
pub const RAND_MAX: i32 = i32::MAX;

const LAG: usize = 31;

/// The C library's additive-feedback `rand()` with seed 1 (spec model 4.2): the sequence
/// 1804289383, 846930886, 1681692777, …
#[derive(Debug, Clone)]
pub struct Random {
    state: [u32; LAG],
    /// Index of the oldest value of `state`.
    next: usize,
}

impl Default for Random {
    fn default() -> Self {
        Self::new()
    }
}

impl Random {
    /// The generator at the start of its sequence.
    pub fn new() -> Self {
        let mut state = [0; LAG];
        let mut value = 1u64;
        for cell in &mut state {
            *cell = u32::try_from(value).expect("residues modulo 2^31 - 1 fit");
            value = 16807 * value % 2147483647;
        }
        let mut random = Self { state, next: 0 };
        // r[31..34] repeat r[0..3]; then 310 values are thrown away.
        random.next = 3;
        for _ in 34..344 {
            random.step();
        }
        random
    }

    fn step(&mut self) -> u32 {
        let value = self.state[self.next].wrapping_add(self.state[(self.next + LAG - 3) % LAG]);
        self.state[self.next] = value;
        self.next = (self.next + 1) % LAG;
        value
    }

    /// The next number, 0..=[`RAND_MAX`].
    pub fn draw(&mut self) -> i32 {
        i32::try_from(self.step() >> 1).expect("31 bits fit")
    }

    /// The next number as a fraction in 0..1.
    pub fn fraction(&mut self) -> f64 {
        f64::from(self.draw()) / 2147483648.0
    }

    /// Whether something that is kept with probability 2^-`decimation` is kept this time.
    pub fn keeps(&mut self, decimation: u32) -> bool {
        self.draw() <= RAND_MAX >> decimation
    }
}

/// `SplitMix64` (Steele, Lea and Flood 2014): 64 bits of state, and every seed is good. It orders
/// documents for the joint fit and deals them to folds.
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The generator that `seed` stands for.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub const fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, each with the same chance (to within 2^-64 of it). 0 if `bound` is
    /// 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let product = u128::from(self.draw()) * bound as u128;
        usize::try_from(product >> 64).unwrap_or(0)
    }

    /// Brings `items` into a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_numbers_are_the_c_librarys() {
        let mut random = Random::new();
        let drawn: Vec<i32> = (0..4).map(|_| random.draw()).collect();
        assert_eq!(drawn, [1804289383, 846930886, 1681692777, 1714636915]);
    }

    #[test]
    fn a_seed_always_gives_the_same_order() {
        let shuffled = |seed| {
            let mut items = [1, 2, 3, 4, 5, 6, 7, 8];
            SplitMix64::new(seed).shuffle(&mut items);
            items
        };
        assert_eq!(shuffled(7), shuffled(7));
        assert_ne!(shuffled(7), shuffled(8));
    }

    #[test]
    fn messages_kept_by_one_half_are_the_documented_ones() {
        let mut random = Random::new();
        let kept: Vec<u32> = (1..=40).filter(|_| random.keeps(1)).collect();
        let documented = [2, 6, 7, 9, 11, 13, 19, 21, 22, 23, 25, 26, 27, 28, 30, 34, 37, 39];
        assert_eq!(kept, documented);
    }

    #[test]
    fn every_choice_comes_up() {
        let mut generator = SplitMix64::new(3);
        let mut seen = [0; 3];
        for _ in 0..3000 {
            seen[generator.below(3)] += 1;
        }
        assert!(seen.iter().all(|&count| (900..1100).contains(&count)), "{seen:?}");
        assert_eq!(generator.below(0), 0);
    }
}
