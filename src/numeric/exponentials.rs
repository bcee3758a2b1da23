// SPDX-License-Identifier: GPL-3.0-or-later
//! Differences of exponentials of weights, tabulated.
//!
//! The fit sums `exp(rise/32 + t) - exp(t)` with `t = k/32 - m` for integers `k` and `rise`: stored
//! weights lie on a grid of 1/32. If `m` lies on it as well, all arguments do, and one table serves.
//! Else `t` is rounded; by how much depends on its binade only, because `k/32` is a multiple of its
//! last place. `rise/32 + t` is exact, since it is a multiple of the same last place and no larger.
//! So within a binade of `t` the arguments depend on `k + rise` alone: one table for each binade.

use super::elementary::exp;

/// Arguments from here down, in steps of 1/32, have an exponential of 0.
const STEPS: usize = 23_848;

/// Marks table entries that have not been needed yet.
const UNKNOWN: f64 = f64::NAN;

/// Exponentials of grid values less a shift that stays the same for many of them.
#[derive(Debug)]
pub struct Exponentials {
    shift: f64,
    /// The shift in steps, rounded up: no argument lies above it.
    top: i64,
    is_on_grid: bool,
    grid: Vec<f64>,
    /// By the exponent bits of `t`.
    binades: Vec<Vec<f64>>,
}

impl Default for Exponentials {
    fn default() -> Self {
        Self {
            shift: 0.0,
            top: 0,
            is_on_grid: true,
            grid: vec![UNKNOWN; STEPS],
            binades: Vec::new(),
        }
    }
}

impl Exponentials {
    /// Sets the shift `m`, which must not lie below any argument that follows.
    pub fn set_shift(&mut self, m: f64) {
        if m.to_bits() == self.shift.to_bits() {
            return;
        }
        self.shift = m;
        let steps = m * 32.0;
        #[allow(clippy::cast_possible_truncation)] // weights keep m within some thousands
        let top = steps.ceil() as i64;
        self.top = top;
        self.is_on_grid = steps == steps.ceil();
        self.binades.iter_mut().for_each(Vec::clear);
    }

    /// `exp(rise/32 + t) - exp(t)` with `t = k/32 - m`; both exponents are at most 0.
    #[inline]
    pub fn difference(&mut self, k: i32, rise: u32) -> f64 {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most `top`
        let below = (self.top - i64::from(k)) as usize;
        let above = below.wrapping_sub(rise as usize);
        if self.is_on_grid {
            return lookup(&mut self.grid, above, |at| on_grid(at))
                - lookup(&mut self.grid, below, |at| on_grid(at));
        }
        let t = f64::from(k) / 32.0 - self.shift;
        let binade = (t.to_bits() >> 52 & 0x7ff) as usize;
        if self.binades.len() <= binade {
            self.binades.resize(binade + 1, Vec::new());
        }
        let table = &mut self.binades[binade];
        if table.is_empty() {
            table.resize(STEPS, UNKNOWN);
        }
        lookup(table, above, |_| f64::from(rise) / 32.0 + t) - lookup(table, below, |_| t)
    }
}

/// The exponential at `at` steps below the top, whose argument is `argument(at)`.
#[inline]
fn lookup(table: &mut [f64], at: usize, argument: impl Fn(usize) -> f64) -> f64 {
    let Some(entry) = table.get_mut(at) else {
        // Far below, or - for sums outside the fit - above the top.
        return exp(argument(at));
    };
    if entry.is_nan() {
        *entry = exp(argument(at));
    }
    *entry
}

/// The argument so many steps below 0.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_wrap)] // some ten thousand at most
fn on_grid(at: usize) -> f64 {
    -(at as isize as f64) / 32.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tables_have_the_bits_of_the_formula(
            shifts in proptest::collection::vec((0..4000i32, 0.0..1.0f64, any::<bool>()), 1..3),
            items in proptest::collection::vec((-30000..30000i32, 0..9000u32), 1..200),
        ) {
            let mut exponentials = Exponentials::default();
            for (steps, fraction, is_on_grid) in shifts {
                let m = f64::from(steps) / 32.0 + if is_on_grid { 0.0 } else { fraction };
                exponentials.set_shift(m);
                for &(k, rise) in &items {
                    let k = k.min(steps - rise as i32);
                    let t = f64::from(k) / 32.0 - m;
                    let expected = exp(f64::from(rise) / 32.0 + t) - exp(t);
                    let found = exponentials.difference(k, rise);
                    prop_assert_eq!(found.to_bits(), expected.to_bits(), "{} {} {}", m, k, rise);
                }
            }
        }
    }
}
