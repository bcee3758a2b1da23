// SPDX-License-Identifier: GPL-3.0-or-later
//! Labelled documents → a model.

use crate::kept;
use crate::label::file_name;
use crate::model::{ModelError, Prediction, TextModel};
use crate::recipe::{OPTIONS, Recipe};
use crate::views;
use dbacl::blocks::BlockError;
use dbacl::measures::{Scored, area_above};
use dbacl::{
    CategorySet, Fit, FitError, FitNote, FitOptions, FitQuality, FitSettings, Incomparable,
    JointFit, LearnOptions, Learner, Reference, Scheme,
};
use dbacl_numeric::elementary::log;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bits of the largest table of features while learning.
const TABLE_BITS: u8 = 24;

/// What a document on the wrong side costs where nothing else is said.
const COST: f64 = 0.2;
/// The share of the ordinary scores that is kept where nothing else is said. More of it does harm
/// where short texts are few.
const BLEND: f64 = 0.01;
/// The same share for [`Preset::Words`]: ordinary scores of single words are better than those of
/// pairs, which count each word several times.
const WORDS_BLEND: f64 = 0.1;
/// The same share for [`Preset::Chars`]. Languages that are alike differ in how often they use the
/// same letters, which ordinary scores tell better than the fit of single documents.
const CHARS_BLEND: f64 = 0.4;
/// Bytes of documents up to which characters are looked at as well where nothing else is said:
/// there they bring most, and training takes part of a second.
const SMALL: u64 = 1 << 20;

/// What the second view of [`Preset::Both`] reads, and its longest run: shorter ones than the first
/// view of [`Preset::Chars`], since training and judging take much of their time there.
const CHARACTERS: (Scheme, u8) = (Scheme::Glyph, 4);
/// What the second view of [`Preset::Chars`] reads: related languages have short words of their
/// own.
const WORDS: (Scheme, u8) = (Scheme::Word, 1);

/// Which features a text has, for callers who do not want to choose tokenizer and order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preset {
    /// Single words: small models.
    Words,
    /// Words and pairs of neighbouring words.
    #[default]
    Pairs,
    /// Two views of a text, one of runs of up to five characters and one of single words, which
    /// judge together: languages, names, short texts, scripts without blanks.
    Chars,
    /// Two views of a text, one of pairs and one of characters, which judge together: best for
    /// short or few texts, and several times slower.
    Both,
}

impl Preset {
    /// How documents are learned, for the first one of two views.
    pub fn options(self) -> LearnOptions {
        let (scheme, order) = match self {
            Self::Words => (Scheme::Word, 1),
            Self::Pairs | Self::Both => (Scheme::Word, 2),
            Self::Chars => (Scheme::Glyph, 5),
        };
        let options = LearnOptions::text().tokenizer(scheme).order(order);
        options.reference(Reference::Uniform).max_table_bits(TABLE_BITS)
    }

    /// What its second view reads of texts whose first view reads them like `learn`.
    pub(crate) fn second(self, learn: &LearnOptions) -> Option<SecondView> {
        match self {
            Self::Words | Self::Pairs => None,
            Self::Chars => Some(SecondView::new(learn, WORDS)),
            Self::Both => Some(SecondView::of_characters(learn)),
        }
    }
}

/// A second view of the documents, which is learned and fitted by itself and judges together with
/// the first.
#[derive(Debug, Clone)]
pub struct SecondView {
    /// How documents are read and learned for it.
    pub learn: LearnOptions,
    /// There is none if the documents have more bytes than this, all together.
    pub most_bytes: u64,
}

impl SecondView {
    /// Characters of texts that are else read like `learn`, however many there are.
    pub fn of_characters(learn: &LearnOptions) -> Self {
        Self::new(learn, CHARACTERS)
    }

    fn new(learn: &LearnOptions, (scheme, order): (Scheme, u8)) -> Self {
        Self { learn: learn.clone().tokenizer(scheme).order(order), most_bytes: u64::MAX }
    }
}

/// How a model is trained.
#[derive(Debug, Clone)]
pub struct TrainOptions {
    /// How documents are read and learned.
    pub learn: LearnOptions,
    /// How they are read once more, if they are.
    pub second: Option<SecondView>,
    /// How the categories of a view are fitted together.
    pub fit: FitOptions,
}

/// Those of [`Preset::Both`] for documents of up to one megabyte, and of [`Preset::Pairs`] for
/// more.
impl Default for TrainOptions {
    fn default() -> Self {
        let mut options = Self::new(Preset::Both);
        options.second = options.second.map(|view| SecondView { most_bytes: SMALL, ..view });
        options
    }
}

impl TrainOptions {
    /// The options of a preset, with settings that suit most texts. Those of
    /// [`FitOptions::default`] are chosen by cross-validation instead.
    pub fn new(preset: Preset) -> Self {
        let blend = match preset {
            Preset::Words => WORDS_BLEND,
            Preset::Pairs | Preset::Both => BLEND,
            Preset::Chars => CHARS_BLEND,
        };
        let fit = FitOptions::default().cost(COST).blend(blend).quick();
        let learn = preset.options();
        let second = preset.second(&learn);
        Self { learn, second, fit }
    }

    /// The options as they are for documents that have `bytes` bytes in all; more documents do not
    /// change them any more.
    pub(crate) fn settled(&self, bytes: u64) -> Self {
        let second = self.second.clone().filter(|view| bytes <= view.most_bytes);
        let second = second.map(|view| SecondView { most_bytes: u64::MAX, ..view });
        Self { second, ..self.clone() }
    }
}

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
    /// The documents of a label have no words.
    #[error("the documents of the label {label} have no words that could be learned")]
    NoWords {
        /// The label.
        label: String,
    },
    /// Learning failed.
    #[error(transparent)]
    Learn(#[from] dbacl::Error),
    /// The categories cannot be compared.
    #[error(transparent)]
    Incomparable(#[from] Incomparable),
    /// The categories cannot be fitted together.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// What was made is no model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The documents cannot be fitted in blocks.
    #[error(transparent)]
    Blocks(#[from] BlockError),
    /// The caller asked to stop.
    #[error("training was stopped")]
    Stopped,
}

/// Why a model cannot be trained again with more or fewer documents.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// Nothing tells how it was trained.
    #[error("the model does not tell the options that it was trained with")]
    NoRecipe,
    /// It keeps no documents.
    #[error("the model keeps no documents: it was trained without --keep")]
    NoDocuments,
    /// It cannot be trained as it says.
    #[error(transparent)]
    Learn(#[from] dbacl::Error),
}

/// A model, and how it came about.
#[derive(Debug)]
#[non_exhaustive]
pub struct Trained {
    /// The model.
    pub model: TextModel,
    /// Labels with their documents.
    pub labels: Vec<(String, u64)>,
    /// How well documents were judged that the fit had not seen, by cross-validation.
    pub quality: FitQuality,
    /// Documents that were judged for that.
    pub judged: u64,
    /// Documents with words.
    pub documents: u64,
    /// The settings of the fit, of two views those of the first.
    pub settings: FitSettings,
    /// What a user should know.
    pub warnings: Vec<String>,
}

/// Gathers documents and trains a model on them. The same documents in the same order make the same
/// model, to the byte.
#[derive(Debug, Clone)]
pub struct Trainer {
    options: TrainOptions,
    /// The texts, one behind the other.
    texts: Vec<u8>,
    /// Where the texts of each label stand.
    labels: BTreeMap<String, Vec<Range<usize>>>,
    /// What is told of the model beside what training knows.
    about: Vec<(String, String)>,
    keeps: bool,
    /// What the options were made of, if they were.
    recipe: Option<Recipe>,
}

impl Trainer {
    /// A trainer without documents.
    pub fn new(options: &TrainOptions) -> Self {
        Self {
            options: options.clone(),
            texts: Vec::new(),
            labels: BTreeMap::new(),
            about: Vec::new(),
            keeps: false,
            recipe: None,
        }
    }

    /// A trainer without documents, whose models tell how they were trained; `warn` is told what is
    /// odd about the recipe.
    ///
    /// # Errors
    /// Those of [`Recipe::options`].
    pub fn of_recipe(recipe: &Recipe, warn: &mut dyn FnMut(String)) -> Result<Self, dbacl::Error> {
        let mut trainer = Self::new(&recipe.options(warn)?);
        trainer.tell(OPTIONS, &recipe.told());
        trainer.recipe = Some(recipe.clone());
        Ok(trainer)
    }

    /// A trainer with the recipe and the documents of a model that keeps them: trained at once, it
    /// makes the same model again.
    ///
    /// # Errors
    /// A model that tells no recipe or keeps no documents.
    pub fn of_model(model: &TextModel, warn: &mut dyn FnMut(String)) -> Result<Self, ChangeError> {
        let told = model.about().iter().find(|(name, _)| name == OPTIONS);
        let recipe = told.and_then(|(_, told)| Recipe::of_told(told));
        let mut trainer = Self::of_recipe(&recipe.ok_or(ChangeError::NoRecipe)?, warn)?.keeping();
        if trainer.add_kept(model) { Ok(trainer) } else { Err(ChangeError::NoDocuments) }
    }

    /// What the trainer was made of by [`Self::of_recipe`].
    pub const fn recipe(&self) -> Option<&Recipe> {
        self.recipe.as_ref()
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

    /// Takes the documents that `model` keeps; returns whether it keeps them.
    pub fn add_kept(&mut self, model: &TextModel) -> bool {
        let Some(kept) = model.kept() else { return false };
        for (label, documents) in model.labels().iter().zip(kept) {
            for document in documents {
                self.add(label, document);
            }
        }
        true
    }

    /// Forgets the last document with this label and text; returns whether there was one. A model
    /// that is trained then is the one that never had it, byte for byte.
    pub fn forget(&mut self, label: &str, text: &[u8]) -> bool {
        let Some(places) = self.labels.get_mut(label) else { return false };
        let own = places.iter().rposition(|place| self.texts[place.clone()] == *text);
        let Some(at) = own else { return false };
        places.remove(at);
        if places.is_empty() {
            self.labels.remove(label);
        }
        true
    }

    /// Takes a document.
    pub fn add(&mut self, label: &str, text: &[u8]) {
        let start = self.texts.len();
        self.texts.extend_from_slice(text);
        let place = start..self.texts.len();
        match self.labels.get_mut(label) {
            Some(places) => places.push(place),
            None => drop(self.labels.insert(label.to_owned(), vec![place])),
        }
    }

    /// Documents so far.
    pub fn len(&self) -> u64 {
        self.labels.values().map(|places| places.len() as u64).sum()
    }

    /// Their bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.labels.values().flatten().map(|place| place.len() as u64).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Labels so far, with their documents.
    pub fn labels(&self) -> impl Iterator<Item = (&str, usize)> {
        self.labels.iter().map(|(label, places)| (label.as_str(), places.len()))
    }

    /// The same trainer without its documents.
    pub(crate) fn without_documents(&self) -> Self {
        Self {
            options: self.options.clone(),
            texts: Vec::new(),
            labels: BTreeMap::new(),
            about: self.about.clone(),
            keeps: self.keeps,
            recipe: self.recipe.clone(),
        }
    }

    /// Documents so far with their labels: label by label, and of each in their order.
    pub fn documents(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.labels.iter().flat_map(|(label, places)| {
            places.iter().map(|place| (label.as_str(), &self.texts[place.clone()]))
        })
    }

    /// Trains the model.
    ///
    /// # Errors
    /// Fewer than two labels, documents without words, and those of learning and fitting.
    pub fn train(&self) -> Result<Trained, TrainError> {
        self.train_with(&self.options)
    }

    /// From now on the model is to be trained like this.
    pub fn set_options(&mut self, options: &TrainOptions) {
        self.options = options.clone();
    }

    /// How the model is to be trained.
    pub const fn options(&self) -> &TrainOptions {
        &self.options
    }

    /// Trains the model with other options.
    ///
    /// # Errors
    /// Those of [`Self::train`].
    pub fn train_with(&self, options: &TrainOptions) -> Result<Trained, TrainError> {
        self.train_stoppable(options, &AtomicBool::new(false))
    }

    /// Trains the model with other options; another thread may end it by setting `stop`. A fit that
    /// has begun goes on to its end.
    ///
    /// # Errors
    /// [`TrainError::Stopped`], and those of [`Self::train`].
    pub fn train_stoppable(
        &self,
        options: &TrainOptions,
        stop: &AtomicBool,
    ) -> Result<Trained, TrainError> {
        match self.labels.keys().next() {
            None => return Err(TrainError::NoDocuments),
            Some(label) if self.labels.len() == 1 => {
                return Err(TrainError::OneLabel { label: label.clone() });
            }
            Some(_) => {}
        }
        let mut fits = vec![self.fit_view(&options.learn, &options.fit, stop)?];
        if let Some(second) = options.settled(self.bytes()).second {
            fits.push(self.fit_view(&second.learn, &options.fit, stop)?);
        }
        self.model_of(fits)
    }

    /// Learns and fits the categories of one view.
    fn fit_view(
        &self,
        learn: &LearnOptions,
        fit: &FitOptions,
        stop: &AtomicBool,
    ) -> Result<Fit, TrainError> {
        let check_stop =
            || if stop.load(Ordering::Relaxed) { Err(TrainError::Stopped) } else { Ok(()) };
        let Self { texts, labels, .. } = self;
        let mut categories = Vec::with_capacity(labels.len());
        for (label, places) in labels {
            let mut learner = Learner::new(learn)?;
            for place in places {
                check_stop()?;
                learner.learn(&texts[place.clone()]);
            }
            let category = learner.finish().map_err(|error| match error {
                dbacl::Error::NoTokens => TrainError::NoWords { label: label.clone() },
                other => other.into(),
            })?;
            categories.push((file_name(label), category));
        }
        let set = CategorySet::new(categories)?;
        let mut fit = JointFit::new(&set, &fit.clone().always())?;
        for (places, name) in labels.values().zip(set.names()) {
            for place in places {
                check_stop()?;
                fit.document(name, &texts[place.clone()])?;
            }
        }
        let fit = fit.fit()?;
        check_stop()?;
        Ok(fit)
    }

    /// The model of the fits of all views.
    fn model_of(&self, mut fits: Vec<Fit>) -> Result<Trained, TrainError> {
        let Self { texts, labels, .. } = self;
        let mut about = self.about.clone();
        let (quality, judged) = match fits.as_slice() {
            [only] => (only.after, only.judged),
            several => {
                let found = self.judge_together(several);
                about.extend(TextModel::about_views(several.len(), found.scale));
                (found.quality, found.judged)
            }
        };
        let of_each = |value: &dyn Fn(&Fit) -> f64| {
            let mut values: Vec<String> = fits.iter().map(|fit| value(fit).to_string()).collect();
            values.dedup();
            values.join(", ")
        };
        let documents: Vec<u64> = fits[0].documents.iter().map(|&count| count as u64).collect();
        let all: u64 = documents.iter().sum();
        let settings = (of_each(&|fit| fit.settings.cost), of_each(&|fit| fit.settings.blend));
        about.extend(facts(all, settings, (quality.errors, judged)));
        let texts_of =
            |places: &Vec<Range<usize>>| places.iter().map(|place| &texts[place.clone()]).collect();
        let kept = self.keeps.then(|| kept::write(labels.values().map(texts_of)));
        let categories_of = |fit: &mut Fit| {
            let categories = fit.categories.take().unwrap_or_default();
            categories.into_iter().map(|(_, category)| category).collect()
        };
        let views = fits.iter_mut().map(categories_of).collect();
        let parts = labels.keys().cloned().zip(documents).collect();
        let model = TextModel::new(parts, views, about, kept)?;
        let names: Vec<&str> = labels.keys().map(String::as_str).collect();
        let counts = labels.iter().map(|(label, places)| (label.clone(), places.len() as u64));
        Ok(Trained {
            model,
            labels: counts.collect(),
            quality,
            judged: judged as u64,
            documents: all,
            settings: fits[0].settings,
            warnings: warnings(&fits[0].notes, &names),
        })
    }

    /// How the fits of several views judge documents together that none of them has seen.
    fn judge_together(&self, fits: &[Fit]) -> Together {
        let labels = (0u32..).zip(self.labels.values());
        let truths: Vec<u32> =
            labels.flat_map(|(label, places)| places.iter().map(move |_| label)).collect();
        // Each fit tells its documents in their order.
        let mut held_out: Vec<_> = fits.iter().map(|fit| fit.held_out.iter().peekable()).collect();
        let mut documents = Vec::new();
        for (at, &truth) in truths.iter().enumerate() {
            let found = held_out.iter_mut().filter_map(|fit| fit.next_if(|one| one.0 == at));
            let views: Vec<&[f64]> = found.map(|(_, view)| view.as_slice()).collect();
            if views.len() == fits.len() {
                documents.push((views, truth));
            }
        }
        judge_together(&documents, self.labels.len())
    }
}

/// How several views judge documents together. Of each document, `documents` has what the views
/// find and the number of its label among `labels`.
pub(crate) fn judge_together(documents: &[(Vec<&[f64]>, u32)], labels: usize) -> Together {
    let scale = views::scale(documents);
    let (mut errors, mut scored) = (0, Vec::new());
    for (views, truth) in documents {
        let Some(found) = views::combine(views, scale) else { continue };
        errors += usize::from(Prediction::of(found.clone()).best() != *truth as usize);
        if let [first, second] = found[..] {
            let score = log(second.max(f64::MIN_POSITIVE)) - log(first.max(f64::MIN_POSITIVE));
            scored.push(Scored { score, positive: *truth == 1 });
        }
    }
    let area_above = if labels == 2 { area_above(&scored) } else { 0.0 };
    Together { scale, quality: FitQuality { errors, area_above }, judged: documents.len() }
}

/// What several views say together of documents that none of them has seen.
pub(crate) struct Together {
    /// See [`crate::views`].
    pub scale: f64,
    /// How well they do.
    pub quality: FitQuality,
    /// How many documents these were.
    pub judged: usize,
}

/// What a model tells of its training: documents, cost and blend, errors and documents judged.
pub(crate) fn facts(
    documents: u64,
    (cost, blend): (String, String),
    (errors, judged): (usize, usize),
) -> [(String, String); 4] {
    let told = [
        ("documents", documents.to_string()),
        ("cost", cost),
        ("blend", blend),
        ("errors in cross-validation", format!("{errors} of {judged}")),
    ];
    told.map(|(name, value)| (name.to_owned(), value))
}

/// The notes of a fit; those on labels with few documents as one.
pub(crate) fn warnings(notes: &[FitNote], labels: &[&str]) -> Vec<String> {
    let mut few = Vec::new();
    let mut texts = Vec::new();
    for note in notes {
        match note {
            FitNote::FewDocuments { category, documents } => few.push((category, documents)),
            other => texts.push(other.to_string()),
        }
    }
    let label = |name: &str| labels.iter().find(|label| file_name(label) == name);
    if let Some((name, documents)) = few.first() {
        let label = label(name).unwrap_or(&"");
        let others = few.len() - 1;
        let others = match others {
            0 => String::new(),
            1 => " and of another label".into(),
            _ => format!(" and of {others} other labels"),
        };
        let only = format!("only {documents} documents of the label {label}{others}");
        texts.push(format!("{only}, fewer than 20: results may be poor"));
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trainer() -> Trainer {
        let mut trainer = Trainer::new(&TrainOptions::default());
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
        let one = trainer().train().unwrap();
        assert_eq!(one.labels, [("a war".to_owned(), 30), ("sea".to_owned(), 30)]);
        assert_eq!((one.documents, one.judged, one.quality.errors), (60, 16, 0));
        assert_eq!(one.warnings, [""; 0]);
        assert_eq!(one.model.to_bytes(), trainer().train().unwrap().model.to_bytes());
    }

    #[test]
    fn what_cannot_be_trained_is_told() {
        let error = |trainer: Trainer| trainer.train().unwrap_err().to_string();
        let empty = || Trainer::new(&TrainOptions::default());
        assert_eq!(error(empty()), "there are no documents");
        let mut one = empty();
        one.add("spam", b"text");
        let expected = "all documents have the label spam: two labels or more are needed";
        assert_eq!(error(one), expected);
        let mut silent = trainer();
        silent.add("none", b"... !");
        let expected = "the documents of the label none have no words that could be learned";
        assert_eq!(error(silent), expected);
    }

    #[test]
    fn what_is_kept_can_be_trained_again() {
        let mut more = trainer();
        more.add("sea", b"a harbour");
        let more = more.keeping();
        let model = TextModel::from_bytes(more.train().unwrap().model.to_bytes()).unwrap();
        let mut again = Trainer::new(&TrainOptions::default()).keeping();
        assert!(again.add_kept(&model));
        assert_eq!(again.train().unwrap().model.to_bytes(), model.to_bytes());
        assert!(again.forget("sea", b"a harbour") && !again.forget("sea", b"a harbour"));
        assert!(!again.forget("lake", b"a harbour"));
        let before = trainer().keeping().train().unwrap().model;
        assert_eq!(again.train().unwrap().model.to_bytes(), before.to_bytes());
        assert!(!again.add_kept(&trainer().train().unwrap().model));
    }

    #[test]
    fn many_documents_have_one_view_unless_two_are_asked_for() {
        let usual = TrainOptions::default();
        let second = |options: &TrainOptions, bytes| options.settled(bytes).second.is_some();
        assert!(second(&usual, SMALL) && !second(&usual, SMALL + 1));
        assert!(second(&TrainOptions::new(Preset::Both), u64::MAX));
        assert!(second(&TrainOptions::new(Preset::Chars), u64::MAX));
        assert!(!second(&TrainOptions::new(Preset::Pairs), 1));
        assert!(second(&usual.settled(SMALL), u64::MAX), "what was settled stays");
        let documents = trainer();
        let places = || documents.labels.values().flatten();
        let bytes: u64 = places().map(|place| place.len() as u64).sum();
        assert_eq!(documents.bytes(), bytes);
        let views = |options| documents.train_with(&options).unwrap().model.views().len();
        assert_eq!((views(usual.settled(0)), views(usual.settled(u64::MAX))), (2, 1));
    }

    #[test]
    fn few_documents_are_told_once() {
        let mut trainer = trainer();
        for label in ["x", "y", "z"] {
            trainer.add(label, b"a text of few");
        }
        let expected = "only 1 documents of the label x and of 2 other labels, fewer than 20: \
                        results may be poor";
        assert_eq!(trainer.train().unwrap().warnings, [expected]);
    }
}
