// SPDX-License-Identifier: GPL-3.0-or-later
//! Differences of exponentials of weights, tabulated.
//!
//! The fit sums `exp(rise/32 + t) - exp(t)` with `t = k/32 - m` for integers `k` and `rise`: stored
//! weights lie on a grid of 1/32. If `m` lies on it as well, all arguments do, and one table
//! serves. Else `t` is rounded; by how much depends on its binade only, because `k/32` is a
//! multiple of its last place. `rise/32 + t` is exact, since it is a multiple of the same last
//! place and no larger. So within a binade of `t` the arguments depend on `k + rise` alone: one
//! table for each binade.

use super::elementary::{descending_exps, exp};

/// Arguments this many steps of 1/32 below 0 and further down, less one step, have an exponential
/// of 0: it falls below half the smallest number at -745.13.
const STEPS: usize = LOWEST as usize;
const LOWEST: i32 = 23_848;

/// Exponentials of grid values less a shift that stays the same for many of them.
#[derive(Debug)]
pub struct Exponentials {
    shift: f64,
    /// The shift in steps, rounded up: no argument lies above it.
    top: i32,
    is_on_grid: bool,
    /// Exponentials of 0, -1/32, -2/32, ...; the last one is 0.
    grid: Vec<f64>,
    off_grid: OffGrid,
}

impl Default for Exponentials {
    fn default() -> Self {
        let grid = descending_exps(0.0).take(STEPS).collect();
        Self { shift: 0.0, top: 0, is_on_grid: true, grid, off_grid: OffGrid::default() }
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
        let top = steps.ceil() as i32;
        self.top = top;
        self.is_on_grid = steps == steps.ceil();
        if !self.is_on_grid {
            self.off_grid.set_shift(m, top);
        }
    }

    /// Calls `each` with `exp(rise/32 + t) - exp(t)`, where `t = k/32 - m`, for each `(k, rise)` in
    /// order. Where `rise` is 0 that is exactly 0.
    #[inline]
    pub fn differences(&self, items: impl Iterator<Item = (i32, i32)>, mut each: impl FnMut(f64)) {
        let top = self.top;
        if self.is_on_grid {
            let grid: &[f64; STEPS] = self.grid.as_slice().try_into().expect("made that long");
            for (k, rise) in items {
                let entry = |steps: i32| grid[steps_below(top, steps).min(STEPS - 1)];
                each(entry(k + rise) - entry(k));
            }
            return;
        }
        for (k, rise) in items {
            let below = steps_below(top, k);
            each(if rise == 0 {
                0.0
            } else if let Some(&rank) = self.off_grid.ranks.get(below) {
                let table = &self.off_grid.tables[usize::from(rank)];
                table[steps_below(top, k + rise)] - table[below]
            } else {
                let t = f64::from(k) / 32.0 - self.shift;
                exp(f64::from(rise) / 32.0 + t) - exp(t)
            });
        }
    }
}

/// Exponentials of multiples of 1/32, worked out once each; those of most weights are kept.
#[derive(Debug)]
pub struct StepExponentials {
    /// Exponentials from -[`STEPS`] steps on; NaN where not worked out yet.
    known: Vec<f64>,
}

/// Steps above 0 that [`StepExponentials`] keeps: larger exponentials are infinite.
const KEPT: usize = 22_720;

impl Default for StepExponentials {
    fn default() -> Self {
        Self { known: vec![f64::NAN; STEPS + KEPT] }
    }
}

impl StepExponentials {
    /// `exp(steps / 32)`.
    #[inline]
    pub fn get(&mut self, steps: i32) -> f64 {
        let Ok(at) = usize::try_from(steps.saturating_add(LOWEST)) else { return 0.0 };
        match self.known.get_mut(at) {
            Some(known) if !known.is_nan() => *known,
            Some(unknown) => {
                *unknown = exp(f64::from(steps) / 32.0);
                *unknown
            }
            None => exp(f64::from(steps) / 32.0),
        }
    }
}

/// Steps from `top` down to `steps`; arguments do not lie above the top.
#[allow(clippy::cast_sign_loss)]
const fn steps_below(top: i32, steps: i32) -> usize {
    (top - steps) as usize
}

/// Exponentials of grid values less a shift that does not lie on the grid.
#[derive(Debug, Default)]
struct OffGrid {
    shift: f64,
    /// For a `k` so many steps below the top, the number of its table; there is one for each binade
    /// of `t`.
    ranks: Vec<u8>,
    /// For each binade of `t`, the exponentials of arguments 0, 1, 2, ... steps below the top.
    tables: Vec<Vec<f64>>,
}

impl OffGrid {
    fn set_shift(&mut self, m: f64, top: i32) {
        if self.shift.to_bits() == m.to_bits() && !self.ranks.is_empty() {
            return;
        }
        self.shift = m;
        self.ranks.clear();
        self.tables.clear();
        let mut last_binade = None;
        let mut exps = descending_exps(0.0);
        for k in (0..STEPS).map(|below| top - i32::try_from(below).expect("some ten thousand")) {
            let t = f64::from(k) / 32.0 - m;
            let binade = t.to_bits() >> 52;
            if last_binade != Some(binade) {
                last_binade = Some(binade);
                // A smaller argument in the same binade has the same rounding.
                exps = descending_exps(f64::from(top - k) / 32.0 + t);
                self.tables.push(exps.by_ref().take(self.ranks.len()).collect());
            }
            let rank = self.tables.len() - 1;
            self.tables[rank].extend(exps.next());
            self.ranks.push(u8::try_from(rank).expect("there are few binades"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn steps_have_the_bits_of_the_formula() {
        let mut exponentials = StepExponentials::default();
        let ends = [-24_000..-23_800, -16..16, 22_700..22_800, i32::MAX - 1..i32::MAX];
        for steps in ends.into_iter().flatten().chain([i32::MIN]) {
            let expected = exp(f64::from(steps) / 32.0);
            for _ in 0..2 {
                assert_eq!(exponentials.get(steps).to_bits(), expected.to_bits(), "{steps}");
            }
        }
    }

    proptest! {
        #[test]
        fn tables_have_the_bits_of_the_formula(
            shifts in proptest::collection::vec((0..4000i32, 0.0..1.0f64, any::<bool>()), 1..3),
            items in proptest::collection::vec((-30000..30000i32, 0..9000i32), 1..200),
        ) {
            let mut exponentials = Exponentials::default();
            for (steps, fraction, is_on_grid) in shifts {
                let m = f64::from(steps) / 32.0 + if is_on_grid { 0.0 } else { fraction };
                exponentials.set_shift(m);
                let items: Vec<(i32, i32)> =
                    items.iter().map(|&(k, rise)| (k.min(steps - rise), rise)).collect();
                let (mut expected, mut found) = (1.0f64, 1.0f64);
                for &(k, rise) in &items {
                    let t = f64::from(k) / 32.0 - m;
                    expected += exp(f64::from(rise) / 32.0 + t) - exp(t);
                    exponentials.differences([(k, rise)].into_iter(), |term| found += term);
                    prop_assert_eq!(found.to_bits(), expected.to_bits(), "{} {} {}", m, k, rise);
                }
            }
        }
    }
}
