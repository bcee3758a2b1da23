// SPDX-License-Identifier: GPL-3.0-or-later
//! Training on more documents than memory holds, and on several machines.
//!
//! ```text
//! documents ─→ tally ─→ frame (features that take part) ─→ numbered documents in blocks and chains
//!                                                             ⇅ tasks: count, round, score
//!                                                           leader ─→ table
//! ```
//!
//! Documents are dealt to *blocks* of a stated size, and blocks to at most eight *chains*. In each
//! round every chain goes on from the common sums: it fits its blocks in turn and knows nothing of
//! the other chains. Then the changes of all chains are added up in their order. What comes out
//! depends on the documents, their order, the options and the size of a block. It does not depend
//! on how many labels are fitted at a time, on memory, threads or machines. Where all documents fit
//! into one block, the model is the one that [`Trainer`](crate::text::Trainer) makes of them.

mod chain;
mod frame;
mod leader;
mod local;

use crate::text::features::{Layout, TextReader};
use crate::text::learn::{self, Learned, Settings};
use crate::text::recipe::{InBlocks, Recipe};
use crate::text::train::{TrainError, Trained};
use chain::{Answer, Task, Work};
pub use frame::{Frame, place};
use frame::{Numberer, Tally};
use leader::Leader;
pub use local::BlockTrainer;
use local::vanishing;
use std::path::Path;

/// Hands a task to all chains, and their answers in the order of the chains to the function.
pub type Ask<'a> = dyn FnMut(&[u8], &mut dyn FnMut(&[u8]) -> Done) -> Done + 'a;

/// Whether chains have done what they were asked for.
type Done = Result<(), TrainError>;

/// How documents of so many labels are fitted in blocks, for each process that takes part.
#[derive(Debug, Clone)]
pub struct BlockPlan {
    recipe: Recipe,
    layout: Layout,
    settings: Settings,
    labels: usize,
    block: u64,
    features: usize,
}

impl BlockPlan {
    /// The plan of a recipe that asks for blocks, for documents of so many labels; `warn` is shown
    /// what is odd about it. A recipe without a preset has words and pairs alone: documents that
    /// need blocks are many.
    ///
    /// # Errors
    /// A recipe that does not suit blocks.
    pub fn new(
        recipe: &Recipe,
        labels: usize,
        warn: &mut dyn FnMut(String),
    ) -> Result<Self, TrainError> {
        let Some(InBlocks { block, features }) = recipe.in_blocks else {
            return Err(TrainError::Settings("the number of documents in a block is missing"));
        };
        let what = if block == 0 {
            "a block has one document at least"
        } else if recipe.choose || recipe.start.is_some() {
            "settings cannot be chosen in blocks, and fits start from nothing"
        } else if recipe.several || recipe.label_names {
            "neither several labels of a document nor names of labels can be learned in blocks"
        } else {
            ""
        };
        if !what.is_empty() {
            return Err(TrainError::Settings(what));
        }
        let mut plan = recipe.plan(warn)?;
        plan.runs = plan.runs.or(Some(false));
        Ok(Self {
            layout: learn::layout(&plan, 0, labels),
            settings: learn::usual(recipe, labels),
            recipe: plan.recipe,
            labels,
            block,
            features: usize::try_from(features).unwrap_or(usize::MAX),
        })
    }

    /// The documents of a block.
    pub const fn block(&self) -> u64 {
        self.block
    }

    /// The tally of a segment: of as many documents as a block has, one after the other.
    pub fn tally<'a>(&self, documents: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
        let (mut tally, mut reader) = (Tally::default(), TextReader::new(&self.layout));
        documents.into_iter().for_each(|text| tally.add(reader.read(text), text));
        tally.to_bytes()
    }

    /// The frame of the tallies of all segments in their order.
    ///
    /// # Errors
    /// Damaged tallies.
    pub fn frame<T: AsRef<[u8]>>(
        &self,
        tallies: impl IntoIterator<Item = T>,
    ) -> Result<Frame, TrainError> {
        let mut all = Tally::default();
        for tally in tallies {
            all.merge(&Tally::from_bytes(tally.as_ref()).ok_or(TrainError::Damaged)?);
            all.end_segment(self.features);
        }
        Ok(self.framed(&all))
    }

    fn framed(&self, tally: &Tally) -> Frame {
        Frame::new(tally, (self.layout.blocks(), self.labels), self.block, self.features)
    }

    /// A block from its documents, in their order: the number of each among all documents, the
    /// number of its label among the sorted labels, and its text.
    pub fn numbered<'a>(
        &self,
        frame: &Frame,
        documents: impl IntoIterator<Item = (u64, u32, &'a [u8])>,
    ) -> Vec<u8> {
        let (mut numberer, mut block) = (Numberer::new(frame, &self.layout), Vec::new());
        for (number, label, text) in documents {
            numberer.append(number, label, text, &mut block);
        }
        block
    }

    /// Leads chains, which have the documents of these labels, to a model. Temporary files lie in
    /// `folder`.
    ///
    /// # Errors
    /// Those of the fit, and those of `ask`.
    pub fn train(
        &self,
        frame: &Frame,
        labels: &[(String, u64)],
        ask: &mut Ask<'_>,
        folder: &Path,
    ) -> Result<Trained, TrainError> {
        let leader = Leader {
            plan: self,
            frame,
            labels,
            chains: &mut |task, take| {
                ask(&task.to_bytes(), &mut |answer| {
                    take(Answer::from_bytes(answer).ok_or(TrainError::Damaged)?)
                })
            },
            at_a_time: frame.labels,
            file: &mut || vanishing(folder),
            go_on: &|_| true,
        };
        self.trained(leader.fit()?, labels)
    }

    /// The model of what was learned, and how it came about.
    fn trained(&self, learned: Learned, labels: &[(String, u64)]) -> Result<Trained, TrainError> {
        let all = labels.iter().map(|(_, documents)| documents).sum();
        Trained::of(&self.recipe, Vec::new(), (labels.to_vec(), all), learned, None)
    }
}

/// A task that is being done with the blocks of a chain, which come one after the other in their
/// order.
pub struct BlockWork {
    frame: Frame,
    task: Task<'static>,
    work: Work,
}

impl BlockWork {
    /// The work on a task.
    ///
    /// # Errors
    /// Damaged bytes.
    pub fn new(frame: &[u8], task: &[u8]) -> Result<Self, TrainError> {
        let frame = Frame::from_bytes(frame)?;
        let task = Task::from_bytes(&frame, task).ok_or(TrainError::Damaged)?;
        let work = Work::new(&frame, &task);
        Ok(Self { frame, task, work })
    }

    /// Takes the next block. `duals` are those that the task before has left of it, empty at first.
    /// Returns those that it has from now on.
    ///
    /// # Errors
    /// Damaged bytes.
    pub fn add(&mut self, block: &[u8], duals: &[u8]) -> Result<Vec<u8>, TrainError> {
        let mut old = |length: usize| {
            if duals.len() == length { Ok(duals.to_vec()) } else { Err(TrainError::Damaged) }
        };
        let new = self.work.add(&self.frame, &self.task, block, &mut old)?;
        Ok(new.unwrap_or_else(|| duals.to_vec()))
    }

    /// The answer, after the last block.
    pub fn answer(self) -> Vec<u8> {
        self.work.answer(&self.frame, &self.task).to_bytes()
    }
}
