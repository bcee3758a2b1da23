// SPDX-License-Identifier: GPL-3.0-or-later
//! Labelled documents → a model.

use crate::corpus::{Columns, Reading};
use crate::text::fold::FOLDED;
use crate::text::kept;
use crate::text::learn::{Learned, Stopped, Task, Watch, learn};
use crate::text::model::{ModelError, TextModel};
use crate::text::none::NONE;
use crate::text::recipe::{LABEL_COLUMN, OPTIONS, Recipe, TEXT_COLUMNS};
use crate::text::table::LABELS;
use std::collections::BTreeMap;
use std::ops::Range;

/// Labels with fewer documents than this are learned badly.
const FEW: u64 = 20;
/// What a model tells of the file that its documents came from.
const COLUMNS: [&str; 2] = [LABEL_COLUMN, TEXT_COLUMNS];
/// More labels than this are not learned from one document each.
const MANY_LABELS: usize = 1000;
/// What stands between the labels of a document: no label has it.
const BETWEEN: char = '\n';

/// Why there is no model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// There are no documents.
    #[error("there are no documents")]
    NoDocuments,
    /// All documents have one label.
    #[error("all documents have the label {label}: two labels or more are needed")]
    OneLabel {
        /// The label.
        label: String,
    },
    /// There are about as many labels as documents, or more than a model holds.
    #[error("{labels} labels of {documents} documents {}", if *labels > LABELS {
        "are more than a model holds, 65,536"
    } else {
        "cannot be learned: most have one document; is it another column that holds the labels?"
    })]
    TooManyLabels {
        /// Labels.
        labels: usize,
        /// Documents.
        documents: u64,
    },
    /// The documents of a label have no words.
    #[error("the documents of the label {label} have no words that could be learned")]
    NoWords {
        /// The label.
        label: String,
    },
    /// Learning failed.
    #[error(transparent)]
    Learn(#[from] crate::Error),
    /// The options do not suit the documents, or blocks.
    #[error("{0}")]
    Settings(&'static str),
    /// A model that keeps no documents cannot be trained again with more or fewer.
    #[error("the model keeps no documents: it was trained without --keep")]
    NotKept,
    /// What was made is not a model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A temporary file cannot be written or read.
    #[error("a temporary file: {0}")]
    Io(#[from] std::io::Error),
    /// What another process has sent, or a temporary file, is damaged.
    #[error("what was counted or fitted in part is damaged")]
    Damaged,
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
    /// A fault in another process or on another machine, which works on chains of blocks.
    #[error("{0}")]
    Elsewhere(String),
    /// The caller asked to stop.
    #[error("training was stopped")]
    Stopped,
}

/// A model, and how it came about.
#[derive(Debug)]
#[non_exhaustive]
pub struct Trained {
    /// The model.
    pub model: TextModel,
    /// Labels with their documents.
    pub labels: Vec<(String, u64)>,
    /// Errors in documents that the fit had not seen, by cross-validation.
    pub errors: u64,
    /// Documents that were classified for that.
    pub judged: u64,
    /// Documents with features.
    pub documents: u64,
    /// What training has chosen, as the model tells it: names and values.
    pub chosen: Vec<(String, String)>,
    /// What a user should know.
    pub warnings: Vec<String>,
}

/// Gathers documents and trains a model on them. The same documents make the same model, to the
/// byte.
#[derive(Debug, Clone, Default)]
pub struct Trainer {
    recipe: Recipe,
    /// The texts, one after the other.
    texts: Vec<u8>,
    /// Where the texts of each label stand, and what they cost. Several labels of a text stand in
    /// their order, with [`BETWEEN`] between them.
    labels: BTreeMap<String, Vec<(Range<usize>, f32)>>,
    /// What the model says of itself besides what training knows.
    about: Vec<(String, String)>,
    keeps: bool,
}

impl Trained {
    /// The model of what was learned of so many documents with these labels.
    pub(crate) fn of(
        recipe: &Recipe,
        mut about: Vec<(String, String)>,
        (labels, documents): (Vec<(String, u64)>, u64),
        learned: Learned,
        kept: Option<Vec<u8>>,
    ) -> Result<Self, TrainError> {
        let Learned { table, errors, judged, chosen, documents: with_words } = learned;
        about.push((OPTIONS.to_owned(), recipe.told()));
        if recipe.folds() {
            about.push((FOLDED.0.to_owned(), FOLDED.1.to_owned()));
        }
        about.push(("documents".into(), documents.to_string()));
        about.push(("errors in cross-validation".into(), format!("{errors} of {judged}")));
        about.extend(chosen.iter().cloned());
        let names = labels.iter().map(|(label, _)| label.clone());
        Ok(Self {
            model: TextModel::new(names.zip(with_words).collect(), table, about, kept)?,
            warnings: warnings(&labels).into_iter().collect(),
            labels,
            errors: errors as u64,
            judged: judged as u64,
            documents,
            chosen,
        })
    }
}

impl Trainer {
    /// A trainer without documents; `warn` is shown what is odd about the recipe.
    ///
    /// # Errors
    /// [`crate::Error::Pattern`] and its like, for expressions that are none.
    pub fn of_recipe(recipe: &Recipe, warn: &mut dyn FnMut(String)) -> Result<Self, crate::Error> {
        recipe.plan(warn)?;
        Ok(Self { recipe: recipe.clone(), ..Self::default() })
    }

    /// A trainer with the recipe and the documents of a model that keeps them: trained at once, it
    /// makes the same model again.
    ///
    /// # Errors
    /// A model that keeps no documents.
    pub fn of_model(model: &TextModel, warn: &mut dyn FnMut(String)) -> Result<Self, TrainError> {
        let mut trainer = Self::of_recipe(model.recipe(), warn)?.keeping();
        let columns = |(name, _): &&(String, String)| COLUMNS.contains(&name.as_str());
        for (name, value) in model.about().iter().filter(columns) {
            trainer.tell(name, value);
        }
        trainer.add_kept(model)?;
        Ok(trainer)
    }

    /// How the model is to be trained.
    pub const fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Says whether a document may have several labels, or none.
    pub const fn set_several(&mut self, several: bool) {
        self.recipe.several = several;
    }

    /// The same trainer, whose models keep the documents: [`Self::add_kept`] goes on from there.
    #[must_use]
    pub const fn keeping(mut self) -> Self {
        self.keeps = true;
        self
    }

    /// Whether its models keep the documents.
    pub const fn is_keeping(&self) -> bool {
        self.keeps
    }

    /// Has the model tell `name: value` of itself, for people; see [`TextModel::about`].
    pub fn tell(&mut self, name: &str, value: &str) {
        self.about.retain(|(known, _)| known != name);
        self.about.push((name.to_owned(), value.to_owned()));
    }

    /// Has the model tell the columns of its documents, which were `found` or asked for.
    pub fn tell_columns(&mut self, found: Option<Columns>, asked: Reading) {
        for (name, value) in unusual_columns(found, asked) {
            self.tell(name, &value);
        }
    }

    /// Takes the documents that `model` keeps.
    ///
    /// # Errors
    /// A model that keeps no documents.
    pub fn add_kept(&mut self, model: &TextModel) -> Result<(), TrainError> {
        for (label, documents) in
            model.labels().iter().zip(model.kept().ok_or(TrainError::NotKept)?)
        {
            for document in documents {
                self.add(label, document);
            }
        }
        Ok(())
    }

    /// Forgets the last document with this label and text; returns whether there was one. A model
    /// that is trained then is the one that never had it, byte for byte.
    pub fn forget(&mut self, label: &str, text: &[u8]) -> bool {
        let Some(places) = self.labels.get_mut(label) else { return false };
        let own = places.iter().rposition(|(place, _)| self.texts[place.clone()] == *text);
        let Some(at) = own else { return false };
        places.remove(at);
        if places.is_empty() {
            self.labels.remove(label);
        }
        true
    }

    /// Takes a document.
    pub fn add(&mut self, label: &str, text: &[u8]) {
        self.add_weighted(&[label], text, 1.0);
    }

    /// Takes a document with any number of labels, which counts `weight` times. Several labels, or
    /// none, need [`Recipe::several`].
    pub fn add_weighted(&mut self, labels: &[&str], text: &[u8], weight: f32) {
        let start = self.texts.len();
        self.texts.extend_from_slice(text);
        let place = (start..self.texts.len(), weight);
        let mut labels = labels.to_vec();
        labels.sort_unstable();
        labels.dedup();
        let key = labels.join("\n");
        match self.labels.get_mut(&key) {
            Some(places) => places.push(place),
            None => drop(self.labels.insert(key, vec![place])),
        }
    }

    /// Number of documents so far.
    pub fn document_count(&self) -> u64 {
        self.labels.values().map(|places| places.len() as u64).sum()
    }

    /// Labels so far, with their documents.
    pub fn labels(&self) -> BTreeMap<&str, usize> {
        let mut found = BTreeMap::new();
        for (labels, places) in &self.labels {
            for label in labels.split(BETWEEN).filter(|label| !label.is_empty()) {
                *found.entry(label).or_insert(0) += places.len();
            }
        }
        found
    }

    /// Documents so far with their labels: label by label, and of each in their order.
    pub fn documents(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.labels.iter().flat_map(|(label, places)| {
            places.iter().map(|(place, _)| (label.as_str(), &self.texts[place.clone()]))
        })
    }

    /// Trains the model.
    ///
    /// # Errors
    /// Fewer than two labels, and documents without words.
    pub fn train(&self) -> Result<Trained, TrainError> {
        self.train_watched(&self.recipe, &[], &Watch::default())
    }

    /// Trains the model as another recipe says, with texts without labels, which are used if they
    /// make fewer errors.
    ///
    /// # Errors
    /// [`TrainError::Stopped`], and those of [`Self::train`].
    pub fn train_watched(
        &self,
        recipe: &Recipe,
        unlabelled: &[Vec<u8>],
        watch: &Watch<'_>,
    ) -> Result<Trained, TrainError> {
        let labels = self.labels();
        let has_several = self.labels.keys().any(|key| key.is_empty() || key.contains(BETWEEN));
        match labels.keys().next() {
            None => return Err(TrainError::NoDocuments),
            Some(&label) if labels.len() == 1 && !recipe.several => {
                return Err(TrainError::OneLabel { label: label.to_owned() });
            }
            Some(_) if is_too_many(labels.len(), self.document_count()) => {
                let (labels, documents) = (labels.len(), self.document_count());
                return Err(TrainError::TooManyLabels { labels, documents });
            }
            Some(_) if has_several && !recipe.several => {
                return Err(TrainError::Settings("documents have several labels or none"));
            }
            Some(_) if recipe.several && self.keeps => {
                return Err(TrainError::Settings("documents of several labels cannot be kept"));
            }
            Some(_) => {}
        }
        let learned = self.learn(recipe, &labels, unlabelled, watch)?;
        let texts_of = |places: &Vec<(Range<usize>, f32)>| {
            places.iter().map(|(place, _)| &self.texts[place.clone()]).collect()
        };
        let kept = self.keeps.then(|| kept::write(self.labels.values().map(texts_of)));
        let labels = labels.into_iter().map(|(label, count)| (label.to_owned(), count as u64));
        let known = (labels.collect(), self.document_count());
        Trained::of(recipe, self.about.clone(), known, learned, kept)
    }

    fn learn(
        &self,
        recipe: &Recipe,
        labels: &BTreeMap<&str, usize>,
        unlabelled: &[Vec<u8>],
        watch: &Watch<'_>,
    ) -> Result<Learned, TrainError> {
        let number = |label: &str| labels.keys().position(|known| *known == label);
        let (mut texts, mut numbers, mut costs) = (Vec::new(), Vec::new(), Vec::new());
        for (key, places) in &self.labels {
            let own: Vec<u32> =
                key.split(BETWEEN).filter_map(number).filter_map(|at| at.try_into().ok()).collect();
            for (place, cost) in places {
                texts.push(&self.texts[place.clone()]);
                numbers.push(own.clone());
                costs.push(*cost);
            }
        }
        let named = labels.keys().filter(|label| recipe.label_names && **label != NONE);
        let named: Vec<(&str, Vec<u8>)> = named.map(|label| (*label, words_of(label))).collect();
        for (label, words) in &named {
            texts.push(words);
            numbers.push(number(label).and_then(|at| at.try_into().ok()).into_iter().collect());
            costs.push(1.0);
        }
        let task = Task {
            texts,
            names: named.len(),
            labels: numbers,
            costs,
            classes: labels.len(),
            none: number(NONE),
            has_several: recipe.several,
            unlabelled,
            plan: recipe.plan(&mut |_| {})?,
            watch,
        };
        let learned = learn(&task).map_err(|Stopped| TrainError::Stopped)?;
        let silent = labels.keys().zip(&learned.documents).find(|(_, documents)| **documents == 0);
        match silent {
            Some((label, _)) => Err(TrainError::NoWords { label: (*label).to_owned() }),
            None => Ok(learned),
        }
    }
}

/// What a model tells of the columns of its documents, which were `found` or asked for: those that
/// have not the usual names.
pub fn unusual_columns(
    found: Option<Columns>,
    asked: Reading,
) -> impl Iterator<Item = (&'static str, String)> {
    let usual = Reading::default();
    let Columns { label, text } =
        found.unwrap_or(Columns { label: asked.label, text: asked.text.join(",") });
    [(LABEL_COLUMN, label, usual.label), (TEXT_COLUMNS, text, usual.text.join(","))]
        .into_iter()
        .filter(|(_, own, usual)| own != usual)
        .map(|(name, own, _)| (name, own))
}

/// The words of a label's name, which signs such as `_` divide, and capitals after small letters.
fn words_of(label: &str) -> Vec<u8> {
    let mut words = String::with_capacity(label.len());
    let mut follows_small = false;
    for character in label.chars() {
        if follows_small && character.is_uppercase() {
            words.push(' ');
        }
        words.push(if character.is_ascii_punctuation() { ' ' } else { character });
        follows_small = character.is_lowercase();
    }
    words.into_bytes()
}

/// Whether there are more labels than a model holds, or than so many documents can tell apart.
pub(crate) const fn is_too_many(labels: usize, documents: u64) -> bool {
    labels > LABELS || labels > MANY_LABELS && documents < 2 * labels as u64
}

/// What is to be said of labels with few documents.
fn warnings(labels: &[(String, u64)]) -> Option<String> {
    let mut few = labels.iter().filter(|(_, documents)| *documents < FEW);
    let (label, documents) = few.next()?;
    let others = match few.count() {
        0 => String::new(),
        1 => " and few of another label".into(),
        others => format!(" and few of {others} other labels"),
    };
    let noun = if *documents == 1 { "document" } else { "documents" };
    let only = format!("only {documents} {noun} of the label {label}{others}");
    Some(format!("{only}: with fewer than {FEW} results may be poor"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::recipe::Preset;
    use std::sync::atomic::AtomicBool;

    fn trainer() -> Trainer {
        let mut trainer = Trainer::default();
        for number in 0..30 {
            let text = format!("the whale and ship number {number} at sea");
            trainer.add("sea", text.as_bytes());
            let text = format!("the nation and battle number {number} of the war");
            trainer.add("a war", text.as_bytes());
        }
        trainer
    }

    #[test]
    fn the_same_documents_make_the_same_bytes() {
        let trained = trainer().train().unwrap();
        assert_eq!((trained.documents, trained.errors, trained.judged), (60, 0, 60));
        assert_eq!(trained.labels, [("a war".into(), 30), ("sea".into(), 30)]);
        assert_eq!(trained.warnings, [""; 0]);
        // Not even their order matters.
        let mut turned = Trainer::default();
        let all: Vec<(String, Vec<u8>)> =
            trainer().documents().map(|(label, text)| (label.into(), text.to_vec())).collect();
        all.iter().rev().for_each(|(label, text)| turned.add(label, text));
        let turned = turned.train().unwrap().model.to_bytes();
        assert!(turned == trained.model.to_bytes());
    }

    #[test]
    fn only_the_same_text_is_forgotten() {
        let mut trainer = Trainer::default();
        for text in ["the sea", "the war", "the sea", "the tea"] {
            trainer.add("x", text.as_bytes());
        }
        assert!(!trainer.forget("x", b"the pea") && !trainer.forget("y", b"the sea"));
        assert!(trainer.forget("x", b"the sea"));
        let left: Vec<_> = trainer.documents().map(|(_, text)| text.to_vec()).collect();
        assert_eq!(left, ["the sea", "the war", "the tea"].map(Vec::from));
    }

    #[test]
    fn what_cannot_be_trained_is_told() {
        let error = |trainer: Trainer| trainer.train().unwrap_err().to_string();
        assert_eq!(error(Trainer::default()), "there are no documents");
        let mut one = Trainer::default();
        one.add("sea", b"a ship");
        assert!(error(one).starts_with("all documents have the label sea: "));
        let mut silent = trainer();
        silent.add("void", b" \n");
        assert!(error(silent).starts_with("the documents of the label void have no words"));
        for (labels, documents, is_refused) in
            [(1000, 1000, false), (1001, 2002, false), (1001, 2001, true), (65_537, 200_000, true)]
        {
            assert_eq!(is_too_many(labels, documents), is_refused, "{labels}");
        }
        let mut many = Trainer::default();
        for number in 0..1500 {
            many.add(&number.to_string(), b"a text");
        }
        assert!(error(many).starts_with("1500 labels of 1500 documents cannot be learned: most"));
        let mut several = trainer();
        several.add_weighted(&["sea", "a war"], b"a ship at war", 1.0);
        assert!(error(several).contains("several labels"));
        let stop = AtomicBool::new(true);
        let watch = Watch { stop: Some(&stop), progress: None };
        let stopped = trainer().train_watched(&Recipe::default(), &[], &watch);
        assert!(matches!(stopped, Err(TrainError::Stopped)));
    }

    #[test]
    fn labels_that_are_rare_can_weigh_more() {
        let mut trainer = Trainer::default();
        for number in 0..100 {
            trainer.add("often", format!("common words {number} and more").as_bytes());
        }
        for number in 0..10 {
            trainer.add("rare", format!("common words {number} and odd").as_bytes());
        }
        let rare = |recipe: &Recipe| {
            let trained = trainer.train_watched(recipe, &[], &Watch::default()).unwrap();
            trained.model.predictor().predict(b"words and more odd").probabilities()[1]
        };
        let balanced = Recipe { balance: Some(1.0), ..Recipe::default() };
        assert!(rare(&balanced) > rare(&Recipe::default()));
    }

    #[test]
    fn repetitions_are_learned_where_they_tell_labels_apart() {
        let mut trainer = Trainer::default();
        for number in 0..400 {
            // Both labels have the same words; one repeats another word than the other.
            let more = format!("{} and {}", number % 17, number % 13);
            trainer.add("up", format!("rise {more} fall then rise").as_bytes());
            trainer.add("down", format!("fall {more} rise then fall").as_bytes());
            trainer.add("up", format!("then fall {more} rise rise").as_bytes());
            trainer.add("down", format!("then rise {more} fall fall").as_bytes());
        }
        let words = Recipe { preset: Some(Preset::Words), ..Recipe::default() };
        let trained = trainer.train_watched(&words, &[], &Watch::default()).unwrap();
        let fit = trained.chosen.iter().find(|(name, _)| name == "fit").unwrap();
        assert!(fit.1.ends_with(", twice") && trained.errors == 0, "{:?}", trained.chosen);
        let model = TextModel::from_bytes(trained.model.to_bytes()).unwrap();
        let explained = model.explain(b"rise fall rise").explanation;
        assert!(explained.tokens.iter().any(|token| token.text == "rise, twice"));
        assert_eq!(explained.category, "up");
        // Where words say it, their number is not looked at.
        let plain = self::trainer().train().unwrap();
        assert!(!plain.chosen.iter().any(|(_, value)| value.ends_with("twice")));
    }

    #[test]
    fn few_documents_are_told_once() {
        let count = |label: &str, documents| (label.to_owned(), documents);
        let told = |labels: &[(String, u64)]| warnings(labels).unwrap_or_default();
        assert_eq!(told(&[count("a", 20)]), "");
        assert_eq!(
            told(&[count("a", 1), count("b", 90)]),
            "only 1 document of the label a: with fewer than 20 results may be poor"
        );
        let three = [count("a", 3), count("b", 1), count("c", 4)];
        assert!(told(&three).starts_with("only 3 documents of the label a and few of 2 other"));
    }
}
