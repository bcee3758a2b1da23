// SPDX-License-Identifier: GPL-3.0-or-later
//! Texts → shortened copies, by which a fit learns what short texts look like, and by which
//! probabilities are calibrated for them.

use crate::text::features::Features;
use dbacl_numeric::random::SplitMix64;
use std::ops::Range;

/// How many words the copies have that are learned. The text must have `COPIED` times as many.
const COPIES: [usize; 6] = [1, 2, 3, 4, 6, 9];
const COPIED: usize = 4;
/// Words of the beginnings for the calibration.
const CUT: [usize; 5] = [1, 2, 3, 5, 10];

/// What a copy costs on the wrong side, as a multiple of its text, where the median text has so
/// many words: short texts are shortened copies of each other already.
pub(super) const fn copy_cost(median: usize) -> f32 {
    if median >= 25 { 0.1 } else { 0.03 }
}

pub(super) fn words(text: &[u8]) -> usize {
    text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count()
}

/// Where the words of a text stand: what is between blanks, and of scripts without blanks two
/// characters each.
fn word_places(text: &[u8]) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let mut start = 0;
    for word in text.split_inclusive(u8::is_ascii_whitespace) {
        let end = start + word.len();
        if word.len() < 40 || word.is_ascii() {
            if !word.trim_ascii().is_empty() {
                places.push(start..end);
            }
        } else {
            let mut from = start;
            let mut characters = 0;
            for at in start + 1..=end {
                // The next character begins here.
                characters += usize::from(at == end || text[at] & 0xc0 != 0x80);
                if characters == 2 || at == end {
                    places.push(from..at);
                    (from, characters) = (at, 0);
                }
            }
        }
        start = end;
    }
    places
}

/// The text of some of these places.
fn joined(text: &[u8], places: &[Range<usize>]) -> Vec<u8> {
    places.iter().flat_map(|place| text[place.clone()].iter().copied()).collect()
}

/// A number that follows from the features that occur in a text.
pub(super) fn key(features: &Features) -> u64 {
    let mix =
        |sum: u64, &feature: &u32| sum.wrapping_add(SplitMix64::new(u64::from(feature)).draw());
    let own = |block: usize| &features.blocks[block][..features.distinct(block)];
    [own(0), own(1)].into_iter().flatten().fold(0, mix)
}

/// The copy of a text with this key that is learned, if the text is long enough: its beginning, or
/// words from somewhere.
pub(super) fn copy(text: &[u8], key: u64) -> Option<Vec<u8>> {
    let places = word_places(text);
    let mut random = SplitMix64::new(key);
    let wanted = COPIES[random.below(COPIES.len())];
    (places.len() >= COPIED * wanted).then(|| {
        let start = match random.below(2) {
            0 => 0,
            _ => random.below(places.len() - wanted + 1),
        };
        joined(text, &places[start..start + wanted])
    })
}

/// The beginnings of a text for the calibration, with their numbers of words.
pub(super) fn cuts(text: &[u8]) -> Vec<(usize, Vec<u8>)> {
    let places = word_places(text);
    let is_shorter = |words: &usize| *words < places.len();
    CUT.into_iter()
        .filter(is_shorter)
        .map(|words| (words, joined(text, &places[..words])))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_have_fewer_words_in_their_order() {
        let text = b"one two three four five six seven eight";
        for key in 0..40 {
            let Some(copy) = copy(text, key) else { continue };
            let copy = String::from_utf8(copy).unwrap();
            assert!(
                words(copy.as_bytes()) <= 2
                    && "one two three four five six seven eight".contains(&*copy)
            );
        }
        assert!((0..40).any(|key| copy(text, key).is_some()));
        assert_eq!(copy(b"one two three", 7), None);
    }

    #[test]
    fn cuts_are_the_first_words() {
        let found = cuts(b"one two three four");
        let lengths: Vec<usize> = found.iter().map(|(words, _)| *words).collect();
        assert_eq!(lengths, [1, 2, 3]);
        assert_eq!(found[2].1, b"one two three ");
        // Scripts without blanks are cut in pairs of characters.
        let text = "\u{4e00}\u{4e8c}\u{4e09}\u{56db}\u{4e94}\u{516d}\u{4e03}\u{516b}\u{4e5d}\
                    \u{5341}\u{4e00}\u{4e8c}\u{4e09}\u{56db}";
        assert_eq!(cuts(text.as_bytes())[0], (1, "\u{4e00}\u{4e8c}".as_bytes().to_vec()));
    }
}
