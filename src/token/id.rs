// SPDX-License-Identifier: GPL-3.0-or-later
//! Computes the id of a feature with Bob Jenkins' 64-bit hash ("lookup8", January 1997, public
//! domain), of which an id is the low half.

use crate::model::medium::Medium;
use crate::token::word::{WORD_WINDOW, Word};
use crate::token::{BOUNDARY, MEDIUM_MARK};

/// The 32-bit id of a feature. Two features with one id are one feature to a model; 0 marks an
/// empty slot, so a feature that hashes to 0 is never found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FeatureId(pub u32);

impl FeatureId {
    /// The id of a feature with this body and medium (spec model 2.1).
    pub fn of(body: &[u8], medium: Medium) -> Self {
        Self::from_body_hash(hash(body, 0), medium)
    }

    /// The id of a single word.
    pub(crate) fn of_word(word: Word<'_>, medium: Medium) -> Self {
        let mut body = [BOUNDARY; 1 + WORD_WINDOW + HASH_PADDING];
        body[1..=WORD_WINDOW].copy_from_slice(word.window());
        body[word.len() + 1] = BOUNDARY;
        Self::from_body_hash(GrowingHash::new(0).upto(&body, word.len() + 2), medium)
    }

    /// The id of a feature whose body hashes to `body_hash` at level 0: the low half of its hash.
    #[inline]
    pub(crate) fn from_body_hash(body_hash: u64, medium: Medium) -> Self {
        let tail = medium_tail(medium);
        let (_, _, whole) =
            mix(body_hash.wrapping_add(tail), body_hash, GOLDEN_RATIO.wrapping_add(2));
        #[allow(clippy::cast_possible_truncation)] // the low half by definition
        Self(whole as u32)
    }
}

/// A word of up to 14 bytes, none of them 0. It is for words that a program makes rather than cuts
/// from text: many of them are hashed at once, without a loop over their bytes.
///
/// The value holds the feature's body: boundary, word, boundary, with the first byte in the lowest
/// bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ShortWord(u128);

/// Bytes of the longest short word.
pub(crate) const LONGEST_SHORT: usize = 14;

/// Number of words that are hashed side by side.
const SIDE_BY_SIDE: usize = 16;

impl ShortWord {
    /// A word of these bytes.
    ///
    /// # Panics
    /// If there are more than 14.
    #[inline]
    pub const fn new(bytes: &[u8]) -> Self {
        assert!(bytes.len() <= LONGEST_SHORT, "too long for a short word");
        let mut body = BOUNDARY as u128;
        let mut at = 0;
        while at < bytes.len() {
            body |= (bytes[at] as u128) << (8 * (at + 1));
            at += 1;
        }
        Self(body | (BOUNDARY as u128) << (8 * (at + 1)))
    }

    /// The word's bytes, and how many they are.
    pub const fn bytes(self) -> ([u8; 16], usize) {
        let length = (128 - self.0.leading_zeros() as usize).div_ceil(8).saturating_sub(2);
        ((self.0 >> 8).to_le_bytes(), length)
    }

    /// The word's first byte, or the boundary if it is empty.
    pub const fn first(self) -> u8 {
        self.0.to_le_bytes()[1]
    }

    /// The ids of these words in plain text, appended to `out`.
    #[allow(clippy::cast_possible_truncation)] // the halves of a body, and the low half of a hash
    pub fn ids(words: &[Self], out: &mut Vec<FeatureId>) {
        for chunk in words.chunks(SIDE_BY_SIDE) {
            let mut a = [0; SIDE_BY_SIDE];
            let mut b = [0; SIDE_BY_SIDE];
            let mut c = [0; SIDE_BY_SIDE];
            for (at, &Self(body)) in chunk.iter().enumerate() {
                (a[at], b[at]) = (body as u64, (body >> 64) as u64);
                let length = (128 - body.leading_zeros()).div_ceil(8);
                c[at] = GOLDEN_RATIO.wrapping_add(u64::from(length));
            }
            let tail = medium_tail(Medium::TEXT);
            for at in 0..SIDE_BY_SIDE {
                let body_hash = mix(a[at], b[at], c[at]).2;
                let a = body_hash.wrapping_add(tail);
                c[at] = mix(a, body_hash, GOLDEN_RATIO.wrapping_add(2)).2;
            }
            out.extend(c[..chunk.len()].iter().map(|&low| FeatureId(low as u32)));
        }
    }
}

/// The two bytes after a feature's body that hold its medium.
const fn medium_tail(medium: Medium) -> u64 {
    MEDIUM_MARK as u64 | (medium.number() as u64 + 3) << 8
}

/// The arbitrary constant that starts the third word of the state.
pub(crate) const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c13;

/// The 64-bit hash of `key` at `level`, with words assembled little-endian.
pub(crate) fn hash(key: &[u8], level: u64) -> u64 {
    let (mut a, mut b, mut c) = (level, level, GOLDEN_RATIO);
    let (blocks, rest) = key.as_chunks::<24>();
    let mut last = [0; 24];
    last[..rest.len()].copy_from_slice(rest);
    for block in blocks {
        let words = three_words(block, 0);
        (a, b, c) = mix(a.wrapping_add(words.0), b.wrapping_add(words.1), c.wrapping_add(words.2));
    }
    let words = three_words(&last, 0);
    // The low byte holds the length.
    let c = c.wrapping_add(key.len() as u64).wrapping_add(words.2 << 8);
    mix(a.wrapping_add(words.0), b.wrapping_add(words.1), c).2
}

/// The hash of a key that grows at its end: whole blocks of 24 bytes are mixed in once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GrowingHash {
    a: u64,
    b: u64,
    c: u64,
    /// Where the key starts in the text that holds it.
    start: usize,
    /// Where the bytes begin that are not mixed in yet.
    next: usize,
}

/// Number of bytes that must be readable after the end of a [`GrowingHash`]'s key.
pub(crate) const HASH_PADDING: usize = 24;

impl GrowingHash {
    /// The hash of an empty key at `start` of a text, at level 0.
    pub(crate) const fn new(start: usize) -> Self {
        Self { a: 0, b: 0, c: GOLDEN_RATIO, start, next: start }
    }

    /// Where the key starts in its text.
    pub(crate) const fn start(&self) -> usize {
        self.start
    }

    /// The 64-bit hash of `text[start..end]`, as [`hash`] at level 0 gives it. `end` must not go
    /// back from one call to the next, and [`HASH_PADDING`] bytes must follow it in `text`.
    #[inline]
    pub(crate) fn upto(&mut self, text: &[u8], end: usize) -> u64 {
        while end - self.next >= 24 {
            let (a, b, c) = three_words(text, self.next);
            let (a, b, c) =
                (self.a.wrapping_add(a), self.b.wrapping_add(b), self.c.wrapping_add(c));
            (self.a, self.b, self.c) = mix(a, b, c);
            self.next += 24;
        }
        let rest = end - self.next;
        let (a, b, c) = three_words(text, self.next);
        let a = self.a.wrapping_add(a & LOW_BYTES[rest.min(8)]);
        let b = self.b.wrapping_add(b & LOW_BYTES[rest.clamp(8, 16) - 8]);
        let c = (c & LOW_BYTES[rest.max(16) - 16]) << 8;
        let c = self.c.wrapping_add((end - self.start) as u64).wrapping_add(c);
        mix(a, b, c).2
    }
}

/// Masks of the lowest 0 to 8 bytes.
const LOW_BYTES: [u64; 9] = [
    0,
    0xff,
    0xffff,
    0xff_ffff,
    0xffff_ffff,
    0xff_ffff_ffff,
    0xffff_ffff_ffff,
    0xff_ffff_ffff_ffff,
    u64::MAX,
];

/// The 24 bytes at `at` as three little-endian numbers.
#[inline]
fn three_words(text: &[u8], at: usize) -> (u64, u64, u64) {
    let bytes: &[u8; 24] = text[at..at + 24].try_into().expect("a slice of 24");
    let word = |from: usize| {
        u64::from_le_bytes(bytes[from..from + 8].try_into().expect("a slice of eight"))
    };
    (word(0), word(8), word(16))
}

/// One reversible mixing step of the three words.
#[inline]
pub(crate) fn mix(mut a: u64, mut b: u64, mut c: u64) -> (u64, u64, u64) {
    macro_rules! step {
        ($x:ident, $y:ident, $z:ident, $shift:expr) => {
            $x = $x.wrapping_sub($y).wrapping_sub($z) ^ $shift($z);
        };
    }
    step!(a, b, c, |v: u64| v >> 43);
    step!(b, c, a, |v: u64| v << 9);
    step!(c, a, b, |v: u64| v >> 8);
    step!(a, b, c, |v: u64| v >> 38);
    step!(b, c, a, |v: u64| v << 23);
    step!(c, a, b, |v: u64| v >> 5);
    step!(a, b, c, |v: u64| v >> 35);
    step!(b, c, a, |v: u64| v << 49);
    step!(c, a, b, |v: u64| v >> 11);
    step!(a, b, c, |v: u64| v >> 12);
    step!(b, c, a, |v: u64| v << 18);
    step!(c, a, b, |v: u64| v >> 22);
    (a, b, c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growing_keys_hash_as_whole_ones() {
        let mut text: Vec<u8> = (0..200u8).map(|k| k.wrapping_mul(37)).collect();
        text.resize(200 + HASH_PADDING, 0xaa);
        for start in [0, 1, 7, 23, 24, 50] {
            let mut growing = GrowingHash::new(start);
            for end in (start..200).step_by(3) {
                assert_eq!(growing.upto(&text, end), hash(&text[start..end], 0), "{start} {end}");
            }
        }
    }

    #[test]
    fn short_words_hash_as_others() {
        let text = b"abcdefghijklmn";
        let words: Vec<&[u8]> =
            (0..40).map(|k| &text[k % 3..(k % 3 + k % 13).min(text.len())]).collect();
        let short: Vec<ShortWord> = words.iter().map(|word| ShortWord::new(word)).collect();
        let mut ids = Vec::new();
        ShortWord::ids(&short, &mut ids);
        assert_eq!(ids.len(), words.len());
        for ((word, short), id) in words.iter().zip(short).zip(ids) {
            let (bytes, length) = short.bytes();
            assert_eq!(&&bytes[..length], word);
            let body = [&[BOUNDARY], *word, &[BOUNDARY]].concat();
            assert_eq!(id, FeatureId::of(&body, Medium::TEXT), "{word:?}");
        }
        assert_eq!(ShortWord::new(text).bytes(), (*b"abcdefghijklmn\x03\0", LONGEST_SHORT));
    }

    #[test]
    fn ids_of_the_specification() {
        for (body, medium, full, id) in [
            (&b"\x03tom\x03"[..], 1, 0x606b9ec06bb74e65, 0x123f0012),
            (b"\x03no\x03answer\x03", 1, 0x49ecd9d63f500140, 0x474b98ca),
            (b"\x03the\x03", 3, 0x9e5dbe7d1fbf5b13, 0x22a600c3),
            (b"\x03abcdefghijklmnopqrstuvwxyz1234\x03", 1, 0x400d84f0da37e3ef, 0x4811e2ea),
        ] {
            assert_eq!(hash(body, 0), full);
            let medium = Medium::new(medium);
            assert_eq!(FeatureId::of(body, medium), FeatureId(id));
            let tail = [MEDIUM_MARK, medium.number() + 3];
            assert_eq!(hash(&tail, full) & 0xffff_ffff, u64::from(id));
        }
    }
}
