// SPDX-License-Identifier: GPL-3.0-or-later
//! A trained model: labels and what tells them apart, in one file.

use crate::corpus::label;
use crate::text::bytes::{number, take};
use crate::text::explain;
use crate::text::features::{Layout, TextReader};
use crate::text::fold::FOLDED;
use crate::text::kept;
use crate::text::none::{self, NONE};
use crate::text::recipe::{OPTIONS, Recipe};
use crate::text::rows::Sums;
use crate::text::shares;
use crate::text::table::Table;
use crate::{Container, ContainerFault, Explained, MemberKind, container_bytes, save_container};
use dbacl_numeric::varint;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Why a file or bytes are not a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The file cannot be read or is none of ours.
    #[error(transparent)]
    File(#[from] crate::Error),
    /// The bytes are damaged.
    #[error(transparent)]
    Damaged(#[from] ContainerFault),
    /// It tells no options, so that nobody knows how texts are to be read.
    #[error("the model does not tell how texts are read")]
    NoRecipe,
}

/// Labels and what tells them apart.
#[derive(Debug)]
pub struct TextModel {
    labels: Vec<String>,
    /// Documents of each label that were learned.
    documents: Vec<u64>,
    about: Vec<(String, String)>,
    /// The documents that it was trained on, see [`crate::text::kept`].
    kept: Option<Vec<u8>>,
    table: Arc<Table>,
    /// How it was trained.
    recipe: Recipe,
    /// How texts are read for it.
    layout: Layout,
}

impl TextModel {
    /// The model of a table. Texts are read as the recipe in `about` says.
    pub(crate) fn new(
        labels: Vec<(String, u64)>,
        table: Table,
        about: Vec<(String, String)>,
        kept: Option<Vec<u8>>,
    ) -> Result<Self, ModelError> {
        let (labels, documents): (Vec<String>, Vec<u64>) = labels.into_iter().unzip();
        let told = about.iter().find(|(name, _)| name == OPTIONS);
        let recipe =
            told.and_then(|(_, told)| Recipe::of_told(told)).ok_or(ModelError::NoRecipe)?;
        let plan = recipe.plan(&mut |_| {})?;
        let runs = table.blocks.get(1).and_then(|block| block.runs);
        let lengths = table.blocks.last().map_or([1, 1], |block| block.lengths);
        // Models of before do not say it.
        let folds = about.iter().any(|(name, value)| (name.as_str(), value.as_str()) == FOLDED);
        let keeps_case = recipe.case_sensitive;
        let repeats = table.repeats;
        let layout = Layout { words: plan.words, runs, keeps_case, folds, lengths, repeats };
        Ok(Self { labels, documents, about, kept, table: Arc::new(table), recipe, layout })
    }

    /// Opens the model at `path`, all of which is read and checked.
    ///
    /// # Errors
    /// A file that cannot be read, is not a model, or is damaged.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        Self::of(&Container::open(path)?).map_err(|error| match error {
            ModelError::Damaged(fault) => fault.at(path).into(),
            ModelError::File(_) => error,
            other => crate::Error::damaged(path, other.to_string()).into(),
        })
    }

    /// The model that [`Self::to_bytes`] has made.
    ///
    /// # Errors
    /// Bytes that are not a model, or damaged.
    pub fn from_bytes(bytes: impl AsRef<[u8]>) -> Result<Self, ModelError> {
        Self::of(&Container::new(bytes)?)
    }

    fn of<D: AsRef<[u8]>>(container: &Container<D>) -> Result<Self, ModelError> {
        let (mut about, mut kept, mut table) = (Vec::new(), None, None);
        for (kind, bytes) in container.members() {
            match kind {
                MemberKind::About => {
                    let lines = String::from_utf8_lossy(bytes);
                    let fields = lines.lines().filter_map(|line| line.split_once(": "));
                    about.extend(fields.map(|(name, value)| (name.to_owned(), value.to_owned())));
                }
                MemberKind::Documents => kept = Some(bytes.to_vec()),
                MemberKind::Table => table = Some(bytes),
                MemberKind::Other(_) => {}
            }
        }
        let damaged = || ModelError::Damaged(ContainerFault::Member);
        let rest = &mut table.ok_or_else(damaged)?;
        let labels = labels_of(rest).ok_or_else(damaged)?;
        if Table::is_later(rest) {
            return Err(ContainerFault::Version.into());
        }
        let table = Table::from_bytes(rest).ok_or_else(damaged)?;
        let kept_fits = |kept: &Vec<u8>| kept::read(kept, labels.len()).is_some();
        if table.labels() != labels.len() || !kept.as_ref().is_none_or(kept_fits) {
            return Err(damaged());
        }
        Self::new(labels, table, about, kept)
    }

    /// Hands the members of the model's file to `put`.
    fn with_members<T>(&self, put: impl FnOnce(&[(MemberKind, &[u8])]) -> T) -> T {
        let about: String =
            self.about.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
        let mut table = Vec::new();
        put_labels(&mut table, &self.labels, &self.documents);
        table.extend(self.table.to_bytes());
        let mut members = vec![(MemberKind::About, about.as_bytes()), (MemberKind::Table, &table)];
        members.extend(self.kept.as_deref().map(|kept| (MemberKind::Documents, kept)));
        put(&members)
    }

    /// The bytes of the model's file.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.with_members(container_bytes)
    }

    /// Saves the model so that `path` is whole at every moment.
    ///
    /// # Errors
    /// [`crate::Error::Occupied`] when `path` is a file of something else; those of the operating
    /// system. The old file is kept.
    pub fn save(&self, path: &Path) -> Result<(), ModelError> {
        Ok(self.with_members(|members| save_container(path, members))?)
    }

    /// The same model in at most `size` bytes, if that is given and possible, with weights of
    /// `bits` bits, 8 or 16. Documents that it keeps are left out.
    #[must_use]
    pub fn quantized(&self, bits: u8, size: Option<usize>) -> Self {
        let bits = if bits == 8 { 8 } else { 16 };
        let with = |table: Table| Self {
            labels: self.labels.clone(),
            documents: self.documents.clone(),
            about: self.about.clone(),
            kept: None,
            table: Arc::new(table),
            recipe: self.recipe.clone(),
            layout: self.layout.clone(),
        };
        let around = with(self.table.quantized(bits, Some(0))).to_bytes().len()
            - self.table.quantized(bits, Some(0)).to_bytes().len();
        let size = size.map(|size| size.saturating_sub(around));
        with(self.table.quantized(bits, size))
    }

    /// The labels, in the order of all other lists.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Documents of each label that the model was trained on.
    pub fn documents(&self) -> &[u64] {
        &self.documents
    }

    /// How it was trained.
    pub const fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Has the model tell `name: value` of itself, for people.
    pub fn tell(&mut self, name: &str, value: &str) {
        self.about.push((name.to_owned(), value.to_owned()));
    }

    /// How the model was made, for people: names and values.
    pub fn about(&self) -> &[(String, String)] {
        &self.about
    }

    /// The documents of each label that the model was trained on, if it keeps them.
    pub fn kept(&self) -> Option<Vec<Vec<&[u8]>>> {
        let bytes = self.kept.as_ref()?;
        let found = kept::read(bytes, self.labels.len())?;
        let texts = |places: Vec<Range<usize>>| places.into_iter().map(|at| &bytes[at]).collect();
        Some(found.into_iter().map(texts).collect())
    }

    /// Features that speak for each label.
    pub fn features(&self) -> Vec<u64> {
        self.table.features_by_label()
    }

    /// Whether a text may have several labels.
    pub fn has_several(&self) -> bool {
        self.table.has_several
    }

    /// Which features of a text speak for the best label and against the second best.
    pub fn explain(&self, text: &[u8]) -> Explained {
        explain::explain(&self.table, &self.labels, &mut TextReader::new(&self.layout), text)
    }

    /// The `number` features of some texts that speak most for each label, with their weights; a
    /// model has no names of features, so they are found in texts.
    pub fn strongest(&self, texts: &[Vec<u8>], number: usize) -> Vec<(&str, Vec<(String, f32)>)> {
        let mut reader = TextReader::new(&self.layout);
        explain::strongest((&self.table, &self.labels), &mut reader, texts, number)
    }

    /// Adapts the predictions of many texts to the shares that the labels have among them, which
    /// may not be those of training; returns these shares. Where a text may have several labels,
    /// nothing changes.
    pub fn adapt(&self, predictions: &mut [Prediction]) -> Vec<f64> {
        let priors = &self.table.scale.priors;
        if self.has_several() {
            return priors.clone();
        }
        let each = predictions.iter().map(Prediction::probabilities);
        let found = shares::shares(&each, priors);
        for prediction in predictions {
            shares::apply(&mut prediction.probabilities, &found, priors);
            if !prediction.preferences.is_empty() {
                prediction.preferences = self.table.preferences(&prediction.probabilities);
            }
        }
        found
    }

    /// Classifies texts, one after the other. Each thread has one of its own.
    pub fn predictor(&self) -> Predictor {
        Predictor {
            table: Arc::clone(&self.table),
            reader: TextReader::new(&self.layout),
            sums: Sums::default(),
            none: self.labels.iter().position(|label| label == NONE),
            kept: None,
        }
    }
}

/// Writes labels with their numbers of documents.
fn put_labels(out: &mut Vec<u8>, labels: &[String], documents: &[u64]) {
    varint::append(out, labels.len() as u64);
    for (label, &documents) in labels.iter().zip(documents) {
        varint::append(out, label.len() as u64);
        out.extend_from_slice(label.as_bytes());
        varint::append(out, documents);
    }
}

/// Labels with their numbers of documents.
fn labels_of(rest: &mut &[u8]) -> Option<Vec<(String, u64)>> {
    let mut labels: Vec<(String, u64)> = Vec::new();
    for _ in 0..number::<u64>(rest)? {
        let length = number(rest)?;
        let label = label::check(take(rest, length)?).ok()?;
        if labels.last().is_some_and(|(last, _)| last.as_str() >= label) {
            return None;
        }
        labels.push((label.to_owned(), number(rest)?));
    }
    Some(labels)
}

/// What a model makes of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    probabilities: Vec<f64>,
    /// What decides between labels; empty where probabilities do.
    preferences: Vec<f64>,
    /// The labels of the text, where it may have several.
    labels: Option<Vec<usize>>,
    /// Whether the text has none of the labels.
    is_none: bool,
}

impl Prediction {
    /// A prediction of these probabilities.
    #[cfg(test)]
    pub(crate) const fn of(probabilities: Vec<f64>) -> Self {
        Self { probabilities, preferences: Vec::new(), labels: None, is_none: false }
    }

    /// Numbers of the labels of the text: those that are probable enough where it may have
    /// several, which may be none, and else the best one.
    pub fn labels(&self) -> Vec<usize> {
        self.labels.clone().unwrap_or_else(|| vec![self.best()])
    }

    /// Whether the text has none of the labels; only where that was asked for, see
    /// [`Predictor::keeping`].
    pub const fn is_none(&self) -> bool {
        self.is_none
    }

    /// The probability of each label; they add up to 1 unless a text may have several.
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// Number of the label: the most probable one, unless the model prefers rare ones; of equal
    /// ones the first.
    pub fn best(&self) -> usize {
        self.ranked(1).first().copied().unwrap_or(0)
    }

    /// Numbers of the `k` best labels, the best first.
    pub fn ranked(&self, k: usize) -> Vec<usize> {
        let deciding =
            if self.preferences.is_empty() { &self.probabilities } else { &self.preferences };
        let of = |at: usize| deciding[at];
        let by = |&a: &usize, &b: &usize| of(b).total_cmp(&of(a)).then(a.cmp(&b));
        match k {
            0 => return Vec::new(),
            1 => return (0..self.probabilities.len()).min_by(by).into_iter().collect(),
            _ => {}
        }
        let mut order: Vec<usize> = (0..self.probabilities.len()).collect();
        if k < order.len() {
            order.select_nth_unstable_by(k - 1, by);
            order.truncate(k);
        }
        order.sort_unstable_by(by);
        order
    }
}

/// Classifies one text after the other.
pub struct Predictor {
    table: Arc<Table>,
    reader: TextReader,
    sums: Sums,
    /// The number of the label `none`.
    none: Option<usize>,
    /// The share of texts with one of the labels that are to keep it.
    kept: Option<f64>,
}

impl Predictor {
    /// The same predictor, which also says that a text has none of the labels, so often that about
    /// the share `kept` of the texts that have one keep it: from 0.8 to 0.99. A label `none`, whose
    /// examples then say what such texts look like, is not an answer of its own. `None` where the
    /// model does not know how: models of several labels a text, of earlier versions, or of very
    /// few texts.
    pub fn keeping(mut self, kept: f64) -> Option<Self> {
        self.kept = Some(kept);
        (!self.table.scale.refusals.is_empty()).then_some(self)
    }

    /// The probabilities of the labels for a text.
    pub fn predict(&mut self, text: &[u8]) -> Prediction {
        let Self { table, reader, sums, none, kept } = self;
        let (scores, known) = table.scores(reader.read(text), sums);
        let is_none = kept.is_some_and(|kept| {
            let most = none::threshold(&table.scale.refusals, known, kept);
            known == 0 || none::oddness(&scores, *none) > most
        });
        let mut probabilities = table.probabilities(scores, known);
        if let (Some(_), Some(none)) = (kept, *none) {
            let others = 1.0 - probabilities[none];
            probabilities[none] = 0.0;
            if others > 0.0 {
                for p in &mut probabilities {
                    *p /= others;
                }
            }
        }
        let preferences = match table.scale.shift {
            0.0 => Vec::new(),
            _ => table.preferences(&probabilities),
        };
        let labels = table.has_several.then(|| {
            let each = probabilities.iter().zip(&table.scale.thresholds).enumerate();
            each.filter(|(_, (p, least))| **p >= f64::from(**least)).map(|(at, _)| at).collect()
        });
        Prediction { probabilities, preferences, labels, is_none }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::train::Trainer;

    fn trained(labels: &[&str]) -> TextModel {
        let mut trainer = Trainer::default();
        for number in 0..40 {
            for (at, label) in labels.iter().enumerate() {
                // A few documents are of the wrong label.
                let own = labels[(at + usize::from(number % 7 == 0)) % labels.len()];
                trainer.add(label, format!("a {own} {number} the {own}s").as_bytes());
            }
        }
        trainer.train().unwrap().model
    }

    #[test]
    fn models_are_read_back_or_refused() {
        let model = trained(&["sea", "war", "tea"]);
        let bytes = model.to_bytes();
        let again = TextModel::from_bytes(&bytes).unwrap();
        assert!(again.to_bytes() == bytes);
        for text in ["a sea", "", "tea at war", "nothing known"] {
            let predict = |model: &TextModel| model.predictor().predict(text.as_bytes());
            assert_eq!(predict(&again), predict(&model));
        }
        let third = 1.0 / 3.0;
        assert_eq!(model.predictor().predict(b"").probabilities(), [third; 3]);
        for at in (0..bytes.len()).step_by(7) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x40;
            assert!(TextModel::from_bytes(&damaged).is_err(), "{at}");
        }
    }

    #[test]
    fn a_table_of_a_later_version_is_named_as_such() {
        let model = trained(&["sea", "war"]);
        let mut labels = Vec::new();
        put_labels(&mut labels, &model.labels, &model.documents);
        let bytes = model.with_members(|members| {
            let mut table = members[1].1.to_vec();
            table[labels.len()] += 1;
            container_bytes(&[members[0], (MemberKind::Table, &table)])
        });
        let read = TextModel::from_bytes(bytes);
        assert!(matches!(read, Err(ModelError::Damaged(ContainerFault::Version))));
    }

    #[test]
    fn smaller_models_fit_and_say_nearly_the_same() {
        let model = trained(&["sea", "war", "tea"]);
        let size = model.to_bytes().len() * 3 / 4;
        let small = model.quantized(8, Some(size));
        assert!(small.to_bytes().len() <= size);
        for (at, text) in [(0, "a sea"), (2, "the wars"), (1, "tea")] {
            assert_eq!(small.predictor().predict(text.as_bytes()).best(), at, "{text}");
        }
    }

    #[test]
    fn evidence_adds_up_to_the_odds_before_the_prior() {
        for labels in [&["sea", "war"][..], &["sea", "war", "tea"]] {
            let model = trained(labels);
            let text = "the seas and a sea ".repeat(20);
            let explained = model.explain(text.as_bytes());
            let prediction = model.predictor().predict(text.as_bytes());
            assert_eq!(explained.best, prediction.best());
            let total = explained.explanation.total();
            let ranked = prediction.ranked(2);
            let of = |place: usize| prediction.probabilities()[ranked[place]];
            // The prior's share draws the odds to 1.
            assert!(total > (of(0) / of(1)).log2() && of(0) > 0.5, "{total}");
            assert!(explained.explanation.tokens.iter().any(|token| token.text == "sea"));
        }
    }

    #[test]
    fn the_most_probable_come_first() {
        let prediction = Prediction::of(vec![0.1, 0.4, 0.1, 0.4]);
        assert_eq!(prediction.best(), 1);
        assert_eq!(prediction.ranked(3), [1, 3, 0]);
        assert_eq!(prediction.ranked(0), [0; 0]);
        assert_eq!(prediction.ranked(9), [1, 3, 0, 2]);
    }
}
