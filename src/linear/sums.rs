// SPDX-License-Identifier: GPL-3.0-or-later
//! What a table adds up.

use dbacl_numeric::elementary::narrow;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// A sum over documents of their parts of a column.
pub(crate) trait Sum: Copy + Default + PartialEq + Debug {
    /// The sum with this value, rounded.
    fn of(value: f64) -> Self;
    /// Its value.
    fn value(self) -> f32;
    /// It and another one.
    #[must_use]
    fn plus(self, other: Self) -> Self;
    /// It without another one.
    #[must_use]
    fn minus(self, other: Self) -> Self;
    /// A scale, kept in the place of a sum.
    fn of_scale(scale: f32) -> Self;
    /// The scale that is kept here.
    fn scale(self) -> f32;
}

/// Rounds after each addition: small, and not to be forgotten from exactly.
impl Sum for f32 {
    fn of(value: f64) -> Self {
        narrow(value)
    }

    fn value(self) -> f32 {
        self
    }

    fn plus(self, other: Self) -> Self {
        self + other
    }

    fn minus(self, other: Self) -> Self {
        self - other
    }

    fn of_scale(scale: f32) -> Self {
        scale
    }

    fn scale(self) -> f32 {
        self
    }
}

/// A whole number of steps of 2^-32: sums are exact, so that their order does not matter and what
/// was added can be taken away again. Beyond 2^31 they wrap around, and taking away wraps back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Exact(
    /// The number of steps.
    pub i64,
);

impl Exact {
    const STEPS: f64 = 4_294_967_296.0;
}

impl Sum for Exact {
    #[allow(clippy::cast_possible_truncation)] // saturates
    fn of(value: f64) -> Self {
        Self((value * Self::STEPS).round() as i64)
    }

    #[allow(clippy::cast_precision_loss)] // rounds to the nearest
    fn value(self) -> f32 {
        self.0 as f32 * (1.0 / 4_294_967_296.0)
    }

    fn plus(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }

    fn minus(self, other: Self) -> Self {
        Self(self.0.wrapping_sub(other.0))
    }

    fn of_scale(scale: f32) -> Self {
        Self(i64::from(scale.to_bits()))
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // what of_scale put in
    fn scale(self) -> f32 {
        f32::from_bits(self.0 as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_sums_are_taken_away_exactly() {
        let parts = [0.1, -2.7e-9, 1e9, 0.333_333, -1e9];
        let sum = parts.iter().fold(Exact::of(0.25), |sum, &part| sum.plus(Exact::of(part)));
        let rest = parts.iter().fold(sum, |sum, &part| sum.minus(Exact::of(part)));
        assert_eq!((rest, rest.value()), (Exact::of(0.25), 0.25));
        assert_eq!(Exact::of_scale(1.7).scale(), 1.7);
        let full = Exact(i64::MAX);
        assert_eq!(full.plus(Exact(9)).minus(Exact(9)), full);
    }
}
