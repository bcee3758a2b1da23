// SPDX-License-Identifier: GPL-3.0-or-later
//! One round of the fit over the weights of an order, some of them at once.
//!
//! What a round sums up does not depend on the order of its terms: maxima, and integers.

use crate::numeric::elementary::narrow;
use crate::numeric::quantize::QuantWeight;

/// Weights that are worked on at once.
pub const LANES: usize = 8;

/// A round under a log-partition, and what has come of it so far.
#[derive(Debug, Clone)]
pub struct Round {
    z: f64,
    cut: u32,
    order: i32,
    deltas: [f64; LANES],
    maxima: [i32; LANES],
    weights: [u64; LANES],
}

/// What a round reads of so many features.
#[derive(Debug, Clone, Copy)]
pub struct Features<'a, const N: usize> {
    /// Occurrences.
    pub counts: &'a [u32; N],
    /// `(log count - log total - d) / R`, nats; finite.
    pub bases: &'a [f64; N],
    /// Suffix sums `s`, steps of 1/32 nat.
    pub suffixes: &'a [u16; N],
    /// `R s + d`, steps.
    pub exponents: &'a [i32; N],
}

impl Round {
    /// A round over features of `order` under the finite log-partition `z`, nats. Features counted
    /// `cut` times or less get no weight.
    pub const fn new(order: u8, z: f64, cut: u32) -> Self {
        let (deltas, maxima, weights) = ([0.0; LANES], [i32::MIN; LANES], [0; LANES]);
        Self { z, cut, order: order as i32, deltas, maxima, weights }
    }

    /// Moves the weights `lambdas` towards what their counts ask for.
    ///
    /// # Panics
    /// If there are more than [`LANES`].
    #[inline]
    pub fn update<const N: usize>(&mut self, lambdas: &mut [u16; N], features: Features<'_, N>) {
        let Features { counts, bases, suffixes, exponents } = features;
        let mut moved = [0.0f32; N];
        for k in 0..N {
            let old = f64::from(lambdas[k]) / 32.0;
            let wanted = bases[k] + self.z - f64::from(suffixes[k]) / 32.0;
            let new = limited(if counts[k] > self.cut { wanted } else { 0.0 }, old);
            let change = (new - old).abs();
            self.deltas[k] = if change > self.deltas[k] { change } else { self.deltas[k] };
            moved[k] = narrow(new);
        }
        *lambdas = QuantWeight::store_all(&moved);
        for k in 0..N {
            let reach = exponents[k] + self.order * i32::from(lambdas[k]);
            self.maxima[k] = self.maxima[k].max(reach);
            self.weights[k] += u64::from(lambdas[k]) * u64::from(counts[k]);
        }
    }

    /// The largest change of a weight, nats.
    pub fn delta(&self) -> f64 {
        self.deltas.iter().fold(0.0, |max, &delta| if delta > max { delta } else { max })
    }

    /// The largest `R l + R s + d`, steps.
    pub fn max(&self) -> i32 {
        self.maxima.iter().fold(i32::MIN, |max, &reach| max.max(reach))
    }

    /// Sum of weight times count, steps.
    pub fn weight(&self) -> u64 {
        self.weights.iter().sum()
    }
}

/// A new weight, at most 100 nats from the old one and not negative.
#[inline]
pub fn limited(new: f64, old: f64) -> f64 {
    let (low, high) = (old - 100.0, old + 100.0);
    let new = if new > high { high } else { new };
    let new = if new < low { low } else { new };
    if new < 0.0 { 0.0 } else { new }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn many_at_once_are_as_one_by_one(
            features in proptest::collection::vec(
                (any::<u16>(), 0..9u32, -3000.0..3000.0f64, any::<u16>(), -70000..70000i32), LANES
            ),
            (order, z, cut) in (1..=7u8, -200.0..200.0f64, 0..5u32),
        ) {
            let column = |k: usize| features[k];
            let mut lambdas: [u16; LANES] = std::array::from_fn(|k| column(k).0);
            let counts: [u32; LANES] = std::array::from_fn(|k| column(k).1);
            let bases: [f64; LANES] = std::array::from_fn(|k| column(k).2);
            let suffixes: [u16; LANES] = std::array::from_fn(|k| column(k).3);
            let exponents: [i32; LANES] = std::array::from_fn(|k| column(k).4);
            let mut round = Round::new(order, z, cut);
            let (mut delta, mut max, mut weight) = (0.0f64, i32::MIN, 0);
            let mut expected = lambdas;
            for k in 0..LANES {
                let old = f64::from(QuantWeight(lambdas[k]).weight());
                let wanted = bases[k] + z - f64::from(QuantWeight(suffixes[k]).weight());
                let new = limited(if counts[k] > cut { wanted } else { 0.0 }, old);
                delta = delta.max((new - old).abs());
                expected[k] = QuantWeight::from_weight(narrow(new)).0;
                max = max.max(exponents[k] + i32::from(order) * i32::from(expected[k]));
                weight += u64::from(expected[k]) * u64::from(counts[k]);
            }
            round.update(
                &mut lambdas,
                Features {
                    counts: &counts,
                    bases: &bases,
                    suffixes: &suffixes,
                    exponents: &exponents,
                },
            );
            prop_assert_eq!(lambdas, expected);
            prop_assert_eq!(round.delta().to_bits(), delta.to_bits());
            prop_assert_eq!((round.max(), round.weight()), (max, weight));
        }
    }
}
