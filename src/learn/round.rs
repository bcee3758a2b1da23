// SPDX-License-Identifier: GPL-3.0-or-later
//! One round of the fit over the weights of an order.
//!
//! A weight moves to `base + z - s`, is rounded to f32 and cut to a multiple of 1/32. Where that lies
//! well between two multiples, fixed point finds the same one, several weights at once; where it does
//! not, where the change may be the largest so far, and where a weight is large, the formula decides.

use super::features::Features;
use crate::numeric::elementary::narrow;
use crate::numeric::quantize::QuantWeight;

/// Weights that are worked on at once.
const LANES: usize = 8;

/// Fractional bits of a step of 1/32 nat in fixed point.
const FRACTION: u32 = 14;

/// Pulls in fixed point stay within this many units on either side of 0.
const REACH: i32 = 1 << 30;

/// Units by which fixed point can be wrong, below [`HIGH`]: one each for the pull and for z, which are
/// cut off, and four for the rounding to f32.
const DOUBT: i32 = 8;

/// 256 nats: from here on the formula decides.
const HIGH: i32 = (256 * 32) << FRACTION;

/// A change a little below the 100 nats that a weight may move at once.
const LARGE: i32 = (99 * 32) << FRACTION;

/// A pull `base - s`, nats, in fixed point. Those out of reach end up below 0, or above [`HIGH`].
#[inline]
pub fn in_fixed_point(pull: f64) -> i32 {
    in_units(pull).clamp(-REACH, REACH - 1)
}

/// Nats as units of fixed point, cut off.
#[allow(clippy::cast_possible_truncation)] // saturates
#[inline]
fn in_units(nats: f64) -> i32 {
    (nats * f64::from(32 << FRACTION)) as i32
}

/// What a round has found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moved {
    /// The largest change of a weight, nats.
    pub delta: f64,
    /// The largest `R l + R s + d`, steps.
    pub max: i32,
}

/// Moves all weights towards what their counts ask for under the log-partition `z`, nats. All bases and
/// `z` must be finite.
pub fn round(features: &mut Features, z: f64) -> Moved {
    let order = i32::from(features.order);
    let units = in_units(z);
    let is_plain = (-REACH / 2..REACH / 2).contains(&units);
    let units = if is_plain { units } else { 0 };
    let (mut delta, mut bar) = (0.0f64, 0);
    let mut maxima = [i32::MIN; LANES];
    let length = features.lambdas.len();
    let whole = length / LANES * LANES;
    for at in (0..whole).step_by(LANES) {
        let lambdas = features.lambdas[at..].first_chunk_mut::<LANES>().expect("a whole block");
        let pulls = features.pulls[at..].first_chunk().expect("a whole block");
        let (moved, is_doubtful) = in_fixed_steps(lambdas, pulls, units, bar);
        if is_doubtful || !is_plain {
            delta = delta.max(block_by_formula(features, at, z));
            bar = in_units(delta).min(LARGE) - DOUBT;
        } else {
            *lambdas = moved;
        }
        let lambdas = features.lambdas[at..].first_chunk::<LANES>().expect("a whole block");
        let exponents = features.exponents[at..].first_chunk::<LANES>().expect("a whole block");
        for k in 0..LANES {
            maxima[k] = maxima[k].max(exponents[k] + order * i32::from(lambdas[k]));
        }
    }
    let mut max = maxima.into_iter().fold(i32::MIN, i32::max);
    for k in whole..length {
        delta = delta.max(by_formula(features, k, z));
        max = max.max(features.exponents[k] + order * i32::from(features.lambdas[k]));
    }
    Moved { delta, max }
}

/// The weights after a move, and whether one of them is in doubt, or changes by more than `bar`.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // below 256 nats unless in doubt
#[allow(clippy::needless_bitwise_bool)] // compared at once
#[inline]
fn in_fixed_steps(
    lambdas: &[u16; LANES],
    pulls: &[i32; LANES],
    z: i32,
    bar: i32,
) -> ([u16; LANES], bool) {
    const BELOW_STEP: i32 = (1 << FRACTION) - 1;
    let (mut moved, mut doubts) = ([0u16; LANES], [false; LANES]);
    for k in 0..LANES {
        let wanted = pulls[k] + z;
        let new = wanted.max(0);
        let change = (new - (i32::from(lambdas[k]) << FRACTION)).abs();
        let is_near_step = (wanted + DOUBT) & BELOW_STEP < 2 * DOUBT;
        doubts[k] = is_near_step | (wanted >= HIGH) | (change >= bar);
        moved[k] = (new >> FRACTION) as u16;
    }
    (moved, doubts.iter().fold(false, |any, doubt| any | doubt))
}

/// Moves the weights of a block as specified; returns the largest change, nats.
#[cold]
fn block_by_formula(features: &mut Features, at: usize, z: f64) -> f64 {
    (at..at + LANES).fold(0.0, |delta, k| by_formula(features, k, z).max(delta))
}

/// Moves the weight at `k` as specified; returns its change, nats.
#[inline]
fn by_formula(features: &mut Features, k: usize, z: f64) -> f64 {
    let old = f64::from(features.lambdas[k]) / 32.0;
    let new = limited(features.wanted(k, z), old);
    features.lambdas[k] = QuantWeight::from_weight(narrow(new)).0;
    (new - old).abs()
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
    use crate::learn::features::Scale;
    use crate::learn::weights::SlotWeights;
    use proptest::prelude::*;

    /// Pulls next to multiples of 1/32 and of their rounding, and far from them.
    fn pulls() -> impl Strategy<Value = f64> {
        let steps = (-70_000..70_000i32).prop_map(|steps| f64::from(steps) / 32.0);
        let near = (-9..9i32).prop_map(|units| f64::from(units) / f64::from(32 << 14));
        let nearer = (-3..3i32).prop_map(|units| f64::from(units) * 1e-9);
        prop_oneof![
            (steps, near, nearer).prop_map(|(a, b, c)| a + b + c),
            -300.0..300.0f64,
            (0..8000i32, -1e-5..1e-5f64).prop_map(|(steps, off)| f64::from(steps) / 32.0 + off),
        ]
    }

    proptest! {
        #[test]
        fn fixed_point_moves_weights_as_the_formula_does(
            items in proptest::collection::vec((1..9u32, 0..2000u16, 0..3000u16, any::<u16>()), 1..50),
            steps in proptest::collection::vec(pulls(), 1..4),
            (order, cut, total) in (1..=7u8, 0..3u32, 1..100_000u32),
            small: bool,
        ) {
            let mut features = Features::new(Scale { order, total, cut });
            for (count, reference, suffix, lambda) in items {
                let lambda = if small { lambda % 9000 } else { lambda };
                features.push(count, SlotWeights { lambda, suffix, reference });
            }
            for pull in steps {
                // z so that the first weight ends up where asked for.
                let z = pull - features.wanted(0, 0.0);
                let mut expected = features.clone();
                let (mut delta, mut max) = (0.0f64, i32::MIN);
                for k in 0..expected.lambdas.len() {
                    delta = delta.max(by_formula(&mut expected, k, z));
                    let lambda = i32::from(expected.lambdas[k]);
                    max = max.max(expected.exponents[k] + i32::from(order) * lambda);
                }
                let moved = round(&mut features, z);
                prop_assert_eq!(&features.lambdas, &expected.lambdas);
                prop_assert_eq!((moved.delta.to_bits(), moved.max), (delta.to_bits(), max));
            }
        }
    }
}
