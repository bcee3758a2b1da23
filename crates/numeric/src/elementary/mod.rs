// SPDX-License-Identifier: GPL-3.0-or-later
//! Logarithms and exponentials with one definition on all machines.
//!
//! The result is the f64 nearest to the true value. It is worked out with whole numbers, so that
//! neither the C library nor the processor has a say: libraries differ in the last bit of some
//! results. The error of the last step is below 2^-110 of the result, and no argument is known
//! whose true result lies so near to the middle between two numbers. `docs/lab/digits.md` says what
//! that changed.

mod exponential;
mod fixed;
mod logarithm;

pub(crate) use exponential::descending_exps;
pub use exponential::{exp, exp2};
pub(crate) use fixed::nearest_wide;
pub use logarithm::{log, log_1p, log2};

/// `ln 2` as the specification quotes it.
pub const LN_2: f64 = core::f64::consts::LN_2;

/// Nats to bits, by division. Kept out of line: an optimiser that moves a caller's negation into
/// the divisor would change the sign of a NaN, which is printed.
#[inline(never)]
pub fn bits(nats: f64) -> f64 {
    nats / LN_2
}

/// Rounds to f32, where the specification narrows.
#[allow(clippy::cast_possible_truncation)] // this is the one named place where f64 is narrowed
pub fn narrow(x: f64) -> f32 {
    x as f32
}

/// A 32-bit count as f32, rounded to nearest.
#[allow(clippy::cast_precision_loss)] // the specification counts in f32
pub fn count_f32(count: u32) -> f32 {
    count as f32
}

/// A 64-bit count as f64; exact below 2^53.
#[allow(clippy::cast_precision_loss)]
pub const fn count_f64(count: u64) -> f64 {
    count as f64
}

/// A number of things as f64.
#[allow(clippy::cast_precision_loss)] // numbers of documents and features are far below 2^53
pub const fn real(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invalid::NEGATIVE_NAN;

    type Function = fn(f64) -> f64;

    /// Arguments whose true results lie almost in the middle between two numbers: of three million
    /// random ones for each function those that come nearest, and four of the hardest that are
    /// known. The results are those of MPFR 4.2.
    #[test]
    fn results_are_the_nearest_numbers() {
        let hard: &[(Function, u64, u64)] = &[
            (log, 0x3ff0000000000006, 0x3cd7fffffffffffc),
            (log, 0x3fefffffffffd680, 0xbd74c00000000d75),
            (log, 0x3fefffffffff3900, 0xbd98e00000004d59),
            (log, 0x3b3a2eff5ea44126, 0xc04a17e3e0d09065),
            (log, 0x3feaf4dd4767c252, 0xbfc5f415d8ca19d3),
            (log, 0x3bf93cea921b158e, 0xc045f3eca4cea49e),
            (log2, 0x3fedd3be62cb4f8c, 0xbfb9f86ede601c4d),
            (log2, 0x3ff22533bac45e38, 0x3fc73c3b70d87afc),
            (log2, 0x3ff00000005b75ac, 0x3e207e59399834e4),
            (log2, 0x3fc6ba6daff73c24, 0xc003f2dd4f105210),
            (log2, 0x3ff4a8612049a1e6, 0x3fd7974e425d4d25),
            (log2, 0x45cc1f29efe01ae4, 0x405774123ee9065e),
            (log_1p, 0x3f75348c308eec86, 0x3f75268b40639f17),
            (log_1p, 0x3fd32722843a66d8, 0x3fd0c14ae67dbd49),
            (log_1p, 0x3db11a11a8b93386, 0x3db11a11a8b8a149),
            (log_1p, 0x3fe0ba83cce5d1c7, 0x3fdae9f554404e39),
            (log_1p, 0x3f50519dcefeda7a, 0x3f504f898df8b529),
            (log_1p, 0xbeda77c9505f43f8, 0xbeda77cec97aa879),
            (exp, 0x40275a65ee8c5780, 0x40fcc1240e7416ab),
            (exp, 0xbfd46a4620738eac, 0x3fe742a52c5c0325),
            (exp, 0x3fc413e030034670, 0x3ff2b79d5b2a1ac9),
            (exp, 0xbf52c6fca525768b, 0x3feff69de221274f),
            (exp, 0x3e391766b6c53696, 0x3ff000000191766c),
            (exp, 0x3fc18215bff66478, 0x3ff25862cd7bfc54),
            (exp2, 0xbfe73df25469e03c, 0x3fe357a1983f54be),
            (exp2, 0x3fc5cae289968370, 0x3ff2010d16b8062b),
            (exp2, 0x3fd68c2c6217d514, 0x3ff46cf325e60859),
            (exp2, 0x40700a79b2c79f5c, 0x4ff930565ea1d3a9),
            (exp2, 0xbfcbe8fb39c7b028, 0x3feb82e4a363e696),
            (exp2, 0x3fbf22fe5a74115e, 0x3ff1684a7ade3785),
            (log, 0x6a562a88613629b6, 0x407d6479eba7c971),
            (exp, 0x3e09e9cbbfd6080b, 0x3ff000000033d398),
            (exp, 0xbe4ed318efb627ea, 0x3feffffff84b39c5),
            (exp, 0x3c9fffffffffffff, 0x3ff0000000000000),
        ];
        for &(function, x, expected) in hard {
            let found = function(f64::from_bits(x)).to_bits();
            assert_eq!(found, expected, "{x:#x}: {found:#x}");
        }
    }

    #[test]
    fn results_that_are_numbers_of_few_bits_are_exact() {
        for power in -1074..1024 {
            let number = exp2(f64::from(power));
            assert_eq!(log2(number), f64::from(power));
            let (mantissa, exponent) = fixed::parts(number);
            assert_eq!((mantissa, exponent + 52), (1 << 52, power));
        }
        for function in [log, log2] {
            assert_eq!(function(1.0).to_bits(), 0);
        }
        for function in [exp, exp2] {
            assert_eq!(function(0.0), 1.0);
        }
    }

    #[test]
    fn arguments_beyond_all_bounds_have_the_results_of_the_standard() {
        let infinity = f64::INFINITY;
        let cases: &[(Function, f64, f64)] = &[
            (log, 0.0, -infinity),
            (log, -0.0, -infinity),
            (log2, infinity, infinity),
            (log, -1.0, NEGATIVE_NAN),
            (log, -infinity, NEGATIVE_NAN),
            (log, -f64::NAN, -f64::NAN),
            (log_1p, -1.0, -infinity),
            (log_1p, -1.5, NEGATIVE_NAN),
            (log_1p, -0.0, -0.0),
            (log_1p, infinity, infinity),
            (log_1p, f64::NAN, f64::NAN),
            (exp, infinity, infinity),
            (exp, -infinity, 0.0),
            (exp, f64::NAN, f64::NAN),
            (exp, 709.782_712_893_384, f64::from_bits(0x7fef_ffff_ffff_ff2a)),
            (exp, 709.782_712_893_384_1, infinity),
            (exp, -745.133_219_101_941_2, 0.0),
            (exp, -745.133_219_101_941_1, f64::from_bits(1)),
            (exp, 5e-324, 1.0),
            (exp2, 1024.0, infinity),
            (exp2, -1075.0, 0.0),
            (exp2, -1e300, 0.0),
            (exp2, -infinity, 0.0),
        ];
        for &(function, x, expected) in cases {
            assert_eq!(function(x).to_bits(), expected.to_bits(), "{x}: {}", function(x));
        }
    }

    #[test]
    fn exponentials_in_steps_are_those_of_their_arguments() {
        for start in [0.0, -3.0 - 1.0 / 1024.0, -511.984375, 12.5] {
            for (step, found) in (0..24_300).zip(descending_exps(start)) {
                let x = start - f64::from(step) / 32.0;
                assert_eq!(found.to_bits(), exp(x).to_bits(), "{x}");
            }
        }
    }
}
