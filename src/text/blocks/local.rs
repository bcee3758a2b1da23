// SPDX-License-Identifier: GPL-3.0-or-later
//! Blocks on one machine: texts and numbered documents lie in files, and one block after the other
//! is in memory.

use super::chain::{Answer, Task, Work};
use super::frame::{Frame, Numberer, Tally, place};
use super::leader::Leader;
use super::{BlockPlan, Done};
use crate::text::features::TextReader;
use crate::text::learn::Watch;
use crate::text::recipe::Recipe;
use crate::text::train::{TrainError, Trained, Trainer, is_too_many};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Bytes of a block that wait in memory until they are written together.
const WAITING: usize = 1 << 14;
/// Bytes that the program and small things need.
const ROOM: u64 = 24 << 20;
/// Bytes for each feature that takes part, whatever the number of labels is: the tally, which has
/// seen more than twice as many; then counts, contrasts and scales.
const PER_FEATURE: u64 = 112;
/// Bytes for each feature and label that is worked on: the sums before and after a round, those of
/// a chain, and its changes.
const PER_CELL: u64 = 16;

/// The bytes of memory that a fit needs which works on one label at a time.
const fn needed(features: usize) -> u64 {
    ROOM + (PER_FEATURE + PER_CELL) * features as u64
}

/// A file in `folder` that nobody else sees, and that vanishes when it is closed.
pub(super) fn vanishing(folder: &Path) -> io::Result<File> {
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

/// Gathers documents in a file, and trains a model on them with little memory. The same documents
/// in the same order, options and size of a block make the same model, to the byte, whatever the
/// memory is.
pub struct BlockTrainer {
    recipe: Recipe,
    block: u64,
    memory: Option<u64>,
    folder: PathBuf,
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
    /// A recipe that does not suit blocks, and a file that cannot be made.
    pub fn new(
        recipe: &Recipe,
        memory: Option<u64>,
        folder: &Path,
        warn: &mut dyn FnMut(String),
    ) -> Result<Self, TrainError> {
        let block = BlockPlan::new(recipe, 2, warn)?.block();
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        Ok(Self {
            recipe: recipe.clone(),
            block,
            memory,
            folder: folder.to_path_buf(),
            texts: BufWriter::with_capacity(1 << 16, vanishing(folder)?),
            labels: BTreeMap::new(),
            documents: 0,
        })
    }

    /// Takes a document.
    ///
    /// # Errors
    /// Those of the temporary file.
    pub fn add(&mut self, label: &str, text: &[u8]) -> Done {
        self.documents += 1;
        let next = self.labels.len() as u64;
        let own = self.labels.entry(label.to_owned()).or_insert((next, 0));
        own.1 += 1;
        let head = [own.0, text.len() as u64].map(u64::to_le_bytes);
        self.texts.write_all(head.as_flattened())?;
        self.texts.write_all(text)?;
        Ok(())
    }

    /// Trains the model.
    ///
    /// # Errors
    /// Those of [`Trainer::train_watched`], and those of temporary files.
    pub fn train(self, watch: &Watch<'_>) -> Result<Trained, TrainError> {
        let Self { recipe, block, memory, folder, texts, labels: numbers, documents } = self;
        let mut file = texts.into_inner().map_err(io::IntoInnerError::into_error)?;
        let named = numbers.iter().map(|(label, &(_, documents))| (label.clone(), documents));
        let labels: Vec<(String, u64)> = named.collect();
        // By number: the place of each label.
        let mut places = vec![0; labels.len()];
        for (place, &(number, _)) in numbers.values().enumerate() {
            places[usize::try_from(number).unwrap_or(0)] = place;
        }
        let place_of = |number: usize| places.get(number).copied().ok_or(TrainError::Damaged);
        if documents <= block {
            let whole = Recipe { in_blocks: None, ..recipe };
            let mut trainer = Trainer::of_recipe(&whole, &mut |_| {})?;
            each_text(&mut file, documents, |_, label, text| {
                trainer.add(&labels[place_of(label)?].0, text);
                Ok(())
            })?;
            return trainer.train_watched(&whole, &[], watch);
        }
        if let [(label, _)] = labels.as_slice() {
            return Err(TrainError::OneLabel { label: label.clone() });
        }
        if is_too_many(labels.len(), documents) {
            return Err(TrainError::TooManyLabels { labels: labels.len(), documents });
        }
        let plan = &BlockPlan::new(&recipe, labels.len(), &mut |_| {})?;
        let (mut tally, mut reader) = (Tally::default(), TextReader::new(&plan.layout));
        each_text(&mut file, documents, |number, _, text| {
            tally.add(reader.read(text), text);
            if (number + 1).is_multiple_of(plan.block) {
                tally.end_segment(plan.features);
                return if watch.goes_on(0.0) { Ok(()) } else { Err(TrainError::Stopped) };
            }
            Ok(())
        })?;
        let frame = plan.framed(&tally);
        drop(tally);
        let mut chains = LocalChains::new(&frame, vanishing(&folder)?, vanishing(&folder)?);
        let mut numberer = Numberer::new(&frame, &plan.layout);
        each_text(&mut file, documents, |number, label, text| {
            let label = u32::try_from(place_of(label)?).map_err(|_| TrainError::Damaged)?;
            chains.append(number, |out| numberer.append(number, label, text, out))
        })?;
        drop((file, numberer));
        let at_a_time = chains.labels_at_a_time(memory)?;
        chains.flush()?;
        let leader = Leader {
            plan,
            frame: &frame,
            labels: &labels,
            chains: &mut |task, take| chains.each(task, take),
            at_a_time,
            file: &mut || vanishing(&folder),
            go_on: &|share: f64| watch.goes_on(0.2 + 0.8 * share),
        };
        plan.trained(leader.fit()?, &labels)
    }
}

/// Hands all texts of a file to `take`, with their numbers and those of their labels.
fn each_text(
    file: &mut File,
    documents: u64,
    mut take: impl FnMut(u64, usize, &[u8]) -> Done,
) -> Done {
    file.rewind()?;
    let mut texts = BufReader::with_capacity(1 << 16, file);
    let mut text = Vec::new();
    for document in 0..documents {
        let mut head = [[0; 8]; 2];
        texts.read_exact(head.as_flattened_mut())?;
        let [label, length] =
            head.map(|number| usize::try_from(u64::from_le_bytes(number)).unwrap_or(usize::MAX));
        text.resize(length, 0);
        texts.read_exact(&mut text)?;
        take(document, label, &text)?;
    }
    Ok(())
}

/// Where the bytes of a block are, and what waits to be written.
#[derive(Debug, Clone, Default)]
struct Place {
    /// Offsets and lengths in the file.
    parts: Vec<(u64, usize)>,
    waiting: Vec<u8>,
    /// Where its dual variables begin.
    duals: u64,
}

/// Chains whose documents lie in a file.
struct LocalChains<'a> {
    frame: &'a Frame,
    /// By chain, then block.
    chains: Vec<Vec<Place>>,
    file: File,
    end: u64,
    duals: File,
}

impl<'a> LocalChains<'a> {
    fn new(frame: &'a Frame, file: File, duals: File) -> Self {
        Self { frame, chains: vec![Vec::new(); frame.chains()], file, end: 0, duals }
    }

    /// Has `put` append a document to its block.
    fn append(&mut self, number: u64, put: impl FnOnce(&mut Vec<u8>)) -> Done {
        let (chain, block) = place(number, self.frame.documents, self.frame.block);
        let at = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let chain = &mut self.chains[at(chain)];
        if chain.len() <= at(block) {
            chain.resize(at(block) + 1, Place::default());
        }
        let own = &mut chain[at(block)];
        put(&mut own.waiting);
        if own.waiting.len() >= WAITING {
            write(&self.file, &mut self.end, own)?;
        }
        Ok(())
    }

    /// Writes all that waits.
    fn flush(&mut self) -> Done {
        for own in self.chains.iter_mut().flatten() {
            write(&self.file, &mut self.end, own)?;
            own.waiting = Vec::new();
        }
        Ok(())
    }

    /// Hands a task to all chains, and their answers in their order to `take`.
    fn each(&mut self, task: &Task<'_>, take: &mut dyn FnMut(Answer) -> Done) -> Done {
        let mut end = 0;
        for chain in &mut self.chains {
            let mut work = Work::new(self.frame, task);
            for own in chain {
                let mut block = Vec::new();
                for &(offset, length) in &own.parts {
                    let before = block.len();
                    block.resize(before + length, 0);
                    self.file.read_exact_at(&mut block[before..], offset)?;
                }
                let mut old = |length| {
                    let mut bytes = vec![0; length];
                    self.duals.read_exact_at(&mut bytes, own.duals)?;
                    Ok(bytes)
                };
                if let Some(duals) = work.add(self.frame, task, &block, &mut old)? {
                    own.duals = end;
                    self.duals.write_all_at(&duals, end)?;
                    end += duals.len() as u64;
                }
            }
            take(work.answer(self.frame, task))?;
        }
        Ok(())
    }

    /// How many labels can be fitted at a time with about `memory` bytes.
    fn labels_at_a_time(&self, memory: Option<u64>) -> Result<usize, TrainError> {
        let features = self.frame.features.len();
        let length = |place: &Place| {
            place.waiting.len() as u64 + place.parts.iter().map(|part| part.1 as u64).sum::<u64>()
        };
        let block = self.chains.iter().flatten().map(length).max().unwrap_or(0);
        // A number takes at least one byte in the file, and four in memory.
        let needed = needed(features) + 6 * block;
        match memory {
            None => Ok(self.frame.labels),
            Some(memory) if memory < needed => Err(TrainError::Memory { needed, features }),
            Some(memory) => {
                let more = (memory - needed) / (PER_CELL * features.max(1) as u64);
                let all = self.frame.labels;
                Ok(usize::try_from(more).unwrap_or(usize::MAX).saturating_add(1).min(all))
            }
        }
    }
}

/// Writes what waits of a block to the end of the file.
fn write(file: &File, end: &mut u64, place: &mut Place) -> Done {
    file.write_all_at(&place.waiting, *end)?;
    place.parts.push((*end, place.waiting.len()));
    *end += place.waiting.len() as u64;
    place.waiting.clear();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::BlockWork;
    use super::*;
    use crate::text::model::TextModel;
    use crate::text::recipe::{InBlocks, Preset};

    const TOPICS: [&str; 3] = ["whale ship sea", "nation war army", "star planet sky"];

    /// Document `number` of a label: words of its topic, some of all, some noise.
    fn text(label: usize, number: usize) -> String {
        let words: Vec<&str> = TOPICS[label].split(' ').collect();
        let other: Vec<&str> = TOPICS[(label + number) % 3].split(' ').collect();
        let own = |at: usize| words[(number + at) % 3];
        format!("{} {} the {} a word{} of", own(0), own(number / 3), other[number % 3], number % 50)
    }

    fn recipe(labels: usize, block: u64) -> (Recipe, Vec<(String, String)>) {
        let in_blocks = Some(InBlocks { block, features: 1 << 12 });
        // Sorted by label, as folders are.
        let documents = (0..labels).flat_map(|label| {
            (0..150).map(move |number| (format!("label {label}"), text(label, number)))
        });
        (Recipe { in_blocks, ..Recipe::default() }, documents.collect())
    }

    fn trained(recipe: &Recipe, memory: Option<u64>, documents: &[(String, String)]) -> Trained {
        let folder = std::env::temp_dir();
        let mut trainer = BlockTrainer::new(recipe, memory, &folder, &mut |_| {}).unwrap();
        for (label, text) in documents {
            trainer.add(label, text.as_bytes()).unwrap();
        }
        trainer.train(&Watch::default()).unwrap()
    }

    /// The model of all documents at once.
    fn whole(recipe: &Recipe, documents: &[(String, String)]) -> TextModel {
        let whole = Recipe { in_blocks: None, ..recipe.clone() };
        let mut whole = Trainer::of_recipe(&whole, &mut |_| {}).unwrap();
        for (label, text) in documents {
            whole.add(label, text.as_bytes());
        }
        whole.train().unwrap().model
    }

    fn right(model: &TextModel, documents: &[(String, String)]) -> usize {
        let mut predictor = model.predictor();
        let is_right = |(label, text): &&(String, String)| {
            model.labels()[predictor.predict(text.as_bytes()).best()] == *label
        };
        documents.iter().filter(is_right).count()
    }

    #[test]
    fn memory_plays_no_part_and_blocks_judge_about_as_well() {
        let both = Some(Preset::Both);
        for (labels, preset, for_f1) in
            [(2, both, true), (3, Some(Preset::Chars), false), (3, None, false)]
        {
            let (recipe, mut documents) = recipe(labels, 40);
            // Some documents have no features.
            documents.extend((0..40).map(|_| ("label 0".to_owned(), "!".to_owned())));
            let recipe = Recipe { preset, for_f1, balance: Some(0.5), ..recipe };
            let free = trained(&recipe, None, &documents);
            let tight = trained(&recipe, Some(needed(1 << 12) + (1 << 20)), &documents);
            assert_eq!(free.model.to_bytes(), tight.model.to_bytes());
            let again = TextModel::from_bytes(free.model.to_bytes()).unwrap();
            let at_once = whole(&recipe, &documents);
            let [in_blocks, at_once] = [&again, &at_once].map(|model| right(model, &documents));
            assert!(in_blocks + 12 > at_once, "{labels}: {in_blocks} {at_once}");
            assert!(at_once * 10 > documents.len() * 9 && free.judged >= 16, "{at_once}");
        }
    }

    #[test]
    fn other_machines_make_the_same_model() {
        let (recipe, mut documents) = recipe(3, 20);
        documents.push(("label 2".to_owned(), String::new()));
        let recipe = Recipe { preset: Some(Preset::Both), ..recipe };
        let here = trained(&recipe, None, &documents);
        let plan = BlockPlan::new(&recipe, 3, &mut |_| {}).unwrap();
        let segments = documents.chunks(20);
        let tally = |own: &[(String, String)]| plan.tally(own.iter().map(|(_, it)| it.as_bytes()));
        let frame = plan.frame(segments.map(tally)).unwrap();
        let mut rows = vec![BTreeMap::<u64, Vec<_>>::new(); frame.chains()];
        for (number, (label, text)) in documents.iter().enumerate() {
            let label = u32::from(label.as_bytes()[6] - b'0');
            let (chain, block) = place(number as u64, frame.documents, 20);
            let chain = &mut rows[usize::try_from(chain).unwrap()];
            chain.entry(block).or_default().push((number as u64, label, text.as_bytes()));
        }
        // Everything goes there and back as bytes.
        let numbered = |rows: Vec<_>| (plan.numbered(&frame, rows), Vec::new());
        let chains = rows.into_iter().map(|rows| rows.into_values().map(numbered).collect());
        let mut chains: Vec<Vec<(Vec<u8>, Vec<u8>)>> = chains.collect();
        let bytes = frame.to_bytes();
        let mut ask = |task: &[u8], take: &mut dyn FnMut(&[u8]) -> Done| {
            for blocks in &mut chains {
                let mut work = BlockWork::new(&bytes, task)?;
                for (block, duals) in blocks {
                    *duals = work.add(block, duals)?;
                }
                take(&work.answer())?;
            }
            Ok(())
        };
        let frame = Frame::from_bytes(&bytes).unwrap();
        let labels: Vec<(String, u64)> =
            (0..3).map(|label| (format!("label {label}"), 150 + label / 2)).collect();
        let found = plan.train(&frame, &labels, &mut ask, &std::env::temp_dir()).unwrap();
        assert_eq!(found.model.to_bytes(), here.model.to_bytes());
        for task in [&[][..], &[9], &[1, 0, 0, 0, 0]] {
            assert!(BlockWork::new(&bytes, task).is_err(), "{task:?}");
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
            trainer.train(&Watch::default()).unwrap_err().to_string()
        };
        let recipe = |block| Recipe {
            in_blocks: Some(InBlocks { block, features: 1 << 12 }),
            ..Recipe::default()
        };
        let chosen = Recipe { choose: true, ..recipe(2) };
        assert!(error(&chosen, None, &[]).starts_with("settings cannot be chosen in blocks"));
        assert_eq!(error(&recipe(2), None, &[]), "there are no documents");
        let alike = [("a", "x y"), ("a", "y"), ("a", "z")];
        let expected = "all documents have the label a: two labels or more are needed";
        assert_eq!(error(&recipe(2), None, &alike), expected);
        let silent = [("a", "x y"), ("a", "y"), ("b", "...")];
        let expected = "the documents of the label b have no words that could be learned";
        assert_eq!(error(&recipe(2), None, &silent), expected);
        let both = [("a", "x y"), ("a", "y"), ("b", "z")];
        let found = error(&recipe(2), Some(1000), &both);
        assert!(found.starts_with("4 words and runs of words need a memory of 25 MiB"), "{found}");
    }
}
