// SPDX-License-Identifier: GPL-3.0-or-later
//! Inputs that differ a little from others.

use dbacl_numeric::random::SplitMix64;

/// Changes `data` at one place: a byte, a cut, or a piece of `other`.
pub fn change(data: &mut Vec<u8>, other: &[u8], random: &mut SplitMix64) {
    let at = random.below(data.len() + 1);
    match random.below(4) {
        0 => data.truncate(at),
        1 => data.insert(at, random.below(256).to_le_bytes()[0]),
        2 => {
            let end = data.len().min(at + random.below(20));
            data.drain(at..end);
        }
        _ => {
            let from = random.below(other.len() + 1);
            let to = other.len().min(from + random.below(60));
            data.splice(at..at, other[from..to].iter().copied());
        }
    }
}
