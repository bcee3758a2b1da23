// SPDX-License-Identifier: GPL-3.0-or-later
//! Hashes under a key that each process draws.
//!
//! Tables of open addressing become slow when many entries begin at one place. Somebody who sends
//! text can choose words that share a place under any hash that the source code shows, but not
//! under a key that nobody knows. No result may depend on these hashes.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// The key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HashKey([u64; 4]);

impl Default for HashKey {
    fn default() -> Self {
        Self::of_process()
    }
}

impl HashKey {
    /// The key of this process.
    pub fn of_process() -> Self {
        static KEY: OnceLock<HashKey> = OnceLock::new();
        *KEY.get_or_init(|| {
            let random = RandomState::new();
            Self([0u64, 1, 2, 3].map(|place| random.hash_one(place)))
        })
    }

    /// The hash of a number.
    #[inline]
    pub const fn of_number(&self, number: u64) -> u64 {
        folded(number ^ self.0[0], self.0[1])
    }

    /// The upper half of the hash of 32 bytes.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // the half
    pub const fn of_words(&self, words: &[u64; 4]) -> u32 {
        let first = folded(words[0] ^ self.0[0], words[1] ^ self.0[1]);
        let last = folded(words[2] ^ self.0[2], words[3] ^ self.0[3]);
        ((first ^ last) >> 32) as u32
    }
}

/// Both halves of a product.
#[inline]
#[allow(clippy::cast_possible_truncation)] // halves
const fn folded(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_one_key_and_hashes_fill_their_places() {
        let key = HashKey::of_process();
        assert_eq!(key, HashKey::default());
        // Numbers and words in a row, of which each place of 1024 gets four on average.
        let mut places = [[0u32; 1024]; 2];
        for number in 0..4096u64 {
            places[0][(key.of_number(number << 20) >> 54) as usize] += 1;
            places[1][(key.of_words(&[number, 0, 0, 1 << 56]) >> 22) as usize] += 1;
        }
        for places in places {
            // Far from all in one place, whatever the key.
            assert!(places.into_iter().all(|own| own < 1000));
        }
    }
}
