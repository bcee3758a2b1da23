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
//! into one block, the model is the one that [`Trainer`](crate::Trainer) makes of them.

mod chain;
mod frame;
mod leader;
mod local;

use crate::features::{Layout, TextReader};
use crate::learn::{self, RunsPlan, Settings};
use crate::model::TextModel;
use crate::recipe::{InBlocks, OPTIONS, Recipe};
use crate::train::{TrainError, Trained, warnings};
use chain::{Answer, Task, Work};
pub use frame::{Frame, place};
use frame::{Numberer, Tally};
use leader::{BlockFit, Chains, Leader};
pub use local::BlockTrainer;
use local::vanishing;
use std::path::Path;

/// Why documents cannot be fitted in blocks.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlockError {
    /// A temporary file cannot be written or read.
    #[error("a temporary file: {0}")]
    Io(#[from] std::io::Error),
    /// What another process has sent, or a temporary file, is damaged.
    #[error("what was counted or fitted in part is damaged")]
    Damaged,
    /// The options do not suit blocks.
    #[error("{0}")]
    Settings(&'static str),
    /// The memory does not suffice.
    #[error(
        "{features} words and runs of words need a memory of {} MiB at least; with fewer \
         --features less is enough", needed.div_ceil(1 << 20)
    )]
    Memory {
        /// Bytes that are needed.
        needed: u64,
        /// Features that take part.
        features: usize,
    },
    /// The documents of a label have no words; its number is stated.
    #[error("the documents of label {0} have no words")]
    NoWords(usize),
    /// What happened where chains are worked on.
    #[error("{0}")]
    Elsewhere(String),
    /// The caller asked to stop.
    #[error("training was stopped")]
    Stopped,
    /// Expressions that are none.
    #[error(transparent)]
    Learn(#[from] dbacl::Error),
}

/// Hands a task to all chains, and their answers in the order of the chains to the function.
pub type Ask<'a> = dyn FnMut(&[u8], &mut dyn FnMut(&[u8]) -> Done) -> Done + 'a;

/// Whether chains have done what they were asked for.
type Done = Result<(), BlockError>;

/// Chains that are asked by bytes.
struct Asking<'a, 'b>(&'a mut Ask<'b>);

impl Chains for Asking<'_, '_> {
    fn each(&mut self, task: &Task<'_>, take: &mut dyn FnMut(Answer) -> Done) -> Done {
        (self.0)(&task.to_bytes(), &mut |answer| take(Answer::from_bytes(answer)?))
    }
}

/// How documents of so many labels are fitted in blocks, for each process that takes part.
#[derive(Debug, Clone)]
pub struct BlockPlan {
    recipe: Recipe,
    layout: Layout,
    settings: Settings,
    /// The power with which documents of rare labels cost more.
    balance: f64,
    is_for_f1: bool,
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
    ) -> Result<Self, BlockError> {
        let Some(InBlocks { block, features }) = recipe.in_blocks else {
            return Err(BlockError::Settings("the number of documents in a block is missing"));
        };
        let what = if block == 0 {
            "a block has one document at least"
        } else if recipe.choose || recipe.start.is_some() {
            "settings cannot be chosen in blocks, and fits start from nothing"
        } else if recipe.several {
            "documents of several labels cannot be fitted in blocks"
        } else {
            ""
        };
        if !what.is_empty() {
            return Err(BlockError::Settings(what));
        }
        let mut plan = recipe.plan(warn)?;
        if plan.runs == RunsPlan::Chosen {
            plan.runs = RunsPlan::None;
        }
        Ok(Self {
            recipe: recipe.clone(),
            layout: learn::layout(&plan, 0, labels),
            settings: learn::usual(&plan, labels),
            balance: plan.balance,
            is_for_f1: plan.is_for_f1,
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
    ) -> Result<Frame, BlockError> {
        let mut all = Tally::default();
        for tally in tallies {
            all.merge(&Tally::from_bytes(tally.as_ref())?);
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
            chains: &mut Asking(ask),
            at_a_time: frame.labels,
            file: &mut || vanishing(folder),
            go_on: &|_| true,
        };
        self.trained(leader.fit(), labels)
    }

    /// The model of a fit, and how it came about.
    fn trained(
        &self,
        fit: Result<BlockFit, BlockError>,
        labels: &[(String, u64)],
    ) -> Result<Trained, TrainError> {
        let fit = fit.map_err(|error| refusal(error, labels))?;
        let all: u64 = labels.iter().map(|(_, documents)| documents).sum();
        let chosen =
            learn::told(&self.layout, self.settings, &[], &fit.table.scale, self.is_for_f1);
        let mut about = vec![
            (OPTIONS.to_owned(), self.recipe.told()),
            ("documents".into(), all.to_string()),
            ("errors in cross-validation".into(), format!("{} of {}", fit.errors, fit.judged)),
        ];
        about.extend(chosen.iter().cloned());
        let names = labels.iter().map(|(label, _)| label.clone());
        Ok(Trained {
            model: TextModel::new(names.zip(fit.documents).collect(), fit.table, about, None)?,
            labels: labels.to_vec(),
            errors: fit.errors as u64,
            judged: fit.judged as u64,
            documents: all,
            chosen,
            warnings: warnings(labels).into_iter().collect(),
        })
    }
}

/// The failure to train on documents of these labels.
fn refusal(error: BlockError, labels: &[(String, u64)]) -> TrainError {
    match error {
        BlockError::NoWords(at) => {
            let label = labels.get(at).map_or_else(String::new, |(label, _)| label.clone());
            TrainError::NoWords { label }
        }
        BlockError::Stopped => TrainError::Stopped,
        other => TrainError::Blocks(other),
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
    pub fn new(frame: &[u8], task: &[u8]) -> Result<Self, BlockError> {
        let frame = Frame::from_bytes(frame)?;
        let task = Task::from_bytes(&frame, task)?;
        let work = Work::new(&frame, &task);
        Ok(Self { frame, task, work })
    }

    /// Takes the next block. `duals` are those that the task before has left of it, empty at first.
    /// Returns those that it has from now on.
    ///
    /// # Errors
    /// Damaged bytes.
    pub fn add(&mut self, block: &[u8], duals: &[u8]) -> Result<Vec<u8>, BlockError> {
        let mut old = |length: usize| {
            let (own, rest) = duals.as_chunks::<4>();
            let fits = own.len() == length && rest.is_empty();
            let own = fits.then_some(own).ok_or(BlockError::Damaged)?;
            Ok(own.iter().map(|&dual| f32::from_le_bytes(dual)).collect())
        };
        let new = self.work.add(&self.frame, &self.task, block, &mut old)?;
        let bytes = |new: Vec<f32>| new.iter().flat_map(|dual| dual.to_le_bytes()).collect();
        Ok(new.map_or_else(|| duals.to_vec(), bytes))
    }

    /// The answer, after the last block.
    pub fn answer(self) -> Vec<u8> {
        self.work.answer(&self.frame, &self.task).to_bytes()
    }
}
