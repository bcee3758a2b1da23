// SPDX-License-Identifier: GPL-3.0-or-later
//! Training on more documents than memory holds, and on several machines.
//!
//! ```text
//! documents ─→ texts in a file, tally ─→ frame ─→ numbered documents in a file ─→ fit ─→ model
//! ```
//!
//! Where all documents fit into one block, the model is the one that [`Trainer`] makes of them.

use crate::label::file_name;
use crate::model::TextModel;
use crate::recipe::{InBlocks, OPTIONS, Recipe};
use crate::train::{TrainError, Trained, Trainer, facts, judge_together, warnings};
use dbacl::FitNote;
use dbacl::blocks::{
    Answer, BlockError, BlockFit, BlockSettings, Chains, Duals, Frame, Leader, LocalBlocks,
    Numberer, Share, Tallier, Tally, Task, check, work,
};
use dbacl_numeric::varint;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// A file in `folder` that nobody else sees, and that vanishes when it is closed.
fn vanishing(folder: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600);
    for number in 0u32.. {
        let path = folder.join(format!(".dbacl-text-{}-{number}", std::process::id()));
        match options.open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(file) => return fs::remove_file(&path).map(|()| file),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// How documents are fitted in blocks, for each process that takes part.
#[derive(Debug, Clone)]
pub struct BlockPlan {
    recipe: Recipe,
    /// By view.
    views: Vec<BlockSettings>,
}

/// The frames of all views.
#[derive(Debug, Clone)]
pub struct Frames(Vec<Frame>);

impl Frames {
    /// How many chains there are.
    pub fn chains(&self) -> usize {
        self.0.first().map_or(1, Frame::chains)
    }

    /// The chain of document `number`, and the place of its block there.
    pub fn place(&self, number: u64) -> (u64, u64) {
        self.0.first().map_or((0, 0), |frame| frame.place(number))
    }

    /// The frames as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let each: Vec<Vec<u8>> = self.0.iter().map(Frame::to_bytes).collect();
        joined(&each)
    }

    /// The frames of these bytes.
    ///
    /// # Errors
    /// [`BlockError::Damaged`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BlockError> {
        let each = parted(bytes, "a frame")?.into_iter().map(Frame::from_bytes);
        let frames = each.collect::<Result<Vec<Frame>, BlockError>>()?;
        let first = frames.first().ok_or(BlockError::Damaged("a frame"))?;
        let of = |frame: &Frame| (frame.labels, frame.documents, frame.block);
        if frames.iter().any(|frame| of(frame) != of(first)) {
            return Err(BlockError::Damaged("a frame"));
        }
        Ok(Self(frames))
    }
}

/// What several views have, as bytes: each part behind its length.
fn joined<P: AsRef<[u8]>>(parts: &[P]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in parts {
        varint::append(&mut bytes, part.as_ref().len() as u64);
        bytes.extend_from_slice(part.as_ref());
    }
    bytes
}

/// The parts of bytes that [`joined`] has made; `what` is their name in errors.
fn parted<'a>(mut bytes: &'a [u8], what: &'static str) -> Result<Vec<&'a [u8]>, BlockError> {
    let mut parts = Vec::new();
    while !bytes.is_empty() {
        let length = varint::take(&mut bytes).and_then(|length| usize::try_from(length).ok());
        let split = length.and_then(|length| bytes.split_at_checked(length));
        let (part, rest) = split.ok_or(BlockError::Damaged(what))?;
        parts.push(part);
        bytes = rest;
    }
    Ok(parts)
}

/// Hands a task to all chains, and their answers in the order of the chains to the function.
pub type Ask<'a> = dyn FnMut(&[u8], &mut dyn FnMut(&[u8]) -> Done) -> Done + 'a;

/// Whether chains have done what they were asked for.
type Done = Result<(), BlockError>;

/// The chains of a view, which are asked by bytes.
struct Asking<'a, 'b> {
    view: usize,
    ask: &'a mut Ask<'b>,
}

impl Chains for Asking<'_, '_> {
    fn each(
        &mut self,
        task: &Task,
        take: &mut dyn FnMut(Answer) -> Result<(), BlockError>,
    ) -> Result<(), BlockError> {
        let mut bytes = Vec::new();
        varint::append(&mut bytes, self.view as u64);
        bytes.extend(task.to_bytes());
        (self.ask)(&bytes, &mut |answer| take(Answer::from_bytes(answer)?))
    }
}

impl BlockPlan {
    /// The plan of a recipe that asks for blocks; `warn` is told what is odd about it. A recipe
    /// without a preset has one view: documents that need blocks are many.
    ///
    /// # Errors
    /// A recipe that does not suit blocks.
    pub fn new(recipe: &Recipe, warn: &mut dyn FnMut(String)) -> Result<Self, BlockError> {
        let Some(InBlocks { block, features }) = recipe.in_blocks else {
            return Err(BlockError::Settings("the number of documents in a block is missing"));
        };
        let options = recipe.options(warn)?.settled(u64::MAX);
        let features = usize::try_from(features).unwrap_or(usize::MAX);
        let view = |learn| {
            let settings = BlockSettings { learn, fit: options.fit.clone(), block, features };
            check(&settings).map(|()| settings)
        };
        let each = [Some(options.learn.clone()), options.second.map(|second| second.learn)];
        let views = each.into_iter().flatten().map(view).collect::<Result<_, BlockError>>()?;
        Ok(Self { recipe: recipe.clone(), views })
    }

    /// The documents of a block.
    pub fn block(&self) -> u64 {
        self.views.first().map_or(1, |view| view.block)
    }

    /// A trainer for documents that fit into one block.
    ///
    /// # Errors
    /// Those of [`Trainer::of_recipe`].
    pub fn whole(&self, warn: &mut dyn FnMut(String)) -> Result<Trainer, dbacl::Error> {
        Trainer::of_recipe(&Recipe { in_blocks: None, ..self.recipe.clone() }, warn)
    }

    /// The tally of a segment: of as many documents as a block has, one after the other.
    pub fn tally<'a>(&self, documents: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
        let mut talliers: Vec<Tallier> = self.views.iter().map(Tallier::new).collect();
        for document in documents {
            for tallier in &mut talliers {
                tallier.add(document);
            }
        }
        let tallies = talliers.into_iter().map(|tallier| tallier.finish().to_bytes());
        joined(&tallies.collect::<Vec<_>>())
    }

    /// The frames of the tallies of all segments in their order, for documents of so many labels.
    ///
    /// # Errors
    /// Damaged tallies.
    pub fn frames<T: AsRef<[u8]>>(
        &self,
        tallies: impl IntoIterator<Item = T>,
        labels: usize,
    ) -> Result<Frames, BlockError> {
        let mut all = vec![Tally::default(); self.views.len()];
        for tally in tallies {
            let parts = parted(tally.as_ref(), "a tally")?;
            if parts.len() != all.len() {
                return Err(BlockError::Damaged("a tally"));
            }
            for ((all, part), view) in all.iter_mut().zip(parts).zip(&self.views) {
                all.merge(&Tally::from_bytes(part)?);
                all.end_segment(view.features);
            }
        }
        let each = all.iter().zip(&self.views);
        Ok(Frames(each.map(|(tally, view)| Frame::new(tally, labels, view)).collect()))
    }

    /// The blocks of a chain from its documents, in their order: the number of each among all
    /// documents, the number of its label among the sorted labels, and its text.
    pub fn numbered<'a>(
        &self,
        frames: &Frames,
        documents: impl IntoIterator<Item = (u64, u32, &'a [u8])>,
    ) -> Vec<Vec<u8>> {
        let mut numberers: Vec<Numberer> = self.views.iter().map(Numberer::new).collect();
        // By block, then view.
        let mut blocks: Vec<Vec<Vec<u8>>> = Vec::new();
        for (number, label, text) in documents {
            let (_, block) = frames.place(number);
            let block = usize::try_from(block).unwrap_or(usize::MAX);
            if blocks.len() <= block {
                blocks.resize(block + 1, vec![Vec::new(); self.views.len()]);
            }
            let views = numberers.iter_mut().zip(&frames.0).zip(&mut blocks[block]);
            for ((numberer, frame), out) in views {
                numberer.append(frame, number, (label, text), out);
            }
        }
        blocks.iter().map(|views| joined(views)).collect()
    }

    /// Does a task with the blocks of a chain. `duals` are those that the task before has left;
    /// they are replaced.
    ///
    /// # Errors
    /// Damaged bytes.
    pub fn work(
        frames: &[u8],
        mut task: &[u8],
        blocks: &[Vec<u8>],
        duals: &mut Vec<u8>,
    ) -> Result<Vec<u8>, BlockError> {
        let view = varint::take(&mut task).and_then(|view| usize::try_from(view).ok());
        let view = view.ok_or(BlockError::Damaged("a task"))?;
        let frames = parted(frames, "a frame")?;
        let frame = Frame::from_bytes(frames.get(view).ok_or(BlockError::Damaged("a task"))?)?;
        let task = Task::from_bytes(&frame, task)?;
        let mut share = MemoryShare { blocks, view, old: duals, new: Vec::new() };
        let answer = work(&frame, &task, &mut share)?;
        let new = share.new;
        if matches!(task, Task::Round(_)) {
            *duals = new;
        }
        Ok(answer.to_bytes())
    }

    /// Leads chains, which have the documents of these labels, to a model. Temporary files lie in
    /// `folder`.
    ///
    /// # Errors
    /// Those of the fit, and those of `ask`.
    pub fn train(
        &self,
        frames: &Frames,
        labels: &[(String, u64)],
        ask: &mut Ask<'_>,
        folder: &Path,
    ) -> Result<Trained, TrainError> {
        let mut fits = Vec::new();
        for (view, (frame, settings)) in frames.0.iter().zip(&self.views).enumerate() {
            let file = vanishing(folder).map_err(BlockError::from);
            let file = file.map_err(|error| refusal(error, labels))?;
            let mut chains = Asking { view, ask };
            let fit = Leader::new(frame, settings, &mut chains, frame.labels, file).fit();
            fits.push(fit.map_err(|error| refusal(error, labels))?);
        }
        self.trained(fits, labels)
    }

    /// The model of the fits of all views, and how it came about.
    fn trained(
        &self,
        fits: Vec<BlockFit>,
        labels: &[(String, u64)],
    ) -> Result<Trained, TrainError> {
        let mut about = vec![(OPTIONS.to_owned(), self.recipe.told())];
        let Some(first) = fits.first() else { return Err(TrainError::NoDocuments) };
        let (mut quality, mut judged) = (first.quality, first.judged);
        if fits.len() > 1 {
            let found = judge_together(&held_out(&fits, labels.len()), labels.len());
            about.extend(TextModel::about_views(fits.len(), found.scale));
            (quality, judged) = (found.quality, found.judged);
        }
        let (documents, settings) = (first.documents.clone(), first.settings);
        let all: u64 = documents.iter().sum();
        let told = (settings.cost.to_string(), settings.blend.to_string());
        about.extend(facts(all, told, (quality.errors, judged)));
        let features: Vec<String> = fits.iter().map(|fit| fit.features.to_string()).collect();
        about.push(("features".into(), features.join(", ")));
        let few = labels.iter().zip(&documents).filter(|(_, documents)| **documents < 20);
        let notes: Vec<FitNote> = few
            .map(|((label, _), &documents)| FitNote::FewDocuments {
                category: file_name(label),
                documents: usize::try_from(documents).unwrap_or(usize::MAX),
            })
            .collect();
        let names: Vec<&str> = labels.iter().map(|(label, _)| label.as_str()).collect();
        let parts = labels.iter().map(|(label, _)| label.clone()).zip(documents).collect();
        let views = fits.into_iter().map(|fit| fit.categories).collect();
        Ok(Trained {
            model: TextModel::new(parts, views, about, None)?,
            labels: labels.to_vec(),
            quality,
            judged: judged as u64,
            documents: all,
            settings,
            warnings: warnings(&notes, &names),
        })
    }
}

/// What the fits of all views say of each document that they all can judge, and its label.
fn held_out(fits: &[BlockFit], labels: usize) -> Vec<(Vec<&[f64]>, u32)> {
    let of = |document: usize| {
        let row = document * labels..(document + 1) * labels;
        let views = fits.iter().filter_map(|fit| fit.held_out.probabilities.get(row.clone()));
        views.filter(|found| !found[0].is_nan()).collect::<Vec<&[f64]>>()
    };
    let truths = fits.first().map_or(&[][..], |fit| &fit.held_out.labels);
    let documents = truths.iter().enumerate().map(|(document, &truth)| (of(document), truth));
    documents.filter(|(views, _)| views.len() == fits.len()).collect()
}

/// The failure to train on documents of these labels.
fn refusal(error: BlockError, labels: &[(String, u64)]) -> TrainError {
    match error {
        BlockError::NoDocuments(at) => {
            let label = labels.get(at).map_or_else(String::new, |(label, _)| label.clone());
            TrainError::NoWords { label }
        }
        other => TrainError::Blocks(other),
    }
}

/// The blocks of a chain in memory.
struct MemoryShare<'a> {
    blocks: &'a [Vec<u8>],
    /// The view that is fitted.
    view: usize,
    /// Dual variables of all blocks, each behind their number of bytes.
    old: &'a [u8],
    new: Vec<u8>,
}

impl Share for MemoryShare<'_> {
    fn blocks(&self) -> usize {
        self.blocks.len()
    }

    fn block(&mut self, at: usize) -> Result<Vec<u8>, BlockError> {
        let views = parted(&self.blocks[at], "a block of documents")?;
        let own = views.get(self.view).ok_or(BlockError::Damaged("a block of documents"))?;
        Ok(own.to_vec())
    }

    fn duals(&mut self, _: usize, length: usize) -> Result<Vec<Duals>, BlockError> {
        // Blocks are fitted in their order.
        let own = length.checked_mul(8).and_then(|length| self.old.split_at_checked(length));
        let (own, rest) = own.ok_or(BlockError::Damaged("dual variables"))?;
        self.old = rest;
        let (words, _) = own.as_chunks::<4>();
        let (pairs, _) = words.as_chunks::<2>();
        Ok(pairs.iter().map(|pair| pair.map(f32::from_le_bytes)).collect())
    }

    fn set_duals(&mut self, _: usize, duals: &[Duals]) -> Result<(), BlockError> {
        self.new.extend(duals.iter().flatten().flat_map(|dual| dual.to_le_bytes()));
        Ok(())
    }
}

/// Gathers documents in a file, and trains a model on them with little memory. The same documents
/// in the same order, options and size of a block make the same model, to the byte, whatever the
/// memory is.
pub struct BlockTrainer {
    plan: BlockPlan,
    memory: Option<u64>,
    folder: PathBuf,
    /// All documents, while they fit into one block.
    whole: Option<Trainer>,
    /// That of the first view. Other views are tallied later, so that one tally is in memory.
    tallier: Tallier,
    texts: BufWriter<File>,
    /// Numbers of labels in the order in which they came, with their documents.
    labels: BTreeMap<String, (u64, u64)>,
    documents: u64,
}

impl BlockTrainer {
    /// A trainer without documents; `memory` is about how many bytes it may use. Temporary files
    /// lie in `folder`: the texts, and what is made of them.
    ///
    /// # Errors
    /// A recipe that does not suit blocks, too little memory, and a file that cannot be made.
    pub fn new(
        recipe: &Recipe,
        memory: Option<u64>,
        folder: &Path,
        warn: &mut dyn FnMut(String),
    ) -> Result<Self, BlockError> {
        let plan = BlockPlan::new(recipe, warn)?;
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        Ok(Self {
            memory,
            folder: folder.to_path_buf(),
            whole: Some(plan.whole(&mut |_| {})?),
            tallier: Tallier::new(plan.views.first().ok_or(BlockError::Settings("no view"))?),
            texts: BufWriter::with_capacity(1 << 16, vanishing(folder)?),
            labels: BTreeMap::new(),
            documents: 0,
            plan,
        })
    }

    /// Takes a document.
    ///
    /// # Errors
    /// Those of the temporary file.
    pub fn add(&mut self, label: &str, text: &[u8]) -> Result<(), BlockError> {
        self.documents += 1;
        self.whole = self.whole.take().filter(|_| self.documents <= self.plan.block());
        if let Some(whole) = &mut self.whole {
            whole.add(label, text);
        }
        let next = self.labels.len() as u64;
        let number = if let Some((number, documents)) = self.labels.get_mut(label) {
            *documents += 1;
            *number
        } else {
            self.labels.insert(label.to_owned(), (next, 1));
            next
        };
        let mut head = Vec::new();
        varint::append(&mut head, number);
        varint::append(&mut head, text.len() as u64);
        self.texts.write_all(&head)?;
        self.texts.write_all(text)?;
        self.tallier.add(text);
        Ok(())
    }

    /// Documents so far.
    pub const fn len(&self) -> u64 {
        self.documents
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.documents == 0
    }

    /// Trains the model; another thread may end it by setting `stop`.
    ///
    /// # Errors
    /// Those of [`Trainer::train_stoppable`], and those of temporary files.
    pub fn train(self, stop: &AtomicBool) -> Result<Trained, TrainError> {
        if let Some(whole) = &self.whole {
            return whole.train_stoppable(whole.options(), stop);
        }
        let labels: Vec<(String, u64)> =
            self.labels.iter().map(|(label, &(_, documents))| (label.clone(), documents)).collect();
        if let [(label, _)] = labels.as_slice() {
            return Err(TrainError::OneLabel { label: label.clone() });
        }
        let fits = self.fit(stop);
        let (plan, fits) = fits.map_err(|error| refusal(error, &labels))?;
        plan.trained(fits, &labels)
    }

    fn fit(self, stop: &AtomicBool) -> Result<(BlockPlan, Vec<BlockFit>), BlockError> {
        let Self { plan, memory, folder, tallier, texts, labels, documents, .. } = self;
        let mut file = texts.into_inner().map_err(io::IntoInnerError::into_error)?;
        let mut frames = vec![Frame::new(&tallier.finish(), labels.len(), &plan.views[0])];
        for settings in &plan.views[1..] {
            let mut tallier = Tallier::new(settings);
            each_text(&mut file, documents, |_, text| {
                tallier.add(text);
                Ok(())
            })?;
            frames.push(Frame::new(&tallier.finish(), labels.len(), settings));
        }
        let mut places = vec![0; labels.len()];
        for (place, &(number, _)) in (0u32..).zip(labels.values()) {
            places[usize::try_from(number).unwrap_or(0)] = place;
        }
        let mut views = Vec::new();
        for (frame, settings) in frames.iter().zip(&plan.views) {
            views.push(LocalBlocks::new(frame, settings, vanishing(&folder)?));
        }
        each_text(&mut file, documents, |label, text| {
            let label = *places.get(label).ok_or(BlockError::Damaged("texts"))?;
            views.iter_mut().try_for_each(|blocks| blocks.add(label, text))
        })?;
        drop(file);
        // Too little memory is told before anything is fitted.
        for blocks in &views {
            blocks.labels_at_a_time(memory)?;
        }
        let fits = views.into_iter().map(|it| it.fit(memory, &mut || vanishing(&folder), stop));
        let fits = fits.collect::<Result<_, BlockError>>()?;
        Ok((plan, fits))
    }
}

/// Hands all texts of a file to `take`, with the numbers of their labels.
fn each_text(
    file: &mut File,
    documents: u64,
    mut take: impl FnMut(usize, &[u8]) -> Result<(), BlockError>,
) -> Result<(), BlockError> {
    file.rewind()?;
    let mut texts = BufReader::with_capacity(1 << 16, file);
    let mut text = Vec::new();
    for _ in 0..documents {
        let mut number = || -> Result<usize, BlockError> {
            let number = read_varint(&mut texts)?;
            usize::try_from(number).map_err(|_| BlockError::Damaged("texts"))
        };
        let (label, length) = (number()?, number()?);
        text.resize(length, 0);
        texts.read_exact(&mut text)?;
        take(label, &text)?;
    }
    Ok(())
}

fn read_varint(input: &mut impl BufRead) -> io::Result<u64> {
    let (mut number, mut shift) = (0u64, 0);
    loop {
        let mut byte = [0];
        input.read_exact(&mut byte)?;
        number |= u64::from(byte[0] & 0x7f) << shift;
        shift += 7;
        if byte[0] & 0x80 == 0 || shift > 63 {
            return Ok(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::Preset;

    const TOPICS: [&str; 3] = ["whale ship sea", "nation war army", "star planet sky"];

    /// Document `number` of a label: words of its topic, some of all, some noise.
    fn text(label: usize, number: usize) -> String {
        let words: Vec<&str> = TOPICS[label].split(' ').collect();
        let other: Vec<&str> = TOPICS[(label + number) % 3].split(' ').collect();
        let own = |at: usize| words[(number + at) % 3];
        format!("{} {} the {} a word{} of", own(0), own(number / 3), other[number % 3], number % 50)
    }

    fn recipe(labels: usize, block: u64, exact: bool) -> (Recipe, Vec<(String, String)>) {
        let in_blocks = Some(InBlocks { block, features: 1 << 12 });
        // Sorted by label, as folders are.
        let documents = (0..labels).flat_map(|label| {
            (0..150).map(move |number| (format!("label {label}"), text(label, number)))
        });
        (Recipe { exact, in_blocks, ..Recipe::default() }, documents.collect())
    }

    fn trained(recipe: &Recipe, memory: Option<u64>, documents: &[(String, String)]) -> Trained {
        let folder = std::env::temp_dir();
        let mut trainer = BlockTrainer::new(recipe, memory, &folder, &mut |_| {}).unwrap();
        for (label, text) in documents {
            trainer.add(label, text.as_bytes()).unwrap();
        }
        trainer.train(&AtomicBool::new(false)).unwrap()
    }

    fn accuracy(model: &TextModel, documents: &[(String, String)]) -> f64 {
        let mut predictor = model.predictor();
        let is_right = |(label, text): &&(String, String)| {
            model.labels()[predictor.predict(text.as_bytes()).best()] == *label
        };
        let right = documents.iter().filter(is_right).count();
        #[allow(clippy::cast_precision_loss)] // numbers of documents
        let share = right as f64 / documents.len() as f64;
        share
    }

    #[test]
    fn one_block_makes_the_model_of_all_documents() {
        let (recipe, documents) = recipe(3, 450, false);
        for preset in [None, Some(Preset::Both), Some(Preset::Chars)] {
            let recipe = Recipe { preset, ..recipe.clone() };
            let whole = Recipe { in_blocks: None, ..recipe.clone() };
            let mut whole = Trainer::of_recipe(&whole, &mut |_| {}).unwrap();
            for (label, text) in &documents {
                whole.add(label, text.as_bytes());
            }
            let found = trained(&recipe, None, &documents).model.to_bytes();
            assert_eq!(found, whole.train().unwrap().model.to_bytes(), "{preset:?}");
        }
    }

    #[test]
    fn memory_plays_no_part_and_blocks_judge_about_as_well() {
        let two = [(2, false, Some(Preset::Both)), (3, false, Some(Preset::Chars))];
        let one = [(2, false, None), (3, false, None), (3, true, None)];
        for (labels, exact, preset) in one.into_iter().chain(two) {
            let (recipe, mut documents) = recipe(labels, 40, exact);
            // Some documents can be judged by one view alone, and some by none.
            documents.extend((0..40).map(|_| ("label 0".to_owned(), "!".to_owned())));
            let recipe = Recipe { preset, ..recipe };
            let free = trained(&recipe, None, &documents);
            let least = dbacl::blocks::needed(1 << 12) + (1 << 20);
            let tight = trained(&recipe, Some(least), &documents);
            assert_eq!(free.model.to_bytes(), tight.model.to_bytes());
            let again = TextModel::from_bytes(free.model.to_bytes()).unwrap();
            assert_eq!(again.views().len(), if preset.is_some() { 2 } else { 1 });
            let told = again.about().iter().any(|(name, _)| name == "scale");
            assert_eq!(told, preset.is_some());
            let whole = Recipe { in_blocks: None, ..recipe.clone() };
            let mut whole = Trainer::of_recipe(&whole, &mut |_| {}).unwrap();
            for (label, text) in &documents {
                whole.add(label, text.as_bytes());
            }
            let whole = whole.train().unwrap().model;
            let (in_blocks, at_once) = (accuracy(&again, &documents), accuracy(&whole, &documents));
            assert!(in_blocks > at_once - 0.01, "{labels}: {in_blocks} {at_once}");
            assert!(at_once > 0.9 && free.judged >= 16, "{at_once} {}", free.judged);
        }
    }

    #[test]
    fn other_machines_make_the_same_model() {
        let (recipe, mut documents) = recipe(3, 20, false);
        documents.push(("label 2".to_owned(), String::new()));
        for preset in [None, Some(Preset::Both)] {
            let recipe = Recipe { preset, ..recipe.clone() };
            let here = trained(&recipe, None, &documents);
            let plan = BlockPlan::new(&recipe, &mut |_| {}).unwrap();
            let segments = documents.chunks(20);
            let tallies =
                segments.map(|segment| plan.tally(segment.iter().map(|(_, text)| text.as_bytes())));
            let tallies: Vec<Vec<u8>> = tallies.collect();
            let frames = plan.frames(&tallies, 3).unwrap();
            let mut rows = vec![Vec::new(); frames.chains()];
            for (number, (label, text)) in documents.iter().enumerate() {
                let label = u32::from(label.as_bytes()[6] - b'0');
                let chain = usize::try_from(frames.place(number as u64).0).unwrap();
                rows[chain].push((number as u64, label, text.as_bytes()));
            }
            // Everything goes there and back as bytes.
            let chains = rows.into_iter().map(|rows| (plan.numbered(&frames, rows), Vec::new()));
            let mut chains: Vec<(Vec<Vec<u8>>, Vec<u8>)> = chains.collect();
            let bytes = frames.to_bytes();
            let mut ask = |task: &[u8], take: &mut dyn FnMut(&[u8]) -> Result<(), BlockError>| {
                let each = chains.iter_mut();
                each.map(|(blocks, duals)| BlockPlan::work(&bytes, task, blocks, duals))
                    .try_for_each(|answer| take(&answer?))
            };
            let frames = Frames::from_bytes(&bytes).unwrap();
            let labels: Vec<(String, u64)> =
                (0..3).map(|label| (format!("label {label}"), 150 + label / 2)).collect();
            let found = plan.train(&frames, &labels, &mut ask, &std::env::temp_dir()).unwrap();
            assert_eq!(found.model.to_bytes(), here.model.to_bytes(), "{preset:?}");
        }
        for length in [0, 1, 9] {
            assert!(Frames::from_bytes(&vec![7; length]).is_err(), "{length}");
        }
    }

    #[test]
    fn what_cannot_be_trained_is_told() {
        let error = |recipe: &Recipe, memory, documents: &[(&str, &str)]| {
            let folder = std::env::temp_dir();
            let trainer = BlockTrainer::new(recipe, memory, &folder, &mut |_| {});
            let mut trainer = match trainer {
                Ok(trainer) => trainer,
                Err(error) => return error.to_string(),
            };
            for (label, text) in documents {
                trainer.add(label, text.as_bytes()).unwrap();
            }
            trainer.train(&AtomicBool::new(false)).unwrap_err().to_string()
        };
        let recipe = |block| Recipe {
            in_blocks: Some(InBlocks { block, features: 1 << 12 }),
            ..Recipe::default()
        };
        let chosen = Recipe { choose: true, ..recipe(2) };
        assert_eq!(error(&chosen, None, &[]), "cost and blend cannot be chosen in blocks");
        assert_eq!(error(&recipe(2), None, &[]), "there are no documents");
        let alike = [("a", "x y"), ("a", "y"), ("a", "z")];
        let expected = "all documents have the label a: two labels or more are needed";
        assert_eq!(error(&recipe(2), None, &alike), expected);
        let silent = [("a", "x y"), ("a", "y"), ("b", "...")];
        let expected = "the documents of the label b have no words that could be learned";
        assert_eq!(error(&recipe(2), None, &silent), expected);
        let both = [("a", "x y"), ("a", "y"), ("b", "z")];
        let found = error(&recipe(2), Some(1000), &both);
        assert!(found.ends_with("bytes of memory are needed for 4 features"), "{found}");
    }
}
