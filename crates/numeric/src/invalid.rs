// SPDX-License-Identifier: GPL-3.0-or-later
//! Sums, differences, products, quotients and roots whose NaN has the same sign on every machine.
//!
//! An operation that has no result, such as 0/0, gives a NaN (IEEE 754-2019, 7.2) whose sign the
//! standard leaves open: on x86-64 the sign bit is set, and `printf` writes `-nan`; arm64 and s390x
//! leave it clear. dbacl prints such numbers, and a later negation changes their sign, so each
//! operation whose result may be printed is done here. A NaN that goes into an operation comes out
//! of it as it is; of two, the first.
//!
//! The functions are never inlined: an optimiser that folds a negation into an operand would change
//! the sign of a NaN.

/// What an operation without a result gives on x86-64: a NaN with its sign bit set.
pub const NEGATIVE_NAN: f64 = f64::from_bits(0xfff8_0000_0000_0000);

/// `a + b`.
#[inline(never)]
#[must_use]
pub fn sum(a: f64, b: f64) -> f64 {
    settled(a + b, a, b)
}

/// `a - b`.
#[inline(never)]
#[must_use]
pub fn difference(a: f64, b: f64) -> f64 {
    settled(a - b, a, b)
}

/// `a * b`.
#[inline(never)]
#[must_use]
pub fn product(a: f64, b: f64) -> f64 {
    settled(a * b, a, b)
}

/// `a / b`.
#[inline(never)]
#[must_use]
pub fn quotient(a: f64, b: f64) -> f64 {
    settled(a / b, a, b)
}

/// The square root of `x`.
#[inline(never)]
#[must_use]
pub fn root(x: f64) -> f64 {
    // The compiler would remove a test for `x < 0`: it takes any NaN for the root of such a number.
    settled(x.sqrt(), x, x)
}

/// The result of an operation on `a` and `b`, with the NaN that x86-64 would give.
fn settled(result: f64, a: f64, b: f64) -> f64 {
    match () {
        () if !result.is_nan() => result,
        () if a.is_nan() => a,
        () if b.is_nan() => b,
        () => NEGATIVE_NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_without_a_result_gives_a_negative_nan() {
        let infinity = f64::INFINITY;
        let results = [
            sum(infinity, -infinity),
            difference(infinity, infinity),
            product(0.0, infinity),
            quotient(0.0, 0.0),
            quotient(infinity, -infinity),
            root(-1e-17),
        ];
        for result in results {
            assert_eq!(result.to_bits(), NEGATIVE_NAN.to_bits());
        }
    }

    #[test]
    fn a_nan_keeps_its_sign_and_comes_before_a_second_one() {
        let positive = -NEGATIVE_NAN;
        for operation in [sum, difference, product, quotient] {
            assert_eq!(operation(positive, NEGATIVE_NAN).to_bits(), positive.to_bits());
            assert_eq!(operation(NEGATIVE_NAN, positive).to_bits(), NEGATIVE_NAN.to_bits());
            assert_eq!(operation(1.0, positive).to_bits(), positive.to_bits());
        }
        assert_eq!(root(positive).to_bits(), positive.to_bits());
    }

    #[test]
    fn other_results_are_those_of_the_operators() {
        assert_eq!(sum(0.1, 0.2).to_bits(), (0.1_f64 + 0.2).to_bits());
        assert_eq!(product(0.1, 3.0).to_bits(), (0.1_f64 * 3.0).to_bits());
        assert_eq!(quotient(1.0, 0.0), f64::INFINITY);
        assert_eq!(root(2.0).to_bits(), 2.0_f64.sqrt().to_bits());
    }
}
