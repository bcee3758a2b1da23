// SPDX-License-Identifier: GPL-3.0-or-later
//! Shows the evidence of a fit by blocks so that people can read it. Its features are runs of four
//! bytes, which say little each, and tags such as `lp:news`: the evidence of runs is added up by
//! the word of the text that they come from, and tags get readable names.

use super::reasons::Evidence;
use dbacl_engine::token::Feature;
use dbacl_engine::token::id::FeatureId;
use dbacl_filter::unicode::legend::readable;
use hashbrown::HashMap;

/// Bytes of a run of text.
const RUN: usize = 4;

/// What is known of a word or a tag: how many others came before it, its bits, and how many
/// features they come from.
type Sum = (usize, f64, usize);

/// Adds up the evidence of a document's features by words and tags. Features come in the order of
/// the text.
pub struct Runs {
    /// The features that have not come yet: whether each is one of text, and its bits.
    rest: HashMap<FeatureId, (bool, f64)>,
    sums: HashMap<Vec<u8>, Sum>,
    /// The line of text so far, put together from overlapping runs.
    text: Vec<u8>,
    /// The bits of each run of the line, with the place in the line whose word gets them.
    bits: Vec<(usize, f64)>,
}

impl Runs {
    /// For features with these bits, of text or tags.
    pub fn new(features: impl Iterator<Item = (FeatureId, bool, f64)>) -> Self {
        Self {
            rest: features.map(|(id, is_text, bits)| (id, (is_text, bits))).collect(),
            sums: HashMap::new(),
            text: Vec::new(),
            bits: Vec::new(),
        }
    }

    /// Adds the next feature. If it occurs several times, only the first occurrence has evidence.
    pub fn add(&mut self, feature: &Feature<'_>) {
        let own = self.rest.remove(&FeatureId::of(feature.body, feature.medium));
        let word = feature.words().next().unwrap_or_default();
        match own {
            Some((false, bits)) => self.count(&readable(word), bits, 1),
            _ if word.len() == RUN => self.run(word, own.map(|(_, bits)| bits)),
            Some((true, bits)) => self.count(word, bits, 1),
            None => {}
        }
    }

    fn run(&mut self, run: &[u8], bits: Option<f64>) {
        if self.text.ends_with(&run[..RUN - 1]) {
            self.text.push(run[RUN - 1]);
        } else {
            self.end_line();
            self.text.extend_from_slice(run);
        }
        // The evidence goes to the word that has the run's second byte, or, if that is a blank, its
        // third.
        let second = self.text.len() - RUN + 1;
        let place = second + usize::from(self.text[second] == b' ');
        self.bits.extend(bits.map(|bits| (place, bits)));
    }

    /// Gives the evidence of the line's runs to its words, and begins another line.
    fn end_line(&mut self) {
        let (text, bits) = (std::mem::take(&mut self.text), std::mem::take(&mut self.bits));
        let mut rest = &bits[..];
        let mut end = 0;
        for word in text.split(|&byte| byte == b' ') {
            end += word.len() + 1;
            let (own, others) = rest.split_at(rest.partition_point(|&(place, _)| place < end));
            rest = others;
            if !own.is_empty() {
                let sum = own.iter().fold(0.0, |sum, &(_, bits)| sum + bits);
                self.count(trimmed(word), sum, own.len());
            }
        }
    }

    fn count(&mut self, text: &[u8], bits: f64, features: usize) {
        let place = self.sums.len();
        let sum = self.sums.entry_ref(text).or_insert((place, 0.0, 0));
        sum.1 += bits;
        sum.2 += features;
    }

    /// The evidence of each word and tag, in the order of their first appearance.
    pub fn finish(mut self) -> Vec<Evidence> {
        self.end_line();
        let mut all: Vec<(Vec<u8>, Sum)> = self.sums.into_iter().collect();
        all.sort_unstable_by_key(|&(_, (place, ..))| place);
        let each = all.into_iter();
        each.map(|(text, (_, bits, features))| Evidence { text, bits, features }).collect()
    }
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
    use dbacl_engine::token::BOUNDARY;
    use dbacl_model::medium::Medium;

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
        let mut features = Vec::new();
        document(&mut |feature| {
            let is_text = feature.medium == Medium::TEXT;
            features.push((FeatureId::of(feature.body, feature.medium), is_text, 1.0));
        });
        let mut runs = Runs::new(features.into_iter());
        document(&mut |feature| runs.add(feature));
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
}
