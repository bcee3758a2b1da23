// SPDX-License-Identifier: GPL-3.0-or-later
//! Prints a hash over the results of each elementary function for ten million fixed arguments.
//!
//! `testdata/digits/run` compares the lines with `testdata/digits/expected`, on this machine and on
//! others; `testdata/digits/nearest.c` prints the same ones by arbitrary precision.

use dbacl_numeric::elementary::{exp, exp2, log, log_1p, log2};
use dbacl_numeric::random::SplitMix64;

/// A number below 1 with 53 random bits.
#[allow(clippy::cast_precision_loss)] // 53 bits
fn unit(random: &mut SplitMix64) -> f64 {
    (random.draw() >> 11) as f64 / (1u64 << 53) as f64
}

/// A number from 2^-64 on, with so many exponents.
fn magnitude(random: &mut SplitMix64, exponents: u64) -> f64 {
    let exponent = 1023 - 64 + random.draw() % exponents;
    f64::from_bits(exponent << 52 | random.draw() >> 12)
}

/// A function, and its argument at a place of the row.
type Row = (&'static str, u32, fn(f64) -> f64, fn(&mut SplitMix64, u32) -> f64);

const MANY: u32 = 10_000_000;

const ROWS: [Row; 9] = [
    ("log of magnitudes", MANY, log, |random, _| magnitude(random, 128)),
    ("log of 0.5 to 2", MANY, log, |random, _| 0.5 + 1.5 * unit(random)),
    ("log of whole numbers", MANY, log, |_, at| f64::from(at + 1)),
    ("exp of -745 to 709", MANY, exp, |random, _| -745.0 + 1454.0 * unit(random)),
    ("exp of -1 to 1", MANY, exp, |random, _| -1.0 + 2.0 * unit(random)),
    ("exp of all k:32", 23_848 + 22_700, exp, |_, at| (f64::from(at) - 23_848.0) / 32.0),
    ("log1p of 0 to 1", MANY, log_1p, |random, _| magnitude(random, 64)),
    ("exp2 of -1020 to 1020", MANY, exp2, |random, _| -1020.0 + 2040.0 * unit(random)),
    ("log2 of magnitudes", MANY, log2, |random, _| magnitude(random, 128)),
];

fn main() {
    for (name, calls, function, argument) in ROWS {
        let mut random = SplitMix64::new(20_261_122);
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for at in 0..calls {
            let bits = function(argument(&mut random, at)).to_bits();
            hash = (hash ^ bits).wrapping_mul(0x100_0000_01b3);
            hash ^= hash >> 29;
        }
        println!("{name}\t{calls}\t{hash:016x}");
    }
}
