// SPDX-License-Identifier: GPL-3.0-or-later
//! A trained model: labels and their categories, in one file.

use crate::kept;
use crate::label::{self, file_name};
use crate::views;
use dbacl::{
    Category, CategorySet, Classifier, Container, ContainerFault, Explained, Incomparable,
    MemberKind, NewMember, Piece, container_bytes, save_container,
};
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Why a file or bytes are no model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The file cannot be read or is none of ours.
    #[error(transparent)]
    File(#[from] dbacl::Error),
    /// The bytes are damaged.
    #[error(transparent)]
    Damaged(#[from] ContainerFault),
    /// A category in it is damaged, or its label is none.
    #[error("the category of the label {label} is damaged")]
    Category {
        /// The label.
        label: String,
    },
    /// The categories in it do not belong together.
    #[error("the categories of the model do not belong together: {0}")]
    Set(#[from] Incomparable),
    /// The categories in it were not fitted together.
    #[error("the categories of the model were not fitted together")]
    NotFitted,
    /// A view has no category of some label, or one of another.
    #[error("the views of the model do not have the same labels")]
    Views,
    /// A file cannot be written while unpacking.
    #[error("{}: {source}", path.display())]
    Unpack {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

/// What a model calls the scale of what its views say together.
const SCALE: &str = "scale";
/// What it calls the temperature of all that it says.
const TEMPERATURE: &str = "temperature";

/// Labels and their categories, which were fitted together. There may be several views of a text,
/// each with a set of categories of its own.
#[derive(Debug)]
pub struct TextModel {
    labels: Vec<String>,
    /// Documents of each label that were learned.
    documents: Vec<u64>,
    about: Vec<(String, String)>,
    /// The documents that it was trained on, see [`crate::kept`].
    kept: Option<Vec<u8>>,
    /// The sets of the views; at least one.
    views: Vec<CategorySet<Vec<u8>>>,
    /// See [`views::combine`].
    scale: f64,
    /// See [`views::cooled`].
    temperature: f64,
}

impl TextModel {
    /// The model of labels with their numbers of documents, and of the categories of each view in
    /// the order of the labels. What the views say together has the scale and the temperature that
    /// `about` tells.
    pub(crate) fn new(
        labels: Vec<(String, u64)>,
        views: Vec<Vec<Category<Vec<u8>>>>,
        about: Vec<(String, String)>,
        kept: Option<Vec<u8>>,
    ) -> Result<Self, ModelError> {
        let (labels, documents): (Vec<String>, Vec<u64>) = labels.into_iter().unzip();
        let mut sets = Vec::new();
        for categories in views {
            let names = labels.iter().map(|label| file_name(label));
            let set = CategorySet::new(names.zip(categories))?;
            if !set.is_fitted() {
                return Err(ModelError::NotFitted);
            }
            sets.push(set);
        }
        let told = |wanted| {
            let found = about.iter().find(|(name, _)| name == wanted);
            let value = found.and_then(|(_, value)| value.parse().ok());
            value.filter(|value: &f64| value.is_normal() && *value > 0.0).unwrap_or(1.0)
        };
        let (scale, temperature) = (told(SCALE), told(TEMPERATURE));
        Ok(Self { labels, documents, about, kept, views: sets, scale, temperature })
    }

    /// Sets the temperature of all that the model says, and has it tell that where it is not 1.
    pub(crate) fn cool(&mut self, temperature: f64) {
        self.temperature = temperature;
        self.about.retain(|(name, _)| name != TEMPERATURE);
        if temperature != 1.0 {
            self.tell(TEMPERATURE, &temperature.to_string());
        }
    }

    /// What a model of several views tells of itself.
    pub(crate) fn about_views(views: usize, scale: f64) -> [(String, String); 2] {
        [("views".into(), views.to_string()), (SCALE.into(), scale.to_string())]
    }

    /// Opens the model at `path`, all of which is read and checked.
    ///
    /// # Errors
    /// A file that cannot be read, is no model, or is damaged.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        Self::of(&Container::open(path)?).map_err(|error| match error {
            ModelError::Damaged(fault) => fault.at(path).into(),
            ModelError::File(_) | ModelError::Unpack { .. } => error,
            other => dbacl::Error::damaged(path, other.to_string()).into(),
        })
    }

    /// The model that [`Self::to_bytes`] has made.
    ///
    /// # Errors
    /// Bytes that are no model, or damaged.
    pub fn from_bytes(bytes: impl AsRef<[u8]>) -> Result<Self, ModelError> {
        Self::of(&Container::new(bytes)?)
    }

    fn of<D: AsRef<[u8]>>(container: &Container<D>) -> Result<Self, ModelError> {
        let (mut labels, mut categories) = (Vec::<(String, u64)>::new(), Vec::new());
        let (mut about, mut kept) = (Vec::new(), None);
        // Where the labels begin again, another view begins.
        let mut is_first = true;
        for member in container.members() {
            match member.kind {
                MemberKind::Category => {
                    let label = member.name.clone();
                    let bytes = container.bytes_of(member)?.into_owned();
                    let (Ok(_), Ok(category)) =
                        (label::check(label.as_bytes()), Category::new(bytes))
                    else {
                        return Err(ModelError::Category { label });
                    };
                    is_first &= labels.first().is_none_or(|(first, _)| *first != label);
                    if is_first {
                        labels.push((label, member.documents));
                    } else if labels[categories.len() % labels.len()].0 != label {
                        return Err(ModelError::Views);
                    }
                    categories.push(category);
                }
                MemberKind::About => {
                    let bytes = container.bytes_of(member)?;
                    let lines = String::from_utf8_lossy(&bytes);
                    let fields = lines.lines().filter_map(|line| line.split_once(": "));
                    about.extend(fields.map(|(name, value)| (name.to_owned(), value.to_owned())));
                }
                MemberKind::Documents => kept = Some(container.bytes_of(member)?.into_owned()),
                MemberKind::Other(_) => {}
            }
        }
        if kept.as_ref().is_some_and(|kept| kept::read(kept, labels.len()).is_none()) {
            return Err(ModelError::Damaged(ContainerFault::Member));
        }
        let mut views: Vec<Vec<Category<Vec<u8>>>> = Vec::new();
        for (at, category) in categories.into_iter().enumerate() {
            match views.last_mut() {
                Some(view) if at % labels.len() > 0 => view.push(category),
                _ => views.push(vec![category]),
            }
        }
        if views.last().is_none_or(|view| view.len() != labels.len()) {
            return Err(ModelError::Views);
        }
        Self::new(labels, views, about, kept)
    }

    fn members(&self) -> Vec<NewMember<'_>> {
        let about: String =
            self.about.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
        let mut members = vec![NewMember::new(MemberKind::About, "", about.into_bytes())];
        for view in &self.views {
            let categories = self.labels.iter().zip(&self.documents).zip(view.categories());
            members.extend(categories.map(|((label, &documents), category)| {
                NewMember::category(label.clone(), documents, category)
            }));
        }
        let kept = self.kept.as_deref().map(|kept| NewMember::new(MemberKind::Documents, "", kept));
        members.extend(kept);
        members
    }

    /// The bytes of the model's file.
    pub fn to_bytes(&self) -> Vec<u8> {
        container_bytes(&self.members())
    }

    /// Saves the model so that `path` is whole at every moment.
    ///
    /// # Errors
    /// [`dbacl::Error::Occupied`] when `path` is a file of something else; those of the operating
    /// system. The old file is kept.
    pub fn save(&self, path: &Path) -> Result<(), ModelError> {
        Ok(save_container(path, &self.members())?)
    }

    /// Writes an ordinary category file for each label into `folder`, which is made, and returns
    /// their paths; `dbacl -c` reads them. With several views, those of each are in a folder of
    /// their own in it: `view1`, `view2`.
    ///
    /// # Errors
    /// Those of saving categories.
    pub fn unpack(&self, folder: &Path) -> Result<Vec<PathBuf>, ModelError> {
        let mut paths = Vec::new();
        for (at, view) in self.views.iter().enumerate() {
            let folder = match self.views.len() {
                1 => folder.to_path_buf(),
                _ => folder.join(format!("view{}", at + 1)),
            };
            fs::create_dir_all(&folder)
                .map_err(|source| ModelError::Unpack { path: folder.clone(), source })?;
            for (name, category) in view.names().iter().zip(view.categories()) {
                let path = folder.join(name);
                category.save(&path)?;
                paths.push(path);
            }
        }
        Ok(paths)
    }

    /// The labels, in the order of all other lists.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Documents of each label that the model was trained on.
    pub fn documents(&self) -> &[u64] {
        &self.documents
    }

    /// Has the model tell `name: value` of itself.
    pub fn tell(&mut self, name: &str, value: &str) {
        match self.about.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => value.clone_into(old),
            None => self.about.push((name.to_owned(), value.to_owned())),
        }
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

    /// The categories of the first view, in the order of the labels.
    pub fn categories(&self) -> impl Iterator<Item = &Category<Vec<u8>>> {
        self.views.iter().take(1).flat_map(CategorySet::categories)
    }

    /// The sets of categories by which the model judges a text, one for each view.
    pub fn views(&self) -> &[CategorySet<Vec<u8>>] {
        &self.views
    }

    /// Which words of a text speak for the best label and against the second best. With several
    /// views, the evidence of each counts as it does in the judgement, and the lines of the text
    /// have that of the first view.
    ///
    /// # Errors
    /// Those of [`CategorySet::explain`].
    pub fn explain(&self, text: &[u8]) -> Result<Explained, Incomparable> {
        if let ([only], true) = (self.views.as_slice(), self.temperature == 1.0) {
            return only.explain(text);
        }
        let prediction = self.predictor().predict(text);
        let [best, second] = prediction.ranked(2)[..] else { return Err(Incomparable::Empty) };
        let each = self.views.iter().map(|view| view.explain_between(text, (best, second)));
        let mut each = each.collect::<Result<Vec<Explained>, Incomparable>>()?;
        let is_telling = |one: &Explained| !one.explanation.tokens.is_empty();
        let telling = each.iter().filter(|one| is_telling(one)).count();
        #[allow(clippy::cast_precision_loss)] // a number of views
        let scale = if telling > 1 { self.scale / telling as f64 } else { 1.0 };
        let factor = scale / self.temperature;
        each.sort_by_key(|one| !is_telling(one));
        each.truncate(telling.max(1));
        let mut all = each.remove(0);
        let whole = &mut all.explanation;
        let (name, percent) = (&whole.category, 100.0 * prediction.probabilities()[best]);
        whole.heading = format!("{name} with probability {percent:.2} %");
        for other in each {
            whole.prior += other.explanation.prior;
            whole.tokens.extend(other.explanation.tokens);
        }
        whole.prior *= factor;
        whole.tokens.iter_mut().for_each(|token| token.bits *= factor);
        whole.tokens.sort_by(|a, b| {
            b.bits.abs().total_cmp(&a.bits.abs()).then_with(|| a.text.cmp(&b.text))
        });
        for piece in whole.lines.iter_mut().flatten() {
            if let Piece::Token(_, bits) = piece {
                *bits *= factor;
            }
        }
        all.best = best;
        Ok(all)
    }

    /// Judges texts, one after the other. Each thread has one of its own.
    pub fn predictor(&self) -> Predictor {
        let all: u64 = self.documents.iter().sum();
        #[allow(clippy::cast_precision_loss)] // shares of documents
        let share = |&own: &u64| own as f64 / all.max(1) as f64;
        let shares = self.documents.iter().map(share).collect();
        let classifiers = self.views.iter().map(CategorySet::classifier).collect();
        Predictor { classifiers, scale: self.scale, temperature: self.temperature, shares }
    }
}

/// What a model makes of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    probabilities: Vec<f64>,
}

impl Prediction {
    /// A prediction of these probabilities.
    pub fn of(probabilities: Vec<f64>) -> Self {
        Self { probabilities }
    }

    /// The probability of each label; they add up to 1.
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// Number of the most probable label; of equal ones the first.
    pub fn best(&self) -> usize {
        self.ranked(1).first().copied().unwrap_or(0)
    }

    /// Numbers of the `k` most probable labels, the most probable first.
    pub fn ranked(&self, k: usize) -> Vec<usize> {
        let of = |at: usize| self.probabilities[at];
        let mut order: Vec<usize> = (0..self.probabilities.len()).collect();
        let by = |&a: &usize, &b: &usize| of(b).total_cmp(&of(a)).then(a.cmp(&b));
        if k == 0 {
            return Vec::new();
        }
        if k < order.len() {
            order.select_nth_unstable_by(k - 1, by);
            order.truncate(k);
        }
        order.sort_unstable_by(by);
        order
    }
}

/// Judges one text after the other.
pub struct Predictor {
    /// One for each view.
    classifiers: Vec<Classifier<Vec<u8>>>,
    scale: f64,
    temperature: f64,
    /// Share of each label in the documents that were learned: what is to be said of a text without
    /// words.
    shares: Vec<f64>,
}

impl Predictor {
    /// The probabilities of the labels for a text.
    pub fn predict(&mut self, text: &[u8]) -> Prediction {
        let verdict = |one: &mut Classifier<Vec<u8>>| one.classify(text).probabilities().to_vec();
        let views: Vec<Vec<f64>> = self.classifiers.iter_mut().map(verdict).collect();
        let probabilities = match views::combine(&views, self.scale) {
            Some(found) => views::cooled(found, self.temperature),
            None => self.shares.clone(),
        };
        Prediction { probabilities }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::{Preset, TrainOptions, Trainer};

    #[test]
    fn views_with_other_labels_are_refused() {
        let mut trainer = Trainer::new(&TrainOptions::new(Preset::Both));
        for number in 0..30 {
            trainer.add("sea", format!("the whale {number}").as_bytes());
            trainer.add("war", format!("the nation {number}").as_bytes());
        }
        let model = trainer.train().unwrap().model;
        let bytes = model.to_bytes();
        let again = TextModel::from_bytes(&bytes).unwrap();
        assert_eq!((again.views().len(), again.to_bytes() == bytes), (2, true));
        let texts: [&[u8]; 3] = [b"a whale", b"", b"nat"];
        for text in texts {
            assert_eq!(again.predictor().predict(text), model.predictor().predict(text));
        }
        assert_eq!(model.predictor().predict(b"").probabilities(), [0.5, 0.5]);

        let order = |numbers: &[usize]| {
            let members = model.members();
            let chosen: Vec<_> = numbers.iter().map(|&at| members[at].clone()).collect();
            TextModel::from_bytes(container_bytes(&chosen))
        };
        // About, and the two labels of both views.
        assert_eq!(order(&[0, 1, 2, 3, 4]).unwrap().views().len(), 2);
        assert_eq!(order(&[0, 1, 2]).unwrap().views().len(), 1);
        for wrong in [&[0, 1, 2, 4, 3][..], &[0, 1, 2, 3], &[1, 2, 1], &[0, 1, 1, 2]] {
            assert!(order(wrong).is_err(), "{wrong:?}");
        }
        assert!(matches!(order(&[1, 2, 3]), Err(ModelError::Views)));
    }

    #[test]
    fn evidence_of_views_adds_up_to_the_odds() {
        let (two, three) = (&["sea", "war"][..], &["sea", "war", "tea"][..]);
        let warm = [(Preset::Both, 1.6), (Preset::Pairs, 1.6)];
        let tried = [(two, Preset::Both, 1.0), (three, Preset::Both, 1.0)];
        let warm = warm.map(|(preset, temperature)| (three, preset, temperature));
        for (labels, preset, temperature) in tried.into_iter().chain(warm) {
            let mut trainer = Trainer::new(&TrainOptions::new(preset));
            for number in 0..40 {
                for (at, label) in labels.iter().enumerate() {
                    // A few documents are of the wrong label.
                    let own = labels[(at + usize::from(number % 7 == 0)) % labels.len()];
                    trainer.add(label, format!("a {own} {number} the {own}s").as_bytes());
                }
            }
            let mut model = trainer.train().unwrap().model;
            model.cool(temperature);
            let text = b"the sea and sets";
            let explained = model.explain(text).unwrap();
            let prediction = model.predictor().predict(text);
            assert_eq!(explained.best, prediction.best());
            let ranked = prediction.ranked(2);
            let of = |place: usize| prediction.probabilities()[ranked[place]];
            let odds = (of(0) / of(1)).log2();
            let total = explained.explanation.total();
            assert!((total - odds).abs() < 1e-3, "{total} {odds}");
        }
    }

    #[test]
    fn the_most_probable_come_first() {
        let prediction = Prediction { probabilities: vec![0.1, 0.4, 0.1, 0.4] };
        assert_eq!(prediction.best(), 1);
        assert_eq!(prediction.ranked(3), [1, 3, 0]);
        assert_eq!(prediction.ranked(0), [0; 0]);
        assert_eq!(prediction.ranked(9), [1, 3, 0, 2]);
    }
}
