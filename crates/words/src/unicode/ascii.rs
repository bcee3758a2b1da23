// SPDX-License-Identifier: GPL-3.0-or-later
//! Finds the words of a line of ASCII in bit masks. They are the words that the general code finds
//! character by character.

use super::cell::Class;
use super::table::FOLDED_ASCII;
use crate::runs::{RunBounds, blocks, mask};

fn class(byte: u8) -> Class {
    FOLDED_ASCII[usize::from(byte & 0x7f)].class()
}

/// Whether the byte at `at` of `text`, which is neither letter nor digit, belongs to a word.
fn is_member(text: &[u8], at: usize) -> bool {
    let here = class(text[at]);
    let byte = |at: Option<usize>| at.and_then(|at| text.get(at)).copied().unwrap_or(0);
    here == Class::Connector
        || here.joins(class(byte(at.checked_sub(1))), class(byte(Some(at + 1))))
}

/// Calls `word` with the bounds of each word of `text`, which is ASCII, in order.
pub(super) fn words(text: &[u8], mut word: impl FnMut(usize, usize)) {
    let mut bounds = RunBounds::default();
    // Whether the byte before the block was a letter or a digit.
    let mut was_plain = 0;
    blocks(text, |bytes, base| {
        let plain = mask(|at| bytes[at].is_ascii_alphanumeric());
        // Other bytes that may belong to a word.
        let others = mask(|at| matches!(bytes[at], b'$'..=b'.' | b'_'));
        let mut members = plain;
        if others != 0 {
            let next = text.get(base + 64).is_some_and(u8::is_ascii_alphanumeric);
            let beside = plain << 1 | was_plain | plain >> 1 | u64::from(next) << 63;
            // Other bytes belong to a word only next to a letter or digit, except the low line.
            let mut left = others;
            while left != 0 {
                let bit = left & left.wrapping_neg();
                left ^= bit;
                let at = base + bit.trailing_zeros() as usize;
                if (beside & bit != 0 || text[at] == b'_') && is_member(text, at) {
                    members |= bit;
                }
            }
        }
        was_plain = plain >> 63;
        bounds.block(members, base, &mut word);
    });
    bounds.finish(text.len(), &mut word);
}
