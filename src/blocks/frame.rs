// SPDX-License-Identifier: GPL-3.0-or-later
//! The frame that all documents share: which features take part, how documents are dealt to
//! blocks, and documents with numbers in place of features.
//!
//! Document i of n is in block i mod m, where m blocks of the stated size hold all documents, so
//! that documents which are sorted by label are spread over all blocks. Block b is in chain b mod
//! c. Sixteen neighbours are either all learned or all *held out*: left out of a first fit, by
//! which they are judged.
//!
//! A numbered document is a row of varints: twice the number of its label, and 1 if it is held
//! out; occurrences of features; distinct features; and how many of these take part. Each of them
//! follows in the order of the numbers: twice the distance from the one before, and 1 if it occurs
//! several times; then how often. Of documents without features only those that are held out have
//! a row, so that the judgements of several views can be told apart.

use super::coding::{Reader, Writer};
use super::error::BlockError;
use super::settings::{BlockSettings, CHAINS};
use super::tally::{Tally, TermReader, read_makeup, write_makeup};
use crate::joint::dataset::{Cell, Dataset};
use crate::joint::documents::Makeup;
use crate::joint::index::FeatureIndex;
use crate::numeric::random::SplitMix64;
use crate::token::id::FeatureId;

/// Documents that are held out or learned together, see `joint::select`.
const NEIGHBOURS: u64 = 16;
/// One group of neighbours in so many is held out where documents are few.
const FOLDS: u64 = 4;
/// About how many documents are held out at most.
const JUDGED: u64 = 1 << 16;

/// What all chains know.
#[derive(Debug, Clone)]
pub struct Frame {
    /// The features that take part, by number.
    pub features: FeatureIndex,
    /// What they are.
    pub makeups: Vec<Makeup>,
    /// Number of labels.
    pub labels: usize,
    /// Documents, those without features included.
    pub documents: u64,
    /// Documents with features.
    pub with_features: u64,
    /// Documents of a block.
    pub block: u64,
    /// The median number of occurrences of features in a document.
    pub median: u32,
    /// Longest run of words.
    pub max_order: u8,
}

/// The chain of document `number` of `documents`, and the place of its block in that chain.
pub const fn place(number: u64, documents: u64, block: u64) -> (u64, u64) {
    let blocks = blocks(documents, block);
    let chains = if blocks < CHAINS { blocks } else { CHAINS };
    let block = number % blocks;
    (block % chains, block / chains)
}

const fn blocks(documents: u64, block: u64) -> u64 {
    let blocks = documents.div_ceil(block);
    if blocks == 0 { 1 } else { blocks }
}

impl Frame {
    /// The frame of the documents that were tallied.
    pub fn new(tally: &Tally, labels: usize, settings: &BlockSettings) -> Self {
        let (ids, makeups): (Vec<FeatureId>, Vec<Makeup>) =
            tally.features(settings.features).into_iter().unzip();
        Self {
            features: FeatureIndex::of(ids),
            max_order: makeups.iter().map(|makeup| makeup.order).max().unwrap_or(1).max(1),
            makeups,
            labels,
            documents: tally.documents,
            with_features: tally.with_features(),
            block: settings.block,
            median: tally.median(),
        }
    }

    /// How many features take part.
    pub fn width(&self) -> usize {
        self.makeups.len()
    }

    /// How many chains there are.
    pub fn chains(&self) -> usize {
        usize::try_from(blocks(self.documents, self.block).min(CHAINS)).unwrap_or(1)
    }

    /// How many blocks chain `chain` has.
    pub fn blocks_of(&self, chain: usize) -> usize {
        let (all, chains) = (blocks(self.documents, self.block), self.chains() as u64);
        usize::try_from((all - chain as u64).div_ceil(chains)).unwrap_or(usize::MAX)
    }

    /// The chain of document `number`, and the place of its block there.
    pub const fn place(&self, number: u64) -> (u64, u64) {
        place(number, self.documents, self.block)
    }

    /// The length that count vectors are scaled to.
    pub fn length(&self) -> f64 {
        f64::from(self.median).sqrt()
    }

    /// Whether document `number` is held out.
    fn is_held_out(&self, number: u64) -> bool {
        let every = FOLDS.max(self.documents.div_ceil(JUDGED));
        SplitMix64::new(number / NEIGHBOURS).draw().is_multiple_of(every)
    }

    /// The frame as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        let numbers = [self.labels as u64, self.documents, self.with_features, self.block];
        out.numbers(&numbers);
        out.number(u64::from(self.median));
        let ids: Vec<u32> = self.features.ids().iter().map(|id| id.0).collect();
        out.integers(&ids);
        for &makeup in &self.makeups {
            write_makeup(&mut out, makeup);
        }
        out.0
    }

    /// The frame of these bytes.
    ///
    /// # Errors
    /// [`BlockError::Damaged`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BlockError> {
        let mut bytes = Reader::new(bytes, "a frame");
        let labels = bytes.size()?;
        let (documents, with_features, block) = (bytes.number()?, bytes.number()?, bytes.number()?);
        let median = bytes.small()?;
        let ids: Vec<FeatureId> = bytes.integers()?.into_iter().map(FeatureId).collect();
        if block == 0 {
            return Err(bytes.damaged());
        }
        let makeups = ids.iter().map(|_| read_makeup(&mut bytes));
        let makeups = makeups.collect::<Result<Vec<Makeup>, BlockError>>()?;
        Ok(Self {
            features: FeatureIndex::of(ids),
            max_order: makeups.iter().map(|makeup| makeup.order).max().unwrap_or(1).max(1),
            makeups,
            labels,
            documents,
            with_features,
            block,
            median,
        })
    }
}

/// Turns documents into numbers.
pub struct Numberer {
    reader: TermReader,
    cells: Vec<Cell>,
}

impl Numberer {
    /// A numberer of documents that are read as `settings` say.
    pub fn new(settings: &BlockSettings) -> Self {
        Self { reader: TermReader::new(settings.learn.reading()), cells: Vec::new() }
    }

    /// Appends document `number`, whose label has the number `label`, to `out`; a document without
    /// features is left out, unless it is held out.
    pub fn append(
        &mut self,
        frame: &Frame,
        number: u64,
        (label, document): (u32, &[u8]),
        out: &mut Vec<u8>,
    ) {
        let (occurrences, terms) = self.reader.terms(document);
        if terms.is_empty() && !frame.is_held_out(number) {
            return;
        }
        self.cells.clear();
        for term in terms {
            let feature = frame.features.get(term.id).and_then(|at| u32::try_from(at).ok());
            self.cells.extend(feature.map(|feature| Cell { feature, count: term.count }));
        }
        self.cells.sort_unstable_by_key(|cell| cell.feature);
        let mut writer = Writer(std::mem::take(out));
        writer.number(u64::from(label) * 2 + u64::from(frame.is_held_out(number)));
        for size in [occurrences as usize, terms.len(), self.cells.len()] {
            writer.number(size as u64);
        }
        let mut before = 0;
        for cell in &self.cells {
            let distance = u64::from(cell.feature - before);
            writer.number(distance * 2 + u64::from(cell.count > 1));
            if cell.count > 1 {
                writer.number(u64::from(cell.count));
            }
            before = cell.feature;
        }
        *out = writer.0;
    }
}

/// The documents of a block, and which of them are held out.
pub struct Block {
    /// The documents.
    pub data: Dataset,
    /// Whether each is held out.
    pub held_out: Vec<bool>,
    /// Those that are held out, with the numbers of their labels: their numbers among the
    /// documents, `None` for one without features, which is not among them.
    pub judged: Vec<(Option<usize>, u32)>,
}

impl Block {
    /// The documents of these bytes.
    ///
    /// # Errors
    /// [`BlockError::Damaged`].
    pub fn read(frame: &Frame, bytes: &[u8]) -> Result<Self, BlockError> {
        let mut bytes = Reader::new(bytes, "a block of documents");
        let data = Dataset::numbered(frame.labels, frame.max_order, frame.length());
        let mut block = Self { data, held_out: Vec::new(), judged: Vec::new() };
        let (mut cells, width) = (Vec::new(), frame.width() as u64);
        while !bytes.rest.is_empty() {
            let label = bytes.number()?;
            let (occurrences, distinct) = (bytes.small()?, bytes.small()?);
            cells.clear();
            let mut feature = 0;
            for _ in 0..bytes.number()? {
                let step = bytes.number()?;
                feature += step / 2;
                let count = if step % 2 == 1 { bytes.small()? } else { 1 };
                if feature >= width {
                    return Err(bytes.damaged());
                }
                #[allow(clippy::cast_possible_truncation)] // below the width
                cells.push(Cell { feature: feature as u32, count });
            }
            let known = u32::try_from(label / 2).ok().filter(|&at| (at as usize) < frame.labels);
            let known = known.ok_or(bytes.damaged())?;
            let is_held_out = label % 2 == 1;
            if is_held_out {
                block.judged.push(((distinct > 0).then_some(block.data.len()), known));
            }
            if distinct > 0 {
                block.data.push(known, occurrences, distinct, &cells);
                block.held_out.push(is_held_out);
            }
        }
        Ok(block)
    }
}
