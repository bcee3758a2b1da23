// SPDX-License-Identifier: GPL-3.0-or-later
//! Which features take part, how documents are dealt to blocks, and documents with numbers in place
//! of features (docs/spec/model-format.md).
//!
//! A numbered document is a row of varints: [`Kind`] and label together, the words of a cut, and
//! for each block of features how many distinct ones the document has, how many of these take part,
//! and by how much the number of each exceeds that of the one before.

use crate::linear::{Block, Documents, Member};
use crate::text::bytes::{number, put};
use crate::text::features::{Features, Layout, TextReader};
use crate::text::index::Index;
use crate::text::learn::WEIGHT;
use crate::text::shorten;
use crate::text::train::TrainError;
use dbacl_numeric::random::SplitMix64;
use dbacl_numeric::varint;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The largest number of chains.
const CHAINS: u64 = 8;
/// Documents that are held out or learned together.
const NEIGHBOURS: u64 = 16;
/// One group of neighbours in so many is held out where documents are few.
const FOLDS: u64 = 4;
/// About how many documents are held out at most, and how many of these are cut short.
const JUDGED: u64 = 1 << 16;
const CUT: u64 = 4000;
/// Below this number of documents, few features are in two documents or more.
const TINY: u64 = 100;

/// In how many documents each feature is, of which most are forgotten where there are too many.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    index: Index,
    counts: Vec<u32>,
    /// Documents by their number of words.
    lengths: BTreeMap<u64, u64>,
    documents: u64,
}

impl Tally {
    /// Takes a document.
    pub(crate) fn add(&mut self, features: &Features, text: &[u8]) {
        self.documents += 1;
        *self.lengths.entry(shorten::words(text) as u64).or_default() += 1;
        features.blocks.iter().flatten().for_each(|&feature| self.count(feature, 1));
    }

    fn count(&mut self, feature: u32, documents: u32) {
        let column = self.index.insert(feature) as usize;
        self.counts.resize(self.index.len(), 0);
        self.counts[column] = self.counts[column].saturating_add(documents);
    }

    /// Takes the tally of the next segment.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.documents += other.documents;
        for (&words, &documents) in &other.lengths {
            *self.lengths.entry(words).or_default() += documents;
        }
        for (feature, &documents) in other.index.features().into_iter().zip(&other.counts) {
            self.count(feature, documents);
        }
    }

    /// Ends a segment: leaves out features where there are more than twice `most`.
    pub(crate) fn end_segment(&mut self, most: usize) {
        if self.counts.len() > most.saturating_mul(2) {
            let kept = self.foremost(most);
            (self.index, self.counts) = (Index::default(), Vec::new());
            for (Reverse(documents), feature) in kept {
                self.count(feature, documents);
            }
        }
    }

    /// The features that most documents have, of equal ones the smallest.
    fn foremost(&self, most: usize) -> Vec<(Reverse<u32>, u32)> {
        let counts = self.counts.iter().map(|&documents| Reverse(documents));
        let mut all: Vec<_> = counts.zip(self.index.features()).collect();
        if most < all.len() {
            all.select_nth_unstable(most);
            all.truncate(most);
        }
        all
    }

    /// The median number of words.
    fn median(&self) -> u64 {
        let mut before = 0;
        let is_middle = |own: &(&u64, &u64)| {
            before += own.1;
            before > self.documents / 2
        };
        self.lengths.iter().find(is_middle).map_or(0, |(&words, _)| words)
    }

    /// The tally as bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let lengths = self.lengths.iter().flat_map(|(&words, &documents)| [words, documents]);
        let features = self.index.features().into_iter().zip(&self.counts);
        let features = features.flat_map(|(feature, &count)| [feature, count].map(u64::from));
        let head = [self.documents, self.lengths.len() as u64].into_iter();
        let mut out = Vec::new();
        put(&mut out, head.chain(lengths).chain(features));
        out
    }

    /// The tally of these bytes.
    pub(crate) fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let rest = &mut bytes;
        let mut tally = Self { documents: number(rest)?, ..Self::default() };
        for _ in 0..number(rest)? {
            tally.lengths.insert(number(rest)?, number(rest)?);
        }
        while !rest.is_empty() {
            tally.count(number(rest)?, number(rest)?);
        }
        Some(tally)
    }
}

/// What all chains know.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// The features that take part, rising.
    pub features: Vec<u32>,
    /// Documents that a feature must be in.
    pub least: u32,
    /// Blocks of features of a document.
    pub parts: usize,
    /// Number of labels.
    pub labels: usize,
    /// Documents.
    pub documents: u64,
    /// The most of them that a block holds.
    pub block: u64,
    /// The median number of words.
    pub median: u64,
}

/// The chain of document `number` of `documents`, and the place of its block in that chain.
pub fn place(number: u64, documents: u64, block: u64) -> (u64, u64) {
    let blocks = documents.div_ceil(block).max(1);
    let chains = blocks.min(CHAINS);
    let block = number % blocks;
    (block % chains, block / chains)
}

impl Frame {
    /// The frame of the tally of all documents, of which at most `most` features take part.
    pub(crate) fn new(
        tally: &Tally,
        (parts, labels): (usize, usize),
        block: u64,
        most: usize,
    ) -> Self {
        let least = if tally.documents < TINY { 1 } else { 2 };
        let all = tally.foremost(most).into_iter();
        let mut features: Vec<u32> =
            all.filter(|(documents, _)| documents.0 >= least).map(|(_, feature)| feature).collect();
        features.sort_unstable();
        let (documents, median) = (tally.documents, tally.median());
        Self { features, least, parts, labels, documents, block, median }
    }

    /// How many chains there are.
    pub fn chains(&self) -> usize {
        let chains = self.documents.div_ceil(self.block).min(CHAINS);
        usize::try_from(chains).unwrap_or(1)
    }

    /// Number of problems: two labels are one.
    pub(crate) const fn problems(&self) -> usize {
        if self.labels == 2 { 1 } else { self.labels }
    }

    /// One document in so many is held out.
    fn folds(&self) -> u64 {
        self.documents.div_ceil(JUDGED).max(FOLDS)
    }

    /// Whether document `number` is held out.
    fn is_held_out(&self, number: u64) -> bool {
        SplitMix64::new(number / NEIGHBOURS).draw().is_multiple_of(self.folds())
    }

    /// Whether a document that is held out is cut short, too.
    fn is_cut(&self, number: u64) -> bool {
        let held_out = self.documents / self.folds();
        SplitMix64::new(!number).draw().is_multiple_of(held_out.div_ceil(CUT).max(1))
    }

    /// The frame as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let [parts, labels] = [self.parts as u64, self.labels as u64];
        let least = u64::from(self.least);
        put(&mut out, [least, parts, labels, self.documents, self.block, self.median]);
        append_rising(&mut out, &self.features);
        out
    }

    /// The frame of these bytes.
    ///
    /// # Errors
    /// [`TrainError::Damaged`] if they are not those of a frame.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TrainError> {
        Self::read(bytes).ok_or(TrainError::Damaged)
    }

    fn read(mut bytes: &[u8]) -> Option<Self> {
        let rest = &mut bytes;
        let least = number(rest)?;
        let [parts, labels] = [number::<u32>(rest)?, number(rest)?].map(|it| it as usize);
        let (documents, block, median) = (number(rest)?, number(rest)?, number(rest)?);
        let mut features = Vec::new();
        take_rising(rest, &mut features)?;
        let fits = block > 0 && labels >= 2 && parts > 0 && rest.is_empty();
        fits.then_some(Self { features, least, parts, labels, documents, block, median })
    }
}

/// Appends the length of a rising list, and by how much each number exceeds the one before.
fn append_rising(out: &mut Vec<u8>, numbers: &[u32]) {
    varint::append(out, numbers.len() as u64);
    let mut before = 0;
    for &number in numbers {
        varint::append(out, u64::from(number - before));
        before = number;
    }
}

fn take_rising(rest: &mut &[u8], out: &mut Vec<u32>) -> Option<()> {
    let mut before = 0u32;
    for _ in 0..number::<u64>(rest)? {
        before = before.checked_add(number(rest)?)?;
        out.push(before);
    }
    Some(())
}

/// What a numbered document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Kind {
    /// Whether the first fit leaves it out.
    pub is_held_out: bool,
    /// Whether it is a shortened copy of a document, to be learned with it.
    pub is_copy: bool,
    /// If not 0, it is what is left of one that is held out when it is cut to so many words: it is
    /// never learned.
    pub words: usize,
}

/// Gives documents numbers in place of features.
pub(super) struct Numberer<'a> {
    frame: &'a Frame,
    index: Index,
    reader: TextReader,
}

impl<'a> Numberer<'a> {
    /// A numberer of documents that are read by this layout.
    pub(super) fn new(frame: &'a Frame, layout: &Layout) -> Self {
        Self { frame, index: Index::of(&frame.features), reader: TextReader::new(layout) }
    }

    /// Appends document `number`, and what is made of it, to a block.
    pub(super) fn append(&mut self, number: u64, label: u32, text: &[u8], out: &mut Vec<u8>) {
        let is_held_out = self.frame.is_held_out(number);
        let kind = Kind { is_held_out, ..Kind::default() };
        let key = self.put(kind, label, text, out);
        if let Some(copy) = shorten::copy(text, key) {
            self.put(Kind { is_copy: true, ..kind }, label, &copy, out);
        }
        if is_held_out && self.frame.is_cut(number) {
            for (words, text) in shorten::cuts(text) {
                self.put(Kind { words, ..kind }, label, &text, out);
            }
        }
    }

    /// Appends a document; returns its key.
    fn put(&mut self, kind: Kind, label: u32, text: &[u8], out: &mut Vec<u8>) -> u64 {
        let Kind { is_held_out, is_copy, words } = kind;
        let code = if words > 0 { 4 } else { u64::from(is_held_out) + 2 * u64::from(is_copy) };
        varint::append(out, u64::from(label) * 5 + code);
        if words > 0 {
            varint::append(out, words as u64);
        }
        let features = self.reader.read(text);
        let mut columns: Vec<u32> = Vec::new();
        for own in features.blocks.iter().take(self.frame.parts) {
            columns.clear();
            columns.extend(own.iter().filter_map(|&feature| self.index.get(feature)));
            varint::append(out, own.len() as u64);
            append_rising(out, &columns);
        }
        shorten::key(features)
    }
}

/// The documents of a block of documents.
#[derive(Default)]
pub(super) struct Numbered {
    /// All of them, in their order.
    pub documents: Documents,
    /// What each is.
    pub kinds: Vec<Kind>,
    /// The label of each.
    pub labels: Vec<u32>,
    /// Whether each has features, known or not.
    pub has_features: Vec<bool>,
}

impl Numbered {
    /// The documents of these bytes; `costs` are what each label's cost.
    pub(super) fn read(frame: &Frame, costs: &[f32], mut bytes: &[u8]) -> Option<Self> {
        let rest = &mut bytes;
        let mut found = Self::default();
        let (mut columns, mut blocks) = (Vec::new(), Vec::new());
        let copies = shorten::copy_cost(usize::try_from(frame.median).unwrap_or(usize::MAX));
        while !rest.is_empty() {
            let head: u64 = number(rest)?;
            let label = u32::try_from(head / 5).ok()?;
            let kind = match head % 5 {
                4 => Kind {
                    is_held_out: true,
                    is_copy: false,
                    words: number(rest).filter(|&words: &u32| words > 0)? as usize,
                },
                code => Kind { is_held_out: code % 2 == 1, is_copy: code > 1, words: 0 },
            };
            columns.clear();
            blocks.clear();
            let mut all = 0;
            for _ in 0..frame.parts {
                let (distinct, before) = (number::<u32>(rest)? as usize, columns.len());
                take_rising(rest, &mut columns)?;
                blocks.push(Block::new(columns.len() - before, WEIGHT, distinct));
                all += distinct;
            }
            let is_known = |&column: &u32| (column as usize) < frame.features.len();
            if label as usize >= frame.labels || !columns.iter().all(is_known) {
                return None;
            }
            let positive: &[u32] = match (frame.labels, label) {
                (2, 0) => &[],
                (2, _) => &[0],
                _ => &[label],
            };
            let copies = if kind.is_copy { copies } else { 1.0 };
            let cost = copies * costs.get(label as usize).copied().unwrap_or(1.0);
            let member = Member { columns: &columns, blocks: &blocks, positive, cost };
            found.documents.push(found.kinds.len() as u64, &member);
            found.kinds.push(kind);
            found.labels.push(label);
            found.has_features.push(all > 0);
        }
        Some(found)
    }

    /// The documents that a fit learns: all but cuts, and without those that are held out unless
    /// it `is_whole`.
    pub(super) fn part(&self, is_whole: bool) -> Vec<u32> {
        let is_in = |kind: &Kind| kind.words == 0 && (is_whole || !kind.is_held_out);
        (0u32..).zip(&self.kinds).filter(|(_, kind)| is_in(kind)).map(|(at, _)| at).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReadOptions;

    fn features(ids: &[u32]) -> Features {
        let ends = [[ids.len(); 4], [0; 4]];
        Features { blocks: [ids.to_vec(), Vec::new()], ends }
    }

    fn tally(documents: &[&[u32]]) -> Tally {
        let mut tally = Tally::default();
        for ids in documents {
            tally.add(&features(ids), b"two words");
        }
        tally
    }

    fn foremost(tally: &Tally, most: usize) -> Vec<u32> {
        let mut found = tally.foremost(most);
        found.sort_unstable();
        found.into_iter().map(|(_, feature)| feature).collect()
    }

    #[test]
    fn features_that_most_documents_contain_are_kept() {
        let mut all = tally(&[&[5, 7, 9], &[5, 9, 8], &[9], &[]]);
        assert_eq!((all.documents, all.median()), (4, 2));
        assert_eq!(foremost(&all, 9), [9, 5, 7, 8]);
        all.end_segment(2);
        assert_eq!(foremost(&all, 9), [9, 5, 7, 8], "not more than twice as many");
        all.end_segment(1);
        assert_eq!(foremost(&all, 9), [9]);
    }

    #[test]
    fn segments_make_the_tally_of_all() {
        let (one, two) = (tally(&[&[1, 2], &[2]]), tally(&[&[2, 3], &[1, 3, 4, 5]]));
        let mut merged = Tally::from_bytes(&one.to_bytes()).unwrap();
        merged.merge(&Tally::from_bytes(&two.to_bytes()).unwrap());
        let all = tally(&[&[1, 2], &[2], &[2, 3], &[1, 3, 4, 5]]);
        assert_eq!(merged.to_bytes(), all.to_bytes());
        assert!(Tally::from_bytes(&one.to_bytes()[..one.to_bytes().len() - 1]).is_none());
    }

    #[test]
    fn documents_are_dealt_to_blocks_and_chains() {
        let of = |number| place(number, 90, 10);
        assert_eq!([0, 1, 8, 9, 17].map(of), [(0, 0), (1, 0), (0, 1), (0, 0), (0, 1)]);
        assert_eq!(place(5, 6, 10), (0, 0));
    }

    #[test]
    fn numbered_documents_are_read_back() {
        let layout = Layout {
            words: ReadOptions::text(),
            runs: None,
            keeps_case: false,
            folds: true,
            lengths: [2, 5],
            repeats: 0,
        };
        let letter = |at: u8| char::from(b'a' + at);
        let own = (0..20).flat_map(|a| (0..20).map(move |b| [a, b].map(letter)));
        let text = |[a, b]: [char; 2]| format!("a q{a}{b} of common words in some longer text");
        let texts: Vec<String> = own.map(text).collect();
        let mut tally = Tally::default();
        let mut reader = TextReader::new(&layout);
        for text in &texts {
            tally.add(reader.read(text.as_bytes()), text.as_bytes());
        }
        let frame = Frame::new(&tally, (1, 3), 100, 1000);
        assert_eq!(Frame::from_bytes(&frame.to_bytes()).unwrap(), frame);
        // What only one document has takes no part.
        assert_eq!(frame.features.len(), 8);
        let (mut numberer, mut bytes) = (Numberer::new(&frame, &layout), Vec::new());
        for (at, text) in (0u32..).zip(&texts) {
            numberer.append(u64::from(at), at % 3, text.as_bytes(), &mut bytes);
        }
        let found = Numbered::read(&frame, &[1.0, 2.0, 3.0], &bytes).unwrap();
        let count = |is_held_out, is_copy, words| {
            let kind = Kind { is_held_out, is_copy, words };
            found.kinds.iter().filter(|&&own| own == kind).count()
        };
        let held_out = count(true, false, 0);
        assert_eq!(count(false, false, 0) + held_out, 400);
        assert!(held_out >= 32 && count(false, true, 0) > 50);
        assert_eq!(count(true, false, 5), held_out);
        let member = found.documents.member(0);
        assert_eq!((member.columns.len(), member.blocks[0].columns, member.cost), (8, 8, 1.0));
        let whole = found.part(true).len();
        assert_eq!(whole - found.part(false).len(), held_out + count(true, true, 0));
        for length in [1, bytes.len() / 2, bytes.len() - 1] {
            let damaged = [&bytes[..length], &[0xff]].concat();
            assert!(Numbered::read(&frame, &[], &damaged).is_none(), "{length}");
        }
    }
}
