// SPDX-License-Identifier: GPL-3.0-or-later
//! The evidence of a fit by blocks under names that people read: the words of the text in which its
//! runs of four bytes lie, and tags with the names of their kinds.

use super::reasons::Evidence;
use dbacl_engine::token::Feature;
use dbacl_engine::token::id::FeatureId;
use dbacl_filter::unicode::legend::readable;
use hashbrown::HashMap;

/// Bytes of a run of text.
const RUN: usize = 4;

/// Gathers the evidence of a document's features, which come in the order of the text.
pub struct Runs {
    /// The features that have not come yet: whether each is one of text, and its bits.
    rest: HashMap<FeatureId, (bool, f64)>,
    places: HashMap<Vec<u8>, usize>,
    found: Vec<Evidence>,
    /// The text that the runs since the last gap make up.
    text: Vec<u8>,
    /// Where in that text the evidence of its runs belongs.
    bits: Vec<(usize, f64)>,
}

impl Runs {
    /// For features with these bits, of text or tags.
    pub fn new(features: impl Iterator<Item = (FeatureId, bool, f64)>) -> Self {
        Self {
            rest: features.map(|(id, is_text, bits)| (id, (is_text, bits))).collect(),
            places: HashMap::new(),
            found: Vec::new(),
            text: Vec::new(),
            bits: Vec::new(),
        }
    }

    /// The next feature. What it says counts where it comes first.
    pub fn add(&mut self, feature: &Feature<'_>) {
        let own = self.rest.remove(&FeatureId::of(feature.body, feature.medium));
        let word = feature.words().next().unwrap_or_default();
        match own {
            Some((false, bits)) => self.name(readable(word), bits, 1),
            _ if word.len() == RUN => self.run(word, own.map(|(_, bits)| bits)),
            Some((true, bits)) => self.name(word.to_vec(), bits, 1),
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
        // A run belongs to the word of its second byte, or of the next one if that is a blank.
        let second = self.text.len() - RUN + 1;
        let place = second + usize::from(self.text[second] == b' ');
        self.bits.extend(bits.map(|bits| (place, bits)));
    }

    /// Shares out the evidence of a line among its words.
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
                self.name(trimmed(word).to_vec(), sum, own.len());
            }
        }
    }

    fn name(&mut self, text: Vec<u8>, bits: f64, features: usize) {
        let place = *self.places.entry(text.clone()).or_insert(self.found.len());
        if place == self.found.len() {
            self.found.push(Evidence { text, bits: 0.0, features: 0 });
        }
        self.found[place].bits += bits;
        self.found[place].features += features;
    }

    /// All evidence, in the order of the document.
    pub fn finish(mut self) -> Vec<Evidence> {
        self.end_line();
        self.found
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
