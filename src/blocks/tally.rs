// SPDX-License-Identifier: GPL-3.0-or-later
//! Finds the features that most documents contain, in bounded memory.
//!
//! Documents are tallied in *segments* of as many as a block has. Whenever a segment ends and there
//! are more than twice as many features as may take part, only those that most documents contain
//! are kept, of equal ones those with the smallest ids. A feature that was left out and comes again
//! is counted from there on. What takes part is counted exactly later.

use super::coding::{Reader, Writer};
use super::error::BlockError;
use super::settings::BlockSettings;
use crate::document::ReadOptions;
use crate::document::{FeatureReader, FeatureSink};
use crate::joint::documents::{Collector, Makeup, Term};
use crate::token::id::FeatureId;
use crate::token::{BOUNDARY, Feature};
use hashbrown::HashMap;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Reads the features of documents, each as if it were the only one.
pub struct TermReader {
    reader: FeatureReader<'static>,
    collector: Collector,
}

struct Collecting<'a>(&'a mut Collector);

impl FeatureSink for Collecting<'_> {
    fn feature(&mut self, feature: Feature<'_>) {
        let makeup = Makeup::of(&feature);
        // The run of words without the first one, which learning a category asks for.
        let next = feature.body.get(1..).unwrap_or_default();
        let next = next.iter().position(|&byte| byte == BOUNDARY).filter(|_| feature.order > 1);
        let second =
            next.map_or(FeatureId(0), |at| FeatureId::of(&feature.body[at + 1..], feature.medium));
        self.0.add(FeatureId::of(feature.body, feature.medium), Makeup { second, ..makeup });
    }
}

impl TermReader {
    /// A reader of documents.
    pub fn new(options: &ReadOptions) -> Self {
        Self { reader: FeatureReader::new(options), collector: Collector::default() }
    }

    /// The occurrences of features in a document and its distinct features.
    pub fn terms(&mut self, document: &[u8]) -> (u32, &[Term]) {
        self.reader.start_anew();
        // Memory can be read, and collecting refuses nothing.
        let _ = self.reader.read_bytes(document, &mut Collecting(&mut self.collector));
        self.collector.finish()
    }
}

/// What is known of a feature.
#[derive(Debug, Clone, Copy)]
struct Entry {
    documents: u32,
    makeup: Makeup,
}

/// How many documents contain each feature, and how long documents are.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Its order reaches no result.
    entries: HashMap<u32, Entry>,
    /// Documents by their number of occurrences.
    lengths: BTreeMap<u32, u64>,
    /// Documents, those without features included.
    pub documents: u64,
}

impl Tally {
    /// Adds a document.
    pub fn add(&mut self, occurrences: u32, terms: &[Term]) {
        self.documents += 1;
        if terms.is_empty() {
            return;
        }
        *self.lengths.entry(occurrences).or_default() += 1;
        for term in terms {
            let first = Entry { documents: 0, makeup: term.makeup };
            let entry = self.entries.entry(term.id.0).or_insert(first);
            entry.documents = entry.documents.saturating_add(1);
        }
    }

    /// Adds the tally of the next segment.
    pub fn merge(&mut self, other: &Self) {
        self.documents += other.documents;
        for (&length, &documents) in &other.lengths {
            *self.lengths.entry(length).or_default() += documents;
        }
        for (&id, theirs) in &other.entries {
            let first = Entry { documents: 0, makeup: theirs.makeup };
            let entry = self.entries.entry(id).or_insert(first);
            entry.documents = entry.documents.saturating_add(theirs.documents);
        }
    }

    /// Ends a segment: leaves out features where there are many more than `most`.
    pub fn end_segment(&mut self, most: usize) {
        if self.entries.len() > most.saturating_mul(2) {
            let kept = self.foremost(most);
            let last = kept.last().copied();
            self.entries.retain(|&id, entry| last.is_some_and(|last| rank(id, entry) <= last));
            self.entries.shrink_to(most.saturating_mul(2));
        }
    }

    /// The ranks of the foremost features, in their order.
    fn foremost(&self, most: usize) -> Vec<(Reverse<u32>, u32)> {
        let mut ranks: Vec<_> = self.entries.iter().map(|(&id, entry)| rank(id, entry)).collect();
        if most < ranks.len() {
            ranks.select_nth_unstable(most);
            ranks.truncate(most);
        }
        ranks.sort_unstable();
        ranks
    }

    /// The features that take part, at most `most`: those that most documents contain come first.
    pub fn features(&self, most: usize) -> Vec<(FeatureId, Makeup)> {
        let each = self.foremost(most).into_iter();
        each.map(|(_, id)| (FeatureId(id), self.entries[&id].makeup)).collect()
    }

    /// Documents with features.
    pub fn with_features(&self) -> u64 {
        self.lengths.values().sum()
    }

    /// The median number of occurrences of documents with features, 1 at least.
    pub fn median(&self) -> u32 {
        let middle = self.with_features() / 2;
        let mut before = 0;
        for (&length, &documents) in &self.lengths {
            before += documents;
            if before > middle {
                return length.max(1);
            }
        }
        1
    }

    /// The tally as bytes, the same for the same documents.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.number(self.documents);
        out.number(self.lengths.len() as u64);
        for (&length, &documents) in &self.lengths {
            out.number(u64::from(length));
            out.number(documents);
        }
        let mut ids: Vec<u32> = self.entries.keys().copied().collect();
        ids.sort_unstable();
        out.number(ids.len() as u64);
        for id in ids {
            let Entry { documents, makeup } = self.entries[&id];
            for number in [id, documents] {
                out.number(u64::from(number));
            }
            write_makeup(&mut out, makeup);
        }
        out.0
    }

    /// The tally of these bytes.
    ///
    /// # Errors
    /// [`BlockError::Damaged`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BlockError> {
        let mut bytes = Reader::new(bytes, "a tally");
        let mut tally = Self { documents: bytes.number()?, ..Self::default() };
        for _ in 0..bytes.number()? {
            let length = bytes.small()?;
            tally.lengths.insert(length, bytes.number()?);
        }
        for _ in 0..bytes.number()? {
            let (id, documents) = (bytes.small()?, bytes.small()?);
            tally.entries.insert(id, Entry { documents, makeup: read_makeup(&mut bytes)? });
        }
        Ok(tally)
    }
}

const fn rank(id: u32, entry: &Entry) -> (Reverse<u32>, u32) {
    (Reverse(entry.documents), id)
}

pub fn write_makeup(out: &mut Writer, makeup: Makeup) {
    let Makeup { order, medium, pairs, second } = makeup;
    for number in [u32::from(order), u32::from(medium), u32::from(pairs), second.0] {
        out.number(u64::from(number));
    }
}

pub fn read_makeup(bytes: &mut Reader<'_>) -> Result<Makeup, BlockError> {
    let (order, medium, pairs) = (bytes.byte()?, bytes.byte()?, bytes.byte()?);
    Ok(Makeup { order, medium, pairs, second: FeatureId(bytes.small()?) })
}

/// Tallies documents one after the other.
pub struct Tallier {
    reader: TermReader,
    tally: Tally,
    block: u64,
    most: usize,
}

impl Tallier {
    /// A tallier without documents.
    pub fn new(settings: &BlockSettings) -> Self {
        let reader = TermReader::new(settings.learn.reading());
        let (block, most) = (settings.block, settings.features);
        Self { reader, tally: Tally::default(), block, most }
    }

    /// Takes the next document.
    pub fn add(&mut self, document: &[u8]) {
        let (occurrences, terms) = self.reader.terms(document);
        self.tally.add(occurrences, terms);
        if self.tally.documents.is_multiple_of(self.block) {
            self.tally.end_segment(self.most);
        }
    }

    /// The tally of all documents.
    pub fn finish(mut self) -> Tally {
        self.tally.end_segment(self.most);
        self.tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(documents: &[&[u32]]) -> Tally {
        let mut tally = Tally::default();
        for ids in documents {
            let terms: Vec<Term> = ids.iter().map(|&id| Term::new(FeatureId(id), 1, 1)).collect();
            tally.add(u32::try_from(ids.len()).unwrap(), &terms);
        }
        tally
    }

    fn ids(tally: &Tally, most: usize) -> Vec<u32> {
        tally.features(most).into_iter().map(|(id, _)| id.0).collect()
    }

    #[test]
    fn features_that_most_documents_contain_are_kept() {
        let mut all = tally(&[&[5, 7, 9], &[5, 9, 8], &[9], &[]]);
        assert_eq!((all.documents, all.with_features(), all.median()), (4, 3, 3));
        assert_eq!(ids(&all, 9), [9, 5, 7, 8]);
        assert_eq!(ids(&all, 3), [9, 5, 7]);
        all.end_segment(2);
        assert_eq!(ids(&all, 9), [9, 5, 7, 8], "not more than twice as many");
        all.end_segment(1);
        assert_eq!(ids(&all, 9), [9]);
    }

    #[test]
    fn segments_make_the_tally_of_all() {
        let (one, two) = (tally(&[&[1, 2], &[2]]), tally(&[&[2, 3], &[3, 1, 4, 5]]));
        let mut merged = Tally::from_bytes(&one.to_bytes()).unwrap();
        merged.merge(&Tally::from_bytes(&two.to_bytes()).unwrap());
        let all = tally(&[&[1, 2], &[2], &[2, 3], &[3, 1, 4, 5]]);
        assert_eq!(merged.to_bytes(), all.to_bytes());
        assert_eq!(merged.median(), 2);
        for length in 0..one.to_bytes().len() {
            assert!(Tally::from_bytes(&one.to_bytes()[..length]).is_err(), "{length}");
        }
    }
}
