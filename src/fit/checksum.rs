// SPDX-License-Identifier: GPL-3.0-or-later
//! A 64-bit checksum, which detects damage and names documents and sets. It is not a cryptographic
//! hash: inputs with a given sum can be constructed.

use std::io::{self, Write};

/// A sum over words, order included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Checksum(u64);

/// An odd number without pattern: 2^64 divided by the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Default for Checksum {
    fn default() -> Self {
        Self(STEP)
    }
}

impl Checksum {
    /// Adds a word. Each step is reversible, so two inputs that differ in one word differ in the
    /// sum.
    pub(crate) const fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(STEP).rotate_left(29);
    }

    /// The sum.
    pub(crate) const fn value(self) -> u64 {
        let mut x = self.0;
        x ^= x >> 32;
        x = x.wrapping_mul(STEP);
        x ^ x >> 29
    }

    /// The sum of `bytes`.
    pub(crate) fn of(bytes: &[u8]) -> u64 {
        let mut sum = Summing::default();
        // It cannot fail.
        let _ = sum.write_all(bytes);
        sum.value()
    }
}

/// The sum of bytes that are written one after the other: of little-endian words, of the rest with
/// zeros after it, and of the length.
#[derive(Debug, Default)]
pub(crate) struct Summing {
    sum: Checksum,
    /// The bytes of the last word so far.
    last: [u8; 8],
    /// The bytes so far.
    pub length: u64,
}

impl Summing {
    /// The sum of what was written.
    pub(crate) fn value(mut self) -> u64 {
        let filled = (self.length % 8) as usize;
        self.last[filled..].fill(0);
        self.sum.word(u64::from_le_bytes(self.last));
        self.sum.word(self.length);
        self.sum.value()
    }
}

impl Write for Summing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let filled = (self.length % 8) as usize;
        let taken = bytes.len().min(8 - filled);
        self.last[filled..filled + taken].copy_from_slice(&bytes[..taken]);
        if filled + taken == 8 {
            self.sum.word(u64::from_le_bytes(self.last));
        }
        self.length += taken as u64;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_the_same_in_pieces() {
        let bytes: Vec<u8> = (0..100u8).collect();
        for length in 0..bytes.len() {
            for piece in 1..20 {
                let mut sum = Summing::default();
                for own in bytes[..length].chunks(piece) {
                    sum.write_all(own).unwrap();
                }
                assert_eq!(sum.value(), Checksum::of(&bytes[..length]), "{length} {piece}");
            }
        }
    }

    #[test]
    fn every_flipped_bit_and_every_cut_changes_the_sum() {
        let bytes: Vec<u8> = (0..100u8).collect();
        let sum = Checksum::of(&bytes);
        for at in 0..bytes.len() {
            assert_ne!(Checksum::of(&bytes[..at]), sum);
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                assert_ne!(Checksum::of(&damaged), sum, "{at} {bit}");
            }
        }
    }
}
