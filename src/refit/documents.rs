// SPDX-License-Identifier: GPL-3.0-or-later
//! Features of a document → its distinct features with their counts; documents → a corpus.

use super::checksum::Checksum;
use crate::token::id::FeatureId;

/// Largest count of a feature in one document; more occurrences count as that many.
pub const MAX_COUNT: u32 = (1 << 29) - 1;

/// A feature of a document: eight bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term {
    /// The feature.
    pub id: FeatureId,
    /// Order in the upper three bits, count below.
    packed: u32,
}

impl Term {
    /// A feature of this order that occurs `count` times.
    pub const fn new(id: FeatureId, order: u8, count: u32) -> Self {
        let count = if count > MAX_COUNT { MAX_COUNT } else { count };
        Self { id, packed: (order as u32 & 7) << 29 | count }
    }

    /// Occurrences in the document.
    pub const fn count(self) -> u32 {
        self.packed & MAX_COUNT
    }

    /// Number of words of the feature; 0 stands for eight.
    pub const fn order(self) -> u8 {
        (self.packed >> 29) as u8
    }
}

/// What is known of a document beside its features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Document {
    /// Where its terms begin in the corpus; they end where those of the next one begin.
    pub start: usize,
    /// Number of its category.
    pub label: u32,
    /// Occurrences of features, those that no category can hold (id 0) included.
    pub occurrences: u32,
}

/// Labelled documents.
#[derive(Debug, Clone, Default)]
pub struct Corpus {
    /// The documents' terms, one document after the other, each sorted by id.
    pub terms: Vec<Term>,
    /// The documents.
    pub documents: Vec<Document>,
    /// Reference log-probability of each document under each category, nats a unit of complexity,
    /// document by document; empty when it is the same under all of them.
    pub references: Vec<f32>,
}

impl Corpus {
    /// The terms of document `number`.
    pub fn terms_of(&self, number: usize) -> &[Term] {
        let end = self.documents.get(number + 1).map_or(self.terms.len(), |next| next.start);
        &self.terms[self.documents[number].start..end]
    }

    /// Adds a document; one without terms has nothing to tell and is left out.
    pub fn push(&mut self, label: u32, occurrences: u32, terms: &[Term]) {
        if terms.is_empty() {
            return;
        }
        self.documents.push(Document { start: self.terms.len(), label, occurrences });
        self.terms.extend_from_slice(terms);
    }
}

/// The name of a document: a checksum of its terms, which mail systems leave alone when they add
/// headers that no feature comes from.
pub fn fingerprint(terms: &[Term]) -> u64 {
    let mut sum = Checksum::default();
    for term in terms {
        sum.word(u64::from(term.id.0) << 32 | u64::from(term.packed));
    }
    sum.value()
}

/// Gathers the features of one document after the other.
#[derive(Debug, Default)]
pub struct Collector {
    /// Id and order of each occurrence.
    keys: Vec<u64>,
    terms: Vec<Term>,
}

impl Collector {
    /// Takes an occurrence of a feature.
    pub fn add(&mut self, id: FeatureId, order: u8) {
        self.keys.push(u64::from(id.0) << 3 | u64::from(order & 7));
    }

    /// Whether nothing was taken since the last document ended.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Ends the document: its occurrences and its terms, sorted by id. Two orders under one id, a
    /// collision of hashes, count as the lower one.
    #[allow(clippy::cast_possible_truncation)] // the id was put there as 32 bits
    pub fn finish(&mut self) -> (u32, &[Term]) {
        let occurrences = u32::try_from(self.keys.len()).unwrap_or(u32::MAX);
        self.keys.sort_unstable();
        self.terms.clear();
        for run in self.keys.chunk_by(|a, b| a >> 3 == b >> 3) {
            let id = FeatureId((run[0] >> 3) as u32);
            if id.0 != 0 {
                let count = u32::try_from(run.len()).unwrap_or(u32::MAX);
                self.terms.push(Term::new(id, (run[0] & 7) as u8, count));
            }
        }
        self.keys.clear();
        (occurrences, &self.terms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occurrences_become_sorted_distinct_terms() {
        let mut collector = Collector::default();
        for (id, order) in [(9, 1), (4, 2), (9, 1), (0, 1), (4, 2), (9, 1)] {
            collector.add(FeatureId(id), order);
        }
        let (occurrences, terms) = collector.finish();
        assert_eq!(occurrences, 6);
        assert_eq!(terms, [Term::new(FeatureId(4), 2, 2), Term::new(FeatureId(9), 1, 3)]);
        assert_eq!((terms[0].order(), terms[0].count()), (2, 2));
        let name = fingerprint(terms);
        collector.add(FeatureId(4), 2);
        assert_ne!(fingerprint(collector.finish().1), name);
        assert!(collector.is_empty());
    }
}
