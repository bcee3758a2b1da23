// SPDX-License-Identifier: GPL-3.0-or-later
//! Shows the evidence of a fit by blocks so that people can read it. Its features are runs of four
//! bytes, which say little each, and tags such as `lp:news`: the evidence of runs is added up by
//! the word of the text that they come from, and tags get readable names.

use super::message::block;
use super::reasons::Evidence;
use crate::filter::unicode::legend::readable;
use crate::token::Feature;
use hashbrown::HashMap;
use std::ops::Range;

/// Bytes of a run of text.
const RUN: usize = 4;

/// Adds up the evidence of a document's features by words and tags. Features come in the order of
/// the text.
#[derive(Default)]
pub(super) struct Runs {
    /// Whether the features of text overlap, and are not words.
    do_overlap: bool,
    places: HashMap<Vec<u8>, usize>,
    found: Vec<Evidence>,
    /// The line of text so far, put together from overlapping runs.
    text: Vec<u8>,
    /// The bits of each run of the line, with the place in the line whose word gets them.
    bits: Vec<(usize, f64)>,
}

impl Runs {
    /// Nothing yet; `do_overlap` says whether features of text overlap, and are not words.
    pub(super) fn new(do_overlap: bool) -> Self {
        Self { do_overlap, ..Self::default() }
    }

    /// Adds the next feature, with its evidence if it has some.
    pub(super) fn add(&mut self, feature: &Feature<'_>, bits: Option<f64>) {
        let word = feature.words().next().unwrap_or_default();
        let is_text = block(feature.medium) == 0;
        if self.do_overlap && is_text && word.len() == RUN {
            self.run(word, bits);
        } else if let Some(bits) = bits {
            let text = if is_text { word.to_vec() } else { readable(word) };
            self.count(&text, bits, 1);
        }
    }

    fn run(&mut self, run: &[u8], bits: Option<f64>) {
        if !goes_on(&self.text, run) {
            self.end_line();
        }
        let place = extend(&mut self.text, run);
        self.bits.extend(bits.map(|bits| (place, bits)));
    }

    /// Gives the evidence of the line's runs to its words, and begins another line.
    fn end_line(&mut self) {
        let (text, bits) = (std::mem::take(&mut self.text), std::mem::take(&mut self.bits));
        let mut rest = &bits[..];
        for (word, end) in words(&text) {
            let (own, others) = rest.split_at(rest.partition_point(|&(place, _)| place < end));
            rest = others;
            if !own.is_empty() {
                let sum = own.iter().fold(0.0, |sum, &(_, bits)| sum + bits);
                self.count(trimmed(&text[word]), sum, own.len());
            }
        }
    }

    fn count(&mut self, text: &[u8], bits: f64, features: usize) {
        let place = *self.places.entry_ref(text).or_insert(self.found.len());
        if place == self.found.len() {
            self.found.push(Evidence { text: text.to_vec(), bits: 0.0, features: 0, times: 0 });
        }
        let own = &mut self.found[place];
        own.bits += bits;
        own.features += features;
        own.times += 1;
    }

    /// The evidence of each word and tag, in the order of their first appearance.
    pub(super) fn finish(mut self) -> Vec<Evidence> {
        self.end_line();
        self.found
    }
}

/// Whether a run continues a line of text.
fn goes_on(text: &[u8], run: &[u8]) -> bool {
    text.ends_with(&run[..RUN - 1])
}

/// Adds a run to a line of text that it begins or continues. Returns the place whose word gets its
/// evidence: that of its second byte, or, if that is a blank, its third.
fn extend(text: &mut Vec<u8>, run: &[u8]) -> usize {
    if text.is_empty() {
        text.extend_from_slice(run);
    } else {
        text.push(run[RUN - 1]);
    }
    let second = text.len() - RUN + 1;
    second + usize::from(text[second] == b' ')
}

/// To which word of their line each of these runs belongs, from 0, as [`words`] counts them.
pub(super) fn words_of<'a>(runs: impl Iterator<Item = &'a [u8]>) -> Vec<usize> {
    let mut text = Vec::new();
    let places: Vec<usize> =
        runs.filter(|run| run.len() == RUN).map(|run| extend(&mut text, run)).collect();
    let ends: Vec<usize> = words(&text).into_iter().map(|(_, end)| end).collect();
    places.into_iter().map(|place| ends.partition_point(|&end| end <= place)).collect()
}

/// The words of a text, each with the place where what belongs to it ends: pieces between blanks
/// and between the marks of scripts that use no blanks.
pub(super) fn words(text: &[u8]) -> Vec<(Range<usize>, usize)> {
    let is_between = |letter: char| {
        matches!(letter,
            '\0'..=' ' | '\u{2010}'..='\u{2018}' | '\u{201a}'..='\u{2027}'
            | '\u{2030}'..='\u{205e}' | '\u{3000}'..='\u{3003}' | '\u{3008}'..='\u{3020}'
            | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' | '\u{ff3b}'..='\u{ff40}'
            | '\u{ff5b}'..='\u{ff65}')
    };
    let mut found: Vec<(Range<usize>, usize)> = Vec::new();
    let (mut at, mut is_open) = (0, false);
    let mut take = |length: usize, is_word: bool| {
        match found.last_mut() {
            Some((word, _)) if is_word && is_open => word.end = at + length,
            last if is_word => {
                if let Some((_, end)) = last {
                    *end = at;
                }
                found.push((at..at + length, usize::MAX));
            }
            _ => {}
        }
        is_open = is_word;
        at += length;
    };
    for chunk in text.utf8_chunks() {
        chunk.valid().chars().for_each(|letter| take(letter.len_utf8(), !is_between(letter)));
        if !chunk.invalid().is_empty() {
            take(chunk.invalid().len(), true);
        }
    }
    found
}

/// A word without the marks around it, unless it consists of them.
fn trimmed(word: &[u8]) -> &[u8] {
    let is_mark = |byte: &u8| b".,;:!?()[]{}<>\"'*_-".contains(byte);
    let start = word.iter().position(|byte| !is_mark(byte)).unwrap_or(0);
    let end = word.iter().rposition(|byte| !is_mark(byte)).map_or(word.len(), |last| last + 1);
    &word[start..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::medium::Medium;
    use crate::token::BOUNDARY;

    #[test]
    fn runs_are_shown_by_the_word_that_they_lie_in() {
        let of = |word: &[u8], medium: Medium, each: &mut dyn FnMut(&Feature<'_>)| {
            let body = [&[BOUNDARY], word, &[BOUNDARY]].concat();
            each(&Feature { body: &body, medium, order: 1, pattern: None });
        };
        let document = |each: &mut dyn FnMut(&Feature<'_>)| {
            for line in [" cheap pills, now ", " pills "] {
                for run in line.as_bytes().windows(RUN) {
                    of(run, Medium::TEXT, each);
                }
            }
            of(b"lp:news", Medium::new(4), each);
        };
        let mut runs = Runs::new(true);
        let mut seen = std::collections::HashSet::new();
        document(&mut |feature| {
            let id = (feature.body.to_vec(), feature.medium);
            runs.add(feature, seen.insert(id).then_some(1.0));
        });
        let found = runs.finish();
        let shown: Vec<(String, usize)> = found
            .iter()
            .map(|own| (String::from_utf8_lossy(&own.text).into_owned(), own.features))
            .collect();
        // ` che` to `ap p`; `p pi` to `s, n`; `, no` to `now `. Then only `lls ` is new.
        let expected = [("cheap", 5), ("pills", 8), ("now", 3), ("link-path:news", 1)];
        assert_eq!(shown, expected.map(|(word, features)| (word.to_owned(), features)));
        let sum: f64 = found.iter().map(|own| own.bits).sum();
        assert!((sum - 17.0).abs() < 1e-9, "each run counts once: {sum}");
    }
    #[test]
    fn words_of_any_script_are_whole() {
        let text = " 本公司，代开发票！ don’t\tстоп ";
        let found = words(text.as_bytes());
        let shown: Vec<&str> = found.iter().map(|(word, _)| &text[word.clone()]).collect();
        assert_eq!(shown, ["本公司", "代开发票", "don’t", "стоп"]);
        // What stands between words belongs to the one before.
        assert!(found.windows(2).all(|pair| pair[0].1 == pair[1].0.start));
        let line = " 发票 now ";
        let of = words_of(line.as_bytes().windows(RUN));
        assert_eq!(of, [0, 0, 0, 0, 0, 0, 1, 1, 1]);
        assert_eq!(words(b" \xe9t\xe9 ").len(), 1);
        assert_eq!(words(b"  ").len(), 0);
    }
}
