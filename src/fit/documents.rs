// SPDX-License-Identifier: GPL-3.0-or-later
//! Collects the distinct features of a document with their counts, and documents to a corpus.

use super::checksum::Checksum;
use crate::category::reader::Category;
use crate::model::medium::Medium;
use crate::token::id::FeatureId;
use crate::token::{BOUNDARY, Feature};
use dbacl_numeric::elementary::narrow;

/// Properties of a feature besides its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FeatureKind {
    /// Number of words; 0 stands for eight.
    pub order: u8,
    /// Number of the medium.
    pub medium: u8,
    /// Pairs of neighbouring characters in its text, boundary marks included; at most 255. Under
    /// the uniform measure the cost of a feature is proportional to this.
    pub pairs: u8,
    /// The id of the second of two words; 0 for features of other orders, and where it is not
    /// needed.
    pub second: FeatureId,
}

impl FeatureKind {
    /// The properties of a feature, without the second word.
    pub fn of(feature: &Feature<'_>) -> Self {
        Self {
            order: feature.order & 7,
            medium: feature.medium.number(),
            pairs: u8::try_from(feature.body.len().saturating_sub(1)).unwrap_or(u8::MAX),
            second: FeatureId(0),
        }
    }

    /// All properties of a feature.
    pub fn whole(feature: &Feature<'_>) -> Self {
        let kind = Self::of(feature);
        let second = (kind.order == Self::PAIR)
            .then(|| feature.body.get(1..)?.iter().position(|&byte| byte == BOUNDARY))
            .flatten()
            .map(|at| FeatureId::of(&feature.body[at + 1..], feature.medium));
        Self { second: second.unwrap_or(FeatureId(0)), ..kind }
    }

    /// The order of two words.
    pub const PAIR: u8 = 2;

    /// Whether the feature comes from text, and not from the header of a message.
    pub const fn is_text(self) -> bool {
        !Medium::new(self.medium).is_header()
    }
}

/// A feature of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term {
    /// The feature.
    pub id: FeatureId,
    /// Occurrences in the document.
    pub count: u32,
    /// What the feature is.
    pub kind: FeatureKind,
}

impl Term {
    /// A feature of this order that occurs `count` times.
    pub const fn new(id: FeatureId, order: u8, count: u32) -> Self {
        let kind = FeatureKind { order, medium: 0, pairs: 0, second: FeatureId(0) };
        Self { id, count, kind }
    }
}

/// Properties of a document besides its features.
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
    /// The documents' terms, one document after the other, each in order of first appearance.
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

    /// Adds a document; one without terms is left out.
    pub fn push(&mut self, label: u32, occurrences: u32, terms: &[Term]) {
        if terms.is_empty() {
            return;
        }
        self.documents.push(Document { start: self.terms.len(), label, occurrences });
        self.terms.extend_from_slice(terms);
    }
}

/// Builds a corpus from the features of one document after the other.
///
/// `measured` are the categories if their reference measures differ, else none.
#[derive(Debug, Default)]
pub struct CorpusBuilder {
    corpus: Corpus,
    collector: Collector,
    references: Vec<f64>,
}

impl CorpusBuilder {
    /// Takes a feature of the document.
    pub fn feature<D: AsRef<[u8]>>(&mut self, feature: &Feature<'_>, measured: &[Category<D>]) {
        self.collector
            .add(FeatureId::of(feature.body, feature.medium), FeatureKind::whole(feature));
        if feature.order == 1 {
            self.references.resize(measured.len(), 0.0);
            for (category, reference) in measured.iter().zip(&mut self.references) {
                *reference += f64::from(category.log_reference(feature.body));
            }
        }
    }

    /// Ends the document, which is of category `label`; one without features is left out.
    pub fn end_document<D: AsRef<[u8]>>(&mut self, label: u32, measured: &[Category<D>]) {
        if self.collector.is_empty() {
            return;
        }
        let (occurrences, terms) = self.collector.finish();
        self.corpus.push(label, occurrences, terms);
        let order = measured.first().map_or(1, |category| category.header().max_order);
        let complexity = f64::from(occurrences) / f64::from(order);
        self.references.resize(measured.len(), 0.0);
        for reference in &mut self.references {
            let mean = *reference / complexity;
            if !terms.is_empty() {
                self.corpus.references.push(narrow(mean));
            }
            *reference = 0.0;
        }
    }

    /// How many documents there are so far.
    pub const fn documents(&self) -> usize {
        self.corpus.documents.len()
    }

    /// Adds documents that were read before.
    pub fn add(&mut self, corpus: &Corpus, label: u32) {
        for (number, document) in corpus.documents.iter().enumerate() {
            self.corpus.push(label, document.occurrences, corpus.terms_of(number));
        }
    }

    /// The documents.
    pub fn finish(self) -> Corpus {
        self.corpus
    }
}

/// The name of a document: a checksum of its terms, in whatever order. It stays the same when mail
/// systems add headers from which no features are made.
pub fn fingerprint(terms: &[Term]) -> u64 {
    let mut all = Checksum::default();
    let mut sum = 0u64;
    for term in terms {
        let mut one = Checksum::default();
        one.word(u64::from(term.id.0) << 32 | u64::from(term.count));
        sum = sum.wrapping_add(one.value());
    }
    all.word(sum);
    all.value()
}

/// Gathers the features of one document after the other.
#[derive(Debug, Default)]
pub struct Collector {
    /// Id and number of each occurrence.
    keys: Vec<u64>,
    /// Kinds by number.
    makeups: Vec<FeatureKind>,
    /// Number of the first occurrence of each term.
    firsts: Vec<(u32, Term)>,
    terms: Vec<Term>,
}

impl Collector {
    /// Takes an occurrence of a feature.
    #[allow(clippy::cast_possible_truncation)] // a document has fewer than 2^32 occurrences
    pub fn add(&mut self, id: FeatureId, kind: FeatureKind) {
        self.keys.push(u64::from(id.0) << 32 | self.makeups.len() as u64 & 0xffff_ffff);
        self.makeups.push(kind);
    }

    /// Whether nothing was added since the last document ended.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Ends the document: its occurrences and its terms, in order of first appearance. If two
    /// features have one id (a collision of hashes), the term has the properties of the first, as
    /// in a table of counts.
    #[allow(clippy::cast_possible_truncation)] // both halves were put there as 32 bits
    pub fn finish(&mut self) -> (u32, &[Term]) {
        let occurrences = u32::try_from(self.keys.len()).unwrap_or(u32::MAX);
        self.keys.sort_unstable();
        self.firsts.clear();
        for run in self.keys.chunk_by(|a, b| a >> 32 == b >> 32) {
            let id = FeatureId((run[0] >> 32) as u32);
            if id.0 != 0 {
                let count = u32::try_from(run.len()).unwrap_or(u32::MAX);
                let first = run[0] as u32;
                self.firsts.push((first, Term { id, count, kind: self.makeups[first as usize] }));
            }
        }
        self.firsts.sort_unstable_by_key(|&(first, _)| first);
        self.terms.clear();
        self.terms.extend(self.firsts.iter().map(|&(_, term)| term));
        self.keys.clear();
        self.makeups.clear();
        (occurrences, &self.terms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::medium::Medium;

    const fn kind(order: u8) -> FeatureKind {
        FeatureKind { order, medium: 1, pairs: 5, second: FeatureId(0) }
    }

    #[test]
    fn occurrences_become_distinct_terms_in_order_of_first_appearance() {
        let mut collector = Collector::default();
        for (id, order) in [(9, 1), (4, 2), (9, 3), (0, 1), (4, 2), (9, 1)] {
            collector.add(FeatureId(id), kind(order));
        }
        let (occurrences, terms) = collector.finish();
        assert_eq!(occurrences, 6);
        let expected = [(9, 3, 1), (4, 2, 2)];
        let expected =
            expected.map(|(id, count, order)| Term { id: FeatureId(id), count, kind: kind(order) });
        assert_eq!(terms, expected);
        let name = fingerprint(terms);
        collector.add(FeatureId(4), kind(2));
        assert_ne!(fingerprint(collector.finish().1), name);
        assert!(collector.is_empty());
    }

    #[test]
    fn the_name_of_a_document_does_not_depend_on_the_order_of_its_terms() {
        let term = |id, count| Term::new(FeatureId(id), 1, count);
        let name = fingerprint(&[term(1, 2), term(3, 4)]);
        assert_eq!(fingerprint(&[term(3, 4), term(1, 2)]), name);
        assert_ne!(fingerprint(&[term(3, 2), term(1, 4)]), name);
    }

    #[test]
    fn kinds_know_their_texts() {
        let body = [b'x'; 300];
        for (length, pairs) in [(1, 0), (5, 4), (256, 255), (300, 255)] {
            let feature =
                Feature { body: &body[..length], medium: Medium::new(3), order: 8, pattern: None };
            let expected = FeatureKind { order: 0, medium: 3, pairs, second: FeatureId(0) };
            assert_eq!(FeatureKind::of(&feature), expected);
        }
    }

    #[test]
    fn pairs_of_words_know_the_second() {
        let medium = Medium::new(3);
        for (body, second) in [
            (b"\x03one\x03two\x03".as_slice(), b"\x03two\x03".as_slice()),
            (b"\x03\x03two\x03", b"\x03two\x03"),
            (b"\x03one\x03\x03", b"\x03\x03"),
        ] {
            let feature = Feature { body, medium, order: 2, pattern: None };
            assert_eq!(FeatureKind::whole(&feature).second, FeatureId::of(second, medium));
            let other = Feature { order: 3, ..feature };
            assert_eq!(FeatureKind::whole(&other), FeatureKind::of(&other));
        }
    }
}
