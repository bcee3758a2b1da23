// SPDX-License-Identifier: GPL-3.0-or-later
//! Computes categories from counts and fitted weights. Numbers by feature and label lie in a file,
//! so that only a part of them is in memory.

use super::error::BlockError;
use super::frame::Frame;
use super::settings::BlockSettings;
use crate::category::reader::Category;
use crate::category::writer;
use crate::error::Error;
use crate::joint::blend::{self, Mixing};
use crate::joint::calibrate::{Calibration, platt, temperature};
use crate::joint::dataset::BIAS_INPUT;
use crate::joint::header::RefitLine;
use crate::joint::publish;
use crate::joint::scoring::Scoring;
use crate::joint::select::{Settings, differences};
use crate::learn::counter::Counter;
use crate::learn::state::LearningState;
use crate::learn::tokens::{TokenList, Unread};
use crate::learn::{Progress, finish};
use crate::model::digram::CharacterCounts;
use crate::model::medium::Medium;
use crate::numeric::elementary::narrow;
use crate::numeric::quantize::QuantWeight;
use crate::token::id::FeatureId;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Features that are in memory at a time.
const CHUNK: usize = 4096;

/// What a column holds of each feature.
#[derive(Debug, Clone, Copy)]
pub enum Column {
    /// Documents of a label that contain it.
    With(usize),
    /// Those of them that are held out.
    WithHeldOut(usize),
    /// Its occurrences in documents of a label.
    Counts(usize),
    /// Those of them in documents that are held out.
    CountsHeldOut(usize),
    /// Its ordinary weight, nats.
    Ordinary(usize),
    /// The fitted weight of a problem.
    Fitted(usize),
    /// Its value for a label, see [`Mixing::values`].
    Values(usize),
}

impl Column {
    const KINDS: u64 = 7;

    const fn place(self) -> u64 {
        let (kind, of) = match self {
            Self::With(of) => (0, of),
            Self::WithHeldOut(of) => (1, of),
            Self::Counts(of) => (2, of),
            Self::CountsHeldOut(of) => (3, of),
            Self::Ordinary(of) => (4, of),
            Self::Fitted(of) => (5, of),
            Self::Values(of) => (6, of),
        };
        of as u64 * Self::KINDS + kind
    }
}

/// A number of four bytes.
pub trait Word: Copy {
    /// Its bytes.
    fn to_bytes(self) -> [u8; 4];
    /// The number of these bytes.
    fn of_bytes(bytes: [u8; 4]) -> Self;
}

impl Word for u32 {
    fn to_bytes(self) -> [u8; 4] {
        self.to_le_bytes()
    }
    fn of_bytes(bytes: [u8; 4]) -> Self {
        Self::from_le_bytes(bytes)
    }
}

impl Word for f32 {
    fn to_bytes(self) -> [u8; 4] {
        self.to_le_bytes()
    }
    fn of_bytes(bytes: [u8; 4]) -> Self {
        Self::from_le_bytes(bytes)
    }
}

/// Columns of numbers in a file.
pub struct Columns {
    file: File,
    width: usize,
}

/// What is known of a feature, by label.
pub struct Row<'a> {
    /// Fitted weights; with two labels the first one's is 0.
    pub fitted: &'a [f64],
    /// Ordinary weights.
    pub lambdas: &'a mut [f32],
    /// Whether the label has learned it.
    pub seen: &'a mut [bool],
    /// Its occurrences, and those in documents that are held out.
    pub counts: &'a [[u32; 2]],
}

impl Columns {
    /// No columns yet, each of `width` numbers.
    pub const fn new(file: File, width: usize) -> Self {
        Self { file, width }
    }

    fn offset(&self, column: Column, feature: usize) -> u64 {
        4 * (column.place() * self.width as u64 + feature as u64)
    }

    fn write_from<T: Word>(
        &self,
        column: Column,
        feature: usize,
        numbers: &[T],
    ) -> Result<(), BlockError> {
        for (at, part) in numbers.chunks(CHUNK).enumerate() {
            let bytes: Vec<u8> = part.iter().flat_map(|number| number.to_bytes()).collect();
            self.file.write_all_at(&bytes, self.offset(column, feature + at * CHUNK))?;
        }
        Ok(())
    }

    fn read_part<T: Word>(
        &self,
        column: Column,
        feature: usize,
        length: usize,
        out: &mut Vec<T>,
    ) -> Result<(), BlockError> {
        let mut bytes = vec![0; 4 * length];
        self.file.read_exact_at(&mut bytes, self.offset(column, feature))?;
        let (words, _) = bytes.as_chunks::<4>();
        out.extend(words.iter().map(|&word| T::of_bytes(word)));
        Ok(())
    }

    /// Writes a whole column.
    pub fn write<T: Word>(&mut self, column: Column, numbers: &[T]) -> Result<(), BlockError> {
        self.write_from(column, 0, numbers)
    }

    /// Reads a whole column.
    pub fn read<T: Word>(&mut self, column: Column) -> Result<Vec<T>, BlockError> {
        let mut numbers = Vec::with_capacity(self.width);
        for feature in (0..self.width).step_by(CHUNK) {
            let length = CHUNK.min(self.width - feature);
            self.read_part(column, feature, length, &mut numbers)?;
        }
        Ok(numbers)
    }

    /// Hands the row of each feature to `each`, and writes the values that it returns.
    pub fn each_row(
        &mut self,
        frame: &Frame,
        mut each: impl FnMut(usize, Row<'_>) -> Vec<f64>,
    ) -> Result<(), BlockError> {
        let labels = frame.labels;
        let (mut fitted, mut lambdas, mut seen, mut counts) =
            (vec![0.0; labels], vec![0.0; labels], vec![false; labels], vec![[0; 2]; labels]);
        for start in (0..self.width).step_by(CHUNK) {
            let length = CHUNK.min(self.width - start);
            let part = |column| {
                let mut numbers = Vec::new();
                self.read_part::<f32>(column, start, length, &mut numbers).map(|()| numbers)
            };
            let integers = |column| {
                let mut numbers = Vec::new();
                self.read_part::<u32>(column, start, length, &mut numbers).map(|()| numbers)
            };
            let of_fit = (0..labels).map(|label| match (labels, label) {
                (2, 0) => Ok(vec![0.0; length]),
                (2, _) => part(Column::Fitted(0)),
                (_, label) => part(Column::Fitted(label)),
            });
            let of_fit: Vec<Vec<f32>> = of_fit.collect::<Result<_, _>>()?;
            let ordinary = (0..labels).map(|label| part(Column::Ordinary(label)));
            let ordinary: Vec<Vec<f32>> = ordinary.collect::<Result<_, _>>()?;
            let all = (0..labels).map(|label| integers(Column::Counts(label)));
            let all: Vec<Vec<u32>> = all.collect::<Result<_, _>>()?;
            let gone = (0..labels).map(|label| integers(Column::CountsHeldOut(label)));
            let gone: Vec<Vec<u32>> = gone.collect::<Result<_, _>>()?;
            let mut values = vec![Vec::with_capacity(length); labels];
            for at in 0..length {
                for label in 0..labels {
                    fitted[label] = f64::from(of_fit[label][at]);
                    lambdas[label] = ordinary[label][at];
                    counts[label] = [all[label][at], gone[label][at]];
                    seen[label] = all[label][at] > 0;
                }
                let (fitted, counts) = (&fitted, &counts);
                let row = Row { fitted, lambdas: &mut lambdas, seen: &mut seen, counts };
                let found = each(start + at, row);
                for (values, value) in values.iter_mut().zip(found) {
                    values.push(narrow(value));
                }
            }
            for (label, values) in values.iter().enumerate() {
                self.write_from(Column::Values(label), start, values)?;
            }
        }
        Ok(())
    }
}

/// The ordinary category of a label with these counts by feature, without its weights, and its
/// weights by feature.
pub fn ordinary(
    frame: &Frame,
    settings: &BlockSettings,
    counts: &[u32],
) -> Result<(Category<Vec<u8>>, Vec<f32>), BlockError> {
    let learn = settings.learn.settings();
    let mut state = LearningState::new(learn.bits, learn.options, learn.scheme, learn.min_count);
    state.tokens = TokenList::Unread(Vec::new());
    let mut counter = Counter::new(state, learn, false);
    let mut silent = |_| {};
    let ids = frame.features.ids();
    for ((&id, makeup), &count) in ids.iter().zip(&frame.makeups).zip(counts) {
        let feature =
            Unread { id, order: makeup.order, pairs: makeup.pairs, suffix: makeup.second };
        counter.count_unread(feature, Medium::new(makeup.medium), count, &mut silent);
    }
    counter.end_of_file(&mut silent);
    let mut state = counter.into_state(&mut silent);
    if state.used == 0 {
        return Err(Error::NoTokens.into());
    }
    let progress = &mut Progress::silent();
    let digrams = learn.reference.measure(&CharacterCounts::default(), progress, &mut silent)?;
    let model = finish(&mut state, learn, digrams, None, progress, &mut silent)?;
    let weight = |(&id, &count): (&FeatureId, &u32)| {
        let slot = (count > 0).then(|| state.table.find(id)).flatten();
        slot.map_or(0.0, |at| QuantWeight(model.weights.slots()[at].lambda).weight())
    };
    let lambdas = ids.iter().zip(counts).map(weight).collect();
    let mut header = model.header;
    (header.max_order, header.bits) = (frame.max_order, 4);
    let mut bytes = Vec::new();
    let empty = std::iter::repeat_n((FeatureId(0), QuantWeight(0)), 1 << header.bits);
    let patterns = settings.learn.stored_patterns();
    // Writing to memory does not fail.
    let _ = writer::write(&mut bytes, &header, b"category", &patterns, &model.digrams, empty);
    Ok((category(bytes)?, lambdas))
}

fn category(bytes: Vec<u8>) -> Result<Category<Vec<u8>>, BlockError> {
    let damaged = |fault| Error::damaged(Path::new("category in memory"), format!("{fault:?}"));
    Ok(Category::new(bytes).map_err(damaged)?)
}

/// All that categories are composed of beside the columns.
pub struct Parts<'a> {
    /// The features.
    pub frame: &'a Frame,
    /// How weights become those of files.
    pub mixing: Mixing,
    /// Cost and blend.
    pub settings: Settings,
    /// Whether features that tell labels apart were preferred.
    pub contrast: bool,
    /// The ordinary categories without their weights.
    pub hulls: &'a [Category<Vec<u8>>],
    /// The biases by label.
    pub biases: &'a [f64],
}

/// Fitted categories.
pub struct Composed {
    /// The categories, in the order of the labels.
    pub categories: Vec<Category<Vec<u8>>>,
    /// The header line of the fit, which says how probabilities are calibrated.
    pub line: RefitLine,
}

/// Makes the fitted categories. Their probabilities are calibrated by the scores of documents that
/// the first fit did not learn.
pub fn compose(
    parts: &Parts<'_>,
    columns: &mut Columns,
    (scores, labels): (&[f64], &[u32]),
) -> Result<Composed, BlockError> {
    let Parts { frame, mixing, settings, contrast, hulls, biases } = *parts;
    let mut tables = vec![Vec::new(); frame.labels];
    columns.each_row(frame, |feature, row| {
        let values = mixing.values(row.fitted, row.lambdas, row.seen);
        mixing.store(frame.features.ids()[feature], (&values, &[]), row.seen, &mut tables);
        values
    })?;
    for table in &mut tables {
        table.sort_unstable_by_key(|&(id, _)| id);
    }
    let ordinary: Vec<f64> = hulls.iter().map(|hull| hull.header().log_partition).collect();
    let per_bias = BIAS_INPUT * mixing.per_fitted;
    let log_partitions = blend::log_partitions(&ordinary, biases, mixing.per_ordinary, per_bias);
    let (calibration, even) = if frame.labels == 2 {
        let calibration = platt(&differences(scores, labels));
        (calibration, calibration.even())
    } else {
        (Calibration { slope: temperature(scores, labels), offset: 0.0 }, 0.0)
    };
    let line = RefitLine {
        set: blend::name(&tables, &log_partitions),
        place: 1,
        categories: u32::try_from(frame.labels).unwrap_or(u32::MAX),
        cost: settings.cost,
        blend: settings.blend,
        documents: u32::try_from(frame.with_features).unwrap_or(u32::MAX),
        calibration,
        band: (even, even),
        scoring: Scoring::Counts,
        contrast,
        false_positives: None,
        wants_unsure: false,
        known: 0.0,
        limits: Vec::new(),
        usual: Vec::new(),
        rates: Vec::new(),
        general: 0.0,
    };
    let mut categories = Vec::new();
    for (at, hull) in hulls.iter().enumerate() {
        let line = RefitLine { place: u32::try_from(at + 1).unwrap_or(u32::MAX), ..line.clone() };
        let table = std::mem::take(&mut tables[at]);
        let file = publish::file(hull, b"category", &line, &table, log_partitions[at], None);
        categories.push(category(file)?);
    }
    Ok(Composed { categories, line })
}
