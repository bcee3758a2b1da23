// SPDX-License-Identifier: GPL-3.0-or-later
//! Formulas and number formats whose every bit is part of dbacl's output.
//!
//! A category file holds results of logarithms, and a report prints sums of them. Two programs
//! agree to the byte only if each formula has one definition, with stated widths and a stated order
//! of operations. This crate is where dbacl and the programs around it keep them:
//!
//! ```
//! use dbacl_numeric::cformat::fixed_text;
//! use dbacl_numeric::elementary::log;
//! use dbacl_numeric::parse::strtod;
//!
//! assert_eq!(log(10.0).to_bits(), 0x4002_6bb1_bbb5_5516);
//! assert_eq!(strtod(b" 0x1p-3 apples"), (0.125, 7)); // the value, and how many bytes it took
//! assert_eq!(fixed_text(2.5, 6, 0), "     2"); // rounded to even on ties, as C does
//! ```
//!
//! | module | what it defines |
//! |---|---|
//! | [`elementary`] | logarithm, exponential, and narrowing conversions |
//! | [`exponentials`], [`logarithms`] | the same values from tables, equal to the last bit |
//! | [`invalid`] | the sign of a NaN that an operation without a result gives |
//! | [`special`] | the error function, the incomplete gamma function, the normal distribution |
//! | [`quantize`] | weights as category files store them |
//! | [`keyed`] | hashes of tables that strangers' words enter; no output depends on them |
//! | [`random`] | the pseudo-random numbers behind decimation and the shuffling of documents |
//! | [`cformat`] | numbers as C's `printf` writes them |
//! | [`varint`] | whole numbers of files, in as few bytes as they need |
//! | [`parse`] | numbers as C's `strtod` and `strtol` read them |
//!
//! Logarithms are natural. Nothing depends on the locale, and nothing fails: what lies outside the
//! range of a type becomes infinite, zero or NaN, as each function says. "spec model 13" and its
//! like name sections of dbacl's `docs/spec`.

pub mod cformat;
pub mod elementary;
pub mod exponentials;
pub mod invalid;
pub mod keyed;
pub mod logarithms;
pub mod parse;
pub mod quantize;
pub mod random;
pub mod special;
pub mod varint;
