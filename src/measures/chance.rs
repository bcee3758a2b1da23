// SPDX-License-Identifier: GPL-3.0-or-later
//! What chance alone would do: points of distributions, and exact bounds and tests of shares.

use dbacl_numeric::elementary::{exp, log, real};
use dbacl_numeric::special::{lgam, ndtr};

/// Confidence of what is said of a share.
const CONFIDENCE: f64 = 0.95;

/// Terms that are too small to matter in a sum.
const TINY: f64 = 1e-9;

/// The point that a normal variable exceeds with this probability.
fn normal(tail: f64) -> f64 {
    let (mut low, mut high) = (0.0, 9.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if ndtr(-middle) > tail { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// The point that a variable with Student's distribution of `freedom` degrees exceeds with this
/// probability, at most 0.4: the expansion of G. W. Hill (1970) in 1/freedom, for seven degrees or
/// more.
pub(crate) fn student(tail: f64, freedom: f64) -> f64 {
    let z = normal(tail.min(0.4));
    let squared = z * z;
    let first = (squared + 1.0) * z / 4.0;
    let second = ((5.0 * squared + 16.0) * squared + 3.0) * z / 96.0;
    let third = (((3.0 * squared + 19.0) * squared + 17.0) * squared - 15.0) * z / 384.0;
    z + (first + (second + third / freedom) / freedom) / freedom
}

/// The share that is not exceeded, with a confidence of 95 %, where `part` of `whole` documents
/// were found: the exact bound of Clopper and Pearson (1934).
pub(crate) fn at_most(part: usize, whole: usize) -> f64 {
    if part >= whole {
        return 1.0;
    }
    let (part, whole) = (real(part), real(whole));
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if is_rare(part, whole, middle, Direction::Few, 1.0 - CONFIDENCE) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// Which counts are as unusual as one that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// That one, and smaller ones.
    Few,
    /// That one, and larger ones.
    Many,
}

/// Whether `part` of `whole`, or a count further in this direction, comes out with a probability
/// below `level` where each of them is found at this rate: an exact binomial test.
pub(crate) fn is_rare(part: f64, whole: f64, rate: f64, direction: Direction, level: f64) -> bool {
    if rate <= 0.0 || rate >= 1.0 {
        let is_possible = match direction {
            Direction::Few => rate <= 0.0 || part >= whole,
            Direction::Many => rate >= 1.0 || part <= 0.0,
        };
        return !is_possible && level > 0.0;
    }
    let (ln_n, middle) = (lgam(whole + 1.0), rate * whole);
    let (step, end) = match direction {
        Direction::Few => (-1.0, 0.0),
        Direction::Many => (1.0, whole),
    };
    let (mut chance, mut k) = (0.0, part);
    while (end - k) * step >= 0.0 {
        let ways = ln_n - lgam(k + 1.0) - lgam(whole - k + 1.0);
        let term = exp(ways + k * log(rate) + (whole - k) * log(1.0 - rate));
        chance += term;
        // Away from the mean each term is smaller than the one before.
        if chance >= level || term < TINY && (k - middle) * step > 0.0 {
            break;
        }
        k += step;
    }
    chance < level
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        for (tail, freedom, expected) in [
            (0.025, 10.0, 2.2281),
            (0.005, 10.0, 3.1693),
            (0.001, 20.0, 3.5518),
            (0.0025, 7.0, 4.0293),
            (0.025, 1e9, 1.9600),
        ] {
            let found = student(tail, freedom);
            assert!((found / expected - 1.0).abs() < 3e-3, "{tail} {freedom} {found}");
        }
    }

    #[test]
    fn bounds_are_those_of_tables() {
        for (part, whole, expected) in
            [(0, 598, 0.004997), (0, 10, 0.2589), (1, 20, 0.2161), (3, 100, 0.0757)]
        {
            let found = at_most(part, whole);
            assert!((found / expected - 1.0).abs() < 2e-3, "{part} {whole} {found}");
        }
        assert_eq!((at_most(0, 0), at_most(3, 3)), (1.0, 1.0));
    }

    #[test]
    fn tests_are_exact() {
        use Direction::{Few, Many};
        for (part, whole, rate, direction, chance) in [
            (0.0, 10.0, 0.1, Few, 0.348_678),
            (2.0, 10.0, 0.1, Few, 0.929_809),
            (2.0, 10.0, 0.1, Many, 0.263_901),
            (10.0, 10.0, 0.5, Many, 0.000_977),
            (60.0, 100.0, 0.5, Many, 0.028_444),
            (0.0, 0.0, 0.5, Many, 1.0),
        ] {
            let is_below = |level| is_rare(part, whole, rate, direction, level);
            assert!(!is_below(chance - 1e-5) && is_below(chance + 1e-5), "{part} {whole} {rate}");
        }
        // What cannot happen is rare, and what must happen is not.
        assert!(is_rare(1.0, 5.0, 0.0, Many, 0.01) && !is_rare(0.0, 5.0, 0.0, Many, 0.01));
        assert!(is_rare(4.0, 5.0, 1.0, Few, 0.01) && !is_rare(5.0, 5.0, 1.0, Few, 0.01));
        assert!(!is_rare(3.0, 5.0, 0.0, Few, 0.01) && !is_rare(3.0, 5.0, 1.0, Many, 0.01));
    }
}
