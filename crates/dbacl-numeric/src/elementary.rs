// SPDX-License-Identifier: GPL-3.0-or-later
//! Logarithms and exponential: one definition each.
//!
//! On Linux with glibc the standard library's `ln` and `exp` are the C library's, whose bits the
//! recorded files hold (spec model 1). All results that reach a file or a report go through here
//! (choices of moves apart): `docs/digits.md` says on which machines the bits agree, and what
//! another definition would change.

/// `ln 2` as the specification quotes it.
pub const LN_2: f64 = core::f64::consts::LN_2;

/// Natural logarithm.
pub fn log(x: f64) -> f64 {
    x.ln()
}

/// Logarithm to base 2.
pub fn log2(x: f64) -> f64 {
    x.log2()
}

/// `log(1 + x)`, precise for small `x` too.
pub fn log_1p(x: f64) -> f64 {
    x.ln_1p()
}

/// Exponential function.
pub fn exp(x: f64) -> f64 {
    x.exp()
}

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

/// A number of things as f64.
#[allow(clippy::cast_precision_loss)] // numbers of documents and features are far below 2^53
pub const fn real(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_some_arguments() {
        for (x, ln, ex) in [
            (2.0f64, 0x3fe62e42fefa39efu64, 0x401d8e64b8d4ddaeu64),
            (0.1, 0xc0026bb1bbb55515, 0x3ff1aec7b35a00d4),
            (253.0, 0x40162230daa8759e, 0x56c0053e164d25ff),
        ] {
            assert_eq!(log(x).to_bits(), ln, "ln {x}: {:#x}", log(x).to_bits());
            assert_eq!(exp(x).to_bits(), ex, "exp {x}: {:#x}", exp(x).to_bits());
        }
    }
}
