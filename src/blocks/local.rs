// SPDX-License-Identifier: GPL-3.0-or-later
//! Blocks on one machine: numbered documents lie in a file, and one block after the other is in
//! memory.

use super::chain::{Answer, Share, Task, work};
use super::error::BlockError;
use super::frame::{Frame, Numberer, place};
use super::leader::{BlockFit, Chains, Leader};
use super::settings::BlockSettings;
use crate::joint::solver::Duals;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of a block that wait in memory until they are written together.
const WAITING: usize = 1 << 14;
/// Bytes that the program and small things need.
const ROOM: u64 = 24 << 20;
/// Bytes for each feature that takes part, whatever the number of labels is: the tally, which has
/// seen more than twice as many; frame; frequencies; the table of a category.
const PER_FEATURE: u64 = 96;
/// Bytes for each feature and label that is worked on.
const PER_CELL: u64 = 24;

/// The bytes of memory that a fit needs which works on one label at a time.
pub const fn needed(features: usize) -> u64 {
    ROOM + (PER_FEATURE + PER_CELL) * features as u64
}

/// Where the bytes of a block are, and what waits to be written.
#[derive(Debug, Clone, Default)]
struct Place {
    /// Offsets and lengths in the file.
    parts: Vec<(u64, usize)>,
    waiting: Vec<u8>,
    /// Where its dual variables begin, for each problem that is fitted at a time.
    duals: u64,
}

/// Documents in blocks on this machine.
pub struct LocalBlocks<'a> {
    frame: &'a Frame,
    settings: &'a BlockSettings,
    numberer: Numberer,
    file: File,
    end: u64,
    /// By chain, then block.
    chains: Vec<Vec<Place>>,
    /// Documents so far.
    number: u64,
}

impl<'a> LocalBlocks<'a> {
    /// No documents yet; they are kept in `file`.
    pub fn new(frame: &'a Frame, settings: &'a BlockSettings, file: File) -> Self {
        let chain = |at| vec![Place::default(); frame.blocks_of(at)];
        Self {
            frame,
            settings,
            numberer: Numberer::new(settings),
            file,
            end: 0,
            chains: (0..frame.chains()).map(chain).collect(),
            number: 0,
        }
    }

    /// Takes the next document, whose label has the number `label`.
    ///
    /// # Errors
    /// Those of the file, and more documents than were tallied.
    pub fn add(&mut self, label: u32, document: &[u8]) -> Result<(), BlockError> {
        let (chain, block) = place(self.number, self.frame.documents, self.frame.block);
        let at = |number| usize::try_from(number).unwrap_or(usize::MAX);
        let own = self.chains.get_mut(at(chain)).and_then(|chain| chain.get_mut(at(block)));
        let own = own.ok_or(BlockError::Damaged("a frame"))?;
        self.numberer.append(self.frame, self.number, (label, document), &mut own.waiting);
        self.number += 1;
        if own.waiting.len() >= WAITING {
            write(&self.file, &mut self.end, own)?;
        }
        Ok(())
    }

    /// Checks whether about `memory` bytes are enough, and returns how many labels can be fitted at
    /// a time with them.
    ///
    /// # Errors
    /// [`BlockError::Memory`].
    pub fn labels_at_a_time(&self, memory: Option<u64>) -> Result<usize, BlockError> {
        let frame = self.frame;
        let length = |place: &Place| {
            place.waiting.len() as u64 + place.parts.iter().map(|part| part.1 as u64).sum::<u64>()
        };
        let block = self.chains.iter().flatten().map(length).max().unwrap_or(0);
        // A cell takes at least one byte in the file, and eight in memory.
        let needed = needed(frame.width()) + 10 * block;
        match memory {
            None => Ok(frame.labels),
            Some(memory) if memory < needed => {
                Err(BlockError::Memory { needed, features: frame.width() })
            }
            Some(memory) => {
                let more = (memory - needed) / (PER_CELL * frame.width().max(1) as u64);
                Ok(usize::try_from(more).unwrap_or(usize::MAX).saturating_add(1).min(frame.labels))
            }
        }
    }

    /// Fits the categories with about `memory` bytes, or with as many as that takes. `file` makes
    /// files that vanish; once `stop` is set, the work ends.
    ///
    /// # Errors
    /// [`BlockError::Memory`] where too little is allowed, and those of the fit.
    pub fn fit(
        mut self,
        memory: Option<u64>,
        file: &mut dyn FnMut() -> std::io::Result<File>,
        stop: &AtomicBool,
    ) -> Result<BlockFit, BlockError> {
        let Self { frame, settings, .. } = self;
        let at_a_time = self.labels_at_a_time(memory)?;
        for place in self.chains.iter_mut().flatten() {
            write(&self.file, &mut self.end, place)?;
            place.waiting = Vec::new();
        }
        let columns = file()?;
        let mut chains =
            LocalChains { frame, file: self.file, chains: self.chains, duals: file()?, stop };
        Leader::new(frame, settings, &mut chains, at_a_time, columns).fit()
    }
}

/// Writes what waits of a block to the end of the file.
fn write(file: &File, end: &mut u64, place: &mut Place) -> Result<(), BlockError> {
    file.write_all_at(&place.waiting, *end)?;
    place.parts.push((*end, place.waiting.len()));
    *end += place.waiting.len() as u64;
    place.waiting.clear();
    Ok(())
}

struct LocalChains<'a> {
    frame: &'a Frame,
    file: File,
    chains: Vec<Vec<Place>>,
    duals: File,
    stop: &'a AtomicBool,
}

impl Chains for LocalChains<'_> {
    fn each(
        &mut self,
        task: &Task,
        take: &mut dyn FnMut(Answer) -> Result<(), BlockError>,
    ) -> Result<(), BlockError> {
        let Self { frame, file, chains, duals, stop, .. } = self;
        let mut end = 0;
        for chain in chains {
            let mut share = LocalShare { file, duals, chain, end: &mut end, stop };
            take(work(frame, task, &mut share)?)?;
        }
        Ok(())
    }
}

struct LocalShare<'a> {
    file: &'a File,
    duals: &'a File,
    chain: &'a mut [Place],
    /// Where the dual variables of the next block begin.
    end: &'a mut u64,
    stop: &'a AtomicBool,
}

impl Share for LocalShare<'_> {
    fn blocks(&self) -> usize {
        self.chain.len()
    }

    fn block(&mut self, at: usize) -> Result<Vec<u8>, BlockError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(BlockError::Elsewhere("training was stopped".into()));
        }
        let parts = &self.chain[at].parts;
        let mut bytes = vec![0; parts.iter().map(|part| part.1).sum()];
        let mut rest = bytes.as_mut_slice();
        for &(offset, length) in parts {
            let (part, others) = rest.split_at_mut(length);
            self.file.read_exact_at(part, offset)?;
            rest = others;
        }
        Ok(bytes)
    }

    fn duals(&mut self, at: usize, length: usize) -> Result<Vec<Duals>, BlockError> {
        let mut bytes = vec![0; 8 * length];
        self.duals.read_exact_at(&mut bytes, self.chain[at].duals)?;
        let (words, _) = bytes.as_chunks::<4>();
        let (pairs, _) = words.as_chunks::<2>();
        Ok(pairs.iter().map(|pair| pair.map(f32::from_le_bytes)).collect())
    }

    fn set_duals(&mut self, at: usize, duals: &[Duals]) -> Result<(), BlockError> {
        let bytes: Vec<u8> = duals.iter().flatten().flat_map(|dual| dual.to_le_bytes()).collect();
        self.chain[at].duals = *self.end;
        self.duals.write_all_at(&bytes, *self.end)?;
        *self.end += bytes.len() as u64;
        Ok(())
    }
}
