// SPDX-License-Identifier: GPL-3.0-or-later
//! Reference measures: the cost of a token before any feature is known, computed from character
//! counts (`-L`, spec model 6).

use super::Progress;
use crate::error::{Error, Result, Warning, WarningSink};
use crate::model::digram::{
    CharacterCounts, DigramTable, FIRST, LENGTH_ROW, MARGINAL_ROW, SYMBOLS,
};
use dbacl_numeric::cformat::{fixed_text, general};
use dbacl_numeric::elementary::{exp, log, narrow};
use dbacl_numeric::invalid::quotient;

/// Usable symbols: 3..=255.
const USABLE: f64 = 253.0;

/// A reference measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    /// All symbols alike.
    Uniform,
    /// Digram frequencies under a Dirichlet prior fitted to them.
    Dirichlet,
    /// Maximum entropy given the digram frequencies, row by row.
    MaximumEntropy,
    /// Digram frequencies as they are.
    MaximumLikelihood,
    /// Symbol frequencies as they are; symbols independent.
    Independent,
    /// Only the length of a token matters.
    TokenLength,
}

impl Reference {
    /// The measure that `-L` calls `name`.
    pub fn by_name(name: &[u8]) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_slice() {
            b"uniform" => Self::Uniform,
            b"dirichlet" => Self::Dirichlet,
            b"maxent" => Self::MaximumEntropy,
            b"mle" => Self::MaximumLikelihood,
            b"iid" => Self::Independent,
            b"toklen" => Self::TokenLength,
            _ => return None,
        })
    }

    /// The digitised log-probabilities of this measure for `counts`.
    ///
    /// # Errors
    /// The maximum-entropy iteration can leave the range of numbers.
    pub(crate) fn measure(
        self,
        counts: &CharacterCounts,
        progress: &mut Progress<'_>,
        warnings: WarningSink<'_>,
    ) -> Result<DigramTable> {
        let mut table = DigramTable::zero();
        match self {
            Self::Uniform => {
                let x = narrow(-log(USABLE));
                for (from, to) in cells() {
                    table.set(from, to, x);
                }
            }
            Self::Dirichlet => dirichlet(counts, &mut table, progress, warnings),
            Self::MaximumEntropy => {
                for from in FIRST..SYMBOLS {
                    maximum_entropy_row(counts.row(from), from, &mut table, progress)?;
                }
            }
            Self::MaximumLikelihood | Self::Independent => {
                for from in FIRST..SYMBOLS {
                    let row = if self == Self::Independent { MARGINAL_ROW } else { from };
                    for (to, x) in maximum_likelihood_row(counts.row(row)) {
                        table.set(from, to, x);
                    }
                }
            }
            Self::TokenLength => token_length(counts.row(LENGTH_ROW), &mut table),
        }
        Ok(table)
    }
}

/// All pairs of usable symbols, rows first.
fn cells() -> impl Iterator<Item = (usize, usize)> {
    (FIRST..SYMBOLS).flat_map(|from| (FIRST..SYMBOLS).map(move |to| (from, to)))
}

/// Dirichlet prior over the rows, its parameters fitted by a fixed-point iteration.
fn dirichlet(
    counts: &CharacterCounts,
    table: &mut DigramTable,
    progress: &mut Progress<'_>,
    warnings: WarningSink<'_>,
) {
    let mut rows_with = [0.0f32; SYMBOLS];
    let mut row_totals = [0.0f32; SYMBOLS];
    let mut columns = vec![Vec::new(); SYMBOLS];
    for from in FIRST..SYMBOLS {
        let row = counts.row(from);
        for to in FIRST..SYMBOLS {
            let count = row[to];
            if count > 0.0 {
                rows_with[to] += 1.0;
                row_totals[from] += count;
                columns[to].push(whole(count));
            }
        }
    }
    let shown = |value: f64| {
        let mut text = Vec::new();
        general(&mut text, value);
        String::from_utf8_lossy(&text).into_owned()
    };
    let g = chain_sums(&columns, |k| 1.0 / k);
    let h = chain_sums(&columns, |k| 1.0 / (k * k));
    let mut u = [0.0f64; SYMBOLS];
    let mut alpha = 1.0f64;
    let mut rounds = 0;
    loop {
        let previous = alpha;
        let mut k = 0.0f64;
        for &row_total in &row_totals[FIRST..] {
            let total = f64::from(row_total);
            k += log((total + previous) / previous) + 0.5 * total / (previous * (total + previous));
        }
        alpha = 0.0;
        for to in FIRST..SYMBOLS {
            let t = k - f64::from(g[to]);
            let root = (t * t + f64::from(4.0 * h[to] * rows_with[to])).sqrt();
            u[to] = f64::from(2.0 * rows_with[to]) / (t + root);
            alpha += u[to];
        }
        progress.say(|| format!("dirichlet alpha {} --> {}", shown(previous), shown(alpha)));
        let go_on = rounds < 300 && (previous - alpha).abs() > 0.0001;
        rounds += 1;
        if !go_on {
            break;
        }
    }
    if rounds >= 300 {
        warnings(Warning::new("dirichlet measure did not converge."));
    }
    for (to, value) in u.iter().enumerate().skip(FIRST) {
        progress.say(|| format!("dirichlet u[{to}] =  {}", shown(*value)));
    }
    for from in FIRST..SYMBOLS {
        let row = counts.row(from);
        let mut total = 0.0f64;
        for &count in &row[FIRST..] {
            total += f64::from(count);
        }
        for to in FIRST..SYMBOLS {
            let x = log((f64::from(row[to]) + u[to]) / (total + alpha));
            table.set(from, to, narrow(x));
        }
    }
}

/// A count as an integer.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
const fn whole(count: f32) -> u32 {
    count as u32
}

/// Chains that are computed side by side, so that their additions overlap.
const LANES: usize = 8;

/// For each column the sum of `term(k)` over k = 3, 4, … below each of its counts, count by count,
/// rounded to f32 after each addition, which is done in f64. `term` must fall.
///
/// Once an addition changes nothing, no later one of the same count does. Columns do not depend on
/// each other.
fn chain_sums(columns: &[Vec<u32>], term: impl Fn(f64) -> f64 + Copy) -> Vec<f32> {
    const STEPS: u32 = 64;
    let mut sums = vec![0.0f32; columns.len()];
    let mut waiting = columns.iter().enumerate().filter(|(_, counts)| !counts.is_empty());
    // Each lane has a column, its remaining counts, and the last k; results of idle lanes are not
    // used.
    let mut lanes: [Option<(usize, std::slice::Iter<'_, u32>)>; LANES] = [const { None }; LANES];
    let mut left = [0u32; LANES];
    let mut k = [3.0f64; LANES];
    let mut sum = [0.0f32; LANES];
    loop {
        let mut busy = false;
        for lane in 0..LANES {
            if left[lane] > 0 && step(sum[lane], term(k[lane])) == sum[lane] {
                left[lane] = 0;
            }
            while left[lane] == 0 {
                let next = lanes[lane].as_mut().and_then(|(_, counts)| counts.next());
                if let Some(&count) = next {
                    (left[lane], k[lane]) = (count.saturating_sub(3), 3.0);
                    continue;
                }
                if let Some((column, _)) = lanes[lane].take() {
                    sums[column] = sum[lane];
                }
                let Some((column, counts)) = waiting.next() else { break };
                lanes[lane] = Some((column, counts.iter()));
                sum[lane] = 0.0;
            }
            busy |= left[lane] > 0;
        }
        if !busy {
            return sums;
        }
        let steps = left.iter().filter(|&&left| left > 0).min().map_or(0, |&left| left.min(STEPS));
        for _ in 0..steps {
            for lane in 0..LANES {
                sum[lane] = step(sum[lane], term(k[lane]));
                k[lane] += 1.0;
            }
        }
        for left in &mut left {
            *left = left.saturating_sub(steps);
        }
    }
}

/// One addition of a chain.
#[inline]
fn step(sum: f32, term: f64) -> f32 {
    narrow(f64::from(sum) + term)
}

/// One row of the maximum-entropy measure: an iteration in f32.
fn maximum_entropy_row(
    row: &[f32],
    from: usize,
    table: &mut DigramTable,
    progress: &mut Progress<'_>,
) -> Result<()> {
    let log_size = narrow(log(USABLE));
    let mut total = 0.0f32;
    for &count in &row[FIRST..] {
        total += count;
    }
    let log_total = narrow(log(f64::from(total)));
    let mut lambda = [0.0f32; SYMBOLS];
    // Log-partition and divergence under the present weights.
    let update = |lambda: &[f32; SYMBOLS]| -> Result<(f32, f32)> {
        let mut m = 0.0f32;
        for &weight in lambda[FIRST..].iter().filter(|&&weight| weight > 0.0) {
            let w = f64::from(weight);
            let t = narrow(w + log(1.0 - exp(-w)) - f64::from(log_size));
            m = if t > m { t } else { m };
        }
        let mut z = narrow(exp(0.0 - f64::from(m)));
        let mut d = 0.0f32;
        for to in FIRST..SYMBOLS {
            if lambda[to] > 0.0 {
                let t = -log_size - m;
                z = narrow(f64::from(z) + (exp(f64::from(lambda[to] + t)) - exp(f64::from(t))));
                d += lambda[to] * row[to];
            }
        }
        z = narrow(f64::from(m) + log(f64::from(z)));
        if z.is_nan() {
            return Err(Error::Numeric("sorry, partition function went kaboom.".into()));
        }
        // A byte after which nothing was counted has no entropy: 0/0, printed `-nan`.
        Ok((z, narrow(quotient(f64::from(d), f64::from(total))) - z))
    };
    let (mut z, mut d) = update(&lambda)?;
    for _ in 0..500 {
        let (old_z, old_d) = (z, d);
        let mut delta = 0.0f32;
        for to in FIRST..SYMBOLS {
            if row[to] > 0.0 {
                let old = lambda[to];
                let new = narrow(
                    log(f64::from(row[to])) - f64::from(log_total)
                        + f64::from(log_size)
                        + f64::from(z),
                );
                if new.is_nan() {
                    z = update(&lambda)?.0;
                    continue;
                }
                let new = new.clamp(old - 100.0, old + 100.0).max(0.0);
                lambda[to] = new;
                delta = delta.max((new - old).abs());
            }
        }
        (z, d) = update(&lambda)?;
        progress.say(|| {
            format!(
                "digramic ({from}) entropy change {} --> {} ({}, {})",
                fixed_text(f64::from(old_d), 0, 6),
                fixed_text(f64::from(d), 0, 6),
                fixed_text(f64::from(delta), 10, 6),
                fixed_text(f64::from((z - old_z).abs()), 10, 6)
            )
        });
        if !((d - old_d).abs() > 0.001 || delta > 0.001 || (z - old_z).abs() > 0.001) {
            break;
        }
    }
    let mut m = f32::NEG_INFINITY;
    for &weight in &lambda[FIRST..] {
        m = if weight > m { weight } else { m };
    }
    m += -log_size - z;
    let mut s = 0.0f32;
    for &weight in &lambda[FIRST..] {
        s = narrow(f64::from(s) + exp(f64::from(((weight - log_size) - z) - m)));
    }
    s = narrow(f64::from(m) + log(f64::from(s)));
    for to in FIRST..SYMBOLS {
        table.set(from, to, ((lambda[to] - log_size) - z) - s);
    }
    Ok(())
}

/// Relative frequencies of a row; unseen symbols share a part that is taken from the seen ones.
fn maximum_likelihood_row(row: &[f32]) -> impl Iterator<Item = (usize, f32)> + '_ {
    let mut total = 0.0f64;
    let mut missing = 0.0f64;
    for &count in &row[FIRST..] {
        if count > 0.0 {
            total += f64::from(count);
        } else {
            missing += 1.0;
        }
    }
    (FIRST..SYMBOLS).map(move |to| {
        let share = f64::from(row[to]) / total;
        let x = if total > 0.0 && missing > 0.0 {
            let e = 1.0 / missing;
            log(share * (1.0 - e) + e)
        } else if total > 0.0 {
            log(share)
        } else {
            -log(missing)
        };
        (to, narrow(x))
    })
}

/// The token-length measure: all digrams cost nothing, lengths 2..=31 by their frequency.
fn token_length(lengths: &[f32], table: &mut DigramTable) {
    for (from, to) in cells() {
        table.set(from, to, -0.0);
    }
    let mut counts: Vec<f32> = lengths[..32].to_vec();
    let mut total = 0.0f32;
    for count in &mut counts[2..] {
        if *count <= 0.0 {
            *count += 1.0;
        }
        total += *count;
    }
    for (length, &count) in counts.iter().enumerate().skip(2) {
        #[allow(clippy::cast_precision_loss)] // at most 31
        let x = log(f64::from(count / total)) - length as f64 * log(USABLE);
        table.set(LENGTH_ROW, length, narrow(x));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn chains_side_by_side_have_the_bits_of_single_ones(
            columns in proptest::collection::vec(
                proptest::collection::vec(0..20_000u32, 0..5), 0..20),
        ) {
            for square in [false, true] {
                let term = move |k: f64| if square { 1.0 / (k * k) } else { 1.0 / k };
                let sums = chain_sums(&columns, term);
                for (counts, sum) in columns.iter().zip(sums) {
                    let mut expected = 0.0f32;
                    for &count in counts {
                        (3..count).for_each(|k| expected = step(expected, term(f64::from(k))));
                    }
                    prop_assert_eq!(sum.to_bits(), expected.to_bits());
                }
            }
        }
    }
}
